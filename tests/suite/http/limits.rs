//! What is too much, too long or too slow hurts nobody but whoever sends it.

use std::io::Write;
use std::time::Instant;

use serde_json::{Value, json};

use super::super::support::{MODERN, Temp};
use super::kit::{Ask, Site, Wire, becomes, call, modern, post_text, text};

fn read() -> Ask {
    call(json!(1), "read_file", json!({"path": "a.txt"}))
}

fn files() -> Temp {
    Temp::with(&[("a.txt", "one\n")])
}

/// Others are served as if nothing had happened.
fn assert_serves(site: &Site) {
    let answer = site.send(read());
    assert_eq!((answer.status, text(&answer.json()["result"])), (200, "1: one\n"));
}

#[test]
fn a_body_that_is_too_large_is_refused_before_it_is_read() {
    let temp = files();
    let site = Site::configured(temp.path(), "[http]\nmax_body_bytes = 1000\n", &[]);
    assert_serves(&site);
    let mut wire = site.connect();
    wire.write(b"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 1000000000000\r\n\r\n");
    assert_eq!(wire.answer().status, 413);
    let mut wire = site.connect();
    wire.write(b"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n");
    for _ in 0..200 {
        // The server may have answered and closed already.
        let _ = wire.stream.get_mut().write_all(b"64\r\n----------------------------------------------------------------------------------------------------\r\n");
    }
    assert_eq!(wire.head().status, 413);
    let plain = Ask::new("POST", "/rpc").headers(&[("content-type", "application/json")]).body(&"x".repeat(1001));
    assert_eq!(site.send(plain).status, 413);
    assert_serves(&site);
}

#[test]
fn a_head_that_is_too_large_or_malformed_is_refused() {
    let temp = files();
    let site = Site::configured(temp.path(), "[http]\nmax_head_bytes = 4096\n", &[]);
    let long = "x".repeat(5000);
    let many: Vec<(String, String)> = (0..200).map(|n| (format!("x-{n}"), "y".to_owned())).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(site.send(read().headers(&[("x-long", &long)])).status, 431);
    assert_eq!(site.send(read().headers(&many)).status, 431);
    for bytes in [
        &b"GET /mcp\r\n\r\n"[..],
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET /mcp HTTP/1.1\r\nhost 127.0.0.1\r\n\r\n",
        b"\0\0\0\0\r\n\r\n",
    ] {
        let mut wire = site.connect();
        wire.write(bytes);
        assert_eq!(wire.head().status, 400, "{bytes:?}");
    }
    assert_serves(&site);
}

#[test]
fn who_is_too_slow_is_left_and_others_are_served_meanwhile() {
    let temp = files();
    let site = Site::configured(temp.path(), "[http]\nhead_timeout_ms = 300\nbody_timeout_ms = 300\n", &[]);
    let mut silent = site.connect();
    let mut half = site.connect();
    half.write(b"POST /mcp HT");
    let mut body = site.connect();
    body.write(
        b"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{",
    );
    assert_serves(&site);
    assert_eq!(body.head().status, 408);
    assert!(silent.ends() && half.ends());
    assert_serves(&site);
}

#[test]
fn a_body_may_come_byte_by_byte() {
    let temp = files();
    let site = Site::start(temp.path());
    let mut wire = site.connect();
    for byte in read().bytes() {
        wire.write(&[byte]);
    }
    assert_eq!(text(&wire.answer().json()["result"]), "1: one\n");
}

#[test]
fn requests_may_follow_each_other_before_they_are_answered() {
    let temp = files();
    let site = Site::start(temp.path());
    let mut wire = site.connect();
    let bytes: Vec<u8> =
        (0..50).flat_map(|id| call(json!(id), "read_file", json!({"path": "a.txt"})).bytes()).collect();
    wire.write(&bytes);
    for id in 0..50 {
        assert_eq!(wire.answer().json()["id"], id);
    }
}

