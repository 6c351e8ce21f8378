//! The two kinds of failure: a tool error is part of the conversation, a protocol failure ends the request.

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value};

/// What went wrong with a call, as a program tells it apart. A closed set; codes are never renamed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// The arguments do not fit the tool's schema; the message lists every fault.
    InvalidArguments,
    /// Nothing is at that path.
    FileNotFound,
    /// The text to replace is not in the file.
    OldStrNotFound,
    /// The text to replace is in the file more than once.
    AmbiguousMatch,
    /// The path, or a link on the way, leaves the workspace.
    OutsideWorkspace,
    /// Something is there, but not a regular file.
    NotAFile,
    /// Something is there, but not a folder.
    NotADirectory,
    /// Something is there already.
    AlreadyExists,
    /// The folder still holds something.
    DirectoryNotEmpty,
    /// The operating system says no.
    PermissionDenied,
    /// A rule, a hook or a person says no.
    Denied,
    /// The file must be read before it is overwritten.
    ReadRequired,
    /// The file is not what the call rests on any more.
    StaleVersion,
    /// More than this tool takes or gives.
    TooLarge,
    /// The file is not text.
    BinaryFile,
    /// The file is text, but not in an encoding that can be kept.
    UnsupportedEncoding,
    /// The disk, a quota or a size limit is full.
    NoSpace,
    /// It took longer than allowed.
    TimedOut,
    /// The caller took the call back.
    Cancelled,
    /// A code-mode program failed.
    CodeRunFailed,
    /// The operating system failed in another way.
    IoError,
}

impl ErrorCode {
    /// Every code, in the order of the documentation.
    pub const ALL: [ErrorCode; 21] = [
        ErrorCode::InvalidArguments,
        ErrorCode::FileNotFound,
        ErrorCode::OldStrNotFound,
        ErrorCode::AmbiguousMatch,
        ErrorCode::OutsideWorkspace,
        ErrorCode::NotAFile,
        ErrorCode::NotADirectory,
        ErrorCode::AlreadyExists,
        ErrorCode::DirectoryNotEmpty,
        ErrorCode::PermissionDenied,
        ErrorCode::Denied,
        ErrorCode::ReadRequired,
        ErrorCode::StaleVersion,
        ErrorCode::TooLarge,
        ErrorCode::BinaryFile,
        ErrorCode::UnsupportedEncoding,
        ErrorCode::NoSpace,
        ErrorCode::TimedOut,
        ErrorCode::Cancelled,
        ErrorCode::CodeRunFailed,
        ErrorCode::IoError,
    ];

    /// The code as it stands on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            ErrorCode::InvalidArguments => "invalid_arguments",
            ErrorCode::FileNotFound => "file_not_found",
            ErrorCode::OldStrNotFound => "old_str_not_found",
            ErrorCode::AmbiguousMatch => "ambiguous_match",
            ErrorCode::OutsideWorkspace => "outside_workspace",
            ErrorCode::NotAFile => "not_a_file",
            ErrorCode::NotADirectory => "not_a_directory",
            ErrorCode::AlreadyExists => "already_exists",
            ErrorCode::DirectoryNotEmpty => "directory_not_empty",
            ErrorCode::PermissionDenied => "permission_denied",
            ErrorCode::Denied => "denied",
            ErrorCode::ReadRequired => "read_required",
            ErrorCode::StaleVersion => "stale_version",
            ErrorCode::TooLarge => "too_large",
            ErrorCode::BinaryFile => "binary_file",
            ErrorCode::UnsupportedEncoding => "unsupported_encoding",
            ErrorCode::NoSpace => "no_space",
            ErrorCode::TimedOut => "timed_out",
            ErrorCode::Cancelled => "cancelled",
            ErrorCode::CodeRunFailed => "code_run_failed",
            ErrorCode::IoError => "io_error",
        }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A call failed in a way that the model can act on.
