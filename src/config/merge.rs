//! One file after the other into one configuration; of a stranger's file only what is stricter.

use std::fmt::Display;

use toml::Spanned;

use super::fault::{ConfigError, at, line};
use super::file::{Durability, File};
use super::read::Text;
use super::trust::Trust;
use super::{Config, Loaded, Placed};
use crate::gate::command_hook::HookSpec;
use crate::gate::rules::Decision;
use crate::model::path::WsPath;

/// Whose file it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Standing {
    /// The user's own.
    User,
    /// The repository's; the user trusts it as it is.
    Trusted,
    /// The repository's.
    Stranger { since: Since },
}

/// Since when the user trusts a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Since {
    /// As it is now.
    Now,
    /// As it once was.
    Before,
    /// Not at all.
    Never,
    /// That cannot be told.
    Unknown(String),
}

impl Standing {
    /// How the repository's file stands.
    pub(super) fn of_repository(text: &Text, trust: Option<&Trust>) -> Self {
        let since = match trust.map(|trust| trust.since(&text.path, text.content.as_bytes())) {
            None => Since::Never,
            Some(Ok(since)) => since,
            Some(Err(error)) => Since::Unknown(error.to_string()),
        };
        if since == Since::Now { Standing::Trusted } else { Standing::Stranger { since } }
    }
}

impl Loaded {
    /// Adds what a file says. The paths in its rules are those below that place.
    pub(super) fn take(&mut self, text: &Text, standing: Standing, below: &WsPath) -> Result<(), ConfigError> {
        let file: File =
            toml::from_str(&text.content).map_err(|error| ConfigError::of_toml(&text.path, &text.content, &error))?;
        let mut taking = Taking { text, standing: &standing, below, left_out: Vec::new() };
        taking.settings(&mut self.config, &file);
        taking.lists(&mut self.config, file)?;
        self.config.sources.extend([text.path.clone(), text.real.clone()]);
        let left_out = taking.left_out;
        if let (Standing::Stranger { since }, false) = (&standing, left_out.is_empty()) {
            self.left_out.extend(left_out);
            self.left_out.push(way_in(text, since));
        }
        Ok(())
    }
}

/// How what was left out can be had.
fn way_in(text: &Text, since: &Since) -> String {
    let why = match since {
        Since::Now | Since::Never => "is not trusted".to_owned(),
        Since::Before => "has changed since it was trusted".to_owned(),
        Since::Unknown(error) => format!("may not be trusted: {error}"),
    };
    let (path, folder) = (text.path.display(), text.folder());
    format!("{path} {why}; read it, and if it is what you want: toolgate trust {}", folder.display())
}

/// A file on its way into a configuration.
struct Taking<'a> {
    text: &'a Text,
    standing: &'a Standing,
    below: &'a WsPath,
    left_out: Vec<String>,
}

impl Taking<'_> {
    /// Whether something counts: what is stricter always does, all else unless a stranger says it.
    fn counts(&mut self, stricter: bool, what: impl Display) -> bool {
        let counts = stricter || !matches!(self.standing, Standing::Stranger { .. });
        if !counts {
            self.left_out.push(format!("left out: {what}"));
        }
        counts
    }

    fn settings(&mut self, config: &mut Config, file: &File) {
        if let Some(read_only) = file.read_only
            && (read_only != config.read_only && self.counts(read_only, format_args!("read_only = {read_only}")))
        {
            config.read_only = read_only;
        }
        if let Some(protect) = file.protect_git
            && (protect != config.protect_git && self.counts(protect, format_args!("protect_git = {protect}")))
        {
            config.protect_git = protect;
        }
        if let Some(otherwise) = file.otherwise
            && (otherwise != config.otherwise && self.counts(otherwise > config.otherwise, "otherwise"))
        {
            config.otherwise = otherwise;
        }
        if let Some(durability) = file.durability
            && (durability != config.durability && self.counts(durability == Durability::Full, "durability"))
        {
            config.durability = durability;
        }
        if let Some(results) = file.results
            && self.counts(results == config.results, "results")
        {
            config.results = results;
        }
        self.sections(config, file);
    }

    fn sections(&mut self, config: &mut Config, file: &File) {
        if file.limits != Default::default() && self.counts(false, "[limits]") {
            config.limits = file.limits.or(config.limits);
        }
        if let Some(mode) = file.mode
            && (mode != config.mode && self.counts(false, format_args!("mode = {mode}")))
        {
            config.mode = mode;
        }
        let mut code = file.code;
        if code.require_sandbox == Some(true) {
            // That is stricter, whoever says it.
            config.code.require_sandbox = code.require_sandbox.take();
        }
        if code != Default::default() && self.counts(false, "[code]") {
            config.code = code.or(config.code);
        }
        if file.retention != Default::default() && self.counts(false, "[retention]") {
            config.retention.days = file.retention.days.or(config.retention.days);
            config.retention.max_bytes = file.retention.max_bytes.or(config.retention.max_bytes);
        }
        if file.approval != Default::default() && self.counts(false, "[approval]") {
            config.approval.timeout_ms = file.approval.timeout_ms.or(config.approval.timeout_ms);
        }
        if file.http != Default::default() && self.counts(false, "[http]") {
            let http = file.http.clone().in_folder(&self.text.folder());
            config.http = http.or(std::mem::take(&mut config.http));
        }
    }

    fn lists(&mut self, config: &mut Config, file: File) -> Result<(), ConfigError> {
        for rule in file.rule {
            let mut rule = self.placed(rule);
            rule.value = rule.value.below(self.below);
            let stricter = rule.value.decision != Decision::Allow;
            if self.counts(stricter, format_args!("the rule that allows at {}", rule.at)) {
                config.rules.push(rule);
            }
        }
        for hook in file.hook {
            let hook = self.placed(hook);
            if self.counts(false, format_args!("the hook {:?} at {}", hook.value.name, hook.at)) {
                let key = |hook: &Placed<HookSpec>| (hook.value.name.clone(), hook.value.phase);
                if let Some(other) = config.hooks.iter().find(|other| key(other) == key(&hook)) {
                    let what = format!("there is a hook {:?} for this phase already, at {}", hook.value.name, other.at);
                    return Err(ConfigError::Fault { at: hook.at, what });
                }
                config.hooks.push(hook);
            }
        }
        for (tool, description) in file.descriptions {
            let tool = self.placed(tool);
            if self.counts(false, format_args!("the description of {:?} at {}", tool.value, tool.at)) {
                config.descriptions.retain(|other| other.value.0 != tool.value);
                let Placed { value, at, line, folder } = tool;
                config.descriptions.push(Placed { value: (value, description), at, line, folder });
            }
        }
        for argument in file.log.redact {
            let argument = self.placed(argument);
            if self.counts(false, format_args!("redact = {:?} at {}", argument.value, argument.at)) {
                config.redact.push(argument);
            }
        }
        Ok(())
    }

    fn placed<T>(&self, spanned: Spanned<T>) -> Placed<T> {
        let (start, text) = (spanned.span().start, &self.text.content);
        let whose = match self.standing {
            Standing::User => "the user's configuration".to_owned(),
            _ if self.below.is_root() => super::FILE_NAME.to_owned(),
            _ => self.below.join(super::FILE_NAME).to_string(),
        };
        Placed {
            value: spanned.into_inner(),
            at: at(&self.text.path, text, start),
            line: format!("line {} of {whose}", line(text, start)),
            folder: self.text.folder(),
        }
    }
}
