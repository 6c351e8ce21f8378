//! What each principal has seen of each file, so that nothing is replaced unseen.

mod eyes;
mod notes;
mod spans;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use crate::ledger::seen::eyes::Eyes;
use crate::ledger::seen::notes::Note;
pub(super) use crate::ledger::seen::notes::Notes;
pub use crate::ledger::seen::spans::Position;
use crate::ledger::seen::spans::{Span, Spans};
use crate::ledger::store::hold;
use crate::model::path::WsPath;
use crate::model::version::Version;
use crate::workspace::Identity;

/// A part of a file that somebody has seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sight {
    /// Which file it was, where the home of files can tell.
    pub identity: Option<Identity>,
    /// Its version, if all of it was read.
    pub version: Option<Version>,
    /// The first place that was seen.
    pub from: Position,
    /// The first place after it that was not; nothing if it was seen up to the end.
    pub to: Option<Position>,
}

/// How a file was changed by a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edited {
    /// Which file it was before.
    pub identity_before: Option<Identity>,
    /// What it was before.
    pub before: Version,
    /// Which file it is now.
    pub identity: Option<Identity>,
    /// What it is now.
    pub after: Version,
}

/// Which lines a patch has put in the place of which; all others are as they were.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replaced {
    /// The first line that differs, from 1.
    pub first: u64,
    /// How many lines went there.
    pub removed: u64,
    /// How many lines stand there now.
    pub added: u64,
}

/// How much of a file, as it is now, somebody has seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Coverage {
    /// All of it.
    Whole,
    /// All but these lines, first and last; no last one stands for up to the end.
    Partial {
        /// The lines.
        unseen: Vec<(u64, Option<u64>)>,
    },
    /// Some of it, but it was changed since.
    Stale,
    /// Nothing.
    Never,
}

/// What each principal has seen.
#[derive(Debug)]
pub struct Seen {
    /// Nothing for a ledger that keeps nothing.
    people: Option<Mutex<HashMap<String, Arc<Mutex<Eyes>>>>>,
    notes: Notes,
}

impl Seen {
    pub(super) const fn nothing() -> Self {
        Seen { people: None, notes: Notes::nowhere() }
    }

    pub(super) fn noted(notes: Notes) -> Self {
        Seen { people: Some(Mutex::default()), notes }
    }

    fn eyes(&self, principal: &str) -> Option<Arc<Mutex<Eyes>>> {
        let mut people = hold(self.people.as_ref()?);
        if let Some(eyes) = people.get(principal) {
            return Some(eyes.clone());
        }
        Some(people.entry(principal.to_owned()).or_default().clone())
    }

    /// `principal` has seen a part of `path`.
    pub fn observe(&self, principal: &str, path: &WsPath, sight: Sight) {
        let Some(eyes) = self.eyes(principal) else { return };
        let mut eyes = hold(&eyes);
        let span = Span { from: sight.from, to: sight.to };
        if eyes.know(path.as_str(), sight.identity, sight.version, &span) {
            return;
        }
        let mut spans = Spans::default();
        spans.add(span);
        let note = Note {
            path: path.as_str().to_owned(),
            identity: sight.identity,
            version: sight.version,
            spans,
            anew: false,
        };
        self.note(principal, &mut eyes, note);
    }

    /// `principal` has written all of `path`, and so knows it.
    pub fn wrote(&self, principal: &str, path: &WsPath, identity: Option<Identity>, version: Version) {
        let Some(eyes) = self.eyes(principal) else { return };
        self.note(principal, &mut hold(&eyes), anew(path, identity, version, Spans::whole()));
    }

    /// `principal` has patched `path`. What they knew they still know, where it stands now; `replaced` says what has
    /// changed, and is asked only where that matters.
    pub fn edited(&self, principal: &str, path: &WsPath, edited: &Edited, replaced: impl FnOnce() -> Option<Replaced>) {
        let Some(eyes) = self.eyes(principal) else { return };
        let mut eyes = hold(&eyes);
        self.load(principal, &mut eyes);
        let Some(seen) = eyes.seen(path.as_str(), edited.identity_before, Some(edited.before)) else { return };
        if seen.is_empty() {
            return;
        }
        let spans = if seen.is_whole() {
            seen
        } else {
            replaced().map(|replaced| seen.carried_over(&replaced)).unwrap_or_default()
        };
        self.note(principal, &mut eyes, anew(path, edited.identity, edited.after, spans));
    }

