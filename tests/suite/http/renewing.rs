//! The configuration is read again while the server runs: on SIGHUP, and when a file has changed.

use serde_json::{Value, json};

use super::super::support::Temp;
use super::kit::{Ask, Site, becomes, call, modern, text};

const DENY: &str = "[[rule]]\ntools = [\"write_file\"]\ndecision = \"deny\"\nreason = \"not today\"\n";

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

/// What `tools/list` says of a tool.
fn listed(site: &Site, name: &str) -> Value {
    let list = site.modern("tools/list", json!({})).json();
    let tools = list["result"]["tools"].as_array().expect("tools");
    tools.iter().find(|tool| tool["name"] == name).unwrap_or_else(|| panic!("no {name}: {list}")).clone()
}

#[test]
fn limits_wordings_and_how_results_look_hold_as_soon_as_they_are_written() {
    let temp = Temp::with(&[("a.txt", "one\ntwo\n")]);
    let site = Site::configured(temp.path(), "", &[]);
    let read = |site: &Site| site.call("read_file", json!({"path": "a.txt"}));
    let is_short = |site: &Site| text(&read(site)) == "1: one\n";
    let worded = |site: &Site| listed(site, "read_file")["description"] == "Look into a file.";
    let structured = |site: &Site| {
        listed(site, "read_file")["outputSchema"].is_object() && read(site)["structuredContent"].is_object()
    };
    type Holds<'a> = &'a dyn Fn(&Site) -> bool;
    let cases: [(&str, Holds<'_>); 3] = [
        ("[limits]\nread_lines = 1\n", &is_short),
        ("[descriptions.read_file]\nvariant = \"short\"\ntext = \"Look into a file.\"\n", &worded),
        ("results = \"structured\"\n", &structured),
    ];
    for (toml, holds) in cases {
        assert!(!holds(&site), "{toml}");
        site.home().write("toolgate/toolgate.toml", toml);
        site.signal("HUP");
        becomes(toml, || holds(&site));
        site.home().write("toolgate/toolgate.toml", "");
        site.signal("HUP");
        becomes("and no more once it is taken out", || !holds(&site));
    }
}

/// In code mode what a model is told of the tools stands in `run_code`.
#[test]
fn another_wording_reaches_programs_too() {
    let temp = Temp::with(&[("a.txt", "one\ntwo\n")]);
    let site = Site::configured(temp.path(), "", &["--mode", "code"]);
    let told = |site: &Site| listed(site, "run_code")["description"].as_str().expect("words").contains("Peek");
    let declared = |site: &Site| {
        let read = site.modern("resources/read", json!({"uri": "toolgate://sdk.d.ts"})).json();
        read["result"]["contents"][0]["text"].as_str().expect("text").contains("Peek")
    };
    let short = |site: &Site| {
        let code = "return (await tools.read_file({ path: 'a.txt' })).content";
        text(&site.call("run_code", json!({"code": code, "description": "Read."}))).contains("two")
    };
    assert!(!told(&site) && !declared(&site) && short(&site));
    let toml = "[limits]\nread_lines = 1\n[descriptions.read_file]\nvariant = \"v\"\ntext = \"Peek. It is short.\"\n";
    site.home().write("toolgate/toolgate.toml", toml);
    site.signal("HUP");
    becomes("the wording stands in both", || told(&site) && declared(&site));
    becomes("and the limit holds", || !short(&site));
}

#[test]
fn what_takes_a_restart_is_said() {
    let temp = Temp::new();
    let (site, said) = Site::logged(temp.path(), "durability = \"full\"\n", &[], "warn");
    site.home().write("toolgate/toolgate.toml", "durability = \"process\"\n[http]\nmax_requests = 7\n");
    site.signal("HUP");
    becomes("it is said", || said().contains("needs a restart to hold settings=\"durability, http.max_requests\""));
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
