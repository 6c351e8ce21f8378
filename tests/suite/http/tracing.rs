//! What the log on standard error says about a call: who made it, and of which trace it is a part.

use serde_json::{Value, json};

use super::super::support::{MODERN, Temp};
use super::kit::{Ask, Site, call, command, meta, modern};

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

/// What is said on standard error, each line of which must be an object that says when, how grave, where, what.
fn objects(said: &str) -> Vec<Value> {
    let objects: Vec<Value> = said
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line:?}")))
        .collect();
    for object in &objects {
        let texts = ["time", "level", "target", "message"].map(|name| object[name].is_string());
        assert!(texts == [true; 4] && object["fields"].is_object(), "{object}");
        let time: Result<jiff::Timestamp, _> = object["time"].as_str().expect("a time").parse();
        assert!(time.is_ok(), "{object}");
    }
    objects
}

#[test]
fn a_log_for_programs_is_one_object_a_line_with_what_is_known_of_the_call() {
    let temp = Temp::with(&[("a.txt", "one\n")]);
    let (site, said) = Site::logged(temp.path(), "", &["--log-format", "json"], "");
    let read = call(json!(1), "read_file", json!({"path": "a.txt"})).headers(&[("traceparent", OUTER)]);
    assert_eq!(site.send(read).status, 200);
    // Neither may a client begin a line of its own.
    site.call("read_file", json!({"path": "x\n{\"level\":\"INFO\"}\u{1b}[31m"}));
    site.send(Ask::get("/healthz").headers(&[("host", "evil.example")]));
    let objects = objects(&said());
    let find = |what: &dyn Fn(&Value) -> bool| {
        objects.iter().find(|object| what(object)).unwrap_or_else(|| panic!("no such line in {objects:#?}"))
    };
    let url = find(&|object| object["fields"]["url"].is_string());
    assert_eq!(url["fields"]["url"], format!("http://{}/mcp", site.address), "{url}");
    let of_call = find(&|object| object["fields"]["tool"] == "read_file");
    let spans = of_call["spans"].as_array().expect("spans");
    let named = |name: &str| spans.iter().find(|span| span["name"] == name).unwrap_or_else(|| panic!("{of_call}"));
    assert_eq!(named("request")["traceparent"], OUTER, "{of_call}");
    assert_eq!(named("call")["tool"], "read_file", "{of_call}");
    let refused = find(&|object| object["level"] == "WARN");
    assert!(refused["fields"]["refused"].as_str().expect("why").contains("evil.example"), "{refused}");
    assert_eq!(refused["message"], "a request was not let in");
}

#[test]
fn what_keeps_it_from_serving_is_an_object_too() {
    let temp = Temp::new();
    let state = Temp::with(&[("toolgate/toolgate.toml", "nonsense = 1\n")]);
    let output = command(temp.path(), &["--log-format", "json"], &state, "127.0.0.1:0").output().expect("the binary");
    let objects = objects(&String::from_utf8_lossy(&output.stderr));
    let [fault] = &objects[..] else { panic!("{objects:?}") };
    assert_eq!((output.status.code(), &fault["level"]), (Some(1), &json!("ERROR")));
    assert!(fault["message"].as_str().expect("text").contains("nonsense"), "{fault}");
}

#[test]
fn nothing_is_logged_unless_that_is_asked_for() {
    let temp = Temp::with(&[("a.txt", "one\n")]);
    for (options, level, lines) in
        [(&[][..], "", 1), (&["--log-format", "text"], "", 3), (&["--log-format", "json"], "off", 1)]
    {
        let (site, said) = Site::logged(temp.path(), "", options, level);
        site.call("read_file", json!({"path": "a.txt"}));
        let said = said();
        assert_eq!(said.lines().count(), lines, "{options:?} {level}:\n{said}");
        assert!(said.contains("toolgate serves MCP at http://"), "where it is has to be known: {said}");
    }
}
