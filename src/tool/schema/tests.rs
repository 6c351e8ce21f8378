//! What schemas look like once they leave the house.
#![allow(dead_code, reason = "these types are here for their schemas")]

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{SchemaFault, arguments_schema, output_schema};

/// A type's own words, which are for programmers.
#[derive(Deserialize, JsonSchema)]
struct Everything {
    /// Which file.
    path: String,
    count: u64,
    small: Option<u8>,
    ratio: Option<f64>,
    signed: Option<i32>,
    size: Option<usize>,
    #[serde(default)]
    flag: bool,
    /// How to show it.
    mode: Option<Mode>,
    plain: Option<Plain>,
    anything: Option<Value>,
    raw: Value,
    #[schemars(length(min = 1, max = 9))]
    edits: Vec<Edit>,
    more: Option<Box<Edit>>,
    labels: Option<HashMap<String, u32>>,
    pair: Option<(i64, String)>,
    choice: Option<Choice>,
}

#[derive(Deserialize, JsonSchema)]
struct Edit {
    old_str: String,
    new_str: Option<String>,
}

/// How results are shown.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Mode {
    /// The lines
    /// themselves.
    Lines,
    /// Names only.
    Names,
    Count,
}

#[derive(Serialize, Deserialize, JsonSchema)]
enum Plain {
    A,
    B,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind")]
enum Choice {
    Line { number: u32 },
    Text { text: String },
}

#[derive(Deserialize, JsonSchema)]
struct Node {
    name: String,
    children: Vec<Node>,
}

#[derive(Deserialize, JsonSchema)]
struct Forest {
    tree: Node,
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

#[derive(Deserialize, JsonSchema)]
struct Unit;

#[derive(Deserialize, JsonSchema)]
struct Flat {
    path: String,
    #[serde(flatten)]
    edit: Edit,
}

#[derive(Deserialize, JsonSchema)]
struct FlatChoice {
    path: String,
    #[serde(flatten)]
    choice: Choice,
}

fn arguments<T: JsonSchema>() -> Value {
    arguments_schema::<T>().expect("a schema")
}

/// Every schema inside a schema, its own included.
fn each(schema: &Value, see: &mut dyn FnMut(&Value)) {
    see(schema);
    let Some(rules) = schema.as_object() else { return };
    for (keyword, value) in rules {
        match (keyword.as_str(), value) {
            ("properties" | "$defs", Value::Object(all)) => all.values().for_each(|one| each(one, see)),
            ("items" | "additionalProperties", one) => each(one, see),
            ("oneOf" | "anyOf" | "prefixItems", Value::Array(all)) => all.iter().for_each(|one| each(one, see)),
            _ => {}
        }
    }
}

#[test]
fn fields_come_out_plain() {
    let schema = arguments::<Everything>();
    let edit = json!({
        "type": "object",
        "properties": {"old_str": {"type": "string"}, "new_str": {"type": "string"}},
        "required": ["old_str"],
        "additionalProperties": false,
    });
    for (field, want) in [
        ("path", json!({"description": "Which file.", "type": "string"})),
        ("count", json!({"type": "integer", "minimum": 0})),
        ("small", json!({"type": "integer", "minimum": 0, "maximum": 255})),
        ("ratio", json!({"type": "number"})),
        ("signed", json!({"type": "integer"})),
        ("size", json!({"type": "integer", "minimum": 0})),
        ("flag", json!({"type": "boolean", "default": false})),
        (
            "mode",
            json!({
                "description": "How to show it.\n\n- `lines`: The lines themselves.\n- `names`: Names only.",
                "type": "string",
                "enum": ["count", "lines", "names"],
            }),
        ),
        ("plain", json!({"type": "string", "enum": ["A", "B"]})),
        ("anything", json!({})),
        ("raw", json!({})),
        ("edits", json!({"type": "array", "items": edit, "minItems": 1, "maxItems": 9})),
        ("more", edit.clone()),
        ("labels", json!({"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}})),
        (
            "pair",
            json!({
                "type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "minItems": 2, "maxItems": 2,
            }),
        ),
    ] {
        assert_eq!(schema["properties"][field], want, "{field}");
    }
    assert_eq!(schema["required"], json!(["path", "count", "raw", "edits"]));
    assert_eq!(schema["additionalProperties"], json!(false));
    let branches = schema["properties"]["choice"]["oneOf"].as_array().expect("a choice");
    assert!(branches.iter().all(|branch| branch["additionalProperties"] == json!(false)), "{branches:?}");
    assert!(schema["properties"]["choice"].get("default").is_none());
}

#[test]
fn roots_are_plain_objects_with_their_words_in_order() {
    for schema in [arguments::<Everything>(), arguments::<Nothing>(), arguments::<Node>(), arguments::<Flat>()] {
        let words: Vec<&str> = schema.as_object().expect("an object").keys().map(String::as_str).collect();
        assert_eq!(words[..2], ["type", "properties"], "{schema}");
        assert!(!words.iter().any(|word| matches!(*word, "$schema" | "title" | "description" | "$ref")), "{words:?}");
    }
    assert_eq!(arguments::<Nothing>().to_string(), r#"{"type":"object","properties":{},"additionalProperties":false}"#);
    let first: Vec<String> =
        arguments::<Everything>()["properties"].as_object().expect("fields").keys().take(3).cloned().collect();
    assert_eq!(first, ["path", "count", "small"], "as declared");
}

#[test]
fn no_schema_stumbles_over_a_format_a_reference_or_a_bare_true() {
    for schema in [arguments::<Everything>(), output_schema::<Report>().expect("a schema")] {
        each(&schema, &mut |one| {
            if let Some(rules) = one.as_object() {
                assert!(!rules.contains_key("format") && !rules.contains_key("$ref"), "{one}");
            } else {
                assert_eq!(one, &json!(false), "only additionalProperties may be bare");
            }
        });
        assert!(jsonschema::draft202012::meta::is_valid(&schema), "{schema}");
    }
}

#[test]
fn the_same_type_gives_the_same_bytes() {
    let bytes = || serde_json::to_vec(&arguments::<Everything>()).expect("JSON");
    let first = bytes();
    assert!((0..20).all(|_| bytes() == first));
}

#[test]
fn flattened_fields_are_listed_and_recursive_types_stay_references() {
    let flat = arguments::<Flat>();
    assert_eq!(flat["additionalProperties"], json!(false));
    assert_eq!(flat["required"], json!(["path", "old_str"]));
    let node = arguments::<Node>();
    assert_eq!(node["properties"]["children"]["items"], json!({"$ref": "#"}));
    let forest = arguments::<Forest>();
    let children = json!({"type": "array", "items": {"$ref": "#/$defs/Node"}});
    assert_eq!(forest["properties"]["tree"]["properties"]["children"], children, "{forest}");
    assert_eq!(forest["$defs"]["Node"]["additionalProperties"], json!(false), "{forest}");
}

#[test]
fn refused_roots_are_named_with_the_cure() {
    let combined = |type_name: &str| SchemaFault::Combined { type_name: type_name.to_owned(), keyword: "oneOf" };
    let no_object = |type_name: &str, found: &str| SchemaFault::NotAnObject {
        type_name: type_name.to_owned(),
        found: found.to_owned(),
    };
    for (made, want) in [
        (arguments_schema::<Choice>(), combined("Choice")),
        (arguments_schema::<FlatChoice>(), combined("FlatChoice")),
        (arguments_schema::<Mode>(), no_object("Mode", "a string")),
        (arguments_schema::<Unit>(), no_object("Unit", "null")),
        (arguments_schema::<()>(), no_object("null", "null")),
        (arguments_schema::<String>(), no_object("string", "a string")),
        (arguments_schema::<Vec<u8>>(), no_object("Array_of_uint8", "an array")),
        (arguments_schema::<Value>(), no_object("AnyValue", "anything")),
        (arguments_schema::<Option<Edit>>(), no_object("Nullable_Edit", "an object or null")),
    ] {
        assert_eq!(made, Err(want));
    }
    assert_eq!(
        arguments_schema::<Choice>().expect_err("a fault").to_string(),
        "Choice has oneOf at the root of its schema, which model providers refuse; \
         use a struct, and put the enum into one of its fields"
    );
    assert!(arguments_schema::<serde_json::Map<String, Value>>().is_ok(), "free-form objects are objects");
}

#[derive(Serialize, JsonSchema)]
struct Report {
    lines: u64,
    next: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
    mode: Mode,
}

#[test]
fn outputs_are_described_as_they_are_written() {
    let schema = output_schema::<Report>().expect("a schema");
    assert_eq!(schema["properties"]["next"], json!({"type": ["integer", "null"], "minimum": 0}), "null is written");
    assert_eq!(schema["properties"]["warning"], json!({"type": "string"}), "left out");
    assert_eq!(schema["properties"]["mode"]["enum"], json!(["count", "lines", "names"]));
    assert_eq!(schema["required"], json!(["lines", "next", "mode"]));
    assert!(schema.get("additionalProperties").is_none(), "fields may be added");

    let choice = output_schema::<Choice>().expect("a choice between objects is an object");
    assert_eq!((&choice["type"], choice["oneOf"].as_array().map(Vec::len)), (&json!("object"), Some(2)));
    assert!(output_schema::<Vec<String>>().is_err());
}
