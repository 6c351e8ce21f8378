//! Steps 6 and 8: whether a plan's changes may be made, and making them.

use std::sync::PoisonError;

use crate::dispatch::Dispatcher;
use crate::dispatch::run::{Admitted, Run};
use crate::gate::{CallFacts, Verdict, intent};
use crate::ledger::seen::{Coverage, Edited, Position};
use crate::ledger::{ChangeKind, LedgerError};
use crate::model::change::{Change, ChangeSet, Expect};
use crate::model::error::{ErrorCode, ToolError};
use crate::model::id::ChangeId;
use crate::model::path::WsPath;
use crate::model::version::Version;
use crate::tool::Intent;
use crate::workspace::{FileError, FileErrorKind, Identity};

impl Run<'_> {
    /// Step 6: rules on the paths that really change, and whether the caller knows what it replaces.
    pub(super) fn file_gate(
        &self,
        admitted: &Admitted,
        set: &ChangeSet,
        intent: &Intent,
    ) -> Result<(Verdict, Vec<String>), ToolError> {
        let paths = set.iter().flat_map(|change| self.real_spellings(change.path())).collect();
        let facts = CallFacts { paths, changes: true, ..admitted.facts.clone() };
        let verdict = admitted.verdict.clone().and(self.dispatcher.policy.rules.judge(&facts));
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
        Ok((verdict, notes))
    }

    fn coverage(&self, path: &WsPath, now: Version) -> Coverage {
        let identity = self.view.stat(path).ok().and_then(|stat| stat.identity);
        self.dispatcher.ledger.seen().coverage(&self.stamp.caller, path, identity, Some(now))
    }

    /// Step 8: the only place from which files change. The intent is in the log before they do.
    pub(super) fn perform(&self, set: &ChangeSet, intent: &Intent) -> Result<Option<ChangeId>, CommitError> {
        let Dispatcher { closed, ledger, workspace, .. } = self.dispatcher;
        let closed = closed.read().unwrap_or_else(PoisonError::into_inner);
        if *closed {
            return Err(CommitError::Closed);
        }
        let kind = match intent {
            Intent::Write => ChangeKind::Write,
            Intent::Edit { .. } => ChangeKind::Edit,
            Intent::Undo { change } => ChangeKind::Undo(*change),
        };
        ledger.ready().map_err(CommitError::Ledger)?;
        let real: Vec<_> = set.iter().map(|change| workspace.real(change.path())).collect();
        let _exclusive = ledger.exclusively(real.iter()).map_err(CommitError::Ledger)?;
        let before = self.identities(set);
        let change = ledger.begin(&self.stamp, self.tool.spec().name, kind);
        workspace.commit(set, &change).map_err(CommitError::File)?;
        let id = change.done();
        self.remember(set, intent, &before);
        Ok(id)
    }

    fn identities(&self, set: &ChangeSet) -> Vec<Option<Identity>> {
        set.iter().map(|change| self.identity(change.path())).collect()
    }

    fn identity(&self, path: &WsPath) -> Option<Identity> {
        if self.dispatcher.ledger.is_none() {
            return None;
        }
        self.view.stat(path).ok().and_then(|stat| stat.identity)
    }

    /// What the caller has written, it has seen.
    fn remember(&self, set: &ChangeSet, intent: &Intent, before: &[Option<Identity>]) {
        let seen = self.dispatcher.ledger.seen();
        let caller = &*self.stamp.caller;
        for (change, identity_before) in set.iter().zip(before) {
            match (change, intent) {
                (Change::Write { path, expect: Expect::Exactly(before), content }, Intent::Edit { places }) => {
                    let first = places.iter().filter(|edited| edited.path == *path).map(|edited| edited.first).min();
                    let first = Position { line: first.unwrap_or(1), offset: 0 };
                    let edited = Edited {
                        identity_before: *identity_before,
                        before: *before,
                        identity: self.identity(path),
                        after: Version::of(content),
                        first,
                    };
                    seen.edited(caller, path, &edited);
                }
                (Change::Write { path, content, .. }, Intent::Write) => {
                    seen.wrote(caller, path, self.identity(path), Version::of(content));
                }
                (Change::Write { path, .. } | Change::Delete { path, .. }, _) => seen.removed(caller, path),
                _ => {}
            }
        }
    }
}

/// Why a change was not made.
pub(super) enum CommitError {
    Closed,
    File(FileError),
    Ledger(LedgerError),
}

impl CommitError {
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
