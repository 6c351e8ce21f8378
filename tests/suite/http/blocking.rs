//! Whatever blocks, be it a program that is asked or a tool on a disk that hangs, holds up nobody but its own caller.

use std::fs::File;
use std::io::Read;
use std::process::Command;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolgate::{Card, Effect, Memory, Plan, Server, Spec, Tool, ToolError, View};

use super::super::support::Temp;
use super::kit::{Ask, Host, Site, call, connect, modern, send, text};

/// More than there are threads for calls.
const MANY: usize = 40;

#[test]
fn hooks_that_do_not_answer_hold_up_no_other_call() {
    let (root, pipes) = (Temp::with(&[("a.txt", "one\n")]), Temp::new());
    for name in ["alive", "go"] {
        assert!(Command::new("mkfifo").arg(pipes.path().join(name)).status().expect("mkfifo").success());
    }
    // Open for both, so that neither side waits for the other.
    let pipe = |name| File::options().read(true).write(true).open(pipes.path().join(name)).expect("a pipe");
    let (mut alive, go) = (pipe("alive"), pipe("go"));
    let at = pipes.path().display();
    let hooks = format!(
        "[[hook]]\nname = \"waits\"\nphase = \"pre\"\ntools = [\"write_file\"]\ntimeout_ms = 120000\n\
         shell = '''exec 3<{at}/go; printf x >{at}/alive; cat <&3'''\n\
         [[hook]]\nname = \"agrees\"\nphase = \"pre\"\ntools = [\"patch_file\"]\nshell = 'exit 0'\n"
    );
    let site = Site::configured(root.path(), &hooks, &[]);
    let mut waiting: Vec<_> = (0..MANY)
        .map(|number| {
            let mut wire = site.connect();
            wire.send(call(json!(number), "write_file", json!({"path": format!("{number}.txt"), "content": "x"})));
            wire
        })
        .collect();
    alive.read_exact(&mut [0; MANY]).expect("all hooks run");

    assert_eq!(text(&site.call("read_file", json!({"path": "a.txt"}))), "1: one\n", "no hook is asked");
    let patch = json!({"path": "a.txt", "old_str": "one", "new_str": "two"});
    assert_eq!(text(&site.call("patch_file", patch)), "File patched: a.txt", "another hook is asked");
    let list =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_dir", "arguments": {}}});
    let plain = Ask::new("POST", "/rpc").headers(&[("content-type", "application/json")]).body(&list.to_string());
    assert!(text(&site.send(plain).json()["result"]).contains("a.txt"), "plain JSON-RPC");

    drop(go);
    for (number, wire) in waiting.iter_mut().enumerate() {
        assert_eq!(text(&wire.answer().json()["result"]), format!("File written: {number}.txt"));
    }
}

/// A tool that only looks, and so is taken for quick, but keeps its thread until it is let go.
struct Blocks {
    begun: Sender<()>,
    go_on: Arc<Mutex<Receiver<()>>>,
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

#[derive(Serialize, JsonSchema)]
struct Done {}

impl Tool for Blocks {
    type Args = Nothing;
    type Output = Done;

    fn spec(&self) -> Spec {
        Spec { name: "blocks", title: "Block", description: "Blocks.", effect: Effect::Reads, paths: &[] }
    }

    async fn plan(&self, _: &View, _: Nothing) -> Result<Plan<Done>, ToolError> {
        self.begun.send(()).expect("a test that listens");
        // It ends when nobody is left who could say so.
        let _ = self.go_on.lock().expect("a lock").recv();
        Ok(Plan::Answer(Done {}))
    }

    fn observe(_: &Done) -> String {
        "let go".to_owned()
    }

    fn present(_: &Nothing) -> Card {
        Card::new("Block")
    }
}

#[test]
fn tools_that_block_their_threads_hold_up_no_connection() {
    let (begun, begins) = channel();
    let (let_go, go_on) = channel();
    let blocks = Blocks { begun, go_on: Arc::new(Mutex::new(go_on)) };
    let server = Server::new(Memory::new()).builtin_tools().expect("tools").tool(blocks).expect("a tool");
    let host = Host::start(server);
    // As many as there are threads for connections, and some.
    let many = 4 + std::thread::available_parallelism().map_or(1, usize::from);
    let mut waiting: Vec<_> = (0..many)
        .map(|number| {
            let mut wire = connect(host.address);
            wire.send(call(json!(number), "blocks", json!({})));
            begins.recv().expect("it begins, whoever else blocks");
            wire
        })
        .collect();
    let listed = send(host.address, call(json!(1), "list_dir", json!({}))).json();
    assert_eq!(text(&listed["result"]), "[The folder is empty.]");
    let discovered = send(host.address, modern(json!(1), "server/discover", json!({}))).json();
    assert_eq!(discovered["result"]["resultType"], "complete", "{discovered}");
    drop(let_go);
    for wire in &mut waiting {
        assert_eq!(text(&wire.answer().json()["result"]), "let go");
    }
    host.end();
}
