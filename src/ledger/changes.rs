//! The list of changes of a workspace, shared by all processes that change it, and how each is taken back.

mod inverse;
mod inverse_of_all;
mod list;
mod open;
mod record;
mod recover;
mod series;

use std::io;
use std::sync::Mutex;
use std::time::SystemTime;

use cap_std::fs::Dir;

use crate::ledger::blobs::Swept;
pub use crate::ledger::changes::inverse::Inverse;
pub(super) use crate::ledger::changes::inverse::inverse;
pub(super) use crate::ledger::changes::inverse_of_all::inverse_of_all;
use crate::ledger::changes::list::List;
pub(super) use crate::ledger::changes::list::Needed;
pub use crate::ledger::changes::open::OpenChange;
use crate::ledger::changes::record::Entry;
pub use crate::ledger::changes::record::{ChangeKind, ChangeRecord, ChangedStep, Filter, Part, Status};
pub(super) use crate::ledger::changes::recover::{Alive, is_gone, recover};
pub use crate::ledger::changes::series::SeriesEnd;
use crate::ledger::error::LedgerError;
use crate::ledger::store::{self, Lock, hold};
use crate::model::id::ChangeId;

const FILE: &str = "changes.jsonl";

/// The list, and where it is written.
#[derive(Debug)]
pub(super) struct Changes {
    place: Place,
    /// As far as it was read.
    list: Mutex<List>,
    /// Lines that could not be written yet: the changes that they tell of have ended all the same.
    owed: Mutex<Vec<u8>>,
}

#[derive(Debug)]
enum Place {
    Disk { state: Dir, lock: Lock, durable: bool },
    Memory,
}

impl Changes {
    pub(super) fn on_disk(state: Dir, durable: bool) -> io::Result<Self> {
        let lock = Lock::open(&state, "changes.lock")?;
        Ok(Changes { place: Place::Disk { state, lock, durable }, list: Mutex::default(), owed: Mutex::default() })
    }

    pub(super) fn in_memory() -> Self {
        Changes { place: Place::Memory, list: Mutex::default(), owed: Mutex::default() }
    }

    /// Writes an entry that must be there before anything else happens.
    fn write(&self, entry: &Entry) -> Result<(), LedgerError> {
        self.append(entry, true).map_err(LedgerError::Changes)
    }

    /// Writes how a change has ended. If that fails it is written with the next entry; should there be none, the next
    /// start finds out by looking at the files.
    fn settle(&self, entry: &Entry) {
        if let Err(error) = self.append(entry, false) {
            tracing::warn!(%error, "the end of a change is not written down yet");
            if let Ok(line) = line_of(entry) {
                hold(&self.owed).extend(line);
            }
        }
    }

    fn append(&self, entry: &Entry, durable: bool) -> io::Result<()> {
        match &self.place {
            Place::Memory => hold(&self.list).take(entry.clone()),
            Place::Disk { state, lock, durable: can } => {
                let line = line_of(entry)?;
                let _held = lock.hold()?;
                let mut owed = hold(&self.owed);
                let lines = [owed.as_slice(), &line].concat();
                store::append_lines(state, FILE, &lines, durable && *can)?;
                owed.clear();
            }
        }
        Ok(())
    }

    /// Whether the list can be written; what is owed is paid.
    pub(super) fn ready(&self) -> Result<(), LedgerError> {
        let Place::Disk { state, lock, .. } = &self.place else { return Ok(()) };
        if hold(&self.owed).is_empty() {
            return Ok(());
        }
        let _held = lock.hold().map_err(LedgerError::Changes)?;
        let mut owed = hold(&self.owed);
        store::append_lines(state, FILE, &owed, false).map_err(LedgerError::Changes)?;
        owed.clear();
        Ok(())
    }

    /// Looks at the list as it is now, with what other processes have added.
    fn look<T>(&self, at: impl FnOnce(&List) -> T) -> Result<T, LedgerError> {
        let mut list = hold(&self.list);
        if let Place::Disk { state, .. } = &self.place {
            list.read_on(state, FILE).map_err(LedgerError::Changes)?;
        }
        Ok(at(&list))
    }

    /// Those that `filter` takes, newest first.
    pub(super) fn list(&self, filter: &Filter) -> Result<Vec<ChangeRecord>, LedgerError> {
        self.look(|list| list.newest_first().filter(|record| filter.takes(record)).cloned().collect())
    }

    /// Lets go of records that were begun before `before` and have ended, and lets `blobs` let go of bytes, all but
    /// those that it is given. Nobody begins a change meanwhile.
    pub(super) fn sweep(
        &self,
        before: SystemTime,
        random: u128,
        blobs: impl FnOnce(&Needed) -> Result<Swept, LedgerError>,
    ) -> Result<Swept, LedgerError> {
        let Place::Disk { state, lock, durable } = &self.place else { return blobs(&Needed::default()) };
        let _held = lock.hold().map_err(LedgerError::Changes)?;
        let (needed, left) = self.look(|list| (list.needed(), list.since(before)))?;
        if let Some(entries) = left {
            let lines = entries.iter().map(line_of).collect::<io::Result<Vec<_>>>();
            let written = lines.and_then(|lines| store::replace(state, FILE, &lines.concat(), random, *durable));
            written.map_err(LedgerError::Changes)?;
        }
        blobs(&needed)
    }

    /// What changes that have not ended may need.
    pub(super) fn needed(&self) -> Result<Needed, LedgerError> {
        self.look(List::needed)
    }

    /// The change of that name, or the changes of the group of that name, newest first.
    pub(super) fn named(&self, name: ChangeId) -> Result<Vec<ChangeRecord>, LedgerError> {
        let records = self.look(|list| match list.get(name) {
            Some(record) => vec![record.clone()],
            None => list.group(name).rev().cloned().collect(),
        })?;
        if records.is_empty() { Err(LedgerError::NoSuchChange(name)) } else { Ok(records) }
    }

    pub(super) fn get(&self, change: ChangeId) -> Result<ChangeRecord, LedgerError> {
        self.look(|list| list.get(change).cloned())?.ok_or(LedgerError::NoSuchChange(change))
    }

    /// The change that an undo without a name takes back: the newest that stands and is not an undo itself. So a second
    /// undo takes back the one before, and a change whose undo was undone is next again.
    pub(super) fn latest(&self, caller: Option<&str>) -> Result<Option<ChangeRecord>, LedgerError> {
        let of = |record: &&ChangeRecord| caller.is_none_or(|caller| caller == record.caller);
        let next = |record: &&ChangeRecord| record.stands() && record.undoes().is_none();
        self.look(|list| list.newest_first().filter(of).find(next).cloned())
    }
}

fn line_of(entry: &Entry) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(entry)?;
    line.push(b'\n');
    Ok(line)
}
