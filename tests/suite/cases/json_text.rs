//! JSON that is odd but readable, or nearly JSON: the call fails, its id is answered, and the next call is served.

use serde_json::{Value, json};

use super::kit::{Desk, Reply, frame, says};
use crate::suite::support::oneshot::{dispatch, document};

/// A call with `HERE` in its arguments replaced by this text.
fn with_content(content: &str) -> String {
    frame(json!(7), "write_file", json!({ "path": "a", "content": "HERE" })).to_string().replace("HERE", content)
}

#[test]
fn half_a_surrogate_pair_fails_its_call_alone() {
    for content in [r"x\ud83d y", r"\ude00", r"\ud83d", r"\ud83d\ud83d", r"\ude00\ud83d", r"\ud83dx\ude00", r"\uD800\n"]
    {
        let mut desk = Desk::with("a", "old");
        desk.server.send_line(&with_content(content));
        let answer = desk.server.recv();
        assert_eq!(answer["id"], 7, "B133: {content}: {answer}");
        says(Reply(answer["result"].clone()).error("invalid_arguments"), &["surrogate"]);
        assert_eq!(desk.read("a").ok(), "1: old", "B133: {content}");

        let args = format!(r#"{{"path":"a","content":"{content}"}}"#);
        let ran = dispatch(document(r#"{"a":"old"}"#, "write_file", &args));
        says(ran.answer("B133"), &["invalid_arguments", "surrogate", r#""workspace":{"a":"old"}"#]);
    }
}

#[test]
fn a_whole_pair_is_one_character() {
    let mut desk = Desk::with("other", "");
    desk.server.send_line(&with_content(r"\ud83c\udf89\u0041\u00e9\n"));
    desk.server.recv();
    assert_eq!(desk.folder.text("a"), "🎉Aé\n", "B133");
    assert_eq!(desk.read("a").ok(), "1: 🎉Aé\n", "B132");
}

#[test]
fn half_a_pair_anywhere_else_ends_nothing_either() {
    let mut desk = Desk::with("a", "1");
    for frame in [
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"\ud83d","arguments":{}}}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":"\ud83d"}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"cursor":"\ud83d"}}"#,
        r#"{"jsonrpc":"2.0","id":"\ud83d","method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":"ping","\ud83d":1}"#,
    ] {
        desk.server.send_line(frame);
        let answer = desk.server.recv();
        assert!(answer.get("error").is_some(), "B133: {frame}: {answer}");
    }
    assert_eq!(desk.read("a").ok(), "1: 1", "B133");
}

#[test]
fn nesting_without_end_is_answered_with_its_id() {
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    let objects = r#"{"a":"#.repeat(100_000) + "1" + &"}".repeat(100_000);
    let open = "[".repeat(100_000);
    let mut desk = Desk::with("a", "1");
    for nested in [&deep, &objects] {
        for frame in [
            format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{nested}}}"#),
            frame(json!(7), "read_file", json!({ "path": "HERE" })).to_string().replace("\"HERE\"", nested),
            frame(json!(7), "read_file", json!("HERE")).to_string().replace("\"HERE\"", nested),
        ] {
            desk.server.send_line(&frame);
            let answer = desk.server.recv();
            assert_eq!(answer["id"], 7, "B135: {}", &frame[..100]);
            assert!(answer.get("error").is_some() || answer["result"]["isError"] == true, "B135: {answer}");
        }
    }
    desk.server.send_line(&format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{open}"#));
    assert_eq!(desk.server.recv()["error"]["code"], -32700, "B135");
    desk.server.send_line(&open);
    assert_eq!(desk.server.recv()["error"]["code"], -32700, "B135");
    desk.server.send_line(&deep);
    assert!(desk.server.recv().get("error").is_some(), "B135");
    assert_eq!(desk.read("a").ok(), "1: 1", "B135");
}

#[test]
fn text_comes_back_as_it_went_in() {
    for text in ["\u{2028}\u{2029}\u{7f}\u{80}", "\u{1}\u{1b}[31m\u{8}", "\"\\/\u{fffd}\u{ffff}", "\u{10ffff}\u{e000}"]
    {
        let mut desk = Desk::with("f", text);
        assert_eq!(desk.read("f").ok(), format!("1: {text}"), "B132");
        desk.write("g", text).ok();
        assert_eq!(desk.folder.text("g"), text, "B132");
    }
}

#[test]
fn numbers_that_are_no_numbers_fail_their_call_alone() {
    let mut desk = Desk::with("a", "1");
    for number in ["1e999", "-1e999", "NaN", "Infinity", "01", "1.", ".5", "0x1", "1_000"] {
        let frame = frame(json!(7), "read_file", json!({ "path": "a", "start_line": "HERE" }));
        desk.server.send_line(&frame.to_string().replace("\"HERE\"", number));
        let answer: Value = desk.server.recv();
        assert!(answer.get("error").is_some() || answer["result"]["isError"] == true, "B133: {number}: {answer}");
    }
    assert_eq!(desk.read("a").ok(), "1: 1", "B133");
}
