//! A person decides: over the stream of a client with a handshake, or with a request that comes again.

use serde_json::{Value, json};

use super::kit::{Home, end, guarded};
use crate::suite::cases::kit::{Desk, Reply, says};
use crate::suite::support::{MODERN, Temp};

const ASK: &str = "[[rule]]\ndecision = \"ask\"\ntools = [\"write_file\", \"patch_file\"]\nreason = \"it is Friday\"\n";

/// What a client with a handshake says first.
fn greet(desk: &mut Desk, capabilities: Value) {
    let client = json!({ "name": "test", "version": "1" });
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": client });
    desk.server.exchange("initialize", &hello);
    desk.server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
}

/// Sends a call, and takes the question that comes of it.
fn asked(desk: &mut Desk, tool: &str, arguments: &Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments });
    desk.server.send(&json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params }));
    let question = desk.server.recv();
    assert_eq!(question["method"], "elicitation/create", "{question}");
    question
}

/// A desk whose client can be asked, and its question about a write.
fn asking() -> (Desk, Home, Value) {
    let (mut desk, home) = guarded(&[("old", "1\n")], ASK);
    greet(&mut desk, json!({ "elicitation": {} }));
    let question = asked(&mut desk, "write_file", &json!({ "path": "new", "content": "made\n" }));
    (desk, home, question)
}

/// Sends what the person said, and takes the outcome.
fn said(desk: &mut Desk, question: &Value, result: &Value) -> Reply {
    desk.server.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": result }));
    let answer = desk.server.recv();
    assert_eq!(answer["id"], 7, "{answer}");
    Reply(answer["result"].clone())
}

#[test]
fn a_person_behind_a_stream_sees_what_would_happen_and_decides() {
    let yes = json!({ "action": "accept", "content": { "approve": true } });
    for (what, result, why) in [
        ("yes", yes, None),
        ("the box is not ticked", json!({ "action": "accept", "content": { "approve": false } }), Some("declined")),
        ("the form is empty", json!({ "action": "accept" }), Some("declined")),
        ("no", json!({ "action": "decline" }), Some("declined")),
        ("closed", json!({ "action": "cancel" }), Some("would not say")),
        ("no answer at all", json!("yes"), Some("would not say")),
    ] {
        let (mut desk, _home, question) = asking();
        let message = question["params"]["message"].as_str().expect("a message");
        says(message, &["write_file", "new", "it is Friday", "+made"]);
        assert_eq!(question["params"]["requestedSchema"]["properties"]["approve"]["type"], "boolean");
        assert!(!desk.folder.path().join("new").exists(), "{what}: not before the answer");
        let reply = said(&mut desk, &question, &result);
        match why {
            None => assert_eq!(reply.observations(), ["File written: new"], "{what}"),
            Some(why) => says(reply.error("denied"), &["it is Friday", why, "Nothing was changed"]),
        }
        assert_eq!(desk.folder.path().join("new").exists(), why.is_none(), "B189: {what}");
    }
}

#[test]
fn a_person_sees_what_would_happen_to_every_file() {
    let config = "[[rule]]\ndecision = \"ask\"\npaths = [\"b\"]\nreason = \"b matters\"\n";
    let (mut desk, _home) = guarded(&[("a", "one\n")], config);
    let utf16: Vec<u8> = [0xFF, 0xFE].into_iter().chain("zwei\n".encode_utf16().flat_map(u16::to_le_bytes)).collect();
    desk.folder.write("b", utf16);
    greet(&mut desk, json!({ "elicitation": {} }));
    let patches = json!([
        { "path": "a", "old_str": "one", "new_str": "1" },
        { "path": "b", "old_str": "zwei", "new_str": "2" },
    ]);
    let question = asked(&mut desk, "patch_files", &json!({ "patches": patches }));
    let message = question["params"]["message"].as_str().expect("a message");
    says(message, &["b matters", "Patch a, b", "-one\n+1\n", "-zwei\n+2"]);
    let reply = said(&mut desk, &question, &json!({ "action": "decline" }));
    reply.error("denied");
    assert_eq!(desk.folder.text("a"), "one\n", "all or none");
    let question = asked(&mut desk, "patch_files", &json!({ "patches": patches }));
    let yes = json!({ "action": "accept", "content": { "approve": true } });
    assert_eq!(said(&mut desk, &question, &yes).observations(), ["File patched: a\nFile patched: b"]);
}

