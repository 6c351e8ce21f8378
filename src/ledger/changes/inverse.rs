//! What takes a change back: its steps turned round, each resting on what the change left.

use crate::ledger::blobs::Blobs;
use crate::ledger::changes::record::{ChangeRecord, ChangedStep, Status};
use crate::ledger::error::LedgerError;
use crate::model::change::{Change, ChangeSet, Expect};
use crate::model::event::FsAction;
use crate::model::file_bytes::FileBytes;
use crate::model::id::{ChangeId, KeptId};
use crate::model::path::WsPath;
use crate::model::version::Version;

/// The undoing of a change.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Inverse {
    /// The change that it takes back.
    pub record: ChangeRecord,
    /// What does it. It holds only where every file still is as the change left it.
    pub set: ChangeSet,
    /// Where that cannot be done as one set: the sets of which it consists, to be done one after the other, and which change
    /// each takes back.
    pub series: Vec<(ChangeId, ChangeSet)>,
    /// The permission bits that files had which come back; for the others those that they have stay.
    pub modes: Vec<(WsPath, u32)>,
}

/// What takes `record` back.
pub(in crate::ledger) fn inverse(record: ChangeRecord, blobs: &Blobs) -> Result<Inverse, LedgerError> {
    if record.status != Status::Done {
        return Err(LedgerError::NotDone(record.change));
    }
    if let Some(by) = record.undone_by {
        return Err(LedgerError::Undone { change: record.change, by });
    }
    let mut changes = Vec::new();
    let mut modes = Vec::new();
    for step in record.steps.iter().rev() {
        let one = One { record: &record, step, blobs };
        if let Some(change) = one.turned_round()? {
            if let (FsAction::Delete, Some(mode)) = (step.step.action, step.mode) {
                modes.push((change.path().clone(), mode));
            }
            changes.push(change);
        }
    }
    Ok(Inverse { set: ChangeSet::new(changes), series: Vec::new(), modes, record })
}

struct One<'a> {
    record: &'a ChangeRecord,
    step: &'a ChangedStep,
    blobs: &'a Blobs,
}

impl One<'_> {
    fn turned_round(&self) -> Result<Option<Change>, LedgerError> {
        let (before, after) = (self.version(&self.step.step.before)?, self.version(&self.step.step.after)?);
        let path = self.path()?;
        Ok(match (self.step.step.action, before, after) {
            // It left the bytes as they were.
            (FsAction::Write, before, after) if before == after => None,
            (FsAction::Write, Some(before), Some(after)) => {
                Some(Change::Write { path, expect: Expect::Exactly(after), content: self.bytes(before)? })
            }
            (FsAction::Write, None, Some(after)) => Some(Change::Delete { path, expect: Expect::Exactly(after) }),
            (FsAction::Write, _, None) => return Err(self.unreadable("a file was written, and not with what")),
            (FsAction::Delete, Some(before), _) => {
                Some(Change::Write { path, expect: Expect::Absent, content: self.bytes(before)? })
            }
            (FsAction::Delete, None, _) => return Err(self.unreadable("a file was deleted, and not what it was")),
            (FsAction::MakeDir, ..) => Some(Change::RemoveDir { path }),
            (FsAction::RemoveDir, ..) => Some(Change::MakeDir { path }),
            (FsAction::Move, _, after) => {
                let to = self.parsed(self.step.step.from.as_deref().unwrap_or_default())?;
                Some(Change::Move { from: path, to, expect: after.map_or(Expect::Any, Expect::Exactly) })
            }
            (FsAction::Remove, Some(mark), _) => {
                let kept = self.kept()?;
                Some(Change::Restore { path, kept, mark })
            }
            (FsAction::Restore, _, Some(mark)) => {
                Some(Change::Remove { path, expect: Expect::Exactly(mark), kept: Some(self.kept()?) })
            }
            (FsAction::Remove | FsAction::Restore, ..) => {
                return Err(self.unreadable("something was removed or restored, and not what"));
            }
        })
    }

    fn kept(&self) -> Result<KeptId, LedgerError> {
        let kept = self.step.step.kept.as_deref().unwrap_or_default();
        kept.parse().map_err(|_| self.unreadable("it does not say under which name something is kept"))
    }

    /// The file itself, not the link that led there: that may lead elsewhere by now.
    fn path(&self) -> Result<WsPath, LedgerError> {
        let step = &self.step.step;
        let text = if step.real.is_empty() { &step.path } else { &step.real };
        self.parsed(text)
    }

    fn parsed(&self, text: &str) -> Result<WsPath, LedgerError> {
        WsPath::parse(text).map_err(|error| self.unreadable(&error.to_string()))
    }

    fn version(&self, text: &Option<String>) -> Result<Option<Version>, LedgerError> {
        text.as_deref().map(str::parse).transpose().map_err(|_| self.unreadable("a version in it is none"))
    }

    fn bytes(&self, version: Version) -> Result<FileBytes, LedgerError> {
        match self.blobs.get(version) {
            Ok(Some(bytes)) => Ok(FileBytes::known(bytes, version)),
            Ok(None) => Err(LedgerError::Gone { path: self.step.step.path.clone(), version }),
            Err(error) => Err(LedgerError::Blobs(error)),
        }
    }

    fn unreadable(&self, what: &str) -> LedgerError {
        LedgerError::Unreadable(self.record.change, what.to_owned())
    }
}
