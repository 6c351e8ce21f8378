//! What to say of names that are not there.

use crate::model::mode::RUN_CODE;
use crate::tool::near::nearest;

/// What programs find in other places, and look for here.
const ELSEWHERE: [&str; 21] = [
    "require",
    "module",
    "exports",
    "process",
    "Buffer",
    "Deno",
    "Bun",
    "fs",
    "path",
    "os",
    "window",
    "document",
    "fetch",
    "XMLHttpRequest",
    "WebSocket",
    "Worker",
    "setTimeout",
    "setInterval",
    "setImmediate",
    "__dirname",
    "__filename",
];

/// What is wrong with `tools.name`, where no tool has that name.
pub(super) fn unknown(name: &str, tools: &[String]) -> String {
    if name == RUN_CODE {
        return format!("tools.{RUN_CODE} is not there: a program cannot start another one; put it all into this one");
    }
    let shown: String = name.chars().take(64).collect();
    let meant = nearest(name, tools.iter().map(String::as_str));
    let meant = meant.map_or_else(|| ".".to_owned(), |name| format!("; did you mean tools.{name}?"));
    format!("there is no tools.{shown}{meant} The tools are {}", tools.join(", "))
}

/// What to say besides where the engine says that a name is not defined.
pub(super) fn hint(message: &str, tools: &[String]) -> Option<String> {
    let name = message.strip_prefix("ReferenceError: ")?.strip_suffix(" is not defined")?;
    if tools.iter().any(|tool| tool == name) {
        return Some(format!("it is tools.{name} here"));
    }
    ELSEWHERE.contains(&name).then(|| {
        "a program here has the language itself, tools and console: no timers, network, processes or modules".to_owned()
    })
}
