//! The prompt `explain-denial`: what was not allowed, who said so, and what a person can do about it.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::ledger::Ledger;
use crate::model::error::{ErrorCode, ToolError, glimpse};
use crate::model::event::{Event, Line, Phase};
use crate::model::id::CallId;
use crate::offer::prompt::{Message, Prompt, PromptSpec};
use crate::offer::resource::Typing;
use crate::tool::view::View;

/// So many characters of the arguments are shown.
const SHOWN: usize = 2_000;

/// The prompt `explain-denial`.
#[derive(Debug)]
pub struct ExplainDenial {
    ledger: Ledger,
}

/// What to explain.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// The number of the call in the log. Left out: the last one that was denied.
    #[serde(default)]
    call: Option<String>,
}

impl ExplainDenial {
    /// About what `ledger` has recorded.
    #[must_use]
    pub fn new(ledger: Ledger) -> Self {
        ExplainDenial { ledger }
    }

    /// What is recorded of the caller's calls in this session.
    fn lines(&self, view: &View) -> Vec<Line> {
        let mut lines = self.ledger.lines();
        lines.retain(|line| line.caller == view.caller());
        lines
    }
}

/// The calls that were denied, the last one first.
fn denied(lines: &[Line]) -> impl Iterator<Item = CallId> {
    lines.iter().rev().filter_map(|line| match &line.event {
        Event::ToolResult { error: Some(error), .. } if error == ErrorCode::Denied.as_str() => line.call,
        _ => None,
    })
}

impl Prompt for ExplainDenial {
    type Args = Args;

    fn spec(&self) -> PromptSpec {
        PromptSpec {
            name: "explain-denial",
            title: "Explain a denial",
            description: "Why a call was not allowed, who said so, and what can be done about it.",
        }
    }

    async fn get(&self, view: &View, args: Args) -> Result<Vec<Message>, ToolError> {
        let lines = self.lines(view);
        let call = match args.call.as_deref().map(str::trim).filter(|call| !call.is_empty()) {
            None => denied(&lines).next(),
            Some(text) => {
                let number = text.parse().ok().map(CallId);
                let known = number.filter(|number| denied(&lines).any(|call| call == *number));
                Some(known.ok_or_else(|| {
                    ToolError::bad_argument(
                        "call",
                        format_args!(
                            "no call with the number {} was denied in this session. Leave it out for the last one that was",
                            glimpse(text)
                        ),
                    )
                })?)
            }
        };
        let Some(call) = call else {
            return Ok(vec![Message::user("Nothing was denied in this session. Say so, and nothing else.")]);
        };
        let mut told: Vec<_> = lines.iter().filter(|line| line.call == Some(call)).collect();
        told.sort_by_key(|line| line.time);
        let story: Vec<_> = told.iter().filter_map(|line| in_words(&line.event)).collect();
        Ok(vec![Message::user(format!(
            "Explain to me in plain words why this call was not allowed, who said so, and what I can do: allow it, by \
             changing the rule or hook that is named (toolgate.toml of the workspace or of the user), approve it when \
             asked, or reach the goal another way. Do not try it again, and do not look for a way around it.\n\nCall {}:\n{}",
            call.0,
            story.join("\n")
        ))])
    }

    async fn complete(&self, view: &View, typing: &Typing) -> Result<Vec<String>, ToolError> {
        let lines = self.lines(view);
        let calls = denied(&lines).map(|call| call.0.to_string());
        Ok(calls.filter(|call| call.starts_with(&typing.text)).collect())
    }
}

/// What happened, as a line for a reader.
fn in_words(event: &Event) -> Option<String> {
    Some(match event {
        Event::ToolCall { tool, arguments, method, .. } => {
            let through = method.as_ref().map_or_else(String::new, |method| format!(" through {method}"));
            format!("- it called {tool}{through} with {}", shown(arguments))
        }
        Event::HookResult { hook, phase, decision, reason, .. } => {
            let when = if *phase == Phase::Pre { "before" } else { "after" };
            let why = reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
            format!("- the hook {hook}, asked {when} it, said {decision}{why}")
        }
        Event::ApprovalAsked { question, by } => {
            format!("- {by} wanted a person to decide; they were shown: {question}")
        }
        Event::ApprovalAnswered { answer } => format!("- the answer was: {answer}"),
        Event::ToolResult { message: Some(message), .. } => format!("- it came to this: {message}"),
        _ => return None,
    })
}

fn shown(arguments: &Value) -> String {
    let text = arguments.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
