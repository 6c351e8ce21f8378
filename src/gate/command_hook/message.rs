//! What hooks are told and what they may answer, as JSON.

use std::collections::BTreeMap;
use std::path::Path;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::gate::CallFacts;
use crate::gate::hook::OutcomeFacts;
use crate::model::error::glimpse;
use crate::model::event::Phase;
use crate::model::folder::Folder;
use crate::model::json::parse_strict;

/// What a hook gets on its standard input: one JSON object, then the end. More may be added; hooks ignore what they do
/// not know.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "Hook input")]
struct Input<'a> {
    /// Of this message: 1. It changes only if something is taken away.
    version: u8,
    /// `pre`: before the call is planned. `post`: its outcome is known.
    phase: Phase,
    /// The hook's name.
    hook: &'a str,
    /// The workspace's folder; the one that the hook runs in, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    workspace: Option<String>,
    /// Where the workspace has several folders: where each is, by the name that paths begin with.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    folders: BTreeMap<&'a str, String>,
    /// The call.
    call: CallMessage<'a>,
    /// What it came to; only in the phase `post`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "OutcomeMessage<'_>")]
    outcome: Option<OutcomeMessage<'a>>,
}

/// A call.
#[derive(Debug, Serialize, JsonSchema)]
struct CallMessage<'a> {
    /// The tool.
    tool: &'a str,
    /// The arguments as the caller wrote them, validated. A path stands here as it was typed.
    arguments: &'a Value,
    /// The paths that they name, relative to the workspace, where links lead: what is opened, not what was typed.
    paths: &'a [String],
    /// Whether the call may change something.
    changes: bool,
    /// Who asks: `mcp:local`, `oneshot`, `cli`, `embedder`.
    caller: &'a str,
}

/// What a call came to.
#[derive(Debug, Serialize, JsonSchema)]
struct OutcomeMessage<'a> {
    /// The code of a tool error.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    error: Option<&'a str>,
    /// The observation, or the message of the error.
    text: &'a str,
    /// The change that was made. It has happened, whatever a hook says.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    change: Option<&'a str>,
}

/// The message about a call, complete, with a line end for those who read lines.
pub(super) fn event(
    hook: &str,
    phase: Phase,
    (workspace, folders): (Option<&Path>, &[Folder]),
    call: &CallFacts,
    outcome: Option<&OutcomeFacts>,
) -> Vec<u8> {
    let input = Input {
        version: 1,
        phase,
        hook,
        workspace: workspace.map(|folder| folder.to_string_lossy().into_owned()),
        folders: folders.iter().map(|it| (it.at.as_str(), it.path.to_string_lossy().into_owned())).collect(),
        call: CallMessage {
            tool: &call.tool,
            arguments: &call.arguments,
            paths: &call.paths,
            changes: call.changes,
            caller: &call.caller,
        },
        outcome: outcome.map(|outcome| OutcomeMessage {
            error: outcome.error.as_deref(),
            text: &outcome.text,
            change: outcome.change.as_deref(),
        }),
    };
    let mut bytes = serde_json::json!(input).to_string().into_bytes();
    bytes.push(b'\n');
    bytes
}

/// What a hook may answer before a call.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Hook answer before a call")]
pub(super) struct Pre {
    /// Whether the call may run.
    pub(super) decision: PreDecision,
    /// Why, for the model and for whoever is asked.
    #[serde(default)]
    pub(super) reason: Option<String>,
    /// All arguments that the call shall run with instead; not with `deny`. Null takes one away.
    #[serde(default)]
    pub(super) arguments: Option<Map<String, Value>>,
    /// What the model is told besides.
    #[serde(default)]
    pub(super) context: Option<String>,
}

/// Whether a call may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum PreDecision {
    /// No objection.
    Allow,
    /// It may not.
    Deny,
    /// A person decides.
    Ask,
}

