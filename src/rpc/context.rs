//! What travels with one request through the middleware to its method.

use std::sync::{Arc, Mutex, PoisonError};

use jsonrpsee::Extensions;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::rpc::connection::{Client, Outbox};
use crate::rpc::era::Era;
use crate::tool::view::ProgressSink;

/// Where a request came in, put there by the connection.
#[derive(Clone)]
pub(crate) struct Arrival {
    /// What the connection knows of its client.
    pub(crate) client: Arc<Client>,
    /// Takes the request back.
    pub(crate) cancel: CancellationToken,
}

/// What the middleware found out about a request.
#[derive(Clone)]
pub(crate) struct Scope {
    pub(crate) era: Era,
    pub(crate) progress_token: Option<Arc<RawValue>>,
}

/// What a method can ask about the request it answers. Both parts are put there for every request that reaches one.
pub(crate) struct Context {
    pub(crate) arrival: Arrival,
    pub(crate) scope: Scope,
}

impl Context {
    pub(crate) fn of(extensions: &Extensions) -> Option<Self> {
        let arrival = extensions.get::<Arrival>()?.clone();
        let scope = extensions.get::<Scope>()?.clone();
        Some(Context { arrival, scope })
    }

    /// Where news of the request goes, if its client wants any.
    pub(crate) fn progress(&self) -> Option<Arc<dyn ProgressSink>> {
        let token = self.scope.progress_token.clone()?;
        let outbox = Arc::clone(&self.arrival.client.outbox);
        let cancel = self.arrival.cancel.clone();
        Some(Arc::new(ProgressNotifier { token, outbox, cancel, last: Mutex::new(f64::NEG_INFINITY) }))
    }
}

/// Sends `notifications/progress` for one request (MCP, basic/patterns/progress).
struct ProgressNotifier {
    token: Arc<RawValue>,
    outbox: Arc<dyn Outbox>,
    cancel: CancellationToken,
    last: Mutex<f64>,
}

impl ProgressSink for ProgressNotifier {
    fn progress(&self, done: f64, total: Option<f64>, message: Option<&str>) {
        if self.cancel.is_cancelled() || !done.is_finite() {
            return;
        }
        {
            // Progress must grow with each notification.
            let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
            if done <= *last {
                return;
            }
            *last = done;
        }
        let mut params = json!({"progressToken": &*self.token, "progress": done});
        if let Value::Object(params) = &mut params {
            params.extend(total.map(|total| ("total".to_owned(), json!(total))));
            params.extend(message.map(|message| ("message".to_owned(), json!(message))));
        }
        self.outbox.send(&json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}).to_string());
    }
}
