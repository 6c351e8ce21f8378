//! One line of JSON-RPC, told apart strictly before anything acts on it.
//!
//! jsonrpsee's own parser is not asked: it drops what it cannot read and takes a request with a negative id for a
//! notification.

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::rpc::error::RpcError;
use crate::rpc::id::RequestId;

/// What a frame is.
#[derive(Debug)]
pub(crate) enum Frame<'a> {
    /// Wants an answer.
    Request { id: RequestId, method: Cow<'a, str>, params: Option<&'a RawValue> },
    /// Wants none.
    Notification { method: Cow<'a, str>, params: Option<&'a RawValue> },
    /// Answers something that we asked: with a result, or without one if it is an error or malformed.
    Response { id: Option<RequestId>, result: Option<&'a RawValue> },
    /// Several frames in one.
    Batch(Vec<&'a RawValue>),
}

/// A frame that breaks JSON-RPC, and the id to answer it with, if one could be read.
#[derive(Debug)]
pub(crate) struct BadFrame {
    pub(crate) id: Option<RequestId>,
    pub(crate) error: RpcError,
    /// Whether the sender expects an answer.
    pub(crate) wants: Wants,
}

/// Whether the sender of a bad frame expects an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Wants {
    /// Nobody answers an answer or a notification (B138).
    Nothing,
    /// Nobody knows what it is.
    Perhaps,
    /// It is a request, if a bad one.
    Answer,
}

impl<'a> Frame<'a> {
    /// Reads the bytes between two line ends.
    pub(crate) fn read(line: &'a [u8]) -> Result<Self, BadFrame> {
        Frame::of(std::str::from_utf8(line).map_err(BadFrame::not_utf8)?)
    }

    /// Reads the text between two line ends.
    pub(crate) fn of(text: &'a str) -> Result<Self, BadFrame> {
        match text.trim_ascii_start().bytes().next() {
            Some(b'{') => Frame::single(text),
            Some(b'[') => {
                serde_json::from_str(text).map(Frame::Batch).map_err(|error| BadFrame::unreadable(error.to_string()))
            }
            _ => match serde_json::from_str::<de::IgnoredAny>(text) {
                Ok(_) => Err(BadFrame::stray("a message is a JSON object")),
                Err(error) => Err(BadFrame::unreadable(error.to_string())),
            },
        }
    }

    /// The id of a request.
    pub(crate) fn id(&self) -> Option<&RequestId> {
        match self {
            Frame::Request { id, .. } => Some(id),
            Frame::Notification { .. } | Frame::Response { .. } | Frame::Batch(_) => None,
        }
    }

    /// Reads a frame that is not a batch.
    pub(crate) fn single(text: &'a str) -> Result<Self, BadFrame> {
        let members: Members<'a> = serde_json::from_str(text).map_err(|error| BadFrame::from_serde(&error, text))?;
        members.classify()
    }
}

impl BadFrame {
    pub(crate) fn not_utf8(error: std::str::Utf8Error) -> Self {
        BadFrame::unreadable(format!("the line is not UTF-8 (byte {})", error.valid_up_to()))
    }

    fn unreadable(why: String) -> Self {
        BadFrame { id: None, error: RpcError::parse(why), wants: Wants::Perhaps }
    }

    /// What is to be told of what may be no message at all.
    pub(crate) fn stray(why: impl fmt::Display) -> Self {
        BadFrame { id: None, error: RpcError::invalid_request(why), wants: Wants::Perhaps }
    }

    /// What is to be told of a request that cannot be taken.
    pub(crate) fn request(id: Option<RequestId>, why: &str) -> Self {
        BadFrame { id, error: RpcError::invalid_request(why), wants: Wants::Answer }
    }

    /// JSON that is not of the right form is an invalid request; what is not JSON is a parse error.
    fn from_serde(error: &serde_json::Error, text: &str) -> Self {
        if error.is_data() && serde_json::from_str::<de::IgnoredAny>(text).is_ok() {
            BadFrame::stray(error)
        } else {
            BadFrame::unreadable(error.to_string())
        }
    }
}

/// The members of a frame, each at most once.
#[derive(Default)]
struct Members<'a> {
    version: Option<&'a RawValue>,
    id: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
    result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
}

