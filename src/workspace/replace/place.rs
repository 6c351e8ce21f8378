//! Where a change lands: an open folder, and a name in it.

#[cfg(unix)]
use std::ffi::OsStr;
use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::Dir;
#[cfg(unix)]
use rustix::fs::Access;

use crate::model::path::WsPath;
use crate::workspace::local::{Base, Below, allowed, below, fault, patiently};
use crate::workspace::replace::identity::{FileId, folder_id};
use crate::workspace::{FileError, FileErrorKind};

/// As many links as Linux follows.
const LINKS: usize = 40;

/// A name in an open folder. What is done by it is done in that folder, wherever paths lead meanwhile.
#[derive(Debug)]
pub(super) struct Place {
    /// As the change names it.
    pub(super) path: WsPath,
    pub(super) dir: Arc<Dir>,
    pub(super) name: OsString,
    pub(super) folder: FileId,
    /// How the folder was reached,
    way: PathBuf,
    /// from the workspace's own folder of this name.
    at: WsPath,
}

impl Place {
    /// The place of the file at `path`, its own links followed one by one; the file need not be there.
    pub(super) fn of_file(base: &Base, path: &WsPath) -> Result<Self, FileError> {
        Place::of_file_below(&base.find(path)?, path)
    }

    /// The same, below one open folder.
    pub(super) fn of_file_below(below: &Below<'_>, path: &WsPath) -> Result<Self, FileError> {
        check_names(path)?;
        let mut way = PathBuf::from(below.path.as_str());
        for _ in 0..=LINKS {
            // A way that ends in `..` or `/` names a folder.
            let (folder, name) = split(&way).ok_or_else(|| FileErrorKind::NotAFile.at(path))?;
            let place = Place::new(below, path, folder, name)?;
            let target = match patiently(|| place.dir.symlink_metadata(&place.name)) {
                Ok(metadata) if metadata.is_symlink() => place.dir.read_link_contents(&place.name),
                Ok(metadata) if metadata.is_file() => return Ok(place),
                // Not even opened, which a FIFO's other end would notice.
                Ok(_) => return Err(FileErrorKind::NotAFile.at(path)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(place),
                Err(error) => Err(error),
            }
            .map_err(|error| fault(error).at(path))?;
            if target.has_root() {
                return Err(FileErrorKind::Outside.at(path));
            }
            // `..` is left for the system to resolve, since a part before it may be a link.
            way = folder.join(target);
        }
        Err(FileErrorKind::LinkLoop.at(path))
    }

    /// The place of the folder at `path`, links in its parents followed; nothing for the root.
    pub(super) fn of_folder(base: &Base, path: &WsPath) -> Result<Option<Self>, FileError> {
        check_names(path)?;
        if base.is_top(path) {
            return Ok(None);
        }
        let below = base.find(path)?;
        let way = Path::new(below.path.as_str());
        split(way).map(|(folder, name)| Place::new(&below, path, folder, name)).transpose()
    }

    fn new(below: &Below<'_>, path: &WsPath, folder: &Path, name: OsString) -> Result<Self, FileError> {
        let way = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let opened = patiently(|| below.dir.open_dir(way)).and_then(|dir| Ok((folder_id(&dir)?, dir)));
        match opened {
            Ok((folder, dir)) => {
                let (dir, way) = (Arc::new(dir), way.to_owned());
                Ok(Place { path: path.clone(), dir, name, folder, way, at: below.at.clone() })
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // Told of the folder, so that the message names what is to be made.
                let missing = folder.to_str().and_then(|folder| WsPath::parse(folder).ok());
                Err(FileErrorKind::NotFound
                    .at(&missing.map_or_else(|| path.clone(), |missing| missing.under(below.at))))
            }
            Err(error) => Err(fault(error).at(path)),
        }
    }

    /// The place at `real`, which is where links led once: none is followed at its end. Nothing if its folder is gone.
    pub(super) fn of_real(base: &Base, path: &WsPath, real: &WsPath) -> Result<Option<Self>, FileError> {
        let Ok(below) = base.find(real) else { return Ok(None) };
        let Some((folder, name)) = split(Path::new(below.path.as_str())) else { return Ok(None) };
        match Place::new(&below, path, folder, name) {
            Ok(place) => Ok(Some(place)),
            Err(FileError { kind: FileErrorKind::NotFound | FileErrorKind::NotADirectory, .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Where links lead: the path of this very place. The path as it was given, where that is not text.
    pub(super) fn real(&self, base: &Base) -> String {
        base.find(&self.path).map_or_else(|_| self.path.as_str().to_owned(), |below| self.real_below(&below))
    }

    /// The same, below one open folder.
    pub(super) fn real_below(&self, below: &Below<'_>) -> String {
        let real = patiently(|| below.dir.canonicalize(&self.way)).ok().map(|folder| folder.join(&self.name));
        let real = real.as_deref().and_then(Path::to_str).and_then(|real| WsPath::parse(real).ok());
        real.map_or_else(|| self.path.clone(), |real| real.under(below.at)).as_str().to_owned()
    }

    /// Refuses a folder in which this process may make and remove nothing: whatever a change does, it does that.
    pub(super) fn check_folder(&self) -> Result<(), FileErrorKind> {
        match may_change(&self.dir).map_err(fault) {
            Err(FileErrorKind::PermissionDenied) => Err(FileErrorKind::ClosedFolder(self.folder_name())),
            // What else is wrong will show, and where.
            _ => Ok(()),
        }
    }

    fn folder_name(&self) -> String {
        match self.way.to_str().map(|way| WsPath::parse(way).map(|way| way.under(&self.at))) {
            Some(Ok(folder)) if folder.is_root() => "of the workspace itself".to_owned(),
            Some(Ok(folder)) => folder.to_string(),
            _ => self.way.display().to_string(),
        }
    }

    /// Whether both are the same name in the same folder.
    pub(super) fn is(&self, other: &Place) -> bool {
        self.folder == other.folder && self.name == other.name
    }

    /// Tells this place apart for a lock.
    pub(super) fn key(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.folder, &self.name).hash(&mut hasher);
        hasher.finish()
    }
}

#[cfg(unix)]
fn may_change(folder: &Dir) -> io::Result<()> {
    may(folder, OsStr::new("."), Access::WRITE_OK | Access::EXEC_OK)
}

#[cfg(not(unix))]
fn may_change(_: &Dir) -> io::Result<()> {
    Ok(())
}

/// Refuses what this process may not do with what is in `folder` under `name`, a link not followed.
#[cfg(unix)]
pub(super) fn may(folder: &Dir, name: &OsStr, access: Access) -> io::Result<()> {
    use rustix::fs::{AtFlags, accessat};
    use rustix::io::Errno;
    let ask = |flags| accessat(folder, name, access, flags);
    match ask(AtFlags::EACCESS | AtFlags::SYMLINK_NOFOLLOW) {
        // Older systems know no flags. That the name is no link has been looked at.
        Err(Errno::NOSYS | Errno::INVAL | Errno::NOTSUP) => Ok(ask(AtFlags::empty())?),
        done => Ok(done?),
    }
}

/// Whether something is at `path` and no link on the way, nor at its end. One question to the system, where it can answer.
#[cfg(target_os = "linux")]
pub(super) fn is_straight(root: &Dir, path: &WsPath) -> bool {
    use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    openat2(root, below(path), OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), resolve).is_ok()
}

#[cfg(not(target_os = "linux"))]
pub(super) fn is_straight(_: &Dir, _: &WsPath) -> bool {
    false
}

/// Refuses names that this system would take for something else.
pub(super) fn check_names(path: &WsPath) -> Result<(), FileError> {
    path.components().try_for_each(allowed).map_err(|kind| kind.at(path))
}

/// The folder and the name of what `way` leads to, if it can be a file.
fn split(way: &Path) -> Option<(&Path, OsString)> {
    let text = way.as_os_str().as_encoded_bytes();
    if text.ends_with(b"/") || text.ends_with(b"/.") {
        return None;
    }
    match way.components().next_back()? {
        Component::Normal(name) => Some((way.parent()?, name.to_owned())),
        Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => None,
    }
}
