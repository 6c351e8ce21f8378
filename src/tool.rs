//! What a tool is: its specification, what it may look at, and the plan it returns.

pub mod annotations;
pub mod ask;
pub mod calls;
pub mod content;
pub mod contract;
pub mod export;
pub mod headers;
pub mod log;
pub(crate) mod near;
pub mod output;
pub mod registry;
#[cfg(test)]
mod samples;
pub mod schema;
pub mod view;

use std::fmt;
use std::future::Future;

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::model::change::ChangeSet;
use crate::model::error::ToolError;
use crate::model::event::Event;
use crate::model::id::ChangeId;
use crate::model::path::WsPath;
use crate::model::version::Version;
use crate::tool::calls::Calls;
use crate::tool::content::Content;
use crate::tool::view::View;
use crate::workspace::Identity;

/// A named capability that a model can call.
///
/// A tool never changes anything: it looks through a read-only [`View`] and returns a [`Plan`], which
/// the dispatcher performs.
pub trait Tool: Send + Sync + 'static {
    /// What it is called with. Doc comments become the schema's descriptions, which a model reads.
    type Args: DeserializeOwned + JsonSchema + Send;
    /// What it answers with, complete and raw.
    type Output: Serialize + JsonSchema + Send + Sync + 'static;

    /// Name, title, description and hints.
    fn spec(&self) -> Spec;

    /// Looks, and says what should happen.
    fn plan(&self, view: &View, args: Self::Args)
    -> impl Future<Output = Result<Plan<Self::Output>, ToolError>> + Send;

    /// The text that a model reads.
    fn observe(output: &Self::Output) -> String;

    /// What else a model needs to know, each on a line of its own: truncation, where to go on, a warning.
    fn notes(_output: &Self::Output) -> Vec<String> {
        Vec::new()
    }

    /// Small facts for programs, put into `_meta` under `toolgate/`.
    fn facts(_output: &Self::Output) -> Facts {
        Facts::new()
    }

    /// Which parts of which files the answer shows: what the caller has seen by it.
    fn sights(_output: &Self::Output) -> Vec<Sight> {
        Vec::new()
    }

    /// What the tool itself has to record, besides the call and its result.
    fn events(_output: &Self::Output) -> Vec<Event> {
        Vec::new()
    }

    /// One line for people that says what was done, once it is. Left out, nothing is added to what was said before.
    fn present_result(_output: &Self::Output) -> Option<Card> {
        None
    }

    /// What is shown after the observation: pictures, sounds, resources, links.
    fn content(_output: &Self::Output) -> Vec<Content> {
        Vec::new()
    }

    /// The schema of the arguments, for a tool that wants one to the letter. By default it is made of `Args`, in the shape
    /// that every client and provider takes. What is given here is checked in full, and advertised as it is.
    fn arguments_schema(&self) -> Option<serde_json::Value> {
        None
    }

    /// Whether a link at the end of its paths is itself what the tool is about, as when one is moved or deleted. Rules are
    /// asked about what such a link leads to only for tools that follow it.
    fn takes_links(&self) -> bool {
        false
    }

    /// One line for people, before it runs.
    fn present(args: &Self::Args) -> Card;
}

/// Names and values; null says nothing.
pub type Facts = Vec<(&'static str, serde_json::Value)>;

/// What a tool is called and what is said about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    /// 1 to 128 of `A-Z a-z 0-9 _ . -` (MCP, server/tools).
    pub name: &'static str,
    /// For people.
    pub title: &'static str,
    /// A prompt: when to use the tool, when not, and its policy.
    pub description: &'static str,
    /// What the tool does to the world.
    pub effect: Effect,
    /// Which arguments name the files and folders that a call is about, such as `path` or `patches.*.path`. Calls on
    /// one file keep their order by this.
    pub paths: &'static [&'static str],
}

/// What calling a tool does to the world; the MCP annotations follow from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Nothing: it only looks.
    Reads,
    /// It adds, and takes nothing away.
    Adds,
    /// It may replace or remove what is there. `idempotent`: twice is as once.
    Replaces {
        /// Whether the same call again changes nothing more.
        idempotent: bool,
    },
    /// It reaches beyond the workspace.
    Reaches,
    /// Nothing by itself: it makes calls of its own, and each of them is judged by what it does.
    Calls,
}

