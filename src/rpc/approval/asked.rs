//! What we have asked a client over its stream, until it answers.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::value::RawValue;
use tokio::sync::oneshot;

use crate::rpc::id::RequestId;

/// The result that came for a request of ours; nothing for an error, or for what is no answer.
pub(super) type Reply = Option<Box<RawValue>>;

/// The requests of ours that wait for their answer.
pub(crate) struct Asked {
    last: AtomicU64,
    /// `None` once the stream has ended: what is asked then must fail, not wait for ever.
    waiting: Mutex<Option<HashMap<RequestId, oneshot::Sender<Reply>>>>,
}

impl Asked {
    /// Registers a request: its id, and where its answer arrives. Nothing if no answer can come any more.
    pub(super) fn register(&self) -> Option<(RequestId, oneshot::Receiver<Reply>)> {
        let (sender, receiver) = oneshot::channel();
        // The word keeps our ids apart from all others in a log that shows both directions.
        let number = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let id = RequestId::Text(format!("toolgate-{number}").into());
        self.waiting().as_mut()?.insert(id.clone(), sender);
        Some((id, receiver))
    }

    /// Hands on what came for `id`. Answers to what nobody has asked, or does not ask any more, are ignored.
    pub(crate) fn answer(&self, id: &RequestId, result: Option<&RawValue>) {
        let waiting = self.waiting().as_mut().and_then(|waiting| waiting.remove(id));
        if let Some(sender) = waiting {
            // Whoever asked may have gone in this moment.
            let _ = sender.send(result.map(ToOwned::to_owned));
        }
    }

    /// Forgets a request, and says whether it was still waiting.
    pub(super) fn forget(&self, id: &RequestId) -> bool {
        self.waiting().as_mut().is_some_and(|waiting| waiting.remove(id).is_some())
    }

    /// No answer comes any more: ends every wait, and all that would begin.
    pub(crate) fn close(&self) {
        *self.waiting() = None;
    }

    fn waiting(&self) -> MutexGuard<'_, Option<HashMap<RequestId, oneshot::Sender<Reply>>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Asked {
    fn default() -> Self {
        Asked { last: AtomicU64::new(0), waiting: Mutex::new(Some(HashMap::new())) }
    }
}
