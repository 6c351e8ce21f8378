//! Step 8 for what one set cannot say: changes that are made one after the other, all or none.
//!
//! Each is a change of its own, with all that guards one. The list of changes tells how many there are to be. If one cannot be
//! made, those before it are taken back; if the process ends in between, the next start does that
//! ([`Dispatcher::settle`]).

use std::io::{self, Read as _};

use crate::dispatch::Dispatcher;
use crate::dispatch::run::Run;
use crate::dispatch::run::ahead::{Ahead, Origin};
use crate::dispatch::run::files::CommitError;
use crate::ledger::{ChangeKind, ChangeRecord, LedgerError, Part, SeriesEnd, Stamp};
use crate::model::change::{Change, ChangeSet, Expect};
use crate::model::id::ChangeId;
use crate::model::path::WsPath;
use crate::model::version::{Version, VersionHasher};
use crate::tool::Intent;
use crate::workspace::{Depth, FileError, FileErrorKind};

impl Run<'_> {
    /// Makes all of `series`, or nothing of it. Gives the name under which it is undone.
    pub(super) fn commit_series(&self, series: &[(ChangeId, ChangeSet)]) -> Result<Option<ChangeId>, CommitError> {
        self.foresee(series).map_err(CommitError::File)?;
        let name = self.dispatcher.ledger.new_group();
        let of = u32::try_from(series.len()).unwrap_or(u32::MAX);
        let part = name.map(|series| Part { series, of });
        let mut ahead = Ahead::default();
        let mut made = Vec::new();
        for (undone, set) in series {
            let intent = Intent::Undo { change: *undone, series: Vec::new() };
            let as_it_is = self.as_it_is(set, &ahead);
            let as_it_is = as_it_is.as_ref().unwrap_or(set);
            match self.commit((as_it_is, as_it_is), &intent, part) {
                Ok(change) => made.push(change),
                Err(error) => return Err(self.take_back(part, error)),
            }
            set.iter().for_each(|change| ahead.add(change));
        }
        self.mark(series, &made);
        Ok(name)
    }

    /// `set`, where it lets go what the parts before have changed something in: as it is by now. Before them it was looked at.
    fn as_it_is(&self, set: &ChangeSet, ahead: &Ahead<'_>) -> Option<ChangeSet> {
        let meddled = |change: &Change| matches!(change, Change::Remove { path, .. } if ahead.meddles_with(path));
        if !set.iter().any(meddled) {
            return None;
        }
        let changes = set.iter().cloned().map(|change| match change {
            Change::Remove { path, kept, expect } if ahead.meddles_with(&path) => {
                let now = self.dispatcher.workspace.survey(&path, Depth::Marks);
                Change::Remove { expect: now.map_or(expect, |survey| Expect::Exactly(survey.mark)), path, kept }
            }
            other => other,
        });
        Some(ChangeSet::new(changes.collect()))
    }

    /// What has come back and was changed after that is known by what it is now, so that the whole series can be taken back.
    fn mark(&self, series: &[(ChangeId, ChangeSet)], made: &[Option<ChangeId>]) {
        for (at, ((_, set), change)) in series.iter().zip(made).enumerate() {
            let Some(change) = change else { continue };
            let later: Vec<&Change> = series[at..].iter().flat_map(|(_, set)| set).collect();
            let restored = set.iter().filter_map(|change| match change {
                Change::Restore { path, .. } => Some(path),
                _ => None,
            });
            for path in restored {
                let (now, changed) = Ahead::follow(path, &later);
                if let (true, Ok(survey)) = (changed, self.dispatcher.workspace.survey(&now, Depth::Marks)) {
                    self.dispatcher.ledger.mark(*change, path, survey.mark);
                }
            }
        }
    }

    /// Finds out what would fail in the middle, before anything is done: every path that the series comes upon as it is now
    /// must be as the changes have left it.
    fn foresee(&self, series: &[(ChangeId, ChangeSet)]) -> Result<(), FileError> {
        let mut ahead = Ahead::default();
        for change in series.iter().flat_map(|(_, set)| set) {
            match change {
                Change::Write { path, expect, .. } | Change::Delete { path, expect } => {
                    self.holds(&ahead, path, *expect)?;
                }
                Change::Move { from, to, expect } => {
                    self.holds(&ahead, from, *expect)?;
                    self.is_free(&ahead, to)?;
                }
                Change::Remove { path, expect, .. } => self.is_marked(&ahead, path, *expect)?,
                Change::Restore { path, .. } => self.is_free(&ahead, path)?,
                Change::MakeDir { .. } | Change::RemoveDir { .. } => {}
            }
            ahead.add(change);
        }
        Ok(())
    }

    fn holds(&self, ahead: &Ahead<'_>, path: &WsPath, expect: Expect) -> Result<(), FileError> {
        let Origin::Here(now) = ahead.origin(path) else { return Ok(()) };
        match expect {
            Expect::Absent => self.is_free(ahead, path),
            Expect::Exactly(version) => match self.version_at(&now) {
                Some(there) if there == version => Ok(()),
                there => Err(FileErrorKind::Stale { now: there }.at(&now)),
            },
            Expect::Any => match self.dispatcher.workspace.look(&now) {
                Ok(_) => Ok(()),
                Err(_) => Err(FileErrorKind::Stale { now: None }.at(&now)),
            },
        }
    }

    /// The version of a file itself; nothing where none can be read.
    fn version_at(&self, path: &WsPath) -> Option<Version> {
        let mut file = self.dispatcher.workspace.open(path).ok()?;
        let mut hasher = VersionHasher::default();
        let mut buffer = vec![0; 64 * 1024];
        loop {
            match file.content.read(&mut buffer) {
                Ok(0) => return Some(hasher.finish()),
                Ok(read) => hasher.update(&buffer[..read]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return None,
            }
        }
    }

    fn is_free(&self, ahead: &Ahead<'_>, path: &WsPath) -> Result<(), FileError> {
        match ahead.origin(path) {
            Origin::Here(now) if self.dispatcher.workspace.look(&now).is_ok() => {
                Err(FileErrorKind::Stale { now: None }.at(&now))
            }
            _ => Ok(()),
        }
    }

    fn is_marked(&self, ahead: &Ahead<'_>, path: &WsPath, expect: Expect) -> Result<(), FileError> {
        let (Origin::Here(now), Expect::Exactly(mark)) = (ahead.origin(path), expect) else { return Ok(()) };
        match self.dispatcher.workspace.survey(&now, Depth::Marks) {
            Ok(survey) if survey.mark == mark => Ok(()),
            _ => Err(FileErrorKind::Stale { now: None }.at(&now)),
        }
    }

    /// One part has failed with `error`: those that were made go.
    fn take_back(&self, part: Option<Part>, error: CommitError) -> CommitError {
        let Some(part) = part else { return error };
        let ledger = &self.dispatcher.ledger;
        let made = ledger.broken_series(part.series).map_err(CommitError::Ledger);
        let Err(failed) = made.and_then(|made| made.into_iter().try_for_each(|part| self.dispatcher.undo_part(part)))
        else {
            return error;
        };
        let path = match (&error, &failed) {
            (CommitError::File(FileError { path, .. }), _) | (_, CommitError::File(FileError { path, .. })) => {
                path.clone()
            }
            _ => WsPath::root(),
        };
        let told = format!(
            "not all of it could be done ({error}), and what was done could not be taken back ({failed}). Nothing is lost: \
             the next start takes it back"
        );
        CommitError::File(FileErrorKind::Unsettled(told).at(&path))
    }
}

