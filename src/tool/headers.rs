//! Arguments that a client repeats in a header of its request: `x-mcp-header` in a tool's schema (MCP 2026-07-28,
//! basic/transports/streamable-http).

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// The keyword that names the header.
const KEYWORD: &str = "x-mcp-header";

/// A schema names a header that no client could send.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HeaderFault {
    /// It is not the name of a header.
    #[error("{0} is no name for a header: it takes letters, digits and - _ . ! # $ % & ' * + ^ ` | ~")]
    BadName(String),
    /// Two arguments have the same one; case does not tell them apart.
    #[error("two arguments are repeated in the header {0}")]
    Twice(String),
    /// The argument is no text, integer or boolean.
    #[error("{0} is repeated in a header, but is not a text, an integer or a boolean")]
    BadType(String),
    /// It is not in the same place in every call: below a list, a choice or a reference.
    #[error("a header can repeat only what every call has in the same place, not what lies in {0}")]
    BadPlace(String),
}

/// Checks the headers that a schema of arguments names.
///
/// # Errors
/// See [`HeaderFault`].
pub fn check(schema: &Value) -> Result<(), HeaderFault> {
    properties(schema, &mut BTreeSet::new())
}

fn properties(schema: &Value, taken: &mut BTreeSet<String>) -> Result<(), HeaderFault> {
    let Some(rules) = schema.as_object() else { return Ok(()) };
    for (keyword, value) in rules.iter().filter(|(keyword, _)| *keyword != "properties" && *keyword != KEYWORD) {
        if names_a_header(value) {
            return Err(HeaderFault::BadPlace(keyword.clone()));
        }
    }
    for (name, property) in rules.get("properties").and_then(Value::as_object).into_iter().flatten() {
        if let Some(header) = property.get(KEYWORD) {
            one(name, header, property, taken)?;
        }
        properties(property, taken)?;
    }
    Ok(())
}

fn one(name: &str, header: &Value, property: &Value, taken: &mut BTreeSet<String>) -> Result<(), HeaderFault> {
    let sound = |text: &&str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
    };
    let text = header.as_str().filter(sound).ok_or_else(|| HeaderFault::BadName(header.to_string()))?;
    if !matches!(property["type"].as_str(), Some("string" | "integer" | "boolean")) {
        return Err(HeaderFault::BadType(name.to_owned()));
    }
    if taken.insert(text.to_ascii_lowercase()) { Ok(()) } else { Err(HeaderFault::Twice(text.to_owned())) }
}

/// Whether the keyword stands anywhere in there as one. A default or an example may hold a member of that name.
fn names_a_header(value: &Value) -> bool {
    match value {
        Value::Object(members) => {
            let data = |name: &str| matches!(name, "default" | "examples" | "const" | "enum");
            let below = |members: &Map<String, Value>| {
                members.iter().any(|(name, member)| !data(name) && names_a_header(member))
            };
            members.get(KEYWORD).is_some_and(Value::is_string) || below(members)
        }
        Value::Array(items) => items.iter().any(names_a_header),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn headers_that_can_be_sent_and_such_that_cannot() {
        let text = |header: Value| json!({"type": "string", "x-mcp-header": header});
        for (properties, want) in [
            (json!({"a": text(json!("Region"))}), Ok(())),
            (json!({"a": {"type": "object", "properties": {"b": {"type": "integer", "x-mcp-header": "B"}}}}), Ok(())),
            (json!({"a": {"type": "string", "default": "x-mcp-header"}}), Ok(())),
            (json!({"a": text(json!(""))}), Err(HeaderFault::BadName("\"\"".to_owned()))),
            (json!({"a": text(json!("a b"))}), Err(HeaderFault::BadName("\"a b\"".to_owned()))),
            (json!({"a": text(json!(7))}), Err(HeaderFault::BadName("7".to_owned()))),
            (json!({"a": text(json!("Ab")), "b": text(json!("aB"))}), Err(HeaderFault::Twice("aB".to_owned()))),
            (json!({"a": {"type": "number", "x-mcp-header": "A"}}), Err(HeaderFault::BadType("a".to_owned()))),
            (
                json!({"a": {"type": "array", "items": text(json!("A"))}}),
                Err(HeaderFault::BadPlace("items".to_owned())),
            ),
            (json!({"a": {"oneOf": [text(json!("A"))]}}), Err(HeaderFault::BadPlace("oneOf".to_owned()))),
        ] {
            assert_eq!(check(&json!({"type": "object", "properties": properties})), want, "{properties}");
        }
    }
}
