//! The stream of frames: whatever comes in, only frames go out, and nothing but the end of the input ends it.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::kit::{Desk, frame, hello};
use crate::suite::support::oneshot::document;
use crate::suite::support::{Server, Temp};

/// A server that has shaken hands in the era that has `ping`.
fn greeted(folder: &Temp) -> Server {
    let mut server = Server::start(folder.path());
    server.exchange("initialize", &hello("2025-06-18"));
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    server
}

#[track_caller]
fn alive(server: &mut Server, case: &str) {
    assert_eq!(server.exchange("ping", &json!({}))["result"], json!({}), "{case}");
}

#[test]
fn a_byte_order_mark_before_the_first_frame_is_harmless() {
    let temp = Temp::new();
    let mut server = Server::start(temp.path());
    server.send_bytes(b"\xEF\xBB\xBF");
    let answer = server.exchange("initialize", &hello("2025-06-18"));
    assert_eq!(answer["result"]["protocolVersion"], "2025-06-18", "B009: {answer}");
    alive(&mut server, "B009");
}

#[test]
fn frames_may_end_in_crlf_and_come_in_any_pieces() {
    let temp = Temp::new();
    let mut server = greeted(&temp);
    server.send_bytes(b"\r\n\n  \n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r\n{\"jsonrpc\":\"2.0\",");
    assert_eq!(server.recv(), json!({ "jsonrpc": "2.0", "id": 1, "result": {} }), "B137");
    server.send_bytes(b" \"id\" : 2 , \"method\":\"ping\"}  \n");
    assert_eq!(server.recv()["id"], 2, "B137");
}

#[test]
fn only_frames_go_to_stdout_however_much_is_logged() {
    let folder = Temp::with(&[("a", "1\n")]);
    let server = Server::spawn(folder.path(), &[], &[("RUST_LOG", "trace"), ("RUST_BACKTRACE", "full")]);
    let mut desk = Desk { folder, server };
    desk.read("a").ok();
    desk.read("b").error("file_not_found");
    desk.write("c", "x").ok();
    desk.server.send_line("junk");
    assert_eq!(desk.server.recv()["error"]["code"], -32700, "B136");
    desk.server.send_line(r#"{"jsonrpc":"2.0","id":1,"method":"no/such"}"#);
    assert_eq!(desk.server.recv()["id"], 1, "B136");
    // `recv` and `finish` fail on whatever is not JSON.
    let ended = desk.server.finish();
    assert!(ended.status.success() && ended.messages.is_empty(), "B136: {:?}", ended.messages);
    assert!(ended.stderr.contains("read_file"), "B136: the log is on stderr: {}", ended.stderr);
}

#[test]
fn a_bad_line_does_not_end_the_session() {
    let temp = Temp::new();
    for line in [
        "not json",
        "{",
        "}",
        "[",
        "\"",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"",
        "\u{feff}{}",
        "\u{0}",
        "GET / HTTP/1.1",
    ] {
        let mut server = Server::spawn(temp.path(), &[], &[("RUST_LOG", "warn")]);
        server.exchange("initialize", &hello("2025-06-18"));
        server.send_line(line);
        assert_eq!(server.recv()["error"]["code"], -32700, "B137: {line:?}");
        alive(&mut server, "B137");
        let ended = server.finish();
        assert!(ended.status.success(), "B137: {line:?}");
        assert_eq!(ended.stderr.lines().count(), 1, "B137: one line on it: {}", ended.stderr);
    }
}

#[test]
fn bytes_that_are_no_text_do_not_end_the_session() {
    let temp = Temp::new();
    let mut server = greeted(&temp);
    for line in [
        &b"\xFF\xFE{\0}\0\n"[..],
        b"\x80\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xFF\"}\n",
        b"\xEF\xBB\xBF\n",
    ] {
        server.send_bytes(line);
        assert_eq!(server.recv()["error"]["code"], -32700, "B137: {line:?}");
    }
    alive(&mut server, "B137");
}

#[test]
fn nobody_answers_an_answer_or_a_notification() {
    let temp = Temp::new();
    let mut server = greeted(&temp);
    for line in [
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}"#,
        r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":"never sent","error":{"code":1,"message":""}}"#,
        r#"{"jsonrpc":"2.0","id":1.5,"result":null}"#,
        r#"{"id":7,"result":{}}"#,
        r#"{"jsonrpc":"2.0","method":"no/such"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/no-such","params":null}"#,
        r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"list_dir"}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized","params":[1]}"#,
        r#"{"jsonrpc":"1.0","method":"notifications/initialized"}"#,
        r#"{"method":"ping"}"#,
        "",
    ] {
        server.send_line(line);
    }
    // The next thing that comes is the answer to this.
    server.send(&json!({ "jsonrpc": "2.0", "id": "next", "method": "ping" }));
    assert_eq!(server.recv()["id"], "next", "B138");
    assert!(server.finish().messages.is_empty(), "B138");
}

#[test]
fn two_servers_that_hear_each_others_errors_fall_silent() {
    let temp = Temp::new();
    let mut server = greeted(&temp);
    for _ in 0..1000 {
        server.send_line("2024-01-01 INFO started");
    }
    server.send(&json!({ "jsonrpc": "2.0", "id": "next", "method": "ping" }));
    let mut errors = 0;
    while server.recv()["id"] != "next" {
        errors += 1;
    }
    assert!(errors <= 1000, "B138: {errors} errors to 1000 lines");
    alive(&mut server, "B138");
}

