//! What each principal has seen of each file, so that nothing is replaced unseen.

mod notes;
mod spans;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

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
    /// Where the first changed line begins.
    pub first: Position,
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

/// What one principal has seen.
#[derive(Debug, Default)]
pub(super) struct Eyes {
    files: HashMap<String, Known>,
    /// How far the notes were read.
    read: u64,
    /// How large they were when they held nothing twice.
    base: u64,
    loaded: bool,
}

/// What is known of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Known {
    identity: Option<Identity>,
    version: Option<Version>,
    spans: Spans,
}

impl Known {
    /// Whether it is the same file with the same bytes.
    fn is(&self, identity: Option<Identity>, version: Option<Version>) -> bool {
        match (self.version, version) {
            // Bytes that differ differ, whatever the clock says.
            (Some(known), Some(version)) => known == version,
            _ => identity.is_some() && self.identity == identity,
        }
    }
}

impl Eyes {
    /// Takes a note, as it was made or as it is read again.
    fn take(&mut self, note: Note) {
        let Note { path, identity, version, spans, anew } = note;
        match self.files.get_mut(&path) {
            Some(known) if !anew && known.is(identity, version) => {
                known.identity = identity.or(known.identity);
                known.version = known.version.or(version);
                known.spans.add_all(&spans);
            }
            _ if spans.is_empty() => {
                self.files.remove(&path);
            }
            _ => {
                self.files.insert(path, Known { identity, version, spans });
            }
        }
    }

    /// Notes that say all that is known.
    fn all(&self) -> impl Iterator<Item = Note> {
        self.files.iter().map(|(path, known)| known.note(path))
    }
}

impl Known {
    fn note(&self, path: &str) -> Note {
        let Known { identity, version, spans } = self.clone();
        Note { path: path.to_owned(), identity, version, spans, anew: true }
    }
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
        if let Some(known) = eyes.files.get(path.as_str())
            && known.is(sight.identity, sight.version)
            && known.identity == sight.identity
            && (known.version.is_some() || sight.version.is_none())
            && known.spans.cover(&span)
        {
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
        let known = Known { identity, version: Some(version), spans: Spans::whole() };
        self.note(principal, &mut hold(&eyes), known.note(path.as_str()));
    }

    /// `principal` has patched `path`. Who knew all of it still does; of who knew a part, what lies before the patch.
    pub fn edited(&self, principal: &str, path: &WsPath, edited: &Edited) {
        let Some(eyes) = self.eyes(principal) else { return };
        let mut eyes = hold(&eyes);
        self.load(principal, &mut eyes);
        let Some(known) = eyes.files.get(path.as_str()) else { return };
        if !known.is(edited.identity_before, Some(edited.before)) {
            return;
        }
        let spans = if known.spans.is_whole() { Spans::whole() } else { known.spans.before(edited.first) };
        let known = Known { identity: edited.identity, version: Some(edited.after), spans };
        self.note(principal, &mut eyes, known.note(path.as_str()));
    }

    /// What was at `from`, a file or a folder, is at `to` now.
    pub fn moved(&self, principal: &str, from: &WsPath, to: &WsPath) {
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
        let found: Vec<(String, Option<String>, Known)> = eyes
            .files
            .iter()
            .filter_map(|(path, known)| {
                let rest = path.strip_prefix(from.as_str()).filter(|rest| rest.is_empty() || rest.starts_with('/'))?;
                Some((path.clone(), to.map(|to| format!("{}{rest}", to.as_str())), known.clone()))
            })
            .collect();
        for (old, new, known) in found {
            let gone = Note { path: old, identity: None, version: None, spans: Spans::default(), anew: true };
            self.note(principal, &mut eyes, gone);
            if let Some(new) = new {
                self.note(principal, &mut eyes, known.note(&new));
            }
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
        let judge = |eyes: &Eyes| match eyes.files.get(path.as_str()) {
            None => Coverage::Never,
            Some(known) if !known.is(identity, version) => Coverage::Stale,
            Some(known) if known.spans.is_whole() => Coverage::Whole,
            Some(known) => Coverage::Partial { unseen: known.spans.unseen() },
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
