//! `tools/list` and `tools/call`.

use std::borrow::Cow;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use jsonrpsee::core::RegisterMethodError;
use jsonrpsee::types::Params;
use jsonrpsee::{Extensions, RpcModule};
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::dispatch::{Control, Outcome};
use crate::model::call::{Call, Caller};
use crate::model::error::{ErrorCode, ToolError};
use crate::model::json as strict;
use crate::rpc::context::Context;
use crate::rpc::era::Era;
use crate::rpc::error::RpcError;
use crate::rpc::lifecycle::no_context;
use crate::rpc::reply::{self, MethodResult};
use crate::rpc::{Profile, Shared};
use crate::tool::Facts;
use crate::tool::export;
use crate::tool::registry::Output;

/// Tools on one page of `tools/list`.
const PAGE: usize = 100;

pub(super) fn register(module: &mut RpcModule<Shared>) -> Result<(), RegisterMethodError> {
    module.register_method("tools/list", |params, shared, extensions| list(&params, shared, extensions))?;
    module.register_async_method("tools/call", |params, shared, extensions| async move {
        call(&params, &shared, &extensions).await
    })?;
    Ok(())
}

fn list(params: &Params<'_>, shared: &Shared, extensions: &Extensions) -> MethodResult {
    #[derive(Deserialize, Default)]
    struct List {
        cursor: Option<String>,
    }
    let context = Context::of(extensions).ok_or_else(no_context)?;
    let List { cursor } = match params.as_str() {
        None | Some("null") => List::default(),
        Some(params) => serde_json::from_str(params).map_err(RpcError::invalid_params)?,
    };
    let tools = export::mcp(shared.dispatcher.tools(), shared.profile.structured);
    let tools = tools.as_array().map(Vec::as_slice).unwrap_or_default();
    let start = page_start(cursor.as_deref(), tools.len())?;
    let end = tools.len().min(start + PAGE);
    let mut result = json!({"tools": tools[start..end]});
    if end < tools.len() {
        result["nextCursor"] = format!("tools:{end}").into();
    }
    reply::list(context.scope.era, &shared.profile, result)
}

/// Where the page begins that `cursor` stands for: one that we gave out, or none.
fn page_start(cursor: Option<&str>, tools: usize) -> Result<usize, RpcError> {
    let Some(cursor) = cursor.filter(|cursor| !cursor.is_empty()) else { return Ok(0) };
    cursor
        .strip_prefix("tools:")
        .and_then(|start| start.parse().ok())
        .filter(|start| *start < tools && start % PAGE == 0)
        .ok_or_else(|| RpcError::invalid_params(format_args!("cursor {cursor:?} is not one that this server gave out")))
}

/// The members of `tools/call` that matter here.
#[derive(Deserialize)]
struct CallParams<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
}

async fn call(params: &Params<'_>, shared: &Arc<Shared>, extensions: &Extensions) -> MethodResult {
    let context = Context::of(extensions).ok_or_else(no_context)?;
    let CallParams { name, arguments } =
        serde_json::from_str(params.as_str().unwrap_or("null")).map_err(RpcError::invalid_params)?;
    // A string may hold the object, and only the tool can say whether its schema takes it (B126).
    let arguments = arguments.map_or("{}", RawValue::get);
    if !arguments.starts_with(['{', '"']) {
        return Err(RpcError::invalid_params("arguments must be an object").into());
    }
    let call = Call { tool: name.into_owned(), arguments: strict::parse_strict(arguments) };
    let tool = call.tool.clone();
    let caller = Caller::Mcp { principal: context.arrival.client.principal.clone() };
    let control = Control { cancel: context.arrival.cancel.clone(), progress: context.progress() };
    let outcome = shared.dispatcher.dispatch(call, &caller, control).await.map_err(RpcError::from)?;
    reply::raw(&call_result(&tool, &outcome, context.scope.era, &shared.profile))
}

/// `CallToolResult`, in the order in which a person likes to read it.
#[derive(Serialize)]
struct CallResult {
    content: Vec<Block>,
    #[serde(rename = "structuredContent", skip_serializing_if = "Option::is_none")]
    structured: Option<Value>,
    #[serde(rename = "isError", skip_serializing_if = "std::ops::Not::not")]
    is_error: bool,
    #[serde(rename = "resultType", skip_serializing_if = "Option::is_none")]
    result_type: Option<&'static str>,
    #[serde(rename = "_meta", skip_serializing_if = "Meta::is_empty")]
    meta: Meta,
}

/// `_meta` of a result: small facts under `toolgate/`, and who made it.
#[derive(Default)]
struct Meta {
    facts: Facts,
    server_info: Option<Value>,
}

impl Meta {
    fn is_empty(&self) -> bool {
        self.server_info.is_none() && self.facts.iter().all(|(_, fact)| fact.is_null())
    }
}

impl Serialize for Meta {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut meta = serializer.serialize_map(None)?;
        for (name, fact) in self.facts.iter().filter(|(_, fact)| !fact.is_null()) {
            meta.serialize_entry(&format_args!("toolgate/{name}"), fact)?;
        }
        if let Some(server_info) = &self.server_info {
            meta.serialize_entry(reply::SERVER_INFO, server_info)?;
        }
        meta.end()
    }
}

/// A content block.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Block {
    Text {
        text: String,
    },
    Image {
        data: String,
        #[serde(rename = "mimeType")]
        mime_type: &'static str,
    },
}

/// The outcome of a call as a client wants it: complete in each field that carries it.
fn call_result(tool: &str, outcome: &Outcome, era: Era, profile: &Profile) -> CallResult {
    let mut result = match outcome {
        Ok(output) => success(output, profile.structured),
        Err(error) => failure(tool, error),
    };
    if era == Era::Modern {
        result.result_type = Some("complete");
        result.meta.server_info = Some(reply::server_info(profile));
    }
    result
}

fn success(output: &Output, structured: bool) -> CallResult {
    let notes = output.notes();
    let mut content = Vec::with_capacity(1 + notes.len());
    let observation = output.observation();
    // Some model APIs refuse an empty text block; where the text is empty a note says so in words.
    if !observation.is_empty() || notes.is_empty() {
        content.push(Block::Text { text: observation });
    }
    content.extend(
        output
            .images()
            .into_iter()
            .map(|image| Block::Image { data: BASE64.encode(&image.bytes), mime_type: image.mime_type }),
    );
    content.extend(notes.into_iter().map(|text| Block::Text { text }));
    let meta = Meta { facts: output.facts(), server_info: None };
    // An output that is not JSON is a fault of the tool, which the text alone survives.
    let structured = if structured { output.structured().ok() } else { None };
    CallResult { content, structured, is_error: false, result_type: None, meta }
}

fn failure(tool: &str, error: &ToolError) -> CallResult {
    let structured = structured_error(tool, error);
    let content = vec![Block::Text { text: error.message.clone() }];
    CallResult { content, structured: Some(structured), is_error: true, result_type: None, meta: Meta::default() }
}

/// A tool error for programs: everything that the text says, and the code.
fn structured_error(tool: &str, error: &ToolError) -> Value {
    #[derive(Serialize)]
    struct Failed<'a> {
        status: &'static str,
        tool: &'a str,
        error: ErrorCode,
        message: &'a str,
        details: &'a Map<String, Value>,
    }
    json!(Failed { status: "error", tool, error: error.code, message: &error.message, details: &error.details })
}
