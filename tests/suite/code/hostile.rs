//! A process that does not keep to the rules, and the library that starts it.

use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write, pipe};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::thread::{JoinHandle, spawn};

use serde_json::{Value, json};
use toolgate::code::{Options, WorkerProgram};
use toolgate::{Memory, Mode, Server};

use crate::suite::cases::kit::says;
use crate::suite::support::{TOOLGATE, Temp};

/// A server in this process whose programs run in `worker`.
pub struct Session {
    to: Option<PipeWriter>,
    from: BufReader<PipeReader>,
    server: Option<JoinHandle<std::io::Result<()>>>,
}

impl Session {
    pub fn start(worker: PathBuf) -> Self {
        Session::with(Options { worker: WorkerProgram::At(worker), ..Options::default() })
    }

    fn with(options: Options) -> Self {
        let server = Server::new(Memory::new()).builtin_tools().expect("tools").mode(Mode::Both).code(options);
        let (input, to) = pipe().expect("a pipe");
        let (from, output) = pipe().expect("a pipe");
        let server = spawn(move || server.serve_streams(input, output));
        Session { to: Some(to), from: BufReader::new(from), server: Some(server) }
    }

    /// With a file `a`.
    fn with_a_file(worker: PathBuf) -> Self {
        let mut session = Session::start(worker);
        let written = session.call("write_file", json!({ "path": "a", "content": "1\n" }));
        assert_ne!(written["isError"], true, "{written}");
        session
    }

    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        writeln!(self.to.as_mut().expect("an open stream"), "{call}").expect("a server that reads");
        let mut line = String::new();
        self.from.read_line(&mut line).expect("a line");
        serde_json::from_str::<Value>(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))["result"].clone()
    }

    pub fn run(&mut self, code: &str) -> Value {
        self.call("run_code", json!({ "code": code, "description": "a test" }))
    }

    /// How the server ended.
    pub fn end(mut self) -> std::io::Result<()> {
        self.to = None;
        self.server.take().expect("a server").join().expect("no panic")
    }
}

fn frame(kind: u8, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("a short frame");
    [&[kind][..], &length.to_le_bytes(), payload].concat()
}

fn hello() -> Vec<u8> {
    confined(&json!({ "landlock": "full", "seccomp": true, "limits": true }))
}

fn confined(sandbox: &Value) -> Vec<u8> {
    let version = concat!("toolgate worker ", env!("CARGO_PKG_VERSION"));
    frame(b'H', json!({ "version": version, "sandbox": sandbox }).to_string().as_bytes())
}

fn call(id: u64, tool: &str, arguments: &Value) -> Vec<u8> {
    frame(b'C', json!({ "id": id, "tool": tool, "arguments": arguments }).to_string().as_bytes())
}

/// A program that keeps to the rules the first time, when it is tried out, and after that says `then`.
fn pretender(folder: &Temp, then: &[u8]) -> PathBuf {
    pretender_of(folder, &[hello(), frame(b'V', b"1")].concat(), then)
}

fn pretender_of(folder: &Temp, first: &[u8], then: &[u8]) -> PathBuf {
    folder.write("first", first);
    folder.write("then", then);
    let at = folder.path().display();
    let script = format!(
        "#!/bin/sh\nif [ -e '{at}/tried' ]; then cat '{at}/then'; else : > '{at}/tried'; cat '{at}/first'; fi\n\
         # Stays until it is killed, as one does that means ill.\nexec cat > /dev/null\n"
    );
    folder.write("worker", script);
    let worker = folder.path().join("worker");
    std::fs::set_permissions(&worker, std::fs::Permissions::from_mode(0o755)).expect("permissions");
    worker
}

