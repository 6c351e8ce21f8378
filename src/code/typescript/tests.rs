//! Schemas and their types.

use serde_json::{Value, json};

use super::*;

/// The type of a schema, and the declarations beside it, on one line each.
fn text(schema: &Value) -> String {
    let Projection { root, aliases } = project(schema, "tool", &mut Taken::new());
    let mut lines: Vec<String> =
        aliases.iter().map(|(name, alias)| format!("type {name} = {};", alias.render(0, Comments::None))).collect();
    lines.push(root.render(0, Comments::None));
    lines.join("\n")
}

#[test]
fn every_keyword_says_what_typescript_can_say() {
    for (schema, want) in [
        (json!(true), "unknown"),
        (json!({}), "unknown"),
        (json!("no schema"), "unknown"),
        (json!(false), "never"),
        (json!({"not": {}}), "never"),
        (json!({"type": "integer"}), "number"),
        (json!({"type": ["string", "null"]}), "string | null"),
        (json!({"type": "string", "nullable": true}), "string | null"),
        (json!({"type": "money"}), "unknown"),
        (json!({"type": 5}), "unknown"),
        (json!({"const": "a\"b"}), r#""a\"b""#),
        (json!({"const": {"b": 1, "a": [true, null]}}), "{ a: [true, null]; b: 1 }"),
        (json!({"enum": ["a", 1, null]}), r#""a" | 1 | null"#),
        (json!({"type": "string", "enum": ["a", null]}), r#""a""#),
        (json!({"enum": []}), "never"),
        (json!({"enum": (0..65).collect::<Vec<_>>()}), "number"),
        (json!({"const": 9_007_199_254_740_993_u64}), "number"),
        (json!({"const": -0.0}), "0"),
        (json!({"type": "array"}), "unknown[]"),
        (json!({"items": {"type": "string"}}), "string[]"),
        (json!({"type": "array", "items": {"type": ["string", "null"]}}), "Array<string | null>"),
        (json!({"type": "array", "items": false}), "never[]"),
        (
            json!({"type": "array", "prefixItems": [{"type": "string"}, {"enum": [1, 2]}], "minItems": 1, "items": false}),
            "[string, (1 | 2)?]",
        ),
        (json!({"type": "array", "items": [{"type": "string"}], "minItems": 1}), "[string, ...unknown[]]"),
        (
            json!({"type": "array", "prefixItems": [{}], "items": {"type": ["string", "null"]}}),
            "[unknown?, ...(string | null)[]]",
        ),
        (json!({"type": "object"}), "{ [key: string]: unknown }"),
        (json!({"type": "object", "additionalProperties": false}), "Record<string, never>"),
        (json!({"type": "object", "additionalProperties": {"type": "string"}}), "{ [key: string]: string }"),
        (
            json!({"properties": {"b": {"type": "string"}, "a": {}}, "required": ["a", "c"]}),
            "{ a: unknown; b?: string; c: unknown }",
        ),
        (
            json!({"properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "number"}}),
            "{ a?: string; [key: string]: unknown }",
        ),
        (
            json!({"properties": {"a": {"type": "string"}}, "patternProperties": {"^x": {}}, "additionalProperties": false}),
            "{ a?: string; [key: string]: unknown }",
        ),
        (
            json!({"properties": {"my-key": {}, "class": {}, "": {}, "a`\u{202e}": {}}, "additionalProperties": false}),
            r#"{ ""?: unknown; "a\u0060\u202e"?: unknown; class?: unknown; "my-key"?: unknown }"#,
        ),
        (json!({"properties": {"toString": {"type": "string"}}}), "{ toString?: unknown }"),
        (json!({"anyOf": [{"type": "string"}, {"type": "number"}]}), "string | number"),
        (json!({"oneOf": [{"type": "string"}, {}]}), "unknown"),
        (json!({"allOf": [{"type": "string"}, {}]}), "string"),
        (
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}),
            "{ a?: string } & ({ a: unknown } | { b: unknown })",
        ),
        (
            json!({"properties": {"a": {"type": "string"}}, "anyOf": [{"properties": {"b": {}}}, true]}),
            "{ a?: string; [key: string]: unknown }",
        ),
        (
            json!({"properties": {"a": {"type": "string"}}, "allOf": [{"type": "object"}]}),
            "{ a?: string; [key: string]: unknown }",
        ),
        (json!({"type": "array", "items": {"anyOf": [{"const": 1}, {"const": 2}]}}), "Array<1 | 2>"),
        (json!({"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}}), "string"),
        (json!({"$ref": "#/$defs/a%2Fb~1c", "$defs": {"a/b/c": {"type": "string"}}}), "unknown"),
        (json!({"$ref": "#/$defs/a~1b%20c", "$defs": {"a/b c": {"type": "string"}}}), "string"),
        (json!({"$ref": "https://example.org/a"}), "unknown"),
        (json!({"$ref": "#anchor"}), "unknown"),
        (json!({"$ref": "#/nothing"}), "unknown"),
    ] {
        assert_eq!(text(&schema), want, "{schema}");
    }
}

#[test]
fn what_refers_to_itself_gets_a_name() {
    for (schema, want) in [
        (
            json!({"type": "object", "properties": {"next": {"$ref": "#"}}}),
            "type Tool_Root = { next?: Tool_Root };\nTool_Root",
        ),
        (
            json!({
                "type": "object",
                "properties": {"a": {"$ref": "#/$defs/node"}, "b": {"$ref": "#/$defs/node"}},
                "$defs": {"node": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"$ref": "#/$defs/node"}}]}},
            }),
            "type Tool_Node = string | Tool_Node[];\n{ a?: Tool_Node; b?: Tool_Node }",
        ),
        // Nothing lies between, so it says nothing.
        (json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}), "unknown"),
        (json!({"anyOf": [{"$ref": "#"}, {"type": "string"}]}), "unknown"),
        (
            json!({"$ref": "#/$defs/a", "$defs": {
                "a": {"anyOf": [{"type": "array", "items": {"$ref": "#/$defs/b"}}]},
                "b": {"allOf": [{"type": "array", "items": {"$ref": "#/$defs/a"}}, {"$ref": "#/$defs/a"}]},
            }}),
            "type Tool_A = Tool_A[] & Tool_A[];\nTool_A",
        ),
    ] {
        assert_eq!(text(&schema), want.replace("Tool_A[] & Tool_A[]", "Array<Tool_A[] & Tool_A>"), "{schema}");
    }
}

