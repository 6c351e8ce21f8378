//! Built-in guards: what holds without a rule that says so.

use super::pattern::folded;
use super::rule::Decision;
use super::shown;
use crate::gate::{CallFacts, Ground, Verdict};
use crate::model::path::WsPath;

/// A built-in guard. It is about calls that may change something, whatever their caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guard {
    what: What,
    decision: Decision,
    by: String,
    reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum What {
    /// Every change.
    Everything,
    /// What is in a `.git`, at any depth.
    Git,
    /// A file, or a folder with all that is in it.
    Below(String),
}

impl Guard {
    /// Denies every change. `by` is what asked for that, such as `--read-only`.
    #[must_use]
    pub fn read_only(by: &str) -> Self {
        let reason = "nothing may be changed in this workspace".to_owned();
        Guard { what: What::Everything, decision: Decision::Deny, by: by.to_owned(), reason }
    }

    /// Denies every change in a `.git`: a hook or setting that is written there is run later, by git, outside of
    /// everything that holds here.
    #[must_use]
    pub fn git() -> Self {
        let reason = "what is in .git decides what git runs; protect_git = false in the configuration would allow it";
        Guard {
            what: What::Git,
            decision: Decision::Deny,
            by: "the guard of .git".to_owned(),
            reason: reason.to_owned(),
        }
    }

    /// Denies every change of `path` and below it.
    #[must_use]
    pub fn below(path: &WsPath, by: &str, reason: &str) -> Self {
        let what = What::Below(folded(path.as_str()));
        Guard { what, decision: Decision::Deny, by: by.to_owned(), reason: reason.to_owned() }
    }

    /// The same guard, but a person may allow what it is about.
    #[must_use]
    pub fn asking(self) -> Self {
        Guard { decision: Decision::Ask, ..self }
    }

    /// Whether it could be hit by what lies in `folder`, where the folder itself does not hit it.
    pub(super) fn reaches_into(&self, folder: &str) -> bool {
        match &self.what {
            What::Everything => false,
            What::Git => true,
            What::Below(protected) => is_within(protected, &folded(folder)),
        }
    }

    /// What it says about an entry of a folder that changes with all that is in it. The folders above are judged by
    /// themselves.
    pub(super) fn judge_entry(&self, path: &str) -> Verdict {
        let hit = match &self.what {
            What::Everything => true,
            What::Git => path.rsplit('/').next().is_some_and(is_git),
            What::Below(protected) => is_within(&folded(path), protected),
        };
        if hit { self.verdict(Some(path)) } else { Verdict::Allow }
    }

    /// What it says about a call.
    pub(super) fn judge(&self, call: &CallFacts) -> Verdict {
        if !call.changes {
            return Verdict::Allow;
        }
        let hit = match &self.what {
            What::Everything => Some(None),
            What::Git => call.paths.iter().find(|path| path.split('/').any(is_git)).map(Some),
            What::Below(folder) => call.paths.iter().find(|path| is_within(&folded(path), folder)).map(Some),
        };
        let Some(path) = hit else { return Verdict::Allow };
        self.verdict(path.map(String::as_str))
    }

    fn verdict(&self, path: Option<&str>) -> Verdict {
        self.decision.verdict(|| Ground {
            by: self.by.clone(),
            reason: match path {
                Some(path) => format!("{} is protected: {}", shown(path), self.reason),
                None => self.reason.clone(),
            },
        })
    }
}

fn is_within(path: &str, folder: &str) -> bool {
    folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether some file system takes `name` for `.git`. As git itself tells: case does not count, nor do the invisible
/// characters that HFS+ leaves out, nor the dots, spaces and stream names that Windows drops at the end; `git~1` is its
/// short name.
fn is_git(name: &str) -> bool {
    // Most names are told by their first letter.
    if name.bytes().next().is_none_or(|first| first.is_ascii() && !matches!(first, b'.' | b'g' | b'G')) {
        return false;
    }
    let visible = name.chars().filter(|c| !is_ignored(*c)).flat_map(char::to_lowercase).collect::<String>();
    let plain = visible.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']);
    matches!(plain, ".git" | "git~1")
}

fn is_ignored(c: char) -> bool {
    matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}
