//! JSON values as literal types.

use serde_json::{Number, Value};

use super::text::string;
use super::{Member, Object, Type};

/// Bytes of a string that is still worth to be spelled out.
const LONGEST: usize = 200;

/// Integers beyond it are not told apart by JavaScript.
const LARGEST: u64 = 1 << 53;

/// How deep a value is spelled out.
const DEEPEST: usize = 8;

/// The type of exactly this value, or of its kind where it cannot be spelled out.
pub(super) fn literal(value: &Value) -> Type {
    spelled(value, 0)
}

/// The kind of a value.
pub(super) fn kind(value: &Value) -> Type {
    match value {
        Value::Null => Type::word("null"),
        Value::Bool(_) => Type::word("boolean"),
        Value::Number(_) => Type::word("number"),
        Value::String(_) => Type::word("string"),
        Value::Array(_) => Type::Array(Box::new(Type::Unknown)),
        Value::Object(_) => Type::Object(Object { members: Vec::new(), others: Some(Box::new(Type::Unknown)) }),
    }
}

fn spelled(value: &Value, depth: usize) -> Type {
    match value {
        Value::Null | Value::Bool(_) => Type::Word(value.to_string()),
        Value::Number(number) if is_exact(number) => Type::Word(without_minus_zero(number)),
        Value::String(text) if text.len() <= LONGEST => Type::Word(string(text)),
        Value::Array(items) if depth < DEEPEST && items.len() <= LONGEST => {
            Type::Tuple { items: items.iter().map(|item| (spelled(item, depth + 1), true)).collect(), rest: None }
        }
        Value::Object(fields) if depth < DEEPEST && !fields.is_empty() => {
            let mut members: Vec<Member> = fields
                .iter()
                .map(|(name, value)| Member {
                    name: name.clone(),
                    required: true,
                    holds: spelled(value, depth + 1),
                    said: None,
                })
                .collect();
            members.sort_by(|one, other| one.name.cmp(&other.name));
            Type::Object(Object { members, others: None })
        }
        Value::Object(fields) if fields.is_empty() => Type::word("Record<string, never>"),
        other => kind(other),
    }
}

fn is_exact(number: &Number) -> bool {
    match (number.as_u64(), number.as_i64(), number.as_f64()) {
        (Some(whole), _, _) => whole < LARGEST,
        (None, Some(whole), _) => whole.unsigned_abs() < LARGEST,
        (None, None, Some(float)) => float.is_finite(),
        (None, None, None) => false,
    }
}

fn without_minus_zero(number: &Number) -> String {
    if number.as_f64() == Some(0.0) { "0".to_owned() } else { number.to_string() }
}
