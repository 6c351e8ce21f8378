//! The frames that go out, and what every result of an era carries.

use jsonrpsee::types::{ErrorObjectOwned, Id};
use jsonrpsee::{Extensions, MethodResponse};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use crate::rpc::Profile;
use crate::rpc::context::ResultSlot;
use crate::rpc::era::Era;
use crate::rpc::error::RpcError;
use crate::rpc::id::RequestId;

/// The id under which jsonrpsee sees every request. It cannot hold all ids that MCP allows, so the real one is kept
/// outside and put back by [`frame`].
pub(crate) const PLACEHOLDER: Id<'static> = Id::Number(0);

/// How jsonrpsee begins an answer to [`PLACEHOLDER`].
const PLACEHOLDER_HEAD: &str = r#"{"jsonrpc":"2.0","id":0,"#;

/// How long a client may keep a list that does not change while the server runs.
const LIST_TTL_MS: u64 = 300_000;

/// The answer to a message, ready to go out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The frame.
    pub frame: String,
    /// The code, if it is a JSON-RPC error.
    pub error: Option<i32>,
}

/// A method's answer, serialized.
pub(crate) type MethodResult = Result<Box<RawValue>, ErrorObjectOwned>;

/// How the frame of a result begins.
pub(crate) fn head(id: &RequestId) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"#)
}

/// The answer as a frame: what its method has written into `slot`, else the response with the id that the request had.
pub(crate) fn frame(response: MethodResponse, id: &RequestId, slot: &ResultSlot) -> Answer {
    if let Some(frame) = slot.take() {
        return Answer { frame, error: None };
    }
    // The response keeps the request's extensions alive, and with them the connection.
    let code = response.as_error_code();
    let response = response.with_extensions(Extensions::new()).into_json();
    match response.get().strip_prefix(PLACEHOLDER_HEAD) {
        Some(rest) => Answer { frame: format!(r#"{{"jsonrpc":"2.0","id":{id},{rest}"#), error: code },
        None => error(Some(id), RpcError::invalid_request("it could not be answered")),
    }
}

/// An error frame; the id is left out where none could be read (MCP: never null).
pub(crate) fn error(id: Option<&RequestId>, error: RpcError) -> Answer {
    let code = error.code;
    let error = json!({"code": error.code, "message": error.message, "data": error.data});
    let error = without_null_data(error);
    let frame = match id {
        Some(id) => format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#),
        None => format!(r#"{{"jsonrpc":"2.0","error":{error}}}"#),
    };
    Answer { frame, error: Some(code) }
}

fn without_null_data(mut error: Value) -> Value {
    if let Value::Object(members) = &mut error
        && members.get("data").is_some_and(Value::is_null)
    {
        members.shift_remove("data");
    }
    error
}

/// How long a client may keep a result (MCP 2026-07-28, server/utilities/caching). What is here is never for others: a
/// list may depend on who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    /// It stays as it is until the client is told otherwise.
    UntilTold,
    /// It may be another one the next time.
    No,
    /// The method's results say nothing about it.
    Unsaid,
}

/// A result, with what every one of its kind carries in its era.
pub(crate) fn complete(era: Era, profile: &Profile, keep: Keep, body: impl Serialize) -> MethodResult {
    /// The members of both eras, in one object.
    #[derive(Serialize)]
    struct Modern<B> {
        #[serde(flatten)]
        body: B,
        #[serde(rename = "resultType")]
        result_type: &'static str,
        #[serde(rename = "ttlMs", skip_serializing_if = "Option::is_none")]
        ttl_ms: Option<u64>,
        #[serde(rename = "cacheScope", skip_serializing_if = "Option::is_none")]
        cache_scope: Option<&'static str>,
        #[serde(rename = "_meta")]
        meta: Value,
    }
    let (ttl_ms, cache_scope) = match keep {
        Keep::UntilTold => (Some(LIST_TTL_MS), Some("private")),
        Keep::No => (Some(0), Some("private")),
        Keep::Unsaid => (None, None),
    };
    match era {
        Era::Legacy(_) => raw(&body),
        Era::Modern => raw(&Modern {
            body,
            result_type: "complete",
            ttl_ms,
            cache_scope,
            meta: json!({SERVER_INFO: server_info(profile)}),
        }),
    }
}

/// Where a modern result tells who made it.
pub(crate) const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// Who made a result.
pub(crate) fn server_info(profile: &Profile) -> Value {
    json!({"name": profile.name, "version": profile.version})
}

/// `body` as it goes out.
pub(crate) fn raw(body: &impl Serialize) -> MethodResult {
    to_raw_value(body).map_err(|error| internal(&error))
}

pub(crate) fn internal(error: &serde_json::Error) -> ErrorObjectOwned {
    ErrorObjectOwned::owned(-32603, format!("Internal error: {error}"), None::<()>)
}
