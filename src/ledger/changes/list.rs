//! The list of changes as it is read: entries put together to records, and who has undone what.

use std::collections::{HashMap, HashSet};
use std::io::{self, Read, Seek, SeekFrom};
use std::time::SystemTime;

use cap_std::fs::Dir;

use crate::ledger::changes::record::{ChangeRecord, Entry, Kept, Status};
use crate::ledger::store;
use crate::model::id::{ChangeId, KeptId};
use crate::model::version::Version;

/// The records in the order in which they were begun.
#[derive(Debug, Default)]
pub(super) struct List {
    records: Vec<ChangeRecord>,
    places: HashMap<ChangeId, usize>,
    /// By the name of a run, and by that of a series.
    groups: HashMap<ChangeId, Vec<usize>>,
    /// Series that were begun, in that order.
    series: Vec<ChangeId>,
    /// Those of them that are left as they are.
    left: HashSet<ChangeId>,
    /// How many bytes of the file were read.
    read: u64,
    /// When that file was made, where the system knows: it may be made anew.
    made: Option<SystemTime>,
}

/// What may not be let go of.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::ledger) struct Needed {
    /// Bytes.
    pub(in crate::ledger) versions: HashSet<Version>,
    /// What was taken whole.
    pub(in crate::ledger) nodes: HashSet<KeptId>,
}

impl List {
    /// Reads what was added to the file since. A line that a crash cut off is read past.
    pub(super) fn read_on(&mut self, state: &Dir, name: &str) -> io::Result<()> {
        let Some(mut file) = store::existing(state, name)? else {
            *self = List::default();
            return Ok(());
        };
        let metadata = file.metadata()?;
        let (length, made) = (metadata.len(), metadata.created().ok());
        if length < self.read || made != self.made {
            *self = List { made, ..List::default() };
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
            Entry::Marked { change, path, mark } => self.mark(change, &path, mark),
            Entry::Left { series } => drop(self.left.insert(series)),
        }
    }

