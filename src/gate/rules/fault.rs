//! Why a rule is not taken: one that does nothing is an error, not an allow.

use std::fmt;

/// A rule that cannot do what it says. It stops the start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{at}: {what}")]
pub struct RuleFault {
    /// Where the rule is written.
    pub at: String,
    /// What is wrong, and what to write instead.
    pub what: String,
}

/// What is wrong with a rule, wherever it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// A pattern that can match nothing or cannot be read.
    Pattern {
        /// Of which key.
        key: &'static str,
        /// As it is written.
        pattern: String,
        /// What is wrong with it, and what to write instead.
        why: String,
    },
    /// A list that leaves nothing to match.
    Nothing {
        /// Of which key.
        key: &'static str,
        /// What the list holds.
        holds: &'static str,
    },
    /// An example that says what is not so.
    Example(String),
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wrong::Pattern { key, pattern, why } => write!(f, "{key}: the pattern {pattern:?} {why}"),
            Wrong::Nothing { key, holds } => {
                write!(f, "{key}: the list {holds}, so it matches nothing; leave the key out to match everything")
            }
            Wrong::Example(what) => f.write_str(what),
        }
    }
}
