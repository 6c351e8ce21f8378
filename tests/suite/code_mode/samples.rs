//! Samples for the real TypeScript compiler: types of random schemas, and programs before and after.
//!
//! They are written into the target folder, where `tests/interop/compiler` finds them. The same come out at every run.

use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value, json};
use toolgate::code::strip::erase;
use toolgate::code::typescript::declare;

fn write(name: &str, samples: &[Value]) {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("code-mode");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join(name), serde_json::to_string(samples).expect("JSON")).expect("a file");
}

/// As many values of a strategy, always the same.
fn drawn<S: Strategy>(count: usize, strategy: S) -> impl Iterator<Item = S::Value> {
    let mut runner = TestRunner::deterministic();
    (0..count).map(move |_| strategy.new_tree(&mut runner).expect("a value").current())
}

fn name() -> impl Strategy<Value = String> {
    let names = [
        "a",
        "b",
        "c",
        "my-key",
        "class",
        "new",
        "toString",
        "constructor",
        "valueOf",
        "__proto__",
        "",
        "0",
        "1e3",
        "a`b",
        "*/",
        "\u{202e}x",
        "ü",
        "a b",
        "\"",
        "\\",
        "\n",
        "then",
        "readonly",
        "get",
    ];
    prop::sample::select(names.to_vec()).prop_map(str::to_owned)
}

fn literal() -> impl Strategy<Value = Value> {
    prop::sample::select(literals())
}

fn literals() -> Vec<Value> {
    vec![
        json!(null),
        json!(true),
        json!(0),
        json!(-1),
        json!(-0.0),
        json!(1.5),
        json!(1e300),
        json!(9_007_199_254_740_993_u64),
        json!(""),
        json!("a"),
        json!("*/ ```"),
        json!("\u{2028}`${x}`\u{0}"),
        json!("\"\\\n"),
        json!([]),
        json!([1, "a", [null]]),
        json!({}),
        json!({"a": 1, "my-key": {"b": []}}),
        json!("x".repeat(300)),
    ]
}

/// How a random schema is meant.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Meant {
    /// As a schema.
    Well,
    /// As whatever somebody takes for one.
    Ill,
}

