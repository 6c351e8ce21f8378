//! Schemas of tools that every provider and client takes.

use serde_json::{Value, json};

use crate::suite::support::{Server, Temp};

/// The tools as a client sees them, with their output schemas.
fn tools() -> Vec<Value> {
    let temp = Temp::new();
    let mut server = Server::start_with(temp.path(), &["--structured"]);
    let answer = server.request("tools/list", json!({}));
    answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("no tools: {answer}")).clone()
}

/// Every schema of every tool, under a name for messages.
fn schemas() -> Vec<(String, Value)> {
    let of = |tool: &Value, which: &str| Some((format!("{} of {}", which, tool["name"]), tool.get(which)?.clone()));
    tools().iter().flat_map(|tool| [of(tool, "inputSchema"), of(tool, "outputSchema")]).flatten().collect()
}

/// Calls `visit` with every object in `value`, the innermost last.
fn walk(value: &Value, visit: &mut impl FnMut(&serde_json::Map<String, Value>)) {
    match value {
        Value::Object(members) => {
            visit(members);
            members.values().for_each(|member| walk(member, visit));
        }
        Value::Array(items) => items.iter().for_each(|item| walk(item, visit)),
        _ => {}
    }
}

#[test]
fn the_root_of_a_schema_is_a_plain_object() {
    let all = schemas();
    assert!(all.len() >= 8, "{} schemas", all.len());
    for (name, schema) in all {
        assert_eq!(schema["type"], "object", "B122: {name}");
        for word in ["oneOf", "anyOf", "allOf", "not", "if", "enum", "const", "$ref", "$defs", "definitions"] {
            assert!(schema.get(word).is_none(), "B122: {name} has {word}");
        }
    }
}

#[test]
fn no_schema_has_words_that_clients_choke_on() {
    for (name, schema) in schemas() {
        walk(&schema, &mut |members| {
            for (word, value) in members {
                let a_word = value.is_string();
                assert!(!(word == "format" && a_word), "B123: {name} has format {value}");
                assert!(!(word.starts_with('$') && a_word), "B123: {name} has {word} {value}");
                assert!(!(word == "type" && value.is_array()), "B123: {name} has a type of {value}");
            }
        });
    }
}

#[test]
fn bounds_of_numbers_are_told_without_formats() {
    let tools = tools();
    let read = tools.iter().find(|tool| tool["name"] == "read_file").expect("read_file");
    assert_eq!(read["inputSchema"]["properties"]["start_line"]["minimum"], 1, "B123: {read}");
    let patch = tools.iter().find(|tool| tool["name"] == "patch_file").expect("patch_file");
    assert_eq!(patch["inputSchema"]["properties"]["old_str"]["minLength"], 1, "B045: {patch}");
}

#[test]
fn every_object_says_what_it_holds() {
    for (name, schema) in schemas() {
        walk(&schema, &mut |members| {
            if members.get("type").is_some_and(|kind| kind == "object") {
                assert!(members.get("properties").is_some_and(Value::is_object), "B124: {name}: {members:?}");
            }
        });
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        for field in required {
            let field = field.as_str().expect("a name");
            assert!(schema["properties"].get(field).is_some(), "B124: {name} requires {field} and does not know it");
        }
    }
}

#[test]
fn the_list_of_tools_is_the_same_at_each_start() {
    assert_eq!(Value::from(tools()).to_string(), Value::from(tools()).to_string(), "B124");
    let names: Vec<_> = tools().iter().map(|tool| tool["name"].to_string()).collect();
    let mut sorted = names.clone();
    sorted.sort();
    sorted.dedup();
    assert_eq!(names, sorted, "B124: in order, and each once");
}

#[test]
fn both_eras_are_told_the_same_tools() {
    let temp = Temp::new();
    let mut server = Server::start(temp.path());
    let modern = server.request("tools/list", json!({}))["result"]["tools"].clone();
    server.exchange("initialize", &super::kit::hello("2025-06-18"));
    let legacy = server.exchange("tools/list", &json!({}))["result"]["tools"].clone();
    assert!(modern.as_array().is_some_and(|tools| tools.len() >= 4), "B122: {modern}");
    assert_eq!(modern, legacy, "B122");
}
