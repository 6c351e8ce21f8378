//! The library as an embedder meets it: tools of one's own, served over any two streams.

use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Read, Write, pipe};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{JoinHandle, spawn};

use futures_util::FutureExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolgate::{
    Act, Call, Caller, Card, Change, ChangeSet, Control, Dispatcher, Effect, ErrorCode, Expect, Intent, Local, Memory,
    Plan, Registry, Server, Settings, Spec, Tool, ToolError, View, Workspace,
};

use super::support::Temp;

#[derive(Deserialize, JsonSchema)]
struct NoArgs {}

#[derive(Serialize, JsonSchema)]
struct Said {
    words: String,
}

/// A tool that does what `body` does, whatever it is called with.
struct Does<F> {
    name: &'static str,
    body: F,
}

impl<F> Tool for Does<F>
where
    F: AsyncBody,
{
    type Args = NoArgs;
    type Output = Said;

    fn spec(&self) -> Spec {
        Spec {
            name: self.name,
            title: self.name,
            description: "Does what it is told.",
            effect: Effect::Reaches,
            paths: &[],
        }
    }

    async fn plan(&self, view: &View, _: NoArgs) -> Result<Plan<Said>, ToolError> {
        self.body.run(view).await
    }

    fn observe(output: &Said) -> String {
        output.words.clone()
    }

    fn present(_: &NoArgs) -> Card {
        Card::new("Do what it is told")
    }
}

trait AsyncBody: Send + Sync + 'static {
    fn run(&self, view: &View) -> impl Future<Output = Result<Plan<Said>, ToolError>> + Send;
}

fn says(words: &str) -> Result<Plan<Said>, ToolError> {
    Ok(Plan::Answer(Said { words: words.to_owned() }))
}

/// Blocks its thread until it is let go, and says that it has begun.
struct Blocks {
    begun: Sender<()>,
    go_on: Arc<Mutex<Receiver<()>>>,
}

impl AsyncBody for Blocks {
    async fn run(&self, _: &View) -> Result<Plan<Said>, ToolError> {
        self.begun.send(()).expect("a test that listens");
        self.go_on.lock().expect("a lock").recv().expect("a test that lets go");
        says("let go")
    }
}

/// Blocks its thread when it goes on after it has waited for something.
struct BlocksLater(Blocks);

impl AsyncBody for BlocksLater {
    async fn run(&self, view: &View) -> Result<Plan<Said>, ToolError> {
        tokio::task::yield_now().await;
        self.0.run(view).await
    }
}

/// Waits until its caller takes it back.
struct WaitsForCancel;

impl AsyncBody for WaitsForCancel {
    async fn run(&self, view: &View) -> Result<Plan<Said>, ToolError> {
        view.cancelled().await;
        says("never seen")
    }
}

struct Panics;

impl AsyncBody for Panics {
    async fn run(&self, _: &View) -> Result<Plan<Said>, ToolError> {
        panic!("on purpose")
    }
}

struct ReportsProgress;

impl AsyncBody for ReportsProgress {
    async fn run(&self, view: &View) -> Result<Plan<Said>, ToolError> {
        for done in [1.0, 2.0, 2.0, 1.5, 3.0] {
            view.progress(done, Some(3.0), Some("counting"));
        }
        says("counted")
    }
}

/// Proposes a change that always comes too late.
struct ComesTooLate;

impl AsyncBody for ComesTooLate {
    async fn run(&self, view: &View) -> Result<Plan<Said>, ToolError> {
        let path = view.path("a.txt")?;
        let expect = Expect::Exactly(toolgate::Version::of(b"what never was"));
        let intent = Intent::edit(path.clone(), vec![1]);
        let change = Change::Write { path, expect, content: "lost".into() };
        Ok(Plan::Change { set: ChangeSet::new(vec![change]), intent, output: Said { words: "written".to_owned() } })
    }
}

struct Acts;

impl AsyncBody for Acts {
    async fn run(&self, _: &View) -> Result<Plan<Said>, ToolError> {
        Ok(Plan::Act(Act::new(async { Ok(Said { words: "done".to_owned() }) })))
    }
}