/// A schema.
fn schema(meant: Meant) -> impl Strategy<Value = Value> {
    let types = ["null", "boolean", "string", "number", "integer", "array", "object", "money"];
    let references = ["#", "#/$defs/a", "#/$defs/b", "#/properties/a", "#/nowhere", "other.json", "#anchor", "#/%"];
    let odd = [json!("nonsense"), json!(7), json!({"type": 5}), json!({"properties": []}), json!({"required": "a"})];
    let (types, references, odd, least) = match meant {
        Meant::Well => (&types[..7], &references[..3], vec![json!({})], 1),
        Meant::Ill => (&types[..], &references[..], odd.to_vec(), 0),
    };
    let one_of = |names: &[&'static str]| prop::sample::select(names.to_vec());
    let leaf = prop_oneof![
        Just(json!({})),
        any::<bool>().prop_map(Value::from),
        one_of(types).prop_map(|name| json!({"type": name})),
        prop::collection::btree_set(one_of(types), least..4).prop_map(|names| json!({"type": names})),
        literal().prop_map(|value| json!({"const": value})),
        prop::sample::subsequence(literals(), least..5).prop_map(|values| json!({"enum": values})),
        one_of(references).prop_map(|target| json!({"$ref": target})),
        Just(json!({"type": "string", "minLength": 2, "pattern": "^x"})),
        Just(json!({"type": "string", "nullable": true})),
        prop::sample::select(odd),
    ];
    let node = leaf.prop_recursive(4, 24, 4, move |inner| {
        let many = prop::collection::vec(inner.clone(), least..4);
        prop_oneof![
            (object(inner.clone()), object(inner.clone())).prop_map(|(one, _)| one),
            object(inner.clone()),
            inner.clone().prop_map(|items| json!({"type": "array", "items": items})),
            (many.clone(), 0..3u32, prop::option::of(inner.clone())).prop_map(|(first, least, rest)| {
                let mut schema = json!({"type": "array", "prefixItems": first, "minItems": least});
                rest.into_iter().for_each(|rest| schema["items"] = rest);
                schema
            }),
            (many.clone(), prop::sample::select(vec!["anyOf", "oneOf", "allOf"]))
                .prop_map(|(parts, keyword)| json!({keyword: parts})),
            (object(inner.clone()), many).prop_map(|(mut object, parts)| {
                object["anyOf"] = parts.into();
                object
            }),
            (inner.clone(), inner).prop_map(|(mut one, other)| {
                if let Some(rules) = one.as_object_mut() {
                    rules.insert("allOf".to_owned(), json!([other]));
                }
                one
            }),
        ]
    });
    (node.clone(), node.clone(), node).prop_map(|(mut root, a, b)| {
        if let Some(rules) = root.as_object_mut() {
            rules.insert("$defs".to_owned(), json!({"a": a, "b": b}));
        }
        root
    })
}

fn object(inner: impl Strategy<Value = Value> + Clone) -> impl Strategy<Value = Value> {
    let said = prop::sample::select(vec!["", "Plain.", "*/ evil(); /*", "``` \u{202e} @ts-ignore", "a\r\nb"]);
    let field = (name(), inner.clone(), any::<bool>(), said);
    let others = prop_oneof![
        3 => Just(None),
        2 => Just(Some(json!(false))),
        1 => Just(Some(json!(true))),
        2 => inner.prop_map(Some),
    ];
    (prop::collection::vec(field, 0..4), others, any::<bool>(), any::<bool>()).prop_map(
        |(fields, others, typed, by_pattern)| {
            let mut properties = Map::new();
            let mut required = Vec::new();
            for (name, mut schema, must, said) in fields {
                if let (Some(rules), false) = (schema.as_object_mut(), said.is_empty()) {
                    rules.insert("description".to_owned(), said.into());
                }
                if must && !required.contains(&name) {
                    required.push(name.clone());
                }
                properties.insert(name, schema);
            }
            let mut schema = json!({"properties": properties, "required": required});
            if typed {
                schema["type"] = "object".into();
            }
            others.into_iter().for_each(|others| schema["additionalProperties"] = others);
            if by_pattern && required.is_empty() {
                schema["patternProperties"] = json!({"^x-": {"type": "string"}});
            }
            schema
        },
    )
}

#[test]
fn types_of_random_schemas() {
    let samples: Vec<Value> = drawn(3_000, schema(Meant::Ill))
        .chain(drawn(3_000, schema(Meant::Well)))
        .map(|schema| {
            let declaration = declare("Sample", &schema);
            assert_eq!(declaration, declare("Sample", &schema), "the same at every run");
            assert!(!declaration.contains("```"), "{schema}");
            json!({"schema": schema, "declaration": declaration})
        })
        .collect();
    write("types.json", &samples);
}

fn split(text: &str) -> Vec<&str> {
    text.split("----\n").map(str::trim_end).collect()
}

/// Every kept program alone, and 2,500 made of several of them.
#[test]
fn programs_before_and_after() {
    let kept = split(include_str!("programs.txt"));
    let refused = split(include_str!("refused.txt"));
    let ends = prop::collection::vec(prop::sample::select(vec!["\n", ";\n", "\r\n"]), 4);
    let several = (prop::sample::subsequence(kept.clone(), 2..5).prop_shuffle(), ends);
    let composed = drawn(2_500, several)
        .map(|(parts, ends)| parts.iter().zip(ends).flat_map(|(part, end)| [*part, end]).collect::<String>());
    let nested = kept.iter().map(|program| format!("async function outer() {{\n{program}\n}}"));
    let alone = kept.iter().chain(&refused).map(|program| (*program).to_owned());
    let samples: Vec<Value> = alone
        .chain(nested)
        .chain(composed)
        .map(|program| {
            // With a last statement that is no function, what is erased is all that changes.
            let program = format!("{program}\n;0;");
            match erase(&program) {
                Ok(script) => json!({"program": program, "script": script.text()}),
                Err(fault) => json!({"program": program, "fault": fault.to_string(), "code": is_code(&fault.message)}),
            }
        })
        .collect();
    for program in &refused {
        let fault = erase(program).expect_err(program);
        assert!(is_code(&fault.message), "{program}: {fault}");
    }
    write("erased.json", &samples);
}

/// Whether a program was refused for what it does, and not for how it is written.
fn is_code(message: &str) -> bool {
    [
        "only types are erased",
        "not understood",
        "nothing can be imported",
        "exports nothing",
        "value as Type",
        "put a space",
    ]
    .iter()
    .any(|reason| message.contains(reason))
}
