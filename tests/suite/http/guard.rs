//! Who may come in: names, pages, addresses.

use serde_json::json;

use super::super::support::Temp;
use super::kit::{Ask, Site, call, command, initialize, post};

const EVIL: &str = "http://evil.example";

#[test]
fn a_page_of_a_stranger_and_a_name_of_a_stranger_are_refused_on_every_path() {
    let temp = Temp::with(&[("a.txt", "one\n")]);
    let site = Site::start(temp.path());
    let socket = [
        ("connection", "upgrade"),
        ("upgrade", "websocket"),
        ("sec-websocket-version", "13"),
        ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ];
    for (what, ask) in [
        ("a request", call(json!(1), "read_file", json!({"path": "a.txt"}))),
        ("a handshake", post(&initialize("2025-11-25", json!({})))),
        ("a stream", Ask::get("/mcp").headers(&[("accept", "text/event-stream")])),
        ("the end of a session", Ask::new("DELETE", "/mcp")),
        ("a preflight", Ask::new("OPTIONS", "/mcp").headers(&[("access-control-request-method", "POST")])),
        ("plain JSON-RPC", Ask::new("POST", "/rpc").headers(&[("content-type", "application/json")]).body("{}")),
        ("a WebSocket", Ask::get("/rpc").headers(&socket)),
        ("health", Ask::get("/healthz")),
        ("metrics", Ask::get("/metrics")),
        ("nothing", Ask::get("/nothing")),
    ] {
        for (name, value) in [
            ("origin", EVIL),
            ("origin", "null"),
            ("host", "evil.example"),
            ("host", "evil.example:8765"),
            ("host", "127.0.0.1.evil.example"),
        ] {
            let answer = site.send(ask.clone().instead(name, value));
            assert_eq!(answer.status, 403, "{what} with {name}: {value}: {answer:?}");
            assert_eq!(answer.header("access-control-allow-origin"), None);
            assert_eq!(answer.code(), -32600, "{answer:?}");
        }
    }
    let both =
        call(json!(1), "read_file", json!({"path": "a.txt"})).headers(&[("origin", EVIL), ("host", "evil.example")]);
    assert_eq!(site.send(both).status, 403);
    assert_eq!(site.send(Ask::get("/healthz").headers(&[("host", "")])).status, 400, "no host at all");
}

#[test]
fn pages_of_this_machine_may_ask_and_see_the_answer() {
    let temp = Temp::with(&[("a.txt", "one\n")]);
    let site =
        Site::start_with(temp.path(), &["--allow-origin", "https://app.example", "--allow-host", "files.example"]);
    for origin in ["http://localhost:6274", "http://127.0.0.1", "https://app.example"] {
        let asked = Ask::new("OPTIONS", "/mcp").headers(&[
            ("origin", origin),
            ("access-control-request-method", "POST"),
            ("access-control-request-headers", "content-type, mcp-method"),
        ]);
        let answer = site.send(asked);
        assert_eq!(answer.status, 204, "{answer:?}");
        assert_eq!(answer.header("access-control-allow-origin"), Some(origin));
        assert_eq!(answer.header("access-control-allow-headers"), Some("content-type, mcp-method"));
        let answer = site.send(call(json!(1), "read_file", json!({"path": "a.txt"})).headers(&[("origin", origin)]));
        assert_eq!((answer.status, answer.header("access-control-allow-origin")), (200, Some(origin)));
    }
    assert_eq!(site.send(Ask::get("/healthz").headers(&[("host", "files.example:8443")])).status, 200);
}

#[test]
fn what_others_can_reach_needs_a_token() {
    let temp = Temp::new();
    let state = Temp::with(&[("tokens", "alice 0123456789abcdef0123456789abcdef\n")]);
    let refused = command(temp.path(), &[], &state, "0.0.0.0:0").output().expect("the toolgate binary");
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && said.contains("--token-file"), "{said}");
    let file = state.path().join("tokens").display().to_string();
    let site = Site::spawn(temp.path(), &["--token-file", &file], state, "0.0.0.0:0");
    drop(site);
}

#[test]
fn paths_that_are_none_say_where_to_go() {
    let temp = Temp::new();
    let site = Site::start(temp.path());
    let answer = site.send(Ask::get("/"));
    assert_eq!(answer.status, 404);
    assert!(answer.text().contains("/mcp"), "{answer:?}");
    assert_eq!(site.send(Ask::new("PUT", "/mcp")).header("allow"), Some("POST, GET, DELETE"));
    assert_eq!(site.send(Ask::get("/healthz")).text(), "ok\n");
    assert_eq!(site.send(Ask::get("/readyz")).text(), "ready\n");
    assert_eq!(site.send(Ask::new("POST", "/healthz")).status, 405);
}
