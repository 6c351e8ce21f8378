//! A run that waits for a person behind a stateless client is parked, and ends in one way only: its answer comes, nobody comes in
//! time, or the server goes. Whoever comes otherwise is told why it cannot be.

use serde_json::{Value, json};

use super::approvals::{ASK, CODE, modern, yes};
use super::kit::{SMALL, events};
use crate::suite::cases::kit::{Desk, says};
use crate::suite::gate::kit::{Home, end, guarded};
use crate::suite::http::kit::{Ask, Site, call, modern as modern_over_http};
use crate::suite::support::{MODERN, Temp};

/// With so much time to answer.
fn desk(timeout_ms: u64) -> (Desk, Home) {
    guarded(&[("a", "1\n")], &format!("{SMALL}{ASK}[approval]\ntimeout_ms = {timeout_ms}\n"))
}

fn again(state: &Value) -> Value {
    json!({ "requestState": state, "inputResponses": yes() })
}

#[track_caller]
fn refused(answer: &Value, why: &str) {
    says(answer["error"]["message"].as_str().unwrap_or_else(|| panic!("no error: {answer}")), &[why]);
}

/// Nobody comes in time: the call is denied inside, the program goes on to its end, and the late answer changes nothing.
#[test]
fn a_run_whose_answer_does_not_come_ends_without_it() {
    let (mut desk, home) = desk(300);
    let state = modern(&mut desk, CODE, json!({}))["result"]["requestState"].clone();
    while !events(&home, "tool/result").iter().any(|event| event["tool"] == "run_code") {
        std::thread::yield_now();
    }
    let late = modern(&mut desk, CODE, again(&state));
    let why = late["error"]["message"].as_str().unwrap_or_else(|| panic!("no error: {late}"));
    assert!(why.contains("out of date") || why.contains("is over"), "{why}");
    assert!(!desk.folder.path().join("new").exists());
    end(desk);
    let answers: Vec<_> = events(&home, "approval/answered").iter().map(|event| event["answer"].clone()).collect();
    assert_eq!(answers, ["timed_out"]);
    let results = events(&home, "tool/result");
    let write = results.iter().find(|event| event["tool"] == "write_file").expect("the call is recorded");
    assert_eq!(write["error"], "denied");
    let run = results.iter().find(|event| event["tool"] == "run_code").expect("the run is recorded");
    assert_eq!(run["error"], Value::Null, "the program has caught it and gone on to its end: {run}");
}

/// The server has gone, and the run with it: another one knows nothing of it.
#[test]
fn a_run_does_not_outlive_its_server() {
    let (mut desk, home) = desk(60_000);
    let state = modern(&mut desk, CODE, json!({}))["result"]["requestState"].clone();
    let (folder, ended) = end(desk);
    assert!(ended.status.success(), "a parked run holds up nobody: {}", ended.stderr);
    let mut desk = home.desk(folder);
    refused(&modern(&mut desk, CODE, again(&state)), "not one that this server gave");
    assert!(!desk.folder.path().join("new").exists());
    let run = events(&home, "tool/result").into_iter().find(|event| event["tool"] == "run_code");
    says(run.expect("how it ended is recorded")["message"].as_str().expect("a failure"), &["aborted"]);
}

#[test]
fn of_two_answers_at_once_one_is_taken() {
    let (mut desk, home) = desk(60_000);
    let state = modern(&mut desk, CODE, json!({}))["result"]["requestState"].clone();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } },
    });
    for id in ["first", "second"] {
        let mut params = again(&state);
        params["name"] = "run_code".into();
        params["arguments"] = json!({ "code": CODE, "description": "tidy up" });
        params["_meta"] = meta.clone();
        desk.server.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }));
    }
    let answers = [desk.server.recv(), desk.server.recv()];
    let [Some(done), Some(other)] =
        [true, false].map(|is| answers.iter().find(|answer| answer["result"].is_object() == is))
    else {
        panic!("one is taken: {answers:?}")
    };
    assert_eq!(done["result"]["content"][0]["text"], "1\nwritten", "{done}");
    refused(other, "used already");
    end(desk);
    let writes = events(&home, "tool/call").iter().filter(|call| call["tool"] == "write_file").count();
    assert_eq!(writes, 1, "the program ran once");
}

