//! Calls the method that a request names. jsonrpsee's own leaf cannot be made outside its server.

use std::future::Future;

use futures_util::future::{Either, ready};
use jsonrpsee::core::middleware::{Batch, Notification, Request, RpcServiceT};
use jsonrpsee::types::ErrorObjectOwned;
use jsonrpsee::{ConnectionId, MethodCallback, MethodResponse, Methods};

use crate::rpc::error::RpcError;

/// A result is as large as it is; what may be too much is for each tool to say.
const MAX_RESPONSE_SIZE: usize = usize::MAX;

/// The method table as a service.
#[derive(Debug, Clone)]
pub(crate) struct Leaf {
    methods: Methods,
}

impl Leaf {
    pub(crate) fn new(methods: Methods) -> Self {
        Leaf { methods }
    }
}

impl RpcServiceT for Leaf {
    type MethodResponse = MethodResponse;
    type NotificationResponse = MethodResponse;
    type BatchResponse = MethodResponse;

    fn call<'a>(&self, request: Request<'a>) -> impl Future<Output = MethodResponse> + Send + 'a {
        match self.methods.method(&request.method) {
            Some(MethodCallback::Async(method)) => {
                let params = request.params().into_owned();
                Either::Left(method(
                    request.id.into_owned(),
                    params,
                    ConnectionId(0),
                    MAX_RESPONSE_SIZE,
                    request.extensions,
                ))
            }
            Some(MethodCallback::Sync(method)) => {
                let answer =
                    method(request.id.clone(), request.params(), MAX_RESPONSE_SIZE, request.extensions.clone());
                Either::Right(ready(answer))
            }
            _ => {
                let error = ErrorObjectOwned::from(RpcError::method_not_found(&request.method));
                Either::Right(ready(MethodResponse::error(request.id, error)))
            }
        }
    }

    /// No batch comes this far: the connection takes them apart.
    fn batch<'a>(&self, _batch: Batch<'a>) -> impl Future<Output = MethodResponse> + Send + 'a {
        ready(MethodResponse::notification())
    }

    /// No notification comes this far: the middleware handles them.
    fn notification<'a>(&self, _notification: Notification<'a>) -> impl Future<Output = MethodResponse> + Send + 'a {
        ready(MethodResponse::notification())
    }
}
