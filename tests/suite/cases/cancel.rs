//! Taking requests back, ids, and versions of the protocol.

use serde_json::{Value, json};

use super::kit::{Desk, cancelled, frame, hello, meta};
use crate::suite::support::{Server, Temp};

/// A text file that takes long to read to its end: a page of lines, then a hole.
fn slow_file(folder: &Temp) {
    folder.write("slow", "line\n".repeat(60_000));
    let file = std::fs::OpenOptions::new().write(true).open(folder.path().join("slow")).expect("a file");
    file.set_len(200 * 1024 * 1024).expect("a hole");
}

/// A call that reads the slow file and tells how far it is.
fn slow_call(id: &Value) -> Value {
    let mut frame = frame(id.clone(), "read_file", json!({ "path": "slow" }));
    frame["params"]["_meta"] = meta();
    frame["params"]["_meta"]["progressToken"] = id.clone();
    frame
}

#[test]
fn a_number_and_a_text_are_two_ids() {
    // A call may always be done before it is taken back, so this is tried a few times.
    let taken_back = (0..10).any(|_| {
        let folder = Temp::new();
        slow_file(&folder);
        let mut desk = Desk::serving(folder);
        let (number, text) = (json!(1), json!("1"));
        desk.server.send(&slow_call(&text));
        desk.server.send(&slow_call(&number));
        // Once it is under way.
        while desk.server.recv()["params"]["progressToken"] != text {}
        desk.server.send(&cancelled(json!({ "requestId": text })));
        let messages = desk.server.finish().messages;
        let answers = |id: &Value| messages.iter().filter(|message| message["id"] == *id).count();
        assert_eq!(answers(&number), 1, "B148: the other one goes on");
        answers(&text) == 0
    });
    assert!(taken_back, "B148: never taken back");
}

#[test]
fn ids_that_look_alike_are_answered_as_they_were_sent() {
    let mut desk = Desk::with("a", "1");
    for id in [json!(1), json!("1"), json!(-1), json!(0), json!("null"), json!(""), json!(u64::MAX)] {
        desk.server.send(&frame(id.clone(), "read_file", json!({ "path": "a" })));
        assert_eq!(desk.server.recv()["id"], id, "B148");
    }
}

#[test]
fn a_request_taken_back_wrongly_or_too_late_changes_nothing() {
    let mut desk = Desk::with("a", "1");
    desk.server.send(&frame(json!("done"), "read_file", json!({ "path": "a" })));
    assert_eq!(desk.server.recv()["id"], "done", "B149");
    for params in [
        json!({}),
        json!(null),
        json!([]),
        json!("done"),
        json!({ "requestId": null }),
        json!({ "requestId": 14204.5 }),
        json!({ "requestId": {} }),
        json!({ "requestId": true }),
        json!({ "requestId": "unknown" }),
        json!({ "requestId": "done" }),
        json!({ "requestId": "done", "reason": 7 }),
    ] {
        desk.server.send(&cancelled(params));
    }
    desk.server.send_line(r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#);
    desk.server.send(&frame(json!("next"), "read_file", json!({ "path": "a" })));
    assert_eq!(desk.server.recv()["id"], "next", "B149: nothing else was answered");
    // The id of a request that is done is free again.
    desk.server.send(&frame(json!("done"), "read_file", json!({ "path": "a" })));
    assert!(desk.server.recv().get("result").is_some(), "B149");
}

#[test]
fn a_change_taken_back_is_whole_or_not_there() {
    let (old, new) = ("old ".repeat(300_000), "new ".repeat(300_000));
    for distance in 0..12 {
        let mut desk = Desk::with("big", &old);
        let arguments = json!({ "path": "big", "old_str": old, "new_str": new });
        let mut lines = format!("{}\n", frame(json!("patch"), "patch_file", arguments));
        // What stands between the call and the word that takes it back moves that word through the call.
        for n in 0..distance {
            lines += &format!("{}\n", frame(json!(n), "list_dir", json!({})));
        }
        lines += &format!("{}\n", cancelled(json!({ "requestId": "patch" })));
        // The file is free again: the next call on it is not kept waiting.
        let next = json!({ "path": "big", "old_str": "not there", "new_str": "x" });
        lines += &format!("{}\n", frame(json!("next"), "patch_file", next));
        desk.server.send_bytes(lines.as_bytes());
        let root = desk.folder;
        let messages = desk.server.finish().messages;
        let answer = |id: &str| messages.iter().find(|message| message["id"] == id);
        let next = answer("next").unwrap_or_else(|| panic!("B150: nothing came of the next call: {messages:?}"));
        assert_eq!(next["result"]["structuredContent"]["error"], "old_str_not_found", "B150: {next}");
        let answered = answer("patch").is_some_and(|message| message["result"]["isError"] != true);
        let text = root.text("big");
        assert!(text == old || text == new, "B150: neither old nor new, {} bytes", text.len());
        assert!(!answered || text == new, "B150: told as done, but not done");
        assert_eq!(super::kit::files_of(root.path()).len(), 1, "B150: a temporary file is left");
    }
}

#[test]
fn known_versions_are_kept_and_unknown_ones_get_the_newest() {
    let temp = Temp::new();
    for (asked, given) in [
        (json!("2024-11-05"), "2024-11-05"),
        (json!("2025-03-26"), "2025-03-26"),
        (json!("2025-06-18"), "2025-06-18"),
        (json!("2025-11-25"), "2025-11-25"),
        (json!("2099-01-01"), "2025-11-25"),
        (json!(""), "2025-11-25"),
        (json!(null), "2025-11-25"),
        (json!(20_250_618), "2025-11-25"),
    ] {
        let mut server = Server::start(temp.path());
        let mut params = hello("");
        params["protocolVersion"] = asked.clone();
        let answer = server.exchange("initialize", &params);
        assert_eq!(answer["result"]["protocolVersion"], given, "B153: {asked}: {answer}");
    }
    let mut server = Server::start(temp.path());
    for params in [json!({}), json!({ "capabilities": {} })] {
        let answer = server.exchange("initialize", &params);
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "B153: left out: {answer}");
    }
}
