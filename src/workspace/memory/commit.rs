//! Changing files in memory. The caller holds them, so nobody sees a part of it.

use crate::model::change::{Change, ChangeSet, Expect};
use crate::model::event::{FsAction, FsStep};
use crate::model::path::WsPath;
use crate::model::version::Version;
use crate::workspace::memory::held::Held;
use crate::workspace::memory::{Files, below, is_folder, no_file_above, survey};
use crate::workspace::{Displaced, DisplacedSource, FileError, FileErrorKind, Journal, Recovered, journal_failed};

/// Performs all steps of `set`, or none.
pub(super) fn commit(files: &mut Files, set: &ChangeSet, journal: &dyn Journal) -> Result<(), FileError> {
    let mut work = Work { files, done: Vec::new() };
    for change in set {
        work.apply(change)?;
    }
    work.tell(journal)?;
    work.done.clear();
    Ok(())
}

/// Whether all of `steps` have come to pass.
pub(super) fn standing(files: &Files, steps: &[FsStep]) -> Recovered {
    let is_there = |path: &str| WsPath::parse(path).is_ok_and(|path| survey(files, &path).is_ok());
    let stands = |step: &FsStep| match step.action {
        FsAction::Move => is_there(&step.path) && !step.from.as_deref().is_some_and(is_there),
        _ => version(files.get(step.path.as_str())).map(|now| now.to_string()) == step.after,
    };
    if steps.iter().all(stands) { Recovered::Done } else { Recovered::Void }
}

/// A change set that is being performed. Taken back when this is dropped with something done in it.
struct Work<'a> {
    files: &'a mut Files,
    done: Vec<Done>,
}

/// One thing that was done.
enum Done {
    /// A path has other bytes, or none: what was there.
    Displaced(WsPath, Option<Held>),
    /// What was at the one path, or below it, is at the other.
    Moved { from: WsPath, to: WsPath },
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
                self.done.push(Done::Displaced(path.clone(), old));
                Ok(())
            }
            Change::Delete { expect, .. } => {
                self.check(path, *expect)?;
                self.take(path)
            }
            Change::Move { from, to, expect } => self.relocate(from, to, *expect),
            Change::Remove { expect, .. } => self.remove(path, *expect),
            // What is removed here is kept file by file, and comes back so.
            Change::Restore { .. } => Err(FileErrorKind::NotFound.at(path)),
        }
    }

    fn take(&mut self, path: &WsPath) -> Result<(), FileError> {
        let old = self.files.remove(path).ok_or_else(|| FileErrorKind::NotFound.at(path))?;
        self.done.push(Done::Displaced(path.clone(), Some(old)));
        Ok(())
    }

    fn remove(&mut self, path: &WsPath, expect: Expect) -> Result<(), FileError> {
        let now = match survey(self.files, path) {
            Err(FileError { kind: FileErrorKind::NotFound, .. }) if expect != Expect::Any => None,
            survey => Some(survey?.mark),
        };
        if path.is_root() || !marked(expect, now) {
            return Err(FileErrorKind::Stale { now: None }.at(path));
        }
        let gone: Vec<_> = match self.files.contains_key(path) {
            true => vec![path.clone()],
            false => below(self.files, path).map(|(path, ..)| path.clone()).collect(),
        };
        gone.iter().try_for_each(|path| self.take(path))
    }

    fn relocate(&mut self, from: &WsPath, to: &WsPath, expect: Expect) -> Result<(), FileError> {
        if from.is_root() || to.is_within(from) {
            return Err(FileErrorKind::IntoItself.at(to));
        }
        let is_there = |path: &WsPath| self.files.contains_key(path) || is_folder(self.files, path);
        if !is_there(from) {
            return Err(FileErrorKind::Stale { now: None }.at(from));
        }
        if to.is_root() || is_there(to) {
            return Err(FileErrorKind::Stale { now: None }.at(to));
        }
        match (self.files.get(from), expect) {
            (Some(held), Expect::Exactly(_)) => meets(expect, Some(held)).map_err(|kind| kind.at(from))?,
            (None, Expect::Exactly(mark)) if survey(self.files, from)?.mark != mark => {
                return Err(FileErrorKind::Stale { now: None }.at(to));
            }
            _ => {}
        }
        shift(self.files, from, to);
        self.done.push(Done::Moved { from: from.clone(), to: to.clone() });
        Ok(())
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
        for (at, done) in self.done.iter().enumerate() {
            let (path, old) = match done {
                Done::Displaced(path, old) => (path, old),
                Done::Moved { from, to } => {
                    steps.push(moved(from, to, version(self.files.get(to))));
                    continue;
                }
            };
            // Several steps on one file are one: from what the first one found to what the last one left. A file that
            // made room for another, which moved there, is only gone.
            if steps.iter().any(|step| step.path == path.as_str()) {
                continue;
            }
            let moved_there = |done: &Done| matches!(done, Done::Moved { to, .. } if path.is_within(to));
            let left = self.files.get(path).filter(|_| !self.done[at..].iter().any(moved_there));
            steps.push(step(path, version(old.as_ref()), version(left)));
            kept.extend(old.as_ref().map(|old| (path, old)));
        }
        steps.retain(|step| step.before.is_some() || step.after.is_some() || step.action == FsAction::Move);
        let first = self.done.first().map(|done| match done {
            Done::Displaced(path, _) | Done::Moved { to: path, .. } => path,
        });
        let Some(first) = first.filter(|_| !steps.is_empty()) else { return Ok(()) };
        journal.intend(&steps).map_err(|error| journal_failed(error).at(first))?;
        for (path, old) in kept {
            let version = old.bytes.version();
            let displaced = Displaced { path, version, mode: None, source: DisplacedSource::Bytes(&old.bytes) };
            journal.keep(&displaced).map_err(|error| journal_failed(error).at(path))?;
        }
        Ok(())
    }
}

