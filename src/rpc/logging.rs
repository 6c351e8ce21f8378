//! `logging/setLevel`: how much of the tools' messages a legacy client wants to hear. A modern one says so with each
//! request.

use jsonrpsee::core::RegisterMethodError;
use jsonrpsee::types::Params;
use jsonrpsee::{Extensions, RpcModule};
use serde::Deserialize;
use serde_json::json;

use crate::model::error::glimpse;
use crate::rpc::Shared;
use crate::rpc::context::Context;
use crate::rpc::error::RpcError;
use crate::rpc::lifecycle::no_context;
use crate::rpc::params;
use crate::rpc::reply::{self, MethodResult};
use crate::tool::log::LogLevel;

pub(super) fn register(module: &mut RpcModule<Shared>) -> Result<(), RegisterMethodError> {
    module.register_method("logging/setLevel", |params, _, extensions| set_level(&params, extensions))?;
    Ok(())
}

fn set_level(params: &Params<'_>, extensions: &Extensions) -> MethodResult {
    #[derive(Deserialize)]
    struct SetLevel {
        level: String,
    }
    let context = Context::of(extensions).ok_or_else(no_context)?;
    let SetLevel { level } = params::of(params)?;
    let named = LogLevel::named(&level).ok_or_else(|| {
        let levels = LogLevel::ALL.map(LogLevel::as_str).join(", ");
        RpcError::invalid_params(format_args!("{} is none of the levels {levels}", glimpse(&level)))
    })?;
    context.arrival.client.set_log_level(named);
    reply::raw(&json!({}))
}
