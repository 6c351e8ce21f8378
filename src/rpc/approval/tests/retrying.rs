//! The modern way, over a connection.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use super::{Kit, denial, write};
use crate::rpc::approval::Approvals;

/// A modern request for the write, with more members of its params.
fn request(more: Value, capabilities: Value) -> Value {
    let mut params = write();
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    });
    for (name, value) in more.as_object().expect("members") {
        params[name] = value.clone();
    }
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
}

fn capable(more: Value) -> Value {
    request(more, json!({"elicitation": {}}))
}

/// The state that comes with a question.
fn state(answer: &Value) -> Value {
    assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
    answer["result"]["requestState"].clone()
}

fn yes(state: &Value) -> Value {
    said(state, json!({"action": "accept", "content": {"approve": true}}))
}

fn said(state: &Value, response: Value) -> Value {
    capable(json!({"requestState": state, "inputResponses": {"approval": response}}))
}

fn code(answer: &Value) -> i64 {
    answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {answer}"))
}

#[test]
fn the_question_is_the_answer_and_a_yes_that_comes_with_it_lets_the_call_run() {
    let kit = Kit::new(Approvals::PATIENCE);
    let asked = kit.exchange(&capable(json!({})));
    let result = asked["result"].as_object().expect("a result");
    assert_eq!(result.keys().collect::<Vec<_>>(), ["resultType", "inputRequests", "requestState", "_meta"]);
    let request = &result["inputRequests"]["approval"];
    assert_eq!(request["method"], "elicitation/create");
    assert_eq!(request["params"]["mode"], "form");
    assert_eq!(request["params"]["requestedSchema"]["required"], json!(["approve"]));
    assert!(request["params"]["message"].as_str().expect("a text").starts_with("Allow write_file?"));
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "toolgate");
    assert_eq!(kit.written(), None);

    let done = kit.exchange(&yes(&state(&asked)));
    assert_eq!(done["result"]["resultType"], "complete", "{done}");
    assert!(done["result"].get("isError").is_none(), "{done}");
    assert_eq!(kit.written().as_deref(), Some("1: one\n"));
    kit.assert_silent();
}

#[test]
fn no_answer_but_yes_lets_it_run() {
    for (response, want) in [
        (json!({"action": "accept", "content": {"approve": false}}), "declined"),
        (json!({"action": "accept"}), "declined"),
        (json!({"action": "decline"}), "declined"),
        (json!({"action": "cancel"}), "cancelled"),
    ] {
        let kit = Kit::new(Approvals::PATIENCE);
        let state = state(&kit.exchange(&capable(json!({}))));
        // Their no stands, even if something else would happen by now.
        kit.effect.store(9, Ordering::SeqCst);
        assert_eq!(denial(&kit.exchange(&said(&state, response.clone()))), want, "{response}");
        assert_eq!(kit.written(), None);
    }
}

#[test]
fn a_yes_is_good_for_one_call_once() {
    let kit = Kit::new(Approvals::PATIENCE);
    let state = state(&kit.exchange(&capable(json!({}))));
    let mut other = yes(&state);
    other["params"]["arguments"]["content"] = "two\n".into();
    assert_eq!(code(&kit.exchange(&other)), -32602);
    let mut other = yes(&state);
    other["params"]["name"] = "patch_file".into();
    assert_eq!(code(&kit.exchange(&other)), -32602);
    let elsewhere = kit.other_client("somebody else");
    let answer = kit.wait(kit.send_over(&elsewhere, &yes(&state))).expect("an answer");
    assert_eq!(code(&answer), -32602);
    assert_eq!(kit.written(), None);

    // The same client may come back on another connection.
    let same = kit.other_client("local");
    let answer = kit.wait(kit.send_over(&same, &yes(&state))).expect("an answer");
    assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
    assert_eq!(code(&kit.exchange(&yes(&state))), -32602);
    assert_eq!(code(&kit.exchange(&capable(json!({"requestState": state})))), -32602);
}

#[test]
fn a_yes_to_something_else_asks_anew() {
    let kit = Kit::new(Approvals::PATIENCE);
    let first = state(&kit.exchange(&capable(json!({}))));
    kit.effect.store(1, Ordering::SeqCst);
    let second = state(&kit.exchange(&yes(&first)));
    assert_eq!(kit.written(), None);
    assert_eq!(kit.exchange(&yes(&second))["result"]["resultType"], "complete");
    assert_eq!(kit.written().as_deref(), Some("1: one\n"));
}