const ALICE: &str = "alice-0123456789abcdef0123456789";
const BOB: &str = "bob-0123456789abcdef0123456789ab";

/// A folder that two callers are served.
struct Two {
    root: Temp,
    site: Site,
}

impl Two {
    fn served() -> Self {
        let root = Temp::with(&[("a", "1\n")]);
        let state = Temp::with(&[
            ("tokens", &format!("alice {ALICE}\nbob {BOB}\n")),
            ("toolgate/toolgate.toml", &format!("{SMALL}{ASK}")),
        ]);
        let file = state.path().join("tokens").display().to_string();
        let site = Site::spawn(root.path(), &["--token-file", &file], state, "127.0.0.1:0");
        Two { root, site }
    }

    fn send(&self, ask: Ask, token: &str) -> Value {
        self.site.send(ask.token(token)).json()
    }

    fn run(&self, token: &str, more: Value) -> Value {
        let mut params = json!({ "name": "run_code", "arguments": { "code": CODE, "description": "tidy up" } });
        params.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } },
        });
        self.send(modern_over_http(json!(1), "tools/call", params), token)
    }

    /// Has a run parked, and gives its state.
    #[track_caller]
    fn park(&self, token: &str) -> Value {
        let asked = self.run(token, json!({}));
        assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
        asked["result"]["requestState"].clone()
    }
}

/// What was asked of one caller is not for another to answer.
#[test]
fn another_caller_cannot_answer() {
    let two = Two::served();
    let state = two.park(ALICE);
    refused(&two.run(BOB, again(&state)), "not one that this server gave");
    assert!(!two.root.path().join("new").exists());
    let done = two.run(ALICE, again(&state));
    assert_eq!(done["result"]["content"][0]["text"], "1\nwritten", "{done}");
    let read = two.send(call(json!(1), "read_file", json!({ "path": "new" })), BOB);
    assert_eq!(read["result"]["content"][0]["text"], "1: made\n", "{read}");
}

/// As many runs as are parked at once.
const MOST: usize = 64;

/// Only so many runs are parked. One more is not kept: its call is denied and says why, and when there is room again the next is
/// parked.
#[test]
fn only_so_many_runs_are_parked() {
    let (mut desk, _home) = desk(60_000);
    let mut states = Vec::new();
    for n in 0..MOST {
        let asked = modern(&mut desk, CODE, json!({}));
        assert_eq!(asked["result"]["resultType"], "input_required", "{n}: {asked}");
        states.push(asked["result"]["requestState"].clone());
    }
    let more = modern(&mut desk, CODE, json!({}));
    let text = more["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {more}"));
    says(text, &["denied", "too many calls wait for an answer already"]);
    assert!(!desk.folder.path().join("new").exists());
    let done = modern(&mut desk, CODE, again(&states[0]));
    assert_eq!(done["result"]["content"][0]["text"], "1\nwritten", "{done}");
    assert_eq!(modern(&mut desk, CODE, json!({}))["result"]["resultType"], "input_required", "there is room again");
}

/// Whoever has parked all that there is room for keeps nobody else out: their oldest run gives way, and says so.
#[test]
fn one_caller_cannot_take_all_the_room() {
    let two = Two::served();
    let alices: Vec<Value> = (0..MOST).map(|_| two.park(ALICE)).collect();
    let bobs = two.park(BOB);
    refused(&two.run(ALICE, again(&alices[0])), "too many calls were waiting for an answer and it had to give way");
    assert!(!two.root.path().join("new").exists());
    // Their own next one takes nothing from those who have less.
    let more = two.run(ALICE, json!({}));
    says(more["result"]["content"][0]["text"].as_str().expect("a text"), &["too many calls wait for an answer"]);
    let done = two.run(BOB, again(&bobs));
    assert_eq!(done["result"]["content"][0]["text"], "1\nwritten", "{done}");
    let done = two.run(ALICE, again(&alices[1]));
    says(done["result"]["content"][0]["text"].as_str().expect("a text"), &["1\n"]);
}
