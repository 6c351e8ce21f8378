//! What a call came to, with everything that its caller is told besides.

use serde_json::Value;

use crate::model::error::ToolError;
use crate::model::id::ChangeId;
use crate::tool::registry::Output;

/// What a call came to.
pub type Outcome = Result<Output, ToolError>;

/// A call that is done: its outcome, and what the gate and the ledger have to say about it.
#[derive(Debug, Clone)]
pub struct Completed {
    /// What it came to.
    pub outcome: Outcome,
    /// The change that was recorded. It has happened even where a hook has made the outcome an error.
    pub change: Option<ChangeId>,
    /// What the model should know besides, each on a line of its own.
    pub notes: Vec<String>,
    /// The text that a hook has put in the place of the observation.
    pub replaced: Option<String>,
    /// What hooks have added for the model to read.
    pub context: Vec<Context>,
}

/// What a hook has added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    /// The hook.
    pub hook: String,
    /// Its words.
    pub text: String,
}

impl Completed {
    pub(crate) fn new(outcome: Outcome) -> Self {
        Completed { outcome, change: None, notes: Vec::new(), replaced: None, context: Vec::new() }
    }

    /// The text that the model sees of `output`, this call's.
    #[must_use]
    pub fn observation(&self, output: &Output) -> String {
        self.replaced.clone().unwrap_or_else(|| output.observation())
    }

    /// What else the model should know, each on a line of its own.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let mut notes = match (&self.outcome, &self.replaced) {
            (Ok(output), None) => output.notes(),
            _ => Vec::new(),
        };
        notes.extend(self.notes.iter().map(|note| format!("[{note}]")));
        if let (Ok(_), Some(change)) = (&self.outcome, self.change) {
            notes.push(format!("[Change {change}.]"));
        }
        notes
    }

    /// Small facts for programs.
    #[must_use]
    pub fn facts(&self) -> Vec<(&'static str, Value)> {
        let mut facts = self.outcome.as_ref().map(Output::facts).unwrap_or_default();
        if let Some(change) = self.change {
            facts.push(("change", change.to_string().into()));
        }
        facts
    }
}
