//! The whole of draft 2020-12, for the schemas that use more of it than most.

use std::fmt;

use jsonschema::error::{ValidationError, ValidationErrorKind};
use serde_json::{Map, Value};

use super::check::reference;
use super::fault::{Fault, Place};
use crate::tool::near::nearest;

/// A compiled validator, or why there is none.
pub(super) enum Full {
    Ready(Box<jsonschema::Validator>),
    Faulty(String),
}

impl fmt::Debug for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Full::Ready(_) => f.write_str("Ready(..)"),
            Full::Faulty(why) => f.debug_tuple("Faulty").field(why).finish(),
        }
    }
}

impl Full {
    /// A validator for `schema`, if it says more than the plain walk understands.
    pub(super) fn where_needed(schema: &Value) -> Option<Full> {
        if is_plain(schema, schema) {
            return None;
        }
        Some(match jsonschema::draft202012::new(schema) {
            Ok(validator) => Full::Ready(Box::new(validator)),
            Err(error) => Full::Faulty(error.to_string()),
        })
    }

    /// Hands every fault of `arguments` to `report`.
    pub(super) fn check(&self, schema: &Value, arguments: &Value, report: &mut dyn FnMut(Fault)) {
        match self {
            Full::Ready(validator) => {
                for error in validator.iter_errors(arguments) {
                    translate(&error, schema, arguments, report);
                }
            }
            // What cannot be checked must not run.
            Full::Faulty(why) => report(Fault::wrong(
                String::new(),
                "$schema",
                format!("cannot be checked, since the tool's own schema is faulty ({why}); its author has to mend it"),
            )),
        }
    }
}

fn translate(error: &ValidationError<'_>, schema: &Value, arguments: &Value, report: &mut dyn FnMut(Fault)) {
    let pointer = error.instance_path().as_str();
    let steps: Vec<String> =
        pointer.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~")).collect();
    let keyword = error.kind().keyword();
    in_words(&steps, arguments, Place::Root, &mut |place| match error.kind() {
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            report(Fault::missing(Place::Field(&place, name).to_string()));
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            let known = schema.get("properties").and_then(Value::as_object).filter(|_| steps.is_empty());
            for name in unexpected {
                let known = known.into_iter().flat_map(Map::keys).map(String::as_str);
                let field = Place::Field(&place, name).to_string();
                report(Fault::unknown(field, nearest(name, known).map(str::to_owned)));
            }
        }
        _ => report(Fault::wrong(place.to_string(), keyword, error.masked_with("the value").to_string())),
    });
}

/// Follows a pointer through the arguments, since only they tell the third item from a field called 3.
fn in_words(steps: &[String], value: &Value, place: Place<'_>, then: &mut dyn FnMut(Place<'_>)) {
    let Some((step, rest)) = steps.split_first() else { return then(place) };
    match (value, step.parse::<usize>()) {
        (Value::Array(items), Ok(index)) => {
            in_words(rest, items.get(index).unwrap_or(&Value::Null), Place::Item(&place, index), then);
        }
        _ => in_words(rest, value.get(step).unwrap_or(&Value::Null), Place::Field(&place, step), then),
    }
}

/// Whether a schema says nothing that the plain walk does not check.
fn is_plain(root: &Value, schema: &Value) -> bool {
    let Value::Object(rules) = schema else { return true };
    rules.iter().all(|(keyword, value)| match keyword.as_str() {
        "properties" | "$defs" => {
            value.as_object().is_some_and(|schemas| schemas.values().all(|schema| is_plain(root, schema)))
        }
        "items" | "additionalProperties" => is_plain(root, value),
        "$ref" => reference(root, rules).is_some(),
        // Checked by the walk.
        "type" | "required" | "enum" | "const" | "minimum" | "maximum" | "minLength" | "maxLength" | "minItems"
        | "maxItems" => true,
        // Said, not checked.
        "title" | "description" | "default" | "examples" | "deprecated" | "readOnly" | "writeOnly" | "$comment"
        | "$schema" | "format" | "contentEncoding" | "contentMediaType" => true,
        _ => false,
    })
}