impl<'a> Members<'a> {
    fn classify(self) -> Result<Frame<'a>, BadFrame> {
        let id = self.id.and_then(RequestId::read);
        let Some(method) = self.method else {
            return if self.result.is_some() || self.error.is_some() {
                let sound = self.version.map(RawValue::get) == Some("\"2.0\"") && self.error.is_none();
                Ok(Frame::Response { id, result: self.result.filter(|_| sound) })
            } else {
                let why = "the message has neither method nor result nor error";
                Err(if id.is_some() { BadFrame::request(id, why) } else { BadFrame::stray(why) })
            };
        };
        let invalid = |why| {
            let wants = if self.id.is_some() { Wants::Answer } else { Wants::Nothing };
            Err(BadFrame { wants, ..BadFrame::request(id.clone(), why) })
        };
        if self.version.map(RawValue::get) != Some("\"2.0\"") {
            return invalid("jsonrpc must be \"2.0\"");
        }
        let Ok(Text(method)) = Text::deserialize(method) else {
            return invalid("method must be a string");
        };
        match (self.id, id) {
            (None, _) => Ok(Frame::Notification { method, params: self.params }),
            (Some(_), Some(id)) => Ok(Frame::Request { id, method, params: self.params }),
            (Some(_), None) => Err(BadFrame::request(None, "id must be an integer or a string")),
        }
    }
}

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON-RPC message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
        let mut members = Members::default();
        while let Some(Text(key)) = map.next_key()? {
            let slot = match &*key {
                "jsonrpc" => &mut members.version,
                "id" => &mut members.id,
                "method" => &mut members.method,
                "params" => &mut members.params,
                "result" => &mut members.result,
                "error" => &mut members.error,
                _ => {
                    map.next_value::<de::IgnoredAny>()?;
                    continue;
                }
            };
            if slot.replace(map.next_value()?).is_some() {
                return Err(de::Error::custom(format_args!("the member {key} is there twice")));
            }
        }
        Ok(members)
    }
}

/// A string, borrowed where it holds no escapes.
struct Text<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;

        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }

        deserializer.deserialize_str(TextVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a line is, in a few words.
    fn kind(line: &str) -> String {
        match Frame::read(line.as_bytes()) {
            Ok(Frame::Request { id, method, .. }) => format!("request {id} {method}"),
            Ok(Frame::Notification { method, .. }) => format!("notification {method}"),
            Ok(Frame::Response { id, result }) => {
                let id = id.map_or_else(|| "nothing".to_owned(), |id| id.to_string());
                format!("response to {id}: {}", result.map_or("no result", RawValue::get))
            }
            Ok(Frame::Batch(frames)) => format!("batch of {}", frames.len()),
            Err(BadFrame { wants: Wants::Nothing, .. }) => "bad, and nobody is told".to_owned(),
            Err(BadFrame { id, error, .. }) => {
                format!("{} {}", error.code, id.map_or_else(|| "without id".to_owned(), |id| format!("to {id}")))
            }
        }
    }

    #[test]
    fn lines_and_what_they_are() {
        for (line, want) in [
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, "request 1 ping"),
            (r#"{"jsonrpc":"2.0","id":-1,"method":"ping"}"#, "request -1 ping"),
            (r#"{"jsonrpc":"2.0","id":"a","method":"\u0070ing"}"#, r#"request "a" ping"#),
            (r#"{"jsonrpc":"2.0","method":"notifications/x"}"#, "notification notifications/x"),
            (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, "response to 1: {}"),
            (r#"{"jsonrpc":"2.0","id":"a","result":{"action":"accept"}}"#, r#"response to "a": {"action":"accept"}"#),
            (r#"{"jsonrpc":"2.0","id":"a","error":{"code":1,"message":""}}"#, r#"response to "a": no result"#),
            (r#"{"jsonrpc":"2.0","id":"a","result":{},"error":{}}"#, r#"response to "a": no result"#),
            (r#"{"id":"a","result":{}}"#, r#"response to "a": no result"#),
            (r#"{"jsonrpc":"2.0","result":{}}"#, "response to nothing: {}"),
            (r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}"#, "response to nothing: no result"),
            (r#"{"id":null,"error":{}}"#, "response to nothing: no result"),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},1]"#, "batch of 2"),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, "-32600 without id"),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, "-32600 without id"),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, "-32600 without id"),
            (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, "-32600 to 1"),
            (r#"{"id":1,"method":"ping"}"#, "-32600 to 1"),
            (r#"{"method":"ping"}"#, "bad, and nobody is told"),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, "-32600 to 1"),
            (r#"{"jsonrpc":"2.0","id":1}"#, "-32600 to 1"),
            ("7", "-32600 without id"),
            ("not json", "-32700 without id"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping"} x"#, "-32700 without id"),
            (r#"{"jsonrpc":"2.0","#, "-32700 without id"),
        ] {
            assert_eq!(kind(line), want, "{line}");
        }
    }

    #[test]
    fn nesting_without_end_keeps_its_id() {
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        assert_eq!(kind(&format!(r#"{{"jsonrpc":"2.0","id":7,"method":"m","params":{deep}}}"#)), "request 7 m");
    }
}