#[test]
fn small_schemas_that_grow_without_end_come_to_an_end() {
    let mut wide = json!({"type": "string"});
    for _ in 0..100 {
        wide = json!({"type": "array", "items": wide});
    }
    assert!(text(&wide).contains("unknown[]"));
    let mut defs = serde_json::Map::new();
    for at in 0..60 {
        let next = json!({"$ref": format!("#/$defs/d{}", at + 1)});
        defs.insert(format!("d{at}"), json!({"type": "object", "properties": {"a": next, "b": next, "c": next}}));
    }
    assert!(text(&json!({"$ref": "#/$defs/d0", "$defs": defs})).contains("unknown"));
    let many: Vec<Value> =
        (0..40).map(|at| json!({"properties": {format!("p{at}"): {}}, "required": [format!("p{at}")]})).collect();
    let product =
        json!({"allOf": [{"anyOf": many}, {"anyOf": many.iter().rev().collect::<Vec<_>>()}, {"oneOf": many}]});
    assert_eq!(text(&product).matches(" & ").count(), 0, "64,000 ways are more than a compiler takes");
}

#[test]
fn comments_end_neither_themselves_nor_a_fence() {
    for (said, want) in [
        ("a */ b", Some(r"a *\/ b")),
        ("*\u{200b}/", Some(r"*\/")),
        ("```\nrm\n```", Some("''' rm '''")),
        ("``\u{feff}`", Some("'''")),
        ("````", Some("'''`")),
        ("a\r\n\tb  c\u{0}d", Some("a b c d")),
        (" \n", None),
    ] {
        assert_eq!(text::comment(said).as_deref(), want, "{said:?}");
    }
    assert_eq!(text::comment(&"x".repeat(700)).map(|line| line.chars().count()), Some(601));
    for (said, first) in [
        ("Read a file, e.g. this. Then more.", "Read a file, e.g. this"),
        ("Find files: by name.", "Find files"),
        ("Find *.rs; then more", "Find *.rs"),
        ("No end", "No end"),
    ] {
        assert_eq!(text::first_sentence(said).as_deref(), Some(first));
    }
}
