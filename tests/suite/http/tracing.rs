//! What the log on standard error says about a call: who made it, and of which trace it is a part.

use serde_json::json;

use super::super::support::{MODERN, Temp};
use super::kit::{Site, meta, modern};

const INNER: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const OUTER: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

#[test]
fn calls_are_logged_with_the_traces_that_they_are_a_part_of() {
    let temp = Temp::with(&[("a.txt", "one\n")]);
    let (site, said) = Site::logged(temp.path(), "", &[], "info");
    let mut traced = meta(MODERN);
    traced["traceparent"] = json!(INNER);
    let params = json!({"name": "read_file", "arguments": {"path": "a.txt"}, "_meta": traced});
    assert_eq!(site.send(modern(json!(1), "tools/call", params).headers(&[("traceparent", OUTER)])).status, 200);
    let said = said();
    let line = said.lines().find(|line| line.contains("read_file") && line.contains(INNER));
    let line = line.unwrap_or_else(|| panic!("no line of the call in:\n{said}"));
    assert!(line.contains(OUTER) && line.contains("local"), "{line}");
}
