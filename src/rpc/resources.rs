//! `resources/list`, `resources/templates/list` and `resources/read`.

use std::borrow::Cow;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use jsonrpsee::core::RegisterMethodError;
use jsonrpsee::types::Params;
use jsonrpsee::{Extensions, RpcModule};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::dispatch::{Completed, Control};
use crate::model::error::{ErrorCode, ToolError, glimpse};
use crate::offer::resource::ResourceSpec;
use crate::offer::{Fetched, Listed, Offers};
use crate::rpc::Shared;
use crate::rpc::approval::{CallText, Retry};
use crate::rpc::blocks::push_contents;
use crate::rpc::context::Context;
use crate::rpc::era::{Era, even_null};
use crate::rpc::errand::{self, Came, Errand};
use crate::rpc::error::RpcError;
use crate::rpc::lifecycle::no_context;
use crate::rpc::page;
use crate::rpc::params;
use crate::rpc::principal::Access;
use crate::rpc::reply::{self, Keep, MethodResult};
use crate::tool::content::Contents;

/// Resources on one page.
const PAGE: usize = 100;

/// A longer address is nobody's.
pub(super) const LONGEST: usize = 8 * 1024;

pub(super) fn register(module: &mut RpcModule<Shared>) -> Result<(), RegisterMethodError> {
    module.register_async_method("resources/list", |params, shared, extensions| async move {
        list(&params, &shared, &extensions).await
    })?;
    module.register_method("resources/templates/list", |_, shared, extensions| templates(shared, extensions))?;
    module.register_async_method("resources/read", |params, shared, extensions| async move {
        read(&params, &shared, &extensions).await
    })?;
    Ok(())
}

/// Where a page begins. It goes to the client in base64: a cursor is not for reading.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Cursor {
    /// At that one of the fixed addresses.
    Fixed(usize),
    /// Among the resources of that template, after the one with that key.
    Template(usize, Option<String>),
}

impl Cursor {
    fn read(text: &str, offers: &Offers) -> Option<Self> {
        let text = String::from_utf8(BASE64.decode(text).ok()?).ok()?;
        let (kind, rest) = text.split_once(':')?;
        let (index, after) = rest.split_once(':')?;
        let index: usize = index.parse().ok()?;
        match kind {
            "f" if after.is_empty() && index < offers.resources().len() => Some(Cursor::Fixed(index)),
            "t" if index < offers.templates().len() => {
                Some(Cursor::Template(index, Some(after.to_owned()).filter(|after| !after.is_empty())))
            }
            _ => None,
        }
    }

    fn write(&self) -> String {
        BASE64.encode(match self {
            Cursor::Fixed(index) => format!("f:{index}:"),
            Cursor::Template(index, after) => format!("t:{index}:{}", after.as_deref().unwrap_or_default()),
        })
    }
}

/// The page that begins at `cursor`, and where the next one does.
async fn collect(
    shared: &Arc<Shared>,
    context: &Context,
    cursor: Cursor,
) -> Result<(Vec<Value>, Option<Cursor>), RpcError> {
    let served = shared.dispatcher.served();
    let offers = &served.offers;
    let (mut resources, mut next) = (Vec::new(), Some(cursor));
    while let Some(cursor) = next.take() {
        let room = PAGE.saturating_sub(resources.len());
        if room == 0 {
            next = Some(cursor);
            break;
        }
        next = match cursor {
            Cursor::Fixed(index) => {
                let fixed = &offers.resources()[index.min(offers.resources().len())..];
                resources.extend(fixed.iter().take(room).map(|resource| described(&resource.spec)));
                Some(match fixed.len() > room {
                    true => Cursor::Fixed(index + room),
                    false => Cursor::Template(0, None),
                })
            }
            Cursor::Template(index, after) => {
                let Some(template) = offers.templates().get(index) else { break };
                let arguments = json!({"limit": room});
                let arguments = with_after(arguments, after);
                let listed = shared.fetch(context, &template.list, "resources/list", arguments).await?;
                // Where listing is refused there is nothing to tell of.
                let listed = listed.as_ref().and_then(|output| output.downcast::<Listed>());
                let shown = listed.into_iter().flat_map(|listed| &listed.items).filter(|item| {
                    let variables = Value::Object(item.variables.iter().map(texts).collect());
                    !shared.dispatcher.hides(&template.read, variables, &context.caller())
                });
                resources.extend(shown.map(|item| described(&item.spec)));
                Some(match listed.and_then(|listed| listed.next.clone()) {
                    Some(after) => Cursor::Template(index, Some(after)),
                    None => Cursor::Template(index + 1, None),
                })
            }
        };
        if matches!(&next, Some(Cursor::Template(index, None)) if *index >= offers.templates().len()) {
            next = None;
        }
    }
    Ok((resources, next))
}

fn with_after(mut arguments: Value, after: Option<String>) -> Value {
    if let Some(after) = after {
        arguments["after"] = after.into();
    }
    arguments
}

fn texts((name, value): (&String, &String)) -> (String, Value) {
    (name.clone(), value.as_str().into())
}