/// What a tool proposes. Nothing has happened yet.
pub enum Plan<O> {
    /// Nothing to change: here is the answer.
    Answer(O),
    /// These files, from exactly these versions to these bytes; then the answer is `output`.
    Change {
        /// The steps.
        set: ChangeSet,
        /// How the caller knows what it changes.
        intent: Intent,
        /// What the call comes to once they are done.
        output: O,
    },
    /// A deed of another kind, not begun.
    Act(Act<O>),
}

/// How a caller knows the bytes that a change replaces; the file gate asks for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Intent {
    /// It says what the file shall hold, so it must have seen all that it replaces.
    Write,
    /// It has named the text that it replaces, exactly.
    Edit {
        /// Where it stands in each file.
        places: Vec<Edited>,
    },
    /// It takes back a change that was recorded.
    Undo {
        /// Which.
        change: ChangeId,
        /// Where its steps cannot be done as one set: the sets of which it consists, and which change each takes back. They are
        /// done one after the other, all or none.
        series: Vec<(ChangeId, ChangeSet)>,
    },
}

impl Intent {
    /// An edit of one file, where the text to replace begins on these lines, in order.
    #[must_use]
    pub fn edit(path: WsPath, lines: Vec<u64>) -> Self {
        // One exact match proves itself; many may lie where the caller has never looked (B031).
        let unproven = if lines.len() > 1 { lines } else { Vec::new() };
        Intent::Edit { places: vec![Edited { path, unproven }] }
    }
}

/// Where an edit meets a file, in the lines that this had before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// The file.
    pub path: WsPath,
    /// The lines that are replaced without each of them having been named: those of a text that is replaced wherever it
    /// stands.
    pub unproven: Vec<u64>,
}

/// A part of a file that an answer shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sight {
    /// The file.
    pub path: WsPath,
    /// What told it apart when it was opened.
    pub identity: Option<Identity>,
    /// Its version, where all of it was read.
    pub version: Option<Version>,
    /// The first line and the bytes of it that are not shown.
    pub from: (u64, u64),
    /// Where the answer ends; nothing at the end of the file.
    pub to: Option<(u64, u64)>,
}

/// A deed that is not a change of files: begun by the dispatcher, never by the tool.
pub struct Act<O>(Deed<O>);

type Deed<O> = Box<dyn for<'a> FnOnce(&'a dyn Calls) -> Doing<'a, O> + Send>;

/// A deed that is being done.
type Doing<'a, O> = BoxFuture<'a, Result<O, ToolError>>;

impl<O: 'static> Act<O> {
    /// A deed that is done by awaiting `deed`.
    pub fn new(deed: impl Future<Output = Result<O, ToolError>> + Send + 'static) -> Self {
        let deed: BoxFuture<'static, _> = Box::pin(deed);
        Act(Box::new(move |_| deed))
    }

    /// A deed that makes calls of its own.
    pub fn calling(
        deed: impl for<'a> FnOnce(&'a dyn Calls) -> BoxFuture<'a, Result<O, ToolError>> + Send + 'static,
    ) -> Self {
        Act(Box::new(deed))
    }

    pub(crate) fn begin(self, calls: &dyn Calls) -> BoxFuture<'_, Result<O, ToolError>> {
        (self.0)(calls)
    }
}

impl<O: fmt::Debug> fmt::Debug for Plan<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Plan::Answer(output) => f.debug_tuple("Answer").field(output).finish(),
            Plan::Change { set, intent, output } => {
                f.debug_struct("Change").field("set", set).field("intent", intent).field("output", output).finish()
            }
            Plan::Act(_) => f.write_str("Act(..)"),
        }
    }
}

/// One line for people about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Card {
    /// What is about to happen, such as `Patch src/main.rs`.
    pub line: String,
}

impl Card {
    /// A card that says `line`.
    pub fn new(line: impl Into<String>) -> Self {
        Card { line: line.into() }
    }
}
