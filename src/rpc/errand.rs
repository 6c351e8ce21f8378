//! What goes through the dispatcher for a request, by whichever method it came: followed, asked about, taken back.

use std::future::Future;

use jsonrpsee::Extensions;
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use crate::dispatch::{Completed, Control};
use crate::model::call::Caller;
use crate::model::error::ProtocolError;
use crate::rpc::Shared;
use crate::rpc::approval::{Acting, Asking, CallText, Next, Retry};
use crate::rpc::context::{Context, ResultSlot};
use crate::rpc::error::RpcError;
use crate::rpc::reply::{self, MethodResult};

/// A request on its way through the dispatcher.
pub(super) struct Errand<'a> {
    pub(super) shared: &'a Shared,
    pub(super) context: &'a Context,
    /// What is asked for.
    pub(super) text: CallText<'a>,
    /// What the request brings along if it comes again.
    pub(super) retry: Retry<'a>,
}

/// What came of one.
pub(super) enum Came {
    /// It is done.
    Done(Completed),
    /// It has to come again with answers: the result that says so.
    InputRequired(String),
}

impl Errand<'_> {
    /// Lets `dispatch` carry it out.
    ///
    /// # Errors
    /// It comes with answers that belong to nothing, needs what the client has not declared, or failed internally.
    pub(super) async fn run<F>(self, dispatch: impl FnOnce(Caller, Control) -> F) -> Result<Came, RpcError>
    where
        F: Future<Output = Result<Completed, ProtocolError>>,
    {
        let Errand { shared, context, text, retry } = self;
        let asking = shared.approvals.asking(context, text, &retry)?;
        let control = control(context, &asking, text, context.arrival.cancel.clone());
        let completed = dispatch(context.caller(), control).await?;
        shared.came(context, &asking, text, completed)
    }

    /// Lets `dispatch` carry out a call that acts: it goes on by itself, and is paused where a stateless client has to be
    /// asked in the middle.
    ///
    /// # Errors
    /// As [`Errand::run`].
    pub(super) async fn act<F>(self, dispatch: impl FnOnce(Caller, Control) -> F) -> Result<Came, RpcError>
    where
        F: Future<Output = Result<Completed, ProtocolError>> + Send + 'static,
    {
        let Errand { shared, context, text, retry } = self;
        let mut asking = shared.approvals.asking(context, text, &retry)?;
        let request = &context.arrival.cancel;
        let mut next = match asking.take_resumed() {
            Some((paused, mut said)) => {
                if let Some(place) = &context.arrival.place {
                    // The call has had its turn when it came first; nothing waits for this request.
                    place.give_up();
                }
                match paused.answer(&mut said) {
                    Ok(acting) => acting.next(request).await,
                    Err(paused) => Next::Asks(*paused),
                }
            }
            None => {
                let questions = asking.take_questions();
                let cancel = CancellationToken::new();
                let control = control(context, &asking, text, cancel.clone());
                Acting::begin(dispatch(context.caller(), control), questions, cancel).next(request).await
            }
        };
        let completed = loop {
            let paused = match next {
                Next::Done(Some(done)) => break done?,
                Next::Done(None) => return Err(ProtocolError::Internal { tool: text.name.to_owned() }.into()),
                Next::Asks(paused) => paused,
            };
            let principal = &context.arrival.client.principal.name;
            let mut result = String::new();
            match shared.approvals.park(&mut result, paused, principal, text, &shared.profile) {
                None => return Ok(Came::InputRequired(result)),
                // Too many people are asked already.
                Some(paused) => next = paused.crowded_out().next(request).await,
            }
        };
        shared.came(context, &asking, text, completed)
    }
}

/// How a call is followed, asked about and taken back.
fn control(context: &Context, asking: &Asking, text: CallText<'_>, cancel: CancellationToken) -> Control {
    Control {
        cancel,
        progress: context.progress(),
        place: context.arrival.place.clone(),
        approver: asking.approver(),
        asker: asking.asker(),
        log: context.log(text.name),
        within: None,
    }
}

impl Shared {
    fn came(
        &self,
        context: &Context,
        asking: &Asking,
        text: CallText<'_>,
        completed: Completed,
    ) -> Result<Came, RpcError> {
        let principal = &context.arrival.client.principal.name;
        Ok(match asking.deferred(&completed.outcome)? {
            Some(deferred) => {
                let mut result = String::new();
                self.approvals.write_input_required(&mut result, &deferred, principal, text, &self.profile);
                Came::InputRequired(result)
            }
            None => Came::Done(completed),
        })
    }
}

/// Gives what `write` writes as the result, straight into the frame where that can be.
pub(super) fn written(extensions: &Extensions, write: impl FnOnce(&mut String)) -> MethodResult {
    match extensions.get::<ResultSlot>() {
        Some(slot) => {
            slot.fill(write);
            Ok(RawValue::NULL.to_owned())
        }
        None => {
            let mut result = String::new();
            write(&mut result);
            RawValue::from_string(result).map_err(|error| reply::internal(&error))
        }
    }
}
