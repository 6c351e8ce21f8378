//! The legacy way, over a connection.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::{Kit, denial, write};
use crate::rpc::approval::Approvals;

/// A client that can ask, and a write that waits for its person: its answer to come, and the question.
fn asked(kit: &Kit) -> (JoinHandle<Option<String>>, Value) {
    kit.initialize("2025-11-25", json!({"elicitation": {}}));
    ask(kit, 1)
}

fn ask(kit: &Kit, id: u64) -> (JoinHandle<Option<String>>, Value) {
    let answer = kit.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": write()}));
    (answer, kit.frame())
}

fn say(kit: &Kit, question: &Value, result: Value) {
    kit.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": result}));
}

#[test]
fn the_person_is_asked_by_a_form_and_their_yes_lets_the_call_run() {
    let kit = Kit::new(Approvals::PATIENCE);
    let (answer, question) = asked(&kit);
    assert_eq!(question["jsonrpc"], "2.0");
    assert_eq!(question["id"], "toolgate-1");
    assert_eq!(question["method"], "elicitation/create");
    let params = question["params"].as_object().expect("params");
    assert_eq!(params.keys().collect::<Vec<_>>(), ["message", "requestedSchema"]);
    assert_eq!(params["requestedSchema"]["properties"]["approve"]["type"], "boolean");
    say(&kit, &question, json!({"action": "accept", "content": {"approve": true}}));
    let answer = kit.wait(answer).expect("an answer");
    assert!(answer["result"].get("isError").is_none(), "{answer}");
    assert_eq!(kit.written().as_deref(), Some("1: one\n"));
    kit.assert_silent();
}

#[test]
fn no_answer_but_yes_lets_it_run() {
    for (result, want) in [
        (json!({"action": "accept", "content": {"approve": false}}), "declined"),
        (json!({"action": "decline"}), "declined"),
        (json!({"action": "cancel"}), "cancelled"),
        (json!({"answer": "yes"}), "cancelled"),
        (Value::Null, "cancelled"),
    ] {
        let kit = Kit::new(Approvals::PATIENCE);
        let (answer, question) = asked(&kit);
        say(&kit, &question, result.clone());
        assert_eq!(denial(&kit.wait(answer).expect("an answer")), want, "{result}");
        assert_eq!(kit.written(), None);
        kit.assert_silent();
    }
}

#[test]
fn an_error_or_a_broken_answer_is_a_no() {
    let yes = json!({"action": "accept", "content": {"approve": true}});
    for broken in [
        json!({"jsonrpc": "2.0", "error": {"code": -32601, "message": "Method not found"}}),
        json!({"jsonrpc": "2.0", "error": {"code": 1, "message": ""}, "result": yes}),
        json!({"result": yes}),
    ] {
        let kit = Kit::new(Approvals::PATIENCE);
        let (answer, question) = asked(&kit);
        let mut broken = broken;
        broken["id"] = question["id"].clone();
        kit.send(&broken);
        assert_eq!(denial(&kit.wait(answer).expect("an answer")), "cancelled", "{broken}");
    }
}

#[test]
fn answers_to_what_was_not_asked_are_ignored() {
    let kit = Kit::new(Approvals::PATIENCE);
    let (answer, question) = asked(&kit);
    let yes = json!({"action": "accept", "content": {"approve": true}});
    for id in [json!("toolgate-2"), json!(1), json!("1"), Value::Null] {
        kit.send(&json!({"jsonrpc": "2.0", "id": id, "result": yes}));
    }
    assert!(!answer.is_finished());
    say(&kit, &question, json!({"action": "decline"}));
    say(&kit, &question, yes);
    assert_eq!(denial(&kit.wait(answer).expect("an answer")), "declined");
}

#[test]
fn who_does_not_answer_in_time_is_told_that_it_is_too_late() {
    let kit = Kit::new(Duration::from_millis(30));
    let (answer, question) = asked(&kit);
    assert_eq!(denial(&kit.wait(answer).expect("an answer")), "timed_out");
    let news = kit.frame();
    assert_eq!(news["method"], "notifications/cancelled");
    assert_eq!(news["params"]["requestId"], question["id"]);
    say(&kit, &question, json!({"action": "accept", "content": {"approve": true}}));
    assert_eq!(kit.written(), None);
}

#[test]
fn a_call_that_is_taken_back_takes_its_question_back() {
    let kit = Kit::new(Approvals::PATIENCE);
    let (answer, question) = asked(&kit);
    kit.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}));
    assert_eq!(kit.wait(answer), None);
    let news = kit.frame();
    assert_eq!(news["method"], "notifications/cancelled");
    assert_eq!(news["params"]["requestId"], question["id"]);
    say(&kit, &question, json!({"action": "accept", "content": {"approve": true}}));
    assert_eq!(kit.written(), None);
    assert_eq!(kit.connection.under_way(), 0);
}

#[test]
fn the_end_of_the_stream_ends_the_wait_and_what_is_asked_after_it_fails_at_once() {
    let kit = Kit::new(Approvals::PATIENCE);
    let (answer, _) = asked(&kit);
    kit.connection.hang_up();
    assert_eq!(denial(&kit.wait(answer).expect("an answer")), "cancelled");
    let late = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": write()});
    assert_eq!(denial(&kit.exchange(&late)), "cancelled");
    kit.assert_silent();
}

#[test]
fn other_calls_go_on_while_one_waits_and_each_gets_its_own_answer() {
    let kit = Kit::new(Approvals::PATIENCE);
    let (first, first_question) = asked(&kit);
    assert_eq!(kit.written(), None);
    let (second, second_question) = ask(&kit, 2);
    assert_ne!(first_question["id"], second_question["id"]);
    say(&kit, &second_question, json!({"action": "accept", "content": {"approve": true}}));
    assert!(kit.wait(second).expect("an answer")["result"].get("isError").is_none());
    say(&kit, &first_question, json!({"action": "decline"}));
    assert_eq!(denial(&kit.wait(first).expect("an answer")), "declined");
}

#[test]
fn a_client_that_cannot_ask_has_nobody_to_ask() {
    for (version, capabilities) in [
        ("2025-11-25", json!({})),
        ("2025-11-25", json!({"elicitation": {"url": {}}})),
        ("2025-03-26", json!({"elicitation": {}})),
        ("2024-11-05", json!({"elicitation": {}})),
    ] {
        let kit = Kit::new(Approvals::PATIENCE);
        kit.initialize(version, capabilities);
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": write()});
        assert_eq!(denial(&kit.exchange(&call)), "nobody", "{version}");
        kit.assert_silent();
    }
}

#[test]
fn before_the_handshake_and_after_another_one_only_what_was_declared_counts() {
    let kit = Kit::new(Approvals::PATIENCE);
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": write()});
    assert_eq!(denial(&kit.exchange(&call)), "nobody");
    kit.initialize("2025-06-18", json!({"elicitation": {}}));
    kit.initialize("2025-06-18", json!({}));
    assert_eq!(denial(&kit.exchange(&call)), "nobody");
}
