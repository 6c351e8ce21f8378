//! Rules: allow, deny or ask, by tool, path and caller. The strictest that is hit stands, whatever the order.

mod fault;
mod guard;
mod inside;
mod pattern;
mod rule;

pub use fault::RuleFault;
pub use guard::Guard;
pub use rule::{Decision, Example, Rule};

use crate::gate::{CallFacts, Ground, Verdict};
use crate::tool::registry::Registry;
use rule::Compiled;

pub(crate) use pattern::{Names, check_tools};

/// What the configuration and the built-in guards say about calls.
///
/// Nothing is hit: the call may run, unless [`Rules::otherwise`] was told something stricter. A call that names several
/// paths is judged for each, and the strictest word stands.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    guards: Vec<Guard>,
    rules: Vec<Compiled>,
    otherwise: Decision,
    folds_case: bool,
}

impl Rules {
    /// No rules: everything may run.
    #[must_use]
    pub fn open() -> Self {
        Rules::default()
    }

    /// No rules yet, for a workspace that may take `A` and `a` for one name. Say so before rules are added.
    #[must_use]
    pub fn folding_case(folds_case: bool) -> Self {
        Rules { folds_case, ..Rules::default() }
    }

    /// Whether any rule could have a word on a call that changes something, or on one that only looks.
    #[must_use]
    pub fn concern(&self, changes: bool) -> bool {
        !self.rules.is_empty() || self.otherwise != Decision::Allow || (changes && !self.guards.is_empty())
    }

    /// Adds a rule that is written `at` that place, such as `toolgate.toml:7`. With the `registry` the names of tools are
    /// checked too.
    ///
    /// # Errors
    /// It can match nothing, or does not do what its examples say.
    pub fn add(&mut self, rule: &Rule, at: &str, registry: Option<&Registry>) -> Result<(), RuleFault> {
        let compiled = Compiled::new(rule, at, self.folds_case, registry)
            .map_err(|what| RuleFault { at: at.to_owned(), what: what.to_string() })?;
        self.rules.push(compiled);
        Ok(())
    }

    /// Adds a built-in guard.
    pub fn guard(&mut self, guard: Guard) {
        self.guards.push(guard);
    }

    /// What holds for a call that no rule hits.
    pub fn otherwise(&mut self, decision: Decision) {
        self.otherwise = decision;
    }

    /// What all of them together say about a call: deny beats ask beats allow.
    #[must_use]
    pub fn judge(&self, call: &CallFacts) -> Verdict {
        let guarded = self.guards.iter().map(|guard| guard.judge(call));
        let judged = paths_of(call).into_iter().map(|path| self.judge_path(call, path));
        guarded.chain(judged).fold(Verdict::Allow, Verdict::and)
    }

    /// Who wants a person asked about a call: every rule that does, and the setting `otherwise`.
    #[must_use]
    pub fn askers(&self, call: &CallFacts) -> Vec<String> {
        let mut askers = Vec::new();
        for path in paths_of(call) {
            let hit = || self.rules.iter().filter(|rule| rule.hits(Some(&call.tool), path, Some(&call.caller)));
            askers.extend(hit().filter(|rule| rule.decision == Decision::Ask).map(|rule| rule.at.clone()));
            if hit().next().is_none() && self.otherwise == Decision::Ask {
                askers.push("otherwise".to_owned());
            }
        }
        askers
    }

    /// Every rule that a call hits: where it is written, and what it decides.
    #[must_use]
    pub fn hit_by(&self, call: &CallFacts) -> Vec<(String, Decision)> {
        let paths = paths_of(call);
        let hit = |rule: &&Compiled| paths.iter().any(|path| rule.hits(Some(&call.tool), *path, Some(&call.caller)));
        self.rules.iter().filter(hit).map(|rule| (rule.at.clone(), rule.decision)).collect()
    }

    fn judge_path(&self, call: &CallFacts, path: Option<&str>) -> Verdict {
        let mut hit = self.rules.iter().filter(|rule| rule.hits(Some(&call.tool), path, Some(&call.caller))).peekable();
        if hit.peek().is_none() {
            let reason = || match path {
                Some(path) => format!("no rule allows {} on {}", call.tool, shown(path)),
                None => format!("no rule allows {}", call.tool),
            };
            return self.otherwise.verdict(|| Ground { by: "the setting otherwise".to_owned(), reason: reason() });
        }
        hit.map(|rule| rule.verdict(call, path)).fold(Verdict::Allow, Verdict::and)
    }
}

/// A call without paths is judged once, by the rules that ask for none.
fn paths_of(call: &CallFacts) -> Vec<Option<&str>> {
    if call.paths.is_empty() { vec![None] } else { call.paths.iter().map(|path| Some(path.as_str())).collect() }
}

/// A path as messages show it.
fn shown(path: &str) -> &str {
    if path.is_empty() { "." } else { path }
}

#[cfg(test)]
mod tests;
