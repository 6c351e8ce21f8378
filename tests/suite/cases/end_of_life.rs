//! How a server and a dispatch end: at the end of the input, at once, with every request answered.

use std::time::Duration;

use serde_json::json;

use super::kit::{Desk, frame, hello};
use crate::suite::support::oneshot::{dispatch, document, done};
use crate::suite::support::{Server, Temp};

#[test]
fn the_end_of_the_input_is_the_end_and_costs_nothing() {
    let temp = Temp::with(&[("a", "1")]);
    for requests in [0, 1, 20] {
        let mut desk = Desk { server: Server::start(temp.path()), folder: Temp::new() };
        for _ in 0..requests {
            desk.read("a").ok();
        }
        let ended = desk.server.finish();
        assert!(ended.status.success(), "B145: {}", ended.status);
        assert_eq!((ended.stderr.as_str(), ended.messages.len()), ("", 0), "B145");
        // A loop that spins at the end of the input would go on until it is killed.
        let busy = ended.processor_time.unwrap_or_default();
        assert!(busy < Duration::from_secs(2), "B145: {busy:?} of processor time");
    }
}

#[test]
fn an_input_that_was_never_open_is_an_end_too() {
    let (temp, state) = (Temp::new(), Temp::new());
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_toolgate"))
        .arg("serve")
        .arg(temp.path())
        .env("XDG_STATE_HOME", state.path())
        .stdin(std::process::Stdio::null())
        .output()
        .expect("the toolgate binary");
    assert!(output.status.success() && output.stdout.is_empty(), "B145: {output:?}");
}

#[test]
fn the_last_request_needs_no_line_end() {
    let mut desk = Desk::with("a", "1\n");
    let last = frame(json!("last"), "read_file", json!({ "path": "a" }));
    desk.server.send_bytes(last.to_string().as_bytes());
    let ended = desk.server.finish();
    assert!(ended.status.success(), "B146");
    assert_eq!(ended.messages.len(), 1, "B146: {:?}", ended.messages);
    assert_eq!(ended.messages[0]["result"]["content"][0]["text"], "1: 1\n", "B146");
}

#[test]
fn the_last_line_may_be_cut_off() {
    let temp = Temp::new();
    let mut server = Server::start(temp.path());
    server.exchange("initialize", &hello("2025-06-18"));
    server.send_bytes(br#"{"jsonrpc":"2.0","id":1,"met"#);
    let ended = server.finish();
    assert!(ended.status.success(), "B146");
    assert!(ended.messages.len() <= 1, "B146: {:?}", ended.messages);
}

#[test]
fn a_document_needs_no_line_end_and_may_have_several() {
    let input = document(r#"{"a":"1"}"#, "read_file", r#"{"path":"a"}"#);
    for input in [input.clone(), format!("{input}\n"), format!("{input}\r\n\r\n")] {
        assert_eq!(dispatch(input).answer("B146"), done("read_file", "1: 1", r#"{"a":"1"}"#));
    }
}

#[test]
fn everything_that_was_asked_before_the_end_is_answered() {
    // The end may be read while a call is still on its way from the line to the tool, hence more than once.
    for _ in 0..10 {
        let mut desk = Desk::with("a", "1\n");
        let calls = (0..200).map(|n| frame(json!(n), "read_file", json!({ "path": "a" })));
        let frames: String = calls.map(|call| format!("{call}\n")).collect();
        desk.server.send_bytes(frames.as_bytes());
        let ended = desk.server.finish();
        let mut ids: Vec<_> = ended.messages.iter().filter_map(|message| message["id"].as_u64()).collect();
        ids.sort_unstable();
        assert_eq!(ids, (0..200).collect::<Vec<_>>(), "B146");
    }
}
