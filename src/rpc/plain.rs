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
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::runtime::Handle;
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;
use tower::Layer;

use crate::rpc::Mcp;
use crate::rpc::connection::{Client, Outbox};
use crate::rpc::context::Arrival;
use crate::rpc::era::even_null;
use crate::rpc::error::RpcError;
use crate::rpc::frame::{BadFrame, Frame, Wants};
use crate::rpc::id::RequestId;
use crate::rpc::principal::Principal;
use crate::rpc::reply::{self, Answer};

/// Says whether a principal may make one more call, or else after how many seconds.
pub(crate) type Admission = Arc<dyn Fn(&Principal) -> Result<(), u64> + Send + Sync>;

/// What is answered to a message that jsonrpsee would not take for what it is: a request whose id it cannot hold is a
/// notification to it, and one that is none is unreadable. Nothing for every other.
pub(crate) fn refusal(body: &[u8]) -> Option<Answer> {
    let (id, error) = match std::str::from_utf8(body).map_err(BadFrame::not_utf8).and_then(Frame::of) {
        Ok(Frame::Batch(frames)) if frames.is_empty() => (None, RpcError::invalid_request("the batch is empty")),
        // Those of them that are no requests are told apart there.
        Ok(Frame::Batch(frames)) => {
            let requests = frames.iter().map(|frame| (Frame::single(frame.get()), frame.get()));
            requests.filter_map(|(frame, text)| unheld(frame, text, Wants::Answer)).next()?
        }
        frame => unheld(frame, std::str::from_utf8(body).unwrap_or_default(), Wants::Perhaps)?,
    };
    let mut answer = reply::error(id.as_ref(), error);
    if id.is_none() {
        // Outside of MCP an answer always has one.
        answer.frame = answer.frame.replacen(r#""2.0","#, r#""2.0","id":null,"#, 1);
    }
    Some(answer)
}

/// What is wrong with a frame whose sender wants at `least` so much to hear of it.
fn unheld(frame: Result<Frame<'_>, BadFrame>, text: &str, least: Wants) -> Option<(Option<RequestId>, RpcError)> {
    match frame {
        Ok(Frame::Request { id: RequestId::Integer(digits), .. }) if digits.parse::<u64>().is_err() => {
            let error =
                RpcError::invalid_request(format_args!("an id is a text here, or an integer from 0 to {}", u64::MAX));
            Some((Some(RequestId::Integer(digits)), error))
        }
        Err(BadFrame { wants, .. }) if wants < least || has_null_id(text) => None,
        Err(BadFrame { id, error, .. }) => Some((id, error)),
        Ok(_) => None,
    }
}

/// Whether it is a request that is answered with this id: odd, but allowed outside of MCP.
fn has_null_id(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Members<'a> {
        #[serde(borrow, default, deserialize_with = "even_null")]
        id: Option<&'a RawValue>,
        #[serde(borrow)]
        method: Option<&'a RawValue>,
    }
    serde_json::from_str(text)
        .is_ok_and(|Members { id, method }| id.is_some_and(|id| id.get() == "null") && method.is_some())
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_jsonrpsee_cannot_hold_is_refused_and_nothing_else() {
        for (body, want) in [
            (r#"{"jsonrpc":"2.0","id":1,"method":"m"}"#, None),
            (r#"{"jsonrpc":"2.0","id":"a","method":"m"}"#, None),
            (r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#, None),
            (r#"{"jsonrpc":"2.0","method":"m"}"#, None),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"m"},7]"#, None),
            (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, None),
            (r#"{"jsonrpc":"2.0","id":-1,"method":"m"}"#, Some(("-1", -32600))),
            (r#"{"jsonrpc":"2.0","id":18446744073709551616,"method":"m"}"#, Some(("18446744073709551616", -32600))),
            (r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#, Some(("null", -32600))),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"m"}"#, Some(("null", -32600))),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}"#, Some(("null", -32600))),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, Some(("1", -32600))),
            (r#"{"jsonrpc":"2.0"}"#, Some(("null", -32600))),
            (
                r#"[{"jsonrpc":"2.0","id":1,"method":"m"},{"jsonrpc":"2.0","id":[],"method":"m"}]"#,
                Some(("null", -32600)),
            ),
            ("[]", Some(("null", -32600))),
            ("7", Some(("null", -32600))),
            ("{", Some(("null", -32700))),
            ("", Some(("null", -32700))),
        ] {
            let frame = refusal(body.as_bytes()).map(|answer| answer.frame);
            match want {
                None => assert_eq!(frame, None, "{body}"),
                Some((id, code)) => {
                    let begins = format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"#);
                    assert!(frame.as_ref().is_some_and(|frame| frame.starts_with(&begins)), "{body}: {frame:?}");
                }
            }
        }
    }
}
