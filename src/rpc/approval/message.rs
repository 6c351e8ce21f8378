//! What a person sees of a question, and what their client sends back.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use crate::gate::approval::{Answer, Question};
use crate::model::json::parse_strict;

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

/// Appends up to `most` characters of `text`, with those that cannot be seen or change how others are shown as
/// `<U+202E>`; `kept` ones stay.
fn push_harmless(shown: &mut String, text: &str, most: usize, kept: impl Fn(char) -> bool) {
    let mut chars = text.chars();
    for char in chars.by_ref().take(most) {
        if is_harmful(char) && !kept(char) {
            let _ = write!(shown, "<U+{:04X}>", u32::from(char));
        } else {
            shown.push(char);
        }
    }
    let more = chars.count();
    if more > 0 {
        let _ = write!(shown, "… ({more} more characters)");
    }
}

/// Control characters, line ends, what sets the direction of writing, and what has no width.
fn is_harmful(char: char) -> bool {
    char.is_control()
        || matches!(
            char,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
        )
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
