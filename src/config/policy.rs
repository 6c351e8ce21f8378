//! From a configuration to a policy: everything that has a say on calls, held against the tools there are.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use super::fault::ConfigError;
use super::{Config, FILE_NAME, Placed};
use crate::gate::command_hook::{CommandHook, HookSpec};
use crate::gate::hook::Hook;
use crate::gate::policy::Policy;
use crate::gate::rules::{Guard, Rules};
use crate::ledger::redact::Redact;
use crate::model::folder::Folder;
use crate::model::mode::{RUN_CODE, RUN_CODE_ARGUMENTS};
use crate::tool::registry::Registry;

/// What a policy is made for.
#[derive(Debug, Clone, Copy)]
pub struct Setup<'a> {
    /// The tools that there are.
    pub registry: &'a Registry,
    /// The workspace's folder or folders, without links; none where it lies in memory.
    pub folders: &'a [Folder],
    /// Whether the workspace may take `A` and `a` for one name.
    pub folds_case: bool,
}

impl Config {
    /// The rules, guards and hooks that this configuration asks for.
    ///
    /// # Errors
    /// A rule does not do what it says, a hook cannot be what it says, or a name means nothing.
    pub fn policy(&self, setup: Setup<'_>) -> Result<Policy, ConfigError> {
        self.check_names(setup.registry)?;
        let mut rules = Rules::folding_case(setup.folds_case);
        rules.otherwise(self.otherwise);
        for rule in &self.rules {
            rules.add(&rule.value, &rule.line, Some(setup.registry)).map_err(|fault| rule.fault(fault.what))?;
        }
        let mut hooks: Vec<Arc<dyn Hook>> = Vec::new();
        for hook in &self.hooks {
            // A repository's hook runs in its own folder, the user's in the first.
            let own = setup.folders.iter().find(|folder| folder.path == hook.folder).or(setup.folders.first());
            let place = own.map(|folder| folder.path.as_path());
            let made = CommandHook::new(&hook.value, &hook.folder, place, Some(setup.registry));
            hooks.push(Arc::new(made.map_err(|fault| hook.fault(fault))?.among(setup.folders)));
        }
        self.guards(setup.folders).into_iter().for_each(|guard| rules.guard(guard));
        Ok(Policy { rules, hooks })
    }

    fn guards(&self, folders: &[Folder]) -> Vec<Guard> {
        let mut guards = Vec::new();
        if self.read_only {
            guards.push(Guard::read_only("the setting read_only"));
        }
        if self.protect_git {
            guards.push(Guard::git());
        }
        let reason = "it decides what may run here";
        for folder in folders {
            let own = folder.at.join(FILE_NAME);
            guards.push(Guard::below(&own, "the guard of toolgate.toml", reason).asking());
            let run = self.hooks.iter().flat_map(|hook| files_of(&hook.value, &hook.folder, &folder.path));
            let decide = self.sources.iter().filter(|source| **source != folder.path.join(FILE_NAME)).cloned();
            let inside = run.chain(decide).filter_map(|file| folder.inside(&file));
            guards.extend(inside.map(|file| Guard::below(&file, "the guard of the configuration", reason)));
        }
        guards
    }

    /// Names of tools and arguments that mean nothing.
    fn check_names(&self, registry: &Registry) -> Result<(), ConfigError> {
        let unknown = |name: &str| {
            let meant = registry.nearest(name).map(|name| format!("; did you mean {name}?")).unwrap_or_default();
            format!("there is no tool {name:?}{meant}")
        };
        for described in &self.descriptions {
            if registry.get(&described.value.0).is_none() && described.value.0 != RUN_CODE {
                return Err(described.fault(unknown(&described.value.0)));
            }
        }
        for argument in &self.redact {
            let Some((tool, field)) = argument.value.split_once('.') else {
                return Err(argument.fault("redact takes arguments such as write_file.content"));
            };
            // Whether programs are run is said when serving begins; an argument of theirs is one all the same.
            let of_programs = registry.get(RUN_CODE).is_none() && Redact::is_about(tool, RUN_CODE);
            if of_programs && RUN_CODE_ARGUMENTS.iter().any(|name| Redact::is_about(field, name)) {
                continue;
            }
            if field.contains('.') {
                let last = field.rsplit('.').next().unwrap_or_default();
                let what = format!("an argument is kept secret wherever its name stands: write {tool}.{last}");
                return Err(argument.fault(what));
            }
            let mut tools = registry.iter().filter(|entry| Redact::is_about(tool, entry.spec().name)).peekable();
            if tools.peek().is_none() && !of_programs {
                return Err(argument.fault(unknown(tool)));
            }
            if !tools.any(|entry| has_argument(entry.input_schema(), field)) {
                let whose = if tool.contains(['*', '?']) { "no tool that it stands for" } else { tool };
                let has = if whose == tool { "has no argument" } else { "has an argument" };
                return Err(argument.fault(format_args!("{whose} {has} {field:?}")));
            }
        }
        Ok(())
    }
}

/// Whether an argument of that name stands anywhere in what `schema` describes.
fn has_argument(schema: &Value, name: &str) -> bool {
    match schema {
        Value::Object(members) => members.iter().any(|(key, member)| {
            let named = key == "properties"
                && member.as_object().is_some_and(|all| all.keys().any(|key| Redact::is_about(name, key)));
            named || has_argument(member, name)
        }),
        Value::Array(items) => items.iter().any(|item| has_argument(item, name)),
        _ => false,
    }
}

/// The files that a hook names, where they lie below `root`: who may change them may decide for the hook.
#[expect(clippy::disallowed_methods, reason = "the words of a hook are looked up to guard the files that they name")]
fn files_of(hook: &HookSpec, folder: &Path, root: &Path) -> Vec<PathBuf> {
    let words = hook.command.iter().flatten().map(String::as_str);
    let line = hook.shell.iter().flat_map(|line| line.split(|c: char| c.is_whitespace() || "'\";|&()<>".contains(c)));
    let places =
        words.chain(line).filter(|word| !word.is_empty()).flat_map(|word| [folder.join(word), root.join(word)]);
    places.filter_map(|place| place.canonicalize().ok()).filter(|place| place.is_file()).collect()
}

impl<T> Placed<T> {
    fn fault(&self, what: impl std::fmt::Display) -> ConfigError {
        ConfigError::Fault { at: self.at.clone(), what: what.to_string() }
    }
}
