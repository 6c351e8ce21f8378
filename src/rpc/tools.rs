//! `tools/list` and `tools/call`.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use jsonrpsee::core::RegisterMethodError;
use jsonrpsee::types::Params;
use jsonrpsee::{Extensions, RpcModule};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tracing::Instrument as _;

use crate::dispatch::{Completed, Control};
use crate::model::call::{Call, Caller};
use crate::model::error::ProtocolError;
use crate::model::json as strict;
use crate::model::mode::RUN_CODE;
use crate::rpc::approval::CallText;
use crate::rpc::call_params::{CallParams, CallSlot};
use crate::rpc::context::Context;
use crate::rpc::era::Era;
use crate::rpc::errand::{self, Came, Errand};
use crate::rpc::error::RpcError;
use crate::rpc::lifecycle::no_context;
use crate::rpc::meter::Metered;
use crate::rpc::principal::Access;
use crate::rpc::reply::{self, Keep, MethodResult};
use crate::rpc::{Shared, call_result, page};
use crate::tool::Effect;

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
    let context = Context::of(extensions).ok_or_else(no_context)?;
    let cursor = page::cursor(params)?;
    let served = shared.dispatcher.glance();
    let lists = shared.live.lists.of(&served);
    let tools = lists.tools(&served, shared.live.structured()).iter();
    let tools = tools.filter(|tool| shared.profile.mode.offers(name_of(tool)));
    // Whoever may only read is shown only that (MCP 2026-07-28, server/tools).
    let writes = context.arrival.client.principal.access == Access::Write;
    let read_only = shared.live.read_only.load(Ordering::Relaxed);
    // A program may be run all the same: each of its calls is judged by itself.
    let fits = |tool: &Value| only_reads(tool) || (writes && (!read_only || name_of(tool) == RUN_CODE));
    let tools: Vec<&Value> = tools.filter(|tool| fits(tool)).collect();
    let start = page_start(cursor.as_deref(), tools.len())?;
    let end = tools.len().min(start + PAGE);
    let next_cursor = (end < tools.len()).then(|| format!("tools:{end}"));
    let page = Page { tools: &tools[start..end], next_cursor };
    reply::complete(context.scope.era, &shared.profile, Keep::UntilTold, page)
}

fn name_of(tool: &Value) -> &str {
    tool["name"].as_str().unwrap_or_default()
}

fn only_reads(tool: &Value) -> bool {
    tool["annotations"]["readOnlyHint"] == true
}

/// `ListToolsResult`.
#[derive(Serialize)]
struct Page<'a> {
    tools: &'a [&'a Value],
    #[serde(rename = "nextCursor", skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// Where the page begins that `cursor` stands for: one that we gave out, or none.
fn page_start(cursor: Option<&str>, tools: usize) -> Result<usize, RpcError> {
    let Some(cursor) = cursor else { return Ok(0) };
    cursor
        .strip_prefix("tools:")
        .and_then(|start| start.parse().ok())
        .filter(|start| *start < tools && start % PAGE == 0)
        .ok_or_else(|| page::unknown(cursor))
}

async fn call(params: &Params<'_>, shared: &Arc<Shared>, extensions: &Extensions) -> MethodResult {
    let params = CallSlot::take(extensions, params)?;
    let traceparent = if tracing::enabled!(tracing::Level::INFO) { traceparent(params.meta.as_deref()) } else { None };
    let served = Arc::clone(shared);
    let dispatch = |call: Call, caller: Caller, control| async move {
        let span = tracing::info_span!("call", tool = call.tool, ?caller, traceparent);
        let began = Instant::now();
        let tool = served.dispatcher.glance().registry.get(&call.tool).map(|tool| tool.spec().name);
        let done = served.dispatcher.dispatch(call, &caller, control).instrument(span).await;
        if let (Some(meter), Some(tool)) = (served.live.meter.get(), tool) {
            let outcome = match &done {
                Ok(Completed { outcome: Ok(_), .. }) => Metered::Output,
                Ok(Completed { outcome: Err(error), .. }) => Metered::Error(error.code),
                Err(_) => Metered::Panic,
            };
            meter.called(tool, outcome, began.elapsed());
        }
        done
    };
    answer(params, shared, extensions, dispatch).await
}

/// The trace that a call is a part of, as its client tells (W3C Trace Context; MCP 2026-07-28, basic).
fn traceparent(meta: Option<&str>) -> Option<String> {
    #[derive(Deserialize)]
    struct Trace {
        traceparent: String,
    }
    serde_json::from_str(meta?).ok().map(|Trace { traceparent }| traceparent)
}

/// Answers `tools/call` with what `dispatch` makes of it.
pub(super) async fn answer<F>(
    mut params: CallParams,
    shared: &Shared,
    extensions: &Extensions,
    dispatch: impl FnOnce(Call, Caller, Control) -> F,
) -> MethodResult
where
    F: Future<Output = Result<Completed, ProtocolError>> + Send + 'static,
{
    let context = Context::of(extensions).ok_or_else(no_context)?;
    let tool = params.name("tool")?.to_owned();
    let tool = tool.as_str();
    // A string may hold the object, and only the tool can say whether its schema takes it (B126).
    if !params.arguments().starts_with(['{', '"']) {
        return Err(RpcError::invalid_params("arguments must be an object").into());
    }
    let effect = shared.dispatcher.glance().registry.get(tool).map(|tool| tool.spec().effect);
    if !shared.profile.mode.offers(tool) && effect.is_some() {
        return Err(RpcError::invalid_params(format_args!(
            "{tool} is called by a program here: call {RUN_CODE} with code such as `return await tools.{tool}({{...}})`"
        ))
        .into());
    }
    let call = Call { tool: tool.to_owned(), arguments: strict::parse_part(params.arguments()) };
    if matches!(context.scope.era, Era::Legacy(_)) {
        // Only a modern call can come again and be known by its text. That may be long, so it is let go of.
        params.arguments = None;
    }
    let text = CallText { method: "tools/call", name: tool, arguments: params.arguments() };
    context.allow(effect.map_or(Access::Read, Access::needed))?;
    let errand = Errand { shared, context: &context, text, retry: params.retry() };
    let dispatch = |caller, control| dispatch(call, caller, control);
    let acts = effect == Some(Effect::Calls);
    let came = if acts { errand.act(dispatch).await? } else { errand.run(dispatch).await? };
    errand::written(extensions, |result| match came {
        Came::InputRequired(required) => result.push_str(&required),
        Came::Done(completed) => {
            let structured = shared.live.structured();
            call_result::write(result, tool, &completed, context.scope.era, (&shared.profile, structured));
        }
    })
}