/// A server in this process, and its client's ends of both streams.
struct Session {
    to: Option<PipeWriter>,
    from: BufReader<PipeReader>,
    server: Option<JoinHandle<std::io::Result<()>>>,
}

impl Session {
    fn start<W: Workspace>(server: Server<W>) -> Self {
        let (input, to) = pipe().expect("a pipe");
        let (from, output) = pipe().expect("a pipe");
        let server = spawn(move || server.serve_streams(input, output));
        Session { to: Some(to), from: BufReader::new(from), server: Some(server) }
    }

    fn send(&mut self, messages: &[Value]) {
        let text: String = messages.iter().map(|message| format!("{message}\n")).collect();
        self.to.as_mut().expect("an open stream").write_all(text.as_bytes()).expect("a server that reads");
    }

    fn recv(&mut self) -> Value {
        let mut line = String::new();
        self.from.read_line(&mut line).expect("a line");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// Ends the input; what still came is returned.
    fn end(mut self) -> Vec<Value> {
        self.to = None;
        let rest = self.from.by_ref().lines().map(|line| serde_json::from_str(&line.expect("a line")).expect("JSON"));
        let rest = rest.collect();
        self.server.take().expect("a server").join().expect("no panic").expect("no error");
        rest
    }
}

fn call(id: u64, tool: &str, arguments: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
}

fn ping(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "ping"})
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {answer}"))
}

#[test]
fn a_tool_that_blocks_its_thread_holds_up_nobody() {
    let (begun, begins) = channel();
    let (let_go, go_on) = channel();
    let blocks = Blocks { begun, go_on: Arc::new(Mutex::new(go_on)) };
    let server = Server::new(Memory::new()).builtin_tools().expect("tools");
    let mut session = Session::start(server.tool(Does { name: "blocks", body: blocks }).expect("a tool"));

    session.send(&[call(1, "blocks", json!({}))]);
    begins.recv().expect("it begins");
    session.send(&[ping(2)]);
    assert_eq!(session.recv()["id"], 2, "the ping is answered while the tool blocks");
    session.send(&[call(3, "list_dir", json!({}))]);
    assert_eq!(session.recv()["id"], 3, "and so is another tool");
    let_go.send(()).expect("a tool that waits");
    let answer = session.recv();
    assert_eq!((&answer["id"], text(&answer)), (&json!(1), "let go"));
    assert!(session.end().is_empty());
}

#[test]
fn tools_that_block_their_threads_later_hold_up_nobody_either() {
    let (begun, begins) = channel();
    let (let_go, go_on) = channel();
    let blocks = BlocksLater(Blocks { begun, go_on: Arc::new(Mutex::new(go_on)) });
    let server = Server::new(Memory::new()).builtin_tools().expect("tools");
    let mut session = Session::start(server.tool(Does { name: "blocks", body: blocks }).expect("a tool"));
    for id in 0..8 {
        session.send(&[call(id, "blocks", json!({}))]);
        begins.recv().expect("it begins, whoever else blocks");
    }
    session.send(&[call(8, "list_dir", json!({}))]);
    assert_eq!(session.recv()["id"], 8);
    (0..8).for_each(|_| let_go.send(()).expect("tools that wait"));
    let mut answered: Vec<_> = (0..8).map(|_| session.recv()["id"].as_u64()).collect();
    answered.sort_unstable();
    assert_eq!(answered, (0..8).map(Some).collect::<Vec<_>>());
    assert!(session.end().is_empty());
}

#[test]
fn a_call_that_is_taken_back_sends_nothing_more() {
    let server = Server::new(Memory::new()).tool(Does { name: "waits", body: WaitsForCancel }).expect("a tool");
    let mut session = Session::start(server);
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    session.send(&[call(1, "waits", json!({})), cancel, ping(2)]);
    assert_eq!(session.recv()["id"], 2);
    session.send(&[call(1, "waits", json!({})), ping(3)]);
    assert_eq!(session.recv()["id"], 3, "the id can be used again");
    assert!(session.end().is_empty(), "a call that waits for ever does not keep the server");
}