#[test]
fn a_process_that_forges_frames_is_killed_and_nothing_of_it_is_done() {
    let write = json!({ "path": "forged", "content": "x" });
    let read = json!({ "path": "a" });
    let deep = format!(r#"{{"id":1,"tool":"read_file","arguments":{}1{}}}"#, "[".repeat(300), "]".repeat(300));
    for (what, said) in [
        ("no greeting", frame(b'V', b"1")),
        (
            "a greeting of another build",
            frame(b'H', br#"{"version":"other","sandbox":{"landlock":"full","seccomp":true,"limits":true}}"#),
        ),
        ("two greetings", [hello(), hello()].concat()),
        ("a tool that it does not have", [hello(), call(1, "no_such_tool", &write)].concat()),
        ("a program in a program", [hello(), call(1, "run_code", &json!({ "code": "1", "description": "" }))].concat()),
        ("not the first call", [hello(), call(2, "write_file", &write)].concat()),
        ("an id twice", [hello(), call(1, "read_file", &read), call(1, "write_file", &write)].concat()),
        ("too deep", [hello(), frame(b'C', deep.as_bytes())].concat()),
        ("too long", [hello(), vec![b'C', 255, 255, 255, 255]].concat()),
        ("too many at a time", [hello(), (1..=40).flat_map(|id| call(id, "read_file", &read)).collect()].concat()),
        (
            "more lines than it may print",
            [hello(), frame(b'L', &[b'a'; 60_000]), frame(b'L', &[b'a'; 60_000])].concat(),
        ),
        ("lines that are none", [hello(), frame(b'L', b""), frame(b'V', b"1")].concat()),
        ("arguments that are too long", [hello(), call(1, "write_file", &json!("x".repeat(17 << 20)))].concat()),
        ("more values than there is room for", [hello(), call(1, "write_file", &json!(vec![0; 1 << 19]))].concat()),
        ("an answer to nobody", [hello(), frame(b'R', b"{}")].concat()),
        ("nonsense", b"HTTP/1.1 200 OK\r\n\r\n".to_vec()),
    ] {
        let folder = Temp::new();
        let mut session = Session::with_a_file(pretender(&folder, &said));
        let reply = session.run("return 1");
        assert_eq!(reply["isError"], true, "{what}: {reply}");
        assert_eq!(reply["structuredContent"]["details"]["kind"], "crash", "{what}: {reply}");
        let gone = session.call("read_file", json!({ "path": "forged" }));
        assert_eq!(gone["structuredContent"]["error"], "file_not_found", "{what}");
        assert_eq!(session.call("read_file", json!({ "path": "a" }))["content"][0]["text"], "1: 1\n", "{what}");
        session.end().expect("a server that ends well");
    }
}

/// Where everything has to be confined, nothing runs that is not: neither at the start nor later.
#[test]
fn what_has_to_be_confined_and_is_not_does_not_run() {
    for less in [
        json!({ "landlock": "partial", "seccomp": true, "limits": true }),
        json!({ "landlock": "none", "seccomp": true, "limits": true }),
        json!({ "landlock": "full", "seccomp": false, "limits": true }),
        json!({ "landlock": "full", "seccomp": true, "limits": false }),
    ] {
        let said = [confined(&less), frame(b'V', b"1")].concat();
        let options = |worker, require_sandbox| Options {
            worker: WorkerProgram::At(worker),
            require_sandbox,
            ..Options::default()
        };
        let folder = Temp::new();
        let error = Session::with(options(pretender_of(&folder, &said, &said), true)).end().expect_err("no code mode");
        says(&error.to_string(), &["would not be confined as require_sandbox = true demands", "seccomp"]);
        let folder = Temp::new();
        let mut later = Session::with(options(pretender(&folder, &said), true));
        let reply = later.run("return 1");
        says(reply["content"][0]["text"].as_str().expect("a text"), &["the system did not confine the process"]);
        later.end().expect("a server that ends well");
        let folder = Temp::new();
        let mut unasked = Session::with(options(pretender_of(&folder, &said, &said), false));
        assert_eq!(unasked.run("return 1")["content"][0]["text"], "1", "it is told, and runs");
        unasked.end().expect("a server that ends well");
    }
}

/// Its calls are judged like any others: it can do what a program can, and no more.
#[test]
fn a_process_that_makes_calls_of_its_own_makes_calls_like_any_other() {
    let folder = Temp::new();
    let outside = json!({ "path": "../outside", "content": "x" });
    let said = [hello(), call(1, "write_file", &outside), frame(b'V', b"\"done\"")].concat();
    let mut session = Session::with_a_file(pretender(&folder, &said));
    let reply = session.run("return 1");
    assert_eq!(reply["content"][0]["text"], "done", "{reply}");
    assert_eq!(reply["_meta"]["toolgate/changes"], json!([]));
    session.end().expect("a server that ends well");
}

#[test]
fn the_library_runs_programs_in_a_toolgate_that_it_is_told_of() {
    let mut session = Session::with_a_file(TOOLGATE.into());
    let reply = session.run("return (await tools.read_file({path: 'a'})).content");
    assert_eq!(reply["content"][0]["text"], "1\n", "{reply}");
    session.end().expect("a server that ends well");
}

/// A program whose `main` does not know what it is started for, and one that is not there.
#[test]
fn a_program_that_runs_no_programs_is_told_at_the_start() {
    for worker in ["/bin/true", "/nowhere/toolgate"] {
        let error = Session::start(worker.into()).end().expect_err("no code mode").to_string();
        says(&error, &["code mode has no working runtime"]);
    }
}
