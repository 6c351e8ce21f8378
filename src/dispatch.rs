//! The one reducer: every call, whoever asks, goes through [`Dispatcher::dispatch`] from top to bottom.

mod approve;
mod completed;
mod foresee;
mod history;
mod inner;
mod run;
mod served;
mod sieve;
mod turns;

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, PoisonError, RwLock};

use arc_swap::Guard;
use futures_util::FutureExt;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

pub use crate::dispatch::completed::{Completed, Context, Outcome};
pub use crate::dispatch::foresee::Foreseen;
pub use crate::dispatch::inner::Within;
use crate::dispatch::run::Run;
pub use crate::dispatch::served::{Served, Shelf};
pub use crate::dispatch::turns::Place;
use crate::dispatch::turns::{Turns, Use};
use crate::gate::approval::{Approver, Nobody};
use crate::gate::policy::Policy;
use crate::ledger::Ledger;
use crate::model::call::{Call, Caller};
use crate::model::change::ChangeSet;
use crate::model::error::ProtocolError;
use crate::model::json::JsonFault;
use crate::offer::Offers;
use crate::tool::Effect;
use crate::tool::ask::{Asker, NobodyToAsk};
use crate::tool::log::LogSink;
use crate::tool::registry::{Entry, Registry};
use crate::tool::view::{ProgressSink, Settings};
use crate::workspace::{Tell, Watch, Workspace};

/// Runs calls against a workspace. It owns the tools and the workspace: nothing else can reach a tool's plan or commit a
/// change.
pub struct Dispatcher {
    shelf: Shelf,
    workspace: Arc<dyn Workspace>,
    ledger: Ledger,
    turns: Arc<Turns>,
    observer: Option<Arc<dyn Observer>>,
    /// Whether commits have been closed; held for reading during each.
    closed: RwLock<bool>,
}

/// Whoever wants to hear of changes once they are made.
pub trait Observer: Send + Sync {
    /// This was done. The call that did it waits, so it is no place for anything that takes long.
    fn changed(&self, set: &ChangeSet);
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
    /// Whoever can put a tool's own questions to the client.
    pub asker: Arc<dyn Asker>,
    /// Takes what a tool says to the client's log.
    pub log: Option<Arc<dyn LogSink>>,
    /// The act that makes the call, if one does.
    pub within: Option<Within>,
}

impl Default for Control {
    fn default() -> Self {
        Control {
            cancel: CancellationToken::new(),
            progress: None,
            place: None,
            approver: Arc::new(Nobody),
            asker: Arc::new(NobodyToAsk),
            log: None,
            within: None,
        }
    }
}

impl Dispatcher {
    /// A dispatcher that runs `registry`'s tools in `workspace`. It lets everything run and records nothing.
    pub fn new(registry: Registry, workspace: impl Workspace, settings: Settings) -> Self {
        let mut served = Served::new(settings);
        served.registry = registry;
        Dispatcher::serving(Shelf::new(served), workspace)
    }

    /// A dispatcher that runs in `workspace` what is on the `shelf`, whatever that is when a call comes. It records nothing.
    pub fn serving(shelf: Shelf, workspace: impl Workspace) -> Self {
        Dispatcher {
            shelf,
            workspace: Arc::new(workspace),
            ledger: Ledger::none(),
            turns: Arc::default(),
            observer: None,
            closed: RwLock::new(false),
        }
    }

    /// Judges calls by `policy`.
    #[must_use]
    pub fn with_policy(self, policy: Policy) -> Self {
        self.with(|served| served.policy = Arc::new(policy))
    }

    fn with(self, put: impl FnOnce(&mut Served)) -> Self {
        self.shelf.put(put);
        self
    }

    /// Records calls and changes in `ledger`.
    #[must_use]
    pub fn with_ledger(mut self, ledger: Ledger) -> Self {
        self.ledger = ledger;
        self
    }

    /// Offers resources and prompts as well. Whatever is asked for there takes the way of a call.
    #[must_use]
    pub fn with_offers(self, offers: Offers) -> Self {
        self.with(|served| served.offers = offers)
    }

    /// Tells `observer` of every change that is made.
    #[must_use]
    pub fn with_observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Begins to see what happens to the files of the workspace; see [`Workspace::watch`].
    #[must_use]
    pub fn watch(&self, tell: Tell) -> Option<Arc<dyn Watch>> {
        self.workspace.watch(tell)
    }

