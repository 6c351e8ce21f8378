//! The lines of many sessions as one row, ordered by time, of which only those that are under way are open.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::fs::File;
use std::io::{self, BufRead, BufReader};

use cap_std::fs::Dir;
use jiff::Timestamp;

use crate::ledger::read::line_of;
use crate::ledger::store;
use crate::model::event::Line;

/// Lines in the order of time.
#[derive(Default)]
pub(super) struct Merged {
    dir: Option<Dir>,
    /// Not begun yet, oldest first.
    later: VecDeque<String>,
    /// The next line of each session that is open.
    next: BinaryHeap<Reverse<Next>>,
    opened: usize,
}

struct Next {
    line: Line,
    /// Of lines of the same time the older session's come first.
    rank: usize,
    rest: BufReader<File>,
}

impl Next {
    fn key(&self) -> (Timestamp, usize) {
        (self.line.time, self.rank)
    }
}

impl Ord for Next {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl PartialOrd for Next {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Next {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Next {}

impl Merged {
    /// `names` are the files of `dir`, named so that they sort by when they begin.
    pub(super) fn new(dir: Dir, names: Vec<String>) -> Self {
        Merged { dir: Some(dir), later: names.into(), ..Merged::default() }
    }

    /// Opens the sessions that may have begun before the next line.
    fn open_due(&mut self) -> io::Result<()> {
        let Some(dir) = &self.dir else { return Ok(()) };
        while let Some(name) = self.later.front() {
            let due = self.next.peek().is_none_or(|Reverse(next)| begins(name) <= stamp(next.line.time).as_str());
            if !due {
                return Ok(());
            }
            if let Some(file) = store::existing(dir, name)? {
                let rank = self.opened;
                self.opened += 1;
                push(&mut self.next, BufReader::new(file), rank)?;
            }
            self.later.pop_front();
        }
        Ok(())
    }

    fn take(&mut self) -> io::Result<Option<Line>> {
        self.open_due()?;
        let Some(Reverse(Next { line, rank, rest })) = self.next.pop() else { return Ok(None) };
        push(&mut self.next, rest, rank)?;
        Ok(Some(line))
    }
}

impl Iterator for Merged {
    type Item = io::Result<Line>;

    fn next(&mut self) -> Option<Self::Item> {
        self.take().transpose()
    }
}

/// Puts the next line of a session into the row; at its end, nothing.
fn push(row: &mut BinaryHeap<Reverse<Next>>, mut rest: BufReader<File>, rank: usize) -> io::Result<()> {
    let mut bytes = Vec::new();
    while rest.read_until(b'\n', &mut bytes)? > 0 {
        if let Some(line) = line_of(&bytes) {
            row.push(Reverse(Next { line, rank, rest }));
            break;
        }
        bytes.clear();
    }
    Ok(())
}

/// When a session begins, by its name: to the second.
fn begins(name: &str) -> &str {
    name.split('-').next().unwrap_or_default()
}

fn stamp(time: Timestamp) -> String {
    time.strftime("%Y%m%dT%H%M%S").to_string()
}
