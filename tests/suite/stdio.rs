//! The binary behind pipes: both eras in one process, and input that no client sends on purpose.

use serde_json::{Value, json};

use super::support::{MODERN, Server, Temp};

fn initialize(version: &str) -> Value {
    json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } })
}

/// What every request of the stateless era carries.
fn meta(version: &str) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {result}"))
}

#[test]
fn the_handshake_keeps_every_version_it_knows_and_offers_the_newest_for_one_it_does_not() {
    let temp = Temp::new();
    for (asked, given) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("1999-12-31", "2025-11-25"),
    ] {
        let mut server = Server::start(temp.path());
        let answer = server.exchange("initialize", &initialize(asked));
        assert_eq!(answer["result"]["protocolVersion"], given, "{answer}");
        assert_eq!(answer["result"]["serverInfo"]["name"], "toolgate", "{answer}");
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        assert_eq!(server.exchange("ping", &json!({}))["result"], json!({}));
        assert!(server.close().success());
    }
}

#[test]
fn both_eras_are_served_by_one_process() {
    let temp = Temp::with(&[("a.txt", "one\n")]);
    let mut server = Server::start(temp.path());
    let discovered = server.request("server/discover", json!({}));
    assert_eq!(discovered["result"]["supportedVersions"], json!([MODERN]), "{discovered}");
    assert_eq!(text(&server.call("read_file", json!({ "path": "a.txt" }))), "1: one\n");

    server.exchange("initialize", &initialize("2025-06-18"));
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let call = json!({ "name": "read_file", "arguments": { "path": "a.txt" } });
    let legacy = server.exchange("tools/call", &call);
    assert_eq!(text(&legacy["result"]), "1: one\n");
    assert!(legacy["result"].get("resultType").is_none(), "a word of the other era: {legacy}");

    let modern = server.request("tools/call", call);
    assert_eq!(modern["result"]["resultType"], "complete", "{modern}");
    assert_eq!(server.request("ping", json!({}))["error"]["code"], -32601, "the stateless era has no ping");
    assert!(server.close().success());
}

#[test]
fn a_version_that_is_not_served_is_refused_with_those_that_are() {
    let temp = Temp::new();
    let mut server = Server::start(temp.path());
    let answer = server.exchange("tools/list", &json!({ "_meta": meta("2099-01-01") }));
    assert_eq!(answer["error"]["code"], -32022, "{answer}");
    assert_eq!(answer["error"]["data"]["supported"], json!([MODERN]), "{answer}");
    assert_eq!(answer["error"]["data"]["requested"], "2099-01-01", "{answer}");
}

#[test]
fn input_that_is_no_message_is_answered_and_the_next_message_is_served() {
    let temp = Temp::with(&[("a.txt", "one\n")]);
    let mut server = Server::start(temp.path());
    for (line, code) in
        [("{", -32700), ("[]", -32600), ("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", -32600)]
    {
        server.send_line(line);
        let answer = server.recv();
        assert_eq!(answer["error"]["code"], code, "{line} got {answer}");
        assert!(answer.get("id").is_none(), "an id that nobody sent: {answer}");
    }
    server.send_line("");
    assert_eq!(text(&server.call("read_file", json!({ "path": "a.txt" }))), "1: one\n");
}

#[test]
fn ids_of_all_legal_kinds_come_back_as_they_were() {
    let temp = Temp::new();
    let mut server = Server::start(temp.path());
    for id in [json!(0), json!(-7), json!(9_007_199_254_740_993_u64), json!(""), json!("1"), json!("ä\n\"")] {
        server.send(
            &json!({ "jsonrpc": "2.0", "id": id, "method": "server/discover", "params": { "_meta": meta(MODERN) } }),
        );
        let answer = server.recv();
        assert_eq!(answer["id"], id, "{answer}");
        assert!(answer.get("result").is_some(), "{answer}");
    }
}

#[test]
fn a_request_on_the_way_is_answered_though_the_input_ends() {
    let temp = Temp::with(&[("a.txt", "one\n")]);
    let mut server = Server::start(temp.path());
    let arguments = json!({ "path": "new.txt", "content": "kept\n" });
    let params = json!({ "name": "write_file", "arguments": arguments, "_meta": meta(MODERN) });
    server.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }));
    assert!(server.close().success());
    assert_eq!(temp.text("new.txt"), "kept\n");
}

#[test]
fn a_change_outlives_a_killed_server() {
    let temp = Temp::new();
    let mut server = Server::start(temp.path());
    server.call("write_file", json!({ "path": "new.txt", "content": "kept\n" }));
    server.kill();
    assert_eq!(temp.text("new.txt"), "kept\n");
}
