//! The one-shot protocol: one JSON document in, one out, a workspace that lives in the document.
//!
//! ```
//! let input = r#"{"op": "dispatch", "workspace": {"a.txt": "hi\n"}, "call": {"tool": "read_file", "args": {"path": "a.txt"}}}"#;
//! let output = toolgate::oneshot::answer(input.as_bytes())?.to_json();
//! assert_eq!(output, r#"{"observation":"1: hi\n","status":"ok","tool":"read_file","workspace":{"a.txt":"hi\n"}}"#);
//! # Ok::<(), toolgate::oneshot::Refusal>(())
//! ```

mod document;

use std::collections::BTreeMap;
use std::io::{self, Write};

use bytes::Bytes;
use futures_util::FutureExt;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::dispatch::{Control, Dispatcher};
use crate::model::call::{Call, Caller};
use crate::model::error::{ErrorCode, ProtocolError, ToolError, glimpse};
use crate::model::json::{self as strict, JsonFault, JsonFaultKind};
use crate::model::path::WsPath;
use crate::tool::registry::{RegisterError, Registry};
use crate::tool::view::Settings;
use crate::tools;
use crate::workspace::memory::Memory;

/// Why a document gets no answer: it breaks the contract, and the process ends with exit code 1.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// Nothing but white space.
    #[error("the input is empty: give one JSON document such as {EXAMPLE}")]
    Empty,
    /// Not UTF-8.
    #[error("the input is not UTF-8 (byte {0}): JSON is")]
    NotUtf8(usize),
    /// Not one JSON document of the right form.
    #[error("the input is not one JSON document of the right form: {0}; it looks like {EXAMPLE}")]
    Malformed(String),
    /// `op` is something else.
    #[error("op must be \"dispatch\", not {}", glimpse(.0))]
    WrongOp(String),
    /// Two keys of the workspace name one file.
    #[error("the workspace has {} and {}, which are the same file: leave one out", glimpse(.0), glimpse(.1))]
    SameFile(String, String),
    /// The call breaks the contract.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    /// The tools could not be put together.
    #[error(transparent)]
    Tools(#[from] RegisterError),
}

const EXAMPLE: &str =
    r#"{"op":"dispatch","workspace":{"a.txt":"hi\n"},"call":{"tool":"read_file","args":{"path":"a.txt"}}}"#;

/// What comes in.
#[derive(Debug)]
struct Document<'a> {
    op: String,
    workspace: Vec<(String, String)>,
    tool: String,
    args: Option<&'a RawValue>,
}

/// What goes out. The keys stand in alphabetical order.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Answer {
    /// The code of a tool error.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorCode>,
    /// Every fault of the arguments, with `invalid_arguments` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// What the model is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    observation: Option<String>,
    /// Whether the tool did it.
    status: Status,
    /// The tool that was called.
    tool: String,
    /// All files after the call, as they were on any error.
    workspace: BTreeMap<String, String>,
}

/// Whether the tool did it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It did.
    Ok,
    /// It could not, and says why.
    Error,
}

/// Answers one document.
///
/// # Errors
/// The document breaks the contract; there is no answer then.
pub fn answer(input: &[u8]) -> Result<Answer, Refusal> {
    let Document { op, workspace, tool, args } = parse(input)?;
    if op != "dispatch" {
        return Err(Refusal::WrongOp(op));
    }
    let arguments = arguments(args)?;
    let files = Files::new(workspace)?;
    let mut registry = Registry::new();
    tools::register_file_tools(&mut registry)?;
    let dispatcher = Dispatcher::new(registry, files.memory.clone(), Settings::exact());
    let call = Call { tool: tool.clone(), arguments };
    // Memory never makes a call wait, so no runtime is needed to drive it.
    let completed = dispatcher
        .dispatch(call, &Caller::OneShot, Control::default())
        .now_or_never()
        .unwrap_or_else(|| Err(ProtocolError::Internal { tool: tool.clone() }))?;
    drop(dispatcher);
    let (status, observation, error, message) = match completed.outcome {
        Ok(output) => (Status::Ok, Some(output.observation()), None, None),
        Err(ToolError { code: ErrorCode::InvalidArguments, message, .. }) => {
            (Status::Error, None, Some(ErrorCode::InvalidArguments), Some(message))
        }
        Err(fault) => (Status::Error, None, Some(fault.code), None),
    };
    Ok(Answer { error, message, observation, status, tool, workspace: files.into_text() })
}

