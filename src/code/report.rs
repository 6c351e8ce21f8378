//! What a run came to, in words and as values.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::code::failure::{Failure, Kind};
use crate::model::error::{ErrorCode, ToolError};
use crate::model::id::ChangeId;

/// So many calls are told of in words; the values have all.
const TOLD: usize = 50;

/// A call that a program has made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Note {
    /// `{call}:code:{n}`.
    pub(super) id: String,
    pub(super) tool: String,
    pub(super) paths: Vec<String>,
    /// How it failed.
    pub(super) error: Option<ErrorCode>,
    pub(super) change: Option<ChangeId>,
}

/// A call of the program that has changed something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChangedBy {
    /// The call, as the log names it: `12:code:3`.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// What it was about.
    pub paths: Vec<String>,
    /// The change, which can be undone by itself.
    pub change: String,
    /// How the call failed all the same, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// What a program has come to.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// What it has returned; left out where that is nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// What it has printed.
    pub logs: String,
    /// How many calls it has made.
    pub calls: u64,
    /// Those of them that have changed something.
    pub changes: Vec<ChangedBy>,
    /// The name under which all of that is undone at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// How the system confined it.
    pub sandbox: String,
}

/// A run that is over.
pub(super) struct Ended {
    pub(super) end: Result<Option<Value>, Failure>,
    pub(super) logs: String,
    pub(super) notes: Vec<Note>,
    /// Calls that the program made and that did not begin any more.
    pub(super) abandoned: usize,
    pub(super) run: Option<ChangeId>,
    pub(super) sandbox: String,
}

impl Ended {
    pub(super) fn outcome(self) -> Result<Output, ToolError> {
        let changes: Vec<_> = self.notes.iter().filter_map(Note::changed).collect();
        let run = self.run.filter(|_| !changes.is_empty()).map(|run| run.to_string());
        match self.end {
            Ok(value) => Ok(Output {
                value,
                logs: self.logs,
                calls: self.notes.len() as u64,
                changes,
                run,
                sandbox: self.sandbox,
            }),
            Err(ref failure) => Err(self.failed(failure, run)),
        }
    }

    fn failed(&self, failure: &Failure, run: Option<String>) -> ToolError {
        let Failure { kind, message, line, column, setting } = failure;
        let place = match (line, column) {
            (Some(line), Some(column)) => format!(" at line {line}, column {column}"),
            _ => String::new(),
        };
        let mut text = format!("The program failed ({}){place}: {message}", kind.as_str());
        if !text.ends_with(['.', '!', '?']) {
            text.push('.');
        }
        if !self.logs.is_empty() {
            text.push_str(&format!("\nIt had printed:\n{}", self.logs.trim_end()));
        }
        text.push_str(&self.calls(*kind, run.as_deref()));
        let calls: Vec<_> = self.notes.iter().map(Note::value).collect();
        ToolError::new(ErrorCode::CodeRunFailed, text)
            .with("kind", kind.as_str())
            .with("line", *line)
            .with("column", *column)
            .with("setting", setting.clone())
            .with("logs", self.logs.clone())
            .with("calls", calls)
            .with("abandoned", self.abandoned)
            .with("run", run)
    }

    /// What was done before it failed.
    fn calls(&self, kind: Kind, run: Option<&str>) -> String {
        let count = self.notes.len();
        if count == 0 {
            return if kind == Kind::Syntax {
                "\nNothing of it was run.".to_owned()
            } else {
                "\nIt had made no call.".to_owned()
            };
        }
        let mut text = format!("\nCalls that it had made ({count}):");
        if count > TOLD {
            text.push_str(&format!(" the last {TOLD} are"));
        }
        for note in &self.notes[count.saturating_sub(TOLD)..] {
            text.push_str(&format!("\n- {}", note.line()));
        }
        if self.abandoned > 0 {
            text.push_str(&format!("\n{} more had not begun and were not made.", self.abandoned));
        }
        match run {
            Some(run) => text.push_str(&format!(
                "\nWhat they changed is changed. undo_change with change \"{run}\" takes all of it back."
            )),
            None => text.push_str("\nNothing was changed."),
        }
        text
    }
}

impl Note {
    fn changed(&self) -> Option<ChangedBy> {
        Some(ChangedBy {
            call: self.id.clone(),
            tool: self.tool.clone(),
            paths: self.paths.clone(),
            change: self.change?.to_string(),
            error: self.error.map(|error| error.to_string()),
        })
    }

    fn value(&self) -> Value {
        let mut value = json!({"call": self.id, "tool": self.tool, "paths": self.paths});
        if let Some(error) = self.error {
            value["error"] = error.as_str().into();
        }
        if let Some(change) = self.change {
            value["change"] = change.to_string().into();
        }
        value
    }

    fn line(&self) -> String {
        line(&self.tool, &self.paths, self.change.map(|change| change.to_string()), self.error.map(ErrorCode::as_str))
    }
}

/// One line about a call: tool, paths, what came of it.
fn line(tool: &str, paths: &[String], change: Option<String>, error: Option<&str>) -> String {
    let paths = match paths {
        [] => String::new(),
        paths if paths.len() <= 3 => format!(" {}", paths.join(", ")),
        [first, rest @ ..] => format!(" {first} and {} more", rest.len()),
    };
    match (change, error) {
        (Some(change), None) => format!("{tool}{paths}: change {change}"),
        (Some(change), Some(error)) => format!("{tool}{paths}: change {change}, then {error}"),
        (None, Some(error)) => format!("{tool}{paths}: {error}"),
        (None, None) => format!("{tool}{paths}: done"),
    }
}

impl Output {
    /// What it printed, then what it returned.
    pub(super) fn text(&self) -> String {
        let value = match &self.value {
            None => None,
            Some(Value::String(text)) => Some(text.clone()),
            Some(value) => Some(serde_json::to_string_pretty(value).unwrap_or_default()),
        };
        match (self.logs.trim_end_matches('\n'), value) {
            ("", None) => "The program has ended. It printed nothing and returned nothing.".to_owned(),
            (logs, None) => logs.to_owned(),
            ("", Some(value)) => value,
            (logs, Some(value)) => format!("{logs}\n{value}"),
        }
    }

    /// A line for each call that has changed something, and how to take all of it back.
    pub(super) fn lines(&self) -> Vec<String> {
        let told = self.changes.iter().take(TOLD);
        let mut lines: Vec<_> = told
            .map(|by| format!("[{}]", line(&by.tool, &by.paths, Some(by.change.clone()), by.error.as_deref())))
            .collect();
        if self.changes.len() > TOLD {
            lines.push(format!("[… and {} more calls that changed something.]", self.changes.len() - TOLD));
        }
        if let Some(run) = &self.run {
            lines.push(format!("[Run {run}: undo_change takes back all of it by this name.]"));
        }
        lines
    }
}
