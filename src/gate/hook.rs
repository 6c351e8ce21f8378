//! A hook: somebody else's word on a call, before it is planned and once its outcome is known.

use std::future::Future;
use std::pin::Pin;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::gate::{CallFacts, Verdict};

/// Decides about calls. In the configuration a hook is a command; in the library it is this.
pub trait Hook: Send + Sync + 'static {
    /// What it is called in messages and in the log.
    fn name(&self) -> &str;

    /// Whether it wants to see calls of `tool` in this phase.
    fn wants(&self, phase: crate::model::event::Phase, tool: &str) -> bool;

    /// What a failure of it means.
    fn on_failure(&self) -> OnFailure {
        OnFailure::Deny
    }

    /// Says what it thinks of a call that is about to be planned.
    fn before<'a>(&'a self, call: &'a CallFacts) -> HookFuture<'a, Before>;

    /// Says what it thinks of what a call came to.
    fn after<'a>(&'a self, call: &'a CallFacts, outcome: &'a OutcomeFacts) -> HookFuture<'a, After>;
}

/// What it means that a hook gave no clear answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnFailure {
    /// No.
    #[default]
    Deny,
    /// Nothing: the hook only advises.
    Allow,
}

/// What a hook is asked for.
pub type HookFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, HookFailure>> + Send + 'a>>;

/// What a hook says before a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Before {
    /// Whether it may run.
    pub verdict: Verdict,
    /// The arguments it shall run with instead, all of them; they are validated and judged again. One that is null is
    /// taken away; one that is merely missing makes the rewrite a contradiction, since that is how arguments get lost.
    pub rewrite: Option<Map<String, Value>>,
    /// What the model is told besides.
    pub context: Option<String>,
}

impl From<Verdict> for Before {
    fn from(verdict: Verdict) -> Self {
        Before { verdict, rewrite: None, context: None }
    }
}

/// What a hook says after a call.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct After {
    /// Why the model must not see the output. A change that was made has happened all the same.
    pub block: Option<String>,
    /// The text that the model sees instead of the observation.
    pub replace: Option<String>,
    /// What the model is told besides.
    pub context: Option<String>,
}

/// What a call came to, for hooks.
#[derive(Debug, Clone, PartialEq)]
pub struct OutcomeFacts {
    /// The code of a tool error.
    pub error: Option<String>,
    /// The observation, or the message of the error.
    pub text: String,
    /// The change that was made.
    pub change: Option<String>,
}

/// A hook gave no clear answer: it crashed, took too long, was not there, made noise or contradicted itself. That denies the
/// call, unless the hook says `on_failure = "allow"`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the hook {hook} {what}. {cure}")]
pub struct HookFailure {
    /// Which hook.
    pub hook: String,
    /// What it did.
    pub what: String,
    /// How to mend it.
    pub cure: String,
}
