//! The modern way: the request is answered with the question, and comes again with the answer (MCP 2026-07-28,
//! basic/patterns/mrtr).

use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;
use serde_json::value::RawValue;

use crate::gate::approval::{Answer, Approver, Question};
use crate::model::json::parse_strict;
use crate::rpc::approval::call_digest::CallText;
use crate::rpc::approval::state::{Expected, States};
use crate::rpc::approval::{KEY, message};
use crate::rpc::error::RpcError;

/// What a person has said about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Given {
    /// Yes, to the question with this digest and no other.
    Yes([u8; 32]),
    /// Anything else, whatever the call would do by now.
    No(Answer),
}

/// What a request brings along if it is not the first of its call.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Retry<'a> {
    /// `requestState`.
    pub(crate) state: Option<&'a RawValue>,
    /// `inputResponses`.
    pub(crate) responses: Option<&'a RawValue>,
}

impl Retry<'_> {
    /// What the person has said, or nothing if they have to be asked (again).
    ///
    /// # Errors
    /// The answer is malformed, or it does not belong to a question that `principal` was asked about `call` and that is
    /// still open. To ask again would be to try until something sticks.
    pub(super) fn read(&self, states: &States, principal: &str, call: CallText<'_>) -> Result<Option<Given>, RpcError> {
        let response = self.response()?;
        let Some(state) = self.state.map(RawValue::get).filter(|state| *state != "null") else {
            return match response {
                None => Ok(None),
                Some(_) => Err(RpcError::invalid_params("an answer needs the requestState of its question")),
            };
        };
        let state: String =
            serde_json::from_str(state).map_err(|_| RpcError::invalid_params("requestState must be a string"))?;
        let expected = Expected { principal, call: call.digest() };
        let open = states.open(&state, &expected).map_err(RpcError::invalid_params)?;
        states.spend(&open).map_err(RpcError::invalid_params)?;
        Ok(response.map(|answer| match answer {
            Answer::Approved => Given::Yes(open.question),
            answer => Given::No(answer),
        }))
    }

    /// The answer under our key; other keys are of no interest.
    fn response(&self) -> Result<Option<Answer>, RpcError> {
        let Some(responses) = self.responses.map(RawValue::get) else { return Ok(None) };
        if responses == "null" && self.state.is_none_or(|state| state.get() == "null") {
            return Ok(None);
        }
        let responses = parse_strict(responses)
            .map_err(|fault| RpcError::invalid_params(format_args!("inputResponses: {fault}")))?;
        let Value::Object(responses) = responses else {
            return Err(RpcError::invalid_params("inputResponses must be an object"));
        };
        match responses.get(KEY) {
            None => Ok(None),
            Some(Value::Object(response)) => message::answer(response).map(Some),
            Some(_) => Err(message::Malformed),
        }
        .map_err(|malformed| RpcError::invalid_params(format_args!("inputResponses.{KEY}: {malformed}")))
    }
}

/// Answers with what the person has said already, and notes what they have to be asked.
pub(super) struct Modern {
    given: Option<Given>,
    /// Whether this very request declares that its client can ask.
    forms: bool,
    deferred: Mutex<Option<Question>>,
}

impl Modern {
    pub(super) fn new(given: Option<Given>, forms: bool) -> Self {
        Modern { given, forms, deferred: Mutex::default() }
    }

    /// What the person has to be asked before the call can run.
    pub(super) fn deferred(&self) -> Option<Question> {
        self.deferred.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn answer(&self, question: &Question) -> Answer {
        match self.given {
            Some(Given::Yes(digest)) if digest == question.digest => Answer::Approved,
            Some(Given::No(answer)) => answer,
            // Not asked yet, or what they have said yes to is not what would happen now.
            _ if self.forms => {
                let mut deferred = self.deferred.lock().unwrap_or_else(PoisonError::into_inner);
                deferred.get_or_insert_with(|| question.clone());
                Answer::Deferred
            }
            _ => Answer::Nobody,
        }
    }
}

impl Approver for Modern {
    fn ask<'a>(&'a self, question: &'a Question) -> Pin<Box<dyn Future<Output = Answer> + Send + 'a>> {
        Box::pin(std::future::ready(self.answer(question)))
    }
}
