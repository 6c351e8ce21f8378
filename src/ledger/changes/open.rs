//! A change that is under way: what the workspace tells of it is written down before it happens.

use std::io;
use std::sync::{Arc, Mutex};

use cap_std::fs::Dir;

use crate::ledger::changes::record::{ChangeKind, ChangeRecord, ChangedStep, Entry, Kept, Part};
use crate::ledger::store::hold;
use crate::ledger::{Core, Stamp};
use crate::model::event::{Event, FsChange, FsStep};
use crate::model::id::{ChangeId, KeptId};
use crate::model::version::Version;
use crate::workspace::{Displaced, Journal, Node};

/// A change from its intent to its end.
///
/// [`OpenChange::done`] says that it has happened; dropped without that, it has not. If a panic drops it, or
/// [`OpenChange::leave`] says so, nobody knows, and the next start looks at the files.
#[derive(Debug)]
#[must_use = "a change that is dropped has not happened"]
pub struct OpenChange(Option<Desk>);

#[derive(Debug)]
struct Desk {
    core: Arc<Core>,
    stamp: Stamp,
    record: ChangeRecord,
    progress: Mutex<Progress>,
}

#[derive(Debug, Default)]
struct Progress {
    steps: Vec<FsStep>,
    kept: Vec<Kept>,
    /// Kept as a second name of the displaced file.
    taken: Vec<Version>,
    ended: bool,
}

impl OpenChange {
    /// A change of which nothing is kept.
    pub(in crate::ledger) const fn unrecorded() -> Self {
        OpenChange(None)
    }

    pub(in crate::ledger) fn new(core: &Arc<Core>, stamp: &Stamp, record: ChangeRecord) -> Self {
        let (core, stamp) = (core.clone(), stamp.clone());
        OpenChange(Some(Desk { core, stamp, record, progress: Mutex::default() }))
    }

    /// An earlier one that was left open, to be ended now.
    pub(super) fn resume(core: &Arc<Core>, record: ChangeRecord) -> Self {
        let stamp = Stamp { call: record.call, caller: record.caller.as_str().into() };
        let steps = record.steps.iter().map(|step| step.step.clone()).collect();
        // Which of them were taken before the crash is not written down.
        let taken = record.steps.iter().filter_map(|step| step.step.before.as_deref()?.parse().ok()).collect();
        let progress = Mutex::new(Progress { steps, taken, ..Progress::default() });
        OpenChange(Some(Desk { core: core.clone(), stamp, record, progress }))
    }

    /// Its name, if it is recorded.
    #[must_use]
    pub fn id(&self) -> Option<ChangeId> {
        self.0.as_ref().map(|desk| desk.record.change)
    }

    /// The same, to be shown and undone together with the others of `group`. Said before the workspace is told to
    /// begin.
    pub fn in_group(mut self, group: impl Into<String>) -> Self {
        if let Some(desk) = &mut self.0 {
            desk.record.group = Some(group.into());
        }
        self
    }

    /// The same, as a part of a series. Said before the workspace is told to begin.
    pub fn as_part(mut self, part: Part) -> Self {
        if let Some(desk) = &mut self.0 {
            desk.record.part = Some(part);
        }
        self
    }

    /// It has happened. Gives its name, if it is recorded.
    #[must_use = "the name of the change is told to the caller"]
    pub fn done(self) -> Option<ChangeId> {
        let desk = self.0.as_ref()?;
        let mut progress = hold(&desk.progress);
        progress.ended = true;
        let (taken, kept) = (std::mem::take(&mut progress.taken), std::mem::take(&mut progress.kept));
        if progress.steps.is_empty() {
            return None;
        }
        // First, since of a change that is done nothing is safe from sweeping that looks old.
        taken.into_iter().for_each(|version| desk.core.blobs.settle(version));
        desk.core.changes.settle(&Entry::Done { change: desk.record.change, kept });
        Some(desk.record.change)
    }

    /// Nobody knows whether it has happened: the next start looks at the files.
    pub fn leave(self) {
        if let Some(desk) = &self.0 {
            hold(&desk.progress).ended = true;
        }
    }
}

impl Journal for OpenChange {
    fn intend(&self, steps: &[FsStep]) -> io::Result<()> {
        let Some(desk) = &self.0 else { return Ok(()) };
        let mut progress = hold(&desk.progress);
        if steps.is_empty() {
            return Ok(());
        }
        for step in steps {
            // A step that is tried again has another temporary file.
            let same = |earlier: &&mut FsStep| earlier.action == step.action && earlier.real == step.real;
            match progress.steps.iter_mut().find(same) {
                Some(earlier) => *earlier = step.clone(),
                None => progress.steps.push(step.clone()),
            }
        }
        let change = FsChange { change: desk.record.change, steps: progress.steps.clone() };
        desk.core.record(
            &desk.stamp,
            match desk.record.kind {
                ChangeKind::Write => Event::FsWrite(change),
                ChangeKind::Edit => Event::FsEdit(change),
                ChangeKind::Undo(undoes) => Event::FsUndo { undoes, change },
            },
        );
        desk.core.write_log(desk.core.durable).map_err(crate::ledger::LedgerError::into_io)?;
        let steps = progress.steps.iter().map(|step| ChangedStep { step: step.clone(), mode: None }).collect();
        let intent = Entry::Intent(ChangeRecord { steps, ..desk.record.clone() });
        desk.core.changes.write(&intent).map_err(crate::ledger::LedgerError::into_io)
    }

    fn keep(&self, displaced: &Displaced<'_>) -> io::Result<()> {
        let Some(desk) = &self.0 else { return Ok(()) };
        let taken = desk.core.blobs.take(displaced)?;
        let mut progress = hold(&desk.progress);
        if taken {
            progress.taken.push(displaced.version);
        }
        progress.kept.push(Kept {
            path: displaced.path.as_str().to_owned(),
            before: displaced.version.to_string(),
            mode: displaced.mode,
        });
        Ok(())
    }

    fn take(&self, node: &Node<'_>) -> io::Result<()> {
        self.0.as_ref().map_or(Ok(()), |desk| desk.core.nodes.take(node))
    }

    fn has(&self, kept: KeptId) -> io::Result<bool> {
        self.0.as_ref().map_or(Ok(false), |desk| desk.core.nodes.has(kept))
    }

    fn give_back(&self, kept: KeptId, folder: &Dir, name: &str) -> io::Result<()> {
        let desk = self.0.as_ref().ok_or(io::ErrorKind::NotFound)?;
        desk.core.nodes.give_back(kept, folder, name)
    }

    fn forget(&self, kept: KeptId) -> io::Result<()> {
        self.0.as_ref().map_or(Ok(()), |desk| desk.core.nodes.forget(kept))
    }
}

impl Drop for OpenChange {
    fn drop(&mut self) {
        let Some(desk) = &self.0 else { return };
        let mut progress = hold(&desk.progress);
        if progress.ended || progress.steps.is_empty() || std::thread::panicking() {
            return;
        }
        let taken = std::mem::take(&mut progress.taken);
        taken.into_iter().for_each(|version| desk.core.blobs.part(version));
        desk.core.changes.settle(&Entry::Void { change: desk.record.change });
    }
}
