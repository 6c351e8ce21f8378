//! A hook: somebody else's word on a call, before it is planned and once its outcome is known.

use std::future::Future;
use std::pin::Pin;

use serde_json::{Map, Value};

use crate::gate::{CallFacts, Verdict};

/// Decides about calls. In the configuration a hook is a command; in the library it is this.
pub trait Hook: Send + Sync + 'static {
    /// What it is called in messages and in the log.
    fn name(&self) -> &str;

    /// Whether it wants to see calls of `tool` in this phase.
    fn wants(&self, phase: crate::model::event::Phase, tool: &str) -> bool;

    /// Says what it thinks of a call that is about to be planned.
    fn before<'a>(&'a self, call: &'a CallFacts) -> HookFuture<'a, Before>;

    /// Says what it thinks of what a call came to.
    fn after<'a>(&'a self, call: &'a CallFacts, outcome: &'a OutcomeFacts) -> HookFuture<'a, After>;
}

/// What a hook is asked for.
pub type HookFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, HookFailure>> + Send + 'a>>;

/// What a hook says before a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Before {
    /// Whether it may run.
    pub verdict: Verdict,
    /// The arguments it shall run with instead; they are validated and judged again.
    pub rewrite: Option<Map<String, Value>>,
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
