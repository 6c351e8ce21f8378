//! Arguments: slips of clients are mended where the schema leaves no doubt, everything else is told to the model.

use serde_json::{Value, json};

use super::kit::{Desk, Reply, frame, says};

/// Sends `arguments` as this JSON text.
fn call_raw(desk: &mut Desk, tool: &str, arguments: &str) -> Value {
    let frame = frame(json!("raw"), tool, json!("ARGUMENTS")).to_string().replace("\"ARGUMENTS\"", arguments);
    desk.server.send_line(&frame);
    let answer = desk.server.recv();
    assert_eq!(answer["id"], "raw", "{answer}");
    answer
}

#[test]
fn text_that_looks_like_json_stays_text() {
    let mut desk = Desk::with("a", "x");
    for content in ["{\"a\":1}", "[1, 2]", "null", "7", "true", "\"quoted\"", "{\"a\": "] {
        let path = format!("f{}", content.len());
        desk.write(&path, content).ok();
        assert_eq!(desk.folder.text(&path), content, "B125");
    }
    desk.patch("a", "x", "[\"x\"]").ok();
    assert_eq!(desk.folder.text("a"), "[\"x\"]", "B125");
    for content in [json!({ "a": 1 }), json!(["a"]), json!(7), json!(true), json!(null)] {
        let reply = desk.call("write_file", json!({ "path": "new", "content": content }));
        says(reply.error("invalid_arguments"), &["content", "string"]);
    }
    assert!(!desk.files().contains_key("new"), "B125");
}

#[test]
fn arguments_sent_as_the_text_of_an_object_are_taken() {
    let mut desk = Desk::with("a.txt", "1\n");
    assert_eq!(desk.call("read_file", json!("{\"path\":\"a.txt\"}")).ok(), "1: 1\n", "B126");
    assert_eq!(desk.call("read_file", json!(" {\"path\" : \"a.txt\"}\n")).ok(), "1: 1\n", "B126");
    for text in ["a.txt", "", "[]", "7", "null", "{\"path\":\"a.txt\"} x", "{\"path\":\"a.txt\"", "{\"pth\":\"a.txt\"}"]
    {
        desk.call("read_file", json!(text)).error("invalid_arguments");
    }
    // What is inside is judged as strictly as anything else.
    desk.call("read_file", json!("{\"path\":\"../x\"}")).error("outside_workspace");
    desk.call("read_file", json!("{\"path\":\"a.txt\",\"path\":\"b\"}")).error("invalid_arguments");
}

#[test]
fn whole_numbers_are_taken_however_they_are_written_and_nothing_else_is() {
    let mut desk = Desk::with("f", "a\nb\nc\n");
    let mut lines = |start: Value, end: Value| -> Reply {
        desk.call("read_file", json!({ "path": "f", "start_line": start, "end_line": end }))
    };
    for (start, end) in
        [(json!(2), json!(2)), (json!("2"), json!("2")), (json!(2.0), json!(2)), (json!(" 2"), json!("2 "))]
    {
        assert_eq!(lines(start, end).ok(), "2: b\n", "B127");
    }
    for bad in [
        json!("12px"),
        json!("1e4"),
        json!(""),
        json!(5.9),
        json!("5.0"),
        json!("0x2"),
        json!("+2"),
        json!("02"),
        json!("two"),
        json!([2]),
        json!(true),
    ] {
        let reply = lines(bad.clone(), json!(3));
        assert!(reply.error("invalid_arguments").contains("start_line"), "B127: {bad}: {reply:?}");
    }
    assert_eq!(lines(json!(1e0), json!("1")).ok(), "1: a\n", "B127");
}

#[test]
fn yes_and_no_are_taken_as_words_of_json_only() {
    let mut desk = Desk::with("f", "a a");
    let everywhere = |value: Value| json!({ "path": "f", "old_str": "a", "new_str": "b", "replace_all": value });
    for bad in [json!("yes"), json!("True"), json!(1), json!("1"), json!("")] {
        says(desk.call("patch_file", everywhere(bad)).error("invalid_arguments"), &["replace_all"]);
    }
    desk.call("patch_file", everywhere(json!("false"))).error("ambiguous_match");
    desk.call("patch_file", everywhere(json!("true"))).ok();
    assert_eq!(desk.folder.text("f"), "b b", "B127");
}

#[test]
fn what_the_model_did_wrong_is_a_result_and_what_the_client_did_wrong_is_an_error() {
    let mut desk = Desk::with("a", "1");
    says(desk.call("read_file", json!({})).error("invalid_arguments"), &["path"]);
    says(desk.call("read_file", json!({ "path": 7 })).error("invalid_arguments"), &["path", "string"]);
    says(desk.call("read_file", json!({ "path": "a", "file": "a" })).error("invalid_arguments"), &["file"]);
    says(desk.read("missing").error("file_not_found"), &["missing"]);
    for name in ["nope", "", "Read_File", "read_file\n", "tools/call"] {
        let answer = desk.server.request("tools/call", json!({ "name": name, "arguments": {} }));
        assert_eq!(answer["error"]["code"], -32602, "B131: {answer}");
        assert!(
            answer["error"]["message"].as_str().is_some_and(|said| said.contains("unknown tool")),
            "B131: {answer}"
        );
    }
    let answer = desk.server.request("tools/call", json!({ "name": "read_fil", "arguments": {} }));
    says(answer["error"]["message"].as_str().unwrap_or_default(), &["read_file"]);
}

#[test]
fn every_fault_is_told_at_once() {
    let mut desk = Desk::with("a", "1");
    let reply = desk.call("patch_file", json!({ "path": 7, "old_str": "", "extra": 1 }));
    says(reply.error("invalid_arguments"), &["path", "old_str", "new_str", "extra"]);
    assert_eq!(reply.details()["faults"].as_array().map(Vec::len), Some(4), "B131: {reply:?}");
}

#[test]
fn a_key_that_comes_twice_is_refused_whatever_it_says() {
    let mut desk = Desk::with("ok.txt", "1");
    for (tool, arguments) in [
        ("read_file", r#"{"path":"ok.txt","path":"../x"}"#),
        ("read_file", r#"{"path":"ok.txt","path":"ok.txt"}"#),
        ("read_file", r#"{"path":"ok.txt","\u0070ath":"../x"}"#),
        ("write_file", r#"{"path":"new","content":"1","content":"2"}"#),
        ("read_file", r#"{"path":"ok.txt","x":{"a":1,"a":2}}"#),
    ] {
        let answer = call_raw(&mut desk, tool, arguments);
        says(Reply(answer["result"].clone()).error("invalid_arguments"), &["twice"]);
    }
    assert_eq!(desk.files().into_keys().collect::<Vec<_>>(), ["ok.txt"], "B094");
}

#[test]
fn arguments_of_another_kind_are_never_a_call_of_something_else() {
    let mut desk = Desk::with("a", "1");
    for arguments in ["7", "[]", "true", "[\"a\"]"] {
        let answer = call_raw(&mut desk, "read_file", arguments);
        assert_eq!(answer["error"]["code"], -32602, "B131: {answer}");
    }
    // Left out or null: no arguments, so the tool says what it needs; a tool that needs none runs.
    let answer = call_raw(&mut desk, "read_file", "null");
    says(Reply(answer["result"].clone()).error("invalid_arguments"), &["path"]);
    let answer = desk.server.request("tools/call", json!({ "name": "list_dir" }));
    assert_eq!(Reply(answer["result"].clone()).ok(), "file 1 a\n", "B124");
}
