//! `completion/complete`: what a person may have meant to type, for arguments of prompts and variables of addresses.

use std::collections::BTreeMap;
use std::sync::Arc;

use jsonrpsee::core::RegisterMethodError;
use jsonrpsee::types::Params;
use jsonrpsee::{Extensions, RpcModule};
use serde::Deserialize;
use serde_json::json;

use crate::model::error::glimpse;
use crate::offer::{self, Offers};
use crate::rpc::context::Context;
use crate::rpc::error::RpcError;
use crate::rpc::lifecycle::no_context;
use crate::rpc::reply::{self, Keep, MethodResult};
use crate::rpc::{Shared, params, prompts};
use crate::tool::registry::Entry;

/// So many values a client takes (MCP, server/utilities/completion).
const MOST: usize = 100;

pub(super) fn register(module: &mut RpcModule<Shared>) -> Result<(), RegisterMethodError> {
    module.register_async_method("completion/complete", |params, shared, extensions| async move {
        complete(&params, &shared, &extensions).await
    })?;
    Ok(())
}

#[derive(Deserialize)]
struct CompleteParams {
    #[serde(rename = "ref")]
    reference: Reference,
    argument: Argument,
    #[serde(default)]
    context: Known,
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum Reference {
    #[serde(rename = "ref/prompt")]
    Prompt { name: String },
    #[serde(rename = "ref/resource")]
    Resource { uri: String },
}

#[derive(Deserialize)]
struct Argument {
    name: String,
    value: String,
}

#[derive(Deserialize, Default)]
struct Known {
    #[serde(default)]
    arguments: BTreeMap<String, String>,
}

/// What is completed: its entry, and, for an address, how one is read.
struct Completing<'a> {
    entry: &'a Entry,
    read: Option<&'a Entry>,
}

async fn complete(params: &Params<'_>, shared: &Arc<Shared>, extensions: &Extensions) -> MethodResult {
    let context = Context::of(extensions).ok_or_else(no_context)?;
    let CompleteParams { reference, argument, context: known } = params::of(params)?;
    let served = shared.dispatcher.served();
    let completing = find(&served.offers, &reference, &argument.name)?;
    let typing = json!({"name": argument.name, "text": argument.value, "others": known.arguments});
    let output = shared.fetch(&context, completing.entry, "completion/complete", typing).await?;
    let mut values = output
        .as_ref()
        .and_then(|output| output.downcast::<offer::Completed>())
        .map_or_else(Vec::new, |completed| completed.values.clone());
    if let Some(read) = completing.read {
        values.retain(|value| {
            let mut variables: BTreeMap<_, _> = known.arguments.iter().collect();
            variables.insert(&argument.name, value);
            !shared.dispatcher.hides(read, json!(variables), &context.caller())
        });
    }
    let total = values.len();
    values.truncate(MOST);
    let completion = json!({"values": values, "total": total, "hasMore": total > MOST});
    reply::complete(context.scope.era, &shared.profile, Keep::Unsaid, json!({"completion": completion}))
}

fn find<'a>(offers: &'a Offers, reference: &Reference, argument: &str) -> Result<Completing<'a>, RpcError> {
    let (completing, known) = match reference {
        Reference::Prompt { name } => {
            let prompt = offers.prompt_named(name).ok_or_else(|| prompts::unknown(name, offers))?;
            let known = prompt.arguments.iter().any(|one| one.name == argument);
            (Completing { entry: &prompt.complete, read: None }, known)
        }
        Reference::Resource { uri } => {
            let template = offers.templates().iter().find(|template| template.spec.uri_template == uri);
            let template = template.ok_or_else(|| {
                RpcError::invalid_params(format_args!("{} is no template of this server", glimpse(uri)))
            })?;
            let known = template.template.variables().any(|name| name == argument);
            (Completing { entry: &template.complete, read: Some(&template.read) }, known)
        }
    };
    match known {
        true => Ok(completing),
        false => Err(RpcError::invalid_params(format_args!("it has no argument {}", glimpse(argument)))),
    }
}
