//! What the `type` of a schema and the keywords that go with it come to.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::project::Walk;
use super::{Member, Object, Type, union};

/// What every object has from birth. An optional member of such a name would clash with it, so its type is left open.
const INHERITED: [&str; 7] =
    ["constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString", "valueOf"];

/// Keywords that say what an object holds.
const OF_OBJECTS: [&str; 4] = ["properties", "required", "additionalProperties", "patternProperties"];

/// Keywords that say what an array holds.
const OF_ARRAYS: [&str; 3] = ["items", "prefixItems", "additionalItems"];

/// The type of what `rules` say themselves, without the schemas that they are made of or refer to.
pub(super) fn of<'a>(walk: &mut Walk<'a>, rules: &'a Map<String, Value>, within: bool) -> Type {
    match rules.get("type") {
        Some(Value::String(name)) => named(walk, rules, name, within),
        Some(Value::Array(names)) => {
            let mut kinds = Vec::new();
            for name in names {
                kinds.push(name.as_str().map_or(Type::Unknown, |name| named(walk, rules, name, within)));
            }
            union(kinds)
        }
        Some(_) => Type::Unknown,
        None if OF_OBJECTS.iter().any(|keyword| rules.contains_key(*keyword)) => object(walk, rules, within),
        None if OF_ARRAYS.iter().any(|keyword| rules.contains_key(*keyword)) => array(walk, rules),
        None => Type::Unknown,
    }
}

/// Whether a schema's `type` takes `value`.
pub(super) fn takes(rules: &Map<String, Value>, value: &Value) -> bool {
    let fits = |name: &str| match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        _ => true,
    };
    match rules.get("type") {
        Some(Value::String(name)) => fits(name),
        Some(Value::Array(names)) => names.iter().any(|name| name.as_str().is_none_or(fits)),
        _ => true,
    }
}

fn named<'a>(walk: &mut Walk<'a>, rules: &'a Map<String, Value>, name: &str, within: bool) -> Type {
    match name {
        "null" | "boolean" | "string" | "number" => Type::word(name),
        "integer" => Type::word("number"),
        "object" => object(walk, rules, within),
        "array" => array(walk, rules),
        _ => Type::Unknown,
    }
}

fn object<'a>(walk: &mut Walk<'a>, rules: &'a Map<String, Value>, within: bool) -> Type {
    let properties = rules.get("properties").and_then(Value::as_object);
    let required: BTreeSet<&str> =
        rules.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let mut listed: BTreeMap<&str, Option<&'a Value>> = required.iter().map(|name| (*name, None)).collect();
    listed.extend(properties.into_iter().flatten().map(|(name, schema)| (name.as_str(), Some(schema))));
    let mut members = Vec::new();
    for (name, schema) in listed {
        members.push(member(walk, name, schema, required.contains(name)));
    }
    let lists = within || properties.is_some_and(|properties| !properties.is_empty());
    let others = others(walk, rules, lists);
    if within
        && members.is_empty()
        && others.is_none()
        && rules.get("additionalProperties") != Some(&Value::Bool(false))
    {
        // It adds nothing to what is said around it.
        return Type::Unknown;
    }
    let others = match others {
        // TypeScript wants the named ones to fit what is said of all others.
        Some(_) if !members.is_empty() => Some(Type::Unknown),
        others => others,
    };
    Type::Object(Object { members, others: others.map(Box::new) })
}

fn member<'a>(walk: &mut Walk<'a>, name: &str, schema: Option<&'a Value>, required: bool) -> Member {
    let holds = schema.map_or(Type::Unknown, |schema| walk.inside(schema));
    let holds = if !required && INHERITED.contains(&name) { Type::Unknown } else { holds };
    Member { name: name.to_owned(), required, holds, said: schema.and_then(said) }
}

/// What members that are not listed hold; nothing if there may be none, or `lists` and nothing is said of others: a
/// model that may add members of its own does.
fn others<'a>(walk: &mut Walk<'a>, rules: &'a Map<String, Value>, lists: bool) -> Option<Type> {
    let by_pattern = rules.get("patternProperties").and_then(Value::as_object).is_some_and(|all| !all.is_empty());
    match rules.get("additionalProperties") {
        _ if by_pattern => Some(Type::Unknown),
        Some(Value::Bool(false)) => None,
        Some(schema) => Some(walk.inside(schema)),
        None if lists => None,
        None => Some(Type::Unknown),
    }
}

fn array<'a>(walk: &mut Walk<'a>, rules: &'a Map<String, Value>) -> Type {
    let (first, rest) = match (rules.get("prefixItems"), rules.get("items")) {
        (Some(Value::Array(first)), rest) => (first.as_slice(), rest),
        (_, Some(Value::Array(first))) => (first.as_slice(), rules.get("additionalItems")),
        (_, rest) => (&[][..], rest),
    };
    if first.is_empty() {
        let each = rest.map_or(Type::Unknown, |rest| walk.inside(rest));
        return Type::Array(Box::new(each));
    }
    let least =
        rules.get("minItems").and_then(Value::as_u64).and_then(|least| usize::try_from(least).ok()).unwrap_or(0);
    let mut items = Vec::new();
    for (at, item) in first.iter().enumerate() {
        items.push((walk.inside(item), at < least));
    }
    let rest = match rest {
        Some(Value::Bool(false)) => None,
        Some(rest) => Some(walk.inside(rest)),
        None => Some(Type::Unknown),
    };
    Type::Tuple { items, rest: rest.map(Box::new) }
}

/// What a schema says about itself, and what is taken if it is left out.
fn said(schema: &Value) -> Option<String> {
    let description = schema.get("description").and_then(Value::as_str);
    let default = schema.get("default").map(|value| format!("Default: {value}"));
    match (description, default) {
        (Some(description), Some(default)) => Some(format!("{description} {default}")),
        (Some(description), None) => Some(description.to_owned()),
        (None, default) => default,
    }
}
