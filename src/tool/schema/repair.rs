//! Slips that clients and models make in the type of a value, mended only where the schema leaves no doubt.

use serde_json::{Number, Value};

use crate::model::json::{JsonFault, parse_strict};

/// The types that a schema's `type` names.
#[derive(Clone, Copy)]
pub(super) struct Types<'s>(&'s Value);

impl<'s> Types<'s> {
    pub(super) fn new(keyword: &'s Value) -> Self {
        Types(keyword)
    }

    /// Whether `name` is one of them.
    pub(super) fn name(self, name: &str) -> bool {
        match self.0 {
            Value::String(only) => only == name,
            Value::Array(several) => several.iter().any(|one| one == name),
            _ => false,
        }
    }

    /// Whether `value` is of one of them.
    pub(super) fn hold(self, value: &Value) -> bool {
        match value {
            Value::Null => self.name("null"),
            Value::Bool(_) => self.name("boolean"),
            Value::String(_) => self.name("string"),
            Value::Array(_) => self.name("array"),
            Value::Object(_) => self.name("object"),
            Value::Number(number) => {
                self.name("number") || (self.name("integer") && (number.is_i64() || number.is_u64()))
            }
        }
    }

    /// As a model reads it.
    pub(super) fn shown(self) -> String {
        match self.0 {
            Value::String(only) => super::fault::a(only).to_owned(),
            Value::Array(several) => super::fault::one_of_types(several),
            _ => "nothing".to_owned(),
        }
    }
}

/// What becomes of a text where another type is wanted that it plainly means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slips {
    /// It is taken for a value of that type.
    Mended,
    /// It is a fault like any other.
    Told,
}

/// Brings `value` into one of the types that are wanted, if it plainly means one of them.
///
/// # Errors
/// It was to be the text of an array or object, and is not.
pub(super) fn mend(value: &mut Value, wanted: Types<'_>, slips: Slips) -> Result<(), JsonFault> {
    if wanted.hold(value) {
        return Ok(());
    }
    match value {
        Value::Number(number) if wanted.name("integer") => {
            if let Some(whole) = number.as_f64().and_then(whole) {
                *value = whole.into();
            }
        }
        Value::String(text) if slips == Slips::Mended => {
            let text = text.trim_ascii();
            if wanted.name("boolean") && matches!(text, "true" | "false") {
                *value = Value::Bool(text == "true");
            } else if let (true, Some(number)) = (wanted.name("integer") || wanted.name("number"), decimal(text)) {
                *value = Value::Number(number);
            } else if (wanted.name("array") && text.starts_with('['))
                || (wanted.name("object") && text.starts_with('{'))
            {
                *value = parse_strict(text)?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// The integer that `number` is, if it is one to the last digit.
fn whole(number: f64) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0; // 2^53
    (number.fract() == 0.0 && number.abs() <= EXACT).then_some(number as i64)
}

/// A decimal integer as JSON writes it: no sign but `-`, no leading zero, nothing around it.
fn decimal(text: &str) -> Option<Number> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) || (digits.starts_with('0') && text != "0") {
        return None;
    }
    text.parse::<u64>().map(Number::from).or_else(|_| text.parse::<i64>().map(Number::from)).ok()
}
