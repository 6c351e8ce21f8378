//! The legacy way: a request of ours over the client's stream, while the call waits (elicitation since MCP 2025-06-18).

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use crate::gate::approval::{Answer, Approver, Question};
use crate::model::json::parse_strict;
use crate::rpc::approval::message;
use crate::rpc::capabilities::Abilities;
use crate::rpc::connection::{Client, Outbox};
use crate::rpc::id::RequestId;
use crate::tool::ask::{Asker, Capability, Request, Unanswered};

/// Asks a connected client, and the person behind it, for one call.
pub(super) struct Legacy {
    pub(super) client: Arc<Client>,
    /// Where the question goes: the stream of the call that asks.
    pub(super) outbox: Arc<dyn Outbox>,
    /// What it can be asked.
    pub(super) abilities: Abilities,
    /// Takes the call back, and with it the question.
    pub(super) cancel: CancellationToken,
    pub(super) patience: Duration,
}

impl Approver for Legacy {
    fn ask<'a>(&'a self, question: &'a Question) -> Pin<Box<dyn Future<Output = Answer> + Send + 'a>> {
        Box::pin(self.approve(question))
    }
}

impl Asker for Legacy {
    fn can(&self, capability: Capability) -> bool {
        self.abilities.can(capability)
    }

    fn ask<'a>(&'a self, _: &'a str, request: &'a Request) -> BoxFuture<'a, Result<Map<String, Value>, Unanswered>> {
        Box::pin(self.inquire(request))
    }
}

impl Legacy {
    async fn approve(&self, question: &Question) -> Answer {
        if !self.abilities.can(Capability::Elicitation) {
            return Answer::Nobody;
        }
        match self.put("elicitation/create", &json!(message::params(question))).await {
            Put::Answered(result) => message::read_answer(result.get()).unwrap_or_else(|malformed| {
                tracing::warn!(%malformed, "the client's answer to a question counts as none");
                Answer::Cancelled
            }),
            Put::TimedOut => Answer::TimedOut,
            Put::Refused => Answer::Cancelled,
        }
    }

    async fn inquire(&self, request: &Request) -> Result<Map<String, Value>, Unanswered> {
        let needs = request.needs();
        if !self.abilities.can(needs) {
            return Err(Unanswered::Unable(needs));
        }
        let (method, params) = request.on_the_wire();
        match self.put(method, &params).await {
            Put::Answered(result) => match parse_strict(result.get()) {
                Ok(Value::Object(result)) => Ok(result),
                _ => Err(Unanswered::Refused),
            },
            Put::TimedOut => Err(Unanswered::TimedOut),
            Put::Refused => Err(Unanswered::Refused),
        }
    }

    /// Sends a request of ours, and waits for what comes.
    async fn put(&self, method: &str, params: &Value) -> Put {
        let Some((id, reply)) = self.client.asked.register() else { return Put::Refused };
        let open = OpenQuestion { client: &self.client, outbox: &*self.outbox, id };
        self.outbox.send(&open.request(method, params));
        match self.cancel.run_until_cancelled(tokio::time::timeout(self.patience, reply)).await {
            Some(Ok(Ok(Some(result)))) => Put::Answered(result),
            Some(Err(_)) => Put::TimedOut,
            // The client cannot answer after all, its stream has ended, or it has taken the call back.
            Some(Ok(Ok(None) | Err(_))) | None => Put::Refused,
        }
    }
}

/// What came of a request of ours.
enum Put {
    Answered(Box<RawValue>),
    TimedOut,
    Refused,
}

/// A question that has gone out. Dropped without an answer it is taken back, so that no person answers in vain.
struct OpenQuestion<'a> {
    client: &'a Client,
    outbox: &'a dyn Outbox,
    id: RequestId,
}

impl OpenQuestion<'_> {
    fn request(&self, method: &str, params: &Value) -> String {
        format!(r#"{{"jsonrpc":"2.0","id":{},"method":"{method}","params":{params}}}"#, self.id)
    }
}

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        if self.client.asked.forget(&self.id) {
            self.outbox.send(&format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{},"reason":"The answer is not waited for any more."}}}}"#,
                self.id
            ));
        }
    }
}
