//! A folder of the file system as a workspace.

mod fault;
mod folder;
mod list;
mod names;
mod read;
#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests look at the folder from outside")]
pub(super) mod tests;

use std::io;
use std::path::{Component, Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use crate::model::change::ChangeSet;
use crate::model::event::FsStep;
use crate::model::path::WsPath;
pub(super) use crate::workspace::local::fault::{fault, patiently};
pub(super) use crate::workspace::local::names::allowed;
use crate::workspace::{
    About, Atomic, Durability, FileError, Journal, Listing, OpenFile, Promise, Recovered, Stat, Workspace, replace,
};

/// A folder of the file system.
///
/// The folder is opened once and every path is resolved beneath that handle, by the system where it can
/// (`openat2` with `RESOLVE_BENEATH`), so that no link and no race leads outside. A file is changed by a
/// replacement that is swapped in and back out again if the displaced bytes are not the expected ones.
#[derive(Debug)]
pub struct Local {
    root: Dir,
    roots: Vec<String>,
    durability: Durability,
}

/// Why a folder cannot be a workspace.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Nothing is there.
    #[error("{} does not exist. Make that folder first, or name another one", path.display())]
    NotFound {
        /// Where.
        path: PathBuf,
    },
    /// Something is there, but not a folder.
    #[error("{} is not a folder. Name the folder that holds it", path.display())]
    NotADirectory {
        /// Where.
        path: PathBuf,
    },
    /// The system does not let this process in.
    #[error("the system does not let this process into {}. Change its permissions, or name another folder", path.display())]
    PermissionDenied {
        /// Where.
        path: PathBuf,
    },
    /// Anything else.
    #[error("{} cannot be opened: {source}. Check the path, or name another folder", path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

impl Local {
    /// Opens `root`, which must exist.
    ///
    /// # Errors
    /// See [`OpenError`].
    #[expect(clippy::disallowed_methods, reason = "the one place where a folder of the system is entered")]
    pub fn open(root: impl AsRef<Path>) -> Result<Self, OpenError> {
        let root = root.as_ref();
        let refuse = |source| OpenError::of(root, source);
        // A plain open of a FIFO would wait, so its kind is looked at first.
        if !std::fs::metadata(root).map_err(refuse)?.is_dir() {
            return Err(OpenError::NotADirectory { path: root.to_owned() });
        }
        let handle = Dir::open_ambient_dir(root, ambient_authority()).map_err(refuse)?;
        Ok(Local { root: handle, roots: spellings(root).map_err(refuse)?, durability: Durability::Full })
    }

    /// The same folder with another promise of what a change outlives. In files that is at least [`Durability::Process`].
    #[must_use]
    pub fn with_durability(self, durability: Durability) -> Self {
        let durability = match durability {
            Durability::Full => Durability::Full,
            Durability::Process | Durability::None => Durability::Process,
        };
        Local { durability, ..self }
    }
}

impl OpenError {
    fn of(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound => OpenError::NotFound { path },
            io::ErrorKind::NotADirectory => OpenError::NotADirectory { path },
            io::ErrorKind::PermissionDenied => OpenError::PermissionDenied { path },
            _ => OpenError::Io { path, source },
        }
    }
}

impl Workspace for Local {
    fn promise(&self) -> Promise {
        Promise { atomic: Atomic::PerFile, durable: self.durability, folders_implied: false }
    }

    fn roots(&self) -> &[String] {
        &self.roots
    }

    fn stat(&self, path: &WsPath) -> Result<Stat, FileError> {
        read::stat(&self.root, path).map_err(|error| fault(error).at(path))
    }

    fn about(&self, path: &WsPath) -> Result<About, FileError> {
        read::about(&self.root, path).map_err(|error| fault(error).at(path))
    }

    fn open(&self, path: &WsPath) -> Result<OpenFile, FileError> {
        read::open(&self.root, path).map_err(|kind| kind.at(path))
    }

    fn list(&self, path: &WsPath, limit: usize) -> Result<Listing, FileError> {
        list::list(&self.root, path, limit).map_err(|error| fault(error).at(path))
    }

    fn real(&self, path: &WsPath) -> WsPath {
        replace::real(&self.root, path)
    }

    fn commit(&self, set: &ChangeSet, journal: &dyn Journal) -> Result<(), FileError> {
        replace::commit(&self.root, self.durability, set, journal)
    }

    fn recover(&self, steps: &[FsStep], journal: &dyn Journal) -> Result<Recovered, FileError> {
        replace::recover(&self.root, self.durability, steps, journal)
    }
}

/// Absolute paths of `root`: as it was typed, and as the system resolves it.
#[expect(clippy::disallowed_methods, reason = "what the root is called is told, never opened")]
fn spellings(root: &Path) -> io::Result<Vec<String>> {
    let typed = std::path::absolute(root)?;
    // `..` behind a link names another folder than it seems to, so nothing is said about it.
    let typed = Some(typed).filter(|typed| !typed.components().any(|part| part == Component::ParentDir));
    let resolved = std::fs::canonicalize(root)?;
    let mut roots: Vec<String> =
        typed.into_iter().chain([resolved]).filter_map(|path| path.to_str().map(plain)).collect();
    roots.dedup();
    Ok(roots)
}

/// A path as people write it: without a trailing separator or Windows' `\\?\`.
fn plain(path: &str) -> String {
    let path = if cfg!(windows) { path.strip_prefix(r"\\?\").unwrap_or(path) } else { path };
    match path.trim_end_matches(std::path::is_separator) {
        "" => path.to_owned(),
        trimmed => trimmed.to_owned(),
    }
}

/// How `path` is written below an open root.
pub(super) fn below(path: &WsPath) -> &Path {
    Path::new(if path.is_root() { "." } else { path.as_str() })
}
