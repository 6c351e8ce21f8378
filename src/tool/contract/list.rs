//! Lists of tools in the three shapes they are published in.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// A JSON document is no list of tools.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the {which} is no list of tools: {why}")]
pub struct NotAToolList {
    which: &'static str,
    why: String,
}

/// A fault of a list, before it is known which.
pub(super) struct BadList(String);

impl BadList {
    pub(super) fn in_the(self, which: &'static str) -> NotAToolList {
        NotAToolList { which, why: self.0 }
    }
}

/// A tool as a list describes it.
pub(super) struct Listed<'a> {
    pub(super) description: &'a str,
    pub(super) title: &'a str,
    pub(super) input: Value,
    pub(super) output: Option<&'a Value>,
    annotations: Option<&'a Value>,
    /// Only MCP's shape has a place for titles, hints and outputs.
    pub(super) can_say_more: bool,
}

impl Listed<'_> {
    /// MCP's hint, or what holds without one.
    pub(super) fn hint(&self, name: &str) -> bool {
        let unsaid = matches!(name, "destructiveHint" | "openWorldHint");
        self.annotations.and_then(|all| all.get(name)?.as_bool()).unwrap_or(unsaid)
    }
}

/// The tools of a list, by name.
pub(super) fn read(list: &Value) -> Result<BTreeMap<&str, Listed<'_>>, BadList> {
    let tools = list.get("tools").or_else(|| list.get("result")?.get("tools")).unwrap_or(list);
    let Value::Array(tools) = tools else {
        return Err(BadList("it is neither an array nor an object with an array `tools`".to_owned()));
    };
    let mut known = BTreeMap::new();
    for (index, tool) in tools.iter().enumerate() {
        let (name, listed) = read_tool(tool).map_err(|why| BadList(format!("its entry {} {why}", index + 1)))?;
        if known.insert(name, listed).is_some() {
            return Err(BadList(format!("it has two tools called {name:?}")));
        }
    }
    Ok(known)
}

fn read_tool(entry: &Value) -> Result<(&str, Listed<'_>), String> {
    // OpenAI has two shapes: Chat Completions wraps the function, Responses does not.
    let tool = entry.get("function").unwrap_or(entry);
    let text = |key: &str| tool.get(key).and_then(Value::as_str);
    let name = text("name").ok_or("has no name")?;
    let mcp = tool.get("inputSchema");
    let openai = entry.get("type").is_some_and(|kind| kind == "function");
    let input = match mcp.or_else(|| tool.get("input_schema")).or_else(|| tool.get("parameters")) {
        Some(schema) if schema.is_object() => schema.clone(),
        Some(_) => return Err(format!("({name:?}) has a schema that is not an object")),
        None if openai => json!({"type": "object", "properties": {}}),
        None => {
            return Err(format!(
                "({name:?}) has none of inputSchema (MCP), input_schema (Anthropic), parameters (OpenAI)"
            ));
        }
    };
    let listed = Listed {
        description: text("description").unwrap_or_default(),
        title: text("title").unwrap_or_default(),
        input,
        output: tool.get("outputSchema"),
        annotations: tool.get("annotations"),
        can_say_more: mcp.is_some(),
    };
    Ok((name, listed))
}
