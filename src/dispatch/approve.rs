//! Step 7: what a person is asked before a call runs, and that what happens is what they were shown.

use std::borrow::Cow;

use bytes::Bytes;
use serde_json::Value;

use crate::dispatch::run::Run;
use crate::dispatch::run::ahead::{Ahead, Origin};
use crate::gate::approval::{Answer, Approver, Question};
use crate::gate::{CallFacts, Ground, Verdict};
use crate::model::change::{Change, ChangeSet};
use crate::model::error::{ErrorCode, ToolError};
use crate::model::event::Event;
use crate::model::file_bytes::FileBytes;
use crate::model::path::WsPath;
use crate::text::counted::counted;
use crate::text::{diff, encoding};
use crate::tool::registry::Entry;
use crate::workspace::{Depth, Kind};

/// How many bytes of a file, from the first line that would change, a person is shown at most.
const SHOWN: usize = 1024 * 1024;

/// Unchanged lines around what would change.
const CONTEXT: usize = 3;

/// What stands in the place of a diff that holds secrets, or the file that they go into.
const SECRET_DIFF: &str =
    "What would change is not shown: redact in the configuration keeps an argument of this call secret.\n";

/// The person's word on one call, once they have been asked.
pub(super) struct Approval<'a> {
    tool: &'a Entry,
    facts: &'a CallFacts,
    approver: &'a dyn Approver,
    approved: Option<[u8; 32]>,
}

impl<'a> Approval<'a> {
    pub(super) fn new(tool: &'a Entry, facts: &'a CallFacts, approver: &'a dyn Approver) -> Self {
        Approval { tool, facts, approver, approved: None }
    }

    /// Whether a person has to be asked, and has not yet approved exactly `set`.
    pub(super) fn is_needed(&self, run: &Run<'_>, verdict: &Verdict, set: &ChangeSet) -> bool {
        matches!(verdict, Verdict::Ask(ground) if self.approved != Some(self.digest(run, ground, Some(set))))
    }

    /// Asks, where `verdict` says so.
    ///
    /// # Errors
    /// `denied`: nobody to ask, declined, cancelled, timed out; `stale_version` where something else was approved before.
    pub(super) async fn obtain(
        &mut self,
        run: &Run<'_>,
        verdict: &Verdict,
        set: Option<&ChangeSet>,
    ) -> Result<(), ToolError> {
        let Verdict::Ask(ground) = verdict else { return Ok(()) };
        if self.approved.is_some() {
            return Err(ToolError::new(
                ErrorCode::StaleVersion,
                "The files changed while a person looked at what this call would do, and what was approved is not what would \
                 happen now. Nothing was changed. Read them again and call again.",
            ));
        }
        let question = self.question(run, ground, set);
        let shown = format!("{}\n{}", question.card, question.diff);
        run.record(Event::ApprovalAsked { question: shown, by: ground.by.clone() });
        let answer = self.approver.ask(&question).await;
        run.record(Event::ApprovalAnswered { answer: answer.as_str().to_owned() });
        match answer {
            Answer::Approved => {
                self.approved = Some(question.digest);
                Ok(())
            }
            other => Err(denied(ground, other)),
        }
    }

    fn question(&self, run: &Run<'_>, ground: &Ground, set: Option<&ChangeSet>) -> Question {
        let diff = match set {
            Some(_) if run.has_secrets() => SECRET_DIFF.to_owned(),
            Some(set) => shown(run, set),
            None => String::new(),
        };
        Question {
            tool: self.facts.tool.clone(),
            card: run.without_secrets(self.tool.present(&self.facts.arguments).line),
            diff,
            ground: Ground { by: ground.by.clone(), reason: run.without_secrets(ground.reason.clone()) },
            digest: self.digest(run, ground, set),
        }
    }

    /// Stands for the call, who wants to know, and exactly what it would do, where links lead now.
    fn digest(&self, run: &Run<'_>, ground: &Ground, set: Option<&ChangeSet>) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        let mut part = |bytes: &[u8]| {
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        part(self.facts.tool.as_bytes());
        part(canonical(&self.facts.arguments).to_string().as_bytes());
        part(ground.by.as_bytes());
        for change in set.into_iter().flatten() {
            part(change.path().as_str().as_bytes());
            part(run.real(change.path()).as_str().as_bytes());
            match change {
                Change::Write { expect, content, .. } => {
                    part(format!("write {expect:?}").as_bytes());
                    part(content.version().to_string().as_bytes());
                }
                Change::Delete { expect, .. } => part(format!("delete {expect:?}").as_bytes()),
                Change::MakeDir { .. } => part(b"make folder"),
                Change::RemoveDir { .. } => part(b"remove folder"),
                Change::Move { from, expect, .. } => part(format!("move {from:?} {expect:?}").as_bytes()),
                Change::Remove { expect, .. } => part(format!("remove {expect:?}").as_bytes()),
                Change::Restore { kept, .. } => part(format!("restore {kept}").as_bytes()),
            }
        }
        hasher.finalize().into()
    }
}

