//! What may run: rules, hooks, intents, approvals. Whatever cannot be decided is denied.

pub mod approval;
pub mod command_hook;
pub mod hook;
pub mod intent;
pub mod policy;
pub mod rules;

use std::sync::Arc;

use serde_json::Value;

use crate::model::error::{ErrorCode, ToolError};

/// What a step of the gate says about a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// It may run.
    Allow,
    /// It may not.
    Deny(Ground),
    /// A person decides.
    Ask(Ground),
}

/// Who said so, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ground {
    /// The rule or hook, as the configuration names it.
    pub by: String,
    /// For the model and the person.
    pub reason: String,
}

impl Ground {
    /// What the model is told when this is why a call may not run.
    #[must_use]
    pub fn refusal(&self) -> ToolError {
        let reason = self.reason.trim();
        let stop = if reason.ends_with(['.', '!', '?']) { "" } else { "." };
        ToolError::new(
            ErrorCode::Denied,
            format!(
                "denied: {} says: {reason}{stop} Do not look for a way around it: go on without this call, or tell the \
                 person what it was for.",
                self.by
            ),
        )
        .with("by", self.by.as_str())
        .with("reason", self.reason.as_str())
    }
}

impl Verdict {
    /// What the model is told, unless the call may run. A question that nobody was asked is a no.
    ///
    /// # Errors
    /// `denied`.
    pub fn or_refuse(&self) -> Result<(), ToolError> {
        match self {
            Verdict::Allow => Ok(()),
            Verdict::Deny(ground) | Verdict::Ask(ground) => Err(ground.refusal()),
        }
    }

    /// The stricter of two: deny beats ask beats allow, whatever the order. Of two equally strict ones the first stands.
    #[must_use]
    pub fn and(self, other: Verdict) -> Verdict {
        match (&self, &other) {
            (Verdict::Deny(_), _) | (Verdict::Ask(_), Verdict::Allow | Verdict::Ask(_)) => self,
            (_, Verdict::Deny(_)) | (Verdict::Allow, _) => other,
        }
    }
}

/// A call as the gate sees it: arguments repaired and validated, paths in the one spelling that is opened.
#[derive(Debug, Clone, PartialEq)]
pub struct CallFacts {
    /// The tool.
    pub tool: String,
    /// The arguments.
    pub arguments: Arc<Value>,
    /// The paths that they name, where the links on the way lead, relative to the workspace.
    pub paths: Vec<String>,
    /// Whether the call may change something.
    pub changes: bool,
    /// Who asks, as the log writes it.
    pub caller: String,
}
