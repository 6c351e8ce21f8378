//! What makes two requests the same: the method, the name and the arguments, however they are spelled in JSON.

use blake3::Hasher;
use serde_json::Value;

use crate::model::json::parse_strict;

/// A call, or what else can be asked about, as its request has it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallText<'a> {
    /// Such as `tools/call`.
    pub(crate) method: &'static str,
    /// The name of the tool or prompt, or the address of the resource.
    pub(crate) name: &'a str,
    /// The arguments as JSON.
    pub(crate) arguments: &'a str,
}

impl CallText<'_> {
    /// Stands for the call. A client may write the same arguments with other blanks, or their members in another order.
    pub(super) fn digest(self) -> [u8; 32] {
        let mut hasher = Hasher::new_derive_key("toolgate call digest v2");
        add_bytes(&mut hasher, self.method.as_bytes());
        add_bytes(&mut hasher, self.name.as_bytes());
        match parse_strict(self.arguments) {
            Ok(arguments) => add(&mut hasher, &arguments),
            // It cannot be read; the text itself is all there is.
            Err(_) => add_bytes(hasher.update(b"?"), self.arguments.as_bytes()),
        }
        *hasher.finalize().as_bytes()
    }
}

/// Adds a value so that no two different values add the same bytes.
fn add(hasher: &mut Hasher, value: &Value) {
    match value {
        Value::Null => drop(hasher.update(b"n")),
        Value::Bool(true) => drop(hasher.update(b"t")),
        Value::Bool(false) => drop(hasher.update(b"f")),
        Value::Number(number) => add_bytes(hasher.update(b"d"), number.to_string().as_bytes()),
        Value::String(text) => add_bytes(hasher.update(b"s"), text.as_bytes()),
        Value::Array(items) => {
            add_length(hasher.update(b"a"), items.len());
            items.iter().for_each(|item| add(hasher, item));
        }
        Value::Object(members) => {
            add_length(hasher.update(b"o"), members.len());
            let mut members: Vec<_> = members.iter().collect();
            members.sort_unstable_by_key(|(name, _)| *name);
            for (name, value) in members {
                add_bytes(hasher, name.as_bytes());
                add(hasher, value);
            }
        }
    }
}

fn add_bytes(hasher: &mut Hasher, bytes: &[u8]) {
    add_length(hasher, bytes.len());
    hasher.update(bytes);
}

fn add_length(hasher: &mut Hasher, length: usize) {
    hasher.update(&(length as u64).to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_call_has_the_same_digest_and_no_other() {
        let digest = |name, arguments| CallText { method: "tools/call", name, arguments }.digest();
        let one = digest("write_file", r#"{"path":"a","content":"x\n"}"#);
        assert_eq!(digest("write_file", "{ \"content\": \"x\\u000a\", \"path\": \"a\" }"), one);
        for (tool, arguments) in [
            ("read_file", r#"{"path":"a","content":"x\n"}"#),
            ("write_file", r#"{"path":"a","content":"y\n"}"#),
            ("write_file", r#"{"path":"b","content":"x\n"}"#),
            ("write_file", r#"{"path":"a","content":["x\n"]}"#),
            ("write_file", r#"{"path":"a","content":"x\n","overwrite":null}"#),
            ("write_file", r#""{\"path\":\"a\",\"content\":\"x\\n\"}""#),
            ("write_file", r#"{"path":"a","path":"a"}"#),
            ("write_file", "{}"),
        ] {
            assert_ne!(digest(tool, arguments), one, "{tool} {arguments}");
        }
        let prompt = CallText { method: "prompts/get", name: "t", arguments: "{}" }.digest();
        assert_ne!(digest("t", "{}"), prompt, "a prompt is no tool");
        assert_ne!(digest("t", r#"[["a"],"b"]"#), digest("t", r#"[["a","b"]]"#));
        assert_ne!(digest("t", r#"{"ab":"c"}"#), digest("t", r#"{"a":"bc"}"#));
    }
}
