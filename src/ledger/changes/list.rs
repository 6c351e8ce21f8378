//! The list of changes as it is read: entries put together to records, and who has undone what.

use std::collections::HashMap;
use std::io::{self, Read, Seek, SeekFrom};

use cap_std::fs::Dir;

use crate::ledger::changes::record::{ChangeRecord, Entry, Kept, Status};
use crate::ledger::store;
use crate::model::id::ChangeId;

/// The records in the order in which they were begun.
#[derive(Debug, Default)]
pub(super) struct List {
    records: Vec<ChangeRecord>,
    places: HashMap<ChangeId, usize>,
    /// How many bytes of the file were read.
    read: u64,
}

impl List {
    /// Reads what was added to the file since. A line that a crash cut off is read past.
    pub(super) fn read_on(&mut self, state: &Dir, name: &str) -> io::Result<()> {
        let Some(mut file) = store::existing(state, name)? else {
            *self = List::default();
            return Ok(());
        };
        let length = file.metadata()?.len();
        if length < self.read {
            // It was made anew, shorter.
            *self = List::default();
        }
        if length == self.read {
            return Ok(());
        }
        file.seek(SeekFrom::Start(self.read))?;
        let mut added = Vec::new();
        file.read_to_end(&mut added)?;
        // A line without its end is still being written.
        let whole = memchr::memrchr(b'\n', &added).map_or(0, |end| end + 1);
        for line in added[..whole].split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
            match serde_json::from_slice(line) {
                Ok(entry) => self.take(entry),
                Err(error) => tracing::debug!(%error, "a line of the list of changes is read past"),
            }
        }
        self.read += whole as u64;
        Ok(())
    }

    pub(super) fn take(&mut self, entry: Entry) {
        match entry {
            Entry::Intent(record) => self.begin(record),
            Entry::Done { change, kept } => self.end(change, Status::Done, &kept),
            Entry::Void { change } => self.end(change, Status::Void, &[]),
        }
    }

    fn begin(&mut self, record: ChangeRecord) {
        match self.places.get(&record.change) {
            Some(&place) => self.records[place].steps = record.steps,
            None => {
                self.places.insert(record.change, self.records.len());
                self.records.push(record);
            }
        }
    }

    fn end(&mut self, change: ChangeId, status: Status, kept: &[Kept]) {
        let Some(record) = self.places.get(&change).map(|&place| &mut self.records[place]) else { return };
        if record.status != Status::Intent {
            // Said twice, since the first time seemed to fail.
            return;
        }
        record.status = status;
        for kept in kept {
            for step in
                record.steps.iter_mut().filter(|step| step.step.path == kept.path || step.step.real == kept.path)
            {
                step.step.before = Some(kept.before.clone());
                step.mode = kept.mode;
            }
        }
        if let (Status::Done, Some(undone)) = (status, record.undoes()) {
            self.undo(undone, change);
        }
    }

    /// `undone` no longer stands. If it was an undo itself, what that had taken back stands again.
    fn undo(&mut self, undone: ChangeId, by: ChangeId) {
        let Some(record) = self.places.get(&undone).map(|&place| &mut self.records[place]) else { return };
        record.undone_by = Some(by);
        let Some(restored) = record.undoes() else { return };
        if let Some(&place) = self.places.get(&restored) {
            let restored = &mut self.records[place];
            if restored.undone_by == Some(undone) {
                restored.undone_by = None;
                let again = restored.undoes();
                let id = restored.change;
                // It takes back again what it took back.
                if let Some(again) = again {
                    self.undo(again, id);
                }
            }
        }
    }

    pub(super) fn get(&self, change: ChangeId) -> Option<&ChangeRecord> {
        self.places.get(&change).map(|&place| &self.records[place])
    }

    pub(super) fn newest_first(&self) -> impl Iterator<Item = &ChangeRecord> {
        self.records.iter().rev()
    }

    /// Changes whose end is not written down, oldest first.
    pub(super) fn unfinished(&self) -> impl Iterator<Item = &ChangeRecord> {
        self.records.iter().filter(|record| record.status == Status::Intent)
    }
}
