//! How a client gets to know the server: `initialize` and `ping` (legacy), `server/discover` (modern).

use jsonrpsee::core::RegisterMethodError;
use jsonrpsee::types::{ErrorObjectOwned, Params};
use jsonrpsee::{Extensions, RpcModule};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::rpc::Shared;
use crate::rpc::capabilities::Capabilities;
use crate::rpc::context::Context;
use crate::rpc::era::{LegacyVersion, MODERN};
use crate::rpc::error::RpcError;
use crate::rpc::reply::{self, Keep, MethodResult};

pub(super) fn register(module: &mut RpcModule<Shared>) -> Result<(), RegisterMethodError> {
    module.register_method("initialize", |params, shared, extensions| initialize(&params, shared, extensions))?;
    module.register_method("ping", |_, _, _| reply::raw(&json!({})))?;
    module.register_method("server/discover", |_, shared, extensions| discover(shared, extensions))?;
    Ok(())
}

/// What is wrong where a request came past the middleware, which cannot be.
pub(super) fn no_context() -> ErrorObjectOwned {
    RpcError::invalid_request("it came over no connection").into()
}

fn initialize(params: &Params<'_>, shared: &Shared, extensions: &Extensions) -> MethodResult {
    #[derive(Deserialize)]
    struct Initialize<'a> {
        #[serde(rename = "protocolVersion", default)]
        version: Value,
        #[serde(borrow, default)]
        capabilities: Option<&'a RawValue>,
    }
    let context = Context::of(extensions).ok_or_else(no_context)?;
    let asked = params.as_str().and_then(|params| serde_json::from_str::<Initialize<'_>>(params).ok());
    let version = LegacyVersion::negotiate(asked.as_ref().and_then(|asked| asked.version.as_str()));
    let declared = asked.and_then(|asked| asked.capabilities).map(Capabilities::read);
    context.arrival.client.negotiated(version, &declared.unwrap_or_default());
    shared.news.greet(&context.arrival.client);
    let mut result = introduction(shared);
    result.insert("protocolVersion".to_owned(), version.as_str().into());
    result.insert("serverInfo".to_owned(), reply::server_info(&shared.profile));
    reply::raw(&result)
}

fn discover(shared: &Shared, extensions: &Extensions) -> MethodResult {
    let context = Context::of(extensions).ok_or_else(no_context)?;
    let mut result = introduction(shared);
    result.insert("supportedVersions".to_owned(), json!([MODERN]));
    reply::complete(context.scope.era, &shared.profile, Keep::UntilTold, result)
}

/// What both eras are told.
fn introduction(shared: &Shared) -> Map<String, Value> {
    let served = shared.dispatcher.glance();
    let offers = &served.offers;
    let mut capabilities = json!({"logging": {}, "tools": {"listChanged": true}});
    if offers.has_prompts() {
        capabilities["prompts"] = json!({"listChanged": true});
    }
    if offers.has_resources() {
        capabilities["resources"] = json!({"listChanged": true, "subscribe": true});
    }
    if offers.has_prompts() || offers.has_resources() {
        capabilities["completions"] = json!({});
    }
    let mut result = Map::from_iter([("capabilities".to_owned(), capabilities)]);
    if let Some(instructions) = &shared.profile.instructions {
        result.insert("instructions".to_owned(), instructions.as_str().into());
    }
    result
}