#[test]
fn a_person_sees_a_change_wherever_in_a_large_file_it_is() {
    let (mut desk, _home) = guarded(&[], ASK);
    let (lines, last) = (200_000, 200_001);
    let text = |end: &str| format!("{}{end}", (1..=lines).map(|n| format!("line {n}\n")).collect::<String>());
    desk.folder.write("large", text("the end\n"));
    greet(&mut desk, json!({ "elicitation": {} }));
    let question =
        asked(&mut desk, "patch_file", &json!({ "path": "large", "old_str": "the end", "new_str": "the END" }));
    let message = question["params"]["message"].as_str().expect("a message");
    says(message, &[&format!("@@ -{0},4 +{0},4 @@", last - 3), " line 200000\n", "-the end\n+the END"]);
    let yes = json!({ "action": "accept", "content": { "approve": true } });
    said(&mut desk, &question, &yes).ok();
    assert_eq!(desk.folder.text("large"), text("the END\n"));
}

#[test]
fn a_person_sees_what_a_deletion_and_a_move_would_take() {
    let rule = "[[rule]]\ndecision = \"ask\"\ntools = [\"delete_path\", \"move_path\"]\n";
    let (mut desk, _home) = guarded(&[("d/a", "1"), ("d/e/b", "2")], rule);
    greet(&mut desk, json!({ "elicitation": {} }));
    let yes = json!({ "action": "accept", "content": { "approve": true } });
    let question = asked(&mut desk, "move_path", &json!({ "from": "d", "to": "m" }));
    says(question["params"]["message"].as_str().expect("a message"), &["The folder d with 3 entries moves to m."]);
    said(&mut desk, &question, &yes).ok();
    let question = asked(&mut desk, "delete_path", &json!({ "path": "m", "recursive": true }));
    let message = question["params"]["message"].as_str().expect("a message");
    says(message, &["The folder m with 3 entries is deleted", "  a\n", "  e\n", "  e/b"]);
    desk.folder.write("m/new", "3");
    let again = {
        desk.server.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": yes }));
        desk.server.recv()
    };
    says(Reply(again["result"].clone()).error("stale_version"), &["Nothing was changed"]);
    assert_eq!(desk.folder.text("m/a"), "1", "what a person has not seen does not go");
}

#[test]
fn a_person_who_takes_too_long_has_said_no() {
    let (mut desk, _home) = guarded(&[], &format!("{ASK}\n[approval]\ntimeout_ms = 100\n"));
    greet(&mut desk, json!({ "elicitation": {} }));
    let question = asked(&mut desk, "write_file", &json!({ "path": "new", "content": "made\n" }));
    let answers = [desk.server.recv(), desk.server.recv()];
    let of = |id: &Value| answers.iter().find(|answer| answer["id"] == *id || answer["params"]["requestId"] == *id);
    assert_eq!(of(&question["id"]).expect("it is taken back")["method"], "notifications/cancelled");
    let outcome = of(&json!(7)).expect("an outcome")["result"].clone();
    says(Reply(outcome).error("denied"), &["did not answer in time"]);
    assert!(desk.files().is_empty(), "B189");
}

#[test]
fn an_error_for_a_question_is_a_no() {
    let (mut desk, _home, question) = asking();
    let error = json!({ "code": -32601, "message": "unknown" });
    desk.server.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "error": error }));
    Reply(desk.server.recv()["result"].clone()).error("denied");
    assert!(!desk.folder.path().join("new").exists(), "B189");
}

#[test]
fn other_calls_go_on_while_a_person_thinks() {
    let (mut desk, _home, question) = asking();
    let params = json!({ "name": "read_file", "arguments": { "path": "old" } });
    let other = desk.server.exchange("tools/call", &params);
    assert_eq!(other["result"]["content"][0]["text"], "1: 1\n");
    said(&mut desk, &question, &json!({ "action": "accept", "content": { "approve": true } })).ok();
}

#[test]
fn the_end_of_the_input_ends_the_question_too() {
    let (desk, home, _question) = asking();
    let (folder, ended) = end(desk);
    assert!(ended.status.success(), "{}", ended.stderr);
    assert!(!folder.path().join("new").exists(), "B189");
    assert_eq!(home.events(1), ["tool/call", "approval/asked", "approval/answered", "tool/result"]);
}