#[test]
fn a_yes_lasts_ten_minutes() {
    for (seconds, lasts) in [(599, true), (600, false)] {
        let kit = Kit::new(Approvals::PATIENCE);
        let state = state(&kit.exchange(&capable(json!({}))));
        kit.world.seconds.store(seconds, Ordering::SeqCst);
        let answer = kit.exchange(&yes(&state));
        assert_eq!(answer.get("result").is_some(), lasts, "{answer}");
        assert!(answer.get("error").is_none_or(|error| error["code"] == -32602), "{answer}");
    }
}

#[test]
fn without_the_answer_the_question_is_asked_again() {
    let kit = Kit::new(Approvals::PATIENCE);
    let first = state(&kit.exchange(&capable(json!({}))));
    let second = state(&kit.exchange(&capable(json!({"requestState": first}))));
    let other = json!({"requestState": second, "inputResponses": {"other": {"action": "accept"}}});
    let third = state(&kit.exchange(&capable(other)));
    assert_ne!(second, third);
    assert_eq!(kit.exchange(&yes(&third))["result"]["resultType"], "complete");
}

#[test]
fn what_is_malformed_is_refused_and_uses_nothing_up() {
    let kit = Kit::new(Approvals::PATIENCE);
    let state = state(&kit.exchange(&capable(json!({}))));
    let accept = json!({"action": "accept", "content": {"approve": true}});
    for bad in [
        json!({"requestState": state, "inputResponses": {"approval": null}}),
        json!({"requestState": state, "inputResponses": {"approval": 7}}),
        json!({"requestState": state, "inputResponses": {"approval": "yes"}}),
        json!({"requestState": state, "inputResponses": {"approval": {}}}),
        json!({"requestState": state, "inputResponses": {"approval": {"action": "yes"}}}),
        json!({"requestState": state, "inputResponses": null}),
        json!({"requestState": state, "inputResponses": 7}),
        json!({"requestState": state, "inputResponses": []}),
        json!({"requestState": 7, "inputResponses": {"approval": accept}}),
        json!({"requestState": "", "inputResponses": {"approval": accept}}),
        json!({"requestState": "nonsense", "inputResponses": {"approval": accept}}),
        json!({"requestState": "nonsense"}),
        json!({"inputResponses": {"approval": accept}}),
        json!({"requestState": null, "inputResponses": {"approval": accept}}),
    ] {
        assert_eq!(code(&kit.exchange(&capable(bad.clone()))), -32602, "{bad}");
    }
    assert_eq!(kit.exchange(&yes(&state))["result"]["resultType"], "complete");
}

#[test]
fn a_first_request_may_name_the_members_of_a_retry() {
    let kit = Kit::new(Approvals::PATIENCE);
    for first in [
        json!({"requestState": null, "inputResponses": null}),
        json!({"inputResponses": {}}),
        json!({"inputResponses": {"other": 7}}),
    ] {
        state(&kit.exchange(&capable(first)));
    }
}

#[test]
fn a_client_is_asked_only_what_this_request_declares() {
    let kit = Kit::new(Approvals::PATIENCE);
    kit.initialize("2025-11-25", json!({"elicitation": {}}));
    for capabilities in [json!({}), json!({"elicitation": {"url": {}}})] {
        let answer = kit.exchange(&request(json!({}), capabilities));
        assert_eq!(denial(&answer), "nobody");
        assert_eq!(answer["result"]["resultType"], "complete");
    }
    // Nor can it be asked anew.
    let first = state(&kit.exchange(&capable(json!({}))));
    kit.effect.store(1, Ordering::SeqCst);
    let mut retry = yes(&first);
    retry["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    assert_eq!(denial(&kit.exchange(&retry)), "nobody");
    kit.assert_silent();
}

#[test]
fn a_legacy_request_brings_no_answer_along() {
    let kit = Kit::new(Approvals::PATIENCE);
    let first = state(&kit.exchange(&capable(json!({}))));
    let mut retry = yes(&first);
    retry["params"].as_object_mut().expect("params").shift_remove("_meta");
    assert_eq!(denial(&kit.exchange(&retry)), "nobody");
    assert_eq!(kit.written(), None);
}
