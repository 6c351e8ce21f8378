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
        // Without room for an error the engine throws null.
        ("heap_bytes = 8000000", "const m = []; while (true) m.push({a: 1})", "memory", "code.heap_bytes"),
        (
            "heap_bytes = 8000000",
            "const f = () => { const m = []; while (true) m.push([]); throw new Error('never') }; Promise.resolve().then(f); await null; await null",
            "memory",
            "code.heap_bytes",
        ),
        (
            "heap_bytes = 8000000",
            "const m = []; try { while (true) m.push({a: 1}) } catch (e) { throw e }",
            "exception",
            "code.heap_bytes",
        ),
        (
            "heap_bytes = 8000000",
            "const text = 'x'.repeat(1e6); for (let i = 0; i < 20; i++) tools.todo_write({todos: [{text, status: 'done'}]})",
            "memory",
            "code.heap_bytes",
        ),
        ("", "const f = () => f() + 1; return f()", "memory", "code.stack_bytes"),
        ("stack_bytes = 100000", "const f = (n) => n && f(n - 1) + 1; return f(500)", "memory", "code.stack_bytes"),
        ("log_bytes = 1000", "for (let i = 0; ; i++) console.log('line ' + i)", "output_limit", "code.log_bytes"),
        ("result_bytes = 1000", "return 'x'.repeat(1000)", "output_limit", "code.result_bytes"),
        ("calls = 3", "for (let i = 0; i < 5; i++) await tools.read_file({path: 'a'})", "exception", "code.calls"),
        ("calls = 3", "for (;;) try { await tools.read_file({path: 'a'}) } catch {}", "exception", "code.calls"),
        (
            "",
            "await Promise.all(Array.from({length: 10000}, () => tools.read_file({path: 'a'})))",
            "exception",
            "code.calls",
        ),
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
    let (mut desk, _home) = guarded(&[], "mode = \"both\"\n");
    let stuck = "console.log('before'); 'a'.repeat(2e6).lastIndexOf('a'.repeat(1e6) + 'b')";
    let began = Instant::now();
    let reply = desk.call("run_code", json!({ "code": stuck, "description": "x", "timeout_ms": 1500 }));
    let (kind, _, message) = reply.code_failure();
    assert_eq!(kind, "timeout", "{message}");
    says(message, &["before", "had not ended after 1500 ms (setting timeout_ms, at most code.wall_ms)"]);
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

/// After the answer nothing of the run can happen, whatever has ended it: queued calls are not made, and what is under way is waited
/// for.
#[test]
fn nothing_happens_after_the_answer() {
    for (end, kind) in [
        ("throw new Error('now')", "exception"),
        ("while (true) await null", "timeout"),
        ("console.log('x'.repeat(1e5))", "output_limit"),
        ("return 'done'", "unsettled"),
        ("'x'.repeat(2 ** 29)", "memory"),
    ] {
        let (mut desk, _home) = limited("");
        let code = format!(
            "const all = [];\n\
             for (let i = 0; i < 300; i++) all.push(tools.write_file({{path: 'f' + i, content: ''}}));\n\
             await all[5];\n{end}"
        );
        let reply = desk.run(&code);
        let (is, _, message) = reply.code_failure();
        assert_eq!(is, kind, "{end}: {message}");
        let files = desk.files().len();
        assert!((7..300).contains(&files), "{end}: {files} files");
        let told = reply.details()["calls"].as_array().expect("calls").iter().filter(|call| call["change"].is_string());
        assert_eq!(told.count(), files - 1, "{end}: exactly what was told was done");
        desk.read("a").ok();
        assert_eq!(desk.files().len(), files, "{end}");
    }
}

/// What a program makes of memory stays in its own process.
#[cfg(target_os = "linux")]
#[test]
fn a_program_cannot_make_the_server_large() {
    let (mut desk, _home) = guarded(&[("a", "1\n")], "mode = \"both\"\n");
    desk.run("await tools.read_file({path: 'a'})").ok();
    let before = peak(desk.server.id());
    for (code, said) in [
        // Two bytes each on the way, and far more once they are read.
        ("await tools.todo_write({todos: new Array(2e6).fill(0)})", "code.call_bytes"),
        (
            "const todos = new Array(25e4).fill(0);\n\
             await Promise.all([1, 2, 3].map(() => tools.todo_write({todos})))",
            "takes at most",
        ),
        (
            "const text = 'x'.repeat(7e6);\n\
             await Promise.all([1, 2, 3, 4].map(() => tools.todo_write({todos: [{text, status: text}]})))",
            "must be one of",
        ),
        ("for (;;) console.log('x'.repeat(1000))", "code.log_bytes"),
        ("const m = []; for (;;) m.push({})", "code.heap_bytes"),
    ] {
        let reply = desk.run(code);
        says(reply.code_failure().2, &[said]);
        let grown = peak(desk.server.id()) - before;
        assert!(grown < 160, "{code}: {grown} MiB more");
    }
}

/// The most that a process has held in memory, in MiB.
#[cfg(target_os = "linux")]
fn peak(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("a process");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a size");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") / 1024
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
