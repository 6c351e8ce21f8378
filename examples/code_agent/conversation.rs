//! A conversation as the agent keeps it, whichever model it is with, and the loop that is all an agent is.

use std::error::Error;

use serde_json::Value;

use crate::session::Session;

/// A tool that a model can call.
pub struct Offer {
    pub name: String,
    pub description: String,
    pub schema: Value,
}

/// What one side has said.
#[derive(Debug, Clone)]
pub enum Entry {
    User(String),
    Model { text: String, calls: Vec<Call> },
    Results(Vec<CallResult>),
}

/// A call that a model wants made.
#[derive(Debug, Clone)]
pub struct Call {
    /// The model's own name for it.
    pub id: String,
    pub name: String,
    pub arguments: Value,
}

/// What it came to.
#[derive(Debug, Clone)]
pub struct CallResult {
    pub id: String,
    pub text: String,
    pub is_error: bool,
}

/// Whoever decides what to do next.
pub trait Model {
    fn name(&self) -> &str;

    /// What the model says to all that was said.
    fn next(&mut self, offers: &[Offer], said: &[Entry]) -> Result<Entry, Box<dyn Error>>;
}

/// Lets a model work on a task until it calls nothing any more.
pub fn talk(
    model: &mut dyn Model,
    session: &mut Session,
    task: &str,
    most_turns: usize,
    show: &mut dyn FnMut(&Entry),
) -> Result<Vec<Entry>, Box<dyn Error>> {
    let mut said = vec![Entry::User(task.to_owned())];
    for _ in 0..most_turns {
        let next = model.next(session.offers(), &said)?;
        show(&next);
        let calls = match &next {
            Entry::Model { calls, .. } => calls.clone(),
            _ => Vec::new(),
        };
        said.push(next);
        if calls.is_empty() {
            return Ok(said);
        }
        let results = Entry::Results(calls.iter().map(|call| session.call(call)).collect::<Result<_, _>>()?);
        show(&results);
        said.push(results);
    }
    Err(format!("the model was not done after {most_turns} turns").into())
}