/// What a hook may answer after a call.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Hook answer after a call")]
pub(super) struct Post {
    /// What becomes of the outcome.
    pub(super) decision: PostDecision,
    /// Why; `block` needs it.
    #[serde(default)]
    pub(super) reason: Option<String>,
    /// The text that the model sees instead; `replace` needs it, nothing else has it.
    #[serde(default)]
    pub(super) observation: Option<String>,
    /// What the model is told besides.
    #[serde(default)]
    pub(super) context: Option<String>,
}

/// What becomes of an outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum PostDecision {
    /// The model sees it.
    Accept,
    /// The model does not see it.
    Block,
    /// The model sees a text of the hook's.
    Replace,
}

/// An answer of one of the phases.
pub trait Answer: DeserializeOwned + JsonSchema {
    /// What it means that a hook says nothing.
    fn silence() -> Self;

    /// What it means that a hook ends with the exit code 2.
    fn no(reason: Option<String>) -> Self;

    /// What the parts of the answer contradict each other in.
    fn contradiction(&self) -> Option<&'static str>;

    /// Reads what a hook printed. `cut_short`: something still holds its output open, so there may be more.
    ///
    /// # Errors
    /// It is no answer: why.
    fn read(printed: &[u8], cut_short: bool) -> Result<Self, String> {
        let Ok(text) = std::str::from_utf8(printed) else {
            return Err("printed something that is not UTF-8".to_owned());
        };
        // Some shells and editors put a byte order mark before everything.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text).trim();
        if text.is_empty() {
            return if cut_short {
                Err("said nothing, and a process it left behind holds its output open".to_owned())
            } else {
                Ok(Self::silence())
            };
        }
        let value = parse_strict(text)
            .map_err(|fault| format!("printed something that is not one JSON object: {}; {fault}", glimpse(text)))?;
        if !value.is_object() {
            return Err(format!("printed JSON that is no object: {}", glimpse(text)));
        }
        let answer: Self =
            serde_json::from_value(value).map_err(|fault| format!("printed JSON that is no answer: {fault}"))?;
        match answer.contradiction() {
            Some(contradiction) => Err(contradiction.to_owned()),
            None => Ok(answer),
        }
    }
}

impl Answer for Pre {
    fn silence() -> Self {
        Pre { decision: PreDecision::Allow, reason: None, arguments: None, context: None }
    }

    fn no(reason: Option<String>) -> Self {
        Pre { decision: PreDecision::Deny, reason, arguments: None, context: None }
    }

    fn contradiction(&self) -> Option<&'static str> {
        (self.decision == PreDecision::Deny && self.arguments.is_some())
            .then_some("denied the call and rewrote it, which is a contradiction")
    }
}

impl Answer for Post {
    fn silence() -> Self {
        Post { decision: PostDecision::Accept, reason: None, observation: None, context: None }
    }

    fn no(reason: Option<String>) -> Self {
        Post { decision: PostDecision::Block, reason, observation: None, context: None }
    }

    fn contradiction(&self) -> Option<&'static str> {
        let reasoned = self.reason.as_deref().is_some_and(|reason| !reason.trim().is_empty());
        match (self.decision, &self.observation) {
            (PostDecision::Accept, Some(_)) => Some("accepted the outcome and replaced it, which is a contradiction"),
            (PostDecision::Block, Some(_)) => Some("blocked the outcome and replaced it, which is a contradiction"),
            (PostDecision::Block, None) if !reasoned => Some("blocked the outcome without a reason"),
            (PostDecision::Replace, None) => Some("replaced the outcome with nothing; an observation is missing"),
            _ => None,
        }
    }
}

/// The JSON Schema of what a hook gets.
#[must_use]
pub fn input_schema() -> Value {
    let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
    settings.into_generator().into_root_schema_for::<Input<'_>>().to_value()
}

/// The JSON Schema of what a hook may answer in a phase.
#[must_use]
pub fn answer_schema(phase: Phase) -> Value {
    match phase {
        Phase::Pre => schemars::schema_for!(Pre).to_value(),
        Phase::Post => schemars::schema_for!(Post).to_value(),
    }
}