/// The same value whatever the order of members.
fn canonical(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut sorted: Vec<_> = members.iter().map(|(name, value)| (name.clone(), canonical(value))).collect();
            sorted.sort_by(|(a, _), (b, _)| a.cmp(b));
            Value::Object(sorted.into_iter().collect())
        }
        Value::Array(items) => items.iter().map(canonical).collect(),
        other => other.clone(),
    }
}

/// What `set` would do, for a person.
fn shown(run: &Run<'_>, set: &ChangeSet) -> String {
    let mut text = String::new();
    let mut ahead = Ahead::default();
    for change in set {
        let path = change.path();
        match change {
            Change::Write { content, .. } => text.push_str(&written(run, ahead.origin(path), path, content)),
            Change::Delete { .. } => text.push_str(&format!("The file {path} is removed.\n")),
            Change::MakeDir { .. } => text.push_str(&format!("The folder {path} is made.\n")),
            Change::RemoveDir { .. } => text.push_str(&format!("The folder {path} is removed if it is empty.\n")),
            Change::Move { from, .. } => {
                text.push_str(&format!("{} moves to {path}.\n", whole(run, from)));
            }
            Change::Remove { .. } => {
                text.push_str(&format!("{} is deleted, and kept so that it can be undone.\n", whole(run, path)));
                text.push_str(&named(run, path));
            }
            Change::Restore { .. } => text.push_str(&format!("{path} comes back as it was when it was deleted.\n")),
        }
        ahead.add(change);
    }
    text
}

/// What would change in a file.
fn written(run: &Run<'_>, origin: Origin<'_>, path: &WsPath, content: &[u8]) -> String {
    let now = match origin {
        Origin::Here(now) => run.view().read_whole(&now).map(|old| old.into_bytes()),
        Origin::Planned(content) => Ok(content.cloned().map(FileBytes::into_bytes).unwrap_or_default()),
    };
    let old = match now {
        Ok(old) => old,
        Err(error) if error.code == ErrorCode::FileNotFound => Bytes::new(),
        Err(error) => return format!("The file {path}, which cannot be shown, is replaced: {}\n", error.message),
    };
    let (mut text, whole) = diff::unified_start(path.as_str(), &readable(&old), &readable(content), CONTEXT, SHOWN);
    if !whole {
        text.push_str(&format!("… and more in {path} that is too long to be shown.\n"));
    }
    text
}

/// Bytes as a person reads them.
fn readable(bytes: &[u8]) -> Cow<'_, str> {
    encoding::decode(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), |decoded| decoded.text)
}

/// `The folder src with 12 entries`.
fn whole(run: &Run<'_>, path: &WsPath) -> String {
    match run.view().survey(path, Depth::Names) {
        Ok(survey) if survey.kind == Kind::Dir => {
            format!("The folder {path} with {}", counted(survey.below.len(), "entry", "entries"))
        }
        Ok(survey) if survey.kind == Kind::Link => format!("The link {path}"),
        _ => format!("The file {path}"),
    }
}

/// The first names of what is in a folder, a line each.
fn named(run: &Run<'_>, path: &WsPath) -> String {
    /// More names than this tell nobody more.
    const NAMES: usize = 20;
    let below = run.view().survey(path, Depth::Names).map(|survey| survey.below).unwrap_or_default();
    let mut text: String = below.iter().take(NAMES).map(|entry| format!("  {}\n", entry.path)).collect();
    if below.len() > NAMES {
        text.push_str(&format!("  and {} more\n", below.len() - NAMES));
    }
    text
}

fn denied(ground: &Ground, answer: Answer) -> ToolError {
    let why = match answer {
        Answer::Nobody => "there is nobody to ask here",
        Answer::Declined => "they declined",
        Answer::TimedOut => "they did not answer in time",
        Answer::Crowded => "too many calls wait for an answer already",
        Answer::Deferred => "they have not answered yet",
        Answer::Cancelled | Answer::Approved => "they would not say",
    };
    ToolError::new(
        ErrorCode::Denied,
        format!(
            "denied: {} wants a person to decide ({}), and {why}. Nothing was changed. Go on without this call, or tell the \
             person what it was for.",
            ground.by, ground.reason
        ),
    )
    .with("by", ground.by.clone())
    .with("answer", answer.as_str())
}
