//! `prompts/list` and `prompts/get`.

use std::sync::Arc;

use jsonrpsee::core::RegisterMethodError;
use jsonrpsee::types::Params;
use jsonrpsee::{Extensions, RpcModule};
use serde_json::{Map, Value, json};

use crate::dispatch::{Completed, Control};
use crate::model::error::glimpse;
use crate::offer::prompt::Message;
use crate::offer::{OfferedPrompt, Offers, Told, told_arguments};
use crate::rpc::Shared;
use crate::rpc::approval::CallText;
use crate::rpc::blocks::Blocks;
use crate::rpc::call_params::CallSlot;
use crate::rpc::context::Context;
use crate::rpc::era::Era;
use crate::rpc::errand::{self, Came, Errand};
use crate::rpc::error::RpcError;
use crate::rpc::lifecycle::no_context;
use crate::rpc::page;
use crate::rpc::principal::Access;
use crate::rpc::reply::{self, Keep, MethodResult};
use crate::text::json::push_string;

pub(super) fn register(module: &mut RpcModule<Shared>) -> Result<(), RegisterMethodError> {
    module.register_method("prompts/list", |params, shared, extensions| list(&params, shared, extensions))?;
    module.register_async_method("prompts/get", |params, shared, extensions| async move {
        get(&params, &shared, &extensions).await
    })?;
    Ok(())
}

fn list(params: &Params<'_>, shared: &Shared, extensions: &Extensions) -> MethodResult {
    let context = Context::of(extensions).ok_or_else(no_context)?;
    // There are never so many that they would not fit one page.
    if let Some(cursor) = page::cursor(params)? {
        return Err(page::unknown(&cursor).into());
    }
    let prompts: Vec<_> = shared.dispatcher.glance().offers.prompts().map(described).collect();
    reply::complete(context.scope.era, &shared.profile, Keep::UntilTold, json!({"prompts": prompts}))
}

fn described(prompt: &OfferedPrompt) -> Value {
    let arguments: Vec<_> = prompt
        .arguments
        .iter()
        .map(|argument| {
            let mut described = json!({"name": argument.name, "required": argument.required});
            if let Some(description) = &argument.description {
                described["description"] = description.as_str().into();
            }
            described
        })
        .collect();
    let spec = &prompt.spec;
    json!({"name": spec.name, "title": spec.title, "description": spec.description, "arguments": arguments})
}

async fn get(params: &Params<'_>, shared: &Arc<Shared>, extensions: &Extensions) -> MethodResult {
    let context = Context::of(extensions).ok_or_else(no_context)?;
    context.allow(Access::Read)?;
    let asked = CallSlot::take(extensions, params)?;
    let (name, raw) = (asked.name("prompt")?, asked.arguments());
    let served = shared.dispatcher.served();
    let prompt = served.offers.prompt_named(name).ok_or_else(|| unknown(name, &served.offers))?;
    let arguments: Map<String, Value> = serde_json::from_str(raw)
        .map_err(|_| RpcError::invalid_params("arguments must be an object whose members are texts"))?;
    check(prompt, &arguments)?;
    let text = CallText { method: "prompts/get", name, arguments: raw };
    let errand = Errand { shared, context: &context, text, retry: asked.retry() };
    let arguments = told_arguments(name, arguments);
    let dispatch = async |caller, control: Control| {
        shared.dispatcher.fetch(&prompt.get, "prompts/get", arguments, &caller, control).await
    };
    match errand.run(dispatch).await? {
        Came::InputRequired(required) => errand::written(extensions, |result| result.push_str(&required)),
        Came::Done(completed) => {
            if let Err(error) = &completed.outcome {
                return Err(RpcError::of_tool(error, ("prompt", name)).into());
            }
            let era = context.scope.era;
            errand::written(extensions, |result| write(result, prompt, &completed, era, shared))
        }
    }
}

pub(super) fn unknown(name: &str, offers: &Offers) -> RpcError {
    let names: Vec<_> = offers.prompts().map(|prompt| prompt.spec.name).collect();
    let there = if names.is_empty() { "there is none".to_owned() } else { format!("there is {}", names.join(", ")) };
    RpcError::invalid_params(format_args!("unknown prompt: {}; {there}", glimpse(name)))
}

/// Unknown arguments, missing ones and what is no text break the contract (MCP, server/prompts).
fn check(prompt: &OfferedPrompt, arguments: &Map<String, Value>) -> Result<(), RpcError> {
    let name = prompt.spec.name;
    for (given, value) in arguments {
        if !prompt.arguments.iter().any(|argument| argument.name == *given) {
            let given = glimpse(given);
            return Err(RpcError::invalid_params(format_args!("the prompt {name} has no argument {given}")));
        }
        if !value.is_string() {
            return Err(RpcError::invalid_params(format_args!("the argument {given} must be a text")));
        }
    }
    match prompt.arguments.iter().find(|argument| argument.required && !arguments.contains_key(&argument.name)) {
        Some(missing) => {
            Err(RpcError::invalid_params(format_args!("the prompt {name} needs the argument {}", missing.name)))
        }
        None => Ok(()),
    }
}

/// Appends `GetPromptResult`.
fn write(result: &mut String, prompt: &OfferedPrompt, completed: &Completed, era: Era, shared: &Shared) {
    let told = completed.outcome.as_ref().ok().and_then(|output| output.downcast::<Told>());
    let replaced = completed.replaced.as_ref().map(|text| [Message::user(text.as_str())]);
    let messages = match (&replaced, told) {
        (Some(replaced), _) => replaced.as_slice(),
        (None, told) => told.map_or(&[][..], |told| &told.messages),
    };
    let context = completed.context.iter().map(|added| {
        Message::user(format!("[Context from the hook {}, not from the prompt:]\n{}", added.hook, added.text))
    });
    result.push_str("{\"description\":");
    push_string(result, prompt.spec.description);
    result.push_str(",\"messages\":[");
    for (count, message) in messages.iter().cloned().chain(context).enumerate() {
        result.push_str(if count == 0 { "{\"role\":\"" } else { ",{\"role\":\"" });
        result.push_str(message.role.as_str());
        result.push_str("\",\"content\":");
        Blocks::new(result, era).content(&message.content);
        result.push('}');
    }
    result.push(']');
    if era == Era::Modern {
        result.push_str(",\"resultType\":\"complete\",\"_meta\":");
        result.push_str(&json!({reply::SERVER_INFO: reply::server_info(&shared.profile)}).to_string());
    }
    result.push('}');
}
