//! A hook as the configuration writes it.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;

use crate::gate::hook::OnFailure;
use crate::model::event::Phase;

/// A command that is asked about calls, or about what they came to.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HookSpec {
    /// What it is called in messages and in the log.
    pub name: String,
    /// Before a call is planned, or once its outcome is known.
    pub phase: Phase,
    /// The tools it wants to hear of, as globs; all if left out. One that begins with `!` takes tools out again.
    #[serde(default)]
    pub tools: Option<Vec<String>>,
    /// A program and its arguments, run without a shell. A relative path with a slash starts at this file's folder.
    #[serde(default)]
    pub command: Option<Vec<String>>,
    /// In place of `command`: a line for the system's shell.
    #[serde(default)]
    pub shell: Option<String>,
    /// So long may it take.
    #[serde(default = "ten_seconds")]
    #[schemars(range(min = 1))]
    pub timeout_ms: u64,
    /// What it means if it gives no clear answer.
    #[serde(default)]
    pub on_failure: OnFailure,
}

const fn ten_seconds() -> u64 {
    10_000
}

/// A hook that cannot be what it is said to be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SpecFault(pub(super) String);

impl HookSpec {
    /// What is run, and with what arguments.
    pub(super) fn program(&self, base: &Path) -> Result<(PathBuf, Vec<String>), SpecFault> {
        let wrong = |what: &str| Err(SpecFault(what.to_owned()));
        if self.name.is_empty() || self.name.contains(char::is_control) {
            return wrong("name: a hook needs a name of one line");
        }
        if self.timeout_ms == 0 {
            return wrong("timeout_ms: a hook needs some time; leave the key out for 10000");
        }
        match (self.command.as_deref(), self.shell.as_deref()) {
            (Some([program, arguments @ ..]), None) if !program.is_empty() => {
                // Not the folder it runs in: the model may write there.
                let relative = Path::new(program).components().count() > 1 || program.starts_with("./");
                let program = if relative { base.join(program) } else { PathBuf::from(program) };
                Ok((program, arguments.to_vec()))
            }
            (None, Some(line)) if !line.trim().is_empty() => {
                let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("/bin/sh", "-c") };
                Ok((shell.into(), vec![flag.to_owned(), line.to_owned()]))
            }
            (Some(_), Some(_)) => wrong("command and shell: a hook has one of them, not both"),
            (Some(_), None) => wrong("command: the list begins with the program to run"),
            (None, Some(_)) => wrong("shell: the line is empty"),
            (None, None) => wrong("a hook needs command = [\"program\", \"argument\"] or shell = \"a line\""),
        }
    }
}
