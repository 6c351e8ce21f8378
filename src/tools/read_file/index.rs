//! Where lines begin in large files that were read before: a later visit begins near the line that it wants.

use std::sync::{Mutex, PoisonError};

use crate::model::path::WsPath;
use crate::workspace::Identity;

/// So many files are remembered; the one that was looked into longest ago goes first.
const MOST_FILES: usize = 32;

/// So many places are remembered of one file, 16 bytes each.
const MOST_PLACES: u64 = 4096;

/// A smaller file is read from its start in no time.
const LEAST_BYTES: u64 = 1024 * 1024;

/// What is remembered of files, at most 2 MiB of it.
#[derive(Debug, Default)]
pub(super) struct LineIndex(Mutex<Vec<Known>>);

/// A file in the state in which it was read.
#[derive(Debug)]
struct Known {
    path: WsPath,
    identity: Identity,
    lines: Lines,
}

/// Where some lines of a file begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lines {
    places: Vec<Place>,
    apart: u64,
    /// How many lines there are, if the end was seen.
    pub(super) total: Option<u64>,
}

/// The start of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// Its number, from 1.
    pub(super) line: u64,
    /// The bytes before it.
    pub(super) offset: u64,
}

impl Lines {
    /// Nothing yet, for a file of `size` bytes; nothing at all if it is too small to be worth it.
    pub(super) fn of(size: u64) -> Option<Self> {
        let apart = size / MOST_PLACES;
        (size >= LEAST_BYTES).then(|| Lines { places: Vec::new(), apart, total: None })
    }

    /// Takes note of where a line begins, if that is far enough from the last place.
    pub(super) fn note(&mut self, place: Place) {
        let far = self.places.last().is_none_or(|last| place.offset >= last.offset + self.apart);
        let after = self.places.last().is_none_or(|last| place.line > last.line && place.offset > last.offset);
        if far && after && (self.places.len() as u64) < MOST_PLACES {
            self.places.push(place);
        }
    }

    /// The last place known that is not behind the start of `line`.
    pub(super) fn before(&self, line: u64) -> Option<Place> {
        let behind = self.places.partition_point(|place| place.line <= line);
        behind.checked_sub(1).map(|last| self.places[last])
    }
}

impl LineIndex {
    /// What is known of the file at `path`, if it is in the state that `identity` stands for.
    pub(super) fn look_up(&self, path: &WsPath, identity: Identity) -> Option<Lines> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().find(|known| known.path == *path && known.identity == identity).map(|known| known.lines.clone())
    }

    /// Remembers `lines`, in the place of what was known of the file.
    pub(super) fn remember(&self, path: &WsPath, identity: Identity, lines: Lines) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|known| known.path != *path);
        if known.len() == MOST_FILES {
            known.remove(0);
        }
        known.push(Known { path: path.clone(), identity, lines });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_few_and_in_order() {
        assert_eq!(Lines::of(1000), None);
        let mut lines = Lines::of(1 << 40).expect("a large file");
        for n in 1..100_000 {
            lines.note(Place { line: n * 10, offset: n << 20 });
        }
        assert!(lines.places.len() < 400, "one for each 256 MiB: {}", lines.places.len());
        let mut lines = Lines::of(1 << 20).expect("a file");
        for place in [(3, 200), (5, 700), (4, 900), (9, 300), (8, 1100)] {
            lines.note(Place { line: place.0, offset: place.1 });
        }
        let before = |line| lines.before(line).map(|place| (place.line, place.offset));
        assert_eq!(
            [2, 3, 4, 7, 8, 99].map(before),
            [None, Some((3, 200)), Some((3, 200)), Some((5, 700)), Some((8, 1100)), Some((8, 1100))]
        );
    }

    #[test]
    fn a_file_is_known_in_one_state_and_the_oldest_is_forgotten() {
        let index = LineIndex::default();
        let path = |n: usize| WsPath::parse(&format!("f{n}")).expect("a path");
        let lines = Lines::of(1 << 20).expect("a file");
        for n in 0..=MOST_FILES {
            index.remember(&path(n), Identity(1), lines.clone());
        }
        assert_eq!(index.look_up(&path(0), Identity(1)), None);
        assert!(index.look_up(&path(1), Identity(1)).is_some());
        assert_eq!(index.look_up(&path(1), Identity(2)), None);
        index.remember(&path(1), Identity(2), lines.clone());
        assert_eq!(index.look_up(&path(1), Identity(1)), None);
        assert_eq!(index.look_up(&path(1), Identity(2)), Some(lines));
    }
}
