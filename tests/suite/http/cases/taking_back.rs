//! Taking calls back, ids, and versions of the protocol.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::super::support::{MODERN, Temp};
use super::super::kit::{Ask, Site, Wire, becomes, call, initialize, modern, post, text};
use super::Way;
use crate::suite::cases::kit::files_of;

const ASKS: &str = "[[rule]]\ntools = [\"write_file\"]\ndecision = \"ask\"\nreason = \"writing is asked about\"\n";

fn cancelled(params: Value) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
}

/// A call that waits for a person: the connection on which it is asked, and the question.
fn asked(site: &Site, session: &str, id: &Value, path: &str) -> (Wire, Value) {
    let params = json!({"name": "write_file", "arguments": {"path": path, "content": "x"}});
    let mut wire = site.connect();
    wire.send(post(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})).session(session));
    wire.head();
    wire.event();
    let question = wire.event().expect("a question").json();
    (wire, question["id"].clone())
}

#[test]
fn a_number_and_a_text_are_two_ids() {
    let temp = Temp::new();
    let site = Site::configured(temp.path(), ASKS, &[]);
    let session = site.session("2025-11-25", json!({"elicitation": {}}));
    let (mut number, question) = asked(&site, &session, &json!(1), "number.txt");
    let (mut words, _) = asked(&site, &session, &json!("1"), "words.txt");
    assert_eq!(site.send(post(&cancelled(json!({"requestId": "1"}))).session(&session)).status, 202);
    let rest: Vec<Value> = std::iter::from_fn(|| words.event()).map(|event| event.json()).collect();
    assert!(rest.iter().all(|message| message.get("result").is_none()), "B148: taken back: {rest:?}");
    let yes = json!({"jsonrpc": "2.0", "id": question, "result": {"action": "accept", "content": {"approve": true}}});
    assert_eq!(site.send(post(&yes).session(&session)).status, 202);
    let answer = number.event().expect("an answer").json();
    assert_eq!(answer["id"], json!(1), "B148: the other one goes on: {answer}");
    assert_eq!(files_of(temp.path()).into_keys().collect::<Vec<_>>(), ["number.txt"], "B148");
}

#[test]
fn what_takes_back_wrongly_or_too_late_changes_nothing() {
    let temp = Temp::with(&[("a.txt", "one\n")]);
    let site = Site::start(temp.path());
    for way in Way::all(&site) {
        way.result(&site, "read_file", json!({"path": "a.txt"}));
        for params in [
            json!({}),
            json!(null),
            json!([]),
            json!({"requestId": null}),
            json!({"requestId": 14204.5}),
            json!({"requestId": {}}),
            json!({"requestId": "unknown"}),
            json!({"requestId": 1}),
            json!({"requestId": 1, "reason": 7}),
        ] {
            let answer = site.send(way.raw("notifications/cancelled", &cancelled(params.clone()).to_string()));
            assert_eq!((answer.status, answer.body.len()), (202, 0), "B149: {way:?}: {params}: {answer:?}");
        }
        let again = way.result(&site, "read_file", json!({"path": "a.txt"}));
        assert_eq!(text(&again), "1: one\n", "B149: the id is free again: {way:?}");
    }
}

/// Waits until nothing is under way any more, but the question whether there is.
fn quiet(site: &Site) {
    becomes("nothing is under way", || {
        let metrics = site.send(Ask::get("/metrics")).text();
        let says = |line: &str| metrics.lines().any(|other| other == line);
        says("toolgate_connections 1") && says("toolgate_requests 0")
    });
}

