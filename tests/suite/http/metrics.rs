//! What `/metrics` tells.

use serde_json::json;

use super::super::support::Temp;
use super::kit::{Ask, Site, call};

/// The value of a sample.
fn sample(text: &str, name: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("no {name} in:\n{text}"))
}

#[test]
fn calls_and_what_the_server_holds_are_counted() {
    let temp = Temp::with(&[("a.txt", "one\n")]);
    let deny =
        "[[rule]]\ntools = [\"write_file\"]\ndecision = \"deny\"\nreason = \"no\"\n[http]\ncalls_per_minute = 6\n";
    let site = Site::configured(temp.path(), deny, &[]);
    site.session("2025-11-25", json!({}));
    for _ in 0..3 {
        site.call("read_file", json!({"path": "a.txt"}));
    }
    site.call("read_file", json!({"path": "nowhere"}));
    site.call("write_file", json!({"path": "b.txt", "content": "x"}));
    site.modern("tools/call", json!({"name": "made-up", "arguments": {}}));
    assert_eq!(site.send(call(json!(1), "read_file", json!({"path": "a.txt"}))).status, 429);
    site.send(Ask::get("/healthz").headers(&[("origin", "http://evil.example")]));
    let answer = site.send(Ask::get("/metrics"));
    assert!(answer.header("content-type").expect("a type").starts_with("application/openmetrics-text"));
    let text = answer.text();
    assert!(text.ends_with("# EOF\n"), "{text}");
    for (name, value) in [
        ("toolgate_calls_total{tool=\"read_file\",outcome=\"ok\"}", 3.0),
        ("toolgate_calls_total{tool=\"read_file\",outcome=\"file_not_found\"}", 1.0),
        ("toolgate_calls_total{tool=\"write_file\",outcome=\"denied\"}", 1.0),
        ("toolgate_call_duration_seconds_count{tool=\"read_file\"}", 4.0),
        ("toolgate_denials_total{by=\"gate\"}", 1.0),
        ("toolgate_denials_total{by=\"guard\"}", 1.0),
        ("toolgate_denials_total{by=\"rate\"}", 1.0),
        ("toolgate_sessions", 1.0),
        ("toolgate_requests", 0.0),
    ] {
        assert!((sample(&text, name) - value).abs() < f64::EPSILON, "{name}:\n{text}");
    }
    assert!(!text.contains("made-up"), "a name that a client makes up is no label:\n{text}");
    assert!(
        sample(&text, "toolgate_received_bytes_total") > 1000.0 && sample(&text, "toolgate_sent_bytes_total") > 1000.0
    );
}
