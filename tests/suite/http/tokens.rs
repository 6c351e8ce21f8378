//! Tokens: who shows none stays outside, and what a token allows shapes what its bearer sees.

use serde_json::{Value, json};

use super::super::support::Temp;
use super::kit::{Answer, Ask, Site, call, command, initialize, modern, post, text};

const ALICE: &str = "alice-0123456789abcdef0123456789";
const BOB: &str = "bob-0123456789abcdef0123456789ab";

fn site(root: &Temp) -> Site {
    let state = Temp::with(&[("tokens", &format!("# who may come in\nalice {ALICE}\nbob {BOB} read\n"))]);
    let file = state.path().join("tokens").display().to_string();
    Site::spawn(root.path(), &["--token-file", &file], state, "127.0.0.1:0")
}

fn read() -> Ask {
    call(json!(1), "read_file", json!({"path": "a.txt"}))
}

fn write() -> Ask {
    call(json!(1), "write_file", json!({"path": "b.txt", "content": "x"}))
}

fn challenge(answer: &Answer) -> &str {
    answer.header("www-authenticate").unwrap_or_else(|| panic!("no challenge: {answer:?}"))
}

#[test]
fn who_shows_no_token_stays_outside() {
    let temp = Temp::with(&[("a.txt", "one\n")]);
    let site = site(&temp);
    for (what, ask, header) in [
        ("nothing", read(), "Bearer"),
        ("another token", read().token("alice-0123456789abcdef012345678"), "Bearer error=\"invalid_token\""),
        ("nothing behind the word", read().headers(&[("authorization", "Bearer")]), "Bearer error=\"invalid_request\""),
        ("another scheme", read().headers(&[("authorization", "Basic YTpi")]), "Bearer error=\"invalid_request\""),
        ("two tokens", read().token(ALICE).token(ALICE), "Bearer error=\"invalid_request\""),
        ("a handshake", post(&initialize("2025-11-25", json!({}))), "Bearer"),
        ("a stream", Ask::get("/mcp"), "Bearer"),
        (
            "plain JSON-RPC",
            Ask::new("POST", "/rpc").headers(&[("content-type", "application/json")]).body("{}"),
            "Bearer",
        ),
        ("metrics", Ask::get("/metrics"), "Bearer"),
    ] {
        let answer = site.send(ask);
        assert_eq!((answer.status, challenge(&answer)), (401, header), "{what}");
        assert!(!answer.text().contains("1: one"), "{answer:?}");
    }
    assert_eq!(
        site.send(Ask { path: format!("/mcp?access_token={ALICE}"), ..read() }).status,
        401,
        "no token in a URL"
    );
    assert_eq!(text(&site.send(read().token(ALICE)).json()["result"]), "1: one\n");
    assert_eq!(
        text(&site.send(read().headers(&[("authorization", &format!("bearer  {BOB}"))])).json()["result"]),
        "1: one\n"
    );
    assert_eq!(site.send(Ask::get("/healthz")).status, 200, "whether it lives is no secret");
}

#[test]
fn who_may_only_look_sees_only_what_looks() {
    let temp = Temp::with(&[("a.txt", "one\n")]);
    let site = site(&temp);
    let names = |token: &str| -> Vec<String> {
        let tools = site.send(modern(json!(1), "tools/list", json!({})).token(token)).json();
        let tools = tools["result"]["tools"].as_array().expect("tools").clone();
        tools.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
    };
    let (all, some) = (names(ALICE), names(BOB));
    assert!(all.contains(&"write_file".to_owned()) && all.contains(&"read_file".to_owned()), "{all:?}");
    assert!(!some.contains(&"write_file".to_owned()) && some.contains(&"read_file".to_owned()), "{some:?}");
    let refused = site.send(write().token(BOB));
    assert_eq!(refused.status, 403, "{refused:?}");
    assert!(challenge(&refused).contains("insufficient_scope"), "{refused:?}");
    assert!(challenge(&refused).contains("files:read files:write"), "{refused:?}");
    assert!(!temp.path().join("b.txt").exists());
    let plain = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "write_file", "arguments": {"path": "b.txt", "content": "x"}}});
    let plain = Ask { path: "/rpc".to_owned(), ..post(&plain) };
    assert_eq!(site.send(plain.clone().token(BOB)).code(), -32600);
    assert!(!temp.path().join("b.txt").exists());
    assert_eq!(site.send(plain.token(ALICE)).json()["error"], Value::Null);
    assert_eq!(temp.text("b.txt"), "x");
}

#[test]
fn a_session_is_its_principals_alone() {
    let temp = Temp::with(&[("a.txt", "one\n")]);
    let site = site(&temp);
    let hello = site.send(post(&initialize("2025-11-25", json!({}))).token(ALICE));
    let id = hello.header("mcp-session-id").expect("a session");
    let ping = post(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping"})).session(id);
    assert_eq!(site.send(ping.clone().token(ALICE)).status, 200);
    assert_eq!(site.send(ping.clone().token(BOB)).status, 404);
    assert_eq!(site.send(Ask::new("DELETE", "/mcp").session(id).token(BOB)).status, 404);
    assert_eq!(site.send(ping.token(ALICE)).status, 200);
}

#[test]
fn the_log_and_what_was_seen_are_the_principals() {
    let temp = Temp::with(&[("a.txt", "one\n"), ("c.txt", "three\n")]);
    let site = site(&temp);
    let over = call(json!(1), "write_file", json!({"path": "a.txt", "content": "new\n"}));
    assert_eq!(site.send(read().token(BOB)).status, 200);
    let unread = site.send(over.clone().token(ALICE)).json();
    assert_eq!(unread["result"]["structuredContent"]["error"], "read_required", "what bob saw alice did not: {unread}");
    site.send(read().token(ALICE));
    assert_eq!(text(&site.send(over.token(ALICE)).json()["result"]), "File written: a.txt");
    let log = std::process::Command::new(super::super::support::TOOLGATE)
        .args(["log", &temp.path().display().to_string(), "--json"])
        .env("XDG_STATE_HOME", site.home().path())
        .output()
        .expect("the toolgate binary");
    let log = String::from_utf8_lossy(&log.stdout).into_owned();
    assert!(log.contains("\"mcp:alice\"") && log.contains("\"mcp:bob\""), "{log}");
}

#[test]
fn a_token_file_that_protects_nothing_is_refused() {
    let temp = Temp::new();
    for (content, word) in [("", "no token"), ("alice short", "16"), ("a b c d\n", "line 1")] {
        let state = Temp::with(&[("tokens", content)]);
        let file = state.path().join("tokens").display().to_string();
        let refused =
            command(temp.path(), &["--token-file", &file], &state, "127.0.0.1:0").output().expect("the binary");
        let said = String::from_utf8_lossy(&refused.stderr);
        assert!(!refused.status.success() && said.contains(word), "{content:?}: {said}");
    }
}