#[test]
fn a_tool_that_panics_fails_alone() {
    let server = Server::new(Memory::new()).builtin_tools().expect("tools");
    let mut session = Session::start(server.tool(Does { name: "panics", body: Panics }).expect("a tool"));
    session.send(&[call(1, "panics", json!({}))]);
    let answer = session.recv();
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
    session.send(&[call(2, "list_dir", json!({}))]);
    assert_eq!(text(&session.recv()), "[The folder is empty.]");
    assert!(session.end().is_empty());
}

#[test]
fn progress_goes_to_who_asked_for_it_and_only_grows() {
    let server = Server::new(Memory::new()).tool(Does { name: "counts", body: ReportsProgress }).expect("a tool");
    let mut session = Session::start(server);
    let mut asks = call(1, "counts", json!({}));
    asks["params"]["_meta"] = json!({"progressToken": "p"});
    session.send(&[asks]);
    for done in [1, 2, 3] {
        let told = session.recv();
        assert_eq!(told["method"], "notifications/progress");
        let want = json!({"progressToken": "p", "progress": done, "total": 3, "message": "counting"});
        assert_eq!(told["params"], want);
    }
    assert_eq!(text(&session.recv()), "counted");
    session.send(&[call(2, "counts", json!({}))]);
    assert_eq!(session.recv()["id"], 2, "who did not ask is not told");
    assert!(session.end().is_empty());
}

#[test]
fn a_change_that_rests_on_what_is_gone_is_refused_and_a_deed_is_done() {
    let workspace = Memory::new();
    let server = Server::new(workspace.clone()).tool(Does { name: "late", body: ComesTooLate }).expect("a tool");
    let mut session = Session::start(server.tool(Does { name: "acts", body: Acts }).expect("a tool"));
    session.send(&[call(1, "late", json!({}))]);
    let answer = session.recv();
    assert_eq!(answer["result"]["structuredContent"]["error"], ErrorCode::StaleVersion.as_str(), "{answer}");
    assert!(workspace.snapshot().is_empty());
    session.send(&[call(2, "acts", json!({}))]);
    assert_eq!(text(&session.recv()), "done");
    assert!(session.end().is_empty());
}

#[test]
fn a_call_sees_what_the_calls_before_it_did_although_nobody_waited_for_them() {
    let temp = Temp::new();
    let server = Server::new(Local::open(temp.path()).expect("a folder")).builtin_tools().expect("tools");
    let mut session = Session::start(server);
    for round in 0..50_u64 {
        let name = format!("{round}.txt");
        session.send(&[
            call(4 * round, "write_file", json!({"path": name, "content": "one\n"})),
            call(4 * round + 1, "read_file", json!({"path": name})),
            call(4 * round + 2, "patch_file", json!({"path": name, "old_str": "one", "new_str": "two"})),
            call(4 * round + 3, "read_file", json!({"path": format!("./{name}")})),
        ]);
        let mut answers: Vec<_> = (0..4).map(|_| session.recv()).collect();
        answers.sort_by_key(|answer| answer["id"].as_u64());
        let texts: Vec<_> = answers.iter().map(text).collect();
        let want = [&format!("File written: {name}"), "1: one\n", &format!("File patched: {name}"), "1: two\n"];
        assert_eq!(texts, want, "round {round}");
    }
    assert!(session.end().is_empty());
}

#[test]
fn a_call_that_waits_for_its_turn_can_be_taken_back() {
    let mut registry = Registry::new();
    toolgate::tools::register(&mut registry).expect("tools");
    let dispatcher = Dispatcher::new(registry, Memory::new(), Settings::served());
    let earlier = dispatcher.queue(None);
    let control = Control::default();
    let cancel = control.cancel.clone();
    let arguments = json!({"path": "a", "content": "1"});
    let call = Call { tool: "write_file".to_owned(), arguments: Ok(arguments) };
    let mut call = Box::pin(dispatcher.dispatch(call, &Caller::Embedder, control));
    assert!((&mut call).now_or_never().is_none(), "who came before may change the same file");
    cancel.cancel();
    let done = call.now_or_never().expect("an end").expect("a tool that is there");
    assert_eq!(done.outcome.expect_err("nothing was done").code, ErrorCode::Cancelled);
    drop(earlier);
}
