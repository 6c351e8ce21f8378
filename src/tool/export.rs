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
        tool.insert("description".to_owned(), spec.description.into());
        tool.insert("inputSchema".to_owned(), entry.input_schema().clone());
        if structured {
            tool.insert("outputSchema".to_owned(), entry.output_schema().clone());
        }
        let hints = entry.annotations();
        tool.insert(
            "annotations".to_owned(),
            json!({
                "title": hints.title,
                "readOnlyHint": hints.read_only_hint,
                "destructiveHint": hints.destructive_hint,
                "idempotentHint": hints.idempotent_hint,
                "openWorldHint": hints.open_world_hint,
            }),
        );
        Value::Object(tool)
    })
}

/// The `tools` of a request to Anthropic's Messages API, by name.
#[must_use]
pub fn anthropic(registry: &Registry) -> Value {
    each(registry, |entry| {
        let spec = entry.spec();
        json!({"name": spec.name, "description": spec.description, "input_schema": entry.input_schema()})
    })
}

/// The `tools` of a request to OpenAI's Chat Completions API and the many that speak it, by name.
#[must_use]
pub fn openai(registry: &Registry) -> Value {
    each(registry, |entry| {
        let spec = entry.spec();
        let function = json!({"name": spec.name, "description": spec.description, "parameters": entry.input_schema()});
        json!({"type": "function", "function": function})
    })
}

fn each(registry: &Registry, shape: impl Fn(&Entry) -> Value) -> Value {
    registry.iter().map(shape).collect()
}
