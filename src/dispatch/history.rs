//! What a caller has changed before, for the tool that takes it back.

use std::sync::Arc;

use crate::ledger::{Ledger, LedgerError};
use crate::model::error::ToolError;
use crate::model::id::ChangeId;
use crate::tool::view::{History, Inverse};

/// The changes of one caller.
pub(super) struct CallerHistory {
    ledger: Ledger,
    caller: Arc<str>,
    /// The act that asks, if one does: it goes back over its own changes one by one.
    within: Option<ChangeId>,
}

impl CallerHistory {
    /// Nothing where nothing is recorded.
    pub(super) fn of(ledger: &Ledger, caller: &Arc<str>, within: Option<ChangeId>) -> Option<Arc<dyn History>> {
        if ledger.is_none() {
            return None;
        }
        Some(Arc::new(CallerHistory { ledger: ledger.clone(), caller: Arc::clone(caller), within }))
    }

    fn newest(&self) -> Result<ChangeId, ToolError> {
        let newest = self.ledger.latest(Some(&*self.caller)).map_err(ToolError::from)?;
        newest.map(|record| record.as_one().filter(|group| Some(*group) != self.within).unwrap_or(record.change)).ok_or_else(|| {
            ToolError::bad_argument(
                "change",
                "there is nothing to undo: you have made no change here that is not undone already. To redo, name the undo",
            )
        })
    }
}

impl History for CallerHistory {
    fn inverse(&self, change: Option<&str>) -> Result<Inverse, ToolError> {
        let change = match change {
            Some(text) => text.parse().map_err(|fault| ToolError::bad_argument("change", fault))?,
            None => self.newest()?,
        };
        let inverse = self.ledger.inverse(change).map_err(|error: LedgerError| ToolError::from(error))?;
        Ok(Inverse { change, set: inverse.set, series: inverse.series })
    }
}
