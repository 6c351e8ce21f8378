//! `toolgate.toml` as it is written.

use std::collections::BTreeMap;
use std::num::{NonZeroU64, NonZeroUsize};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use toml::Spanned;

use super::http::HttpSection;
use crate::gate::command_hook::HookSpec;
use crate::gate::rules::{Decision, Rule};
use crate::model::mode::Mode;
use crate::tool::view::Limits;
use crate::workspace;

/// The configuration of toolgate.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(title = "toolgate.toml")]
pub(super) struct File {
    /// How results are sent over MCP.
    pub(super) results: Option<Results>,
    /// Whether nothing may be changed.
    pub(super) read_only: Option<bool>,
    /// What a change outlives once it is told as done.
    pub(super) durability: Option<Durability>,
    /// Whether changes of what is in a `.git` are denied, as they are if this is left out. Git runs what is written
    /// there.
    pub(super) protect_git: Option<bool>,
    /// What holds for calls that no rule hits; `allow` if left out.
    pub(super) otherwise: Option<Decision>,
    /// How the tools reach a model; `native` if left out.
    pub(super) mode: Option<Mode>,
    /// How programs are run in code mode.
    pub(super) code: CodeSection,
    /// How much one answer may hold and one change may touch.
    pub(super) limits: LimitsSection,
    /// Which calls may run.
    #[schemars(with = "Vec<Rule>")]
    pub(super) rule: Vec<Spanned<Rule>>,
    /// Commands that are asked about calls.
    #[schemars(with = "Vec<HookSpec>")]
    pub(super) hook: Vec<Spanned<HookSpec>>,
    /// Other wordings of tools' descriptions, by tool.
    #[schemars(with = "BTreeMap<String, Description>")]
    pub(super) descriptions: BTreeMap<Spanned<String>, Description>,
    /// The log of what happened.
    pub(super) log: LogSection,
    /// How long what is kept for undoing stays.
    pub(super) retention: Retention,
    /// How people are asked.
    pub(super) approval: Approval,
    /// Serving over HTTP.
    pub(super) http: HttpSection,
}

/// How results are sent over MCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Results {
    /// As text.
    #[default]
    Text,
    /// As text and as typed output.
    Structured,
}

/// What a change outlives once it is told as done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    /// The loss of power.
    #[default]
    Full,
    /// The end of the process.
    Process,
}

impl From<Durability> for workspace::Durability {
    fn from(durability: Durability) -> Self {
        match durability {
            Durability::Full => workspace::Durability::Full,
            Durability::Process => workspace::Durability::Process,
        }
    }
}

/// How much one answer may hold and one change may touch. What is left out is as built in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LimitsSection {
    /// Lines of one `read_file` answer.
    pub read_lines: Option<NonZeroU64>,
    /// Bytes of text of one `read_file` answer.
    pub read_bytes: Option<NonZeroUsize>,
    /// Rows of one listing.
    pub list_entries: Option<NonZeroUsize>,
    /// Paths that `find_files` shows, and files that `search_files` names, if the call does not say how many.
    pub found_paths: Option<NonZeroUsize>,
    /// Matching lines that `search_files` shows if the call does not say how many.
    pub found_lines: Option<NonZeroUsize>,
    /// Bytes of text of one answer of `find_files` or `search_files`.
    pub found_bytes: Option<NonZeroUsize>,
    /// Bytes that `search_files` shows of a longer line.
    pub found_line_bytes: Option<NonZeroUsize>,
    /// Bytes of one image.
    pub image_bytes: Option<NonZeroU64>,
    /// Bytes of one resource.
    pub resource_bytes: Option<NonZeroU64>,
    /// Bytes of a file that can be patched or overwritten.
    pub edit_bytes: Option<NonZeroU64>,
    /// Bytes that one `delete_path` takes. What is deleted is kept for undoing, so more than the retention keeps is lost.
    pub delete_bytes: Option<NonZeroU64>,
    /// Files, links and folders that one `delete_path` takes.
    pub delete_entries: Option<NonZeroUsize>,
}

impl LimitsSection {
    /// Puts the limits that are given in the place of those that are built in.
    pub fn apply(&self, limits: &mut Limits) {
        fn put<T>(place: &mut T, value: Option<impl Into<T>>) {
            if let Some(value) = value {
                *place = value.into();
            }
        }
        put(&mut limits.read_lines, self.read_lines);
        put(&mut limits.read_bytes, self.read_bytes);
        put(&mut limits.list_entries, self.list_entries);
        put(&mut limits.found_paths, self.found_paths);
        put(&mut limits.found_lines, self.found_lines);
        put(&mut limits.found_bytes, self.found_bytes);
        put(&mut limits.found_line_bytes, self.found_line_bytes);
        put(&mut limits.image_bytes, self.image_bytes);
        put(&mut limits.resource_bytes, self.resource_bytes);
        put(&mut limits.edit_bytes, self.edit_bytes);
        put(&mut limits.delete_bytes, self.delete_bytes);
        put(&mut limits.delete_entries, self.delete_entries);
    }

