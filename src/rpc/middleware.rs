//! The one middleware: reads `_meta`, decides the era, lets through what is part of it; handles notifications.

use std::future::Future;
use std::sync::Arc;

use futures_util::future::{Either, ready};
use jsonrpsee::MethodResponse;
use jsonrpsee::core::middleware::{Batch, Notification, Request, RpcServiceT};
use jsonrpsee::types::ErrorObjectOwned;
use serde::Deserialize;
use serde_json::value::RawValue;
use tower::Layer;

use crate::rpc::call_params::CallSlot;
use crate::rpc::capabilities::{Abilities, Capabilities};
use crate::rpc::context::{Arrival, Scope};
use crate::rpc::era::{Era, LegacyVersion, Meta};
use crate::rpc::error::RpcError;
use crate::rpc::id::RequestId;
use crate::tool::ask::Capability;

/// Puts [`EraService`] around a service.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EraLayer;

impl<S> Layer<S> for EraLayer {
    type Service = EraService<S>;

    fn layer(&self, inner: S) -> EraService<S> {
        EraService { inner }
    }
}

/// Gives every request its [`Scope`] before the inner service sees it.
#[derive(Debug, Clone)]
pub(crate) struct EraService<S> {
    inner: S,
}

impl<S> RpcServiceT for EraService<S>
where
    S: RpcServiceT<
            MethodResponse = MethodResponse,
            NotificationResponse = MethodResponse,
            BatchResponse = MethodResponse,
        > + Send
        + Sync
        + Clone
        + 'static,
{
    type MethodResponse = MethodResponse;
    type NotificationResponse = MethodResponse;
    type BatchResponse = MethodResponse;

    fn call<'a>(&self, mut request: Request<'a>) -> impl Future<Output = MethodResponse> + Send + 'a {
        match scope(&request) {
            Ok(scope) => {
                request.extensions_mut().insert(scope);
                Either::Left(self.inner.call(request))
            }
            Err(error) => Either::Right(ready(MethodResponse::error(request.id(), ErrorObjectOwned::from(error)))),
        }
    }

    /// Batches are taken apart by the connection, so that every request of one passes [`Self::call`].
    fn batch<'a>(&self, batch: Batch<'a>) -> impl Future<Output = MethodResponse> + Send + 'a {
        self.inner.batch(batch)
    }

    fn notification<'a>(&self, notification: Notification<'a>) -> impl Future<Output = MethodResponse> + Send + 'a {
        if notification.method_name() == "notifications/cancelled"
            && let Some(arrival) = notification.extensions().get::<Arrival>()
            && let Some(id) = cancelled_id(notification.params.as_deref())
        {
            arrival.client.cancel(&id);
        }
        ready(MethodResponse::notification())
    }
}

fn scope(request: &Request<'_>) -> Result<Scope, RpcError> {
    let arrival = request.extensions().get::<Arrival>();
    let arrival = arrival.ok_or_else(|| RpcError::invalid_request("it came over no connection"))?;
    let cut_out = request.extensions().get::<CallSlot>().map(CallSlot::meta);
    let meta = match &cut_out {
        Some(meta) => Meta::of(meta.as_deref())?,
        None => Meta::read(request.params.as_deref())?,
    };
    let era = meta.era(request.method_name(), arrival.client.legacy_version())?;
    let progress_token = meta.progress_token.filter(|token| RequestId::read(token).is_some());
    let client = &arrival.client;
    let (abilities, log_level) = match era {
        Era::Modern => (meta.capabilities.map(Capabilities::read).unwrap_or_default().abilities(), meta.level()),
        // Earlier revisions have no elicitation, whatever a client declares.
        Era::Legacy(version) if version < LegacyVersion::V2025_06_18 => {
            (client.abilities().without(Capability::Elicitation), Some(client.log_level()))
        }
        Era::Legacy(_) => (client.abilities(), Some(client.log_level())),
    };
    // A legacy client that nothing reaches on the way cannot be asked; a modern one is asked in its answer.
    let abilities = match era {
        Era::Legacy(_) if !arrival.outbox.reaches() => Abilities::default(),
        _ => abilities,
    };
    let progress_token = progress_token.map(|token| Arc::from(token.to_owned()));
    Ok(Scope { era, abilities, log_level, progress_token })
}

/// The request that a notification takes back. What names none is ignored: late and odd ones are normal (B149).
fn cancelled_id(params: Option<&RawValue>) -> Option<RequestId> {
    #[derive(Deserialize)]
    struct Cancelled<'a> {
        #[serde(borrow, rename = "requestId")]
        request_id: &'a RawValue,
    }
    let params = params?.get();
    let Cancelled { request_id } = serde_json::from_str(params).ok().filter(|_| params.starts_with('{'))?;
    RequestId::read(request_id)
}
