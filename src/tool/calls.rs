//! Calls that an act makes in the name of the call that it belongs to.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::model::error::ToolError;
use crate::model::id::{CallId, ChangeId};
use crate::tool::registry::{Output, Registry};

/// What an act may ask of whoever performs it: calls of its own. Each takes the same way as every other call, through
/// rules, hooks, approvals and the ledger.
pub trait Calls: Send + Sync {
    /// The tools that there are.
    fn tools(&self) -> &Registry;

    /// The call that the act belongs to.
    fn outer(&self) -> CallId;

    /// Under which name everything that these calls change can be taken back at once; nothing where nothing is recorded.
    fn group(&self) -> Option<ChangeId>;

    /// Takes the act back.
    fn cancelled(&self) -> &CancellationToken;

    /// Makes a call. It need not be awaited where it was made, but it does nothing unless it is polled.
    fn call(&self, call: InnerCall) -> BoxFuture<'_, Made>;
}

/// A call that an act makes.
pub struct InnerCall {
    /// The first one of an act has the number 1.
    pub number: u64,
    /// Which tool.
    pub tool: String,
    /// With what.
    pub arguments: Value,
    /// Takes this call back, besides what takes back the act.
    pub cancel: CancellationToken,
    /// For a person who is asked about it: what the act is.
    pub on_behalf_of: String,
    /// Is told while a person is asked.
    pub waiting: Arc<dyn Waiting>,
}

/// Is told while a call waits for a person.
pub trait Waiting: Send + Sync {
    /// A person is asked (`true`), and that has ended (`false`).
    fn waits(&self, waiting: bool);
}

/// What a call of an act came to.
#[derive(Debug, Clone)]
pub struct Made {
    /// Its outcome.
    pub outcome: Result<Output, ToolError>,
    /// The change that it made. It has happened even where a hook has made the outcome an error.
    pub change: Option<ChangeId>,
    /// The text that a hook has put in the place of what the outcome shows.
    pub replaced: Option<String>,
}
