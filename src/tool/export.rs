//! Tools in the shapes that providers and clients want.

use serde_json::{Map, Value, json};

use crate::tool::registry::{Entry, Registry};

/// The `tools` of an MCP `tools/list` result, by name; with `structured`, each says what it answers with.
#[must_use]
pub fn mcp(registry: &Registry, structured: bool) -> Value {
    each(registry, |entry| {
        let spec = entry.spec();
        let mut tool = Map::new();
        tool.insert("name".to_owned(), spec.name.into());
        tool.insert("title".to_owned(), spec.title.into());
        tool.insert("description".to_owned(), entry.description().into());
        tool.insert("inputSchema".to_owned(), entry.input_schema().clone());
        if structured {
            tool.insert("outputSchema".to_owned(), entry.output_schema().clone());
        }
        let hints = entry.annotations();
        let mut annotations = json!({
            "readOnlyHint": hints.read_only_hint,
            "destructiveHint": hints.destructive_hint,
            "openWorldHint": hints.open_world_hint,
        });
        // It is defined only for tools that change something, false if left out, and every word of the list costs a
        // model's context.
        if hints.idempotent_hint && !hints.read_only_hint {
            annotations["idempotentHint"] = true.into();
        }
        tool.insert("annotations".to_owned(), annotations);
        Value::Object(tool)
    })
}

/// The `tools` of a request to Anthropic's Messages API, by name.
#[must_use]
pub fn anthropic(registry: &Registry) -> Value {
    each(registry, |entry| {
        let spec = entry.spec();
        json!({"name": spec.name, "description": entry.description(), "input_schema": entry.input_schema()})
    })
}

/// The `tools` of a request to OpenAI's Chat Completions API and the many that speak it, by name.
#[must_use]
pub fn openai(registry: &Registry) -> Value {
    each(registry, |entry| {
        let spec = entry.spec();
        let function =
            json!({"name": spec.name, "description": entry.description(), "parameters": entry.input_schema()});
        json!({"type": "function", "function": function})
    })
}

fn each(registry: &Registry, shape: impl Fn(&Entry) -> Value) -> Value {
    registry.iter().map(shape).collect()
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    use super::*;
    use crate::model::error::ToolError;
    use crate::tool::contract::compare;
    use crate::tool::view::View;
    use crate::tool::{Card, Effect, Plan, Spec, Tool};

    struct Sample(&'static str, Effect);

    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Words {
        text: String,
    }

    impl Tool for Sample {
        type Args = Words;
        type Output = Words;

        fn spec(&self) -> Spec {
            Spec { name: self.0, title: "Say", description: "Says it.", effect: self.1, paths: &[] }
        }

        async fn plan(&self, _: &View, args: Words) -> Result<Plan<Words>, ToolError> {
            Ok(Plan::Answer(args))
        }

        fn observe(output: &Words) -> String {
            output.text.clone()
        }

        fn present(args: &Words) -> Card {
            Card::new(&args.text)
        }
    }

    fn registry(tools: &[(&'static str, Effect)]) -> Registry {
        let mut registry = Registry::new();
        for (name, effect) in tools {
            registry.register(Sample(name, *effect)).expect("a fit tool");
        }
        registry
    }

    #[test]
    fn each_shape_is_what_its_readers_want() {
        let registry = registry(&[("say", Effect::Reads)]);
        let input = r#"{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}"#;
        let output = r#"{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}"#;
        let hints = r#"{"readOnlyHint":true,"destructiveHint":false,"openWorldHint":false}"#;
        for (made, want) in [
            (
                mcp(&registry, false),
                format!(
                    r#"[{{"name":"say","title":"Say","description":"Says it.","inputSchema":{input},"annotations":{hints}}}]"#
                ),
            ),
            (
                mcp(&registry, true),
                format!(
                    r#"[{{"name":"say","title":"Say","description":"Says it.","inputSchema":{input},"outputSchema":{output},"annotations":{hints}}}]"#
                ),
            ),
            (anthropic(&registry), format!(r#"[{{"name":"say","description":"Says it.","input_schema":{input}}}]"#)),
            (
                openai(&registry),
                format!(
                    r#"[{{"type":"function","function":{{"name":"say","description":"Says it.","parameters":{input}}}}}]"#
                ),
            ),
        ] {
            assert_eq!(made.to_string(), want);
        }
    }

    #[test]
    fn hints_follow_from_the_effect() {
        for (effect, want) in [
            (Effect::Reads, [json!(true), json!(false), json!(null), json!(false)]),
            (Effect::Adds, [json!(false), json!(false), json!(null), json!(false)]),
            (Effect::Replaces { idempotent: true }, [false, true, true, false].map(Value::from)),
            (Effect::Replaces { idempotent: false }, [json!(false), json!(true), json!(null), json!(false)]),
            (Effect::Reaches, [json!(false), json!(true), json!(null), json!(true)]),
        ] {
            let list = mcp(&registry(&[("say", effect)]), false);
            let hints = &list[0]["annotations"];
            let made = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"].map(|hint| &hints[hint]);
            assert_eq!(made, want.each_ref(), "{effect:?}");
        }
    }

    #[test]
    fn lists_are_sorted_always_the_same_and_comparable_across_shapes() {
        let tools = [("b", Effect::Reads), ("a", Effect::Adds), ("c", Effect::Reaches)];
        let mut turned = tools;
        turned.reverse();
        assert_eq!(mcp(&registry(&tools), true).to_string(), mcp(&registry(&turned), true).to_string());
        let list = mcp(&registry(&tools), false);
        assert_eq!([&list[0]["name"], &list[1]["name"], &list[2]["name"]], ["a", "b", "c"]);
        for other in [list.clone(), anthropic(&registry(&tools)), openai(&registry(&tools))] {
            assert_eq!(compare(&list, &other), Ok(Vec::new()));
        }
    }
}
