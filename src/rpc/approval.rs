//! Approvals and tools' own questions over MCP: how they reach a client and the person behind it, and how the answers
//! come back.
//!
//! A legacy client is asked over its stream and the call waits (`legacy`). A modern request is answered with the
//! questions, and comes again with what was said (`modern`). Where a rule wants a person's word and the client has declared
//! no forms there is nobody to ask: the call is denied as a tool error, which the model sees. Where a tool itself needs
//! what a modern client has not declared, the request is refused with -32021.

mod asked;
mod call_digest;
mod legacy;
mod message;
mod midway;
mod modern;
mod state;

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

pub(super) use asked::Asked;
pub(super) use call_digest::CallText;
pub(super) use midway::{Acting, Next, Parked, Paused, Questions, Said};
pub(super) use modern::{Deferred, Retry};

use crate::dispatch::Outcome;
use crate::gate::approval::{Approver, Nobody};
use crate::model::world::{RealWorld, World};
use crate::rpc::Profile;
use crate::rpc::capabilities::Abilities;
use crate::rpc::context::Context;
use crate::rpc::era::Era;
use crate::rpc::error::RpcError;
use crate::rpc::reply;
use crate::tool::ask::{Asker, NobodyToAsk};
use legacy::Legacy;
use modern::Modern;
use state::{BadState, Claim, States};

/// Under which key a modern client is asked, and answers.
const KEY: &str = "approval";

/// How the people behind clients are asked.
pub struct Approvals {
    patience: Duration,
    states: States,
    parked: Parked,
}

impl Approvals {
    /// How long the person behind a legacy client is waited for, if nothing else is said.
    pub const PATIENCE: Duration = Duration::from_secs(300);

    /// Waits for people for as long as `patience`; `world` is the clock of what they have been asked, and the source of
    /// the key that protects it.
    #[must_use]
    pub fn new(world: Arc<dyn World>, patience: Duration) -> Self {
        Approvals { patience, states: States::new(world), parked: Parked::default() }
    }

    /// Lets a stateless client come again with the answer for as long as `lifetime`; 10 minutes, if nothing is said. What has
    /// asked in the middle of a call is told after that that nobody answers.
    #[must_use]
    pub fn with_lifetime(mut self, lifetime: Duration) -> Self {
        self.states.lifetime = lifetime;
        self
    }

    /// What waits for people.
    pub(super) fn parked(&self) -> Parked {
        self.parked.clone()
    }

    /// How the call of `context` asks.
    ///
    /// # Errors
    /// It comes with an answer that is malformed or belongs to no question of this call.
    pub(super) fn asking(&self, context: &Context, call: CallText<'_>, retry: &Retry<'_>) -> Result<Asking, RpcError> {
        let client = &context.arrival.client;
        let abilities = context.scope.abilities;
        Ok(match context.scope.era {
            Era::Modern => {
                let mut given = retry.read(&self.states, &client.principal.name, call)?;
                if let Some((name, said)) = given.midway.take() {
                    let paused = self.parked.take(&name).ok_or_else(|| RpcError::invalid_params(BadState::Over))?;
                    return Ok(Asking::resumed(paused, said));
                }
                let (midway, questions) = midway::channel(abilities);
                let modern = Arc::new(Modern::new(given, abilities, midway));
                Asking {
                    approver: Arc::clone(&modern) as _,
                    asker: Arc::clone(&modern) as _,
                    modern: Some(modern),
                    questions: Some(questions),
                    resumed: None,
                }
            }
            Era::Legacy(_) => {
                let cancel = context.arrival.cancel.clone();
                let outbox = Arc::clone(&context.arrival.outbox);
                let legacy = Legacy { client: Arc::clone(client), outbox, abilities, cancel, patience: self.patience };
                let legacy = Arc::new(legacy);
                Asking {
                    approver: Arc::clone(&legacy) as _,
                    asker: legacy,
                    modern: None,
                    questions: None,
                    resumed: None,
                }
            }
        })
    }