    /// These limits, and where one is left out, that of `other`.
    pub(super) fn or(self, other: Self) -> Self {
        LimitsSection {
            read_lines: self.read_lines.or(other.read_lines),
            read_bytes: self.read_bytes.or(other.read_bytes),
            list_entries: self.list_entries.or(other.list_entries),
            found_paths: self.found_paths.or(other.found_paths),
            found_lines: self.found_lines.or(other.found_lines),
            found_bytes: self.found_bytes.or(other.found_bytes),
            found_line_bytes: self.found_line_bytes.or(other.found_line_bytes),
            image_bytes: self.image_bytes.or(other.image_bytes),
            resource_bytes: self.resource_bytes.or(other.resource_bytes),
            edit_bytes: self.edit_bytes.or(other.edit_bytes),
            delete_bytes: self.delete_bytes.or(other.delete_bytes),
            delete_entries: self.delete_entries.or(other.delete_entries),
        }
    }
}

/// How programs are run in code mode. What is left out is as built in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CodeSection {
    /// Milliseconds that a run may take, without the time in which a person is asked; `600000` if left out.
    pub wall_ms: Option<NonZeroU64>,
    /// Milliseconds that a run may keep a processor busy; `60000` if left out.
    pub computing_ms: Option<NonZeroU64>,
    /// Bytes of a program's values; `67108864` if left out.
    #[schemars(range(min = 1048576))]
    pub heap_bytes: Option<NonZeroUsize>,
    /// Bytes of a program's calls within calls, at most `4194304`; `1048576` if left out.
    #[schemars(range(min = 65536, max = 4194304))]
    pub stack_bytes: Option<NonZeroUsize>,
    /// Bytes of a program; `262144` if left out.
    pub source_bytes: Option<NonZeroUsize>,
    /// Bytes of what a program prints; `65536` if left out.
    pub log_bytes: Option<NonZeroUsize>,
    /// Bytes of what a program returns, as JSON; `262144` if left out.
    pub result_bytes: Option<NonZeroUsize>,
    /// Bytes of the arguments of one call and of what comes back, as JSON; `16777216` if left out.
    pub call_bytes: Option<NonZeroUsize>,
    /// How many calls a program may make; `2000` if left out.
    pub calls: Option<NonZeroU64>,
    /// Whether nothing runs unless the system confines it in every way that is known.
    pub require_sandbox: Option<bool>,
}

impl CodeSection {
    /// These settings, and where one is left out, that of `other`.
    pub(super) fn or(self, other: Self) -> Self {
        CodeSection {
            wall_ms: self.wall_ms.or(other.wall_ms),
            computing_ms: self.computing_ms.or(other.computing_ms),
            heap_bytes: self.heap_bytes.or(other.heap_bytes),
            stack_bytes: self.stack_bytes.or(other.stack_bytes),
            source_bytes: self.source_bytes.or(other.source_bytes),
            log_bytes: self.log_bytes.or(other.log_bytes),
            result_bytes: self.result_bytes.or(other.result_bytes),
            call_bytes: self.call_bytes.or(other.call_bytes),
            calls: self.calls.or(other.calls),
            require_sandbox: self.require_sandbox.or(other.require_sandbox),
        }
    }
}

/// Another wording of a tool's description.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// What the wording is called in the log, so that wordings can be compared.
    pub variant: String,
    /// The wording: a prompt.
    pub text: String,
}

/// The log of what happened.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct LogSection {
    /// Arguments that stay secret, such as `write_file.content` or `*.content`; `*` stands for any letters. They are in no
    /// log, and not in what a person is asked, nor in what tools, hooks and people say about the call. The hooks get
    /// them, the model is told what it is told, and the bytes of files are kept as ever, to undo changes.
    #[schemars(with = "Vec<String>")]
    pub(super) redact: Vec<Spanned<String>>,
}

/// How long what is kept for undoing stays. What is left out is as built in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Retention {
    /// So many days.
    pub days: Option<u64>,
    /// So many bytes; the oldest go first.
    pub max_bytes: Option<u64>,
}

/// How people are asked. What is left out is as built in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Approval {
    /// So long they may take to answer: 5 minutes while a client with a handshake waits, 10 until a stateless one comes again.
    pub timeout_ms: Option<NonZeroU64>,
}

/// The JSON Schema of `toolgate.toml`, read as JSON.
#[must_use]
pub fn schema() -> Value {
    schemars::schema_for!(File).to_value()
}
