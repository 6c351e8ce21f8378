//! One rule: as it is written, and as it is held against calls.

use schemars::JsonSchema;
use serde::Deserialize;

use super::fault::Wrong;
use super::pattern::{EVERYTHING, Names, Paths, check_tools};
use super::shown;
use crate::gate::{CallFacts, Ground, Verdict};
use crate::model::mode::RUN_CODE;
use crate::model::path::WsPath;
use crate::tool::registry::Registry;

/// What a rule says about the calls that it hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// They may run, if nothing stricter is said.
    #[default]
    Allow,
    /// A person decides.
    Ask,
    /// They may not run.
    Deny,
}

impl Decision {
    /// The verdict, on the ground that is given.
    pub(super) fn verdict(self, ground: impl FnOnce() -> Ground) -> Verdict {
        match self {
            Decision::Allow => Verdict::Allow,
            Decision::Ask => Verdict::Ask(ground()),
            Decision::Deny => Verdict::Deny(ground()),
        }
    }
}

/// Which calls may run. Of all rules that a call hits the strictest stands: deny, then ask, then allow, whatever the order.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// What it says about the calls that it hits.
    pub decision: Decision,
    /// The tools it is about, as globs; all if left out. One that begins with `!` takes tools out again.
    #[serde(default)]
    pub tools: Option<Vec<String>>,
    /// The paths it is about, as in `.gitignore`; all, and calls without paths, if left out. `secrets` is a file or
    /// folder of that name at any depth with all that is in it, `./secrets` only the one at the top, `docs/**` what is
    /// in docs, `*.env` such files anywhere. One that begins with `!` takes paths out again. Paths are matched where
    /// links lead.
    #[serde(default)]
    pub paths: Option<Vec<String>>,
    /// Who asks, as globs over `mcp:local`, `cli`, `oneshot`, `embedder`; anybody if left out.
    #[serde(default)]
    pub callers: Option<Vec<String>>,
    /// Why, for the model and for whoever is asked.
    #[serde(default)]
    pub reason: Option<String>,
    /// Calls that it must hit; checked at every start.
    #[serde(default)]
    pub matches: Vec<Example>,
    /// Calls that it must not hit; checked at every start.
    #[serde(default)]
    pub spares: Vec<Example>,
}

/// A call that a rule must hit or spare. What is left out does not matter, but a rule about paths hits no call without.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Example {
    /// The tool.
    #[serde(default)]
    pub tool: Option<String>,
    /// The path, relative to the workspace's folder.
    #[serde(default)]
    pub path: Option<String>,
    /// Who asks.
    #[serde(default)]
    pub caller: Option<String>,
}

impl Rule {
    /// The same rule, for paths below `folder`: as a rule of a file that lies there means them. One that allows without
    /// a word on paths allows nothing elsewhere.
    #[must_use]
    pub fn below(mut self, folder: &WsPath) -> Self {
        if folder.is_root() {
            return self;
        }
        if self.decision == Decision::Allow {
            self.paths.get_or_insert_with(|| vec!["*".to_owned()]);
        }
        for pattern in self.paths.iter_mut().flatten() {
            *pattern = pattern_below(pattern, folder);
        }
        for path in self.matches.iter_mut().chain(&mut self.spares).filter_map(|example| example.path.as_mut()) {
            // One that cannot be a path is told of as it is written.
            if let Ok(inside) = WsPath::parse(path) {
                *path = inside.under(folder).to_string();
            }
        }
        self
    }
}

/// The pattern that means below the workspace's root what `pattern` means below `folder`.
fn pattern_below(pattern: &str, folder: &WsPath) -> String {
    let (taken_out, bare) = match pattern.strip_prefix('!') {
        Some(bare) => ("!", bare),
        None => ("", pattern),
    };
    // What cannot be read is told of as it is written.
    if bare.trim().is_empty() || bare.starts_with(['/', '~']) {
        return pattern.to_owned();
    }
    if EVERYTHING.contains(&bare) {
        // The folder itself is meant with everything in it, though it is never taken out by this.
        return if taken_out.is_empty() { format!("./{folder}") } else { format!("!{folder}/**/*") };
    }
    match bare.strip_prefix("./") {
        Some(top) => format!("{taken_out}{folder}/{top}"),
        None if bare.trim_end_matches('/').contains('/') => format!("{taken_out}{folder}/{bare}"),
        None => format!("{taken_out}{folder}/**/{bare}"),
    }
}

/// A rule as it is held against calls.
#[derive(Debug, Clone)]
pub(super) struct Compiled {
    pub(super) at: String,
    pub(super) decision: Decision,
    tools: Option<Names>,
    paths: Option<Paths>,
    callers: Option<Names>,
    reason: Option<String>,
}

