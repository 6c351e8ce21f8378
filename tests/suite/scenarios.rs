//! Whole scenes from `tests/scenarios`: a folder before, calls, what the model is told, the folder after.
//!
//! `call.json` is `{"tool", "arguments"}`, or a list of them made one after the other; `result.json` is the result, or
//! as many. `content` and `isError` must be exactly so; of `structuredContent` what is written there must be there.
//! A folder `before` or `after` that is not there is an empty one. `DIFFERS` in the text of a result stands for anything
//! that is not the same each time, such as a version.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::cases::kit::{Desk, files_of};
use super::support::Temp;

fn scenarios() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    let mut all: Vec<_> = fs::read_dir(root).expect("scenarios").map(|entry| entry.expect("an entry").path()).collect();
    all.sort();
    all
}

/// What a JSON file holds, as a list.
fn list(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    match serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display())) {
        Value::Array(values) => values,
        value => vec![value],
    }
}

/// The files of `folder`, which may not be there.
fn files(folder: &Path) -> std::collections::BTreeMap<String, Vec<u8>> {
    if folder.is_dir() { files_of(folder) } else { std::collections::BTreeMap::new() }
}

/// Whether `there` holds all that `right` holds.
fn holds(there: &Value, right: &Value) -> bool {
    match (there, right) {
        (Value::Object(there), Value::Object(right)) => {
            right.iter().all(|(key, right)| there.get(key).is_some_and(|there| holds(there, right)))
        }
        (Value::String(there), Value::String(right)) => alike(there, right),
        (Value::Array(there), Value::Array(right)) => {
            there.len() == right.len() && there.iter().zip(right).all(|(there, right)| holds(there, right))
        }
        _ => there == right,
    }
}

/// Whether `there` is `right` but for what `DIFFERS` stands for.
fn alike(there: &str, right: &str) -> bool {
    let Some((first, rest)) = right.split_once("DIFFERS") else { return there == right };
    let Some(mut there) = there.strip_prefix(first) else { return false };
    let mut parts: Vec<_> = rest.split("DIFFERS").collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        let Some(at) = there.find(part) else { return false };
        there = &there[at + part.len()..];
    }
    there.ends_with(last)
}

/// The members of a result that a scenario speaks of.
fn told(result: &Value, right: &Value) -> Value {
    let mut told = json!({ "content": result["content"] });
    if result["isError"] == true {
        told["isError"] = true.into();
    }
    if right.get("structuredContent").is_some() {
        told["structuredContent"] = result["structuredContent"].clone();
    }
    told
}

fn play(scenario: &Path) {
    let name = scenario.file_name().unwrap_or_default().to_string_lossy();
    let (calls, results) = (list(&scenario.join("call.json")), list(&scenario.join("result.json")));
    assert_eq!(calls.len(), results.len(), "{name}: calls and results");
    let folder = Temp::new();
    for (path, bytes) in files(&scenario.join("before")) {
        folder.write(&path, bytes);
    }
    let mut desk = Desk::serving(folder);
    for (call, right) in calls.iter().zip(&results) {
        let tool = call["tool"].as_str().unwrap_or_else(|| panic!("{name}: no tool in {call}"));
        let reply = desk.call(tool, call["arguments"].clone());
        let told = told(&reply.0, right);
        let same_members = told.as_object().map(serde_json::Map::len) == right.as_object().map(serde_json::Map::len);
        assert!(same_members && holds(&told, right), "{name}: {call}\n got {told:#}\nwant {right:#}");
    }
    let after = files(&scenario.join("after"));
    let there = desk.files();
    assert_eq!(there.keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>(), "{name}: the files");
    for (path, bytes) in after {
        assert_eq!(there[&path].escape_ascii().to_string(), bytes.escape_ascii().to_string(), "{name}: {path}");
    }
}

#[test]
fn every_scenario_ends_as_it_should() {
    let all = scenarios();
    assert!(all.len() >= 12, "{} scenarios", all.len());
    all.iter().for_each(|scenario| play(scenario));
}