#[test]
fn a_call_that_is_taken_back_takes_its_question_back() {
    let (mut desk, _home, question) = asking();
    desk.server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 7 } }));
    let taken_back = desk.server.recv();
    assert_eq!(taken_back["method"], "notifications/cancelled", "{taken_back}");
    assert_eq!(taken_back["params"]["requestId"], question["id"]);
    let yes = json!({ "action": "accept", "content": { "approve": true } });
    desk.server.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": yes }));
    assert_eq!(desk.server.exchange("ping", &json!({}))["result"], json!({}), "a late yes is no yes");
    assert!(!desk.folder.path().join("new").exists());
}

#[test]
fn what_was_approved_is_what_is_done_or_nothing() {
    let (mut desk, _home) = guarded(&[("a", "one\ntwo\n")], ASK);
    greet(&mut desk, json!({ "elicitation": { "form": {} } }));
    let question = asked(&mut desk, "patch_file", &json!({ "path": "a", "old_str": "one", "new_str": "1" }));
    desk.folder.write("a", "one\nnot what they saw\n");
    let reply = said(&mut desk, &question, &json!({ "action": "accept", "content": { "approve": true } }));
    says(reply.error("stale_version"), &["while a person looked"]);
    assert_eq!(desk.folder.text("a"), "one\nnot what they saw\n");
}

#[test]
fn where_there_is_nobody_to_ask_the_answer_is_no() {
    let (mut desk, _home) = guarded(&[], ASK);
    says(desk.write("new", "1").error("denied"), &["nobody to ask", "it is Friday"]);
    for capabilities in [json!({}), json!({ "elicitation": { "url": {} } })] {
        let (mut desk, _home) = guarded(&[], ASK);
        greet(&mut desk, capabilities);
        let params = json!({ "name": "write_file", "arguments": { "path": "new", "content": "1" } });
        let answer = desk.server.exchange("tools/call", &params);
        says(Reply(answer["result"].clone()).error("denied"), &["nobody to ask"]);
        assert!(desk.files().is_empty(), "B189");
    }
}

/// A request of the stateless era, by a client that can show forms, with more than the call.
fn call(desk: &mut Desk, tool: &str, arguments: &Value, more: &Value) -> Value {
    let mut params = json!({ "name": tool, "arguments": arguments, "_meta": {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } },
    } });
    for (name, value) in more.as_object().expect("an object") {
        params[name] = value.clone();
    }
    desk.server.exchange("tools/call", &params)
}

/// The question of an answer that has come to nothing yet, and its state.
fn required(answer: &Value) -> (&Value, &str) {
    let result = &answer["result"];
    assert_eq!(result["resultType"], "input_required", "{answer}");
    let request = &result["inputRequests"]["approval"];
    assert_eq!((&request["method"], &request["params"]["mode"]), (&json!("elicitation/create"), &json!("form")));
    (request, result["requestState"].as_str().expect("a state"))
}

fn with(state: &str, action: &str) -> Value {
    let response = json!({ "action": action, "content": { "approve": true } });
    json!({ "requestState": state, "inputResponses": { "approval": response } })
}

#[test]
fn a_request_comes_again_with_the_word_of_a_person() {
    let arguments = json!({ "path": "new", "content": "made\n" });
    for (action, done) in [("accept", true), ("decline", false), ("cancel", false)] {
        let (mut desk, _home) = guarded(&[], ASK);
        let first = call(&mut desk, "write_file", &arguments, &json!({}));
        let (request, state) = required(&first);
        says(request["params"]["message"].as_str().expect("a message"), &["write_file", "it is Friday", "+made"]);
        assert!(desk.files().is_empty(), "not before the answer");
        let again = call(&mut desk, "write_file", &arguments, &with(state, action));
        let reply = Reply(again["result"].clone());
        if done {
            assert_eq!(reply.observations(), ["File written: new"]);
        } else {
            reply.error("denied");
        }
        assert_eq!(desk.files().len(), usize::from(done), "B189: {action}");
        // Said once, done once.
        let third = call(&mut desk, "write_file", &arguments, &with(state, "accept"));
        assert_eq!(third["error"]["code"], -32602, "{third}");
    }
}

