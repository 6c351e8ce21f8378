//! Every kind of difference is found, and judged right.

mod laws;

use serde_json::{Value, json};

use super::compare;

fn arguments() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Which file."},
            "old_str": {"type": "string", "minLength": 1},
            "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 50},
            "output": {"type": "string", "enum": ["lines", "names"]},
            "patches": {"type": "array", "items": {
                "type": "object",
                "properties": {"text": {"type": "string"}},
                "required": ["text"],
                "additionalProperties": false,
            }},
            "env": {"type": "object", "additionalProperties": {"type": "string"}},
            "mode": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            "tree": {"$ref": "#/$defs/node"},
        },
        "required": ["path", "old_str"],
        "additionalProperties": false,
        "$defs": {"node": {"type": "object", "properties": {
            "name": {"type": "string"}, "kids": {"type": "array", "items": {"$ref": "#/$defs/node"}},
        }}},
    })
}

fn answer() -> Value {
    json!({
        "type": "object",
        "properties": {"lines": {"type": "integer"}, "next": {"type": "integer"}, "kind": {"enum": ["a", "b"]}},
        "required": ["lines"],
    })
}

fn published() -> Value {
    json!([
        {
            "name": "patch_file",
            "title": "Patch",
            "description": "Patches.",
            "inputSchema": arguments(),
            "outputSchema": answer(),
            "annotations": {"title": "Patch", "readOnlyHint": false},
        },
        {"name": "read_file", "inputSchema": {"type": "object", "properties": {"zone": {"type": "string"}}}},
    ])
}

fn lines(published: &Value, today: &Value) -> Vec<String> {
    compare(published, today).expect("lists").iter().map(ToString::to_string).collect()
}

/// A change of the published list at a pointer: to a value, or away.
fn mutated(pointer: &str, value: Option<Value>) -> Value {
    let mut list = published();
    let (parent, name) = pointer.rsplit_once('/').expect("a pointer");
    match (list.pointer_mut(parent).expect("a place"), value) {
        (Value::Object(map), Some(value)) => drop(map.insert(name.to_owned(), value)),
        (Value::Object(map), None) => drop(map.shift_remove(name).expect("a field")),
        (Value::Array(items), Some(value)) => items[name.parse::<usize>().expect("an index")] = value,
        (Value::Array(items), None) => drop(items.remove(name.parse::<usize>().expect("an index"))),
        (other, _) => panic!("{other}"),
    }
    list
}

