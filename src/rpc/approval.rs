//! Approvals over MCP: how a question reaches the person behind a client, and how their word comes back.
//!
//! A legacy client is asked over its stream and the call waits (`legacy`). A modern request is answered with the
//! question, and comes again with what the person said (`modern`). A client that has declared no forms has nobody to
//! ask: its call is denied as a tool error, which the model sees, and not refused with -32021, which it would not.

mod asked;
mod call_digest;
mod legacy;
mod message;
mod modern;
mod state;

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

pub(super) use asked::Asked;
pub(super) use call_digest::CallText;
pub(super) use modern::Retry;

use crate::dispatch::Outcome;
use crate::gate::approval::{Approver, Nobody, Question};
use crate::model::world::{RealWorld, World};
use crate::rpc::Profile;
use crate::rpc::context::Context;
use crate::rpc::era::Era;
use crate::rpc::error::RpcError;
use crate::rpc::reply;
use legacy::Legacy;
use modern::Modern;
use state::{Claim, States};

/// Under which key a modern client is asked, and answers.
const KEY: &str = "approval";

/// How the people behind clients are asked.
pub struct Approvals {
    patience: Duration,
    states: States,
}

impl Approvals {
    /// How long the person behind a legacy client is waited for, if nothing else is said.
    pub const PATIENCE: Duration = Duration::from_secs(300);

    /// Waits for people for as long as `patience`; `world` is the clock of what they have been asked, and the source of
    /// the key that protects it.
    #[must_use]
    pub fn new(world: Arc<dyn World>, patience: Duration) -> Self {
        Approvals { patience, states: States::new(world) }
    }

    /// How the call of `context` asks.
    ///
    /// # Errors
    /// It comes with an answer that is malformed or belongs to no question of this call.
    pub(super) fn asking(&self, context: &Context, call: CallText<'_>, retry: &Retry<'_>) -> Result<Asking, RpcError> {
        let client = &context.arrival.client;
        let forms = context.scope.forms;
        Ok(match context.scope.era {
            Era::Modern => {
                let given = retry.read(&self.states, &client.principal.name, call)?;
                let modern = Arc::new(Modern::new(given, forms));
                Asking { approver: Arc::clone(&modern) as _, modern: Some(modern) }
            }
            Era::Legacy(_) if forms => {
                let cancel = context.arrival.cancel.clone();
                let outbox = Arc::clone(&context.arrival.outbox);
                let legacy = Legacy { client: Arc::clone(client), outbox, cancel, patience: self.patience };
                Asking { approver: Arc::new(legacy), modern: None }
            }
            Era::Legacy(_) => Asking { approver: Arc::new(Nobody), modern: None },
        })
    }

    /// Appends `InputRequiredResult`: `question`, and what must come back with the answer.
    pub(super) fn write_input_required(
        &self,
        result: &mut String,
        question: &Question,
        principal: &str,
        call: CallText<'_>,
        profile: &Profile,
    ) {
        let state = self.states.seal(Claim { principal, call: call.digest(), question: question.digest });
        let mut params = message::params(question);
        params.insert("mode".to_owned(), "form".into());
        let required = json!({
            "resultType": "input_required",
            "inputRequests": {KEY: {"method": "elicitation/create", "params": params}},
            "requestState": state,
            "_meta": {reply::SERVER_INFO: reply::server_info(profile)},
        });
        result.push_str(&required.to_string());
    }
}

impl Default for Approvals {
    fn default() -> Self {
        Approvals::new(Arc::new(RealWorld), Approvals::PATIENCE)
    }
}

impl std::fmt::Debug for Approvals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Approvals").field("patience", &self.patience).finish_non_exhaustive()
    }
}

/// One call's way to a person.
pub(super) struct Asking {
    approver: Arc<dyn Approver>,
    modern: Option<Arc<Modern>>,
}

impl Asking {
    /// Whom the dispatcher asks.
    pub(super) fn approver(&self) -> Arc<dyn Approver> {
        Arc::clone(&self.approver)
    }

    /// The question that stands between the call and its outcome, if it has to come again with the answer. A call that
    /// has come to something all the same is told what, and never run twice.
    pub(super) fn deferred(&self, outcome: &Outcome) -> Option<Question> {
        outcome.as_ref().err().and(self.modern.as_ref()).and_then(|modern| modern.deferred())
    }
}

#[cfg(test)]
mod tests;
