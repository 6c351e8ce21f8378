//! A command as a hook: it gets the event as JSON on its standard input, and answers with JSON or with its exit code.
//!
//! What counts as a clear answer:
//!
//! - exit code 0 and one JSON object on standard output: that is the answer
//! - exit code 0 and nothing on standard output: no objection
//! - exit code 2: no, whatever is on standard output; the reason is on standard error. Interpreters also end with 2 when
//!   they cannot read their script; what they say then is no reason
//!
//! Everything else is a [`HookFailure`]. What a hook writes to standard error is for people, and counts only as a reason.

mod beside;
mod group;
mod message;
mod process;
mod spec;
mod trouble;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

pub use message::{Answer, answer_schema, input_schema};
pub use process::end_all;
pub use spec::{HookSpec, SpecFault};

use crate::gate::hook::{After, Before, Hook, HookFailure, HookFuture, OnFailure, OutcomeFacts};
use crate::gate::rules::{Names, check_tools};
use crate::gate::{CallFacts, Ground, Verdict};
use crate::model::event::Phase;
use crate::model::folder::Folder;
use crate::tool::registry::Registry;
use message::{Post, PostDecision, Pre, PreDecision};
use process::Ended;

/// A hook that is a command.
#[derive(Debug, Clone)]
pub struct CommandHook {
    name: String,
    phase: Phase,
    tools: Option<Names>,
    program: PathBuf,
    arguments: Vec<String>,
    limit: Duration,
    on_failure: OnFailure,
    workspace: Option<PathBuf>,
    /// Where the workspace has several: each by its name.
    folders: Vec<Folder>,
}

impl CommandHook {
    /// The hook that `spec` says. A program given as a relative path with a slash is looked for in `base`, the folder of
    /// the configuration. It runs in the folder of the `workspace`.
    ///
    /// # Errors
    /// `spec` contradicts itself or leaves something out, or no tool of the `registry` is meant.
    pub fn new(
        spec: &HookSpec,
        base: &Path,
        workspace: Option<&Path>,
        registry: Option<&Registry>,
    ) -> Result<Self, SpecFault> {
        let (program, arguments) = spec.program(base)?;
        let tools = spec.tools.as_deref().map(|tools| check_tools("tools", tools, registry)).transpose();
        Ok(CommandHook {
            name: spec.name.clone(),
            phase: spec.phase,
            tools: tools.map_err(|wrong| SpecFault(wrong.to_string()))?,
            program,
            arguments,
            limit: Duration::from_millis(spec.timeout_ms),
            on_failure: spec.on_failure,
            workspace: workspace.map(Path::to_owned),
            folders: Vec::new(),
        })
    }

    /// The same hook, which is told of the folders of the workspace where they have names.
    #[must_use]
    pub fn among(self, folders: &[Folder]) -> Self {
        CommandHook { folders: folders.iter().filter(|folder| !folder.at.is_root()).cloned().collect(), ..self }
    }

    /// Runs the command on a call, until it has ended or its time is up.
    async fn run<T: Answer>(&self, call: &CallFacts, outcome: Option<&OutcomeFacts>) -> Result<T, HookFailure> {
        let event = message::event(&self.name, self.phase, (self.workspace.as_deref(), &self.folders), call, outcome);
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        if let Some(folder) = &self.workspace {
            command.current_dir(folder);
        }
        let ended = beside::run(command, event, self.limit).await.map_err(|trouble| {
            trouble::of_process(&self.name, &self.program, self.workspace.as_deref(), self.limit, trouble)
        })?;
        self.answer(&ended)
    }

    fn answer<T: Answer>(&self, ended: &Ended) -> Result<T, HookFailure> {
        match ended.status.code() {
            Some(0) => T::read(&ended.stdout, ended.cut_short).map_err(|said| trouble::of_answer(&self.name, &said)),
            Some(2) if !trouble::is_accident(&ended.stderr) => Ok(T::no(trouble::reason_in(&ended.stderr))),
            _ => Err(trouble::of_status(&self.name, ended)),
        }
    }

    fn ground(&self, reason: Option<String>) -> Ground {
        let reason = reason.filter(|reason| !reason.trim().is_empty()).unwrap_or_else(|| "no reason given".to_owned());
        Ground { by: format!("the hook {}", self.name), reason }
    }
}

impl Hook for CommandHook {
    fn name(&self) -> &str {
        &self.name
    }

    fn wants(&self, phase: Phase, tool: &str) -> bool {
        phase == self.phase && self.tools.as_ref().is_none_or(|tools| tools.hits(tool))
    }

    fn on_failure(&self) -> OnFailure {
        self.on_failure
    }

    fn before<'a>(&'a self, call: &'a CallFacts) -> HookFuture<'a, Before> {
        Box::pin(async move {
            let said: Pre = self.run(call, None).await?;
            let verdict = match said.decision {
                PreDecision::Allow => Verdict::Allow,
                PreDecision::Ask => Verdict::Ask(self.ground(said.reason)),
                PreDecision::Deny => Verdict::Deny(self.ground(said.reason)),
            };
            Ok(Before { verdict, rewrite: said.arguments, context: said.context })
        })
    }

    fn after<'a>(&'a self, call: &'a CallFacts, outcome: &'a OutcomeFacts) -> HookFuture<'a, After> {
        Box::pin(async move {
            let said: Post = self.run(call, Some(outcome)).await?;
            let block = (said.decision == PostDecision::Block).then(|| self.ground(said.reason).reason);
            Ok(After { block, replace: said.observation, context: said.context })
        })
    }
}

#[cfg(all(test, unix))]
mod tests;