async fn list(params: &Params<'_>, shared: &Arc<Shared>, extensions: &Extensions) -> MethodResult {
    let context = Context::of(extensions).ok_or_else(no_context)?;
    context.allow(Access::Read)?;
    let cursor = match page::cursor(params)? {
        None => Cursor::Fixed(0),
        Some(text) => Cursor::read(&text, &shared.dispatcher.glance().offers).ok_or_else(|| page::unknown(&text))?,
    };
    context.arrival.client.listening.has_listed();
    let (resources, next) = collect(shared, &context, cursor).await?;
    let mut body = Map::from_iter([("resources".to_owned(), Value::Array(resources))]);
    if let Some(next) = next {
        body.insert("nextCursor".to_owned(), next.write().into());
    }
    reply::complete(context.scope.era, &shared.profile, Keep::No, body)
}

/// A resource in a list.
fn described(spec: &ResourceSpec) -> Value {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Described<'a> {
        uri: &'a str,
        name: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        mime_type: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        size: Option<u64>,
    }
    let ResourceSpec { uri, name, title, description, mime_type, size } = spec;
    json!(Described {
        uri,
        name,
        title: title.as_deref(),
        description: description.as_deref(),
        mime_type: mime_type.as_deref(),
        size: *size,
    })
}

fn templates(shared: &Shared, extensions: &Extensions) -> MethodResult {
    let context = Context::of(extensions).ok_or_else(no_context)?;
    let served = shared.dispatcher.glance();
    let templates: Vec<_> = served
        .offers
        .templates()
        .iter()
        .map(|template| {
            let spec = &template.spec;
            let mut described = json!({
                "uriTemplate": spec.uri_template,
                "name": spec.name,
                "title": spec.title,
                "description": spec.description,
            });
            if let Some(mime_type) = spec.mime_type {
                described["mimeType"] = mime_type.into();
            }
            described
        })
        .collect();
    reply::complete(context.scope.era, &shared.profile, Keep::UntilTold, json!({"resourceTemplates": templates}))
}

#[derive(Deserialize)]
struct ReadParams<'a> {
    #[serde(borrow, default)]
    uri: Option<Cow<'a, str>>,
    #[serde(borrow, default, rename = "requestState", deserialize_with = "even_null")]
    state: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "inputResponses", deserialize_with = "even_null")]
    responses: Option<&'a RawValue>,
}

async fn read(params: &Params<'_>, shared: &Arc<Shared>, extensions: &Extensions) -> MethodResult {
    let context = Context::of(extensions).ok_or_else(no_context)?;
    context.allow(Access::Read)?;
    let ReadParams { uri, state, responses } = params::of(params)?;
    let uri = uri.ok_or_else(|| RpcError::invalid_params("params must have the uri of a resource"))?;
    let uri = uri.as_ref();
    let era = context.scope.era;
    let served = shared.dispatcher.served();
    let found = Some(uri).filter(|uri| uri.len() <= LONGEST).and_then(|uri| served.offers.find(uri));
    let found = found.ok_or_else(|| {
        RpcError::resource_not_found(uri, format_args!("nothing is offered at {}", glimpse(uri)), era)
    })?;
    let text = CallText { method: "resources/read", name: uri, arguments: "{}" };
    let errand = Errand {
        shared,
        context: &context,
        text,
        retry: Retry { state: state.map(RawValue::get), responses: responses.map(RawValue::get) },
    };
    let arguments = Value::Object(found.arguments);
    let dispatch = async |caller, control: Control| {
        shared.dispatcher.fetch(found.read, "resources/read", arguments, &caller, control).await
    };
    match errand.run(dispatch).await? {
        Came::InputRequired(required) => errand::written(extensions, |result| result.push_str(&required)),
        Came::Done(completed) => {
            if let Err(error) = &completed.outcome {
                return Err(unreadable(uri, error, era).into());
            }
            errand::written(extensions, |result| write(result, uri, &completed, era, shared))
        }
    }
}

fn unreadable(uri: &str, error: &ToolError, era: Era) -> RpcError {
    match error.code {
        // The variables of an address come from the client, as the address does.
        ErrorCode::FileNotFound
        | ErrorCode::OutsideWorkspace
        | ErrorCode::NotAFile
        | ErrorCode::NotADirectory
        | ErrorCode::InvalidArguments => RpcError::resource_not_found(uri, &error.message, era),
        _ => RpcError::of_tool(error, ("uri", uri)),
    }
}

/// Appends `ReadResourceResult`.
fn write(result: &mut String, uri: &str, completed: &Completed, era: Era, shared: &Shared) {
    let fetched = completed.outcome.as_ref().ok().and_then(|output| output.downcast::<Fetched>());
    let replaced = completed.replaced.as_ref().map(|text| Contents::text("text/plain", text.as_str()));
    result.push_str("{\"contents\":[");
    if let Some(contents) = replaced.as_ref().or_else(|| fetched.and_then(|fetched| fetched.contents.as_ref())) {
        push_contents(result, uri, contents);
    }
    result.push(']');
    let mut meta = Map::new();
    if !completed.context.is_empty() {
        // A model sees what is in the resource; what hooks have added is no part of that.
        let context = completed.context.iter().map(|added| json!({"hook": added.hook, "text": added.text}));
        meta.insert("toolgate/context".to_owned(), context.collect());
    }
    if era == Era::Modern {
        result.push_str(",\"resultType\":\"complete\",\"ttlMs\":0,\"cacheScope\":\"private\"");
        meta.insert(reply::SERVER_INFO.to_owned(), reply::server_info(&shared.profile));
    }
    if !meta.is_empty() {
        result.push_str(",\"_meta\":");
        result.push_str(&Value::Object(meta).to_string());
    }
    result.push('}');
}
