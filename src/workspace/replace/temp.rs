//! A file beside its target that is not in anyone's way: without a name where the system allows that, so that
//! nothing is left behind whatever happens.

use std::ffi::{OsStr, OsString};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read, Seek, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cap_std::fs::{Dir, File, OpenOptions};

use crate::model::version::{Version, VersionHasher};
use crate::workspace::local::patiently;
use crate::workspace::replace::exchange::rename_if_free;
use crate::workspace::replace::identity::{FileId, file_id, id};
use crate::workspace::replace::space;
use crate::workspace::replace::trial::{self, Ability};

/// A temporary file. Its name, if it has one, goes when this is dropped.
#[derive(Debug)]
pub(super) struct Temp {
    pub(super) file: File,
    dir: Arc<Dir>,
    name: Option<OsString>,
}

/// Who may read a new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// Only the owner: it is a copy of something that may be private.
    Owner,
    /// Whoever the process's umask and the folder let in.
    Usual,
}

impl Temp {
    /// Writes `content` to a new file in `dir`; on disk when this returns, if it is to be durable.
    pub(super) fn write(dir: &Arc<Dir>, access: Access, content: &[u8]) -> io::Result<Self> {
        space::may_hold(content.len())?;
        let temp = Temp::create(dir, access)?;
        trial::step()?;
        (&temp.file).write_all(content)?;
        Ok(temp)
    }

    /// A new, empty file in `dir`.
    pub(super) fn create(dir: &Arc<Dir>, access: Access) -> io::Result<Self> {
        trial::step()?;
        if let Some(file) = unnamed(dir, access) {
            return Ok(Temp { file, dir: Arc::clone(dir), name: None });
        }
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        cap_std::fs::OpenOptionsExt::mode(&mut options, access.mode());
        loop {
            let name = new_name();
            match patiently(|| dir.open_with(&name, &options)) {
                Ok(file) => return Ok(Temp { file, dir: Arc::clone(dir), name: Some(name) }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Waits until the content is on disk.
    pub(super) fn sync(&self) -> io::Result<()> {
        trial::step()?;
        self.file.sync_all()
    }

    /// The name of this file, given to it now if it had none.
    pub(super) fn named(&mut self) -> io::Result<&OsStr> {
        if self.name.is_none() {
            trial::step()?;
            let name = new_name();
            link_unnamed(&self.file, &self.dir, &name)?;
            self.name = Some(name);
        }
        Ok(self.name.as_deref().unwrap_or_default())
    }

    /// Gives the file its final name, if nothing has that name yet.
    pub(super) fn settle(&mut self, name: &OsStr) -> io::Result<()> {
        trial::step()?;
        let Some(own) = &self.name else { return link_unnamed(&self.file, &self.dir, name) };
        if !trial::without(Ability::Link) {
            match self.dir.hard_link(own, &self.dir, name) {
                Ok(()) => {
                    // At once, since a file of several names would be written in place by the next one.
                    if self.dir.remove_file(own).is_ok() {
                        self.name = None;
                    }
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
                // Not every file system has second names.
                Err(_) => {}
            }
        }
        if !rename_if_free(&self.dir, own, name)? {
            // Nothing here does it in one step, so somebody may get in between.
            match self.dir.symlink_metadata(name) {
                Ok(_) => return Err(io::ErrorKind::AlreadyExists.into()),
                Err(error) if error.kind() == io::ErrorKind::NotFound => self.dir.rename(own, &self.dir, name)?,
                Err(error) => return Err(error),
            }
        }
        self.name = None;
        Ok(())
    }

    /// From now on another file has the temporary name, and `name` is it.
    pub(super) fn takes_over(&mut self, name: OsString) {
        self.name = Some(name);
    }

    /// Leaves the name, and what has it, where it is.
    pub(super) fn leave(&mut self) -> Option<OsString> {
        self.name.take()
    }

    /// Whether `name` stands for this very file, and its bytes are still `content`.
    pub(super) fn is_at(&self, name: &OsStr, content: Version) -> io::Result<bool> {
        let there: Option<FileId> = match self.dir.symlink_metadata(name) {
            Ok(metadata) => Some(id(&metadata)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        Ok(there == Some(file_id(&self.file)?) && version(&self.file)? == content)
    }
}

impl Drop for Temp {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            // Nobody is left to tell; the name says whose it is.
            let _ = self.dir.remove_file(name);
        }
    }
}

impl Access {
    fn mode(self) -> u32 {
        match self {
            Access::Owner => 0o600,
            Access::Usual => 0o666,
        }
    }
}

/// The version of everything in `file`.
pub(super) fn version(file: &File) -> io::Result<Version> {
    let mut file = file;
    file.rewind()?;
    let mut hasher = VersionHasher::default();
    let mut piece = vec![0; 128 * 1024];
    loop {
        match patiently(|| file.read(&mut piece))? {
            0 => return Ok(hasher.finish()),
            len => hasher.update(&piece[..len]),
        }
    }
}

/// A name that nothing has: two processes never draw the same, but for a chance of one in 2^64.
pub(super) fn new_name() -> OsString {
    static DRAWN: AtomicU64 = AtomicU64::new(0);
    let random = RandomState::new().hash_one(DRAWN.fetch_add(1, Ordering::Relaxed));
    format!(".toolgate-{random:016x}.tmp").into()
}

/// A file in `dir` without a name, if the file system has that and the name can be given later.
#[cfg(target_os = "linux")]
fn unnamed(dir: &Dir, access: Access) -> Option<File> {
    use rustix::fs::{Access as Test, Mode, OFlags, openat};
    use std::sync::LazyLock;
    static NAMEABLE: LazyLock<bool> = LazyLock::new(|| rustix::fs::access("/proc/self/fd", Test::EXISTS).is_ok());
    if trial::without(Ability::Unnamed) || !*NAMEABLE {
        return None;
    }
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    // Why it was refused does not matter: a named file meets the same obstacle, or none.
    openat(dir, ".", flags, Mode::from_raw_mode(access.mode())).ok().map(File::from)
}

#[cfg(target_os = "linux")]
fn link_unnamed(file: &File, dir: &Dir, name: &OsStr) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    use std::os::fd::AsRawFd;
    let itself = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(linkat(CWD, itself, dir, name, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(not(target_os = "linux"))]
fn unnamed(_: &Dir, _: Access) -> Option<File> {
    None
}

#[cfg(not(target_os = "linux"))]
fn link_unnamed(_: &File, _: &Dir, _: &OsStr) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
