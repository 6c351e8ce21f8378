//! What ignore files and hidden names leave out of a walk.

use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder, Glob};

use crate::model::path::WsPath;
use crate::workspace::walk::put_path;

/// So many bytes of an ignore file count.
pub(in crate::workspace) const MOST_BYTES: u64 = 1024 * 1024;

/// What the ignore files of one folder say, and those of the folders above it.
pub(in crate::workspace) struct Level {
    above: Above,
    /// How many bytes of a path come before what lies below the folder.
    prefix: usize,
    dot: Gitignore,
    git: Gitignore,
    exclude: Gitignore,
    /// The folder is the top of a repository: what git ignores above it does not count in it.
    repository: bool,
}

/// The nearest level from some folder upward; nothing where no ignore file counts.
pub(in crate::workspace) type Above = Option<Arc<Level>>;

/// Which of the names that matter here a folder holds.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::workspace) struct Holds {
    dot: bool,
    git: bool,
    repository: bool,
}

/// Reads a file of the workspace by its path; nothing if it cannot be read.
pub(in crate::workspace) type ReadFile<'a> = &'a dyn Fn(&str) -> Option<Vec<u8>>;

const DOT: &str = ".ignore";
const GIT: &str = ".gitignore";
const EXCLUDE: &str = ".git/info/exclude";
const REPOSITORY: &str = ".git";

impl Holds {
    /// Takes note of a name of the folder.
    pub(in crate::workspace) fn note(&mut self, name: &[u8]) {
        // Nearly all names are told apart by their first byte.
        if name.first() == Some(&b'.') {
            self.dot |= name == DOT.as_bytes();
            self.git |= name == GIT.as_bytes();
            self.repository |= name == REPOSITORY.as_bytes();
        }
    }
}

impl Level {
    /// What counts in `folder`, which lies below what `above` is about.
    pub(in crate::workspace) fn enter(above: &Above, folder: &str, holds: Holds, read: ReadFile<'_>) -> Above {
        if !(holds.dot || holds.git || holds.repository) {
            return above.clone();
        }
        let mut path = String::new();
        let mut rules = |wanted: bool, name: &str| {
            put_path(&mut path, folder, name);
            wanted.then(|| read(&path)).flatten().map_or_else(Gitignore::empty, |bytes| rules(&bytes))
        };
        Some(Arc::new(Level {
            dot: rules(holds.dot, DOT),
            git: rules(holds.git, GIT),
            exclude: rules(holds.repository, EXCLUDE),
            repository: holds.repository,
            prefix: if folder.is_empty() { 0 } else { folder.len() + 1 },
            above: above.clone(),
        }))
    }

    /// What counts in the folders above `start`. `is_there` tells whether something is at a path.
    pub(in crate::workspace) fn above(start: &WsPath, read: ReadFile<'_>, is_there: &dyn Fn(&str) -> bool) -> Above {
        let mut above = None;
        let mut folder = WsPath::root();
        for part in start.components() {
            let repository = is_there(folder.join(REPOSITORY).as_str());
            let holds = Holds { dot: true, git: true, repository };
            above = Level::enter(&above, folder.as_str(), holds, read);
            folder = folder.join(part);
        }
        above
    }
}

/// Whether a walk leaves out what is at `path`, whose last part is `name`.
pub(in crate::workspace) fn leaves_out(above: &Above, path: &str, name: &str, is_dir: bool) -> bool {
    let (mut dot, mut git, mut exclude): (Match<&Glob>, _, _) = (Match::None, Match::None, Match::None);
    let mut same_repository = true;
    let mut next = above.as_deref();
    while let Some(level) = next {
        let below = &path[level.prefix..];
        if dot.is_none() {
            dot = level.dot.matched(below, is_dir);
        }
        if same_repository {
            if git.is_none() {
                git = level.git.matched(below, is_dir);
            }
            if exclude.is_none() {
                exclude = level.exclude.matched(below, is_dir);
            }
        }
        same_repository &= !level.repository;
        next = level.above.as_deref();
    }
    match dot.or(git).or(exclude) {
        Match::Ignore(_) => true,
        Match::Whitelist(_) => false,
        Match::None => name.starts_with('.'),
    }
}

/// A line that is no pattern says nothing, as in git.
fn rules(bytes: &[u8]) -> Gitignore {
    let text = String::from_utf8_lossy(bytes);
    let mut builder = GitignoreBuilder::new("");
    for line in text.strip_prefix('\u{feff}').unwrap_or(&text).lines() {
        let _ = builder.add_line(None, line);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}
