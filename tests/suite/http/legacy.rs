//! Sessions: the handshake opens one, everything else names it, and what it asks for outlives its connections.

use std::time::Duration;

use serde_json::{Value, json};

use super::super::support::{MODERN, Temp};
use super::kit::{Ask, Site, initialize, post, post_text, text};

fn request(id: Value, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn read(id: Value) -> Value {
    request(id, "tools/call", json!({"name": "read_file", "arguments": {"path": "a.txt"}}))
}

const ASKS: &str = "[[rule]]\ntools = [\"write_file\"]\ndecision = \"ask\"\nreason = \"writing is asked about\"\n";

fn write(id: Value) -> Value {
    request(id, "tools/call", json!({"name": "write_file", "arguments": {"path": "w.txt", "content": "x"}}))
}

#[test]
fn a_session_is_opened_used_and_ended() {
    let temp = Temp::with(&[("a.txt", "one\n")]);
    let site = Site::start(temp.path());
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let id = site.session(version, json!({}));
        assert!(id.len() >= 32 && id.bytes().all(|byte| (0x21..=0x7e).contains(&byte)), "{id}");
        let answer = site.send(post(&read(json!(1))).session(&id).headers(&[("mcp-protocol-version", version)]));
        assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/json")));
        assert_eq!(text(&answer.json()["result"]), "1: one\n");
        assert!(answer.json()["result"].get("resultType").is_none(), "a word of the other era: {answer:?}");
        let ping = site.send(post(&request(json!("p"), "ping", json!({}))).session(&id));
        assert_eq!(
            ping.json(),
            json!({"jsonrpc": "2.0", "id": "p", "result": {}}),
            "without the version it is the session's"
        );
        let unknown = site.send(post(&request(json!(2), "unknown/method", json!({}))).session(&id));
        assert_eq!((unknown.status, unknown.code()), (200, -32601));
        let ended = site.send(Ask::new("DELETE", "/mcp").session(&id));
        assert_eq!(ended.status, 204);
        for ask in [
            post(&read(json!(1))),
            Ask::new("DELETE", "/mcp"),
            Ask::get("/mcp").headers(&[("accept", "text/event-stream")]),
        ] {
            assert_eq!(site.send(ask.session(&id)).status, 404, "it has ended");
        }
    }
    let other = site.send(post(&initialize("1999-01-01", json!({}))));
    assert_eq!(other.json()["result"]["protocolVersion"], "2025-11-25");
}

#[test]
fn a_message_of_no_session_is_refused() {
    let temp = Temp::with(&[("a.txt", "one\n")]);
    let site = Site::start(temp.path());
    let id = site.session("2025-11-25", json!({}));
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let stream = Ask::get("/mcp").headers(&[("accept", "text/event-stream")]);
    for (what, ask, status) in [
        ("a request without a session", post(&read(json!(1))), 400),
        ("a notification without a session", post(&initialized), 400),
        ("an answer without a session", post(&json!({"jsonrpc": "2.0", "id": 1, "result": {}})), 400),
        ("a stream without a session", stream.clone(), 400),
        ("an end without a session", Ask::new("DELETE", "/mcp"), 400),
        ("a session that is none", post(&read(json!(1))).session("nobody's"), 404),
        ("two sessions", post(&read(json!(1))).session(&id).session(&id), 400),
        ("a stream of a session that is none", stream.clone().session("nobody's"), 404),
        ("a stream that is none", Ask::get("/mcp").session(&id).headers(&[("accept", "application/json")]), 406),
        (
            "a revision that is none",
            post(&read(json!(1))).session(&id).headers(&[("mcp-protocol-version", "1999-01-01")]),
            400,
        ),
        ("the other era", post(&read(json!(1))).session(&id).headers(&[("mcp-protocol-version", MODERN)]), 400),
        ("no JSON", post_text("{").session(&id), 400),
        ("id null", post(&json!({"jsonrpc": "2.0", "id": null, "method": "ping"})).session(&id), 400),
    ] {
        let answer = site.send(ask);
        assert_eq!(answer.status, status, "{what}: {answer:?}");
        assert_ne!(answer.json().get("id"), Some(&Value::Null), "{what}: {answer:?}");
    }
    assert_eq!(site.send(post(&read(json!(1))).session(&id)).status, 200, "the session is none the worse for it");
}

