//! JSON-RPC errors: the request broke the contract. What a tool runs into is never one of these.

use jsonrpsee::types::ErrorObjectOwned;
use serde_json::{Map, Value, json};

use crate::model::error::{ErrorCode, ProtocolError, ToolError};
use crate::rpc::era::{self, Era};
use crate::rpc::principal::Access;
use crate::tool::ask::Capability;

/// An error object, before it is written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RpcError {
    pub(crate) code: i32,
    pub(crate) message: String,
    pub(crate) data: Option<Value>,
}

impl RpcError {
    fn new(code: i32, message: impl Into<String>) -> Self {
        RpcError { code, message: message.into(), data: None }
    }

    pub(crate) fn parse(why: impl std::fmt::Display) -> Self {
        RpcError::new(-32700, format!("Parse error: {why}"))
    }

    pub(crate) fn invalid_request(why: impl std::fmt::Display) -> Self {
        RpcError::new(-32600, format!("Invalid request: {why}"))
    }

    pub(crate) fn method_not_found(method: &str) -> Self {
        RpcError::new(-32601, format!("Method not found: {method}"))
    }

    pub(crate) fn invalid_params(why: impl std::fmt::Display) -> Self {
        RpcError::new(-32602, format!("Invalid params: {why}"))
    }

    /// MCP 2026-07-28, basic/transports/streamable-http: a header is missing or does not say what the body says.
    pub(crate) fn header_mismatch(why: impl std::fmt::Display) -> Self {
        RpcError::new(-32020, format!("Header mismatch: {why}"))
    }

    /// Whoever calls may not do that.
    pub(crate) fn lacks(needed: Access) -> Self {
        RpcError::invalid_request(format_args!("this needs the scope {}", needed.scope()))
    }

    /// Too many calls in a minute, told where there is no status for it. The code is that of HTTP, outside of what
    /// JSON-RPC keeps to itself.
    pub(crate) fn too_many_calls(seconds: u64) -> Self {
        RpcError {
            data: Some(json!({"retryAfter": seconds})),
            ..RpcError::new(429, format!("Too many calls; the next may come in {seconds} s"))
        }
    }

    /// MCP 2026-07-28, basic: what is asked for needs what the client has not declared with this request.
    pub(crate) fn missing_capability(missing: &[Capability]) -> Self {
        let required: Map<_, _> = missing.iter().map(|one| (one.as_str().to_owned(), json!({}))).collect();
        let names: Vec<_> = required.keys().cloned().collect();
        RpcError {
            data: Some(json!({"requiredCapabilities": required})),
            ..RpcError::new(-32021, format!("Missing required client capability: {}", names.join(", ")))
        }
    }

    /// Nothing is at `uri`, or nothing that this client may have. Legacy revisions have a code of their own for it.
    pub(crate) fn resource_not_found(uri: &str, why: impl std::fmt::Display, era: Era) -> Self {
        let code = match era {
            Era::Modern => -32602,
            Era::Legacy(_) => -32002,
        };
        RpcError { data: Some(json!({"uri": uri})), ..RpcError::new(code, format!("Resource not found: {why}")) }
    }

    /// What a tool error is where the method knows no tool errors.
    pub(crate) fn of_tool(error: &ToolError, subject: (&str, &str)) -> Self {
        let code = if error.code == ErrorCode::IoError { -32603 } else { -32602 };
        let mut data = error.details.clone();
        data.insert("error".to_owned(), error.code.as_str().into());
        data.insert(subject.0.to_owned(), subject.1.into());
        RpcError { data: Some(data.into()), ..RpcError::new(code, error.message.clone()) }
    }

    pub(crate) fn internal(why: impl std::fmt::Display) -> Self {
        RpcError::new(-32603, format!("Internal error: {why}"))
    }

    /// MCP 2026-07-28, basic: the version in `_meta` is not served statelessly.
    pub(crate) fn unsupported_version(requested: &str) -> Self {
        RpcError {
            data: Some(json!({"supported": [era::MODERN], "requested": requested})),
            ..RpcError::new(-32022, format!("Unsupported protocol version: {requested}"))
        }
    }
}

impl From<ProtocolError> for RpcError {
    fn from(error: ProtocolError) -> Self {
        match &error {
            ProtocolError::UnknownTool { .. } => RpcError::invalid_params(error),
            ProtocolError::Internal { .. } => RpcError::internal(error),
        }
    }
}

impl From<RpcError> for ErrorObjectOwned {
    fn from(error: RpcError) -> Self {
        ErrorObjectOwned::owned(error.code, error.message, error.data)
    }
}
