//! What one principal knows of files.

use std::collections::HashMap;

use crate::ledger::seen::notes::Note;
use crate::ledger::seen::spans::{Span, Spans};
use crate::model::version::Version;
use crate::workspace::Identity;

/// What one principal has seen.
#[derive(Debug, Default)]
pub(in crate::ledger) struct Eyes {
    /// Of each file one or two sights: one that tells the version, one that only tells the identity. Whether both are of
    /// the same bytes shows when both are known of the file that is there.
    pub(super) files: HashMap<String, Vec<Known>>,
    /// How far the notes were read.
    pub(super) read: u64,
    /// How large they were when they held nothing twice.
    pub(super) base: u64,
    pub(super) loaded: bool,
}

/// What was seen of a file in one state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) identity: Option<Identity>,
    pub(super) version: Option<Version>,
    pub(super) spans: Spans,
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

    /// Whether it may yet turn out to be of the same bytes as `other`.
    fn may_be(&self, other: &Known) -> bool {
        self.version.is_some() != other.version.is_some()
    }
}

impl Eyes {
    /// Takes a note, as it was made or as it is read again.
    pub(super) fn take(&mut self, note: Note) {
        let Note { path, identity, version, spans, anew } = note;
        let mut new = Known { identity, version, spans };
        let known = self.files.entry(path.clone()).or_default();
        if anew {
            known.clear();
        }
        known.retain(|old| {
            if old.is(new.identity, new.version) {
                new.identity = new.identity.or(old.identity);
                new.version = new.version.or(old.version);
                new.spans.add_all(&old.spans);
                return false;
            }
            old.may_be(&new)
        });
        if !new.spans.is_empty() {
            known.push(new);
        }
        if known.is_empty() {
            self.files.remove(&path);
        }
    }

    /// What was seen of `path` as it is now; nothing if nothing ever was. Empty if it was changed since.
    pub(super) fn seen(&self, path: &str, identity: Option<Identity>, version: Option<Version>) -> Option<Spans> {
        let mut spans = Spans::default();
        let known = self.files.get(path)?.iter().filter(|known| known.is(identity, version));
        known.for_each(|known| spans.add_all(&known.spans));
        Some(spans)
    }

    /// Whether a sight of `span` would add nothing to what is known.
    pub(super) fn know(&self, path: &str, identity: Option<Identity>, version: Option<Version>, span: &Span) -> bool {
        self.files.get(path).is_some_and(|known| {
            known.iter().any(|known| {
                known.is(identity, version)
                    && known.identity == identity
                    && (known.version.is_some() || version.is_none())
                    && known.spans.cover(span)
            })
        })
    }

    /// What is known of `path`, or of the files in that folder.
    pub(super) fn below<'a>(&'a self, path: &'a str) -> impl Iterator<Item = &'a str> {
        let within =
            move |file: &str| file.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        self.files.keys().map(String::as_str).filter(move |file| within(file))
    }

    /// Notes that say at `path` what is known of `file`.
    pub(super) fn notes(&self, file: &str, path: &str) -> impl Iterator<Item = Note> {
        let known = self.files.get(file).into_iter().flatten().cloned().enumerate();
        known.map(move |(count, Known { identity, version, spans })| Note {
            path: path.to_owned(),
            identity,
            version,
            spans,
            anew: count == 0,
        })
    }

    /// Notes that say all that is known.
    pub(super) fn all(&self) -> impl Iterator<Item = Note> {
        self.files.keys().flat_map(|path| self.notes(path, path))
    }
}