    fn begin(&mut self, record: ChangeRecord) {
        match self.places.get(&record.change) {
            Some(&place) => self.records[place].steps = record.steps,
            None => {
                self.places.insert(record.change, self.records.len());
                let series = record.part.map(|part| part.series);
                if let Some(series) = series.filter(|series| !self.groups.contains_key(series)) {
                    self.series.push(series);
                }
                let names = [record.as_one(), series.filter(|series| record.as_one() != Some(*series))];
                for name in names.into_iter().flatten() {
                    self.groups.entry(name).or_default().push(self.records.len());
                }
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

    fn mark(&mut self, change: ChangeId, path: &str, mark: String) {
        let Some(record) = self.places.get(&change).map(|&place| &mut self.records[place]) else { return };
        if let Some(step) = record.steps.iter_mut().find(|step| step.step.path == path) {
            step.step.after = Some(mark);
        }
    }

    /// The changes of a group in the order in which they were begun.
    pub(super) fn group(&self, name: ChangeId) -> impl DoubleEndedIterator<Item = &ChangeRecord> {
        let places = self.groups.get(&name).map_or(&[][..], Vec::as_slice);
        places.iter().map(|&place| &self.records[place])
    }

    /// All changes of a group that stand no longer do. What one of them had taken back stands again, unless it belongs
    /// to the group itself.
    fn undo_group(&mut self, group: ChangeId, by: ChangeId) {
        let places = self.groups.get(&group).cloned().unwrap_or_default();
        for place in places {
            let record = &mut self.records[place];
            if !record.stands() {
                continue;
            }
            record.undone_by = Some(by);
            let (change, restored) = (record.change, record.undoes());
            let Some(restored) = restored else { continue };
            let own = self.get(restored).is_some_and(|record| record.as_one() == Some(group));
            if !own {
                self.restore(restored, change);
            }
        }
    }

    /// What `undoing` had taken back stands again, since `undoing` was taken back itself.
    fn restore(&mut self, restored: ChangeId, undoing: ChangeId) {
        let places = match self.places.get(&restored) {
            Some(&place) => vec![place],
            None => self.groups.get(&restored).cloned().unwrap_or_default(),
        };
        for place in places {
            let record = &mut self.records[place];
            if record.undone_by != Some(undoing) {
                continue;
            }
            record.undone_by = None;
            let (id, again) = (record.change, record.undoes());
            // It takes back again what it took back.
            if let Some(again) = again {
                self.undo(again, id);
            }
        }
    }

    /// `undone` no longer stands. If it was an undo itself, what that had taken back stands again.
    fn undo(&mut self, undone: ChangeId, by: ChangeId) {
        let Some(record) = self.places.get(&undone).map(|&place| &mut self.records[place]) else {
            return self.undo_group(undone, by);
        };
        record.undone_by = Some(by);
        if let Some(restored) = record.undoes() {
            self.restore(restored, undone);
        }
    }

    pub(super) fn get(&self, change: ChangeId) -> Option<&ChangeRecord> {
        self.places.get(&change).map(|&place| &self.records[place])
    }

    pub(super) fn newest_first(&self) -> impl Iterator<Item = &ChangeRecord> {
        self.records.iter().rev()
    }

    /// What changes that have not ended may need.
    pub(super) fn needed(&self) -> Needed {
        let steps = || self.unfinished().flat_map(|record| &record.steps);
        let versions = steps().flat_map(|step| [&step.step.before, &step.step.after]);
        Needed {
            versions: versions.filter_map(|version| version.as_deref()?.parse().ok()).collect(),
            nodes: steps().filter_map(|step| step.step.kept.as_deref()?.parse().ok()).collect(),
        }
    }

    /// What a list without the records that have ended and were begun before `before` says. Nothing if there are none.
    pub(super) fn since(&self, before: SystemTime) -> Option<Vec<Entry>> {
        let stays = |record: &&ChangeRecord| {
            record.status == Status::Intent || store::system_time(record.time).is_ok_and(|time| time >= before)
        };
        let left: Vec<&ChangeRecord> = self.records.iter().filter(stays).collect();
        if left.len() == self.records.len() {
            return None;
        }
        let ended = |record: &ChangeRecord| match record.status {
            Status::Intent => None,
            Status::Done => Some(Entry::Done { change: record.change, kept: Vec::new() }),
            Status::Void => Some(Entry::Void { change: record.change }),
        };
        let begun = left.iter().map(|record| Entry::Intent((*record).clone()));
        let series = self.left.iter().map(|series| Entry::Left { series: *series });
        // After all the beginnings, so that an undo finds what it undoes; in the order in which they began, as then.
        Some(begun.chain(left.iter().filter_map(|record| ended(record))).chain(series).collect())
    }

    /// Series that have not come to their end, and what of each still stands, newest first.
    pub(super) fn broken(&self) -> impl Iterator<Item = (ChangeId, Vec<&ChangeRecord>)> {
        let looked_after = self.series.iter().filter(|series| !self.left.contains(series));
        looked_after.filter_map(|&series| {
            let members = || self.group(series);
            // What takes a part back again is a member too, and no part of what was to be done.
            let own: HashSet<ChangeId> = members().map(|record| record.change).collect();
            let is_part = |record: &&ChangeRecord| record.undoes().is_none_or(|undone| !own.contains(&undone));
            let parts: Vec<_> = members().filter(is_part).collect();
            let done = parts.iter().filter(|record| record.status == Status::Done).count();
            let of = members().find_map(|record| record.part).map_or(0, |part| part.of as usize);
            let standing: Vec<_> = parts.into_iter().rev().filter(|record| record.stands()).collect();
            (done < of && !standing.is_empty()).then_some((series, standing))
        })
    }

    /// Changes whose end is not written down, oldest first.
    pub(super) fn unfinished(&self) -> impl Iterator<Item = &ChangeRecord> {
        self.records.iter().filter(|record| record.status == Status::Intent)
    }
}
