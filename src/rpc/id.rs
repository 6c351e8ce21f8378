//! Request ids: any integer or string, given back as they came.

use std::fmt;

use serde::Deserialize;
use serde_json::value::RawValue;

/// The id of a request. `1` and `"1"` are different ids (B148).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum RequestId {
    /// An integer, as its digits: it may be larger than any machine word.
    Integer(Box<str>),
    /// A string, decoded.
    Text(Box<str>),
}

impl RequestId {
    /// Reads an id, or nothing where `raw` is not an integer or a string (MCP: never null).
    pub(crate) fn read(raw: &RawValue) -> Option<Self> {
        let text = raw.get();
        if text.starts_with('"') {
            return String::deserialize(raw).ok().map(|text| RequestId::Text(text.into()));
        }
        let digits = text.strip_prefix('-').unwrap_or(text);
        (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
            .then(|| RequestId::Integer(text.into()))
    }
}

/// As JSON.
impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RequestId::Integer(digits) => f.write_str(digits),
            RequestId::Text(text) => write!(f, "{}", serde_json::Value::from(&**text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_and_strings_come_back_as_they_came() {
        for (json, back) in [
            ("1", Some("1")),
            ("-7", Some("-7")),
            ("123456789012345678901234567890", Some("123456789012345678901234567890")),
            (r#""a\"b""#, Some(r#""a\"b""#)),
            (r#""""#, Some(r#""""#)),
            ("1.5", None),
            ("1e3", None),
            ("null", None),
            ("true", None),
            ("{}", None),
            (r#""\ud83d""#, None),
        ] {
            let raw: &RawValue = serde_json::from_str(json).expect("JSON");
            assert_eq!(RequestId::read(raw).map(|id| id.to_string()).as_deref(), back, "{json}");
        }
    }
}
