//! Letting go of what is too old or too much: kept bytes, changes that could be undone with them, and session logs.

use std::io;
use std::time::SystemTime;

use cap_std::fs::Dir;

use crate::ledger::changes::is_gone;
use crate::ledger::error::LedgerError;
use crate::ledger::{Core, Ledger, Swept, store};
use crate::model::id::SessionId;

impl Ledger {
    /// Lets go of what is older than the retention, and of the oldest kept bytes until the rest is not too much. What
    /// an unfinished change needs stays, and so do the logs of sessions that run.
    ///
    /// # Errors
    /// The state folder cannot be used.
    pub fn sweep(&self) -> Result<Swept, LedgerError> {
        self.core().map_or(Ok(Swept::default()), |core| core.sweep())
    }

    /// Which kept bytes [`Ledger::sweep`] would let go of now. Nothing goes.
    ///
    /// # Errors
    /// The state folder cannot be used.
    pub fn foresee_sweep(&self) -> Result<Swept, LedgerError> {
        let Some(core) = self.core() else { return Ok(Swept::default()) };
        let now = store::system_time(core.world.now()).map_err(LedgerError::Blobs)?;
        let needed = core.changes.needed()?;
        core.blobs.sweep(&core.nodes, &needed, core.limits, now, true).map_err(LedgerError::Blobs)
    }
}

impl Core {
    fn sweep(&self) -> Result<Swept, LedgerError> {
        let now = store::system_time(self.world.now()).map_err(LedgerError::Blobs)?;
        let before = now.checked_sub(self.limits.older_than).unwrap_or(SystemTime::UNIX_EPOCH);
        let blobs =
            |needed: &_| self.blobs.sweep(&self.nodes, needed, self.limits, now, false).map_err(LedgerError::Blobs);
        let swept = self.changes.sweep(before, self.world.random(), blobs)?;
        if let Some(sessions) = &self.sessions {
            sweep_logs(sessions, before).map_err(LedgerError::Log)?;
        }
        Ok(swept)
    }
}

/// Removes the logs that were not written to since `before`, if their processes are gone.
fn sweep_logs(sessions: &Dir, before: SystemTime) -> io::Result<()> {
    for entry in sessions.entries()? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let Some(session) = name.strip_suffix(".jsonl") else { continue };
        // Another process may be sweeping, too.
        let Ok(modified) = entry.metadata().and_then(|metadata| metadata.modified()) else { continue };
        if modified.into_std() < before && is_gone(sessions, &SessionId::named(session))? {
            let _ = sessions.remove_file(&name);
        }
    }
    Ok(())
}