impl Answer {
    /// The document on one line.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Writes the document and a line end.
    ///
    /// # Errors
    /// Whatever `out` gives.
    pub fn write_to(&self, mut out: impl Write) -> io::Result<()> {
        serde_json::to_writer(&mut out, self)?;
        out.write_all(b"\n")?;
        out.flush()
    }
}

/// The schema of the document that comes in.
#[must_use]
pub fn input_schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "One-shot dispatch, input",
        "type": "object",
        "properties": {
            "op": {"const": "dispatch"},
            "workspace": {
                "type": "object",
                "description": "The files: path to text.",
                "additionalProperties": {"type": "string"},
            },
            "call": {
                "type": "object",
                "description": "What the model wants done.",
                "properties": {
                    "tool": {"type": "string", "description": "The tool's name."},
                    "args": {"description": "The tool's arguments. What does not fit the tool is answered with invalid_arguments."},
                },
                "required": ["tool"],
            },
        },
        "required": ["op", "workspace", "call"],
    })
}

/// The schema of the document that goes out.
#[must_use]
pub fn output_schema() -> Value {
    let schema = schemars::generate::SchemaSettings::draft2020_12().for_serialize().into_generator();
    schema.into_root_schema_for::<Answer>().to_value()
}

fn parse(input: &[u8]) -> Result<Document<'_>, Refusal> {
    let text = std::str::from_utf8(input).map_err(|error| Refusal::NotUtf8(error.valid_up_to()))?;
    // Some Windows programs put a byte order mark before what they pipe (B009).
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim_ascii().is_empty() {
        return Err(Refusal::Empty);
    }
    document::read(text).map_err(|error| Refusal::Malformed(brief(&error.to_string())))
}

/// serde's words quote whole values; what is left of long ones is how they begin, and where they stand.
fn brief(said: &str) -> String {
    const BEGIN: usize = 200;
    const END: usize = 60;
    let chars = said.chars().count();
    if chars <= BEGIN + END {
        return said.to_owned();
    }
    said.chars().take(BEGIN).chain("...".chars()).chain(said.chars().skip(chars - END)).collect()
}

/// The arguments, or what is wrong with them: that is for the validator to say, since the model wrote them. Only
/// nesting without end is the document's fault.
fn arguments(raw: Option<&RawValue>) -> Result<Result<Value, JsonFault>, Refusal> {
    match raw.map(|raw| strict::parse_strict(raw.get())) {
        None => Ok(Ok(Value::Null)),
        Some(Err(fault)) if fault.kind == JsonFaultKind::TooDeep => Err(Refusal::Malformed(fault.to_string())),
        Some(parsed) => Ok(parsed),
    }
}

/// The files of a document, and how its author spelled their paths.
struct Files {
    memory: Memory,
    spelling: BTreeMap<WsPath, String>,
    /// Keys that name nothing inside a workspace: no call can reach them, and they come back as they were.
    unreachable: BTreeMap<String, String>,
}

impl Files {
    fn new(workspace: Vec<(String, String)>) -> Result<Self, Refusal> {
        let mut files = BTreeMap::new();
        let mut spelling = BTreeMap::new();
        let mut unreachable = BTreeMap::new();
        for (key, text) in workspace {
            match WsPath::parse(&key) {
                Ok(path) if !path.is_root() => {
                    if let Some(other) = spelling.insert(path.clone(), key.clone()) {
                        return Err(Refusal::SameFile(other, key));
                    }
                    files.insert(path, Bytes::from(text));
                }
                _ => {
                    if unreachable.insert(key.clone(), text).is_some() {
                        return Err(Refusal::SameFile(key.clone(), key));
                    }
                }
            }
        }
        Ok(Files { memory: Memory::from_files(files), spelling, unreachable })
    }

    fn into_text(self) -> BTreeMap<String, String> {
        let mut spelling = self.spelling;
        let mut workspace = self.unreachable;
        for (path, bytes) in self.memory.take() {
            let key = spelling.remove(&path).unwrap_or_else(|| path.as_str().to_owned());
            // Texts went in, and tools put texts there.
            workspace.insert(key, String::from_utf8(bytes.into()).unwrap_or_default());
        }
        workspace
    }
}