#[test]
fn every_kind_of_difference_is_found_and_judged() {
    const FIELDS: &str = "/0/inputSchema/properties";
    for (place, value, want) in [
        // Tools.
        ("/1".to_owned(), None, vec!["breaking: read_file: removed tool"]),
        ("/0/description".to_owned(), Some(json!("x")), vec!["compatible: patch_file: changed description"]),
        ("/0/title".to_owned(), None, vec!["compatible: patch_file: changed title"]),
        (
            "/0/annotations/readOnlyHint".to_owned(),
            Some(json!(true)),
            vec!["compatible: patch_file: changed readOnlyHint from false to true"],
        ),
        ("/0/outputSchema".to_owned(), None, vec!["breaking: patch_file: removed outputSchema"]),
        ("/1/outputSchema".to_owned(), Some(answer()), vec!["compatible: read_file: added outputSchema"]),
        (
            "/1/name".to_owned(),
            Some(json!("read_files")),
            vec!["breaking: read_file: removed tool (renamed to read_files?)", "compatible: read_files: added tool"],
        ),
        (
            "/1/name".to_owned(),
            Some(json!("view")),
            vec!["breaking: read_file: removed tool (renamed to view?)", "compatible: view: added tool"],
        ),
        // Fields.
        (format!("{FIELDS}/new"), Some(json!({})), vec!["compatible: patch_file: added optional field new"]),
        (format!("{FIELDS}/limit"), None, vec!["breaking: patch_file: removed field limit"]),
        (
            "/0/inputSchema/required".to_owned(),
            Some(json!(["path", "old_str", "limit"])),
            vec!["breaking: patch_file: field limit is required now"],
        ),
        (
            "/0/inputSchema/required".to_owned(),
            Some(json!(["path"])),
            vec!["compatible: patch_file: field old_str is optional now"],
        ),
        (
            "/0/inputSchema/required".to_owned(),
            Some(json!(["path", "old_str", "extra"])),
            vec!["breaking: patch_file: new required field extra"],
        ),
        (
            "/0/inputSchema/additionalProperties".to_owned(),
            None,
            vec!["compatible: patch_file: arguments: fields that are not listed are allowed now"],
        ),
        (
            "/1/inputSchema/additionalProperties".to_owned(),
            Some(json!(false)),
            vec!["breaking: read_file: arguments: fields that are not listed are refused now"],
        ),
        (
            format!("{FIELDS}/env/additionalProperties"),
            Some(json!({"type": "integer"})),
            vec!["breaking: patch_file: changed type of field env.* from string to integer"],
        ),
        // Values.
        (
            format!("{FIELDS}/path/type"),
            Some(json!("integer")),
            vec!["breaking: patch_file: changed type of field path from string to integer"],
        ),
        (
            format!("{FIELDS}/path/type"),
            Some(json!(["string", "array"])),
            vec!["compatible: patch_file: widened type of field path from string to array or string"],
        ),
        (
            format!("{FIELDS}/limit/type"),
            Some(json!("number")),
            vec!["compatible: patch_file: widened type of field limit from integer to number"],
        ),
        (
            format!("{FIELDS}/patches/items/properties/text/type"),
            Some(json!("boolean")),
            vec!["breaking: patch_file: changed type of field patches[].text from string to boolean"],
        ),
        (
            format!("{FIELDS}/output/enum"),
            Some(json!(["lines"])),
            vec!["breaking: patch_file: field output has lost \"names\""],
        ),
        (
            format!("{FIELDS}/output/enum"),
            Some(json!(["count", "lines", "names"])),
            vec!["compatible: patch_file: field output has gained \"count\""],
        ),
        (
            format!("{FIELDS}/output/enum"),
            None,
            vec!["compatible: patch_file: field output is not limited to \"lines\", \"names\" any more"],
        ),
        (
            format!("{FIELDS}/path/const"),
            Some(json!("x")),
            vec!["breaking: patch_file: field path takes only \"x\" now"],
        ),
        (
            format!("{FIELDS}/limit/minimum"),
            Some(json!(2)),
            vec!["breaking: patch_file: tightened minimum of field limit from 1 to 2"],
        ),
        (
            format!("{FIELDS}/limit/maximum"),
            Some(json!(99)),
            vec!["breaking: patch_file: tightened maximum of field limit from 100 to 99"],
        ),
        (
            format!("{FIELDS}/limit/maximum"),
            None,
            vec!["compatible: patch_file: loosened maximum of field limit from 100 to none"],
        ),
        (
            format!("{FIELDS}/old_str/minLength"),
            Some(json!(0)),
            vec!["compatible: patch_file: loosened minLength of field old_str from 1 to none"],
        ),
        (
            format!("{FIELDS}/limit/default"),
            Some(json!(10)),
            vec!["compatible: patch_file: changed default of field limit from 50 to 10"],
        ),
        (format!("{FIELDS}/path/description"), None, vec!["compatible: patch_file: changed description of field path"]),
        (
            format!("{FIELDS}/path/pattern"),
            Some(json!("^a")),
            vec!["breaking: patch_file: field path has pattern \"^a\" now"],
        ),
        (
            format!("{FIELDS}/path/deprecated"),
            Some(json!(true)),
            vec!["compatible: patch_file: field path is deprecated now"],
        ),
        (
            format!("{FIELDS}/mode/anyOf/1"),
            None,
            vec![
                "breaking: patch_file: narrowed type of field mode from integer or string to string",
                "breaking: patch_file: changed alternatives of field mode",
            ],
        ),
        (
            "/0/inputSchema/$defs/node/properties/name/type".to_owned(),
            Some(json!("integer")),
            vec!["breaking: patch_file: changed type of field tree.name from string to integer"],
        ),
        // Answers.
        (
            "/0/outputSchema/properties/lines".to_owned(),
            None,
            vec!["breaking: patch_file: widened type of output field lines from integer to any"],
        ),
        ("/0/outputSchema/properties/next".to_owned(), None, vec!["breaking: patch_file: removed output field next"]),
        (
            "/0/outputSchema/properties/more".to_owned(),
            Some(json!({})),
            vec!["compatible: patch_file: added output field more"],
        ),
        (
            "/0/outputSchema/required".to_owned(),
            Some(json!([])),
            vec!["breaking: patch_file: output field lines is optional now"],
        ),
        (
            "/0/outputSchema/properties/kind/enum".to_owned(),
            Some(json!(["a", "b", "c"])),
            vec!["breaking: patch_file: output field kind has gained \"c\""],
        ),
        (
            "/0/outputSchema/properties/kind/enum".to_owned(),
            Some(json!(["a"])),
            vec!["compatible: patch_file: output field kind has lost \"b\""],
        ),
    ] {
        assert_eq!(lines(&published(), &mutated(&place, value.clone())), want, "{place} = {value:?}");
    }
}

