//! `toolgate tools`: every tool as providers and clients want it, and whether a published list still holds.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::Value;

use super::fail;
use crate::code::sdk::Sdk;
use crate::model::event;
use crate::tool::registry::Registry;
use crate::tool::{contract, export};
use crate::tools;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// For whom.
    #[arg(long, value_enum, default_value_t = Format::Mcp)]
    format: Format,
    /// With output schemas (format mcp), as `serve --structured` advertises them.
    #[arg(long)]
    structured: bool,
    /// Compare an earlier list, in any of the formats, with today's instead: one line a difference, exit code 1 if one breaks
    /// callers, 2 if it is no such list.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["format", "structured"])]
    check: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// The `tools` of a `tools/list` result.
    Mcp,
    /// The `tools` of an Anthropic request.
    Anthropic,
    /// The `tools` of an OpenAI request.
    Openai,
    /// The declarations that programs in code mode are written against.
    Typescript,
    /// No tools, but the schema of what is recorded when they are called: a line of the session log.
    Events,
}

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    let mut registry = Registry::new();
    if let Err(error) = tools::register(&mut registry) {
        return fail(1, error);
    }
    if let Some(file) = &arguments.check {
        return check(file, &registry);
    }
    let tools = match arguments.format {
        Format::Mcp => export::mcp(&registry, arguments.structured),
        Format::Anthropic => export::anthropic(&registry),
        Format::Openai => export::openai(&registry),
        Format::Typescript => return print(Sdk::of(&registry).declarations().trim_end()),
        Format::Events => event::schema(),
    };
    print(&format!("{tools:#}"))
}

#[expect(clippy::disallowed_methods, reason = "a person names the file")]
fn check(file: &Path, registry: &Registry) -> ExitCode {
    let published = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) => {
            return fail(
                2,
                format_args!("{} cannot be read: {error}. Make such a list with: toolgate tools > {0}", file.display()),
            );
        }
    };
    let published: Value = match serde_json::from_str(&published) {
        Ok(published) => published,
        Err(error) => return fail(2, format_args!("{} is not JSON: {error}", file.display())),
    };
    // A list that was published with output schemas is held against one with output schemas.
    let structured = published.to_string().contains("\"outputSchema\":");
    match contract::compare(&published, &export::mcp(registry, structured)) {
        Err(error) => fail(2, format_args!("{}: {error}", file.display())),
        Ok(differences) => {
            let lines: Vec<_> = differences.iter().map(ToString::to_string).collect();
            let printed = print(if lines.is_empty() { "no difference".to_owned() } else { lines.join("\n") }.as_str());
            if differences.iter().any(|difference| difference.breaking) { ExitCode::from(1) } else { printed }
        }
    }
}

fn print(text: &str) -> ExitCode {
    match writeln!(io::stdout(), "{text}") {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            fail(1, format_args!("standard output cannot be written: {error}"))
        }
        _ => ExitCode::SUCCESS,
    }
}
