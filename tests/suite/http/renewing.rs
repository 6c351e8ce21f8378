//! The configuration is read again while the server runs: on SIGHUP, and when a file has changed.

use std::time::{Duration, Instant};

use serde_json::json;

use super::super::support::Temp;
use super::kit::{Ask, Site, call, modern};

const DENY: &str = "[[rule]]\ntools = [\"write_file\"]\ndecision = \"deny\"\nreason = \"not today\"\n";

/// Asks until it is so, for a while that is longer than any look at the files takes.
fn becomes(what: &str, is: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(20);
    while !is() {
        assert!(Instant::now() < until, "{what}");
    }
}

fn denied(site: &Site) -> bool {
    let written = site.call("write_file", json!({"path": "w.txt", "content": "x"}));
    written["structuredContent"]["error"] == "denied"
}

fn lists_writing(site: &Site) -> bool {
    let tools = site.modern("tools/list", json!({})).json();
    tools["result"]["tools"].as_array().expect("tools").iter().any(|tool| tool["name"] == "write_file")
}

#[test]
fn rules_and_what_is_read_only_hold_as_soon_as_they_are_written() {
    let temp = Temp::new();
    let site = Site::configured(temp.path(), "", &[]);
    let configure = |text: &str| site.home().write("toolgate/toolgate.toml", text);
    assert!(!denied(&site) && lists_writing(&site));
    configure(DENY);
    becomes("a rule holds", || denied(&site));
    configure("read_only = true\n");
    becomes("what changes files is not listed", || !lists_writing(&site));
    assert!(denied(&site));
    configure("this is = not TOML [");
    site.signal("HUP");
    assert!(denied(&site), "what cannot be read changes nothing");
    configure("");
    site.signal("HUP");
    becomes("what is taken out holds no more", || lists_writing(&site) && !denied(&site));
}

#[test]
fn tokens_can_be_given_and_taken_while_it_runs() {
    let (old, new) = ("old-0123456789abcdef", "new-0123456789abcdef");
    let temp = Temp::with(&[("a.txt", "one\n")]);
    let state = Temp::with(&[("tokens", old)]);
    let file = state.path().join("tokens").display().to_string();
    let site = Site::spawn(temp.path(), &["--token-file", &file], state, "127.0.0.1:0");
    let status = |token: &str| site.send(modern(json!(1), "tools/list", json!({})).token(token)).status;
    assert_eq!((status(old), status(new)), (200, 401));
    site.home().write("tokens", new);
    site.signal("HUP");
    becomes("the new token is taken", || status(new) == 200);
    assert_eq!(status(old), 401);
    site.home().write("tokens", "");
    site.signal("HUP");
    assert_eq!(
        site.send(call(json!(1), "read_file", json!({"path": "a.txt"})).token(new)).status,
        200,
        "an empty file opens nothing and closes nothing"
    );
    assert_eq!(site.send(call(json!(1), "read_file", json!({"path": "a.txt"}))).status, 401);
}

#[test]
fn who_listens_is_told_and_at_the_end_sent_home() {
    let temp = Temp::new();
    let site = Site::configured(temp.path(), "", &[]);
    let id = site.session("2025-11-25", json!({}));
    let mut legacy = site.connect();
    legacy.send(Ask::get("/mcp").session(&id).headers(&[("accept", "text/event-stream")]));
    legacy.head();
    assert_eq!(legacy.event().expect("the beginning").data, "");
    let mut listening = site.connect();
    listening.send(modern(json!("l"), "subscriptions/listen", json!({"notifications": {"toolsListChanged": true}})));
    let head = listening.head();
    assert_eq!((head.status, head.header("content-type")), (200, Some("text/event-stream")));
    let first = listening.event().expect("an acknowledgement").json();
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged", "{first}");

    site.home().write("toolgate/toolgate.toml", DENY);
    site.signal("HUP");
    let told = listening.event().expect("news").json();
    assert_eq!(told["method"], "notifications/tools/list_changed", "{told}");
    assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], "l", "{told}");
    let told = legacy.event().expect("news").json();
    assert_eq!(told["method"], "notifications/tools/list_changed", "{told}");

    site.signal("TERM");
    let rest: Vec<_> = std::iter::from_fn(|| listening.event()).map(|event| event.json()).collect();
    assert_eq!(rest.last().expect("an end")["result"]["resultType"], "complete", "{rest:?}");
    while legacy.event().is_some() {}
    assert!(site.wait().success());
}
