//! Opening for a walk: folders from the root, files from their folder, and never through a link.

use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use cap_std::fs::Dir;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, fstat, openat, statat};
use rustix::io::retry_on_intr;

use crate::model::path::WsPath;
use crate::workspace::local::folder::kind;
use crate::workspace::local::{fault, patiently};
use crate::workspace::walk::ignored::MOST_BYTES;
use crate::workspace::{Body, FileErrorKind, Kind};

const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC).union(OFlags::NONBLOCK);
const FILE: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// An open folder that paths are resolved beneath, and what it is called in the workspace.
pub(super) struct Root<'a> {
    pub(super) dir: &'a Dir,
    pub(super) at: &'a WsPath,
}

impl Root<'_> {
    /// Opens the folder at `path`, through no link.
    pub(super) fn folder(&self, path: &str) -> io::Result<OwnedFd> {
        beneath(self.dir, self.below(path).ok_or(io::ErrorKind::NotFound)?, FOLDER)
    }

    /// The bytes of an ignore file; one that cannot be read says nothing.
    pub(super) fn ignore_file(&self, path: &str) -> Option<Vec<u8>> {
        let file = beneath(self.dir, self.below(path)?, FILE).ok()?;
        let (Kind::File, _) = of_handle(&file).ok()? else { return None };
        let mut bytes = Vec::new();
        std::fs::File::from(file).take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    /// Whether something is at `path`.
    pub(super) fn is_there(&self, path: &str) -> bool {
        self.below(path).is_some_and(|below| self.dir.symlink_metadata(below).is_ok())
    }

    /// The path beneath the open folder; nothing for what is above it.
    fn below<'p>(&self, path: &'p str) -> Option<&'p str> {
        if self.at.is_root() {
            return Some(path);
        }
        let rest = path.strip_prefix(self.at.as_str())?;
        if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
    }
}

/// Opens the regular file `name` of a folder. What it is is asked of the open handle.
pub(super) fn file(folder: &OwnedFd, name: &str) -> Result<Body, FileErrorKind> {
    let file = retry_on_intr(|| openat(folder, name, FILE, Mode::empty())).map_err(|error| fault(error.into()))?;
    let (kind, size) = of_handle(&file).map_err(fault)?;
    match kind {
        Kind::File => Ok(Body { size, content: Box::new(std::fs::File::from(file)) }),
        Kind::Dir | Kind::Link | Kind::Other => Err(FileErrorKind::NotAFile),
    }
}

/// What `name` is in a folder, a link not followed, and its size.
pub(super) fn look(folder: &OwnedFd, name: &str) -> io::Result<(Kind, u64)> {
    let stat = retry_on_intr(|| statat(folder, name, AtFlags::SYMLINK_NOFOLLOW))?;
    Ok(told(&stat))
}

fn of_handle(file: &OwnedFd) -> io::Result<(Kind, u64)> {
    Ok(told(&retry_on_intr(|| fstat(file))?))
}

fn told(stat: &rustix::fs::Stat) -> (Kind, u64) {
    #[allow(clippy::unnecessary_cast, reason = "the type differs between systems")]
    let size = u64::try_from(stat.st_size as i64).unwrap_or(0);
    (kind(FileType::from_raw_mode(stat.st_mode)).unwrap_or(Kind::Other), size)
}

#[cfg(target_os = "linux")]
fn beneath(root: &Dir, path: &str, flags: OFlags) -> io::Result<OwnedFd> {
    use rustix::fs::{ResolveFlags, openat2};
    use rustix::io::Errno;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let shown = if path.is_empty() { "." } else { path };
    loop {
        match openat2(root.as_fd(), shown, flags, Mode::empty(), resolve) {
            // The second means that something was renamed meanwhile.
            Err(Errno::INTR | Errno::AGAIN) => {}
            // An old system, or one whose filter does not know it.
            Err(Errno::NOSYS | Errno::PERM) => return portably(root, shown, flags),
            opened => return Ok(opened?),
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn beneath(root: &Dir, path: &str, flags: OFlags) -> io::Result<OwnedFd> {
    portably(root, if path.is_empty() { "." } else { path }, flags)
}

/// One folder after the other.
fn portably(root: &Dir, path: &str, flags: OFlags) -> io::Result<OwnedFd> {
    let mut at = patiently(|| root.as_fd().try_clone_to_owned())?;
    let (folders, last) = match Path::new(path).parent().and_then(Path::to_str) {
        Some(parent) if !parent.is_empty() => (parent, &path[parent.len() + 1..]),
        _ => ("", path),
    };
    for part in folders.split('/').filter(|part| !part.is_empty()) {
        at = retry_on_intr(|| openat(&at, part, FOLDER, Mode::empty()))?;
    }
    Ok(retry_on_intr(|| openat(&at, last, flags, Mode::empty()))?)
}

/// Whether the folder at `path` opens, in this system's way and in the portable one.
#[cfg(test)]
pub(in crate::workspace::local) fn both_ways(dir: &Dir, path: &str) -> (bool, bool) {
    let shown = if path.is_empty() { "." } else { path };
    (beneath(dir, path, FOLDER).is_ok(), portably(dir, shown, FOLDER).is_ok())
}
