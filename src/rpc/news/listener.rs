//! One `subscriptions/listen` stream: what it wants to hear, and the way there.

use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::rpc::connection::Outbox;
use crate::rpc::context::notification;
use crate::rpc::id::RequestId;
use crate::rpc::news::List;

/// Where a notification says to which stream it belongs.
pub(crate) const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

/// What a stream wants to hear (MCP 2026-07-28, basic/patterns/subscriptions).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Filter {
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) tools_list_changed: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) prompts_list_changed: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) resources_list_changed: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) resource_subscriptions: Vec<String>,
}

impl Filter {
    pub(super) fn wants(&self, list: List) -> bool {
        match list {
            List::Tools => self.tools_list_changed,
            List::Prompts => self.prompts_list_changed,
            List::Resources => self.resources_list_changed,
        }
    }

    pub(super) fn wants_resource(&self, uri: &str) -> bool {
        self.resource_subscriptions.iter().any(|wanted| wanted == uri)
    }
}

/// One stream.
pub(crate) struct Listener {
    id: RequestId,
    pub(crate) filter: Filter,
    outbox: Arc<dyn Outbox>,
    /// Once the client has taken its request back it hears nothing more.
    cancel: CancellationToken,
    /// News that came before the stream was acknowledged, which must be the first that the client hears.
    held_back: Mutex<Option<Vec<String>>>,
}

impl Listener {
    /// A stream that is not acknowledged yet.
    pub(crate) fn new(id: RequestId, filter: Filter, outbox: Arc<dyn Outbox>, cancel: CancellationToken) -> Self {
        Listener { id, filter, outbox, cancel, held_back: Mutex::new(Some(Vec::new())) }
    }

    /// Tells the client what it will hear, and then what has happened meanwhile.
    pub(crate) fn acknowledge(&self) {
        self.outbox
            .send(&self.frame("notifications/subscriptions/acknowledged", &json!({"notifications": self.filter})));
        let held_back = self.held_back.lock().unwrap_or_else(PoisonError::into_inner).take();
        held_back.into_iter().flatten().for_each(|frame| self.outbox.send(&frame));
    }

    /// Tells the client something that it wants to hear.
    pub(super) fn tell(&self, method: &str, params: &Value) {
        if self.cancel.is_cancelled() {
            return;
        }
        let frame = self.frame(method, params);
        if let Some(held_back) = &mut *self.held_back.lock().unwrap_or_else(PoisonError::into_inner) {
            return held_back.push(frame);
        }
        self.outbox.send(&frame);
    }

    /// The end of the stream, as `_meta` of its result says to which it belongs.
    pub(crate) fn meta(&self) -> Value {
        json!({SUBSCRIPTION_ID: self.id_value()})
    }

    fn frame(&self, method: &str, params: &Value) -> String {
        let mut params = params.clone();
        params["_meta"] = self.meta();
        notification(method, &params)
    }

    /// The id with the type that it came with.
    fn id_value(&self) -> Value {
        serde_json::from_str(&self.id.to_string()).unwrap_or_default()
    }
}
