//! Changes that are made one after the other, all or none: what is left of those that did not come to their end.

use crate::ledger::Ledger;
use crate::ledger::changes::record::{ChangeRecord, Entry};
use crate::ledger::changes::{Place, is_gone};
use crate::ledger::error::LedgerError;
use crate::ledger::store::{self, Lock};
use crate::model::id::ChangeId;
use crate::model::path::WsPath;
use crate::model::version::Version;

/// What became of a series that had not come to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeriesEnd {
    /// Nothing of it stands any more.
    TakenBack,
    /// It is to be tried again.
    Open,
    /// It cannot be taken back, and stays as it is.
    Left,
}

impl Ledger {
    /// What stands of a series that has not come to its end, newest first.
    ///
    /// # Errors
    /// The list cannot be read.
    pub fn broken_series(&self, name: ChangeId) -> Result<Vec<ChangeRecord>, LedgerError> {
        let Some(core) = self.core() else { return Ok(Vec::new()) };
        core.changes.look(|list| {
            let broken = list.broken().find(|(series, _)| *series == name);
            broken.map(|(_, made)| made.into_iter().cloned().collect()).unwrap_or_default()
        })
    }

    /// What `change` has brought back to `path` was changed besides, by what belongs together with it: it is told by `mark`
    /// now.
    pub fn mark(&self, change: ChangeId, path: &WsPath, mark: Version) {
        let Some(core) = self.core() else { return };
        core.changes.settle(&Entry::Marked { change, path: path.as_str().to_owned(), mark: mark.to_string() });
    }

    /// Lets `settle` take back what stands of each series that a process which is gone has not brought to its end.
    ///
    /// # Errors
    /// The list cannot be used.
    pub fn settle_series(
        &self,
        settle: &mut dyn FnMut(ChangeId, Vec<ChangeRecord>) -> SeriesEnd,
    ) -> Result<(), LedgerError> {
        let Some(core) = self.core() else { return Ok(()) };
        let Place::Disk { state, .. } = &core.changes.place else { return Ok(()) };
        let broken = || core.changes.look(|list| list.broken().map(|(series, _)| series).collect::<Vec<_>>());
        if broken()?.is_empty() {
            return Ok(());
        }
        let lock = Lock::open(state, "recover.lock").map_err(LedgerError::Changes)?;
        let _held = lock.hold().map_err(LedgerError::Changes)?;
        let sessions = store::folder(state, "sessions").map_err(LedgerError::Changes)?;
        for series in broken()? {
            let made = self.broken_series(series)?;
            let mut over = !made.is_empty();
            for record in &made {
                over &= record.session != core.session
                    && is_gone(&sessions, &record.session).map_err(LedgerError::Changes)?;
            }
            if over && settle(series, made) == SeriesEnd::Left {
                core.changes.settle(&Entry::Left { series });
            }
        }
        Ok(())
    }
}
