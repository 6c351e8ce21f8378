//! Questions to the person at the terminal.

use std::future::{Future, ready};
use std::io::{self, IsTerminal, Write};
use std::pin::Pin;
use std::sync::Arc;

use crate::gate::approval::{Answer, Approver, Nobody, Question};
use crate::text::harmless;

/// So much of a line is shown.
const LINE: usize = 400;

/// The person at the terminal, where there is one.
pub(super) fn whoever_is_there() -> Arc<dyn Approver> {
    if io::stdin().is_terminal() && io::stderr().is_terminal() { Arc::new(Terminal) } else { Arc::new(Nobody) }
}

/// Puts a question that is to be answered with yes or no. Whatever is no clear yes is a no.
pub(super) fn yes(question: &str) -> io::Result<bool> {
    let mut out = io::stderr().lock();
    write!(out, "{question} [y/N] ")?;
    out.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

struct Terminal;

impl Approver for Terminal {
    /// Waits for the answer in this thread: a command from a shell has nothing else to do.
    fn ask<'a>(&'a self, question: &'a Question) -> Pin<Box<dyn Future<Output = Answer> + Send + 'a>> {
        let answer = match put(question) {
            Ok(true) => Answer::Approved,
            Ok(false) => Answer::Declined,
            Err(_) => Answer::Nobody,
        };
        Box::pin(ready(answer))
    }
}

fn put(question: &Question) -> io::Result<bool> {
    let mut out = io::stderr().lock();
    for line in question.diff.lines() {
        writeln!(out, "{}", harmless::text(line, LINE))?;
    }
    let (by, reason) = (harmless::line(&question.ground.by, LINE), harmless::line(&question.ground.reason, LINE));
    writeln!(out, "{by} wants a person to decide: {reason}")?;
    drop(out);
    yes(&format!("{}?", harmless::line(&question.card, LINE)))
}
