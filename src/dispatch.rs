//! The one reducer: every call, whoever asks, goes through [`Dispatcher::dispatch`] from top to bottom.

mod turns;

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, PoisonError, RwLock};

use futures_util::FutureExt;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

pub use crate::dispatch::turns::Place;
use crate::dispatch::turns::{Turn, Turns, Use};
use crate::model::call::{Call, Caller};
use crate::model::change::ChangeSet;
use crate::model::error::{ErrorCode, ProtocolError, ToolError};
use crate::model::json::JsonFault;
use crate::tool::Effect;
use crate::tool::registry::{Entry, ErasedPlan, Output, Registry};
use crate::tool::view::{ProgressSink, Settings, View};
use crate::workspace::{FileError, FileErrorKind, NoJournal, Workspace};

/// What a call came to.
pub type Outcome = Result<Output, ToolError>;

/// How often a change is planned because another program got in between.
const ATTEMPTS: u32 = 8;

/// Runs calls against a workspace. It owns both the tools and the workspace: nothing else can reach a tool's plan or
/// commit a change.
pub struct Dispatcher {
    registry: Registry,
    workspace: Arc<dyn Workspace>,
    settings: Settings,
    turns: Arc<Turns>,
    /// Whether commits have been closed; held for reading during each.
    closed: RwLock<bool>,
}

/// How a call is followed and taken back while it runs.
#[derive(Clone, Default)]
pub struct Control {
    /// Takes the call back. A commit that has begun is finished first.
    pub cancel: CancellationToken,
    /// Is told how far the call is.
    pub progress: Option<Arc<dyn ProgressSink>>,
    /// The call's place among others, from [`Dispatcher::queue`]; without one it comes after all that have one.
    pub place: Option<Place>,
}

impl Dispatcher {
    /// A dispatcher that runs `registry`'s tools in `workspace`.
    pub fn new(registry: Registry, workspace: impl Workspace, settings: Settings) -> Self {
        Dispatcher {
            registry,
            workspace: Arc::new(workspace),
            settings,
            turns: Arc::default(),
            closed: RwLock::new(false),
        }
    }

    /// The tools that can be called.
    #[must_use]
    pub fn tools(&self) -> &Registry {
        &self.registry
    }

    /// The next place in the line of calls, for a door that takes calls in order and runs them at the same time.
    #[must_use]
    pub fn queue(&self) -> Place {
        self.turns.place()
    }

    /// Runs one call: look up, validate, take the turn, plan, perform.
    ///
    /// # Errors
    /// Only where the request breaks the contract; what a call runs into is its [`Outcome`].
    pub async fn dispatch(&self, call: Call, _caller: &Caller, control: Control) -> Result<Outcome, ProtocolError> {
        let tool = self.look_up(&call.tool)?;
        let arguments = match validate(tool, call.arguments, self.settings.mend_slips) {
            Ok(arguments) => arguments,
            Err(fault) => return Ok(Err(fault)),
        };
        tracing::info!(tool = call.tool, "{}", tool.present(&arguments).line);
        let view = View::new(Arc::clone(&self.workspace), self.settings, control.cancel, control.progress);
        let place = control.place.unwrap_or_else(|| self.queue());
        let _turn = self.take_turn(place, tool, &view, &arguments).await;
        // A tool that panics fails alone: its call ends as an internal error, everything else goes on.
        AssertUnwindSafe(self.plan_and_perform(tool, &view, &arguments))
            .catch_unwind()
            .await
            .map_err(|_| ProtocolError::Internal { tool: call.tool })
    }

    /// Lets no further commit begin, and waits for those that have.
    pub fn close(&self) {
        *self.closed.write().unwrap_or_else(PoisonError::into_inner) = true;
    }

    fn look_up(&self, name: &str) -> Result<&Entry, ProtocolError> {
        self.registry.get(name).ok_or_else(|| ProtocolError::UnknownTool {
            name: name.to_owned(),
            meant: self.registry.nearest(name).map(str::to_owned),
        })
    }

    /// Waits for the calls before this one that are changing the same files.
    async fn take_turn(&self, place: Place, tool: &Entry, view: &View, arguments: &Value) -> Turn {
        // What is not a path in this workspace is nobody else's either; the tool will say what is wrong with it.
        let paths = tool.paths(arguments).iter().filter_map(|text| view.path(text).ok()).collect();
        let usage = if tool.spec().effect == Effect::Reads { Use::Looks } else { Use::Changes };
        self.turns.take(place, paths, usage).await
    }

    /// Plans, and performs the plan. Where another program got in between, plans anew on what is there now.
    async fn plan_and_perform(&self, tool: &Entry, view: &View, arguments: &Value) -> Outcome {
        for attempt in 1.. {
            view.check_cancelled()?;
            let (set, output) = match tool.plan(view, arguments).await? {
                ErasedPlan::Answer(output) => return Ok(output),
                ErasedPlan::Act(act) => return act.begin().await,
                ErasedPlan::Change { set, output } => (set, output),
            };
            view.check_cancelled()?;
            match self.commit(&set) {
                Ok(()) => return Ok(output),
                Err(CommitError::File(FileError { kind: FileErrorKind::Stale { .. }, .. })) if attempt < ATTEMPTS => {}
                Err(CommitError::File(error)) => return Err(error.into()),
                Err(CommitError::Closed) => return Err(shutting_down()),
            }
        }
        Err(shutting_down())
    }

    /// The only place from which files change.
    fn commit(&self, set: &ChangeSet) -> Result<(), CommitError> {
        let closed = self.closed.read().unwrap_or_else(PoisonError::into_inner);
        if *closed {
            return Err(CommitError::Closed);
        }
        self.workspace.commit(set, &NoJournal).map_err(CommitError::File)
    }
}

fn validate(tool: &Entry, arguments: Result<Value, JsonFault>, mend_slips: bool) -> Result<Value, ToolError> {
    let arguments = arguments.map_err(|fault| {
        ToolError::new(
            ErrorCode::InvalidArguments,
            format!("The arguments cannot be read: {fault}. Send them again as one JSON object."),
        )
    })?;
    if mend_slips { tool.validate(arguments) } else { tool.validate_exactly(arguments) }
}

enum CommitError {
    Closed,
    File(FileError),
}

fn shutting_down() -> ToolError {
    ToolError::new(ErrorCode::Cancelled, "The server is shutting down. Nothing was changed.")
}
