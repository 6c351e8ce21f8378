//! What takes a group of changes back at once: for each path from what the newest left to what was before the oldest. Where
//! one set cannot say it, since something moved or went as a whole and changed besides: one change after the other.

use std::collections::{BTreeMap, HashSet};

use crate::ledger::blobs::Blobs;
use crate::ledger::changes::inverse::{Inverse, inverse};
use crate::ledger::changes::record::{ChangeRecord, Status};
use crate::ledger::error::LedgerError;
use crate::model::change::{Change, ChangeSet, Expect};
use crate::model::file_bytes::FileBytes;
use crate::model::id::ChangeId;
use crate::model::path::WsPath;

/// What takes back those of `records`, newest first, that are in force: the changes of the group `name`.
pub(in crate::ledger) fn inverse_of_all(
    name: ChangeId,
    records: Vec<ChangeRecord>,
    blobs: &Blobs,
) -> Result<Inverse, LedgerError> {
    let own: HashSet<ChangeId> = records.iter().map(|record| record.change).collect();
    let done: Vec<_> = records.iter().filter(|record| record.status == Status::Done).collect();
    // Where one change of the group took back another, both count: what is left of them is nothing.
    let counts = |record: &&&ChangeRecord| record.undone_by.is_none_or(|by| own.contains(&by));
    if done.is_empty() {
        return Err(LedgerError::NotDone(name));
    }
    let standing: Vec<_> = done.iter().filter(counts).map(|record| (*record).clone()).collect();
    let pair = |record: &ChangeRecord| record.undone_by.filter(|by| own.contains(by)).map(|by| [record.change, by]);
    let paired: HashSet<ChangeId> = standing.iter().filter_map(pair).flatten().collect();
    let by = done.iter().find_map(|record| record.undone_by.filter(|by| !own.contains(by)));
    // Of a series that was taken back the pairs still stand.
    if !standing.iter().any(|record| record.stands() && (by.is_none() || !paired.contains(&record.change))) {
        return Err(by.map_or(LedgerError::NotDone(name), |by| LedgerError::Undone { change: name, by }));
    }
    let mut net = Net::default();
    let mut modes = BTreeMap::new();
    let newest = standing[0].clone();
    let mut series = Vec::new();
    for record in standing {
        let taken_alone = ChangeRecord { undone_by: None, ..record };
        let one = inverse(taken_alone, blobs)?;
        modes.extend(one.modes);
        one.set.iter().for_each(|change| net.add(change));
        if !paired.contains(&one.record.change) {
            series.push((one.record.change, one.set));
        }
    }
    let set = match net.into_set() {
        Some(set) => {
            series.clear();
            set
        }
        None => ChangeSet::new(series.iter().flat_map(|(_, set)| set).cloned().collect()),
    };
    let paths: HashSet<&WsPath> = set.iter().flat_map(Change::paths).collect();
    let modes = modes.into_iter().filter(|(path, _)| paths.contains(path)).collect();
    Ok(Inverse { record: newest, set, series, modes })
}

/// What many steps, one after the other, come to.
#[derive(Default)]
struct Net {
    files: BTreeMap<WsPath, File>,
    /// How many more times a folder is made than it goes.
    folders: BTreeMap<WsPath, i64>,
    /// What moves, goes or comes back as it is. Of what is in it no step may tell besides.
    wholes: Vec<Change>,
}

/// What must be there, and what shall be.
struct File {
    expect: Expect,
    content: Option<FileBytes>,
}

impl Net {
    fn add(&mut self, change: &Change) {
        match change {
            Change::Write { path, expect, content } => self.file(path, *expect, Some(content.clone())),
            Change::Delete { path, expect } => self.file(path, *expect, None),
            Change::MakeDir { path } => *self.folders.entry(path.clone()).or_default() += 1,
            Change::RemoveDir { path } => *self.folders.entry(path.clone()).or_default() -= 1,
            Change::Move { from, to, expect } => self.moved(from, to, *expect),
            Change::Remove { .. } | Change::Restore { .. } => self.wholes.push(change.clone()),
        }
    }

    /// One move after another of the same thing is one move.
    fn moved(&mut self, from: &WsPath, to: &WsPath, expect: Expect) {
        let before = self.wholes.iter_mut().find_map(|whole| match whole {
            Change::Move { to: there, .. } if there == from => Some(there),
            _ => None,
        });
        match before {
            Some(there) => *there = to.clone(),
            None => self.wholes.push(Change::Move { from: from.clone(), to: to.clone(), expect }),
        }
    }

    fn file(&mut self, path: &WsPath, expect: Expect, content: Option<FileBytes>) {
        match self.files.get_mut(path) {
            // What the first step expects is what is there now.
            Some(file) => file.content = content,
            None => drop(self.files.insert(path.clone(), File { expect, content })),
        }
    }

    /// Folders before what lies in them; those that go are left to last by the commit. Nothing where one set cannot say
    /// it: something moved, went or came back as a whole, and something in it changed besides.
    fn into_set(self) -> Option<ChangeSet> {
        if self.is_entangled() {
            return None;
        }
        let made = self.folders.iter().filter(|(_, times)| **times > 0);
        let mut changes: Vec<_> = made.map(|(path, _)| Change::MakeDir { path: path.clone() }).collect();
        changes.extend(self.files.into_iter().filter_map(|(path, File { expect, content })| match (expect, content) {
            (Expect::Absent, None) => None,
            (Expect::Exactly(now), Some(content)) if content.version() == now => None,
            (expect, Some(content)) => Some(Change::Write { path, expect, content }),
            (expect, None) => Some(Change::Delete { path, expect }),
        }));
        let nowhere = |whole: &Change| matches!(whole, Change::Move { from, to, .. } if from == to);
        changes.extend(self.wholes.into_iter().filter(|whole| !nowhere(whole)));
        // The deepest first.
        let gone = self.folders.iter().rev().filter(|(_, times)| **times < 0);
        changes.extend(gone.map(|(path, _)| Change::RemoveDir { path: path.clone() }));
        Some(ChangeSet::new(changes))
    }

    fn is_entangled(&self) -> bool {
        let meets = |one: &WsPath, other: &WsPath| one.is_within(other) || other.is_within(one);
        let wholes: Vec<Vec<&WsPath>> = self.wholes.iter().map(|whole| whole.paths().collect()).collect();
        let paths = wholes.iter().flatten();
        let with_steps = paths.clone().any(|whole| {
            let folders = self.folders.iter().filter(|(_, times)| **times != 0).map(|(path, _)| path);
            self.files.keys().any(|file| meets(file, whole)) || folders.clone().any(|folder| folder.is_within(whole))
        });
        let with_each_other = wholes
            .iter()
            .enumerate()
            .any(|(at, one)| wholes[at + 1..].iter().flatten().any(|other| one.iter().any(|path| meets(path, other))));
        with_steps || with_each_other
    }
}
