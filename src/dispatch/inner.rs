//! The calls that an act makes: they take the way of every other call, in the name of the one that acts.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::dispatch::run::Run;
use crate::dispatch::turns::Turn;
use crate::dispatch::{Completed, Control, Dispatcher, Served};
use crate::gate::approval::{Answer, Approver, Question};
use crate::model::call::{Call, Caller};
use crate::model::error::{ErrorCode, ProtocolError, ToolError};
use crate::model::id::{CallId, ChangeId};
use crate::tool::ask::{Asker, Capability, Request, Unanswered};
use crate::tool::calls::{Calls, InnerCall, Made, Waiting};
use crate::tool::registry::Registry;

/// In which act a call is made. Only the dispatcher knows.
#[derive(Debug, Clone)]
pub struct Within {
    outer: CallId,
    number: u64,
    /// What is changed within the act is taken back under this name.
    pub(super) group: Option<ChangeId>,
    /// The act's own places in the line of calls, and of those around it: its calls do not wait for them.
    pub(super) turns: Vec<u64>,
}

impl Within {
    /// The call as the log names it.
    pub(super) fn id(&self) -> String {
        format!("{}:code:{}", self.outer.0, self.number)
    }
}

/// Makes calls for one act.
pub(super) struct InnerCalls<'a> {
    dispatcher: &'a Dispatcher,
    served: &'a Served,
    caller: &'a Caller,
    control: &'a Control,
    within: Within,
}

impl<'a> InnerCalls<'a> {
    /// For the act of `run`, whose turn it is.
    pub(super) fn of(run: &'a Run<'_>, turn: &Turn) -> Self {
        let (dispatcher, served, caller, control) = (run.dispatcher, run.served, run.caller, &run.control);
        let around = control.within.as_ref();
        let mut turns = around.map(|within| within.turns.clone()).unwrap_or_default();
        turns.push(turn.ticket());
        let group = around.map_or_else(|| dispatcher.ledger.new_group(), |within| within.group);
        InnerCalls { dispatcher, served, caller, control, within: Within { outer: run.id, number: 0, group, turns } }
    }

    async fn make(&self, call: InnerCall) -> Made {
        let InnerCall { number, tool, arguments, cancel, on_behalf_of, waiting } = call;
        // Whoever is asked by coming again with the answer is asked in another way in the middle.
        let (approver, asker) = (&self.control.approver, &self.control.asker);
        let approver = approver.midway().unwrap_or_else(|| Arc::clone(approver));
        let asker = asker.midway().unwrap_or_else(|| Arc::clone(asker));
        let watched = Arc::new(Watched { approver, asker, cancel: cancel.clone(), on_behalf_of, waiting });
        let control = Control {
            approver: Arc::clone(&watched) as _,
            cancel,
            progress: None,
            place: None,
            asker: watched,
            log: self.control.log.clone(),
            within: Some(Within { number, ..self.within.clone() }),
        };
        let call = Call { tool, arguments: Ok(arguments) };
        match self.dispatcher.dispatch(call, self.caller, control).await {
            // What hooks have added for the model to read has no place in the middle of an act; it stands in the log.
            Ok(Completed { outcome, change, replaced, .. }) => Made { outcome, change, replaced },
            Err(failure) => Made { outcome: Err(refused(&failure)), change: None, replaced: None },
        }
    }
}

impl Calls for InnerCalls<'_> {
    fn tools(&self) -> &Registry {
        &self.served.registry
    }

    fn outer(&self) -> CallId {
        self.within.outer
    }

    fn group(&self) -> Option<ChangeId> {
        self.within.group
    }

    fn cancelled(&self) -> &CancellationToken {
        &self.control.cancel
    }

    fn call(&self, call: InnerCall) -> BoxFuture<'_, Made> {
        self.make(call).boxed()
    }
}

/// A broken contract, told to whoever is in the middle of an act.
fn refused(failure: &ProtocolError) -> ToolError {
    let code = match failure {
        ProtocolError::Internal { .. } => ErrorCode::IoError,
        _ => ErrorCode::InvalidArguments,
    };
    ToolError::new(code, failure.to_string())
}

/// Asks for a call of an act: says whose it is, stops with it, and lets it be known that a person is waited for.
struct Watched {
    approver: Arc<dyn Approver>,
    asker: Arc<dyn Asker>,
    cancel: CancellationToken,
    on_behalf_of: String,
    waiting: Arc<dyn Waiting>,
}

impl Approver for Watched {
    fn ask<'a>(&'a self, question: &'a Question) -> Pin<Box<dyn Future<Output = Answer> + Send + 'a>> {
        Box::pin(async move {
            let question = Question { card: format!("{} ({})", question.card, self.on_behalf_of), ..question.clone() };
            let _waits = Waits::begin(self.waiting.as_ref());
            self.cancel.run_until_cancelled(self.approver.ask(&question)).await.unwrap_or(Answer::Cancelled)
        })
    }
}

impl Asker for Watched {
    fn can(&self, capability: Capability) -> bool {
        self.asker.can(capability)
    }

    fn ask<'a>(&'a self, key: &'a str, request: &'a Request) -> BoxFuture<'a, Result<Map<String, Value>, Unanswered>> {
        Box::pin(async move {
            let _waits = Waits::begin(self.waiting.as_ref());
            let answer = self.cancel.run_until_cancelled(self.asker.ask(key, request)).await;
            answer.unwrap_or(Err(Unanswered::Refused))
        })
    }
}

/// A person is being asked, as long as this lives.
struct Waits<'a>(&'a dyn Waiting);

impl<'a> Waits<'a> {
    fn begin(waiting: &'a dyn Waiting) -> Self {
        waiting.waits(true);
        Waits(waiting)
    }
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.waits(false);
    }
}