#[test]
fn a_change_taken_back_is_whole_or_not_there_and_the_log_says_which() {
    let (old, new) = ("old ".repeat(100_000), "new ".repeat(100_000));
    for distance in 0..8 {
        for stateless in [true, false] {
            let temp = Temp::with(&[("big.txt", &old)]);
            let site = Site::start(temp.path());
            let way = if stateless { Way::Stateless } else { Way::Session(site.session("2025-11-25", json!({}))) };
            let mut wire = site.connect();
            wire.send(way.call(json!("p"), "patch_file", json!({"path": "big.txt", "old_str": old, "new_str": new})));
            // What happens in between moves the moment through the call.
            for n in 0..distance {
                site.send(call(json!(n), "list_dir", json!({})));
            }
            if let Way::Session(session) = &way {
                assert_eq!(site.send(post(&cancelled(json!({"requestId": "p"}))).session(session)).status, 202);
            } else {
                drop(wire);
            }
            let next = way.result(&site, "patch_file", json!({"path": "big.txt", "old_str": "absent", "new_str": "x"}));
            assert_eq!(super::code(&next), "old_str_not_found", "B150: the file is free again");
            if stateless {
                quiet(&site);
            }
            let text = temp.text("big.txt");
            assert!(text == old || text == new, "B150: neither old nor new, {} bytes", text.len());
            assert_eq!(files_of(temp.path()).len(), 1, "B150: a temporary file is left");
            becomes("the log says the same as the disk", || {
                let log = site.log(temp.path());
                let changed = log.iter().any(|line| line["type"] == "tool/result" && line["change"].is_string());
                changed == (temp.text("big.txt") == new)
            });
        }
    }
}

#[test]
fn known_versions_are_kept_and_unknown_ones_get_the_newest_whatever_the_header_says() {
    let temp = Temp::new();
    let site = Site::start(temp.path());
    for (asked, given) in [
        (json!("2024-11-05"), "2024-11-05"),
        (json!("2025-03-26"), "2025-03-26"),
        (json!("2025-06-18"), "2025-06-18"),
        (json!("2025-11-25"), "2025-11-25"),
        (json!("2099-01-01"), "2025-11-25"),
        (json!("1999-01-01"), "2025-11-25"),
        (json!(""), "2025-11-25"),
        (json!(null), "2025-11-25"),
        (json!(20_250_618), "2025-11-25"),
    ] {
        for header in [None, Some("2025-06-18"), Some("1999-01-01"), Some("DRAFT-2025-v2"), Some("")] {
            let mut hello = initialize("", json!({}));
            hello["params"]["protocolVersion"] = asked.clone();
            let ask = post(&hello)
                .headers(&header.map(|value| ("mcp-protocol-version", value)).into_iter().collect::<Vec<_>>());
            let answer = site.send(ask);
            assert_eq!(answer.status, 200, "B153: {asked} with {header:?}: {answer:?}");
            assert_eq!(answer.json()["result"]["protocolVersion"], given, "B153: {asked} with {header:?}");
            assert!(answer.header("mcp-session-id").is_some(), "B153: {answer:?}");
        }
    }
    let mut hello = initialize("", json!({}));
    hello["params"] = json!({"capabilities": {}});
    assert_eq!(site.send(post(&hello)).json()["result"]["protocolVersion"], "2025-11-25", "B153: left out");
    // Who names the stateless revision there has no use for a handshake, and is told so.
    let stateless = site.send(post(&initialize(MODERN, json!({}))).headers(&[("mcp-protocol-version", MODERN)]));
    assert_eq!((stateless.status, stateless.code()), (400, -32020), "B153: {stateless:?}");
}

#[test]
fn equal_ids_of_different_clients_are_each_answered_to_whoever_asked() {
    let temp = Temp::new();
    for n in 0..50 {
        temp.write(&format!("{n}.txt"), format!("file {n}\n"));
    }
    let site = Site::start(temp.path());
    let shared = site.session("2025-11-25", json!({}));
    let ways = [
        Way::Session(shared),
        Way::Session(site.session("2025-11-25", json!({}))),
        Way::Session(site.session("2025-03-26", json!({}))),
        Way::Stateless,
        Way::Stateless,
    ];
    let right: BTreeMap<usize, usize> = std::thread::scope(|scope| {
        let clients: Vec<_> = ways
            .iter()
            .enumerate()
            .map(|(client, way)| {
                let site = &site;
                scope.spawn(move || {
                    let mut wire = site.connect();
                    let right = (0..200).filter(|id| {
                        let file = (id + client * 7) % 50;
                        wire.send(way.call(json!(id), "read_file", json!({"path": format!("{file}.txt")})));
                        let answer = wire.answer().json();
                        answer["id"] == *id && text(&answer["result"]) == format!("1: file {file}\n")
                    });
                    (client, right.count())
                })
            })
            .collect();
        clients.into_iter().map(|client| client.join().expect("no panic")).collect()
    });
    assert_eq!(right.into_values().collect::<Vec<_>>(), [200; 5], "B154");
    let discovered = site.send(modern(json!(0), "server/discover", json!({})));
    assert_eq!(discovered.status, 200, "B154");
}
