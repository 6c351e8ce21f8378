//! Everything below a folder: what a walk is asked for, what it shows, and a plain walk for any home of files.

pub(super) mod ignored;
mod plain;

use std::fmt;
use std::io::Read;

use crate::model::path::WsPath;
use crate::workspace::{FileErrorKind, Kind};

pub(super) use plain::walk as plain;

/// So many places are named of those that cannot be looked into.
const PLACES_NAMED: usize = 3;

/// What a walk is asked for.
#[derive(Clone, Copy)]
pub struct Walk<'a> {
    /// Whether to show what `.gitignore`, `.ignore` and `.git/info/exclude` leave out, and what has a name that begins with
    /// a dot. As in ripgrep, the nearest file has the last word, `.ignore` has it over `.gitignore`, and what a file takes in again
    /// is shown even if its name begins with a dot. Unlike there, `.gitignore` counts outside of a repository too,
    /// and nothing counts that lies outside the workspace.
    pub include_ignored: bool,
    /// Is shown everything, in any order, by several threads at once.
    pub visit: &'a (dyn Fn(&Found<'_>) -> Flow + Sync),
}

/// How a walk goes on after something was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// With what is next; into a folder.
    On,
    /// With what is next; not into this folder.
    Past,
    /// It ends.
    End,
}

/// What a walk shows: a file, folder, link or other thing below the start, or the start itself where that is a file.
pub struct Found<'a> {
    /// Its path in the workspace.
    pub path: &'a str,
    /// Its path below the start; for a start that is a file, its name.
    pub below: &'a str,
    /// What it is. A link is not followed.
    pub kind: Kind,
    /// Opens it.
    pub(super) opener: &'a dyn Fn() -> Result<Body, FileErrorKind>,
}

/// The content of a file that a walk has shown.
pub struct Body {
    /// Its length in bytes as the system tells it. A hint: some files tell 0 and hold more.
    pub size: u64,
    /// Its bytes.
    pub content: Box<dyn Read + Send>,
}

/// What came of a walk.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Walked {
    /// Files, folders and other things that were left out as ignored or hidden; a folder counts as one.
    pub ignored: u64,
    /// Things whose names are not UTF-8, so that no call can name them. They are not shown, nor what is in them.
    pub unnamed: u64,
    /// Folders that could not be looked into.
    pub unreadable: Unreadable,
    /// Whether it was ended before it was through.
    pub ended: bool,
}

/// Places that could not be looked into.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unreadable {
    /// How many.
    pub count: u64,
    /// The first of them by name.
    pub named: Vec<String>,
}

impl Found<'_> {
    /// Its last part.
    #[must_use]
    pub fn name(&self) -> &str {
        self.below.rsplit('/').next().unwrap_or_default()
    }

    /// Opens the regular file that this is. A link is not followed, nothing is waited for.
    ///
    /// # Errors
    /// [`FileErrorKind::NotAFile`], [`FileErrorKind::NotFound`] if it has gone, and whatever the home runs into.
    pub fn open(&self) -> Result<Body, FileErrorKind> {
        (self.opener)()
    }
}

impl Unreadable {
    /// One more.
    pub fn add(&mut self, path: &str) {
        self.count += 1;
        self.named.push(if path.is_empty() { ".".to_owned() } else { path.to_owned() });
        self.cut();
    }

    /// These too.
    pub fn add_all(&mut self, others: Unreadable) {
        self.count += others.count;
        self.named.extend(others.named);
        self.cut();
    }

    // Whichever thread came first, the same ones are named.
    fn cut(&mut self) {
        self.named.sort_unstable();
        self.named.truncate(PLACES_NAMED);
    }
}

impl Walked {
    /// What one thread of a walk found out, together with what the others did.
    pub(super) fn add_all(&mut self, others: Walked) {
        self.ignored += others.ignored;
        self.unnamed += others.unnamed;
        self.unreadable.add_all(others.unreadable);
        self.ended |= others.ended;
    }
}

/// The path of `name` in `folder`, written into `path`.
pub(super) fn put_path(path: &mut String, folder: &str, name: &str) {
    path.clear();
    if !folder.is_empty() {
        path.push_str(folder);
        path.push('/');
    }
    path.push_str(name);
}

/// How many bytes of a path come before what lies below `start`.
pub(super) fn prefix(start: &WsPath) -> usize {
    if start.is_root() { 0 } else { start.as_str().len() + 1 }
}

impl fmt::Debug for Walk<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Walk").field("include_ignored", &self.include_ignored).finish_non_exhaustive()
    }
}

impl fmt::Debug for Found<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Found").field("path", &self.path).field("kind", &self.kind).finish_non_exhaustive()
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body").field("size", &self.size).finish_non_exhaustive()
    }
}