    /// What is served now. Calls that have begun may still go on with what was served before.
    #[must_use]
    pub fn served(&self) -> Arc<Served> {
        self.shelf.now()
    }

    /// The same for a moment: where nothing is waited for.
    pub(crate) fn glance(&self) -> Guard<Arc<Served>> {
        self.shelf.glance()
    }

    /// Where it finds what is served, for whoever wants to change that.
    #[must_use]
    pub fn shelf(&self) -> &Shelf {
        &self.shelf
    }

    /// The next place in the line of calls, for a door that takes calls in order and runs them at the same time. Until the
    /// call is dispatched or the place is dropped, every later call waits for it; where the `tool` is known and only
    /// looks, only those wait that change something.
    #[must_use]
    pub fn queue(&self, tool: Option<&str>) -> Place {
        let served = self.glance();
        let looks = tool.and_then(|name| served.registry.get(name)).is_some_and(|tool| !changes(tool.spec().effect));
        self.turns.place(if looks { Use::Looks } else { Use::Changes })
    }

    /// The next place in the line for who only looks.
    #[must_use]
    pub fn queue_look(&self) -> Place {
        self.turns.place(Use::Looks)
    }

    /// Whether anything beyond this process has a word on calls that only look: a hook, or a person.
    #[must_use]
    pub(crate) fn asks_outside(&self) -> bool {
        self.glance().policy.concerns(false)
    }

    /// Runs one call. These are the ten steps that every call takes, in this order.
    ///
    /// # Errors
    /// Only where the request breaks the contract; what a call runs into is its [`Outcome`].
    pub async fn dispatch(&self, call: Call, caller: &Caller, control: Control) -> Result<Completed, ProtocolError> {
        let served = self.served();
        let tool = look_up(&served.registry, &call.tool)?; // 1
        self.carry((&served, tool), None, call.arguments, caller, control).await
    }

    /// Carries out what a caller asks for through a `method` other than a call: steps 2 to 10, with one of the offers'
    /// own entries.
    pub(crate) async fn fetch(
        &self,
        entry: &Entry,
        method: &'static str,
        arguments: Value,
        caller: &Caller,
        control: Control,
    ) -> Result<Completed, ProtocolError> {
        self.carry((&self.served(), entry), Some(method), Ok(arguments), caller, control).await
    }

    async fn carry(
        &self,
        (served, tool): (&Served, &Entry),
        method: Option<&'static str>,
        arguments: Result<Value, JsonFault>,
        caller: &Caller,
        control: Control,
    ) -> Result<Completed, ProtocolError> {
        let mut run = Run::begin(self, (served, tool), caller, control).of(&arguments);
        run.record_call(&arguments, method); // 2
        let open = run.open();
        // A tool that panics fails alone: its call ends as an internal error, everything else goes on.
        let carried_out = AssertUnwindSafe(run.carry_out(arguments)).catch_unwind().await; // 3 to 8
        let Ok((facts, completed)) = carried_out else {
            run.record_panic();
            open.end();
            return Err(ProtocolError::Internal { tool: tool.spec().name.to_owned() });
        };
        let completed = run.review(&facts, completed).await; // 9
        run.record_result(&completed); // 10
        open.end();
        Ok(completed)
    }

    /// Lets no further commit begin, waits for those that have, and writes down what is still to be recorded.
    pub fn close(&self) {
        *self.closed.write().unwrap_or_else(PoisonError::into_inner) = true;
        if let Err(error) = self.ledger.ready() {
            tracing::warn!(%error, "the last events could not be recorded");
        }
    }
}

fn look_up<'a>(registry: &'a Registry, name: &str) -> Result<&'a Entry, ProtocolError> {
    registry.get(name).ok_or_else(|| ProtocolError::UnknownTool {
        name: name.to_owned(),
        meant: registry.nearest(name).map(str::to_owned),
        tools: registry.iter().map(|tool| tool.spec().name.to_owned()).collect(),
    })
}

/// Whether a call of such a tool may itself change something.
fn changes(effect: Effect) -> bool {
    !matches!(effect, Effect::Reads | Effect::Calls)
}