#[test]
fn a_word_that_belongs_to_no_question_of_this_call_is_an_error() {
    let (mut desk, _home) = guarded(&[], ASK);
    let arguments = json!({ "path": "new", "content": "made\n" });
    let first = call(&mut desk, "write_file", &arguments, &json!({}));
    let state = required(&first).1;
    let middle = state.len() / 2;
    let other = if state.as_bytes()[middle] == b'A' { "B" } else { "A" };
    let tampered = format!("{}{other}{}", &state[..middle], &state[middle + 1..]);
    let another = json!({ "path": "new", "content": "something else\n" });
    for (what, arguments, more) in [
        ("one letter is another", &arguments, with(&tampered, "accept")),
        ("cut short", &arguments, with(&state[..middle], "accept")),
        ("empty", &arguments, with("", "accept")),
        ("another call", &another, with(state, "accept")),
        ("no state", &arguments, json!({ "inputResponses": with(state, "accept")["inputResponses"] })),
        ("no string", &arguments, json!({ "requestState": 1 })),
    ] {
        let answer = call(&mut desk, "write_file", arguments, &more);
        assert_eq!(answer["error"]["code"], -32602, "{what}: {answer}");
        assert!(desk.files().is_empty(), "{what}");
    }
}

#[test]
fn a_yes_to_what_would_not_happen_any_more_is_asked_about_anew() {
    let (mut desk, _home) = guarded(&[("a", "one\ntwo\n")], ASK);
    let arguments = json!({ "path": "a", "old_str": "one", "new_str": "1" });
    let first = call(&mut desk, "patch_file", &arguments, &json!({}));
    desk.folder.write("a", "one\nthree\n");
    let second = call(&mut desk, "patch_file", &arguments, &with(required(&first).1, "accept"));
    assert_eq!(desk.folder.text("a"), "one\nthree\n");
    let (request, state) = required(&second);
    says(request["params"]["message"].as_str().expect("a message"), &["three"]);
    let third = call(&mut desk, "patch_file", &arguments, &with(state, "accept"));
    Reply(third["result"].clone()).ok();
    assert_eq!(desk.folder.text("a"), "1\nthree\n");
}

#[test]
fn another_server_does_not_know_the_question() {
    let home = Home::configured(ASK);
    let mut desk = home.desk(Temp::new());
    let arguments = json!({ "path": "new", "content": "made\n" });
    let first = call(&mut desk, "write_file", &arguments, &json!({}));
    let (folder, _) = end(desk);
    let mut desk = home.desk(folder);
    let again = call(&mut desk, "write_file", &arguments, &with(required(&first).1, "accept"));
    assert_eq!(again["error"]["code"], -32602, "{again}");
    assert!(desk.files().is_empty());
}

/// A failure shows what is in the file, so whoever must ask before reading must ask before failing.
#[test]
fn a_call_that_fails_tells_nothing_that_a_person_must_allow() {
    let wrong = json!({ "path": "secrets/key", "old_str": "hunter1", "new_str": "x" });
    let files = [("secrets/key", "hunter2\n")];
    let (mut desk, _home) = guarded(&files, "[[rule]]\ndecision = \"ask\"\npaths = [\"secrets\"]\n");
    for (tool, arguments) in [
        ("patch_file", wrong.clone()),
        ("read_file", json!({ "path": "secrets/key" })),
        ("read_file", json!({ "path": "secrets/none" })),
    ] {
        let refused = desk.call(tool, arguments);
        says(refused.error("denied"), &["nobody to ask"]);
        assert!(!refused.0.to_string().contains("hunter2"), "{}", refused.0);
    }
    greet(&mut desk, json!({ "elicitation": {} }));
    let question = asked(&mut desk, "patch_file", &wrong);
    let yes = json!({ "action": "accept", "content": { "approve": true } });
    says(said(&mut desk, &question, &yes).error("old_str_not_found"), &["hunter2"]);

    // Where only writing is asked about, nobody is troubled with a call that would change nothing.
    let (mut desk, _home) = guarded(&files, ASK);
    desk.call("patch_file", wrong).error("old_str_not_found");
}

#[test]
fn what_is_secret_is_in_no_question() {
    let config = format!("{ASK}\n[log]\nredact = [\"*.content\"]\n");
    let (mut desk, home) = guarded(&[], &config);
    greet(&mut desk, json!({ "elicitation": {} }));
    let question = asked(&mut desk, "write_file", &json!({ "path": "new", "content": "hunter2\n" }));
    let message = question["params"]["message"].as_str().expect("a message");
    says(message, &["Write new (8 bytes)", "not shown", "redact"]);
    assert!(!message.contains("hunter2"), "{message}");
    said(&mut desk, &question, &json!({ "action": "accept", "content": { "approve": true } })).ok();
    assert_eq!(desk.folder.text("new"), "hunter2\n");
    end(desk);
    assert!(!home.log_text().contains("hunter2"), "{}", home.log_text());
}
