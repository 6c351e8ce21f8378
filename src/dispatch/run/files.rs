//! Steps 6 and 8: whether a plan's changes may be made, and making them.

use std::sync::PoisonError;

use crate::dispatch::Dispatcher;
use crate::dispatch::run::ahead::{Ahead, Origin};
use crate::dispatch::run::{Admitted, Run};
use crate::gate::{CallFacts, Verdict, intent};
use crate::ledger::seen::{Coverage, Edited, Replaced};
use crate::ledger::{ChangeKind, Exclusive, LedgerError, Part};
use crate::model::change::{Change, ChangeSet, Expect};
use crate::model::error::{ErrorCode, ToolError};
use crate::model::id::ChangeId;
use crate::model::path::WsPath;
use crate::model::version::Version;
use crate::text::{encoding, splice};
use crate::tool::Intent;
use crate::workspace::{Depth, FileError, FileErrorKind, Identity, Kind};

impl Run<'_> {
    /// Step 6: rules on the paths that really change, and whether the caller knows what it replaces.
    pub(super) fn file_gate(&self, admitted: &Admitted, set: &ChangeSet, intent: &Intent) -> Result<Gated, ToolError> {
        let facts = CallFacts { paths: self.touched(set), changes: true, ..admitted.facts.clone() };
        let mut verdict = admitted.verdict.clone().and(self.policy.rules.judge(&facts));
        let mut marked = None;
        if !matches!(verdict, Verdict::Deny(_)) {
            let inside = self.inside(&facts, set)?;
            verdict = verdict.and(inside.verdict);
            marked = inside.marked;
        }
        if let Verdict::Deny(ground) = verdict {
            return Err(ground.refusal());
        }
        let mut notes = Vec::new();
        if !self.dispatcher.ledger.is_none() {
            for change in set {
                if let Change::Write { path, expect: Expect::Exactly(now), .. } = change {
                    let coverage = self.coverage(path, *now);
                    notes.extend(intent::check(path, *now, intent, &coverage)?.map(str::to_owned));
                }
            }
        }
        Ok(Gated { verdict, notes, set: marked.unwrap_or_else(|| set.clone()) })
    }

    /// Every path that the steps of a set name.
    fn touched(&self, set: &ChangeSet) -> Vec<String> {
        let spellings = |change: &Change| match change {
            Change::Move { .. } | Change::Remove { .. } | Change::Restore { .. } => self.own_places(change),
            _ => self.real_spellings(change.path()),
        };
        set.iter().flat_map(spellings).collect()
    }

    /// What rules say about all that is in the folders that a set moves, removes or brings back. What moves is marked, so
    /// that it holds for what is in it then.
    fn inside(&self, facts: &CallFacts, set: &ChangeSet) -> Result<Inside, ToolError> {
        let rules = &self.policy.rules;
        let mut inside = Inside { verdict: Verdict::Allow, marked: None };
        let mut ahead = Ahead::default();
        for (at, change) in set.iter().enumerate() {
            let before = ahead.clone();
            ahead.add(change);
            let found = match change {
                Change::Move { from: path, .. } | Change::Remove { path, .. } => Ok(path),
                Change::Restore { kept, .. } => Err(*kept),
                _ => continue,
            };
            let places = self.own_places(change);
            if !places.iter().any(|place| rules.concern_inside(facts, place)) {
                continue;
            }
            let survey = match found {
                Ok(path) => match before.origin(path) {
                    Origin::Here(now) => self.view.survey(&now, Depth::Names)?,
                    // What a step before makes was judged there.
                    Origin::Planned(_) => continue,
                },
                Err(kept) => match self.dispatcher.ledger.kept_names(kept).map_err(ToolError::from)? {
                    Some(survey) => survey,
                    // Then it cannot come back either, and the commit will say so.
                    None => continue,
                },
            };
            for place in &places {
                let below = survey.below.iter().map(|entry| entry.path.as_str());
                inside.verdict = inside.verdict.and(rules.judge_inside(facts, place, below));
            }
            // In the middle of a set there may be other names in it by then.
            let as_it_is =
                |from: &WsPath| before.origin(from) == Origin::Here(from.clone()) && !before.meddles_with(from);
            if let (Change::Move { from, to, expect: Expect::Any }, Kind::Dir) = (change, survey.kind)
                && as_it_is(from)
            {
                let (from, to) = (from.clone(), to.clone());
                let marked = Change::Move { from, to, expect: Expect::Exactly(survey.mark) };
                inside.marked = Some(inside.marked.as_ref().unwrap_or(set).with(at, marked));
            }
        }
        Ok(inside)
    }

    /// The places of something that changes whole, however they are written.
    fn own_places(&self, change: &Change) -> Vec<String> {
        let mut places: Vec<_> = change.paths().flat_map(|path| self.own_spellings(path)).collect();
        places.sort_unstable();
        places.dedup();
        places
    }

    /// How a path is written and where the links on the way lead: one at its end is not followed.
    pub(super) fn own_spellings(&self, path: &WsPath) -> Vec<String> {
        let there = self.view.spelled(path.clone());
        let mut spellings = vec![path.to_string(), there.to_string(), self.own_real(&there).to_string()];
        spellings.dedup();
        spellings
    }

    /// The error of a plan, with what its caller should know of the file before it follows the advice.
    pub(super) fn with_what_is_unread(&self, error: ToolError) -> ToolError {
        let path =
            error.details.get("path").and_then(serde_json::Value::as_str).and_then(|path| WsPath::parse(path).ok());
        // After other patches of the same file its lines are no longer those that were read.
        let is_first = error.details.get("patch").is_none_or(|at| *at == 0);
        let Some(path) = path.filter(|_| error.code == ErrorCode::AmbiguousMatch && is_first) else { return error };
        let Ok(now) = self.view.read_whole(&path) else { return error };
        let coverage = self.coverage(&path, now.version());
        intent::with_unread(error, &coverage)
    }

    /// What of a file was seen by whatever name: it is noted where links lead.
    fn coverage(&self, path: &WsPath, now: Version) -> Coverage {
        let real = self.real(path);
        self.dispatcher.ledger.seen().coverage(&self.stamp.caller, &real, self.identity(&real), Some(now))
    }

    /// Keeps the files of `set` from other processes, so that a plan made now holds against all but other programs.
    pub(super) fn exclusively(&self, set: &ChangeSet) -> Option<Exclusive> {
        // Where that fails, the commit will fail as well, and say why.
        self.dispatcher.ledger.exclusively(self.all_real(set).iter()).ok()
    }

    /// Where the links on the way to the files of `set` lead.
    pub(super) fn all_real(&self, set: &ChangeSet) -> Vec<WsPath> {
        set.iter().flat_map(Change::paths).map(|path| self.real(path)).collect()
    }

    /// Where the links on the way to what a change is about lead: of a move, to what moves.
    fn first_real(&self, change: &Change) -> WsPath {
        match change {
            Change::Move { from: path, .. } | Change::Remove { path, .. } | Change::Restore { path, .. } => {
                self.own_real(path)
            }
            _ => self.real(change.path()),
        }
    }

    /// The same for a path whose end is not followed if it is a link.
    fn own_real(&self, path: &WsPath) -> WsPath {
        path.parent().map_or_else(|| path.clone(), |folder| self.real(&folder).join(path.name()))
    }

    /// Step 8: the only place from which files change. The intent is in the log before they do. `judged` is
    /// `set` as the gate let it through; `held` may be the right to these files, if they were planned under it.
    pub(super) fn perform(
        &self,
        set: &ChangeSet,
        judged: &ChangeSet,
        intent: &Intent,
        held: Option<Exclusive>,
    ) -> Result<Option<ChangeId>, CommitError> {
        let Dispatcher { closed, ledger, .. } = self.dispatcher;
        let closed = closed.read().unwrap_or_else(PoisonError::into_inner);
        if *closed {
            return Err(CommitError::Closed);
        }
        ledger.prepare().map_err(CommitError::Ledger)?;
        let all = self.all_real(set);
        let _exclusive = match held.filter(|held| held.covers(all.iter())) {
            Some(held) => held,
            None => ledger.exclusively(all.iter()).map_err(CommitError::Ledger)?,
        };
        match intent {
            Intent::Undo { series, .. } if !series.is_empty() => self.commit_series(series),
            _ => self.commit((set, judged), intent, None),
        }
    }

    /// Makes one change, whose files are this call's alone: a set, and the same as the gate let it through.
    pub(super) fn commit(
        &self,
        (set, judged): (&ChangeSet, &ChangeSet),
        intent: &Intent,
        part: Option<Part>,
    ) -> Result<Option<ChangeId>, CommitError> {
        let Dispatcher { ledger, workspace, .. } = self.dispatcher;
        let kind = match intent {
            Intent::Write => ChangeKind::Write,
            Intent::Edit { .. } => ChangeKind::Edit,
            Intent::Undo { change, .. } => ChangeKind::Undo(*change),
        };
        let real: Vec<_> = set.iter().map(|change| self.first_real(change)).collect();
        let before: Vec<_> = real.iter().map(|path| self.identity(path)).collect();
        let mut change = ledger.begin(&self.stamp, self.tool.spec().name, kind);
        if let Some(group) = self.control.within.as_ref().and_then(|within| within.group) {
            change = change.in_group(group.to_string());
        }
        if let Some(part) = part {
            change = change.as_part(part);
        }
        if let Err(error) = workspace.commit(judged, &change) {
            if matches!(error.kind, FileErrorKind::Unsettled(_)) {
                // Not as if it had not happened: what is left of it is to be looked at.
                change.leave();
            }
            return Err(CommitError::File(error));
        }
        let id = change.done();
        self.remember(set, intent, &real, &before);
        if let Some(observer) = &self.dispatcher.observer {
            observer.changed(set);
        }
        Ok(id)
    }

    fn identity(&self, path: &WsPath) -> Option<Identity> {
        if self.dispatcher.ledger.is_none() {
            return None;
        }
        self.view.stat(path).ok().and_then(|stat| stat.identity)
    }

    /// What the caller has written, it has seen. `real` are the files of `set`, and what they were `before`.
    fn remember(&self, set: &ChangeSet, intent: &Intent, real: &[WsPath], before: &[Option<Identity>]) {
        let seen = self.dispatcher.ledger.seen();
        let caller = &*self.stamp.caller;
        for ((change, path), identity_before) in set.iter().zip(real).zip(before) {
            match (change, intent) {
                (Change::Write { expect: Expect::Exactly(before), content, .. }, Intent::Edit { .. }) => {
                    let edited = Edited {
                        identity_before: *identity_before,
                        before: *before,
                        identity: self.identity(path),
                        after: content.version(),
                    };
                    seen.edited(caller, path, &edited, || self.replaced(*before, content));
                }
                (Change::Write { content, .. }, Intent::Write) => {
                    seen.wrote(caller, path, self.identity(path), content.version());
                }
                (Change::Move { to, expect, .. }, _) => {
                    let version = match expect {
                        Expect::Exactly(version) => Some(*version),
                        Expect::Absent | Expect::Any => None,
                    };
                    seen.moved(caller, path, &self.own_real(to), *identity_before, version);
                }
                (Change::Write { .. } | Change::Delete { .. } | Change::Remove { .. } | Change::Restore { .. }, _) => {
                    seen.removed(caller, path)
                }
                _ => {}
            }
        }
    }

    /// What has changed from the version `before`, which is kept, to `after`.
    fn replaced(&self, before: Version, after: &[u8]) -> Option<Replaced> {
        let old = self.dispatcher.ledger.blob(before).ok()??;
        lines_replaced(&old, after)
    }
}

