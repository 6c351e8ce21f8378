//! A person is asked about what a program does on its way, as about any other call.

use serde_json::{Value, json};

use super::kit::{SMALL, events};
use crate::suite::cases::kit::{Desk, says};
use crate::suite::gate::kit::{Home, end, guarded};
use crate::suite::support::MODERN;

pub const ASK: &str = "[[rule]]\ndecision = \"ask\"\ntools = [\"write_file\"]\nreason = \"it is Friday\"\n";

pub const CODE: &str = "const before = (await tools.read_file({path: 'a'})).content;\n\
    let said = 'written';\n\
    try { await tools.write_file({path: 'new', content: 'made\\n'}) } catch (e) { said = e.code + ': ' + e.message }\n\
    return before + said";

fn desk() -> (Desk, Home) {
    guarded(&[("a", "1\n")], &format!("{SMALL}{ASK}"))
}

pub fn modern(desk: &mut Desk, code: &str, more: Value) -> Value {
    let mut params = json!({ "name": "run_code", "arguments": { "code": code, "description": "tidy up" } });
    params.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } },
    });
    desk.server.exchange("tools/call", &params)
}

pub fn yes() -> Value {
    json!({ "approval": { "action": "accept", "content": { "approve": true } } })
}

#[test]
fn behind_a_stream_the_run_waits_for_the_person() {
    for (answer, said) in [
        (json!({ "action": "accept", "content": { "approve": true } }), "1\nwritten"),
        (json!({ "action": "decline" }), "1\ndenied: "),
    ] {
        let (mut desk, _home) = desk();
        let client = json!({ "name": "test", "version": "1" });
        let hello =
            json!({ "protocolVersion": "2025-11-25", "capabilities": { "elicitation": {} }, "clientInfo": client });
        desk.server.exchange("initialize", &hello);
        desk.server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        let params = json!({ "name": "run_code", "arguments": { "code": CODE, "description": "tidy up" } });
        desk.server.send(&json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params }));
        let question = desk.server.recv();
        assert_eq!(question["method"], "elicitation/create", "{question}");
        let message = question["params"]["message"].as_str().expect("a message");
        says(message, &["write_file", "tidy up", "it is Friday", "+made"]);
        assert!(!desk.folder.path().join("new").exists());
        desk.server.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer }));
        let result = desk.server.recv();
        let text = result["result"]["content"][0]["text"].as_str().expect("a text");
        assert!(text.starts_with(said), "{text}");
        assert_eq!(desk.folder.path().join("new").exists(), said.ends_with("written"));
    }
}

#[test]
fn a_modern_request_is_answered_with_the_question_and_goes_on_when_it_comes_again() {
    let (mut desk, home) = desk();
    let asked = modern(&mut desk, CODE, json!({}));
    let result = &asked["result"];
    assert_eq!(result["resultType"], "input_required", "{asked}");
    let message = result["inputRequests"]["approval"]["params"]["message"].as_str().expect("a message");
    says(message, &["write_file", "tidy up", "+made"]);
    let state = result["requestState"].clone();
    let done = modern(&mut desk, CODE, json!({ "requestState": state, "inputResponses": yes() }));
    assert_eq!(done["result"]["content"][0]["text"], "1\nwritten", "{done}");
    assert_eq!(desk.folder.text("new"), "made\n");
    // The same answer is not taken twice: that would run the program again.
    let again = modern(&mut desk, CODE, json!({ "requestState": state, "inputResponses": yes() }));
    assert!(again["error"].is_object(), "{again}");
    end(desk);
    let reads = events(&home, "tool/call").iter().filter(|call| call["tool"] == "read_file").count();
    assert_eq!(reads, 1, "the program ran once");
}

#[test]
fn several_questions_of_one_program_are_asked_one_after_the_other() {
    let (mut desk, _home) = desk();
    let code = "await tools.write_file({path: 'x', content: '1'}); await tools.write_file({path: 'y', content: '2'}); return 'both'";
    let mut answer = modern(&mut desk, code, json!({}));
    for path in ["x", "y"] {
        let message = answer["result"]["inputRequests"]["approval"]["params"]["message"].as_str().expect("a message");
        says(message, &[path]);
        let state = answer["result"]["requestState"].clone();
        // Without an answer the same is asked again.
        answer = modern(&mut desk, code, json!({ "requestState": state }));
        let state = answer["result"]["requestState"].clone();
        answer = modern(&mut desk, code, json!({ "requestState": state, "inputResponses": yes() }));
    }
    assert_eq!(answer["result"]["content"][0]["text"], "both", "{answer}");
}

#[test]
fn a_no_denies_that_call_and_another_program_cannot_use_the_answer() {
    let (mut desk, _home) = desk();
    let state = modern(&mut desk, CODE, json!({}))["result"]["requestState"].clone();
    let other = modern(&mut desk, "return 1", json!({ "requestState": state, "inputResponses": yes() }));
    assert!(other["error"].is_object(), "{other}");
    let no = json!({ "approval": { "action": "decline" } });
    let done = modern(&mut desk, CODE, json!({ "requestState": state, "inputResponses": no }));
    let text = done["result"]["content"][0]["text"].as_str().expect("a text");
    says(text, &["1\ndenied", "they declined"]);
    assert!(!desk.folder.path().join("new").exists());
}

#[test]
fn a_client_that_cannot_ask_is_denied() {
    let (mut desk, _home) = desk();
    says(&desk.run(CODE).ok(), &["1\ndenied", "nobody to ask"]);
}

/// A question to the program as a whole comes first, and its answer is no answer to what the program does.
#[test]
fn a_rule_about_the_program_and_one_about_its_call_are_two_questions() {
    let ask = ASK.replace("[\"write_file\"]", "[\"run_code\", \"write_file\"]");
    let (mut desk, _home) = guarded(&[("a", "1\n")], &format!("{SMALL}{ask}"));
    let first = modern(&mut desk, CODE, json!({}));
    says(
        first["result"]["inputRequests"]["approval"]["params"]["message"].as_str().expect("a message"),
        &["run_code", "Run a program: tidy up"],
    );
    let state = first["result"]["requestState"].clone();
    let second = modern(&mut desk, CODE, json!({ "requestState": state, "inputResponses": yes() }));
    let message = second["result"]["inputRequests"]["approval"]["params"]["message"].as_str().expect("a message");
    says(message, &["write_file", "+made"]);
    let state = second["result"]["requestState"].clone();
    let done = modern(&mut desk, CODE, json!({ "requestState": state, "inputResponses": yes() }));
    assert_eq!(done["result"]["content"][0]["text"], "1\nwritten", "{done}");
}

/// The time in which a person thinks is not the program's.
#[test]
fn waiting_for_a_person_is_no_run_time() {
    let config = "mode = \"both\"\n[code]\nwall_ms = 1500\n";
    let (mut desk, _home) = guarded(&[("a", "1\n")], &format!("{config}{ASK}"));
    let state = modern(&mut desk, CODE, json!({}))["result"]["requestState"].clone();
    std::thread::sleep(std::time::Duration::from_millis(2000));
    let done = modern(&mut desk, CODE, json!({ "requestState": state, "inputResponses": yes() }));
    assert_eq!(done["result"]["content"][0]["text"], "1\nwritten", "{done}");
}