#[test]
fn one_connection_more_than_there_may_be_takes_the_place_of_an_idle_one() {
    let temp = files();
    let site = Site::configured(temp.path(), "[http]\nmax_connections = 4\n", &[]);
    let mut idle: Vec<Wire> = (0..4).map(|_| site.connect()).collect();
    for _ in 0..20 {
        assert_serves(&site);
    }
    assert!(idle[0].ends(), "the one that did nothing for the longest time has gone");
    let session = site.session("2025-11-25", json!({}));
    let mut listening: Vec<Wire> = Vec::new();
    for _ in 0..3 {
        let id = site.session("2025-11-25", json!({}));
        let mut wire = site.connect();
        wire.send(Ask::get("/mcp").session(&id).headers(&[("accept", "text/event-stream")]));
        assert_eq!(wire.head().status, 200);
        listening.push(wire);
    }
    for _ in 0..20 {
        assert_serves(&site);
    }
    drop((session, listening));
}

/// Whoever does not read what they are sent is left after a while, and holds up nobody until then.
#[test]
fn who_does_not_read_holds_up_nobody() {
    let temp = files();
    temp.write("large.txt", "0123456789abcdef0123456789abcde\n".repeat(30_000));
    let site = Site::configured(
        temp.path(),
        "[http]\nwrite_timeout_ms = 500\n[limits]\nread_lines = 30000\nread_bytes = 10000000\n",
        &[],
    );
    let large = || call(json!(1), "read_file", json!({"path": "large.txt"}));
    assert!(site.send(large()).body.len() > 900_000);
    let mut deaf: Vec<Wire> = (0..8).map(|_| site.connect()).collect();
    for wire in &mut deaf {
        let bytes: Vec<u8> = (0..50).flat_map(|_| large().bytes()).collect();
        // It stops taking requests once it cannot send answers.
        wire.stream.get_ref().set_nonblocking(true).expect("a socket");
        let _ = wire.stream.get_mut().write(&bytes);
    }
    for _ in 0..20 {
        assert_serves(&site);
    }
    // Who began to read before they are left would be served on.
    let left = "toolgate_connections 1\n";
    becomes("they are left, and who asks is alone", || site.send(Ask::get("/metrics")).text().contains(left));
    for wire in &mut deaf {
        wire.stream.get_ref().set_nonblocking(false).expect("a socket");
        assert!(wire.ends(), "it has given up");
    }
}

#[test]
fn calls_beyond_those_of_a_minute_are_told_when_to_come_back() {
    let temp = files();
    let site = Site::configured(temp.path(), "[http]\ncalls_per_minute = 3\n", &[]);
    for _ in 0..3 {
        assert_eq!(site.send(read()).status, 200);
    }
    let refused = site.send(read());
    assert_eq!(refused.status, 429);
    let seconds: u64 = refused.header("retry-after").and_then(|after| after.parse().ok()).expect("seconds");
    assert!((1..=60).contains(&seconds), "{seconds}");
    assert_eq!(site.modern("tools/list", json!({})).status, 200, "what is no call is not counted");
    let plain = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "read_file", "arguments": {"path": "a.txt"}}});
    let plain = post_text(&plain.to_string());
    let answer = site.send(Ask { path: "/rpc".to_owned(), ..plain });
    assert_eq!(answer.code(), 429, "{answer:?}");
}

#[test]
fn deep_and_long_and_odd_bodies_are_answered() {
    let temp = files();
    let site = Site::start(temp.path());
    let deep = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{}{}}}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let headers = [("mcp-protocol-version", MODERN), ("mcp-method", "tools/list")];
    assert_eq!(site.send(post_text(&deep).headers(&headers)).status, 400);
    let name = "x".repeat(20_000);
    assert_eq!(site.send(modern(json!(1), "tools/call", json!({"name": name, "arguments": {}}))).status, 400);
    let content = "a\u{1F600}\n".repeat(500_000);
    let written = site.call("write_file", json!({"path": "big.txt", "content": content}));
    assert_eq!(text(&written), "File written: big.txt");
    assert_eq!(temp.text("big.txt"), content);
    let began = Instant::now();
    let answers: Vec<Value> = std::thread::scope(|scope| {
        let asks: Vec<_> = (0..40).map(|_| scope.spawn(|| site.send(read()).json())).collect();
        asks.into_iter().map(|ask| ask.join().expect("no panic")).collect()
    });
    assert!(answers.iter().all(|answer| text(&answer["result"]) == "1: one\n"), "after {:?}", began.elapsed());
}