#[test]
fn odd_requests_are_answered_each_with_its_own_error() {
    let temp = Temp::new();
    let mut server = greeted(&temp);
    for (line, code) in [
        (r#"{"jsonrpc":"2.0","id":1,"method":"no/such"}"#, -32601),
        (r#"{"jsonrpc":"2.0","id":1,"method":""}"#, -32601),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":null}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":"read_file"}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{}}}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"tools:7"}}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":7}}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1}"#, -32600),
        (r#"{"id":1,"method":"ping"}"#, -32600),
    ] {
        server.send_line(line);
        let answer = server.recv();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(1), &json!(code)), "B139: {line}: {answer}");
    }
    for line in ["[]", r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, "7", "null", r#""ping""#, "true", "{}"] {
        server.send_line(line);
        let answer = server.recv();
        assert_eq!(answer["error"]["code"], -32600, "B139: {line}: {answer}");
    }
    for line in [
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":null}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"unknown":[1]},"extra":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":null}"#,
    ] {
        server.send_line(line);
        let answer = server.recv();
        assert!(answer.get("result").is_some(), "B139: {line}: {answer}");
    }
    assert!(server.close().success());
}

/// However many of them come: what is a request has somebody who waits for its answer.
#[test]
fn a_request_whose_id_is_none_is_answered_each_time() {
    let temp = Temp::new();
    let mut server = greeted(&temp);
    for id in ["{}", "[1]", "true", "null", "1.5", "1e3"].iter().cycle().take(30) {
        server.send_line(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
        let answer = server.recv();
        assert_eq!((&answer["error"]["code"], answer.get("id")), (&json!(-32600), None), "B139: {id}: {answer}");
    }
    for _ in 0..30 {
        server.send_line(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#);
        assert_eq!(server.recv()["error"]["code"], -32600, "B139: a batch where there are none");
    }
    alive(&mut server, "B139");
}

#[test]
fn params_that_do_not_fit_are_told_in_words_of_the_protocol() {
    let temp = Temp::new();
    let mut server = greeted(&temp);
    for (method, params, told) in [
        ("tools/call", json!(null), "params must have the name of a tool"),
        ("tools/call", json!("x"), "params must be an object"),
        ("tools/call", json!(7), "params must be an object"),
        ("tools/call", json!([1]), "params must be an object"),
        ("tools/call", json!({ "name": 7 }), "name: invalid type: integer `7`, expected a string"),
        ("resources/read", json!(null), "params must have the uri of a resource"),
        ("resources/read", json!({ "uri": ["a"] }), "uri: invalid type: sequence, expected a string"),
        ("prompts/get", json!(null), "params must have the name of a prompt"),
        ("resources/subscribe", json!(null), "missing field `uri`"),
        ("logging/setLevel", json!({ "level": 7 }), "level: invalid type: integer `7`, expected a string"),
        ("tools/list", json!({ "cursor": 7 }), "cursor: invalid type: integer `7`, expected a string"),
        (
            "completion/complete",
            json!({ "ref": 7, "argument": {} }),
            "ref: invalid type: integer `7`, expected an object",
        ),
        ("completion/complete", json!({ "argument": {} }), "argument: missing field `name`"),
    ] {
        let answer = server.exchange(method, &params);
        let error = json!({ "code": -32602, "message": format!("Invalid params: {told}") });
        assert_eq!(answer["error"], error, "B139: {method} {params}");
    }
}

#[test]
fn a_batch_is_answered_whole_where_the_revision_has_batches() {
    let temp = Temp::new();
    let mut server = Server::start(temp.path());
    server.exchange("initialize", &hello("2025-03-26"));
    server.send_line(
        r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},7,{"jsonrpc":"2.0","method":"x"},{"jsonrpc":"2.0","id":2,"method":"no"}]"#,
    );
    let answer = server.recv();
    let ids: Vec<_> = answer.as_array().expect("a batch").iter().map(|one| one["id"].clone()).collect();
    assert_eq!(ids, [json!(1), Value::Null, json!(2)], "B139: {answer}");
    server.send_line(r#"[{"jsonrpc":"2.0","method":"x"}]"#);
    alive(&mut server, "B139");
}

#[test]
fn a_reader_that_leaves_is_no_reason_to_panic() {
    let workspace = json!({ "big": "x".repeat(245_000) }).to_string();
    let mut child = Command::new(env!("CARGO_BIN_EXE_toolgate"))
        .arg("dispatch")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the toolgate binary");
    drop(child.stdout.take());
    let input = document(&workspace, "read_file", r#"{"path":"big"}"#);
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("a process that reads");
    let output = child.wait_with_output().expect("an exit status");
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]), "B143");
}

#[test]
fn a_client_that_stops_reading_gets_its_change_whole_or_not_at_all() {
    let folder = Temp::with(&[("a", "old\n"), ("big", &"line\n".repeat(50_000))]);
    let mut child = Command::new(env!("CARGO_BIN_EXE_toolgate"))
        .arg("serve")
        .arg(folder.path())
        .env("XDG_STATE_HOME", folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the toolgate binary");
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().expect("a pipe");
    for n in 0..50 {
        let read = frame(json!(n), "read_file", json!({ "path": "big" }));
        let patch = frame(json!(n + 100), "patch_file", json!({ "path": "a", "old_str": "old", "new_str": "new" }));
        // It may be gone already, which is what is tested.
        let _ = stdin.write_all(format!("{read}\n{patch}\n").as_bytes());
    }
    drop(stdin);
    let output = child.wait_with_output().expect("an exit status");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !stderr.contains("panicked"), "B143: {} {stderr}", output.status);
    assert!(["old\n", "new\n"].contains(&folder.text("a").as_str()), "B143: {:?}", folder.text("a"));
}
