//! `CallToolResult`: the outcome of a call as clients want it, complete in each field that carries it.
//!
//! Written straight to text: most of it is the text of files, and every copy of that counts.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::dispatch::{Completed, Context};
use crate::model::error::{ErrorCode, ToolError};
use crate::rpc::Profile;
use crate::rpc::blocks::Blocks;
use crate::rpc::era::Era;
use crate::rpc::reply;
use crate::text::json::push_string;
use crate::tool::registry::Output;

/// Appends the result as JSON.
pub(super) fn write(
    result: &mut String,
    tool: &str,
    completed: &Completed,
    era: Era,
    (profile, structured): (&Profile, bool),
) {
    result.push_str("{\"content\":[");
    match &completed.outcome {
        Ok(output) => write_success(result, completed, output, era, structured),
        Err(error) => write_failure(result, tool, completed, error, era),
    }
    let mut meta: Vec<_> = completed
        .facts()
        .into_iter()
        .filter(|(_, fact)| !fact.is_null())
        .map(|(name, fact)| (format!("toolgate/{name}"), fact))
        .collect();
    if era == Era::Modern {
        result.push_str(",\"resultType\":\"complete\"");
        meta.push((reply::SERVER_INFO.to_owned(), reply::server_info(profile)));
    }
    write_meta(result, &meta);
    result.push('}');
}

fn write_success(result: &mut String, completed: &Completed, output: &Output, era: Era, structured: bool) {
    let observation = completed.observation(output);
    let notes = completed.notes();
    let content = if completed.replaced.is_some() { Vec::new() } else { output.content() };
    let mut blocks = Blocks::new(result, era);
    // Some model APIs refuse an empty text block; where the text is empty something else is there, or a note says so.
    if !observation.is_empty() || (notes.is_empty() && content.is_empty()) {
        blocks.text(&observation);
    }
    content.iter().for_each(|content| blocks.content(content));
    notes.iter().for_each(|note| blocks.text(note));
    write_context(&mut blocks, completed);
    result.push(']');
    // An output that is not JSON is a fault of the tool, which the text alone survives; one that a hook has replaced is
    // not shown by another way.
    if structured
        && completed.replaced.is_none()
        && let Ok(structured) = output.structured()
    {
        result.push_str(",\"structuredContent\":");
        push_json(result, &structured);
    }
}

fn write_failure(result: &mut String, tool: &str, completed: &Completed, error: &ToolError, era: Era) {
    #[derive(Serialize)]
    struct Failed<'a> {
        status: &'static str,
        tool: &'a str,
        error: ErrorCode,
        message: &'a str,
        details: &'a Map<String, Value>,
    }
    let ToolError { code, message, details, .. } = error;
    let mut blocks = Blocks::new(result, era);
    blocks.text(message);
    write_context(&mut blocks, completed);
    result.push_str("],\"structuredContent\":");
    push_json(result, &Failed { status: "error", tool, error: *code, message, details });
    result.push_str(",\"isError\":true");
}

/// Small facts, and who made the result.
fn write_meta(result: &mut String, meta: &[(String, Value)]) {
    for (count, (name, fact)) in meta.iter().enumerate() {
        result.push_str(if count == 0 { ",\"_meta\":{" } else { "," });
        push_string(result, name);
        result.push(':');
        push_json(result, fact);
    }
    if !meta.is_empty() {
        result.push('}');
    }
}

/// What hooks have added, marked as what it is. One call is one answer here, also in a batch, whose answers may come
/// in any order (JSON-RPC 2.0, section 6): so it stands behind everything else in the answer to its own call.
fn write_context(blocks: &mut Blocks<'_>, completed: &Completed) {
    for Context { hook, text } in &completed.context {
        blocks.text(&format!("[Context from the hook {hook}, not from the tool:]\n{text}"));
    }
}

fn push_json(result: &mut String, value: &impl Serialize) {
    // Plain values and maps with text keys: writing them cannot fail.
    result.push_str(&serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned()));
}
