//! A program before it runs, and what a model is told of the tools that it can call.

use crate::code::failure::{Failure, Kind};
use crate::tool::registry::Registry;

/// The program as the engine takes it: JavaScript, every character where it was.
///
/// # Errors
/// It is no program.
pub(super) fn prepare(source: &str) -> Result<String, Failure> {
    if source.trim().is_empty() {
        return Err(Failure::new(Kind::Syntax, "there is no program: code is empty"));
    }
    Ok(source.to_owned())
}

/// What `run_code` says of itself and of the tools that a program can call.
pub(super) fn documentation(registry: &Registry) -> String {
    let mut text = String::from(
        "Run a program, the body of an async function, that calls the tools below as await tools.name({...}). Many calls, and \
         what follows from them, take one step that way. Print with console.log, and return what you want to know.\n",
    );
    for tool in registry.iter() {
        text.push_str(&format!("tools.{}: {}\n", tool.spec().name, tool.description()));
    }
    text
}

/// All about one tool; nothing if there is none of that name.
pub(super) fn describe(registry: &Registry, name: &str) -> Option<String> {
    registry.get(name).map(|tool| tool.description().to_owned())
}
