//! What the log on standard error says about a call: who made it, and of which trace it is a part.

use std::io::Read;
use std::process::Stdio;

use serde_json::json;

use super::super::support::{MODERN, Temp};
use super::kit::{Site, command, meta, modern};

#[cfg(unix)]
#[test]
fn calls_are_logged_with_the_traces_that_they_are_a_part_of() {
    const INNER: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const OUTER: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let temp = Temp::with(&[("a.txt", "one\n")]);
    let state = Temp::new();
    let log = state.path().join("log");
    let file = std::fs::File::create(&log).expect("a file");
    let mut child = command(temp.path(), &[], &state, "127.0.0.1:0")
        .env("RUST_LOG", "info")
        .stderr(Stdio::from(file))
        .spawn()
        .expect("the toolgate binary");
    let said = || std::fs::read_to_string(&log).expect("a log");
    let address = loop {
        if let Some((_, rest)) = said().split_once("serves MCP at http://")
            && let Some((address, _)) = rest.split_once("/mcp\n")
        {
            break address.parse().expect("an address");
        }
        assert!(child.try_wait().expect("a process").is_none(), "it has ended: {}", said());
    };
    let site = Site::running(child, address, state);
    let mut traced = meta(MODERN);
    traced["traceparent"] = json!(INNER);
    let params = json!({"name": "read_file", "arguments": {"path": "a.txt"}, "_meta": traced});
    assert_eq!(site.send(modern(json!(1), "tools/call", params).headers(&[("traceparent", OUTER)])).status, 200);
    let mut said = String::new();
    std::fs::File::open(&log).expect("a log").read_to_string(&mut said).expect("text");
    let line = said.lines().find(|line| line.contains("read_file") && line.contains(INNER));
    let line = line.unwrap_or_else(|| panic!("no line of the call in:\n{said}"));
    assert!(line.contains(OUTER) && line.contains("local"), "{line}");
}
