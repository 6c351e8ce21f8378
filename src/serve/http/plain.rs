//! `/rpc`: plain JSON-RPC over HTTP and WebSocket for generic clients, carried by jsonrpsee's own server.

use std::sync::Arc;
use std::time::Duration;

use http_body_util::{Either, Empty, Full};
use hyper::body::{Bytes, Incoming};
use hyper::{Method, Request, StatusCode};
use jsonrpsee::core::middleware::RpcServiceBuilder;
use jsonrpsee::server::{
    Methods, PingConfig, Server, ServerConfig, ServerHandle, StopHandle, TowerServiceBuilder, stop_channel, ws,
};
use tower::Service;
use tower::layer::util::{Identity, Stack};

use crate::rpc::plain::{self, PlainLayer};
use crate::rpc::principal::Principal;
use crate::serve::http::answer::{self, Reply};
use crate::serve::http::body::{Body, BodyLimits};

/// jsonrpsee's server without its listener, which would count requests as connections and knows no TLS and no time
/// limit for headers.
pub(super) struct Plain {
    builder: TowerServiceBuilder<Stack<PlainLayer, Identity>, Identity>,
    stop: StopHandle,
    handle: ServerHandle,
}

impl Plain {
    pub(super) fn new(methods: PlainLayer, connections: usize, body: usize) -> Self {
        let config = ServerConfig::builder()
            .max_connections(u32::try_from(connections).unwrap_or(u32::MAX))
            .max_request_body_size(u32::try_from(body).unwrap_or(u32::MAX))
            .max_response_body_size(u32::MAX)
            .enable_ws_ping(PingConfig::new().ping_interval(Duration::from_secs(20)))
            .build();
        let (stop, handle) = stop_channel();
        let builder = Server::builder()
            .set_config(config)
            .set_rpc_middleware(RpcServiceBuilder::new().layer(methods))
            .to_service_builder();
        Plain { builder, stop, handle }
    }

    pub(super) async fn handle(
        self: &Arc<Self>,
        request: Request<Incoming>,
        principal: Principal,
        bodies: &BodyLimits,
    ) -> Reply {
        let (mut parts, body) = request.into_parts();
        parts.extensions.insert(principal);
        let upgrade = ws::is_upgrade_request(&Request::from_parts(parts.clone(), ()));
        // What jsonrpsee reads itself has no limit in time.
        let (body, _share) = if upgrade {
            (Either::Left(Empty::<Bytes>::new()), None)
        } else {
            match bodies.read(body).await {
                Ok(read) => match plain::refusal(&read.bytes).filter(|_| parts.method == Method::POST) {
                    Some(refused) => return answer::json(StatusCode::OK, refused),
                    None => (Either::Right(Full::new(read.bytes.clone())), Some(read)),
                },
                Err((status, why)) => return answer::refusal(status, why),
            }
        };
        let mut service = self.builder.clone().build(Methods::new(), self.stop.clone());
        match service.call(Request::from_parts(parts, body)).await {
            Ok(response) => response.map(Body::rpc),
            Err(error) => answer::refusal(StatusCode::INTERNAL_SERVER_ERROR, error),
        }
    }

    /// Ends the WebSocket connections.
    pub(super) fn stop(&self) {
        // It may have been stopped already.
        let _ = self.handle.stop();
    }
}
