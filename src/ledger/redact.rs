//! What of a call's arguments is not written as it is: secrets not at all, long texts once, elsewhere.

mod secrets;

use serde_json::{Value, json};

pub use crate::ledger::redact::secrets::Secrets;
use crate::model::file_bytes::FileBytes;
use crate::model::json::parse_strict;

/// From this many bytes on a text is stored by itself.
const LONG: usize = 1024;

/// Which arguments are secret: globs `tool.argument`, such as `write_file.content` or `*.content`.
///
/// An argument is secret wherever in the arguments its name stands; `*` and `?` stand for any letters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Redact(Vec<(String, String)>);

/// The arguments of a call as they are recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Without what is secret, and with stand-ins for long texts.
    pub arguments: Value,
    /// The long texts, which are kept by themselves.
    pub texts: Vec<FileBytes>,
}

/// A rule that does not say what is secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` does not say what is secret: write `tool.argument`, such as `write_file.content` or `*.password`")]
pub struct BadRule(String);

impl Redact {
    /// The rules as a configuration writes them.
    ///
    /// # Errors
    /// One of them is no rule.
    pub fn new(rules: &[impl AsRef<str>]) -> Result<Self, BadRule> {
        let parts = |rule: &str| match rule.split_once('.') {
            Some((tool, argument)) if !tool.is_empty() && !argument.is_empty() => {
                Ok((tool.to_owned(), argument.to_owned()))
            }
            _ => Err(BadRule(rule.to_owned())),
        };
        rules.iter().map(|rule| parts(rule.as_ref())).collect::<Result<_, _>>().map(Redact)
    }

    /// Whether nothing is secret.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Replaces what is secret in the arguments of `tool` by `{"$secret": true}`, and tells what that was.
    pub fn apply(&self, tool: &str, arguments: &mut Value) -> Secrets {
        let of_tool = self.0.iter().filter(|(pattern, _)| matches(pattern, tool));
        let names: Vec<&str> = of_tool.map(|(_, argument)| argument.as_str()).collect();
        let mut secrets = Secrets::default();
        if !names.is_empty() {
            hide(&names, arguments, &mut secrets);
            // What cannot be read cannot be searched.
            if let Value::String(_) = arguments {
                take(arguments, &mut secrets);
            }
        }
        secrets
    }

    /// `arguments` of `tool` as they are recorded.
    pub(super) fn written(&self, tool: &str, mut arguments: Value) -> Written {
        let mut texts = Vec::new();
        self.apply(tool, &mut arguments);
        shorten(&mut arguments, &mut texts);
        Written { arguments, texts }
    }

    /// Whether the rule `pattern` for tools or arguments, as a configuration writes it, is about `name`.
    #[must_use]
    pub fn is_about(pattern: &str, name: &str) -> bool {
        matches(pattern, name)
    }
}

fn hide(names: &[&str], value: &mut Value, secrets: &mut Secrets) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                if names.iter().any(|pattern| matches(pattern, name)) {
                    take(value, secrets);
                } else {
                    hide(names, value, secrets);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| hide(names, item, secrets)),
        // A text may stand for the object or list that it holds; where that has a secret it is written as what it is.
        Value::String(text) if text.trim_start().starts_with(['{', '[']) => {
            if let Ok(mut inner) = parse_strict(text) {
                let mut found = Secrets::default();
                hide(names, &mut inner, &mut found);
                if found.any() {
                    *value = inner;
                    secrets.join(found);
                }
            }
        }
        _ => {}
    }
}

fn take(value: &mut Value, secrets: &mut Secrets) {
    secrets.add(value);
    *value = json!({"$secret": true});
}

/// Replaces long texts by `{"$blob": version, "bytes": count}` and puts each to `kept`.
pub fn shorten(value: &mut Value, kept: &mut Vec<FileBytes>) {
    match value {
        Value::String(text) if text.len() > LONG => {
            let text = FileBytes::from(std::mem::take(text));
            *value = json!({"$blob": text.version(), "bytes": text.len()});
            kept.push(text);
        }
        Value::Object(members) => members.values_mut().for_each(|value| shorten(value, kept)),
        Value::Array(items) => items.iter_mut().for_each(|item| shorten(item, kept)),
        _ => {}
    }
}

/// Whether `text` is what `pattern` says, `*` standing for any letters and `?` for one.
fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t, mut star) = (0, 0, None);
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(&c) if c == '?' || c == text[t] => {
                p += 1;
                t += 1;
            }
            // The last star takes one letter more.
            _ => match &mut star {
                Some((at, taken)) => {
                    *taken += 1;
                    (p, t) = (*at + 1, *taken);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::version::Version;

    #[test]
    fn patterns() {
        for (pattern, text, want) in [
            ("write_file", "write_file", true),
            ("write_file", "write_files", false),
            ("*", "", true),
            ("*_file", "patch_file", true),
            ("*a*b", "xaxbxb", true),
            ("*a*b", "xaxbxc", false),
            ("p?tch", "patch", true),
            ("p?tch", "pätch", true),
            ("?", "", false),
        ] {
            assert_eq!(matches(pattern, text), want, "{pattern} {text}");
        }
    }

    #[test]
    fn secrets_are_hidden_wherever_they_stand() {
        let rules = Redact::new(&["write_file.content", "*.password"]).unwrap();
        let arguments = json!({"content": "s3cret", "deep": [{"password": ["x"], "path": "a"}]});
        let mut written = arguments.clone();
        rules.apply("write_file", &mut written);
        let secret = json!({"$secret": true});
        assert_eq!(written, json!({"content": secret, "deep": [{"password": secret, "path": "a"}]}));
        let mut other = arguments.clone();
        rules.apply("patch_file", &mut other);
        assert_eq!(other, json!({"content": "s3cret", "deep": [{"password": secret, "path": "a"}]}));
        let mut text = json!(r#"{"content":"s3cret","path":"a"}"#);
        rules.apply("write_file", &mut text);
        assert_eq!(text, json!({"content": secret, "path": "a"}), "arguments that came as a text");
        let mut text = json!({"list": r#"[{"password":"x"}]"#, "path": "{not JSON"});
        rules.apply("write_file", &mut text);
        assert_eq!(text, json!({"list": [{"password": secret}], "path": "{not JSON"}));
        let mut text = json!("content: s3cret");
        rules.apply("write_file", &mut text);
        assert_eq!(text, secret, "who knows what is in there");
        assert!(Redact::new(&["content"]).unwrap_err().to_string().contains("tool.argument"));
    }

    #[test]
    fn long_texts_are_stored_by_themselves() {
        let long = "é".repeat(513);
        let mut value = json!({"a": [long.clone()], "b": "x".repeat(1024)});
        let mut kept = Vec::new();
        shorten(&mut value, &mut kept);
        let version = Version::of(long.as_bytes());
        assert_eq!(value, json!({"a": [{"$blob": version, "bytes": 1026}], "b": "x".repeat(1024)}));
        assert_eq!(kept, [FileBytes::from(long)]);
    }
}
