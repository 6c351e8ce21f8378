//! Arguments and what becomes of them.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{LISTED, Validator};
use crate::tool::samples;
use crate::tool::schema::faults_error;

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "start_line": {"type": "integer", "minimum": 1, "maximum": 100},
            "ratio": {"type": "number", "minimum": 0.5},
            "dry_run": {"type": "boolean", "default": false},
            "name": {"type": "string", "minLength": 1, "maxLength": 5},
            "output": {"type": "string", "enum": ["lines", "names"]},
            "fixed": {"const": 5},
            "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 3},
            "patches": {"type": "array", "items": {
                "type": "object",
                "properties": {"old_str": {"type": "string"}, "count": {"type": "integer"}},
                "required": ["old_str"],
                "additionalProperties": false,
            }},
            "options": {"type": "object", "properties": {"deep": {"type": "integer"}}, "additionalProperties": false},
            "env": {"type": "object", "additionalProperties": {"type": "integer"}},
            "either": {"type": ["string", "array"]},
            "count_or_flag": {"type": ["integer", "boolean"]},
            "nullable": {"type": ["integer", "null"]},
            "any": {},
        },
        "required": ["path"],
        "additionalProperties": false,
    })
}

fn check(schema: Value, arguments: Value) -> Result<Value, Vec<String>> {
    Validator::new(Arc::new(schema))
        .check(arguments)
        .map_err(|faults| faults.iter().map(ToString::to_string).collect::<Vec<_>>())
}

/// The field `name`, beside the one that is required.
fn with(name: &str, value: Value) -> Value {
    json!({"path": "p", name: value})
}

#[test]
fn slips_without_doubt_are_mended() {
    for (name, given, want) in [
        ("start_line", json!("5"), json!(5)),
        ("start_line", json!(5.0), json!(5)),
        ("start_line", json!(" 5 "), json!(5)),
        ("patches", json!([{"old_str": "a", "count": "-3"}]), json!([{"old_str": "a", "count": -3}])),
        ("ratio", json!("7"), json!(7)),
        ("ratio", json!(0.75), json!(0.75)),
        ("dry_run", json!("true"), json!(true)),
        ("dry_run", json!("false"), json!(false)),
        ("tags", json!("[\"a\", \"b\"]"), json!(["a", "b"])),
        ("patches", json!("[{\"old_str\": \"a\", \"count\": \"3\"}]"), json!([{"old_str": "a", "count": 3}])),
        ("patches", json!(["{\"old_str\": \"[1]\"}"]), json!([{"old_str": "[1]"}])),
        ("options", json!("{\"deep\": 1}"), json!({"deep": 1})),
        ("env", json!({"A": "1"}), json!({"A": 1})),
        ("count_or_flag", json!("true"), json!(true)),
        ("count_or_flag", json!("3"), json!(3)),
    ] {
        assert_eq!(check(schema(), with(name, given.clone())), Ok(with(name, want)), "{name}: {given}");
    }
}

#[test]
fn what_is_right_stays_as_it_is() {
    for (name, value) in [
        ("path", json!("{\"a\": 1}")),
        ("path", json!("[1]")),
        ("path", json!("5")),
        ("path", json!("true")),
        ("path", json!("")),
        ("either", json!("[\"a\"]")),
        ("any", json!("[1]")),
        ("any", json!(5.0)),
        ("any", json!(null)),
        ("nullable", json!(null)),
        ("fixed", json!(5.0)),
        ("ratio", json!(5.0)),
        ("name", json!("fünf5")),
        ("start_line", json!(100)),
        ("env", json!({})),
    ] {
        let arguments = with(name, value);
        assert_eq!(check(schema(), arguments.clone()), Ok(arguments));
    }
}

#[test]
fn null_for_an_optional_field_is_leaving_it_out() {
    let given = json!({"path": "p", "dry_run": null, "start_line": null, "output": null, "options": {"deep": null}});
    assert_eq!(check(schema(), given), Ok(json!({"path": "p", "options": {}})));
    assert_eq!(
        check(schema(), json!({"path": null, "tags": [null]})),
        Err(vec!["path: expected a string, got null".to_owned(), "tags[0]: expected a string, got null".to_owned()])
    );
    let choice = json!({"type": "object", "properties": {"x": {"anyOf": [{"type": "string"}, {"type": "array"}]}}});
    assert_eq!(check(choice, json!({"x": null})), Ok(json!({})));
}

#[test]
fn whole_arguments_may_come_as_text() {
    assert_eq!(check(schema(), json!("{\"path\": \"a.txt\"}")), Ok(json!({"path": "a.txt"})));
    for (given, want) in [
        (json!(null), "args must be an object, got null"),
        (json!(7), "args must be an object, got number 7"),
        (json!([{"path": "a"}]), "args must be an object, got an array of 1"),
        (json!("a.txt"), "args must be an object, got string \"a.txt\""),
        (json!("[1]"), "args must be an object, got string \"[1]\""),
        (
            json!("{\"path\": \"a\", \"path\": \"b\"}"),
            "args must be an object, got string \"{\\\"path\\\": \\\"a\\\", \\\"path\\\": \\\"b\\\"}\" \
             (the key \"path\" occurs twice in one object; readers differ on which one counts, so neither does (line 1, column 20))",
        ),
    ] {
        assert_eq!(check(schema(), given), Err(vec![want.to_owned()]));
    }
}

