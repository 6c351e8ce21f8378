//! JSON text read strictly: one document, no key twice, nothing that another reader would read otherwise.

use std::cell::{Cell, RefCell};
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Map, Value};

use crate::text::json::{members, unescape};

/// A text is not one JSON document that every reader understands alike.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind} (line {line}, column {column})")]
pub struct JsonFault {
    /// What is wrong.
    pub kind: JsonFaultKind,
    /// In which line, from 1.
    pub line: usize,
    /// At which byte of that line, from 1.
    pub column: usize,
}

/// What is wrong with a JSON text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JsonFaultKind {
    /// There is no document.
    #[error("there is no JSON: the text is empty")]
    Empty,
    /// The document ends too early.
    #[error("the JSON is cut off: {0}")]
    CutOff(String),
    /// Something follows the document.
    #[error("the JSON document is complete, but more text follows it")]
    Trailing,
    /// Readers differ on which of the two counts.
    #[error("the key {0:?} occurs twice in one object; readers differ on which one counts, so neither does")]
    DuplicateKey(String),
    /// Half of a surrogate pair is no character.
    #[error(
        "a \\u escape is half of a surrogate pair, which is no character; write the whole pair or the character itself"
    )]
    LoneSurrogate,
    /// Deeper than any sensible document.
    #[error("the JSON is nested too deeply: 127 levels are read")]
    TooDeep,
    /// More values than the reader has room for.
    #[error("the JSON holds more values than the {0} that are read")]
    TooMany(usize),
    /// Any other fault of syntax.
    #[error("not JSON: {0}")]
    Syntax(String),
}

/// Reads one JSON document; a duplicate key, half a surrogate pair or anything after it is a fault.
///
/// ```
/// use toolgate::model::json::parse_strict;
/// assert_eq!(parse_strict(r#"{"a": [1]}"#)?["a"][0], 1);
/// let fault = parse_strict(r#"{"path": "ok.txt", "path": "../x"}"#).unwrap_err();
/// assert!(fault.to_string().starts_with(r#"the key "path" occurs twice"#));
/// # Ok::<(), toolgate::model::json::JsonFault>(())
/// ```
///
/// # Errors
/// See [`JsonFaultKind`].
pub fn parse_strict(text: &str) -> Result<Value, JsonFault> {
    parse_within(text, usize::MAX).map(|(value, _)| value)
}

/// The same for a text of at most `most` values, each item and member being one: few bytes may hold many, which take far more room.
/// Says how many there are.
///
/// # Errors
/// See [`JsonFaultKind`].
pub(crate) fn parse_within(text: &str, most: usize) -> Result<(Value, usize), JsonFault> {
    let (twice, left) = (RefCell::new(None), Cell::new(Some(most)));
    let mut reader = serde_json::Deserializer::from_str(text);
    let strict = Strict { twice: &twice, left: &left };
    let read = strict.deserialize(&mut reader).and_then(|value| reader.end().map(|()| value));
    match (read, left.get()) {
        (Ok(value), left) => Ok((value, most - left.unwrap_or(0))),
        (Err(error), Some(_)) => Err(fault(&error, kind_of(&error, text, twice.take()))),
        (Err(error), None) => Err(fault(&error, JsonFaultKind::TooMany(most))),
    }
}

fn fault(error: &serde_json::Error, kind: JsonFaultKind) -> JsonFault {
    JsonFault { kind, line: error.line(), column: error.column() }
}

/// The same for a text that has been read as JSON already, as a part of a document. A long one of plain members costs less
/// than it would by itself.
///
/// # Errors
/// See [`JsonFaultKind`].
pub(crate) fn parse_part(text: &str) -> Result<Value, JsonFault> {
    const LONG: usize = 16 * 1024;
    match if text.len() < LONG { None } else { plain(text) } {
        Some(object) => Ok(object),
        None => parse_strict(text),
    }
}

/// An object of texts, numbers and the like; nothing where there is more to look at.
fn plain(text: &str) -> Option<Value> {
    let mut object = Map::new();
    for (name, value) in members(text)? {
        let value = match value.as_bytes().first()? {
            b'"' => Value::String(unescape(value)?),
            b'{' | b'[' => return None,
            _ => serde_json::from_str(value).ok()?,
        };
        if object.insert(name.to_owned(), value).is_some() {
            return None;
        }
    }
    Some(Value::Object(object))
}

/// serde_json tells its faults apart only by their text.
fn kind_of(error: &serde_json::Error, text: &str, twice: Option<String>) -> JsonFaultKind {
    if let Some(key) = twice {
        return JsonFaultKind::DuplicateKey(key);
    }
    let said = error.to_string();
    let said = said.split(" at line ").next().unwrap_or_default();
    match said {
        "recursion limit exceeded" => JsonFaultKind::TooDeep,
        "lone leading surrogate in hex escape" | "unexpected end of hex escape" => JsonFaultKind::LoneSurrogate,
        "trailing characters" => JsonFaultKind::Trailing,
        _ if text.trim_ascii().is_empty() => JsonFaultKind::Empty,
        _ if error.is_eof() => JsonFaultKind::CutOff(said.to_owned()),
        _ => JsonFaultKind::Syntax(said.to_owned()),
    }
}

