//! What is changed in a program's text, such that everything that stays stands where it stood.

use std::collections::BTreeMap;

use oxc_span::Span;

use super::Script;
use super::fault::{is_line_end, place};

/// What stands before the program, on its first line.
const BEFORE: &str = "(async()=>{\"use strict\";";

/// What stands behind it, on a line of its own, since its last one may be a comment.
const BEHIND: &str = "\n})()";

/// Changes to a text, by byte.
pub(super) struct Edits<'s> {
    source: &'s str,
    erased: Vec<bool>,
    put: BTreeMap<usize, char>,
    inserted: BTreeMap<usize, String>,
}

/// Text that the given program does not have, at a place of the script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Inserted {
    pub(super) line: u32,
    pub(super) column: u32,
    pub(super) width: u32,
}

impl<'s> Edits<'s> {
    pub(super) fn new(source: &'s str) -> Self {
        Edits { source, erased: vec![false; source.len()], put: BTreeMap::new(), inserted: BTreeMap::new() }
    }

    /// Puts a blank in the place of every character but the ends of lines.
    pub(super) fn blank(&mut self, span: Span) {
        let range = span.start as usize..span.end as usize;
        if let Some(erased) = self.erased.get_mut(range) {
            erased.fill(true);
        }
    }

    /// Whether what begins at `offset` is blank.
    pub(super) fn is_blank(&self, offset: u32) -> bool {
        self.erased.get(offset as usize).copied().unwrap_or(false)
    }

    /// Puts `char` in the place of the one that begins at `offset`.
    pub(super) fn put(&mut self, offset: u32, char: char) {
        self.put.insert(offset as usize, char);
    }

    /// Puts `char` in the place of the last one before `end`.
    pub(super) fn put_last(&mut self, end: u32, char: char) {
        if let Some((at, _)) = self.source.get(..end as usize).and_then(|text| text.char_indices().next_back()) {
            self.put.insert(at, char);
        }
    }

    /// Puts `text` before what is at `offset`.
    pub(super) fn insert(&mut self, offset: u32, text: &str) {
        self.inserted.entry(offset as usize).or_default().push_str(text);
    }

    /// Whether a line ends in `span`.
    pub(super) fn has_line_end(&self, span: Span) -> bool {
        let text = self.source.get(span.start as usize..span.end as usize).unwrap_or_default();
        text.contains(['\n', '\r', '\u{2028}', '\u{2029}'])
    }

    /// The script that the changed text makes. `opened`, unless it is 0, is just behind a character that does not count.
    pub(super) fn script(&self, opened: usize) -> Script {
        let mut made = Made::default();
        made.insert(BEFORE);
        for (at, char) in self.source.char_indices() {
            if let Some(text) = self.inserted.get(&at) {
                made.insert(text);
            }
            let char = match self.put.get(&at) {
                Some(put) => *put,
                None if self.erased.get(at) == Some(&true) && !is_white(char) => ' ',
                None => char,
            };
            if at + 1 == opened {
                made.insert(char.encode_utf8(&mut [0; 4]));
            } else {
                made.push(char, self.source.get(at + char.len_utf8()..).and_then(|rest| rest.chars().next()));
            }
        }
        if let Some(text) = self.inserted.get(&self.source.len()) {
            made.insert(text);
        }
        made.text.push_str(BEHIND);
        Script { text: made.text, inserted: made.inserted, end: place(self.source, self.source.len()) }
    }
}

fn is_white(char: char) -> bool {
    matches!(char, '\n' | '\r' | '\u{2028}' | '\u{2029}' | '\t')
}

/// A script that is being put together.
struct Made {
    text: String,
    inserted: Vec<Inserted>,
    line: u32,
    column: u32,
}

impl Default for Made {
    fn default() -> Self {
        Made { text: String::new(), inserted: Vec::new(), line: 1, column: 1 }
    }
}

impl Made {
    fn insert(&mut self, text: &str) {
        let width = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
        self.inserted.push(Inserted { line: self.line, column: self.column, width });
        self.text.push_str(text);
        self.column += width;
    }

    fn push(&mut self, char: char, next: Option<char>) {
        self.text.push(char);
        if is_line_end(char, next) {
            self.line += 1;
            self.column = 1;
        } else {
            self.column += 1;
        }
    }
}