impl Compiled {
    pub(super) fn new(rule: &Rule, at: &str, folds_case: bool, registry: Option<&Registry>) -> Result<Self, Wrong> {
        let tools = rule.tools.as_deref().map(|tools| check_tools("tools", tools, registry)).transpose()?;
        let paths = rule.paths.as_deref().map(|paths| Paths::new("paths", paths, folds_case)).transpose()?;
        let callers = rule.callers.as_deref().map(|callers| Names::new("callers", callers)).transpose()?;
        let (at, reason) = (at.to_owned(), rule.reason.clone());
        let compiled = Compiled { at, decision: rule.decision, tools, paths, callers, reason };
        compiled.check_examples("matches", &rule.matches, true, registry)?;
        compiled.check_examples("spares", &rule.spares, false, registry)?;
        Ok(compiled)
    }

    /// Whether a call is one that the rule is about. What is not known does not keep it from being one.
    pub(super) fn hits(&self, tool: Option<&str>, path: Option<&str>, caller: Option<&str>) -> bool {
        let named = |names: &Option<Names>, name: Option<&str>| match (names, name) {
            (Some(names), Some(name)) => names.hits(name),
            _ => true,
        };
        let placed = match (&self.paths, path) {
            (Some(paths), Some(path)) => paths.hits(path),
            (Some(_), None) => false,
            (None, _) => true,
        };
        placed && named(&self.tools, tool) && named(&self.callers, caller)
    }

    /// Whether it could hit something in `folder`, by what it says of paths.
    pub(super) fn reaches_into(&self, tool: &str, caller: &str, folder: &str) -> bool {
        let named = |names: &Option<Names>, name: &str| names.as_ref().is_none_or(|names| names.hits(name));
        let paths = self.paths.as_ref().is_some_and(|paths| paths.reach_into(folder));
        paths && named(&self.tools, tool) && named(&self.callers, caller)
    }

    /// Whether an entry of a folder that it reaches into is one that it is about. The folders above are asked about by
    /// themselves.
    pub(super) fn hits_entry(&self, path: &str) -> bool {
        self.paths.as_ref().is_some_and(|paths| paths.hit_entry(path))
    }

    /// What it says about a call that it hits.
    pub(super) fn verdict(&self, call: &CallFacts, path: Option<&str>) -> Verdict {
        self.decision.verdict(|| Ground {
            by: format!("the rule at {}", self.at),
            reason: self.reason.clone().unwrap_or_else(|| self.plain_reason(call, path)),
        })
    }

    fn plain_reason(&self, call: &CallFacts, path: Option<&str>) -> String {
        let verb = if self.decision == Decision::Ask { "needs a person's word" } else { "is not allowed" };
        match path.filter(|_| self.paths.is_some()) {
            Some(path) => format!("{} on {} {verb}", call.tool, shown(path)),
            None => format!("{} {verb}", call.tool),
        }
    }

    fn check_examples(
        &self,
        key: &'static str,
        examples: &[Example],
        want: bool,
        registry: Option<&Registry>,
    ) -> Result<(), Wrong> {
        examples.iter().try_for_each(|example| {
            let words = example.words();
            let wrong = |why: &str| Wrong::Example(format!("{key}: the example {words} {why}"));
            if let (Some(tool), Some(registry)) = (&example.tool, registry)
                && registry.get(tool).is_none()
                && tool != RUN_CODE
            {
                let meant = registry.nearest(tool).map(|name| format!("; did you mean {name}?")).unwrap_or_default();
                return Err(wrong(&format!("names a tool that does not exist{meant}")));
            }
            let path = example.path.as_deref().map(WsPath::parse).transpose();
            let path = path.map_err(|fault| wrong(&format!("can be no call: {fault}")))?;
            let hit = self.hits(example.tool.as_deref(), path.as_ref().map(WsPath::as_str), example.caller.as_deref());
            match (hit, want) {
                (false, true) => Err(wrong("is not hit by this rule")),
                (true, false) => Err(wrong("is hit by this rule")),
                _ => Ok(()),
            }
        })
    }
}

impl Example {
    /// As it is written in the configuration.
    fn words(&self) -> String {
        let parts = [("tool", &self.tool), ("path", &self.path), ("caller", &self.caller)];
        let given = parts.iter().filter_map(|(key, value)| value.as_ref().map(|value| format!("{key} = {value:?}")));
        format!("{{ {} }}", given.collect::<Vec<_>>().join(", "))
    }
}