#[test]
fn each_fault_is_a_sentence_that_names_the_field() {
    let long = "x".repeat(100);
    for (name, value, want) in [
        ("path", json!(7), "path: expected a string, got number 7"),
        ("path", json!({"a": 1}), "path: expected a string, got an object"),
        ("path", json!(["a"]), "path: expected a string, got an array of 1"),
        ("start_line", json!("12px"), "start_line: expected an integer, got string \"12px\""),
        ("start_line", json!("1e4"), "start_line: expected an integer, got string \"1e4\""),
        ("start_line", json!(""), "start_line: expected an integer, got string \"\""),
        ("start_line", json!("5.9"), "start_line: expected an integer, got string \"5.9\""),
        ("start_line", json!("+5"), "start_line: expected an integer, got string \"+5\""),
        ("start_line", json!("-0"), "start_line: expected an integer, got string \"-0\""),
        ("start_line", json!("05"), "start_line: expected an integer, got string \"05\""),
        ("start_line", json!("5 6"), "start_line: expected an integer, got string \"5 6\""),
        ("start_line", json!("٥"), "start_line: expected an integer, got string \"٥\""),
        ("start_line", json!(5.9), "start_line: expected an integer, got number 5.9"),
        ("start_line", json!(1e300), "start_line: expected an integer, got number 1e+300"),
        ("start_line", json!(true), "start_line: expected an integer, got boolean true"),
        ("start_line", json!([5]), "start_line: expected an integer, got an array of 1"),
        ("start_line", json!(0), "start_line: must be at least 1, got 0"),
        ("start_line", json!("0"), "start_line: must be at least 1, got 0"),
        ("start_line", json!(-1), "start_line: must be at least 1, got -1"),
        ("start_line", json!(u64::MAX), "start_line: must be at most 100, got 18446744073709551615"),
        ("ratio", json!(0.25), "ratio: must be at least 0.5, got 0.25"),
        ("dry_run", json!("yes"), "dry_run: expected a boolean, got string \"yes\""),
        ("dry_run", json!("True"), "dry_run: expected a boolean, got string \"True\""),
        ("dry_run", json!(1), "dry_run: expected a boolean, got number 1"),
        ("name", json!(""), "name: must not be empty"),
        ("name", json!("fünf66"), "name: takes at most 5 characters, got 6"),
        (
            "output",
            json!("line"),
            "output: must be one of \"lines\", \"names\", got string \"line\" (did you mean \"lines\"?)",
        ),
        ("fixed", json!(6), "fixed: must be 5, got number 6"),
        ("tags", json!([]), "tags: needs at least 1 item, got 0"),
        ("tags", json!(["a", "b", "c", "d"]), "tags: takes at most 3 items, got 4"),
        ("tags", json!(["a", 2]), "tags[1]: expected a string, got number 2"),
        ("tags", json!("a"), "tags: expected an array, got string \"a\""),
        (
            "tags",
            json!("[\"a\""),
            "tags: expected an array, got string \"[\\\"a\\\"\" (the JSON is cut off: EOF while parsing a list (line 1, column 4))",
        ),
        ("patches", json!([{"old_str": "a"}, {"old_str": 3}]), "patches[1].old_str: expected a string, got number 3"),
        ("patches", json!([{}]), "missing required field: patches[0].old_str"),
        (
            "patches",
            json!([{"old_str": "a", "oldstr": ""}]),
            "unknown field: patches[0].oldstr (did you mean old_str?)",
        ),
        ("env", json!({"a b": "x"}), "env[\"a b\"]: expected an integer, got string \"x\""),
        ("either", json!(7), "either: expected a string or an array, got number 7"),
        ("pth", json!("a"), "unknown field: pth (did you mean path?)"),
        ("zebra", json!(null), "unknown field: zebra"),
        ("start_line", json!(long), &format!("start_line: expected an integer, got string \"{}…\"", &long[..60])),
    ] {
        assert_eq!(check(schema(), with(name, value)), Err(vec![want.to_owned()]));
    }
}

#[test]
fn all_faults_come_at_once_and_are_capped() {
    assert_eq!(
        check(schema(), json!({"pth": "a", "start_line": 0, "dry_run": "maybe", "options": {"x": 1}})),
        Err(vec![
            "missing required field: path".to_owned(),
            "unknown field: pth (did you mean path?)".to_owned(),
            "start_line: must be at least 1, got 0".to_owned(),
            "dry_run: expected a boolean, got string \"maybe\"".to_owned(),
            "unknown field: options.x".to_owned(),
        ])
    );
    let many = json!({"type": "object", "properties": {"n": {"type": "array", "items": {"type": "string"}}}});
    let faults = check(many, json!({"n": vec![1; 1000]})).expect_err("faults");
    assert_eq!((faults.len(), faults[LISTED].as_str()), (LISTED + 1, "and 980 more"));
}

