//! Schemas that every provider takes, and arguments as clients send them.

use serde_json::{Value, json};

use super::super::super::support::Temp;
use super::super::kit::{Site, text};
use super::{Way, code, message};

/// Calls `visit` with every object in `value`.
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
fn schemas_are_plain_and_the_same_in_both_eras_and_at_each_start() {
    let temp = Temp::new();
    let lists: Vec<Value> = (0..2)
        .flat_map(|_| {
            let site = Site::start_with(temp.path(), &["--structured"]);
            let list =
                |way: &Way| site.send(way.ask(json!(1), "tools/list", json!({}))).json()["result"]["tools"].clone();
            let ways = Way::all(&site);
            [list(&ways[0]), list(&ways[2])]
        })
        .collect();
    let first = lists[0].to_string();
    assert!(lists.iter().map(Value::to_string).all(|list| list == first), "B124: {lists:?}");
    for tool in lists[0].as_array().expect("tools") {
        for schema in [&tool["inputSchema"], &tool["outputSchema"]] {
            let name = &tool["name"];
            assert_eq!(schema["type"], "object", "B122: {name}");
            for word in ["oneOf", "anyOf", "allOf", "$ref", "$defs"] {
                assert!(schema.get(word).is_none(), "B122: {name} has {word}");
            }
            walk(schema, &mut |members| {
                assert!(!members.get("format").is_some_and(Value::is_string), "B123: {name}: {members:?}");
                let is_object = members.get("type").is_some_and(|kind| kind == "object");
                assert!(!is_object || members["properties"].is_object(), "B124: {name}: {members:?}");
            });
        }
    }
    let patch = lists[0].as_array().expect("tools").iter().find(|tool| tool["name"] == "read_file").expect("read_file");
    assert_eq!(patch["inputSchema"]["properties"]["start_line"]["minimum"], 1, "B123: {patch}");
}

#[test]
fn slips_of_clients_are_mended_where_there_is_no_doubt() {
    let temp = Temp::with(&[("a.txt", "1\n2\n3\n")]);
    let site = Site::start(temp.path());
    for way in Way::all(&site) {
        let call = |tool: &str, arguments: Value| way.result(&site, tool, arguments);
        temp.write("p.txt", "a a");
        let patches = json!([{"path": "p.txt", "old_str": "a a", "new_str": "b"}]).to_string();
        assert_ne!(call("patch_files", json!({"patches": patches}))["isError"], true, "B125: {way:?}");
        assert_eq!(temp.text("p.txt"), "b", "B125: a list that came as text");
        let written = json!({"path": "w.txt", "content": "{\"a\":1}"});
        assert_ne!(call("write_file", written)["isError"], true, "B125: {way:?}");
        assert_eq!(temp.text("w.txt"), "{\"a\":1}", "B125: text that looks like JSON stays text");
        let object = call("write_file", json!({"path": "o.txt", "content": {"a": 1}}));
        assert_eq!(code(&object), "invalid_arguments", "B125: {way:?}");
        assert!(message(&object).contains("content") && !temp.path().join("o.txt").exists(), "B125: {object}");

        assert_eq!(text(&call("read_file", json!("{\"path\":\"a.txt\",\"end_line\":1}"))), "1: 1\n", "B126: {way:?}");
        for bad in ["a.txt", "", "[]", "{\"path\":\"a.txt\""] {
            assert_eq!(code(&call("read_file", json!(bad))), "invalid_arguments", "B126: {bad}: {way:?}");
        }

        let lines = |start: Value| call("read_file", json!({"path": "a.txt", "start_line": start, "end_line": 2}));
        for good in [json!(2), json!("2"), json!(2.0)] {
            assert!(text(&lines(good.clone())).starts_with("2: 2"), "B127: {good}: {way:?}");
        }
        for bad in [json!("12px"), json!("1e4"), json!(""), json!(5.9), json!(true)] {
            let refused = lines(bad.clone());
            assert_eq!(code(&refused), "invalid_arguments", "B127: {bad}: {way:?}");
            assert!(message(&refused).contains("start_line"), "B127: {bad}: {refused}");
        }
        for (limit, arguments) in [
            ("start_line", json!({"path": "a.txt", "start_line": 0})),
            ("start_line", json!({"path": "a.txt", "start_line": -1})),
        ] {
            let refused = call("read_file", arguments);
            assert!(code(&refused) == "invalid_arguments" && message(&refused).contains(limit), "B128: {refused}");
        }
        for limit in [json!(0), json!(-1)] {
            let refused = call("search_files", json!({"pattern": "1", "limit": limit}));
            assert!(code(&refused) == "invalid_arguments" && message(&refused).contains("limit"), "B128: {refused}");
        }
        let most = call("search_files", json!({"pattern": "1", "path": "a.txt", "limit": 1_000_000_000}));
        assert!(
            if most["isError"] == true { message(&most).contains("limit") } else { text(&most).contains("a.txt") },
            "B128: nothing is cut in silence: {most}"
        );
    }
}

#[test]
fn what_the_model_did_wrong_is_a_result_and_what_the_client_did_wrong_is_an_error() {
    let temp = Temp::with(&[("a.txt", "1\n")]);
    let site = Site::start(temp.path());
    for way in Way::all(&site) {
        for (arguments, wrong, said) in [
            (json!({}), "invalid_arguments", "path"),
            (json!({"path": 7}), "invalid_arguments", "path"),
            (json!({"path": "a.txt", "file": "a"}), "invalid_arguments", "file"),
            (json!({"path": "missing"}), "file_not_found", "missing"),
        ] {
            let refused = way.result(&site, "read_file", arguments);
            assert_eq!(code(&refused), wrong, "B131: {way:?}: {refused}");
            assert!(message(&refused).contains(said), "B131: {refused}");
        }
        for name in ["nope", "", "Read_File"] {
            let answer = site.send(way.call(json!(3), name, json!({})));
            let status = if matches!(way, Way::Stateless) { 400 } else { 200 };
            assert_eq!((answer.status, answer.code()), (status, -32602), "B131: {way:?}: {name:?}: {answer:?}");
            assert_eq!(answer.json()["id"], 3, "B131: {answer:?}");
        }
    }
}
