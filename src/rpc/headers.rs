//! The headers of an HTTP POST that repeat what its body says (MCP 2026-07-28, basic/transports/streamable-http).

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::Value;

/// The revision that a request speaks.
pub(crate) const VERSION: &str = "mcp-protocol-version";
/// The method of a request.
pub(crate) const METHOD: &str = "mcp-method";
/// What the method is about: a tool, a prompt, a resource.
pub(crate) const NAME: &str = "mcp-name";
/// How a tool's own header begins.
const PARAM: &str = "mcp-param-";

/// What surrounds a value that is not plain ASCII.
const SENTINEL: (&str, &str) = ("=?base64?", "?=");

/// The headers of one request. Names are in lower case, values without the blanks around them.
pub trait Headers {
    /// What was sent under a name.
    fn sent(&self, name: &str) -> Sent<'_>;
}

/// What was sent under the name of a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent<'a> {
    /// Nothing.
    Nothing,
    /// One value.
    Once(&'a [u8]),
    /// Several: nobody can tell which one counts.
    Repeatedly,
}

/// Why a header does not fit its body, in words for who wrote the client.
type Mismatch = String;

/// The value of a header that may be there once.
pub(crate) fn text<'a>(headers: &'a dyn Headers, name: &str) -> Result<Option<&'a str>, Mismatch> {
    match headers.sent(name) {
        Sent::Nothing => Ok(None),
        Sent::Once(value) => match std::str::from_utf8(value) {
            Ok(value) => Ok(Some(value)),
            Err(_) => Err(format!("the header {name} is not text")),
        },
        Sent::Repeatedly => Err(format!("the header {name} is there more than once")),
    }
}

/// Whether a header that must be there says exactly `body`.
pub(crate) fn check_plain(headers: &dyn Headers, name: &str, body: &str) -> Result<(), Mismatch> {
    match text(headers, name)? {
        None => Err(format!("the header {name} is missing; it must be {body}")),
        Some(value) if value == body => Ok(()),
        Some(value) => Err(format!("the header {name} is {value:?}, but the body says {body:?}")),
    }
}

/// [`check_plain`] for a value that may be in the sentinel's form.
pub(crate) fn check_encoded(headers: &dyn Headers, name: &str, body: &str) -> Result<(), Mismatch> {
    let Some(value) = text(headers, name)? else {
        return Err(format!("the header {name} is missing; it must be the same as in the body"));
    };
    let decoded = decode(value).map_err(|why| format!("the header {name} {why}"))?;
    if decoded == body { Ok(()) } else { Err(format!("the header {name} is {decoded:?}, but the body says {body:?}")) }
}

/// A value that is as it stands, or the base64 of its UTF-8 between the marks of the sentinel.
fn decode(value: &str) -> Result<Cow<'_, str>, &'static str> {
    let (open, close) = SENTINEL;
    let Some(encoded) = value.strip_prefix(open).and_then(|rest| rest.strip_suffix(close)) else {
        return Ok(Cow::Borrowed(value));
    };
    let bytes = BASE64.decode(encoded).map_err(|_| "is not base64 between its marks")?;
    String::from_utf8(bytes).map(Cow::Owned).map_err(|_| "is not UTF-8 once it is decoded")
}

/// A property of a tool's arguments that its client repeats in a header: `x-mcp-header` in its schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MirroredParam {
    /// The way to it, from property to property.
    path: Vec<String>,
    /// The header, in lower case.
    header: String,
}

impl MirroredParam {
    /// All of a tool's input schema.
    pub(crate) fn all(schema: &Value) -> Vec<Self> {
        let mut found = Vec::new();
        collect(schema, &mut Vec::new(), &mut found);
        found
    }

    /// Whether the header says what `arguments` say.
    pub(crate) fn check(&self, headers: &dyn Headers, arguments: &Value) -> Result<(), Mismatch> {
        let name = &self.header;
        let value = self.path.iter().try_fold(arguments, |value, property| value.get(property));
        let sent = text(headers, name)?;
        match (value.filter(|value| !value.is_null()), sent) {
            (None, None) => Ok(()),
            (None, Some(_)) => Err(format!("the header {name} is there, but {} is not in the arguments", self.name())),
            (Some(_), None) => Err(format!("the header {name} is missing; it must be what {} is", self.name())),
            (Some(value), Some(sent)) => {
                let sent = decode(sent).map_err(|why| format!("the header {name} {why}"))?;
                if same(value, &sent) {
                    Ok(())
                } else {
                    Err(format!("the header {name} is {sent:?}, but {} is {value}", self.name()))
                }
            }
        }
    }