#[test]
fn the_error_lists_everything_and_says_what_to_do() {
    let validator = Validator::new(Arc::new(schema()));
    let error = faults_error(&validator.check(json!({"pth": 1, "dry_run": 1})).expect_err("faults"));
    assert_eq!(
        error.to_string(),
        "invalid_arguments: the arguments do not fit this tool:\n\
         - missing required field: path\n\
         - unknown field: pth (did you mean path?)\n\
         - dry_run: expected a boolean, got number 1\n\
         Nothing was done; correct all of them and call again."
    );
    assert_eq!(
        error.details["faults"],
        json!([
            {"field": "path", "problem": "missing required field"},
            {"field": "pth", "problem": "unknown field (did you mean path?)"},
            {"field": "dry_run", "problem": "expected a boolean, got number 1"},
        ])
    );
    let one = faults_error(&validator.check(json!({})).expect_err("a fault"));
    assert_eq!(one.message, "missing required field: path. Nothing was done; correct it and call again.");
}

#[test]
fn other_keywords_are_checked_in_full() {
    let schema = json!({
        "type": "object",
        "properties": {
            "code": {"type": "string", "pattern": "^[a-z]+$"},
            "even": {"type": "integer", "multipleOf": 2, "minimum": 1},
            "kind": {"oneOf": [
                {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
                {"type": "integer"},
            ]},
            "pair": {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}]},
            "items": {"type": "array", "uniqueItems": true},
        },
        "patternProperties": {"^x-": {"type": "integer"}},
        "required": ["code"],
        "additionalProperties": false,
    });
    assert_eq!(
        check(schema.clone(), json!({"code": "abc", "even": 4, "x-a": 1})),
        Ok(json!({"code": "abc", "even": 4, "x-a": 1}))
    );
    for (arguments, want) in [
        (json!({"code": "A1"}), vec!["code: the value does not match \"^[a-z]+$\""]),
        (json!({}), vec!["missing required field: code"]),
        (json!({"code": 7}), vec!["code: expected a string, got number 7"]),
        (
            json!({"code": "a", "even": -1}),
            vec!["even: must be at least 1, got -1", "even: the value is not a multiple of 2"],
        ),
        (
            json!({"code": "a", "kind": "x"}),
            vec!["kind: the value is not valid under any of the schemas listed in the 'oneOf' keyword"],
        ),
        (json!({"code": "a", "pair": [1, 2]}), vec!["pair[1]: the value is not of type \"string\""]),
        (json!({"code": "a", "items": [1, 1]}), vec!["items: the value has non-unique elements"]),
        (json!({"code": "a", "x-b": "x"}), vec!["x-b: the value is not of type \"integer\""]),
        (json!({"code": "a", "evn": 2}), vec!["unknown field: evn (did you mean even?)"]),
    ] {
        assert_eq!(
            check(schema.clone(), arguments.clone()),
            Err(want.iter().map(|s| (*s).to_owned()).collect()),
            "{arguments}"
        );
    }
}

#[test]
fn references_are_followed_and_a_faulty_schema_lets_nothing_through() {
    let tree = json!({
        "type": "object",
        "properties": {"root": {"$ref": "#/$defs/node"}},
        "$defs": {"node": {
            "type": "object",
            "properties": {"n": {"type": "integer"}, "kids": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
            "required": ["n"],
        }},
    });
    assert_eq!(
        check(tree.clone(), json!({"root": {"n": "1", "kids": [{"n": "2"}]}})),
        Ok(json!({"root": {"n": 1, "kids": [{"n": 2}]}}))
    );
    assert_eq!(
        check(tree, json!({"root": {"n": 1, "kids": [{"kids": 1}]}})),
        Err(vec![
            "missing required field: root.kids[0].n".to_owned(),
            "root.kids[0].kids: expected an array, got number 1".to_owned()
        ])
    );
    let circle =
        json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"$ref": "#/$defs/a"}}});
    assert_eq!(check(circle, json!({"x": 1})), Err(vec!["x: is nested too deeply".to_owned()]));
    let faulty = json!({"type": "object", "properties": {"x": {"pattern": "("}}});
    let faults = check(faulty, json!({})).expect_err("a fault");
    assert!(faults[0].starts_with("args: cannot be checked, since the tool's own schema is faulty"), "{faults:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// The judge is another implementation: what it takes stays as it is, and what is mended it takes.
    #[test]
    fn the_walk_and_the_full_validator_agree(
        schema in samples::schema(), values in prop::collection::vec(samples::instance(), 16),
    ) {
        let schema = json!({"type": "object", "properties": {"x": schema}, "additionalProperties": false});
        let full = jsonschema::draft202012::new(&schema).expect("a validator");
        for value in values {
            let given = json!({"x": value});
            let checked = check(schema.clone(), given.clone());
            if full.is_valid(&given) {
                prop_assert_eq!(checked, Ok(given), "{}", schema);
            } else if let Ok(mended) = checked {
                prop_assert!(full.is_valid(&mended), "{} {} {}", schema, given, mended);
            }
        }
    }
}
