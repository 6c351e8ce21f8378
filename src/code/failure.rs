//! Why a run failed.

use serde::{Deserialize, Serialize};

/// What kind of failure ended a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The program is none.
    Syntax,
    /// It has thrown, or made a mistake.
    Exception,
    /// It took too long.
    Timeout,
    /// Its caller has taken it back.
    Aborted,
    /// It used too much memory.
    Memory,
    /// It printed or returned too much.
    OutputLimit,
    /// Its process ended.
    Crash,
    /// It left something unfinished: a call that was not awaited, a promise that nothing settles.
    Unsettled,
}

impl Kind {
    /// The kind as results have it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Kind::Syntax => "syntax",
            Kind::Exception => "exception",
            Kind::Timeout => "timeout",
            Kind::Aborted => "aborted",
            Kind::Memory => "memory",
            Kind::OutputLimit => "output_limit",
            Kind::Crash => "crash",
            Kind::Unsettled => "unsettled",
        }
    }
}

/// A failure and where in the program it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Failure {
    pub(super) kind: Kind,
    pub(super) message: String,
    /// From 1.
    pub(super) line: Option<u32>,
    /// From 1.
    pub(super) column: Option<u32>,
    /// The setting that would change it, such as `code.wall_ms`.
    pub(super) setting: Option<String>,
}

impl Failure {
    pub(super) fn new(kind: Kind, message: impl Into<String>) -> Self {
        Failure { kind, message: message.into(), line: None, column: None, setting: None }
    }

    /// A limit was reached: `what` it was and the `setting` that it comes from.
    pub(super) fn limit(kind: Kind, what: impl std::fmt::Display, setting: &str) -> Self {
        let message = format!("{what} (setting {setting})");
        Failure { setting: Some(setting.to_owned()), ..Failure::new(kind, message) }
    }

    pub(super) fn at(mut self, place: Option<(u32, u32)>) -> Self {
        (self.line, self.column) = place.unzip();
        self
    }
}
