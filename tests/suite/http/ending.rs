//! How calls and the server end: by a client that leaves, and by an operator's signal.

use std::fs::{self, File};
use std::io::Read;
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use super::super::support::Temp;
use super::kit::{Ask, Site, call, post, text};

/// A server on which `write_file` waits in a hook until the test lets it go.
struct Held {
    site: Site,
    root: Temp,
    pipes: Temp,
}

impl Held {
    fn start() -> Self {
        let (root, pipes) = (Temp::new(), Temp::new());
        for name in ["alive", "go", "done"] {
            let made = Command::new("mkfifo").arg(pipes.path().join(name)).status();
            assert!(made.expect("mkfifo").success());
        }
        let at = pipes.path().display();
        let hooks = format!(
            "[[hook]]\nname = \"holds\"\nphase = \"pre\"\ntools = [\"write_file\"]\ntimeout_ms = 30000\n\
             shell = '''cat >/dev/null; exec 3>{at}/alive; echo >&3; cat {at}/go'''\n\
             [[hook]]\nname = \"tells\"\nphase = \"post\"\ntools = [\"write_file\"]\n\
             shell = '''cat >/dev/null; echo '{{\"decision\":\"accept\"}}'; echo > {at}/done'''\n"
        );
        Held { site: Site::configured(root.path(), &hooks, &[]), root, pipes }
    }

    fn pipe(&self, name: &str) -> PathBuf {
        self.pipes.path().join(name)
    }

    /// Waits until the call has come as far as the hook. What comes back ends when the hook does.
    fn held(&self) -> File {
        let mut alive = File::open(self.pipe("alive")).expect("a pipe");
        alive.read_exact(&mut [0]).expect("a word");
        alive
    }

    fn release(&self) {
        fs::write(self.pipe("go"), "{\"decision\":\"allow\"}").expect("a pipe");
    }

    /// Waits until the call is done, which waits for this.
    fn done(&self) {
        fs::read(self.pipe("done")).expect("a pipe");
    }
}

fn arguments() -> Value {
    json!({"path": "w.txt", "content": "x"})
}

/// What a client does not wait for any more is not done, though it had come as far as the gate.
#[test]
fn a_modern_client_that_leaves_takes_its_call_back() {
    let held = Held::start();
    for accept in ["application/json, text/event-stream", "application/json"] {
        let mut wire = held.site.connect();
        wire.send(call(json!(1), "write_file", arguments()).instead("accept", accept));
        let mut alive = held.held();
        drop(wire);
        alive.read_to_end(&mut Vec::new()).expect("the hook is ended, though nobody lets it go");
        assert!(!held.root.path().join("w.txt").exists());
    }
}

/// What has been done by then is in the log, and can be undone.
#[test]
fn a_change_is_known_though_its_client_has_left_before_the_answer() {
    let held = Held::start();
    let mut wire = held.site.connect();
    wire.send(call(json!(1), "write_file", arguments()));
    let _alive = held.held();
    held.release();
    // The hook that looks at what was done waits for somebody to read this.
    let told = || held.site.log(held.root.path()).into_iter().find(|line| line["type"] == "tool/result");
    while !held.root.path().join("w.txt").exists() {}
    assert_eq!(told(), None);
    drop(wire);
    let result = loop {
        if let Some(result) = told() {
            break result;
        }
    };
    assert_eq!((&result["tool"], &result["error"]), (&json!("write_file"), &json!("cancelled")), "{result}");
    assert!(result["change"].is_string(), "{result}");
}

#[test]
fn a_legacy_client_that_leaves_does_not() {
    let held = Held::start();
    let id = held.site.session("2025-06-18", json!({}));
    let write = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "write_file", "arguments": arguments()}});
    let mut wire = held.site.connect();
    wire.send(post(&write).session(&id));
    let _alive = held.held();
    drop(wire);
    held.release();
    held.done();
    assert_eq!(held.root.text("w.txt"), "x");
}

#[test]
fn asked_to_end_it_takes_nothing_new_tells_listeners_and_finishes_what_runs() {
    let held = Held::start();
    let id = held.site.session("2025-11-25", json!({}));
    let mut listener = held.site.connect();
    listener.send(Ask::get("/mcp").session(&id).headers(&[("accept", "text/event-stream")]));
    listener.head();
    listener.event();
    let mut wire = held.site.connect();
    wire.send(call(json!(1), "write_file", arguments()));
    let _alive = held.held();
    let mut idle = held.site.connect();
    held.site.signal("TERM");
    assert_eq!(listener.event(), None, "the stream has ended");
    assert!(idle.ends(), "and connections on which nothing happens");
    assert!(TcpStream::connect(held.site.address).is_err(), "nobody new comes in");
    held.release();
    held.done();
    let answer = wire.answer();
    assert_eq!(text(&answer.json()["result"]), "File written: w.txt", "{answer:?}");
    assert_eq!(held.root.text("w.txt"), "x");
    assert!(held.site.wait().success());
}

#[test]
fn what_takes_too_long_is_not_waited_for() {
    let temp = Temp::new();
    let hook = "[[hook]]\nname = \"holds\"\nphase = \"pre\"\ntools = [\"write_file\"]\ntimeout_ms = 30000\n\
                shell = '''cat >/dev/null; echo > began; sleep 30'''\n[http]\nstop_timeout_ms = 200\n";
    let site = Site::configured(temp.path(), hook, &[]);
    assert!(Command::new("mkfifo").arg(temp.path().join("began")).status().expect("mkfifo").success());
    let mut wire = site.connect();
    wire.send(call(json!(1), "write_file", arguments()));
    fs::read(temp.path().join("began")).expect("a pipe");
    site.signal("TERM");
    assert!(site.wait().success());
    assert!(!temp.path().join("w.txt").exists());
}
