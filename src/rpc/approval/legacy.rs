//! The legacy way: `elicitation/create` over the client's stream, while the call waits (MCP 2025-06-18 and later).

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::gate::approval::{Answer, Approver, Question};
use crate::rpc::approval::message;
use crate::rpc::connection::{Client, Outbox};
use crate::rpc::id::RequestId;

/// Asks the person behind a connected client, for one call.
pub(super) struct Legacy {
    pub(super) client: Arc<Client>,
    /// Where the question goes: the stream of the call that asks.
    pub(super) outbox: Arc<dyn Outbox>,
    /// Takes the call back, and with it the question.
    pub(super) cancel: CancellationToken,
    pub(super) patience: Duration,
}

impl Approver for Legacy {
    fn ask<'a>(&'a self, question: &'a Question) -> Pin<Box<dyn Future<Output = Answer> + Send + 'a>> {
        Box::pin(self.put(question))
    }
}

impl Legacy {
    async fn put(&self, question: &Question) -> Answer {
        let Some((id, reply)) = self.client.asked.register() else { return Answer::Cancelled };
        let open = OpenQuestion { client: &self.client, outbox: &*self.outbox, id };
        self.outbox.send(&open.request(question));
        let waited = self.cancel.run_until_cancelled(tokio::time::timeout(self.patience, reply)).await;
        match waited {
            Some(Ok(Ok(Some(result)))) => message::read_answer(result.get()).unwrap_or_else(|malformed| {
                tracing::warn!(%malformed, "the client's answer to a question counts as none");
                Answer::Cancelled
            }),
            Some(Err(_)) => Answer::TimedOut,
            // The client cannot ask after all, its stream has ended, or it has taken the call back.
            Some(Ok(Ok(None) | Err(_))) | None => Answer::Cancelled,
        }
    }
}

/// A question that has gone out. Dropped without an answer it is taken back, so that no person answers in vain.
struct OpenQuestion<'a> {
    client: &'a Client,
    outbox: &'a dyn Outbox,
    id: RequestId,
}

impl OpenQuestion<'_> {
    fn request(&self, question: &Question) -> String {
        let params = json!(message::params(question));
        format!(r#"{{"jsonrpc":"2.0","id":{},"method":"elicitation/create","params":{params}}}"#, self.id)
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