#[test]
fn only_one_revision_has_batches() {
    let temp = Temp::with(&[("a.txt", "one\n")]);
    let site = Site::start(temp.path());
    let id = site.session("2025-03-26", json!({}));
    let notification = json!({"jsonrpc": "2.0", "method": "notifications/x"});
    let batch = json!([read(json!(1)), notification, request(json!(2), "ping", json!({}))]);
    let answer = site.send(post(&batch).session(&id));
    let answers = answer.json();
    assert_eq!((answer.status, answers.as_array().map(Vec::len)), (200, Some(2)), "{answer:?}");
    assert_eq!(text(&answers[0]["result"]), "1: one\n");
    assert_eq!(site.send(post(&json!([notification])).session(&id)).status, 202);
    for (what, body) in [
        ("no message", json!([1])),
        ("a handshake", json!([initialize("2025-03-26", json!({}))])),
        ("nothing", json!([])),
    ] {
        let answer = site.send(post(&body).session(&id));
        assert_eq!((answer.status, answer.code()), (400, -32600), "{what}: {answer:?}");
    }
    for version in ["2024-11-05", "2025-06-18", "2025-11-25"] {
        let id = site.session(version, json!({}));
        for _ in 0..10 {
            let answer = site.send(post(&batch).session(&id));
            assert_eq!((answer.status, answer.code()), (400, -32600), "{version}: {answer:?}");
        }
    }
}

#[test]
fn a_person_is_asked_over_the_stream_of_the_call() {
    let temp = Temp::new();
    let site = Site::configured(temp.path(), ASKS, &[]);
    for (version, primed) in [("2025-06-18", false), ("2025-11-25", true)] {
        let id = site.session(version, json!({"elicitation": {}}));
        let mut wire = site.connect();
        wire.send(post(&write(json!(1))).session(&id));
        let head = wire.head();
        assert_eq!((head.status, head.header("content-type")), (200, Some("text/event-stream")));
        if primed {
            let first = wire.event().expect("an event");
            assert_eq!(first.data, "");
            assert!(first.id.is_some() && first.retry.is_some(), "{first:?}");
        }
        let question = wire.event().expect("a question").json();
        assert_eq!(question["method"], "elicitation/create", "{question}");
        let yes = json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": {"approve": true}}});
        let other = site.session(version, json!({"elicitation": {}}));
        assert_eq!(site.send(post(&yes).session(&other)).status, 202, "taken, and of no effect in another session");
        assert_eq!(site.send(post(&yes).session(&id)).status, 202);
        let answer = wire.event().expect("an answer").json();
        assert_eq!(answer["id"], 1, "{answer}");
        assert_ne!(answer["result"]["isError"], true, "{answer}");
        assert_eq!(wire.event(), None, "the answer is the end");
        let delete = request(json!(2), "tools/call", json!({"name": "undo_change", "arguments": {}}));
        assert_eq!(site.send(post(&delete).session(&id)).status, 200);
    }
}

#[test]
fn who_takes_no_events_cannot_be_asked() {
    let temp = Temp::new();
    let site = Site::configured(temp.path(), ASKS, &[]);
    let id = site.session("2025-11-25", json!({"elicitation": {}}));
    let answer = site.send(post(&write(json!(1))).session(&id).instead("accept", "application/json"));
    assert_eq!(answer.json()["result"]["structuredContent"]["error"], "denied", "{answer:?}");
}

#[test]
fn a_broken_connection_ends_no_call_and_its_stream_can_be_had_again() {
    let temp = Temp::new();
    let site = Site::configured(temp.path(), ASKS, &[]);
    let id = site.session("2025-11-25", json!({"elicitation": {}}));
    let mut wire = site.connect();
    wire.send(post(&write(json!(1))).session(&id));
    wire.head();
    let first = wire.event().expect("the beginning").id.expect("an id");
    let question = wire.event().expect("a question");
    drop(wire);

    let resume = |last: &str| {
        let mut wire = site.connect();
        wire.send(Ask::get("/mcp").session(&id).headers(&[("accept", "text/event-stream"), ("last-event-id", last)]));
        assert_eq!(wire.head().status, 200);
        wire
    };
    assert_eq!(resume(&first).event(), Some(question.clone()), "the question comes again");
    let mut wire = resume(question.id.as_deref().expect("an id"));
    let yes = json!({"jsonrpc": "2.0", "id": question.json()["id"], "result": {"action": "accept", "content": {"approve": true}}});
    assert_eq!(site.send(post(&yes).session(&id)).status, 202);
    let answer = wire.event().expect("the answer");
    assert_eq!(answer.json()["id"], 1, "{answer:?}");
    assert_eq!(wire.event(), None, "the answer is the end");
    assert_eq!(resume(question.id.as_deref().expect("an id")).event(), Some(answer), "and it is still there");
    assert_eq!(temp.text("w.txt"), "x");

    let gone = Ask::get("/mcp").session(&id).headers(&[("accept", "text/event-stream"), ("last-event-id", "99-1")]);
    assert_eq!(site.send(gone).status, 400);
}

