//! What lies in a folder that moves, goes or comes back as one: judged by its names, without a word on each of them where
//! no rule can have one.

use super::{Compiled, Decision, Guard, Rules};
use crate::gate::{CallFacts, Verdict};

impl Rules {
    /// Whether what lies in `folder` could be judged otherwise than the folder itself, so that its names must be looked at.
    #[must_use]
    pub fn concern_inside(&self, call: &CallFacts, folder: &str) -> bool {
        self.otherwise != Decision::Allow
            || self.guards_inside(call, folder).next().is_some()
            || self.rules_inside(call, folder).next().is_some()
    }

    /// What is said about a call that changes what lies in `folder`. `below` are the paths of all of that below it, folders
    /// as well as what is in them.
    pub fn judge_inside<'a>(
        &self,
        call: &CallFacts,
        folder: &str,
        below: impl IntoIterator<Item = &'a str>,
    ) -> Verdict {
        let guards: Vec<_> = self.guards_inside(call, folder).collect();
        let rules: Vec<_> = self.rules_inside(call, folder).collect();
        let each = self.otherwise != Decision::Allow;
        let mut path = format!("{folder}/");
        let start = path.len();
        let mut verdict = Verdict::Allow;
        for name in below {
            path.truncate(start);
            path.push_str(name);
            for guard in &guards {
                verdict = verdict.and(guard.judge_entry(&path));
            }
            if each {
                verdict = verdict.and(self.judge_path(call, Some(&path)));
            } else {
                for rule in rules.iter().filter(|rule| rule.hits_entry(&path)) {
                    verdict = verdict.and(rule.verdict(call, Some(&path)));
                }
            }
            if matches!(verdict, Verdict::Deny(_)) {
                break;
            }
        }
        verdict
    }

    fn guards_inside<'a>(&'a self, call: &CallFacts, folder: &str) -> impl Iterator<Item = &'a Guard> {
        self.guards.iter().filter(move |guard| call.changes && guard.reaches_into(folder))
    }

    /// Rules that are stricter than nothing and could hit something in `folder`.
    fn rules_inside<'a>(&'a self, call: &CallFacts, folder: &str) -> impl Iterator<Item = &'a Compiled> {
        self.rules
            .iter()
            .filter(move |rule| rule.decision != Decision::Allow && rule.reaches_into(&call.tool, &call.caller, folder))
    }
}
