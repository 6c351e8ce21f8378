//! What travels with one request through the middleware to its method.

use std::sync::{Arc, Mutex, PoisonError};

use jsonrpsee::Extensions;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::dispatch::Place;
use crate::model::call::Caller;
use crate::rpc::capabilities::Abilities;
use crate::rpc::connection::{Client, Outbox};
use crate::rpc::era::Era;
use crate::rpc::error::RpcError;
use crate::rpc::id::RequestId;
use crate::rpc::principal::Access;
use crate::text::json::push_string;
use crate::tool::log::{LogLevel, LogSink};
use crate::tool::view::ProgressSink;

/// Where a request came in, put there by the connection.
#[derive(Clone)]
pub(crate) struct Arrival {
    /// What the connection knows of its client.
    pub(crate) client: Arc<Client>,
    /// Where frames go that belong to this request: progress, questions.
    pub(crate) outbox: Arc<dyn Outbox>,
    /// The request's id; a notification has none.
    pub(crate) id: Option<RequestId>,
    /// Takes the request back.
    pub(crate) cancel: CancellationToken,
    /// A call's place among the others of its stream.
    pub(crate) place: Option<Place>,
}

/// Where a method can write its result straight into the answer's frame. jsonrpsee would parse and copy a large result
/// again, which costs more than writing it did; a door that has no slot gets the result the ordinary way.
#[derive(Clone)]
pub(crate) struct ResultSlot(Arc<Mutex<Slot>>);

enum Slot {
    /// The frame up to where the result begins.
    Head(String),
    /// The whole frame.
    Frame(String),
}

impl ResultSlot {
    /// A slot in a frame that begins with `head` and ends after the result.
    pub(crate) fn new(head: String) -> Self {
        ResultSlot(Arc::new(Mutex::new(Slot::Head(head))))
    }

    /// Lets `write` append the result.
    pub(crate) fn fill(&self, write: impl FnOnce(&mut String)) {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Slot::Head(head) = &mut *slot {
            let mut frame = std::mem::take(head);
            write(&mut frame);
            frame.push('}');
            *slot = Slot::Frame(frame);
        }
    }

    /// The whole frame, if a result was written.
    pub(crate) fn take(&self) -> Option<String> {
        match &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Slot::Head(_) => None,
            Slot::Frame(frame) => Some(std::mem::take(frame)),
        }
    }
}

/// What the middleware found out about a request.
#[derive(Clone)]
pub(crate) struct Scope {
    pub(crate) era: Era,
    /// What the client can be asked.
    pub(crate) abilities: Abilities,
    /// The least that it wants to hear of a log, or nothing if it wants none.
    pub(crate) log_level: Option<LogLevel>,
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

    /// Lets only those on who may do as much.
    ///
    /// # Errors
    /// They may not.
    pub(crate) fn allow(&self, needed: Access) -> Result<(), RpcError> {
        if self.arrival.client.principal.access < needed { Err(RpcError::lacks(needed)) } else { Ok(()) }
    }

    /// Who asks.
    pub(crate) fn caller(&self) -> Caller {
        Caller::Mcp { principal: self.arrival.client.principal.name.clone() }
    }

    /// Where messages for the client's log go, if it wants any; `logger` is what they are about.
    pub(crate) fn log(&self, logger: &str) -> Option<Arc<dyn LogSink>> {
        let least = self.scope.log_level?;
        let outbox = Arc::clone(&self.arrival.outbox);
        let cancel = self.arrival.cancel.clone();
        Some(Arc::new(LogNotifier { least, logger: logger.to_owned(), outbox, cancel }))
    }

    /// Where news of the request goes, if its client wants any.
    pub(crate) fn progress(&self) -> Option<Arc<dyn ProgressSink>> {
        let token = self.scope.progress_token.clone()?;
        let outbox = Arc::clone(&self.arrival.outbox);
        let cancel = self.arrival.cancel.clone();
        Some(Arc::new(ProgressNotifier { token, outbox, cancel, last: Mutex::new(f64::NEG_INFINITY) }))
    }
}

/// Sends `notifications/message` for one request (MCP, server/utilities/logging).
struct LogNotifier {
    least: LogLevel,
    logger: String,
    outbox: Arc<dyn Outbox>,
    cancel: CancellationToken,
}

impl LogSink for LogNotifier {
    fn log(&self, level: LogLevel, data: &Value) {
        if level < self.least || self.cancel.is_cancelled() {
            return;
        }
        let params = json!({"level": level.as_str(), "logger": self.logger, "data": data});
        self.outbox.offer(&notification("notifications/message", &params));
    }
}

/// A notification as a frame.
pub(crate) fn notification(method: &str, params: &Value) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#)
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
        // The token is any integer or string and goes back as it came.
        let mut frame = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{},"progress":{done}"#,
            self.token
        );
        if let Some(total) = total.filter(|total| total.is_finite()) {
            frame.push_str(&format!(r#","total":{total}"#));
        }
        if let Some(message) = message {
            frame.push_str(r#","message":"#);
            push_string(&mut frame, message);
        }
        frame.push_str("}}");
        self.outbox.offer(&frame);
    }
}
