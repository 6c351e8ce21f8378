//! Reads the document of the one-shot protocol in one pass, without building what is only looked at once.

use std::fmt;

use serde::Deserializer;
use serde::de::{self, DeserializeSeed, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::Document;

/// Reads `text`, which must be one document and nothing else.
pub(super) fn read(text: &str) -> Result<Document<'_>, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let document = deserializer.deserialize_map(DocumentVisitor)?;
    deserializer.end()?;
    Ok(document)
}

struct DocumentVisitor;

impl<'de> Visitor<'de> for DocumentVisitor {
    type Value = Document<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with op, workspace and call")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Document<'de>, A::Error> {
        let (mut op, mut workspace, mut call) = (None, None, None);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "op" => once(&mut op, "op", map.next_value()?)?,
                "workspace" => once(&mut workspace, "workspace", map.next_value_seed(Files)?)?,
                "call" => once(&mut call, "call", map.next_value_seed(Call)?)?,
                _ => skip(&mut map)?,
            }
        }
        let (tool, args) = call.ok_or_else(|| de::Error::missing_field("call"))?;
        Ok(Document {
            op: op.ok_or_else(|| de::Error::missing_field("op"))?,
            workspace: workspace.ok_or_else(|| de::Error::missing_field("workspace"))?,
            tool,
            args,
        })
    }
}

/// The `workspace` member: path to text. Keys may come twice; whoever makes files of them refuses that.
struct Files;

impl<'de> DeserializeSeed<'de> for Files {
    type Value = Vec<(String, String)>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Files {
    type Value = Vec<(String, String)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("workspace to be an object of path to text")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut files = Vec::new();
        while let Some(file) = map.next_entry()? {
            files.push(file);
        }
        Ok(files)
    }
}

/// The `call` member: the tool's name, and its arguments unread.
struct Call;

impl<'de> DeserializeSeed<'de> for Call {
    type Value = (String, Option<&'de RawValue>);

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Call {
    type Value = (String, Option<&'de RawValue>);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("call to be an object with tool and args")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut tool, mut args) = (None, None);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "tool" => once(&mut tool, "call.tool", map.next_value()?)?,
                "args" => once(&mut args, "call.args", map.next_value::<&'de RawValue>()?)?,
                _ => skip(&mut map)?,
            }
        }
        Ok((tool.ok_or_else(|| de::Error::missing_field("call.tool"))?, args))
    }
}

/// Takes a member that may come only once: another reader of the document might take the other one (B094).
fn once<T, E: de::Error>(slot: &mut Option<T>, name: &'static str, value: T) -> Result<(), E> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(de::Error::duplicate_field(name)),
    }
}

/// Skips a member that means nothing here, but not past the depth that a document may have.
fn skip<'de, A: MapAccess<'de>>(map: &mut A) -> Result<(), A::Error> {
    let raw: &RawValue = map.next_value()?;
    if depth(raw.get()) > DEPTH { Err(de::Error::custom("recursion limit exceeded")) } else { Ok(()) }
}

/// How deep a document may be nested, as everywhere else.
const DEPTH: usize = 126;

/// How deep `json` is nested.
fn depth(json: &str) -> usize {
    let (mut depth, mut deepest, mut in_string, mut escaped) = (0_usize, 0, false, false);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}