#[test]
fn a_renamed_field_is_guessed() {
    for (to, guess) in [("old_string", true), ("find", true), ("a", true)] {
        let mut today = published();
        let schema = &mut today[0]["inputSchema"];
        let field = schema["properties"].as_object_mut().expect("fields").shift_remove("old_str").expect("a field");
        schema["properties"][to] = field;
        schema["required"] = json!(["path", to]);
        let said = if guess { format!(" (renamed to {to}?)") } else { String::new() };
        assert_eq!(
            lines(&published(), &today),
            [
                format!("breaking: patch_file: removed field old_str{said}"),
                format!("breaking: patch_file: new required field {to}")
            ]
        );
    }
}

#[test]
fn shapes_and_wrappers_are_told_apart() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let mcp = json!([{"name": "t", "description": "d", "inputSchema": schema, "outputSchema": {"type": "object"}}]);
    let anthropic = json!([{"name": "t", "description": "d", "input_schema": schema}]);
    let openai = json!([{"type": "function", "function": {"name": "t", "description": "d", "parameters": schema}}]);
    let responses = json!([{"type": "function", "name": "t", "description": "d", "parameters": schema}]);
    let all = [
        mcp.clone(),
        anthropic.clone(),
        openai,
        responses,
        json!({"tools": mcp}),
        json!({"tools": anthropic}),
        json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": mcp}}),
    ];
    for one in &all {
        for other in &all {
            assert_eq!(lines(one, other), Vec::<String>::new(), "{one} {other}");
        }
    }
    let without = json!([{"type": "function", "function": {"name": "t", "description": "d"}}]);
    assert_eq!(lines(&anthropic, &without), ["breaking: t: removed field a"]);
}

#[test]
fn what_is_no_list_is_named_with_the_reason() {
    let good = json!([]);
    for (bad, want) in [
        (json!("x"), "it is neither an array nor an object with an array `tools`"),
        (json!({"tool": []}), "it is neither an array nor an object with an array `tools`"),
        (json!({"tools": {}}), "it is neither an array nor an object with an array `tools`"),
        (json!([7]), "its entry 1 has no name"),
        (json!([{"name": "a", "inputSchema": {}}, {"inputSchema": {}}]), "its entry 2 has no name"),
        (
            json!([{"name": "a"}]),
            "its entry 1 (\"a\") has none of inputSchema (MCP), input_schema (Anthropic), parameters (OpenAI)",
        ),
        (json!([{"name": "a", "input_schema": 1}]), "its entry 1 (\"a\") has a schema that is not an object"),
        (json!([{"name": "a", "inputSchema": {}}, {"name": "a", "inputSchema": {}}]), "it has two tools called \"a\""),
    ] {
        let said = compare(&bad, &good).expect_err("no list").to_string();
        assert_eq!(said, format!("the published list is no list of tools: {want}"));
        let said = compare(&good, &bad).expect_err("no list").to_string();
        assert_eq!(said, format!("the list of today is no list of tools: {want}"));
    }
}

#[test]
fn every_line_is_one_line() {
    let odd = json!([{"name": "a\nb", "inputSchema": {"properties": {"x\ny": {"enum": ["p\nq"]}}}}]);
    let other = json!([{"name": "a\nb", "inputSchema": {"properties": {"x\ny": {"enum": ["r\ns"]}}}}]);
    for line in lines(&odd, &other).into_iter().chain(lines(&odd, &json!([]))) {
        assert!(!line.contains('\n'), "{line}");
    }
}

#[test]
fn references_in_circles_come_to_an_end() {
    let circle = |other: &str| {
        let defs = json!({"n": {"anyOf": [{"type": other}, {"$ref": "#/$defs/n"}]}});
        json!([{"name": "t", "inputSchema": {"type": "object", "properties": {"x": {"$ref": "#/$defs/n"}}, "$defs": defs}}])
    };
    let flat = json!([{"name": "t", "inputSchema": {"type": "object", "properties": {"x": {"type": "string"}}}}]);
    assert_eq!(lines(&circle("string"), &circle("string")), Vec::<String>::new());
    lines(&circle("string"), &circle("integer"));
    lines(&flat, &circle("string"));
    lines(&circle("string"), &flat);
}
