//! Changing files in memory. The caller holds them, so nobody sees a part of it.

use crate::model::change::{Change, ChangeSet, Expect};
use crate::model::event::{FsAction, FsStep};
use crate::model::path::WsPath;
use crate::model::version::Version;
use crate::workspace::memory::held::Held;
use crate::workspace::memory::{Files, is_folder, no_file_above};
use crate::workspace::{Displaced, DisplacedSource, FileError, FileErrorKind, Journal, Recovered, journal_failed};

/// Performs all steps of `set`, or none.
pub(super) fn commit(files: &mut Files, set: &ChangeSet, journal: &dyn Journal) -> Result<(), FileError> {
    let mut work = Work { files, displaced: Vec::new() };
    for change in set {
        work.apply(change)?;
    }
    work.tell(journal)?;
    work.displaced.clear();
    Ok(())
}

/// Whether all of `steps` have come to pass.
pub(super) fn standing(files: &Files, steps: &[FsStep]) -> Recovered {
    let stands = |step: &FsStep| version(files.get(step.path.as_str())).map(|now| now.to_string()) == step.after;
    if steps.iter().all(stands) { Recovered::Done } else { Recovered::Void }
}

/// A change set that is being performed. Taken back when this is dropped with something displaced in it.
struct Work<'a> {
    files: &'a mut Files,
    /// What was at each path that was changed, in the order of the steps.
    displaced: Vec<(WsPath, Option<Held>)>,
}

impl Work<'_> {
    fn apply(&mut self, change: &Change) -> Result<(), FileError> {
        let path = change.path();
        if !self.files.contains_key(path) {
            no_file_above(self.files, path)?;
        }
        match change {
            Change::MakeDir { .. } if self.files.contains_key(path) => Err(FileErrorKind::AlreadyExists.at(path)),
            Change::RemoveDir { .. } if self.files.contains_key(path) => Err(FileErrorKind::NotADirectory.at(path)),
            // Folders come and go with the files in them.
            Change::MakeDir { .. } | Change::RemoveDir { .. } => Ok(()),
            Change::Write { expect, content, .. } => {
                self.check(path, *expect)?;
                let old = self.files.insert(path.clone(), Held::new(content.clone()));
                self.displaced.push((path.clone(), old));
                Ok(())
            }
            Change::Delete { expect, .. } => {
                self.check(path, *expect)?;
                let old = self.files.remove(path).ok_or_else(|| FileErrorKind::NotFound.at(path))?;
                self.displaced.push((path.clone(), Some(old)));
                Ok(())
            }
        }
    }

    fn check(&self, path: &WsPath, expect: Expect) -> Result<(), FileError> {
        if path.is_root() || (!self.files.contains_key(path) && is_folder(self.files, path)) {
            return Err(FileErrorKind::NotAFile.at(path));
        }
        meets(expect, self.files.get(path)).map_err(|kind| kind.at(path))
    }

    /// Tells the journal what happens, and gives it what is displaced.
    fn tell(&self, journal: &dyn Journal) -> Result<(), FileError> {
        let mut steps: Vec<FsStep> = Vec::new();
        let mut kept = Vec::new();
        for (path, old) in &self.displaced {
            // Several steps on one file are one: from what the first one found to what the last one left.
            if steps.iter().any(|step| step.path == path.as_str()) {
                continue;
            }
            steps.push(step(path, version(old.as_ref()), version(self.files.get(path))));
            kept.extend(old.as_ref().map(|old| (path, old)));
        }
        steps.retain(|step| step.before.is_some() || step.after.is_some());
        let Some((first, _)) = self.displaced.first().filter(|_| !steps.is_empty()) else { return Ok(()) };
        journal.intend(&steps).map_err(|error| journal_failed(error).at(first))?;
        for (path, old) in kept {
            let version = Version::of(&old.bytes);
            let displaced = Displaced { path, version, mode: None, source: DisplacedSource::Bytes(&old.bytes) };
            journal.keep(&displaced).map_err(|error| journal_failed(error).at(path))?;
        }
        Ok(())
    }
}

impl Drop for Work<'_> {
    fn drop(&mut self) {
        for (path, old) in self.displaced.drain(..).rev() {
            match old {
                Some(old) => self.files.insert(path, old),
                None => self.files.remove(&path),
            };
        }
    }
}

fn step(path: &WsPath, before: Option<Version>, after: Option<Version>) -> FsStep {
    FsStep {
        action: if after.is_some() { FsAction::Write } else { FsAction::Delete },
        path: path.as_str().to_owned(),
        real: path.as_str().to_owned(),
        before: before.map(|version| version.to_string()),
        after: after.map(|version| version.to_string()),
        temp: None,
    }
}

fn version(held: Option<&Held>) -> Option<Version> {
    held.map(|held| Version::of(&held.bytes))
}

fn meets(expect: Expect, found: Option<&Held>) -> Result<(), FileErrorKind> {
    let holds = match expect {
        Expect::Any => true,
        Expect::Absent => found.is_none(),
        Expect::Exactly(wanted) => version(found) == Some(wanted),
    };
    if holds { Ok(()) } else { Err(FileErrorKind::Stale { now: version(found) }) }
}
