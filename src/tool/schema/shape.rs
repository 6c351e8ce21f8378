//! A schema as schemars makes it, brought into the shape that clients and providers take.

use schemars::Schema;
use schemars::transform::{Transform, transform_subschemas};
use serde_json::{Map, Value, json};

use super::SchemaFault;

/// What is wrong with a root; the type's name comes later.
pub(super) enum BadRoot {
    Combined(&'static str),
    NotAnObject(String),
}

impl BadRoot {
    pub(super) fn of(self, type_name: String) -> SchemaFault {
        match self {
            BadRoot::Combined(keyword) => SchemaFault::Combined { type_name, keyword },
            BadRoot::NotAnObject(found) => SchemaFault::NotAnObject { type_name, found },
        }
    }
}

/// Keywords that make a schema of several.
const COMBINATORS: [&str; 6] = ["oneOf", "anyOf", "allOf", "not", "if", "$ref"];

/// The shape of arguments.
pub(super) fn arguments(mut schema: Schema) -> Result<Value, BadRoot> {
    tidy(&mut schema);
    let root = root_of(schema)?;
    if let Some(keyword) = COMBINATORS.into_iter().find(|keyword| root.contains_key(*keyword)) {
        return Err(BadRoot::Combined(keyword));
    }
    must_be_object(&root)?;
    let mut schema = Schema::from(with_properties(root));
    close(&mut schema, true);
    Ok(schema.to_value())
}

/// The shape of outputs. A choice between objects is an object.
pub(super) fn output(mut schema: Schema) -> Result<Value, BadRoot> {
    tidy(&mut schema);
    let mut root = root_of(schema)?;
    if !root.contains_key("type") && is_object_throughout(&root) {
        let mut typed = Map::from_iter([("type".to_owned(), json!("object"))]);
        typed.append(&mut root);
        root = typed;
    }
    must_be_object(&root)?;
    Ok(Value::Object(with_properties(root)))
}

/// Every step that does not depend on where in the schema it is taken.
fn tidy(schema: &mut Schema) {
    Tidy.transform(schema);
}

#[derive(Clone)]
struct Tidy;

impl Transform for Tidy {
    fn transform(&mut self, schema: &mut Schema) {
        if let Some(free) = schema.as_bool() {
            // `true` and `false` as schemas are lawful, and stumbled over.
            *schema = if free { Schema::default() } else { schemars::json_schema!({"not": {}}) };
            return;
        }
        if let Some(rules) = schema.as_object_mut() {
            drop_private_format(rules);
            drop_nulls_of_optionals(rules);
            collapse_enum(rules);
        }
        let closed = schema.get("additionalProperties").filter(|extra| extra.is_boolean()).cloned();
        transform_subschemas(self, schema);
        if let (Some(closed), Some(rules)) = (closed, schema.as_object_mut()) {
            // Here alone a bare boolean is what everyone expects.
            rules.insert("additionalProperties".to_owned(), closed);
        }
    }
}

/// The formats that draft 2020-12 defines. schemars adds `uint64`, `double` and others, which validators warn of or refuse.
const FORMATS: [&str; 19] = [
    "date-time",
    "date",
    "time",
    "duration",
    "email",
    "idn-email",
    "hostname",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "uri",
    "uri-reference",
    "iri",
    "iri-reference",
    "uuid",
    "uri-template",
    "json-pointer",
    "relative-json-pointer",
    "regex",
];

fn drop_private_format(rules: &mut Map<String, Value>) {
    if rules.get("format").is_some_and(|format| !format.as_str().is_some_and(|format| FORMATS.contains(&format))) {
        rules.shift_remove("format");
    }
}

/// An optional field is left out; that it may also be null only confuses.
fn drop_nulls_of_optionals(rules: &mut Map<String, Value>) {
    let required: Vec<String> = match rules.get("required").and_then(Value::as_array) {
        Some(names) => names.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        None => Vec::new(),
    };
    let Some(properties) = rules.get_mut("properties").and_then(Value::as_object_mut) else { return };
    for (name, property) in properties {
        if let (false, Some(property)) = (required.contains(name), property.as_object_mut()) {
            drop_null(property);
        }
    }
}

fn drop_null(rules: &mut Map<String, Value>) {
    let mut dropped = false;
    if let Some(Value::Array(types)) = rules.get_mut("type") {
        let before = types.len();
        types.retain(|name| name != "null");
        dropped |= types.len() < before;
        if types.len() == 1 {
            let only = types.remove(0);
            rules.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(values)) = rules.get_mut("enum") {
        let before = values.len();
        values.retain(|value| !value.is_null());
        dropped |= values.len() < before;
    }
    for keyword in ["anyOf", "oneOf"] {
        if let Some(Value::Array(branches)) = rules.get_mut(keyword) {
            let before = branches.len();
            branches.retain(|branch| branch.get("type").is_none_or(|name| name != "null"));
            dropped |= branches.len() < before;
            if branches.len() == 1 {
                let only = branches.remove(0);
                rules.shift_remove(keyword);
                absorb(rules, only);
            }
        }
    }
    if dropped && rules.get("default").is_some_and(Value::is_null) {
        rules.shift_remove("default");
    }
}

/// Takes over what `other` says, except where `rules` speaks itself.
fn absorb(rules: &mut Map<String, Value>, other: Value) {
    if let Value::Object(other) = other {
        for (keyword, value) in other {
            rules.entry(keyword).or_insert(value);
        }
    }
}

/// A choice between documented constants becomes an `enum`, and their documentation a list in the description.
fn collapse_enum(rules: &mut Map<String, Value>) {
    let Some(Value::Array(branches)) = rules.get("oneOf") else { return };
    let mut values = Vec::new();
    let mut lines = Vec::new();
    for branch in branches {
        let Some(branch) = branch.as_object() else { return };
        let only_says_which =
            branch.keys().all(|k| matches!(k.as_str(), "const" | "enum" | "type" | "description" | "title"));
        let these = match (branch.get("const"), branch.get("enum")) {
            (Some(value), None) => std::slice::from_ref(value),
            (None, Some(Value::Array(values))) => values.as_slice(),
            _ => return,
        };
        if !only_says_which || !these.iter().all(Value::is_string) {
            return;
        }
        let said = branch.get("description").and_then(Value::as_str);
        for value in these {
            if let (Some(said), Some(name)) = (said, value.as_str()) {
                lines.push(format!("- `{name}`: {}", said.split_whitespace().collect::<Vec<_>>().join(" ")));
            }
            values.push(value.clone());
        }
    }
    rules.shift_remove("oneOf");
    rules.insert("type".to_owned(), json!("string"));
    rules.insert("enum".to_owned(), Value::Array(values));
    if !lines.is_empty() {
        let list = lines.join("\n");
        let description = match rules.get("description").and_then(Value::as_str) {
            Some(said) => format!("{said}\n\n{list}"),
            None => list,
        };
        rules.insert("description".to_owned(), description.into());
    }
}

/// The root without what only schemars needs; a root that refers to its own definition is written out.
fn root_of(schema: Schema) -> Result<Map<String, Value>, BadRoot> {
    let Value::Object(mut root) = schema.to_value() else {
        return Err(BadRoot::NotAnObject("anything".to_owned()));
    };
    if let Some(target) = root.get("$ref").and_then(Value::as_str).and_then(|at| at.strip_prefix("#/$defs/"))
        && let Some(definition) = root.get("$defs").and_then(|all| all.get(target)).cloned()
    {
        root.shift_remove("$ref");
        absorb(&mut root, definition);
    }
    for keyword in ["$schema", "title", "description"] {
        root.shift_remove(keyword);
    }
    Ok(root)
}

fn must_be_object(root: &Map<String, Value>) -> Result<(), BadRoot> {
    match root.get("type") {
        Some(Value::String(name)) if name == "object" => Ok(()),
        Some(Value::String(name)) => Err(BadRoot::NotAnObject(super::fault::a(name).to_owned())),
        Some(Value::Array(names)) => Err(BadRoot::NotAnObject(super::fault::one_of_types(names))),
        _ => match COMBINATORS.into_iter().find(|keyword| root.contains_key(*keyword)) {
            Some(keyword) => Err(BadRoot::Combined(keyword)),
            None => Err(BadRoot::NotAnObject("anything".to_owned())),
        },
    }
}

fn is_object_throughout(rules: &Map<String, Value>) -> bool {
    if rules.get("type").is_some_and(|name| name == "object") {
        return true;
    }
    ["oneOf", "anyOf"].into_iter().filter_map(|keyword| rules.get(keyword)?.as_array()).any(|branches| {
        !branches.is_empty() && branches.iter().all(|branch| branch.as_object().is_some_and(is_object_throughout))
    })
}

/// `properties` right after `type`, also if there are none.
fn with_properties(mut root: Map<String, Value>) -> Map<String, Value> {
    let mut ordered = Map::new();
    ordered.insert("type".to_owned(), json!("object"));
    ordered.insert("properties".to_owned(), root.shift_remove("properties").unwrap_or_else(|| json!({})));
    root.shift_remove("type");
    ordered.append(&mut root);
    ordered
}

/// Says of every object that it holds no other fields, where all of them are listed in one place.
fn close(schema: &mut Schema, whole: bool) {
    let Some(rules) = schema.as_object_mut() else { return };
    let lists = rules.contains_key("properties");
    let elsewhere = COMBINATORS.into_iter().any(|keyword| rules.contains_key(keyword))
        || ["patternProperties", "unevaluatedProperties", "dependentSchemas"].iter().any(|k| rules.contains_key(*k));
    if whole && lists && !elsewhere && !rules.contains_key("additionalProperties") {
        rules.insert("additionalProperties".to_owned(), json!(false));
    }
    for (keyword, value) in rules {
        match keyword.as_str() {
            "properties" | "$defs" => {
                value.as_object_mut().into_iter().flat_map(Map::values_mut).for_each(|v| close_value(v, true))
            }
            "items" | "additionalProperties" => close_value(value, true),
            "prefixItems" => value.as_array_mut().into_iter().flatten().for_each(|v| close_value(v, true)),
            "oneOf" | "anyOf" => {
                value.as_array_mut().into_iter().flatten().for_each(|v| close_value(v, whole && !lists))
            }
            _ => {}
        }
    }
}

fn close_value(value: &mut Value, whole: bool) {
    if let Ok(schema) = <&mut Schema>::try_from(value) {
        close(schema, whole);
    }
}
