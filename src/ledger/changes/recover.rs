//! What a crash has left open is found at the next start, and ended.

use std::fs::{File, TryLockError};
use std::io;
use std::sync::Arc;

use cap_std::fs::Dir;

use crate::ledger::changes::Place;
use crate::ledger::changes::open::OpenChange;
use crate::ledger::changes::record::{ChangeRecord, Status};
use crate::ledger::error::LedgerError;
use crate::ledger::store::{self, Lock};
use crate::ledger::{Core, Finish};
use crate::model::event::FsStep;
use crate::model::id::{ChangeId, SessionId};
use crate::workspace::Recovered;

/// The sign that a session's process runs: a file that it holds locked, whatever becomes of it.
#[derive(Debug)]
pub(in crate::ledger) struct Alive {
    sessions: Dir,
    name: String,
    _locked: File,
}

impl Alive {
    /// Says that `session` runs; nothing if there is another one of that name.
    pub(in crate::ledger) fn begin(sessions: Dir, session: &SessionId) -> io::Result<Option<Self>> {
        let name = sign(session);
        let unseen = format!(".{name}");
        let file = match store::fresh(&sessions, &unseen) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
            made => made?,
        };
        if sessions.try_exists(&name)? || sessions.try_exists(format!("{}.jsonl", session.as_str()))? {
            sessions.remove_file(&unseen)?;
            return Ok(None);
        }
        file.lock()?;
        // Only now can others see it, locked.
        sessions.rename(&unseen, &sessions, &name)?;
        Ok(Some(Alive { sessions, name, _locked: file }))
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        // One that is left over is found unlocked, and cleared away.
        let _ = self.sessions.remove_file(&self.name);
    }
}

fn sign(session: &SessionId) -> String {
    format!("{}.alive", session.as_str())
}

/// Whether the process of `session` is gone.
pub(in crate::ledger) fn is_gone(sessions: &Dir, session: &SessionId) -> io::Result<bool> {
    let Some(file) = store::existing(sessions, &sign(session))? else { return Ok(true) };
    match file.try_lock() {
        Ok(()) => {
            // Nothing is lost if it stays.
            let _ = sessions.remove_file(sign(session));
            Ok(true)
        }
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Gives every change that a process left open, and is gone, to `finish`, oldest first, and writes down what it says.
pub(in crate::ledger) fn recover(
    core: &Arc<Core>,
    finish: Finish<'_>,
) -> Result<Vec<(ChangeId, Recovered)>, LedgerError> {
    let Place::Disk { state, .. } = &core.changes.place else { return Ok(Vec::new()) };
    // One process at a time looks after the dead. Others may go on changing files meanwhile.
    let lock = Lock::open(state, "recover.lock").map_err(LedgerError::Changes)?;
    let _held = lock.hold().map_err(LedgerError::Changes)?;
    let sessions = store::folder(state, "sessions").map_err(LedgerError::Changes)?;
    let open: Vec<ChangeRecord> = core.changes.look(|list| list.unfinished().cloned().collect())?;
    let mut recovered = Vec::new();
    for record in open {
        if record.session == core.session || !is_gone(&sessions, &record.session).map_err(LedgerError::Changes)? {
            continue;
        }
        // It may have ended its change between the two looks.
        if core.changes.get(record.change)?.status != Status::Intent {
            continue;
        }
        let steps: Vec<FsStep> = record.steps.iter().map(|step| step.step.clone()).collect();
        let id = record.change;
        let change = OpenChange::resume(core, record);
        match finish(&steps, &change) {
            Ok(Recovered::Done) => {
                let _ = change.done();
                recovered.push((id, Recovered::Done));
            }
            Ok(Recovered::Void) => {
                drop(change);
                recovered.push((id, Recovered::Void));
            }
            Err(error) => {
                tracing::warn!(%error, change = %id, "a change that a crash left open will be looked at again");
                change.leave();
            }
        }
    }
    Ok(recovered)
}
