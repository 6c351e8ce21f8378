//! The methods for clients that speak plain JSON-RPC: jsonrpsee's own server carries their messages over HTTP and
//! WebSocket, and this layer answers them in the place of its method table.
//!
//! There is no way back to such a client, so nobody behind it can be asked and no progress is told.

use std::future::Future;
use std::sync::Arc;

use jsonrpsee::core::middleware::{Batch, BatchEntry, Notification, Request, RpcServiceT};
use jsonrpsee::core::server::BatchResponseBuilder;
use jsonrpsee::types::ErrorObjectOwned;
use jsonrpsee::{Extensions, MethodResponse};
use tokio::runtime::Handle;
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;
use tower::Layer;

use crate::rpc::Mcp;
use crate::rpc::connection::{Client, Outbox};
use crate::rpc::context::Arrival;
use crate::rpc::error::RpcError;
use crate::rpc::principal::Principal;

/// Says whether a principal may make one more call, or else after how many seconds.
pub(crate) type Admission = Arc<dyn Fn(&Principal) -> Result<(), u64> + Send + Sync>;

/// Puts the methods in the place of a service. Whoever accepts connections leaves the [`Principal`] in the extensions of
/// each request.
#[derive(Clone)]
pub(crate) struct PlainLayer {
    pub(crate) mcp: Mcp,
    pub(crate) admission: Admission,
    /// Where calls run that may block their threads.
    pub(crate) patient: Handle,
}

impl<S> Layer<S> for PlainLayer {
    type Service = PlainService;

    fn layer(&self, _inner: S) -> PlainService {
        PlainService { layer: self.clone() }
    }
}

/// Answers with the methods of MCP.
#[derive(Clone)]
pub(crate) struct PlainService {
    layer: PlainLayer,
}

/// Nothing that is sent arrives.
struct Nowhere;

impl Outbox for Nowhere {
    fn send(&self, _frame: &str) {}

    fn reaches(&self) -> bool {
        false
    }
}

impl PlainService {
    async fn answer(self, mut request: Request<'_>) -> MethodResponse {
        let Some(principal) = request.extensions().get::<Principal>().cloned() else {
            let error = RpcError::invalid_request("nobody is known to make it");
            return MethodResponse::error(request.id, ErrorObjectOwned::from(error));
        };
        let is_call = request.method_name() == "tools/call";
        if is_call && let Err(seconds) = (self.layer.admission)(&principal) {
            let error = RpcError::too_many_calls(seconds);
            return MethodResponse::error(request.id, ErrorObjectOwned::from(error));
        }
        let cancel = CancellationToken::new();
        let _when_dropped = cancel.clone().drop_guard();
        let outbox: Arc<dyn Outbox> = Arc::new(Nowhere);
        let client = Arc::new(Client::new(principal, Arc::clone(&outbox)));
        let arrival = Arrival { client, outbox, id: None, cancel, place: None };
        if !self.layer.mcp.may_wait(&request.method) {
            *request.extensions_mut() = Extensions::new();
            request.extensions_mut().insert(arrival);
            return self.layer.mcp.service.call(request).await.with_extensions(Extensions::new());
        }
        let id = request.id.clone().into_owned();
        let params = request.params.as_deref().map(ToOwned::to_owned);
        let mut request = Request::owned(request.method.into_owned(), params, id.clone());
        request.extensions_mut().insert(arrival);
        let task = self.layer.patient.spawn(self.layer.mcp.service.call(request));
        let _when_dropped = Abort(task.abort_handle());
        match task.await {
            Ok(answer) => answer.with_extensions(Extensions::new()),
            Err(_) => MethodResponse::error(id, ErrorObjectOwned::from(RpcError::invalid_request("it was taken back"))),
        }
    }
}

impl RpcServiceT for PlainService {
    type MethodResponse = MethodResponse;
    type NotificationResponse = MethodResponse;
    type BatchResponse = MethodResponse;

    fn call<'a>(&self, request: Request<'a>) -> impl Future<Output = MethodResponse> + Send + 'a {
        self.clone().answer(request)
    }

    fn batch<'a>(&self, batch: Batch<'a>) -> impl Future<Output = MethodResponse> + Send + 'a {
        let service = self.clone();
        async move {
            let mut answers = BatchResponseBuilder::new_with_limit(usize::MAX);
            for entry in batch {
                let answer = match entry {
                    Ok(BatchEntry::Call(request)) => service.clone().answer(request).await,
                    Ok(BatchEntry::Notification(_)) => continue,
                    Err(bad) => {
                        let (error, id) = bad.into_parts();
                        MethodResponse::error(id, error)
                    }
                };
                if let Err(too_large) = answers.append(answer) {
                    return too_large;
                }
            }
            if answers.is_empty() {
                MethodResponse::notification()
            } else {
                MethodResponse::from_batch(answers.finish())
            }
        }
    }

    /// What these clients could tell is said in their requests.
    fn notification<'a>(&self, _notification: Notification<'a>) -> impl Future<Output = MethodResponse> + Send + 'a {
        std::future::ready(MethodResponse::notification())
    }
}

/// Ends a task when nobody waits for it any more.
struct Abort(AbortHandle);

impl Drop for Abort {
    fn drop(&mut self) {
        self.0.abort();
    }
}
