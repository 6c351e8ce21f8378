//! Declarations of tools, and what is told of them in a small space.

use serde_json::{Value, json};

use super::*;
use crate::tools;

fn built_in() -> Sdk {
    let mut registry = Registry::new();
    tools::register(&mut registry).expect("fit tools");
    Sdk::of(&registry)
}

fn sdk(tools: &[(&str, &str, Value)]) -> Sdk {
    let output = json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
    Sdk::of_tools(tools.iter().map(|(name, description, arguments)| Described {
        name,
        description,
        arguments,
        output: &output,
    }))
}

#[test]
fn the_order_of_registration_does_not_matter() {
    let node = json!({"type": "object", "properties": {"n": {"$ref": "#"}}});
    let mut tools = vec![
        ("b", "B.", json!({})),
        ("a.b", "A.", node.clone()),
        ("a-b", "A.", node.clone()),
        ("A", "", node),
        ("run_code", "", json!({})),
    ];
    let text = sdk(&tools).declarations();
    for _ in 0..tools.len() {
        tools.rotate_left(1);
        assert_eq!(sdk(&tools).declarations(), text);
    }
    assert!(text.contains("type AB_Root = { n?: AB_Root };\n\ntype AB_Root2 = { n?: AB_Root2 };"), "{text}");
    assert!(text.contains("\"a-b\": (args: AB_Root"), "{text}");
    assert!(!text.contains("run_code:"), "a program does not start programs");
}

#[test]
fn nothing_that_is_said_breaks_out() {
    let hostile = "*/ }; ``` evil(); /* \u{202e}";
    let arguments = json!({"type": "object", "properties": {hostile: {"description": hostile, "const": hostile, "default": hostile}}});
    let sdk = sdk(&[("t", hostile, arguments)]);
    for text in [sdk.declarations(), sdk.documentation(BUDGET), sdk.documentation(3_000), sdk.prompt()] {
        assert!(!text.contains('\u{202e}'), "{text}");
        assert!(text.matches("```").count() <= 2, "{text}");
    }
}

#[test]
fn documentation_says_as_much_as_there_is_room_for() {
    let sdk = built_in();
    let whole = sdk.documentation(usize::MAX);
    assert_eq!(whole, sdk.prompt());
    let types = sdk.documentation(BUDGET);
    assert!(types.len() <= BUDGET && types.contains("read_file: (args: { end_line?: number;"), "{types}");
    assert!(types.contains("tools.describe"), "{types}");
    let index = sdk.documentation(2_400);
    assert!(index.len() <= 2_400 && index.contains("- tools.read_file: Read a text file"), "{index}");
    let names = sdk.documentation(index.find("- tools").expect("a tool") + 120);
    assert!(
        names.contains(&format!("tools.{}\n", sdk.names().next().expect("a tool"))) && names.contains(" more, which"),
        "{names}"
    );
    for name in sdk.names() {
        assert!(types.contains(&format!("  {name}: (args")), "{name}");
        let described = sdk.describe(name).expect(name);
        assert!(sdk.declarations().contains(described.lines().nth(2).expect("a member")), "{name}");
    }
}

#[test]
fn a_tool_called_describe_is_itself() {
    let sdk = sdk(&[("describe", "Mine.", json!({"type": "object", "properties": {}, "additionalProperties": false}))]);
    assert!(!sdk.offers_describe());
    assert_eq!(sdk.declarations().matches("describe:").count(), 1);
    assert!(sdk.declarations().contains("describe: (args?: Record<string, never>) => Promise<{ text: string }>;"));
}
