//! HTTP answers: which status goes with which JSON-RPC error, and how a refusal looks.

use bytes::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER};
use hyper::{Response, StatusCode};
use serde_json::json;

use crate::rpc::Answer;
use crate::serve::http::body::{Body, Events};

/// The name of a session.
pub(super) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

pub(super) type Reply = Response<Body>;

/// The status that belongs to an answer in the stateless era (MCP 2026-07-28, basic).
pub(super) fn modern_status(answer: &Answer) -> StatusCode {
    match answer.error {
        Some(-32601) => StatusCode::NOT_FOUND,
        Some(-32700 | -32600 | -32602 | -32020 | -32021 | -32022) => StatusCode::BAD_REQUEST,
        // What fails inside is told in the body, where clients look for it.
        Some(_) | None => StatusCode::OK,
    }
}

/// An answer as JSON.
pub(super) fn json(status: StatusCode, answer: Answer) -> Reply {
    with_body(status, JSON, Body::whole(answer.frame))
}

/// A stream of events.
pub(super) fn events(events: Events) -> Reply {
    let mut reply = with_body(StatusCode::OK, EVENTS, Body::events(events));
    // Proxies must not wait until they have more, to compress it for example.
    reply.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    reply.headers_mut().insert("cache-control", HeaderValue::from_static("no-store, no-transform"));
    reply
}

/// A message was taken, and there is nothing to say about it.
pub(super) fn accepted() -> Reply {
    empty(StatusCode::ACCEPTED)
}

pub(super) fn empty(status: StatusCode) -> Reply {
    let mut reply = Response::new(Body::whole(Bytes::new()));
    *reply.status_mut() = status;
    reply
}

/// A refusal before any JSON-RPC was read, in the form that clients look for all the same.
pub(super) fn refusal(status: StatusCode, why: impl std::fmt::Display) -> Reply {
    let body = json!({"jsonrpc": "2.0", "error": {"code": -32600, "message": why.to_string()}});
    with_body(status, JSON, Body::whole(body.to_string()))
}

/// [`refusal`] of what may be tried again after so many seconds.
pub(super) fn later(status: StatusCode, seconds: u64, why: impl std::fmt::Display) -> Reply {
    let mut reply = refusal(status, why);
    reply.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    reply
}

/// A text for people and programs that know no JSON-RPC.
pub(super) fn text(status: StatusCode, kind: &'static str, body: impl Into<Bytes>) -> Reply {
    with_body(status, HeaderValue::from_static(kind), Body::whole(body))
}

fn with_body(status: StatusCode, kind: HeaderValue, body: Body) -> Reply {
    let mut reply = Response::new(body);
    *reply.status_mut() = status;
    reply.headers_mut().insert(CONTENT_TYPE, kind);
    reply.headers_mut().insert("cache-control", NO_STORE);
    reply
}
