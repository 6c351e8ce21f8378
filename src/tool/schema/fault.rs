//! What is wrong with an argument, in words that a model can act on.

use std::borrow::Cow;
use std::fmt::{self, Write};

use serde_json::{Value, json};

use crate::model::error::{ErrorCode, ToolError};
use crate::model::json::JsonFault;

/// One thing that is wrong with the arguments of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    field: String,
    problem: Problem,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Problem {
    NotAnObject { found: String },
    Missing,
    Unknown { meant: Option<String> },
    Wrong { keyword: String, what: String },
    More { count: usize },
}

/// What the arguments as a whole are called.
const WHOLE: &str = "args";

/// So many characters of a value are shown.
const GLIMPSE: usize = 60;

/// So many characters say what is wrong; other libraries put whole values into their messages.
const SENTENCE: usize = 600;

impl Fault {
    /// The arguments are no object at all.
    pub(super) fn not_an_object(found: &Value, text: Option<JsonFault>) -> Self {
        let mut found = shown(found);
        if let Some(text) = text {
            let _ = write!(found, " ({text})");
        }
        Fault { field: WHOLE.to_owned(), problem: Problem::NotAnObject { found } }
    }

    /// A field is not there.
    pub(crate) fn missing(field: String) -> Self {
        Fault { field, problem: Problem::Missing }
    }

    /// A field is there that the schema does not know.
    pub(crate) fn unknown(field: String, meant: Option<String>) -> Self {
        Fault { field, problem: Problem::Unknown { meant } }
    }

    /// A value does not fit what `keyword` says.
    pub(crate) fn wrong(field: String, keyword: &str, what: String) -> Self {
        let field = if field.is_empty() { WHOLE.to_owned() } else { field };
        let what = cut(&what, SENTENCE).into_owned();
        Fault { field, problem: Problem::Wrong { keyword: keyword.to_owned(), what } }
    }

    /// The arguments cannot be checked, which is no fault of theirs.
    pub(crate) fn unsound(why: &str) -> Self {
        let what =
            format!("cannot be checked, since the tool's own schema is faulty ({why}); its author has to mend it");
        Fault::wrong(WHOLE.to_owned(), "$schema", what)
    }

    /// Faults that are not listed.
    pub(super) fn more(count: usize) -> Self {
        Fault { field: WHOLE.to_owned(), problem: Problem::More { count } }
    }

    /// The field as a model would write it: `path`, `patches[1].old_str`; `args` for all of them.
    #[must_use]
    pub fn field(&self) -> &str {
        &self.field
    }

    /// What is wrong with it, without naming it.
    #[must_use]
    pub fn problem(&self) -> String {
        match &self.problem {
            Problem::NotAnObject { found } => format!("must be an object, got {found}"),
            Problem::Missing => "missing required field".to_owned(),
            Problem::Unknown { meant: Some(meant) } => format!("unknown field (did you mean {meant}?)"),
            Problem::Unknown { meant: None } => "unknown field".to_owned(),
            Problem::Wrong { what, .. } => what.clone(),
            Problem::More { count } => format!("and {count} more"),
        }
    }

    /// Which keyword of the schema was not met.
    pub(super) fn keyword(&self) -> &str {
        match &self.problem {
            Problem::NotAnObject { .. } => "type",
            Problem::Missing => "required",
            Problem::Unknown { .. } => "additionalProperties",
            Problem::Wrong { keyword, .. } => keyword,
            Problem::More { .. } => "",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let field = &self.field;
        match &self.problem {
            Problem::NotAnObject { .. } => write!(f, "{field} {}", self.problem()),
            Problem::Missing => write!(f, "missing required field: {field}"),
            Problem::Unknown { meant: Some(meant) } => write!(f, "unknown field: {field} (did you mean {meant}?)"),
            Problem::Unknown { meant: None } => write!(f, "unknown field: {field}"),
            Problem::Wrong { what, .. } => write!(f, "{field}: {what}"),
            Problem::More { count } => write!(f, "and {count} more"),
        }
    }
}

/// The tool error that lists `faults`, all at once, so that one correction mends them all.
#[must_use]
pub fn faults_error(faults: &[Fault]) -> ToolError {
    let message = match faults {
        [only] => format!("{only}. Nothing was done; correct it and call again."),
        many => {
            let mut message = "the arguments do not fit this tool:".to_owned();
            for fault in many {
                // Writing to a String cannot fail.
                let _ = write!(message, "\n- {fault}");
            }
            message.push_str("\nNothing was done; correct all of them and call again.");
            message
        }
    };
    let list: Vec<Value> = faults.iter().map(|f| json!({"field": f.field(), "problem": f.problem()})).collect();
    ToolError::new(ErrorCode::InvalidArguments, message).with("faults", list)
}

/// Where in the arguments a value is; grows down the call stack, and costs nothing until it is written out.
#[derive(Clone, Copy)]
pub(super) enum Place<'a> {
    Root,
    Field(&'a Place<'a>, &'a str),
    Item(&'a Place<'a>, usize),
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Root => Ok(()),
            Place::Item(parent, index) => write!(f, "{parent}[{index}]"),
            Place::Field(parent, name) => {
                let plain =
                    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '$'));
                match (parent, plain) {
                    (_, false) => write!(f, "{parent}[{:?}]", cut(name, GLIMPSE)),
                    (Place::Root, true) => f.write_str(&cut(name, GLIMPSE)),
                    (_, true) => write!(f, "{parent}.{}", cut(name, GLIMPSE)),
                }
            }
        }
    }
}

/// A value in a few words: `number 7`, `string "12px"`, `an array of 3`.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => format!("boolean {value}"),
        Value::Number(value) => format!("number {value}"),
        Value::String(text) => format!("string {:?}", cut(text, GLIMPSE)),
        Value::Array(items) if items.is_empty() => "an empty array".to_owned(),
        Value::Array(items) => format!("an array of {}", items.len()),
        Value::Object(fields) if fields.is_empty() => "an empty object".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

/// A constant as JSON, cut where it is long.
pub(super) fn literal(value: &Value) -> String {
    cut(&value.to_string(), GLIMPSE).into_owned()
}

/// The beginning of `text`, by whole characters.
fn cut(text: &str, longest: usize) -> Cow<'_, str> {
    match text.char_indices().nth(longest) {
        Some((at, _)) => format!("{}…", &text[..at]).into(),
        None => text.into(),
    }
}

/// A type of JSON with its article.
pub(super) fn a(type_name: &str) -> &str {
    match type_name {
        "object" => "an object",
        "array" => "an array",
        "string" => "a string",
        "integer" => "an integer",
        "number" => "a number",
        "boolean" => "a boolean",
        other => other,
    }
}

/// `a string or an array`.
pub(super) fn one_of_types(names: &[Value]) -> String {
    names.iter().filter_map(Value::as_str).map(a).collect::<Vec<_>>().join(" or ")
}
