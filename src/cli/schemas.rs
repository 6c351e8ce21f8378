//! `toolgate schemas`: the contract as files. `schemas/` in the repository holds what this writes.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::{Value, json};

use super::fail;
use crate::code::sdk::{BUDGET, Sdk};
use crate::config;
use crate::gate::command_hook;
use crate::model::error::ErrorCode;
use crate::model::event::{self, Phase};
use crate::oneshot;
use crate::tool::export;
use crate::tool::registry::{RegisterError, Registry};
use crate::tools;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The folder to write into; it is made if it is missing.
    folder: PathBuf,
}

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    let files = match files() {
        Ok(files) => files,
        Err(error) => return fail(1, error),
    };
    match write(&arguments.folder, &files) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(1, format_args!("{} cannot be written: {error}", arguments.folder.display())),
    }
}

#[expect(clippy::disallowed_methods, reason = "a person names the folder")]
fn write(folder: &Path, files: &[(&str, String)]) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    files.iter().try_for_each(|(name, content)| std::fs::write(folder.join(name), content))
}

/// Every file by its name.
fn files() -> Result<Vec<(&'static str, String)>, RegisterError> {
    let mut registry = Registry::new();
    tools::register(&mut registry)?;
    let mut files: Vec<_> =
        schemas(&registry).into_iter().map(|(name, schema)| (name, format!("{schema:#}\n"))).collect();
    let sdk = Sdk::of(&registry);
    files.push(("sdk.d.ts", sdk.declarations()));
    files.push(("run_code.md", sdk.documentation(BUDGET)));
    Ok(files)
}

fn schemas(registry: &Registry) -> [(&'static str, Value); 12] {
    [
        ("tools.mcp.json", export::mcp(registry, false)),
        ("tools.mcp.structured.json", export::mcp(registry, true)),
        ("tools.anthropic.json", export::anthropic(registry)),
        ("tools.openai.json", export::openai(registry)),
        ("tool_error.json", tool_error()),
        ("dispatch.input.json", oneshot::input_schema()),
        ("dispatch.output.json", oneshot::output_schema()),
        ("events.json", event::schema()),
        ("configuration.json", config::schema()),
        ("hook.input.json", command_hook::input_schema()),
        ("hook.pre.output.json", command_hook::answer_schema(Phase::Pre)),
        ("hook.post.output.json", command_hook::answer_schema(Phase::Post)),
    ]
}

/// The `structuredContent` of a failed call.
fn tool_error() -> Value {
    json!({
        "$schema": DIALECT,
        "title": "Tool error",
        "description": "What a failed call carries as structuredContent. Codes are never renamed.",
        "type": "object",
        "properties": {
            "status": {"const": "error"},
            "tool": {"type": "string", "description": "The tool that was called."},
            "error": {"enum": ErrorCode::ALL, "description": "Which failure this is."},
            "message": {"type": "string", "description": "For the model: what is wrong, and what to do next."},
            "details": {"type": "object", "description": "For programs: line numbers, sizes, candidates."},
        },
        "required": ["status", "tool", "error", "message", "details"],
        "additionalProperties": false,
    })
}

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";