    /// What was at `from`, a file or a folder, is at `to` now. Of a file that had this `identity` before it moved and has
    /// these bytes, what was seen of it still holds, although moving has changed the identity.
    pub fn moved(
        &self,
        principal: &str,
        from: &WsPath,
        to: &WsPath,
        identity: Option<Identity>,
        version: Option<Version>,
    ) {
        if let (Some(eyes), Some(_)) = (self.eyes(principal), identity) {
            let mut eyes = hold(&eyes);
            self.load(principal, &mut eyes);
            let known = eyes.files.get_mut(from.as_str()).into_iter().flatten();
            for known in known.filter(|known| known.identity == identity) {
                known.version = known.version.or(version);
            }
        }
        self.relocate(principal, from, Some(to));
    }

    /// What was at `path`, a file or a folder, is gone.
    pub fn removed(&self, principal: &str, path: &WsPath) {
        self.relocate(principal, path, None);
    }

    fn relocate(&self, principal: &str, from: &WsPath, to: Option<&WsPath>) {
        let Some(eyes) = self.eyes(principal) else { return };
        let mut eyes = hold(&eyes);
        self.load(principal, &mut eyes);
        let found: Vec<String> = eyes.below(from.as_str()).map(str::to_owned).collect();
        for file in found {
            let moved: Vec<Note> = to
                .map(|to| format!("{}{}", to.as_str(), &file[from.as_str().len()..]))
                .map(|path| eyes.notes(&file, &path).collect())
                .unwrap_or_default();
            let gone = Note { path: file, identity: None, version: None, spans: Spans::default(), anew: true };
            self.note(principal, &mut eyes, gone);
            moved.into_iter().for_each(|note| self.note(principal, &mut eyes, note));
        }
    }

    /// How much of `path`, which is this file with these bytes now, `principal` has seen. What of the two is not known
    /// may be left out.
    #[must_use]
    pub fn coverage(
        &self,
        principal: &str,
        path: &WsPath,
        identity: Option<Identity>,
        version: Option<Version>,
    ) -> Coverage {
        let Some(eyes) = self.eyes(principal) else { return Coverage::Never };
        let mut eyes = hold(&eyes);
        let judge = |eyes: &Eyes| match eyes.seen(path.as_str(), identity, version) {
            None => Coverage::Never,
            Some(seen) if seen.is_empty() => Coverage::Stale,
            Some(seen) if seen.is_whole() => Coverage::Whole,
            Some(seen) => Coverage::Partial { unseen: seen.unseen() },
        };
        match judge(&eyes) {
            Coverage::Whole => Coverage::Whole,
            // Another process may have shown the same principal more.
            _ => {
                self.notes.read_on(principal, &mut eyes);
                judge(&eyes)
            }
        }
    }

    fn load(&self, principal: &str, eyes: &mut Eyes) {
        if !eyes.loaded {
            self.notes.read_on(principal, eyes);
        }
    }

    fn note(&self, principal: &str, eyes: &mut Eyes, note: Note) {
        self.notes.add(principal, &note);
        eyes.take(note);
    }

    /// Writes down what waits.
    pub(super) fn flush(&self) -> std::io::Result<()> {
        for principal in self.notes.waiting() {
            if let Some(eyes) = self.eyes(&principal) {
                self.notes.write(&principal, &mut hold(&eyes))?;
            }
        }
        Ok(())
    }
}

/// A note that all that is known of `path` is this.
fn anew(path: &WsPath, identity: Option<Identity>, version: Version, spans: Spans) -> Note {
    Note { path: path.as_str().to_owned(), identity, version: Some(version), spans, anew: true }
}
