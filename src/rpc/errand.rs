//! What goes through the dispatcher for a request, by whichever method it came: followed, asked about, taken back.

use std::future::Future;

use jsonrpsee::Extensions;
use serde_json::value::RawValue;

use crate::dispatch::{Completed, Control};
use crate::model::call::Caller;
use crate::model::error::ProtocolError;
use crate::rpc::Shared;
use crate::rpc::approval::{CallText, Retry};
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
        let principal = &context.arrival.client.principal.name;
        let control = Control {
            cancel: context.arrival.cancel.clone(),
            progress: context.progress(),
            place: context.arrival.place.clone(),
            approver: asking.approver(),
            asker: asking.asker(),
            log: context.log(text.name),
        };
        let completed = dispatch(context.caller(), control).await?;
        Ok(match asking.deferred(&completed.outcome)? {
            Some(deferred) => {
                let mut result = String::new();
                shared.approvals.write_input_required(&mut result, &deferred, principal, text, &shared.profile);
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