impl Drop for Work<'_> {
    fn drop(&mut self) {
        for done in self.done.drain(..).rev() {
            match done {
                Done::Displaced(path, Some(old)) => drop(self.files.insert(path, old)),
                Done::Displaced(path, None) => drop(self.files.remove(&path)),
                Done::Moved { from, to } => shift(self.files, &to, &from),
            }
        }
    }
}

/// Gives the file `from`, or all that is below it, its path at `to`.
fn shift(files: &mut Files, from: &WsPath, to: &WsPath) {
    if let Some(held) = files.remove(from) {
        files.insert(to.clone(), held);
        return;
    }
    let moving: Vec<(WsPath, WsPath)> = below(files, from)
        .map(|(path, rest, _)| (path.clone(), rest.split('/').fold(to.clone(), |folder, name| folder.join(name))))
        .collect();
    for (old, new) in moving {
        if let Some(held) = files.remove(&old) {
            files.insert(new, held);
        }
    }
}

fn moved(from: &WsPath, to: &WsPath, version: Option<Version>) -> FsStep {
    FsStep { action: FsAction::Move, from: Some(from.as_str().to_owned()), ..step(to, version, version) }
}

fn step(path: &WsPath, before: Option<Version>, after: Option<Version>) -> FsStep {
    FsStep {
        action: if after.is_some() { FsAction::Write } else { FsAction::Delete },
        path: path.as_str().to_owned(),
        real: path.as_str().to_owned(),
        from: None,
        before: before.map(|version| version.to_string()),
        after: after.map(|version| version.to_string()),
        temp: None,
        kept: None,
    }
}

fn version(held: Option<&Held>) -> Option<Version> {
    held.map(|held| held.bytes.version())
}

fn marked(expect: Expect, now: Option<Version>) -> bool {
    match expect {
        Expect::Any => now.is_some(),
        Expect::Absent => false,
        Expect::Exactly(mark) => now == Some(mark),
    }
}

fn meets(expect: Expect, found: Option<&Held>) -> Result<(), FileErrorKind> {
    let holds = match expect {
        Expect::Any => true,
        Expect::Absent => found.is_none(),
        Expect::Exactly(wanted) => version(found) == Some(wanted),
    };
    if holds { Ok(()) } else { Err(FileErrorKind::Stale { now: version(found) }) }
}
