//! What is written down of a change.

use serde::{Deserialize, Serialize};

use crate::ledger::Stamp;
use crate::model::event::FsStep;
use crate::model::id::{CallId, ChangeId, SessionId};

/// A change: who made it when, what it did, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ChangeRecord {
    /// Its name.
    pub change: ChangeId,
    /// In which session it was made.
    pub session: SessionId,
    /// By which call.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub call: Option<CallId>,
    /// For whom, as the log writes it: `mcp:local`, `cli`.
    pub caller: String,
    /// When it was begun.
    pub time: jiff::Timestamp,
    /// With which tool.
    pub tool: String,
    /// What kind of change it is.
    pub kind: ChangeKind,
    /// Changes that are shown and undone as one have the same group.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub group: Option<String>,
    /// The series that it is a part of, if it is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub part: Option<Part>,
    /// What it does, in order.
    pub steps: Vec<ChangedStep>,
    /// What became of it.
    #[serde(skip, default = "ChangeRecord::begun")]
    pub status: Status,
    /// The change that took it back, if one did and was not itself undone.
    #[serde(skip)]
    pub undone_by: Option<ChangeId>,
}

impl ChangeRecord {
    pub(in crate::ledger) fn begin(
        change: ChangeId,
        session: SessionId,
        stamp: &Stamp,
        time: jiff::Timestamp,
        tool: &str,
        kind: ChangeKind,
    ) -> Self {
        ChangeRecord {
            change,
            session,
            call: stamp.call,
            caller: stamp.caller.to_string(),
            time,
            tool: tool.to_owned(),
            kind,
            group: None,
            part: None,
            steps: Vec::new(),
            status: Status::Intent,
            undone_by: None,
        }
    }

    fn begun() -> Status {
        Status::Intent
    }

    /// The change that this one takes back.
    #[must_use]
    pub fn undoes(&self) -> Option<ChangeId> {
        match self.kind {
            ChangeKind::Undo(undoes) => Some(undoes),
            ChangeKind::Write | ChangeKind::Edit => None,
        }
    }

    /// The group that it is taken back with, unless it is named itself: the run, or else the series, that it belongs to.
    #[must_use]
    pub fn as_one(&self) -> Option<ChangeId> {
        self.group.as_deref().and_then(|group| group.parse().ok()).or(self.part.map(|part| part.series))
    }

    /// Whether it has happened and is in force: nobody has taken it back.
    #[must_use]
    pub fn stands(&self) -> bool {
        self.status == Status::Done && self.undone_by.is_none()
    }
}

/// Which part of a series a change is: of changes that are made one after the other, all or none, since one set of steps
/// cannot say what they come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// The name that all parts have in common.
    pub series: ChangeId,
    /// How many parts there are.
    pub of: u32,
}

/// What kind of change it is, as the log tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// Files are created, replaced, moved or deleted as a whole.
    Write,
    /// Parts of files are changed.
    Edit,
    /// An earlier change is taken back.
    Undo(ChangeId),
}

/// What became of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It was about to happen. Of a process that runs it is under way; of one that is gone it is to be recovered.
    Intent,
    /// It has happened.
    Done,
    /// It has not happened.
    Void,
}

/// A step, and what its undoing needs besides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedStep {
    /// The step.
    #[serde(flatten)]
    pub step: FsStep,
    /// The permission bits of the file before.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mode: Option<u32>,
}

/// Bytes that a step displaced, as they were found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Kept {
    pub(super) path: String,
    pub(super) before: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) mode: Option<u32>,
}

/// A line of the list of changes.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub(super) enum Entry {
    /// It is about to happen; said again, it is what was said last.
    Intent(ChangeRecord),
    /// It has happened.
    Done { change: ChangeId, kept: Vec<Kept> },
    /// It has not.
    Void { change: ChangeId },
    /// What a step of it has brought back was changed besides, and is told by this mark now.
    Marked { change: ChangeId, path: String, mark: String },
    /// A series that has not come to its end and cannot be taken back: nobody looks after it any more.
    Left { series: ChangeId },
}

/// Which changes are wanted. The default is all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Those of this caller, as the log writes it.
    pub caller: Option<String>,
    /// Those that touch this path or something below it.
    pub path: Option<String>,
    /// Those of this session.
    pub session: Option<SessionId>,
    /// Those of this group.
    pub group: Option<String>,
    /// Those that have happened and are in force.
    pub standing: bool,
}

impl Filter {
    pub(super) fn takes(&self, record: &ChangeRecord) -> bool {
        let is = |want: &Option<String>, have: &str| want.as_deref().is_none_or(|want| want == have);
        let touches = |folder: &str| {
            let within =
                |path: &str| path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
            let step_touches = |step: &ChangedStep| {
                let FsStep { path, real, from, .. } = &step.step;
                within(path) || within(real) || from.as_deref().is_some_and(within)
            };
            folder.is_empty() || record.steps.iter().any(step_touches)
        };
        is(&self.caller, &record.caller)
            && self.path.as_deref().is_none_or(touches)
            && self.session.as_ref().is_none_or(|session| *session == record.session)
            && self.group.as_ref().is_none_or(|group| record.group.as_ref() == Some(group))
            && (!self.standing || record.stands())
    }
}