/// Builds a [`Value`] as serde_json does, but for keys that occur twice.
#[derive(Clone, Copy)]
struct Strict<'a> {
    twice: &'a RefCell<Option<String>>,
    /// How many values there may still be; nothing once there was one too many.
    left: &'a Cell<Option<usize>>,
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.left.set(self.left.get().and_then(|left| left.checked_sub(1)));
        match self.left.get() {
            Some(_) => deserializer.deserialize_any(self),
            None => Err(D::Error::custom("too many values")),
        }
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            match object.entry(key) {
                Entry::Vacant(place) => {
                    place.insert(entries.next_value_seed(self)?);
                }
                Entry::Occupied(place) => {
                    *self.twice.borrow_mut() = Some(place.key().clone());
                    return Err(A::Error::custom("duplicate key"));
                }
            }
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_read_as_serde_json_reads_them() {
        for text in [
            r#"{"z": 1, "a": [true, null, -3, 2.5, 18446744073709551615, "x\n\u00e9\ud83c\udf89"]}"#,
            "[]",
            " 7 ",
            r#""""#,
            r#"{"a": {"a": 1}, "b": {"a": 1}}"#,
        ] {
            assert_eq!(parse_strict(text), Ok(serde_json::from_str(text).expect("JSON")), "{text}");
        }
    }

    #[test]
    fn a_long_part_of_a_document_is_read_as_any_other() {
        let long = "line \\\"x\\\" \\\\\\n\\u00e9\\ud83c\\udf89\u{e9}".repeat(1000);
        for text in [
            format!(r#"{{"path": "a", "content": "{long}", "create_dirs": true, "n": -1.5, "none": null}}"#),
            format!(r#"{{"\u0070ath": "a", "content": "{long}"}}"#),
            format!(r#"{{"patches": [{{"new_str": "{long}"}}]}}"#),
            format!(r#"{{"content": "{long}", "content": "{long}"}}"#),
            format!(r#"{{"content": "{long}\ud83d"}}"#),
            format!(r#""{long}""#),
        ] {
            assert_eq!(parse_part(&text), parse_strict(&text), "{:.40}", text);
        }
    }

    #[test]
    fn faults_are_named_and_placed() {
        let deep = "[".repeat(100_000);
        for (text, want) in [
            ("", "there is no JSON: the text is empty (line 1, column 0)"),
            (" \n", "there is no JSON: the text is empty (line 2, column 0)"),
            ("{\"a\": 1", "the JSON is cut off: EOF while parsing an object (line 1, column 7)"),
            ("{} {}", "the JSON document is complete, but more text follows it (line 1, column 4)"),
            ("{a: 1}", "not JSON: key must be a string (line 1, column 2)"),
            (
                "{\"p\": {\"a\": 1,\n\"a\": 2}}",
                "the key \"a\" occurs twice in one object; readers differ on which one counts, so neither does (line 2, column 3)",
            ),
            (
                r#"{"a": 1, "\u0061": 2}"#,
                "the key \"a\" occurs twice in one object; readers differ on which one counts, so neither does (line 1, column 17)",
            ),
            (deep.as_str(), "the JSON is nested too deeply: 127 levels are read (line 1, column 128)"),
        ] {
            let fault = parse_strict(text).expect_err("a fault").to_string();
            assert_eq!(fault, want, "{:.40}", text);
        }
    }

    #[test]
    fn values_are_counted_and_no_more_are_read_than_there_is_room_for() {
        for (text, values) in [("1", 1), ("[]", 1), (r#"{"a": [1, {"b": null}], "c": "[1, 2]"}"#, 6), ("[[],[],[]]", 4)]
        {
            let read = serde_json::from_str(text).expect("JSON");
            assert_eq!(parse_within(text, values), Ok((read, values)), "{text}");
            let fault = parse_within(text, values - 1).expect_err("too many");
            assert_eq!(fault.kind, JsonFaultKind::TooMany(values - 1), "{text}");
        }
        assert!(matches!(parse_within("[1, x]", 9).expect_err("a fault").kind, JsonFaultKind::Syntax(_)));
    }

    #[test]
    fn half_a_surrogate_pair_is_no_character() {
        for text in [r#""x\ud83d y""#, r#""\udf89""#, r#""\ud83d\ud83d""#, r#"{"\ud83d": 1}"#] {
            assert_eq!(parse_strict(text).expect_err("a fault").kind, JsonFaultKind::LoneSurrogate, "{text}");
        }
    }
}
