//! What a person sees of a question, and what their client sends back.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use crate::gate::approval::{Answer, Question};
use crate::model::json::parse_strict;
use crate::text::harmless::push_harmless;

/// So many lines of a diff are shown.
const LINES: usize = 30;

/// So many characters of a line of a diff.
const LINE: usize = 200;

/// So many characters of what is said about a call.
const WORDS: usize = 500;

/// The params of `elicitation/create` that every revision knows.
pub(super) fn params(question: &Question) -> Map<String, Value> {
    let schema = json!({
        "type": "object",
        "properties": {
            "approve": {
                "type": "boolean",
                "title": "Allow this?",
                "description": "Yes lets this call run, once. No denies it.",
                "default": false,
            },
        },
        "required": ["approve"],
    });
    Map::from_iter([("message".to_owned(), text(question).into()), ("requestedSchema".to_owned(), schema)])
}

/// The question in words. Everything in it comes from a model or a file, so it must not look like more than it is.
fn text(question: &Question) -> String {
    let mut text = format!("Allow {}?\n\n{}\n", words(&question.tool), words(&question.card));
    let ground = &question.ground;
    // Writing to a string does not fail.
    let _ = writeln!(text, "Asked by {}: {}", words(&ground.by), words(&ground.reason));
    let mut lines = question.diff.lines();
    if !question.diff.is_empty() {
        text.push('\n');
    }
    for line in lines.by_ref().take(LINES) {
        push_harmless(&mut text, line, LINE, |char| char == '\t');
        text.push('\n');
    }
    match lines.count() {
        0 => {}
        1 => text.push_str("… and 1 more line, which is not shown here.\n"),
        more => {
            let _ = writeln!(text, "… and {more} more lines, which are not shown here.");
        }
    }
    text.truncate(text.trim_end().len());
    text
}

/// A text that is meant to be one line.
fn words(text: &str) -> String {
    let mut shown = String::new();
    push_harmless(&mut shown, text, WORDS, |_| false);
    shown
}

/// What came for a question is not an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an answer is an object with the action accept, decline or cancel, and an object as content")]
pub(super) struct Malformed;

/// Reads an `ElicitResult`. To accept the form is not to approve: the box in it must be ticked.
///
/// # Errors
/// It is not one.
pub(super) fn read_answer(result: &str) -> Result<Answer, Malformed> {
    let Ok(Value::Object(result)) = parse_strict(result) else { return Err(Malformed) };
    answer(&result)
}

/// See [`read_answer`].
pub(super) fn answer(result: &Map<String, Value>) -> Result<Answer, Malformed> {
    match result.get("action").and_then(Value::as_str) {
        Some("accept") => match result.get("content") {
            Some(Value::Object(content)) if content.get("approve") == Some(&Value::Bool(true)) => Ok(Answer::Approved),
            Some(Value::Object(_) | Value::Null) | None => Ok(Answer::Declined),
            Some(_) => Err(Malformed),
        },
        Some("decline") => Ok(Answer::Declined),
        Some("cancel") => Ok(Answer::Cancelled),
        _ => Err(Malformed),
    }
}
