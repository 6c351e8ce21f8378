//! What is recorded: one event a line of the session log.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::model::id::{CallId, ChangeId, SessionId};

/// A line of the session log: what happened, when, in which call of which session, and who asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Line {
    /// When, in UTC.
    #[schemars(with = "String")]
    pub time: jiff::Timestamp,
    /// In which run of a process.
    pub session: SessionId,
    /// In which call.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub call: Option<CallId>,
    /// Who asked: `mcp:local`, `oneshot`, `cli`, `embedder`.
    pub caller: String,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// The JSON Schema of a line of the session log.
#[must_use]
pub fn schema() -> Value {
    schemars::schema_for!(Line).to_value()
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type")]
#[non_exhaustive]
pub enum Event {
    /// A call came in; recorded before anything is done about it.
    #[serde(rename = "tool/call")]
    ToolCall {
        /// The tool.
        tool: String,
        /// The arguments. A long text stands as `{"$blob": version, "bytes": count}`, a secret one as `{"$secret": true}`.
        arguments: Value,
        /// Which wording of the tool's description the model had, if it was not the built-in one.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        variant: Option<String>,
        /// Through which method it came, if it was not a call of the tool itself: `resources/read`, `prompts/get`.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        method: Option<String>,
    },
    /// What the call came to: the one outcome that the model sees.
    #[serde(rename = "tool/result")]
    ToolResult {
        /// The tool.
        tool: String,
        /// One line for people about what was done.
        card: String,
        /// The code of a tool error.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        error: Option<String>,
        /// What the model was told about a tool error.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        message: Option<String>,
        /// The change that was made.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        change: Option<ChangeId>,
        /// How long the call took, in microseconds.
        micros: u64,
    },
    /// A hook was started.
    #[serde(rename = "hook/invoked")]
    HookInvoked {
        /// Its name in the configuration.
        hook: String,
        /// Before the call or after it.
        phase: Phase,
    },
    /// What a hook said.
    #[serde(rename = "hook/result")]
    HookResult {
        /// Its name in the configuration.
        hook: String,
        /// Before the call or after it.
        phase: Phase,
        /// `allow`, `deny`, `ask`, `rewrite`; `accept`, `block`, `replace`; or `failed`.
        decision: String,
        /// Why.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        reason: Option<String>,
        /// How long it took, in microseconds.
        micros: u64,
    },
    /// A person was asked.
    #[serde(rename = "approval/asked")]
    ApprovalAsked {
        /// What they were shown.
        question: String,
        /// Which rule or hook wanted to know.
        by: String,
    },
    /// What the person said.
    #[serde(rename = "approval/answered")]
    ApprovalAnswered {
        /// `approved`, `declined`, `cancelled`, `timed_out`, `nobody`, `crowded` or `deferred`.
        answer: String,
    },
    /// A caller has seen a part of a file.
    #[serde(rename = "fs/observed")]
    FsObserved {
        /// The file.
        path: String,
        /// Its version, if all of it was read.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        version: Option<String>,
        /// The first line that was seen.
        from: u64,
        /// The last line that was seen; nothing for up to the end.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        to: Option<u64>,
    },
    /// A file is about to be created or replaced; recorded before it is.
    #[serde(rename = "fs/write")]
    FsWrite(FsChange),
    /// A part of a file is about to be changed; recorded before it is.
    #[serde(rename = "fs/edit")]
    FsEdit(FsChange),
    /// A change is about to be undone; recorded before it is.
    #[serde(rename = "fs/undo")]
    FsUndo {
        /// The change that is undone.
        undoes: ChangeId,
        /// What that does.
        #[serde(flatten)]
        change: FsChange,
    },
    /// A model has written down what it means to do.
    #[serde(rename = "todo/write")]
    TodoWrite {
        /// The whole list.
        todos: Vec<Map<String, Value>>,
    },
    /// What a hook added for the model to read.
    #[serde(rename = "context/message")]
    ContextMessage {
        /// The hook.
        hook: String,
        /// What it added.
        text: String,
    },
    /// The log could not be written for so long that some events found no room to wait: they are missing here.
    #[serde(rename = "log/gap")]
    LogGap {
        /// How many.
        events: u64,
    },
    /// A program in code mode made a call.
    #[serde(rename = "tool/code-dispatch")]
    CodeDispatch {
        /// `{call}:code:{n}`.
        id: String,
        /// The tool.
        tool: String,
        /// The arguments.
        arguments: Value,
    },
}

impl Event {
    /// What tools, hooks and people have said in it, in their own words.
    pub fn words_mut(&mut self) -> Vec<&mut String> {
        match self {
            Event::ToolResult { card, message, .. } => std::iter::once(card).chain(message).collect(),
            Event::HookResult { reason, .. } => reason.iter_mut().collect(),
            Event::ApprovalAsked { question, .. } => vec![question],
            Event::ContextMessage { text, .. } => vec![text],
            _ => Vec::new(),
        }
    }
}

/// Before a call or after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Before it is planned.
    Pre,
    /// Once its outcome is known.
    Post,
}

/// The intent to change files, complete enough to finish or take back what a crash left.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FsChange {
    /// The change.
    pub change: ChangeId,
    /// Its steps, in order.
    pub steps: Vec<FsStep>,
}

/// One step of a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FsStep {
    /// What happens.
    pub action: FsAction,
    /// The path, as the plan has it.
    pub path: String,
    /// Where the links on the way lead.
    pub real: String,
    /// Of a move: where the links on the way to what moves lead. `path` and `real` are where it moves to.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from: Option<String>,
    /// The version that is there before, nothing if there is none. Of what is removed or restored whole, its mark: it
    /// is the same as long as nothing in it changes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub before: Option<String>,
    /// The version that is there after, nothing if there is none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub after: Option<String>,
    /// The name, beside the file, under which the new bytes wait and the displaced ones stay until they are kept. What
    /// else may be there for a while has a name that follows from it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub temp: Option<String>,
    /// The name under which the ledger keeps what is removed whole.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub kept: Option<String>,
}

/// What a step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FsAction {
    /// A file gets new bytes, or is created.
    Write,
    /// A file goes.
    Delete,
    /// A folder is made.
    MakeDir,
    /// An empty folder goes.
    RemoveDir,
    /// A file, a link or a folder with all that is in it gets another path.
    Move,
    /// A file, a link or a folder with all that is in it goes, and is kept whole.
    Remove,
    /// What was removed whole comes back.
    Restore,
}
