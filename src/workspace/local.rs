//! A folder of the file system as a workspace, or several by name.

mod base;
mod fault;
mod folder;
mod kin;
mod list;
mod names;
mod read;
#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests look at the folder from outside")]
pub(super) mod tests;
#[cfg(unix)]
mod walk;

use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use crate::model::change::ChangeSet;
use crate::model::event::FsStep;
use crate::model::folder::Folder;
use crate::model::path::WsPath;
pub(super) use crate::workspace::local::base::{Base, Below};
pub(super) use crate::workspace::local::fault::{fault, patiently};
pub(super) use crate::workspace::local::list::shown;
pub(super) use crate::workspace::local::names::allowed;
pub(super) use crate::workspace::local::read::kind_of;
use crate::workspace::watch::Watched;
use crate::workspace::{
    About, Atomic, Depth, Durability, FileError, Journal, Kind, Listing, OpenFile, Promise, Recovered, Root, Stat,
    Survey, Tell, Watch, Workspace, nodes, replace,
};
#[cfg(unix)]
use crate::workspace::{Walk, Walked};

/// A folder of the file system, or several under a name each, which the paths in them begin with.
///
/// A folder is opened once and every path is resolved beneath that handle, by the system where it can
/// (`openat2` with `RESOLVE_BENEATH`), so that no link and no race leads outside. A file is changed by a
/// replacement that is swapped in and back out again if the displaced bytes are not the expected ones.
#[derive(Debug)]
pub struct Local {
    base: Base,
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
    #[error(
        "the system does not let this process look into the folder {}. Change its permissions, or name another folder",
        path.display()
    )]
    PermissionDenied {
        /// Where.
        path: PathBuf,
    },
    /// A folder's name cannot begin a path.
    #[error("{name:?} cannot be the name of a folder here. Use letters, digits, - and _, such as --root code=DIR")]
    BadName {
        /// The name.
        name: String,
    },
    /// Two folders have the same name, or names that some systems take for the same.
    #[error("two folders are called {name:?}. Give each a name of its own")]
    SameName {
        /// The name.
        name: String,
    },
    /// A folder lies in another one, or is the same.
    #[error("{} lies in {}, which is a folder here already. Name only one of them", inner.display(), outer.display())]
    Nested {
        /// The one inside.
        inner: PathBuf,
        /// The one around it.
        outer: PathBuf,
    },
    /// No folder was named.
    #[error("no folder was named")]
    NoFolder,
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
    pub fn open(root: impl AsRef<Path>) -> Result<Self, OpenError> {
        let folder = enter(WsPath::root(), root.as_ref())?;
        Ok(Local { base: Base::new([folder]), durability: Durability::Full })
    }

    /// Opens several folders, which must exist, each under its name: paths begin with it.
    ///
    /// # Errors
    /// See [`OpenError`]; names must be fit for paths and no two alike, and no folder may lie in another.
    pub fn open_all<'a>(folders: impl IntoIterator<Item = (&'a str, &'a Path)>) -> Result<Self, OpenError> {
        let mut opened: Vec<(Root, Dir)> = Vec::new();
        for (name, path) in folders {
            let folder = enter(kin::name(name)?, path)?;
            for (other, _) in &opened {
                kin::check(other, &folder.0)?;
            }
            opened.push(folder);
        }
        if opened.is_empty() {
            return Err(OpenError::NoFolder);
        }
        Ok(Local { base: Base::new(opened), durability: Durability::Full })
    }

    /// The folders that this is made of, as the system resolves them.
    #[must_use]
    pub fn folders(&self) -> Vec<Folder> {
        let path = |root: &Root| root.spellings.last().map(PathBuf::from).unwrap_or_default();
        self.base.roots().iter().map(|root| Folder { at: root.at.clone(), path: path(root) }).collect()
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

    fn roots(&self) -> &[Root] {
        self.base.roots()
    }

    fn stat(&self, path: &WsPath) -> Result<Stat, FileError> {
        if self.base.is_top(path) {
            return Ok(TOP);
        }
        let Below { dir, path: below, .. } = self.base.find(path)?;
        read::stat(dir, &below).map_err(|error| fault(error).at(path))
    }

    fn about(&self, path: &WsPath) -> Result<About, FileError> {
        if self.base.is_top(path) {
            return Ok(About { stat: Some(TOP), target: None, mode: None, modified: None });
        }
        let Below { dir, path: below, .. } = self.base.find(path)?;
        read::about(dir, &below).map_err(|error| fault(error).at(path))
    }

    fn open(&self, path: &WsPath) -> Result<OpenFile, FileError> {
        let Below { dir, path: below, .. } = self.base.find(path)?;
        read::open(dir, &below).map_err(|kind| kind.at(path))
    }

    fn list(&self, path: &WsPath, limit: usize) -> Result<Listing, FileError> {
        if self.base.is_top(path) {
            return Ok(list::roots(self.base.roots(), limit));
        }
        let Below { dir, path: below, .. } = self.base.find(path)?;
        list::list(dir, &below, limit).map_err(|error| fault(error).at(path))
    }

    #[cfg(unix)]
    fn walk(&self, path: &WsPath, asked: &Walk<'_>) -> Result<Walked, FileError> {
        walk::walk(&self.base, path, asked).map_err(|kind| kind.at(path))
    }

    fn look(&self, path: &WsPath) -> Result<Kind, FileError> {
        if self.base.is_top(path) {
            return Ok(Kind::Dir);
        }
        let Below { dir, path: inner, .. } = self.base.find(path)?;
        let metadata = patiently(|| dir.symlink_metadata(below(&inner)));
        metadata.map(|metadata| kind_of(&metadata.file_type())).map_err(|error| fault(error).at(path))
    }

    fn survey(&self, path: &WsPath, depth: Depth) -> Result<Survey, FileError> {
        if self.base.is_top(path) {
            let surveys = self.base.roots().iter().map(|root| Ok((root.at.as_str(), self.survey(&root.at, depth)?)));
            return surveys.collect::<Result<Vec<_>, _>>().map(Survey::of_all);
        }
        let Below { dir, path: inner, at } = self.base.find(path)?;
        nodes::survey(dir, below(&inner), depth).map_err(|(place, error)| {
            let place = place.to_str().and_then(|place| WsPath::parse(place).ok());
            fault(error).at(&place.map_or_else(|| path.clone(), |place| place.under(at)))
        })
    }

    fn real(&self, path: &WsPath) -> WsPath {
        match self.base.find(path) {
            Ok(Below { dir, at, path: below }) => replace::real(dir, &below).under(at),
            Err(_) => path.clone(),
        }
    }

    fn watch(&self, tell: Tell) -> Option<Arc<dyn Watch>> {
        let base = self.base.try_clone().map_err(notify::Error::io);
        match base.and_then(|base| Watched::start(base, self.folders(), tell)) {
            Ok(watched) => Some(watched),
            Err(error) => {
                tracing::warn!(%error, "what other programs change cannot be seen");
                None
            }
        }
    }

    fn commit(&self, set: &ChangeSet, journal: &dyn Journal) -> Result<(), FileError> {
        replace::commit(&self.base, self.durability, set, journal)
    }

    fn recover(&self, steps: &[FsStep], journal: &dyn Journal) -> Result<Recovered, FileError> {
        replace::recover(&self.base, self.durability, steps, journal)
    }
}

/// The place above several folders.
const TOP: Stat = Stat { kind: Kind::Dir, size: 0, identity: None };

/// Opens the folder that is called `at`.
#[expect(clippy::disallowed_methods, reason = "the one place where a folder of the system is entered")]
fn enter(at: WsPath, path: &Path) -> Result<(Root, Dir), OpenError> {
    let refuse = |source| OpenError::of(path, source);
    // A plain open of a FIFO would wait, so its kind is looked at first.
    if !std::fs::metadata(path).map_err(refuse)?.is_dir() {
        return Err(OpenError::NotADirectory { path: path.to_owned() });
    }
    let dir = Dir::open_ambient_dir(path, ambient_authority()).map_err(refuse)?;
    // A handle is to be had of a folder that may not be read; found out here, no call has to fail over it.
    folder::Folder::open(&dir, Path::new(".")).map_err(refuse)?;
    Ok((Root { at, spellings: spellings(path).map_err(refuse)? }, dir))
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