    fn name(&self) -> String {
        self.path.join(".")
    }
}

/// Only a chain of `properties` leads to a property that every call has in the same place.
fn collect(schema: &Value, path: &mut Vec<String>, found: &mut Vec<MirroredParam>) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    for (property, schema) in properties {
        path.push(property.clone());
        if let Some(name) = schema.get("x-mcp-header").and_then(Value::as_str) {
            found.push(MirroredParam { path: path.clone(), header: format!("{PARAM}{}", name.to_ascii_lowercase()) });
        }
        collect(schema, path, found);
        path.pop();
    }
}

/// Strings as they are, numbers by their value, booleans as words.
fn same(value: &Value, sent: &str) -> bool {
    match value {
        Value::String(text) => text == sent,
        Value::Bool(true) => sent == "true",
        Value::Bool(false) => sent == "false",
        Value::Number(number) => match (number.as_i64(), sent.parse::<i64>()) {
            (Some(number), Ok(sent)) => number == sent,
            _ => number.as_f64().is_some_and(|number| sent.parse::<f64>().is_ok_and(|sent| sent == number)),
        },
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    struct One(&'static str, &'static str);

    impl Headers for One {
        fn sent(&self, name: &str) -> Sent<'_> {
            if name == self.0 { Sent::Once(self.1.as_bytes()) } else { Sent::Nothing }
        }
    }

    #[test]
    fn names_may_come_between_the_marks_of_the_sentinel() {
        for (header, body, fits) in [
            ("read_file", "read_file", true),
            ("Read_File", "read_file", false),
            ("=?base64?cmVhZF9maWxl?=", "read_file", true),
            ("=?base64?5by1?=", "張", true),
            ("=?BASE64?cmVhZF9maWxl?=", "read_file", false),
            ("=?base64?cmVhZF9maWxl", "=?base64?cmVhZF9maWxl", true),
            ("=?base64?cmVhZF9maWxl=?=", "read_file", false),
            ("=?base64?5byg5?=", "張", false),
            ("=?base64?_w==?=", "\u{ff}", false),
            ("=?base64??=", "", true),
        ] {
            assert_eq!(check_encoded(&One(NAME, header), NAME, body).is_ok(), fits, "{header} for {body}");
        }
    }

    #[test]
    fn a_tools_own_headers_repeat_its_arguments() {
        let schema = json!({"type": "object", "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "deep": {"type": "object", "properties": {"count": {"type": "integer", "x-mcp-header": "Count"}}},
            "many": {"type": "array", "items": {"type": "string", "x-mcp-header": "Never"}},
        }});
        let params = MirroredParam::all(&schema);
        assert_eq!(
            params.iter().map(|param| param.header.as_str()).collect::<Vec<_>>(),
            ["mcp-param-region", "mcp-param-count"]
        );
        let (region, count) = (&params[0], &params[1]);
        for (param, headers, arguments, fits) in [
            (region, One("mcp-param-region", "eu"), json!({"region": "eu"}), true),
            (region, One("mcp-param-region", "=?base64?ZXU=?="), json!({"region": "eu"}), true),
            (region, One("mcp-param-region", "us"), json!({"region": "eu"}), false),
            (region, One("other", "eu"), json!({"region": "eu"}), false),
            (region, One("other", "eu"), json!({"region": null}), true),
            (region, One("other", "eu"), json!({}), true),
            (region, One("mcp-param-region", "eu"), json!({}), false),
            (count, One("mcp-param-count", "42.0"), json!({"deep": {"count": 42}}), true),
            (count, One("mcp-param-count", "42"), json!({"deep": {"count": 42}}), true),
            (count, One("mcp-param-count", "43"), json!({"deep": {"count": 42}}), false),
        ] {
            assert_eq!(param.check(&headers, &arguments).is_ok(), fits, "{arguments}");
        }
    }
}
