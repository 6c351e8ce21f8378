//! The modern way: the request is answered with what is to be asked, and comes again with the answers (MCP 2026-07-28,
//! basic/patterns/mrtr).

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::BoxFuture;
use serde_json::{Map, Value};

use crate::gate::approval::{Answer, Approver, Question};
use crate::model::json::parse_strict;
use crate::rpc::approval::call_digest::CallText;
use crate::rpc::approval::midway::{Midway, Said};
use crate::rpc::approval::state::{Digest, Expected, Pending, States};
use crate::rpc::approval::{KEY, message};
use crate::rpc::capabilities::Abilities;
use crate::rpc::error::RpcError;
use crate::tool::ask::{Asker, Capability, Request, Unanswered};

/// What a request brings along if it is not the first of its call.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Retry<'a> {
    /// `requestState`.
    pub(crate) state: Option<&'a str>,
    /// `inputResponses`.
    pub(crate) responses: Option<&'a str>,
}

/// What has been said about a call so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Given {
    /// The person has said yes to the question with this digest, and no other.
    yes: Option<Digest>,
    /// They have said something else, whatever the call would do by now.
    no: Option<Answer>,
    /// What the tool itself has asked, answered.
    answers: Map<String, Value>,
    /// The call waits in the middle, under this name, and this is the answer to what it has asked there.
    pub(super) midway: Option<(String, Said)>,
}

impl Retry<'_> {
    /// What has been said already.
    ///
    /// # Errors
    /// The answer is malformed, or it does not belong to a question that `principal` was asked about `call` and that is
    /// still open. To ask again would be to try until something sticks.
    pub(super) fn read(&self, states: &States, principal: &str, call: CallText<'_>) -> Result<Given, RpcError> {
        let mut responses = self.responses()?;
        let word = match responses.remove(KEY) {
            None => None,
            Some(response) => Some(message::answer(&response).map_err(|fault| in_responses(KEY, fault))?),
        };
        let responses = responses.into_iter().map(|(key, response)| (key, Value::Object(response)));
        let Some(state) = self.state.filter(|state| *state != "null") else {
            // What a tool asks may be said before; whether it may run may not.
            return match word {
                None => Ok(Given { answers: responses.collect(), ..Given::default() }),
                Some(_) => Err(RpcError::invalid_params("an answer needs the requestState of its question")),
            };
        };
        let state: String =
            serde_json::from_str(state).map_err(|_| RpcError::invalid_params("requestState must be a string"))?;
        let expected = Expected { principal, call: call.digest() };
        let open = states.open(&state, &expected).map_err(RpcError::invalid_params)?;
        states.spend(&open).map_err(RpcError::invalid_params)?;
        let Pending { question, approved, mut answers, midway } = open.pending;
        if midway {
            let said = Said { word, answers: responses.collect() };
            return Ok(Given { midway: Some((open.nonce, said)), ..Given::default() });
        }
        answers.extend(responses);
        Ok(match word {
            Some(Answer::Approved) => Given { yes: question, no: None, answers, midway: None },
            no => Given { yes: approved, no, answers, midway: None },
        })
    }

    /// The answers by their keys.
    fn responses(&self) -> Result<Responses, RpcError> {
        let Some(responses) = self.responses else { return Ok(Responses::new()) };
        if responses == "null" && self.state.is_none_or(|state| state == "null") {
            return Ok(Responses::new());
        }
        let responses = parse_strict(responses)
            .map_err(|fault| RpcError::invalid_params(format_args!("inputResponses: {fault}")))?;
        let Value::Object(responses) = responses else {
            return Err(RpcError::invalid_params("inputResponses must be an object"));
        };
        let objects = responses.into_iter().filter_map(|(key, response)| match response {
            Value::Object(response) => Some(Ok((key, response))),
            _ if key == KEY => Some(Err(in_responses(&key, message::Malformed))),
            // What is no answer is asked for again, if anybody wants to know it.
            _ => None,
        });
        objects.collect()
    }
}

/// Answers by their keys.
type Responses = std::collections::BTreeMap<String, Map<String, Value>>;

fn in_responses(key: &str, fault: message::Malformed) -> RpcError {
    RpcError::invalid_params(format_args!("inputResponses.{key}: {fault}"))
}

/// Answers with what has been said already, and notes what is to be asked.
pub(super) struct Modern {
    given: Given,
    /// What this very request declares that its client can be asked.
    abilities: Abilities,
    /// Who is asked once the call acts.
    midway: Arc<Midway>,
    deferred: Mutex<Deferred>,
}

/// What has to be asked before a call can come to something.
#[derive(Debug, Clone, Default)]
pub(crate) struct Deferred {
    /// Whether it may run.
    pub(super) question: Option<Question>,
    /// What the tool wants to know.
    pub(super) requests: Vec<(String, Request)>,
    /// What the client cannot be asked, although the tool wants to.
    pub(super) missing: Vec<Capability>,
    /// What has been said already.
    pub(super) pending: Pending,
}

impl Modern {
    /// An answer that was given before is to the call itself, never to what it does on its way: that is asked `midway`.
    pub(super) fn new(given: Given, abilities: Abilities, midway: Arc<Midway>) -> Self {
        Modern { given, abilities, midway, deferred: Mutex::default() }
    }

    /// What has to be asked before the call can run, and what it needs that the client lacks.
    pub(super) fn deferred(&self) -> Deferred {
        let mut deferred = self.noted().clone();
        deferred.pending.answers = self.given.answers.clone();
        deferred.pending.question = deferred.question.as_ref().map(|question| Digest(question.digest));
        deferred
    }

    fn answer(&self, question: &Question) -> Answer {
        let digest = Digest(question.digest);
        if self.given.yes == Some(digest) {
            self.noted().pending.approved = Some(digest);
            return Answer::Approved;
        }
        match self.given.no {
            Some(answer) => answer,
            // Not asked yet, or what they have said yes to is not what would happen now.
            None if self.abilities.can(Capability::Elicitation) => {
                self.noted().question.get_or_insert_with(|| question.clone());
                Answer::Deferred
            }
            None => Answer::Nobody,
        }
    }

    fn inquire(&self, key: &str, request: &Request) -> Result<Map<String, Value>, Unanswered> {
        if let Some(Value::Object(answer)) = self.given.answers.get(key) {
            return Ok(answer.clone());
        }
        let needs = request.needs();
        let mut noted = self.noted();
        if !self.abilities.can(needs) {
            noted.missing.push(needs);
            return Err(Unanswered::Unable(needs));
        }
        if !noted.requests.iter().any(|(other, _)| other == key) {
            noted.requests.push((key.to_owned(), request.clone()));
        }
        Err(Unanswered::Deferred)
    }

    fn noted(&self) -> MutexGuard<'_, Deferred> {
        self.deferred.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Approver for Modern {
    fn ask<'a>(&'a self, question: &'a Question) -> Pin<Box<dyn Future<Output = Answer> + Send + 'a>> {
        Box::pin(std::future::ready(self.answer(question)))
    }

    fn midway(&self) -> Option<Arc<dyn Approver>> {
        Some(Arc::clone(&self.midway) as _)
    }
}

impl Asker for Modern {
    fn can(&self, capability: Capability) -> bool {
        self.abilities.can(capability)
    }

    fn ask<'a>(&'a self, key: &'a str, request: &'a Request) -> BoxFuture<'a, Result<Map<String, Value>, Unanswered>> {
        Box::pin(std::future::ready(self.inquire(key, request)))
    }

    fn midway(&self) -> Option<Arc<dyn Asker>> {
        Some(Arc::clone(&self.midway) as _)
    }
}