#[test]
fn a_call_is_taken_back_by_a_message_and_not_by_silence() {
    let temp = Temp::new();
    let site = Site::configured(temp.path(), ASKS, &[]);
    let id = site.session("2025-11-25", json!({"elicitation": {}}));
    let mut wire = site.connect();
    wire.send(post(&write(json!(1))).session(&id));
    wire.head();
    wire.event();
    let question = wire.event().expect("a question").json();
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    assert_eq!(site.send(post(&cancel).session(&id)).status, 202);
    let rest: Vec<Value> = std::iter::from_fn(|| wire.event()).map(|event| event.json()).collect();
    assert!(rest.iter().all(|message| message["method"] == "notifications/cancelled"), "{rest:?}");
    let yes =
        json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": {"approve": true}}});
    assert_eq!(site.send(post(&yes).session(&id)).status, 202);
    assert_eq!(site.send(post(&request(json!(3), "ping", json!({}))).session(&id)).status, 200);
    assert!(!temp.path().join("w.txt").exists());
}

#[test]
fn one_id_is_under_way_once() {
    let temp = Temp::new();
    let site = Site::configured(temp.path(), ASKS, &[]);
    let id = site.session("2025-11-25", json!({"elicitation": {}}));
    let mut wire = site.connect();
    wire.send(post(&write(json!("same"))).session(&id));
    wire.head();
    wire.event();
    wire.event();
    let again = site.send(post(&write(json!("same"))).session(&id));
    assert_eq!((again.status, again.code(), &again.json()["id"]), (400, -32600, &json!("same")), "{again:?}");
    let elsewhere = site.session("2025-11-25", json!({}));
    let other = site.send(post(&request(json!("same"), "ping", json!({}))).session(&elsewhere));
    assert_eq!(other.status, 200, "another session has ids of its own");
}

#[test]
fn the_stream_of_a_session_ends_with_it_and_its_newest_reader_has_it() {
    let temp = Temp::new();
    let site = Site::start(temp.path());
    let id = site.session("2025-11-25", json!({}));
    let listen = || {
        let mut wire = site.connect();
        wire.send(Ask::get("/mcp").session(&id).headers(&[("accept", "text/event-stream")]));
        let head = wire.head();
        assert_eq!((head.status, head.header("x-accel-buffering")), (200, Some("no")));
        assert_eq!(head.header("cache-control"), Some("no-store, no-transform"));
        assert_eq!(wire.event().expect("the beginning").data, "");
        wire
    };
    let mut first = listen();
    let mut second = listen();
    assert_eq!(first.event(), None, "nothing goes to two readers");
    assert_eq!(site.send(Ask::new("DELETE", "/mcp").session(&id)).status, 204);
    assert_eq!(second.event(), None);
}

#[test]
fn an_idle_session_ends_and_an_old_one_makes_room() {
    let temp = Temp::new();
    let site = Site::configured(temp.path(), "[http]\nmax_sessions = 2\n", &[]);
    let ids: Vec<String> = (0..3).map(|_| site.session("2025-11-25", json!({}))).collect();
    let status = |id: &str| site.send(post(&request(json!(1), "ping", json!({}))).session(id)).status;
    assert_eq!(ids.iter().map(|id| status(id)).collect::<Vec<_>>(), [404, 200, 200]);
    let mut wire = site.connect();
    wire.send(Ask::get("/mcp").session(&ids[1]).headers(&[("accept", "text/event-stream")]));
    wire.head();
    assert_eq!(status(&ids[2]), 200);
    let new = site.session("2025-11-25", json!({}));
    assert_eq!([status(&ids[1]), status(&ids[2]), status(&new)], [200, 404, 200], "who is listening is not idle");
}

#[test]
fn calls_of_one_session_do_not_wait_for_each_other() {
    let temp = Temp::with(&[("a.txt", "one\n")]);
    let site = Site::configured(temp.path(), ASKS, &[]);
    let id = site.session("2025-11-25", json!({"elicitation": {}}));
    let mut waiting = site.connect();
    waiting.send(post(&write(json!(1))).session(&id));
    waiting.head();
    let mut wire = site.connect();
    for number in 2..20 {
        wire.send(post(&read(json!(number))).session(&id));
        assert_eq!(text(&wire.answer().json()["result"]), "1: one\n");
    }
    waiting.stream.get_ref().set_read_timeout(Some(Duration::from_millis(1))).expect("a time limit");
}