/// Which lines of the text `old` became which of `new`.
fn lines_replaced(old: &[u8], new: &[u8]) -> Option<Replaced> {
    let (old, new) = (encoding::decode(old).ok()?.text, encoding::decode(new).ok()?.text);
    let apart = splice::lines_apart(old.as_bytes(), new.as_bytes());
    Some(Replaced { first: apart.before as u64 + 1, removed: apart.removed as u64, added: apart.added as u64 })
}

/// What the file gate lets through, or wants a person to decide about.
pub(super) struct Gated {
    pub(super) verdict: Verdict,
    pub(super) notes: Vec<String>,
    /// The set that was judged: it holds only for what was there to be judged.
    pub(super) set: ChangeSet,
}

/// What rules say of all that is in folders.
struct Inside {
    verdict: Verdict,
    marked: Option<ChangeSet>,
}

/// Why a change was not made.
#[derive(Debug)]
pub(in crate::dispatch) enum CommitError {
    Closed,
    File(FileError),
    Ledger(LedgerError),
}

impl std::fmt::Display for CommitError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CommitError::Closed => f.write_str("the server is shutting down"),
            CommitError::File(error) => error.fmt(f),
            CommitError::Ledger(error) => error.fmt(f),
        }
    }
}

impl CommitError {
    /// Whether the same may succeed another time, with nothing but room or a right that was missing.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            CommitError::Closed => true,
            CommitError::File(error) => matches!(
                error.kind,
                FileErrorKind::NoSpace
                    | FileErrorKind::Io(_)
                    | FileErrorKind::PermissionDenied
                    | FileErrorKind::ClosedFolder(_)
            ),
            CommitError::Ledger(error) => {
                matches!(error, LedgerError::Log(_) | LedgerError::Changes(_) | LedgerError::Blobs(_))
            }
        }
    }

    /// Whether the workspace is not what the plan rests on.
    pub(super) fn is_stale(&self) -> bool {
        matches!(self, CommitError::File(FileError { kind: FileErrorKind::Stale { .. }, .. }))
    }

    /// What the model is told about the failure of `set`.
    pub(super) fn of(self, set: &ChangeSet) -> ToolError {
        match self {
            CommitError::Closed => {
                ToolError::new(ErrorCode::Cancelled, "The server is shutting down. Nothing was changed.")
            }
            CommitError::File(FileError { path, kind: FileErrorKind::Stale { now: Some(_) } })
                if creates(set, &path) =>
            {
                FileErrorKind::AlreadyExists.at(&path).into()
            }
            // A link may lead into a folder that is missing, or the folder has gone meanwhile.
            CommitError::File(FileError { path, kind: FileErrorKind::NotFound })
                if set.iter().flat_map(Change::paths).all(|there| *there != path) =>
            {
                ToolError::new(
                    ErrorCode::FileNotFound,
                    format!(
                        "The folder {path} is not there, and nothing was changed. Make it with make_dir, then call again."
                    ),
                )
                .with("path", path.to_string())
            }
            CommitError::File(error) => error.into(),
            CommitError::Ledger(error) => error.into(),
        }
    }
}

/// Whether `set` wants nothing to be at `path`.
fn creates(set: &ChangeSet, path: &WsPath) -> bool {
    set.iter()
        .any(|change| matches!(change, Change::Write { path: there, expect: Expect::Absent, .. } if there == path))
}
