//! A person's word on a call: what they are asked, who asks them, what they say.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::gate::Ground;

/// What a person is shown before a call runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The tool.
    pub tool: String,
    /// One line that says what would happen.
    pub card: String,
    /// The change as a diff in a few lines; empty for what changes no text.
    pub diff: String,
    /// Who wants to know, and why.
    pub ground: Ground,
    /// Stands for the call and exactly this effect: the same question has the same digest, another diff another.
    pub digest: [u8; 32],
}

/// What a person says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Do it.
    Approved,
    /// Do not.
    Declined,
    /// They would not say.
    Cancelled,
    /// They did not say in time.
    TimedOut,
    /// There is nobody to ask.
    Nobody,
    /// Too many calls wait for an answer already.
    Crowded,
    /// They will be asked, and the call will come again with what they said.
    Deferred,
}

impl Answer {
    /// The answer as the log writes it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Answer::Approved => "approved",
            Answer::Declined => "declined",
            Answer::Cancelled => "cancelled",
            Answer::TimedOut => "timed_out",
            Answer::Nobody => "nobody",
            Answer::Crowded => "crowded",
            Answer::Deferred => "deferred",
        }
    }
}

/// Whoever can put a question to a person: a door knows how.
pub trait Approver: Send + Sync {
    /// Asks, and waits for the answer as long as that door waits.
    fn ask<'a>(&'a self, question: &'a Question) -> Pin<Box<dyn Future<Output = Answer> + Send + 'a>>;

    /// Who is asked about the calls that an act makes, if that is another: once a call has begun to act it cannot be made
    /// anew with the answer, so the answer has to be waited for.
    fn midway(&self) -> Option<Arc<dyn Approver>> {
        None
    }
}

/// Asks nobody.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nobody;

impl Approver for Nobody {
    fn ask<'a>(&'a self, _: &'a Question) -> Pin<Box<dyn Future<Output = Answer> + Send + 'a>> {
        Box::pin(std::future::ready(Answer::Nobody))
    }
}
