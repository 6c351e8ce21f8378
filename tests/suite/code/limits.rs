//! Every limit ends a run with its name, and nothing of the run goes on after its answer.

use std::time::{Duration, Instant};

use serde_json::json;

use super::kit::SMALL;
use crate::suite::cases::kit::{Desk, says};
use crate::suite::gate::kit::{Home, guarded};

fn limited(setting: &str) -> (Desk, Home) {
    guarded(&[("a", "1\n")], &format!("{SMALL}{setting}\n"))
}

#[test]
fn each_failure_names_the_limit_and_where_it_is_set() {
    for (setting, code, kind, said) in [
        ("", "while (true) {}", "timeout", "code.computing_ms"),
        ("", "while (true) await null", "timeout", "code.computing_ms"),
        ("", "try { while (true) {} } finally { while (true) {} }", "timeout", "code.computing_ms"),
        ("", "/^(a+)+$/.test('a'.repeat(60) + 'b')", "timeout", "code.computing_ms"),
        (
            "heap_bytes = 8000000",
            "const m = []; while (true) m.push(new Array(1e5).fill('x'))",
            "memory",
            "code.heap_bytes",
        ),
        ("heap_bytes = 8000000", "return 'x'.repeat(2 ** 29)", "memory", "code.heap_bytes"),
        (
            "heap_bytes = 8000000",
            "const text = 'x'.repeat(1e6); for (let i = 0; i < 20; i++) tools.todo_write({todos: [{text, status: 'done'}]})",
            "memory",
            "code.heap_bytes",
        ),
        ("", "const f = () => f() + 1; return f()", "memory", "code.stack_bytes"),
        ("log_bytes = 1000", "for (let i = 0; ; i++) console.log('line ' + i)", "output_limit", "code.log_bytes"),
        ("result_bytes = 1000", "return 'x'.repeat(1000)", "output_limit", "code.result_bytes"),
        ("calls = 3", "for (let i = 0; i < 5; i++) await tools.read_file({path: 'a'})", "exception", "code.calls"),
        ("calls = 3", "for (;;) try { await tools.read_file({path: 'a'}) } catch {}", "exception", "code.calls"),
        (
            "call_bytes = 100",
            "await tools.todo_write({todos: [{text: 'x'.repeat(200), status: 'done'}]})",
            "exception",
            "code.call_bytes",
        ),
        (
            "call_bytes = 100",
            "await tools.list_dir({}); await tools.read_file({path: 'a'})",
            "exception",
            "code.call_bytes",
        ),
    ] {
        let (mut desk, _home) = limited(setting);
        let reply = desk.run(code);
        let (is, _, message) = reply.code_failure();
        assert_eq!(is, kind, "{code}: {message}");
        says(message, &[said]);
        assert_eq!(desk.run("return 1").ok(), "1", "B176: the next run is a new one, after {code}");
    }
    let (mut desk, _home) = limited("source_bytes = 10");
    says(desk.run("return 123456789").error("too_large"), &["code.source_bytes"]);
    let reply = desk.call("run_code", json!({ "code": "return 1", "description": "x", "timeout_ms": 30000 }));
    says(reply.error("invalid_arguments"), &["code.wall_ms"]);
}

/// A loop inside the engine's own code that it never looks up from: only the end of the process ends it.
#[test]
fn a_native_loop_ends_with_the_time_and_what_it_printed_is_kept() {
    let (mut desk, _home) = limited("");
    let stuck = "console.log('before'); 'a'.repeat(2e6).lastIndexOf('a'.repeat(1e6) + 'b')";
    let began = Instant::now();
    let reply = desk.call("run_code", json!({ "code": stuck, "description": "x", "timeout_ms": 1500 }));
    let (kind, _, message) = reply.code_failure();
    assert_eq!(kind, "timeout", "{message}");
    says(message, &["before"]);
    assert!(began.elapsed() < Duration::from_secs(60));
    assert_eq!(desk.run("return 1").ok(), "1");
}

/// B173: who is not concerned does not notice.
#[test]
fn other_requests_are_answered_while_a_program_computes() {
    let (mut desk, _home) = guarded(&[("a", "1\n")], "mode = \"both\"\n[code]\ncomputing_ms = 3000\n");
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params =
        json!({ "name": "run_code", "arguments": { "code": "while (true) {}", "description": "x" }, "_meta": meta });
    desk.server.send(&json!({ "jsonrpc": "2.0", "id": "loop", "method": "tools/call", "params": params }));
    for n in 0..50 {
        let params = json!({ "name": "read_file", "arguments": { "path": "a" }, "_meta": meta });
        desk.server.send(&json!({ "jsonrpc": "2.0", "id": n, "method": "tools/call", "params": params }));
        let answer = desk.server.recv();
        assert_eq!(answer["id"], n, "not held up by the program: {answer}");
    }
    assert_eq!(desk.server.recv()["id"], "loop");
}

/// After the answer nothing of the run can happen: queued calls are not made, and what is under way is waited for.
#[test]
fn nothing_happens_after_the_answer() {
    let (mut desk, _home) = limited("");
    let code = "for (let i = 0; i < 300; i++) tools.write_file({path: 'f' + i, content: ''});\nthrow new Error('now')";
    let reply = desk.run(code);
    let (kind, _, message) = reply.code_failure();
    assert_eq!(kind, "exception", "{message}");
    let files = desk.files().len();
    let told = reply.details()["calls"].as_array().expect("calls").iter().filter(|call| call["change"].is_string());
    assert_eq!(told.count(), files - 1, "exactly what was told was done");
    desk.read("a").ok();
    assert_eq!(desk.files().len(), files);
}

#[test]
fn a_run_that_is_taken_back_ends() {
    let (mut desk, home) = limited("");
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    // It tells of itself by a file, so that it is known to run.
    let code = "await tools.write_file({path: 'begun', content: ''}); for (;;) await tools.read_file({path: 'a'})";
    let params = json!({ "name": "run_code", "arguments": { "code": code, "description": "x" }, "_meta": meta });
    desk.server.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }));
    while !desk.folder.path().join("begun").exists() {
        std::thread::yield_now();
    }
    desk.server.send(&json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1, "_meta": meta },
    }));
    assert_eq!(desk.run("return 1").ok(), "1");
    // Nobody is told of it any more, but it stands in the log.
    let message = loop {
        let results = super::kit::events(&home, "tool/result");
        let ended = results.iter().find(|event| event["tool"] == "run_code" && event["error"] == "code_run_failed");
        match ended {
            Some(ended) => break ended["message"].as_str().expect("a message").to_owned(),
            None => std::thread::yield_now(),
        }
    };
    says(&message, &["aborted"]);
}
