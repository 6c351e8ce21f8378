//! The one reducer: every call, whoever asks, goes through [`Dispatcher::dispatch`] from top to bottom.

mod approve;
mod completed;
mod foresee;
mod history;
mod run;
mod sieve;
mod turns;

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, PoisonError, RwLock};

use futures_util::FutureExt;
use tokio_util::sync::CancellationToken;

pub use crate::dispatch::completed::{Completed, Context, Outcome};
pub use crate::dispatch::foresee::Foreseen;
use crate::dispatch::run::Run;
pub use crate::dispatch::turns::Place;
use crate::dispatch::turns::{Turns, Use};
use crate::gate::approval::{Approver, Nobody};
use crate::gate::policy::Policy;
use crate::ledger::Ledger;
use crate::model::call::{Call, Caller};
use crate::model::error::ProtocolError;
use crate::tool::Effect;
use crate::tool::registry::{Entry, Registry};
use crate::tool::view::{ProgressSink, Settings};
use crate::workspace::Workspace;

/// Runs calls against a workspace. It owns the tools and the workspace: nothing else can reach a tool's plan or commit a
/// change.
pub struct Dispatcher {
    registry: Registry,
    workspace: Arc<dyn Workspace>,
    settings: Settings,
    policy: Arc<Policy>,
    ledger: Ledger,
    turns: Arc<Turns>,
    /// Whether commits have been closed; held for reading during each.
    closed: RwLock<bool>,
}

/// How a call is followed, asked about and taken back while it runs.
#[derive(Clone)]
pub struct Control {
    /// Takes the call back. A commit that has begun is finished first.
    pub cancel: CancellationToken,
    /// Is told how far the call is.
    pub progress: Option<Arc<dyn ProgressSink>>,
    /// The call's place among others, from [`Dispatcher::queue`]; without one it comes after all that have one.
    pub place: Option<Place>,
    /// Whoever can put a question to a person.
    pub approver: Arc<dyn Approver>,
}

impl Default for Control {
    fn default() -> Self {
        Control { cancel: CancellationToken::new(), progress: None, place: None, approver: Arc::new(Nobody) }
    }
}

impl Dispatcher {
    /// A dispatcher that runs `registry`'s tools in `workspace`. It lets everything run and records nothing.
    pub fn new(registry: Registry, workspace: impl Workspace, settings: Settings) -> Self {
        Dispatcher {
            registry,
            workspace: Arc::new(workspace),
            settings,
            policy: Arc::new(Policy::open()),
            ledger: Ledger::none(),
            turns: Arc::default(),
            closed: RwLock::new(false),
        }
    }

    /// Judges calls by `policy`.
    #[must_use]
    pub fn with_policy(mut self, policy: Policy) -> Self {
        self.policy = Arc::new(policy);
        self
    }

    /// Records calls and changes in `ledger`.
    #[must_use]
    pub fn with_ledger(mut self, ledger: Ledger) -> Self {
        self.ledger = ledger;
        self
    }

    /// The tools that can be called.
    #[must_use]
    pub fn tools(&self) -> &Registry {
        &self.registry
    }

    /// Whether programs are asked about calls, which takes its time.
    #[must_use]
    pub fn asks_hooks(&self) -> bool {
        !self.policy.hooks.is_empty()
    }

    /// The next place in the line of calls, for a door that takes calls in order and runs them at the same time. Until the
    /// call is dispatched or the place is dropped, every later call waits for it; where the `tool` is known and only
    /// looks, only those wait that change something.
    #[must_use]
    pub fn queue(&self, tool: Option<&str>) -> Place {
        let looks =
            tool.and_then(|name| self.registry.get(name)).is_some_and(|tool| tool.spec().effect == Effect::Reads);
        self.turns.place(if looks { Use::Looks } else { Use::Changes })
    }

    /// Runs one call. These are the ten steps that every call takes, in this order.
    ///
    /// # Errors
    /// Only where the request breaks the contract; what a call runs into is its [`Outcome`].
    pub async fn dispatch(&self, call: Call, caller: &Caller, control: Control) -> Result<Completed, ProtocolError> {
        let tool = self.look_up(&call.tool)?; // 1
        let run = Run::begin(self, tool, caller, control).of(&call.arguments);
        run.record_call(&call.arguments); // 2
        // A tool that panics fails alone: its call ends as an internal error, everything else goes on.
        let carried_out = AssertUnwindSafe(run.carry_out(call.arguments)).catch_unwind().await; // 3 to 8
        let Ok((facts, completed)) = carried_out else {
            run.record_panic();
            return Err(ProtocolError::Internal { tool: call.tool });
        };
        let completed = run.review(&facts, completed).await; // 9
        run.record_result(&completed); // 10
        Ok(completed)
    }

    /// Lets no further commit begin, waits for those that have, and writes down what is still to be recorded.
    pub fn close(&self) {
        *self.closed.write().unwrap_or_else(PoisonError::into_inner) = true;
        if let Err(error) = self.ledger.ready() {
            tracing::warn!(%error, "the last events could not be recorded");
        }
    }

    fn look_up(&self, name: &str) -> Result<&Entry, ProtocolError> {
        self.registry.get(name).ok_or_else(|| ProtocolError::UnknownTool {
            name: name.to_owned(),
            meant: self.registry.nearest(name).map(str::to_owned),
            tools: self.registry.iter().map(|tool| tool.spec().name.to_owned()).collect(),
        })
    }
}