    /// Appends `InputRequiredResult`: what is to be asked, and what must come back with the answers.
    pub(super) fn write_input_required(
        &self,
        result: &mut String,
        deferred: &Deferred,
        principal: &str,
        call: CallText<'_>,
        profile: &Profile,
    ) {
        let claim = Claim { principal, call: call.digest(), pending: &deferred.pending };
        let (state, _) = self.states.seal(claim);
        write_required(result, deferred, &state, profile);
    }

    /// Appends the same for a call that waits in the middle, and keeps it until the answer comes. Gives it back where too
    /// many wait already.
    pub(super) fn park(
        &self,
        result: &mut String,
        paused: Paused,
        principal: &str,
        call: CallText<'_>,
        profile: &Profile,
    ) -> Option<Paused> {
        let deferred = paused.deferred();
        let (state, name) = self.states.seal(Claim { principal, call: call.digest(), pending: &deferred.pending });
        if let Err(paused) = self.parked.park(name, principal, paused, self.states.lifetime) {
            return Some(*paused);
        }
        write_required(result, &deferred, &state, profile);
        None
    }
}

/// `InputRequiredResult`.
fn write_required(result: &mut String, deferred: &Deferred, state: &str, profile: &Profile) {
    let mut requests = Map::new();
    if let Some(question) = &deferred.question {
        let params = Value::Object(message::params(question));
        requests.insert(KEY.to_owned(), input_request("elicitation/create", params));
    }
    for (key, request) in &deferred.requests {
        let (method, params) = request.on_the_wire();
        requests.insert(key.clone(), input_request(method, params));
    }
    let required = json!({
        "resultType": "input_required",
        "inputRequests": requests,
        "requestState": state,
        "_meta": {reply::SERVER_INFO: reply::server_info(profile)},
    });
    result.push_str(&required.to_string());
}

fn input_request(method: &str, mut params: Value) -> Value {
    if method == "elicitation/create" {
        params["mode"] = "form".into();
    }
    json!({"method": method, "params": params})
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

/// One call's way to its client.
pub(super) struct Asking {
    approver: Arc<dyn Approver>,
    asker: Arc<dyn Asker>,
    modern: Option<Arc<Modern>>,
    /// What the call asks in the middle.
    questions: Option<Questions>,
    /// The call is under way already, and this is what it was waiting for.
    resumed: Option<(Paused, Said)>,
}

impl Asking {
    fn resumed(paused: Paused, said: Said) -> Self {
        Asking {
            approver: Arc::new(Nobody),
            asker: Arc::new(NobodyToAsk),
            modern: None,
            questions: None,
            resumed: Some((paused, said)),
        }
    }

    /// The call that is under way already, and what was said to its question.
    pub(super) fn take_resumed(&mut self) -> Option<(Paused, Said)> {
        self.resumed.take()
    }

    /// Where the call's questions in the middle come out.
    pub(super) fn take_questions(&mut self) -> Questions {
        // A client with a handshake is asked over its stream, so nothing ever comes out.
        self.questions.take().unwrap_or_else(|| midway::channel(Abilities::default()).1)
    }

    /// Whom the dispatcher asks.
    pub(super) fn approver(&self) -> Arc<dyn Approver> {
        Arc::clone(&self.approver)
    }

    /// Whom tools ask.
    pub(super) fn asker(&self) -> Arc<dyn Asker> {
        Arc::clone(&self.asker)
    }

    /// What stands between the call and its outcome, if it has to come again with answers. A call that has come to
    /// something all the same is told what, and never run twice.
    ///
    /// # Errors
    /// It needs what the client has not declared.
    pub(super) fn deferred(&self, outcome: &Outcome) -> Result<Option<Deferred>, RpcError> {
        let Some(modern) = self.modern.as_ref().filter(|_| outcome.is_err()) else { return Ok(None) };
        let deferred = modern.deferred();
        if deferred.question.is_some() || !deferred.requests.is_empty() {
            return Ok(Some(deferred));
        }
        match deferred.missing.as_slice() {
            [] => Ok(None),
            missing => Err(RpcError::missing_capability(missing)),
        }
    }
}

#[cfg(test)]
mod tests;