impl Dispatcher {
    /// Takes back what processes that are gone have left of series that they did not bring to an end. To be called once
    /// single changes have been recovered ([`Ledger::recover`](crate::ledger::Ledger::recover)), and before any call.
    ///
    /// # Errors
    /// The list of changes cannot be used.
    pub fn settle(&self) -> Result<(), LedgerError> {
        self.ledger.settle_series(&mut |series, made| match self.undo_parts(made) {
            Ok(()) => {
                tracing::warn!(%series, "an undo that was interrupted has been taken back");
                SeriesEnd::TakenBack
            }
            Err(error) if error.may_pass() => {
                tracing::warn!(%series, %error, "an undo that was interrupted is taken back with the next start");
                SeriesEnd::Open
            }
            Err(error) => {
                tracing::warn!(%series, %error, "an undo that was interrupted stays half done; each of its changes can be undone");
                SeriesEnd::Left
            }
        })
    }

    /// Takes back parts of a series, the newest first.
    fn undo_parts(&self, made: Vec<ChangeRecord>) -> Result<(), CommitError> {
        let steps = made.iter().flat_map(|record| &record.steps);
        let paths = steps.flat_map(|step| [Some(step.step.real.as_str()), step.step.from.as_deref()]).flatten();
        let real: Vec<_> = paths.filter_map(|path| WsPath::parse(path).ok()).collect();
        let _exclusive = self.ledger.exclusively(real.iter()).map_err(CommitError::Ledger)?;
        made.into_iter().try_for_each(|record| self.undo_part(record))
    }

    /// Takes back a part whose files are the caller's alone.
    fn undo_part(&self, record: ChangeRecord) -> Result<(), CommitError> {
        let inverse = self.ledger.inverse(record.change).map_err(CommitError::Ledger)?;
        let stamp = Stamp { call: record.call, caller: record.caller.as_str().into() };
        let mut change = self.ledger.begin(&stamp, &record.tool, ChangeKind::Undo(record.change));
        if let Some(group) = record.group {
            change = change.in_group(group);
        }
        if let Some(part) = record.part {
            change = change.as_part(part);
        }
        if let Err(error) = self.workspace.commit(&inverse.set, &change) {
            if matches!(error.kind, FileErrorKind::Unsettled(_)) {
                change.leave();
            }
            return Err(CommitError::File(error));
        }
        let _ = change.done();
        Ok(())
    }
}