///
/// The message says what is wrong and what to do next; `details` says the same to programs.
///
/// ```
/// use toolgate::{ErrorCode, ToolError};
/// let error = ToolError::new(ErrorCode::TooLarge, "The page is 9 MB. Ask for a part of it.").with("bytes", 9_000_000);
/// assert_eq!(error.details["bytes"], 9_000_000);
/// ```
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{code}: {message}")]
#[non_exhaustive]
pub struct ToolError {
    /// Which failure this is.
    pub code: ErrorCode,
    /// For the model: what is wrong, and what to do next.
    pub message: String,
    /// For programs: line numbers, sizes, candidates.
    pub details: Map<String, Value>,
}

impl ToolError {
    /// A failure without details.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        ToolError { code, message: message.into(), details: Map::new() }
    }

    /// One argument is wrong in a way that its schema cannot say.
    pub fn bad_argument(field: &str, problem: impl fmt::Display) -> Self {
        let problem = problem.to_string();
        ToolError::new(ErrorCode::InvalidArguments, format!("{field}: {problem}"))
            .with("faults", serde_json::json!([{"field": field, "problem": problem}]))
    }

    /// The code and the message, for people: the code is said once, also where the message begins with it.
    #[must_use]
    pub fn told(&self) -> String {
        let code = self.code.to_string();
        let said = self.message.strip_prefix(code.as_str()).and_then(|rest| rest.strip_prefix(": "));
        format!("{code}: {}", said.unwrap_or(&self.message))
    }

    /// The same failure with one more detail.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.details.insert(key.to_owned(), value.into());
        self
    }
}

/// The request breaks the contract; no outcome comes of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProtocolError {
    /// No tool has that name.
    #[error("unknown tool: {}{}", glimpse(name), instead(meant.as_deref(), tools))]
    UnknownTool {
        /// The name that was asked for.
        name: String,
        /// The tool that is called most like it.
        meant: Option<String>,
        /// The tools that there are.
        tools: Vec<String>,
    },
    /// A tool panicked; a fault in the tool, not of the caller.
    #[error("the tool {tool} failed internally; its other calls are not affected")]
    Internal {
        /// The tool that failed.
        tool: String,
    },
}

/// So many characters of a text that others wrote are shown in a message.
const GLIMPSE: usize = 100;

/// `text` such that it keeps to its line and to a sensible length: as it is if it does already, else quoted, escaped
/// and cut.
#[must_use]
pub fn glimpse(text: &str) -> Cow<'_, str> {
    let end = text.char_indices().nth(GLIMPSE).map_or(text.len(), |(at, _)| at);
    if end == text.len() && !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{:?}{}", &text[..end], if end < text.len() { "..." } else { "" }))
}

/// Which tool to call instead of one that nobody knows.
fn instead(meant: Option<&str>, tools: &[String]) -> String {
    /// More names than this help nobody.
    const NAMED: usize = 20;
    match meant {
        Some(meant) => format!(" (did you mean {meant}?)"),
        None if tools.is_empty() => String::new(),
        None => format!("; there is {}", tools[..tools.len().min(NAMED)].join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_is_told_once() {
        let told = |message: &str| ToolError::new(ErrorCode::Denied, message).told();
        assert_eq!(told("denied: by a rule"), "denied: by a rule");
        assert_eq!(told("by a rule"), "denied: by a rule");
        assert_eq!(told("denied by a rule"), "denied: denied by a rule");
    }

    #[test]
    fn a_glimpse_keeps_to_its_line_and_length() {
        let long = "\u{e4}".repeat(GLIMPSE + 1);
        for (text, want) in [
            ("read_fil", "read_fil".to_owned()),
            ("", String::new()),
            ("a\nb\u{1b}[31m", r#""a\nb\u{1b}[31m""#.to_owned()),
            (&long[..2 * GLIMPSE], long[..2 * GLIMPSE].to_owned()),
            (&long, format!("{:?}...", &long[..2 * GLIMPSE])),
        ] {
            assert_eq!(glimpse(text), want);
        }
    }

    #[test]
    fn every_code_is_on_the_wire_as_it_is_spelled() {
        for code in ErrorCode::ALL {
            assert_eq!(serde_json::to_value(code).expect("a code"), code.as_str());
        }
    }
}
