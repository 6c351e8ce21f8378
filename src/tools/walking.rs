//! What finding and searching have in common: the order of paths, the best few of many, and what was left out.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use schemars::JsonSchema;
use serde::Serialize;

use super::shown;
use crate::model::error::ToolError;
use crate::text::counted::counted;
use crate::text::glob::Glob;
use crate::tool::view::{Strolled, View};
use crate::workspace::{Unreadable, Walked};

/// Folders of other people's code. What is in them comes last, so that it does not push out what the user wrote (B057).
const OTHERS_CODE: [&str; 6] =
    ["node_modules", "bower_components", "vendor", "third_party", "site-packages", "__pycache__"];

/// What stands for the order in which paths are told.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    others_code: bool,
    pub(super) path: String,
}

impl Rank {
    pub(super) fn of(path: String) -> Self {
        Rank { others_code: path.split('/').any(|part| OTHERS_CODE.contains(&part)), path }
    }
}

/// The first things of many in the order of their paths, as long as their weights do not sum up to more than there is
/// room for. However many there are, no more than that is kept.
#[derive(Debug)]
pub(super) struct First<T> {
    room: usize,
    weight: usize,
    kept: BTreeMap<Rank, (usize, T)>,
}

impl<T> First<T> {
    pub(super) fn new(room: usize) -> Self {
        First { room, weight: 0, kept: BTreeMap::new() }
    }

    /// Whether something at `rank` would be kept for now.
    pub(super) fn wants(&self, rank: &Rank) -> bool {
        self.weight < self.room || self.kept.last_key_value().is_some_and(|(last, _)| rank < last)
    }

    /// Adds something, and lets go of what there is no room for any more.
    pub(super) fn add(&mut self, rank: Rank, weight: usize, thing: T) {
        self.weight += weight;
        self.kept.insert(rank, (weight, thing));
        while let Some(last) = self.kept.last_entry() {
            let without = self.weight - last.get().0;
            if without < self.room {
                break;
            }
            self.weight = without;
            last.remove();
        }
    }

    /// All that was kept, in order.
    pub(super) fn into_sorted(self) -> impl Iterator<Item = (String, T)> {
        self.kept.into_iter().map(|(rank, (_, thing))| (rank.path, thing))
    }
}

/// What was not looked at.
#[derive(Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LeftOut {
    /// Ignored or hidden files and folders; a folder counts as one.
    pub ignored: u64,
    /// Files that a rule keeps from being read.
    pub withheld: u64,
    /// Files and folders that the system does not let this process read.
    pub unreadable: u64,
    /// The first of these.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreadable_paths: Vec<String>,
    /// Files and folders whose names are not UTF-8.
    pub unnamed: u64,
}

impl LeftOut {
    pub(super) fn new(strolled: Strolled, more: Unreadable) -> Self {
        let Walked { ignored, unnamed, mut unreadable, .. } = strolled.walked;
        unreadable.add_all(more);
        LeftOut {
            ignored,
            withheld: strolled.withheld,
            unreadable: unreadable.count,
            unreadable_paths: unreadable.named,
            unnamed,
        }
    }

    /// What a model has to know of it.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.ignored > 0 {
            notes.push(format!(
                "[Left out: {}; a folder counts as one. include_ignored takes them in.]",
                counted(self.ignored, "ignored or hidden entry", "ignored or hidden entries")
            ));
        }
        if self.withheld > 0 {
            notes.push(format!(
                "[Left out: {} that a rule keeps from being read. To have a person asked, name it as path.]",
                counted(self.withheld, "file", "files")
            ));
        }
        if self.unreadable > 0 {
            let named: Vec<_> = self.unreadable_paths.iter().map(|path| shown(path)).collect();
            let more = if self.unreadable > named.len() as u64 { " and others" } else { "" };
            notes.push(format!(
                "[Left out: {} that cannot be read: {}{more}.]",
                counted(self.unreadable, "file or folder", "files or folders"),
                named.join(", ")
            ));
        }
        if self.unnamed > 0 {
            notes.push(format!(
                "[Left out: {} whose names are not UTF-8, so that no call can name them.]",
                counted(self.unnamed, "entry", "entries")
            ));
        }
        notes
    }
}

/// The glob of an argument.
pub(super) fn glob(field: &str, text: &str) -> Result<Glob, ToolError> {
    Glob::new(text).map_err(|fault| ToolError::bad_argument(field, format_args!("the glob {text:?} {fault}.")))
}

/// Tells the caller now and then that a long walk goes on.
pub(super) struct Ticker<'a> {
    view: &'a View,
    what: &'static str,
    ticks: AtomicU64,
}

/// How many ticks lie between two notes of progress.
const TICKS_A_NOTE: u64 = 1024;

impl<'a> Ticker<'a> {
    pub(super) fn new(view: &'a View, what: &'static str) -> Self {
        Ticker { view, what, ticks: AtomicU64::new(0) }
    }

    /// A file, or a piece of a large one, is done.
    pub(super) fn tick(&self) {
        let done = self.ticks.fetch_add(1, Ordering::Relaxed) + 1;
        if done.is_multiple_of(TICKS_A_NOTE) {
            self.view.progress(done as f64, None, Some(self.what));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_by_path_are_kept_whatever_comes_first() {
        let all = ["b", "node_modules/a", "c", "a/vendor/x", "a/z", "d"];
        for turn in 0..all.len() {
            let mut first = First::new(4);
            for n in 0..all.len() {
                let rank = Rank::of(all[(n * 5 + turn) % all.len()].to_owned());
                if first.wants(&rank) {
                    first.add(rank, 1, ());
                }
            }
            let kept: Vec<_> = first.into_sorted().map(|(path, ())| path).collect();
            assert_eq!(kept, ["a/z", "b", "c", "d"]);
        }
    }

    #[test]
    fn heavy_things_leave_room_for_what_comes_before_them() {
        let mut first = First::new(10);
        for (path, weight) in [("m", 6), ("n", 6), ("z", 1), ("a", 3), ("b", 2)] {
            let rank = Rank::of(path.to_owned());
            if first.wants(&rank) {
                first.add(rank, weight, weight);
            }
        }
        let kept: Vec<_> = first.into_sorted().collect();
        assert_eq!(kept, [("a".to_owned(), 3), ("b".to_owned(), 2), ("m".to_owned(), 6)]);
    }
}
