//! Everything that a commit does to the disk, one function a deed: the seam at which tests let deeds fail or be lost.

use std::ffi::OsStr;
use std::io::{self, Read, Seek, Write};

use cap_std::fs::{Dir, File, OpenOptions};

use crate::workspace::local::patiently;
use crate::workspace::nodes;
use crate::workspace::replace::identity::{file_id, folder_id, id};
use crate::workspace::replace::place::Place;
use crate::workspace::replace::trial::{self, Ability, Deed};
use crate::workspace::replace::{exchange, sync};
use crate::workspace::space;

/// Who may read a new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// Only the owner: it is a copy of something that may be private.
    Owner,
    /// Whoever the process's umask and the folder let in.
    Usual,
}

/// Does a deed, again for as long as a signal cuts it short.
fn deed<T>(mut attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    patiently(|| {
        trial::step()?;
        attempt()
    })
}

/// A new file without a name, if the file system has that and the name can be given later.
pub(super) fn create_unnamed(dir: &Dir, access: Access) -> io::Result<Option<File>> {
    let file = deed(|| Ok(unnamed(dir, access)))?;
    if let Some(file) = &file {
        trial::note(|| Ok(Deed::Created { file: file_id(file)? }));
    }
    Ok(file)
}

/// A new file of that name.
pub(super) fn create(dir: &Dir, name: &str, access: Access) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    cap_std::fs::OpenOptionsExt::mode(&mut options, access.mode());
    let file = deed(|| dir.open_with(name, &options))?;
    trial::note(|| Ok(Deed::Created { file: file_id(&file)? }));
    trial::note(|| named(&file, dir, name.as_ref()));
    Ok(file)
}

/// Writes from the start of `file`.
pub(super) fn write(file: &File, bytes: &[u8]) -> io::Result<()> {
    deed(|| {
        let mut writer = file;
        writer.rewind()?;
        writer.write_all(bytes)
    })?;
    trial::note(|| wrote(file));
    Ok(())
}

/// Copies all of `from` over the start of `to`, and tells how much that was.
pub(super) fn copy(from: &File, to: &File) -> io::Result<u64> {
    let len = deed(|| {
        let (mut reader, mut writer) = (from, to);
        space::may_hold(reader.metadata()?.len())?;
        reader.rewind()?;
        writer.rewind()?;
        io::copy(&mut reader, &mut writer)
    })?;
    trial::note(|| wrote(to));
    Ok(len)
}

/// Sees to it that `file` can grow, as far as the file system can tell beforehand.
pub(super) fn reserve(file: &File, len: usize) -> io::Result<()> {
    deed(|| space::reserve(file, len))
}

pub(super) fn set_len(file: &File, len: u64) -> io::Result<()> {
    deed(|| file.set_len(len))?;
    trial::note(|| wrote(file));
    Ok(())
}

/// Waits until the bytes of `file` are on disk.
pub(super) fn sync_file(file: &File) -> io::Result<()> {
    deed(|| if trial::without(Ability::Sync) { Ok(()) } else { file.sync_all() })?;
    trial::note(|| Ok(Deed::SyncedFile { file: file_id(file)? }));
    Ok(())
}

/// Waits until the names in `dir` are on disk.
pub(super) fn sync_folder(dir: &Dir) -> io::Result<()> {
    deed(|| if trial::without(Ability::Sync) { Ok(()) } else { sync::sync_folder(dir) })?;
    trial::note(|| Ok(Deed::SyncedDir { folder: folder_id(dir)? }));
    Ok(())
}

/// Gives a file that has no name its first one.
pub(super) fn give_name(file: &File, dir: &Dir, name: &OsStr) -> io::Result<()> {
    deed(|| link_unnamed(file, dir, name))?;
    trial::note(|| named(file, dir, name));
    Ok(())
}

/// Gives a file a second name. False if that cannot be done here.
pub(super) fn link(dir: &Dir, from: &OsStr, to: &OsStr) -> io::Result<bool> {
    patiently(trial::step)?;
    if trial::without(Ability::Link) {
        return Ok(false);
    }
    match patiently(|| dir.hard_link(from, dir, to)) {
        Ok(()) => {
            let linked = || Ok::<_, io::Error>((id(&dir.symlink_metadata(to)?), folder_id(dir)?));
            trial::note(|| linked().map(|(file, folder)| Deed::Named { file, folder, name: to.to_owned() }));
            Ok(true)
        }
        Err(error) if matches!(error.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound) => Err(error),
        // Not every file system has second names.
        Err(_) => Ok(false),
    }
}

/// Renames `from` to `to`, whatever had that name.
pub(super) fn rename(dir: &Dir, from: &OsStr, to: &OsStr) -> io::Result<()> {
    deed(|| dir.rename(from, dir, to))?;
    trial::note(|| renamed(dir, from, to));
    Ok(())
}

/// Gives what is at `from` the name `to`, in whatever folder, whatever had that name.
pub(super) fn transfer(from: &Place, to: &Place) -> io::Result<()> {
    deed(|| from.dir.rename(&from.name, &to.dir, &to.name))?;
    trial::note(|| Ok(moved(from, to)));
    Ok(())
}

/// The same if nothing has that name. False if that cannot be done here.
pub(super) fn transfer_if_free(from: &Place, to: &Place) -> io::Result<bool> {
    let done = deed(|| exchange::transfer_if_free((&from.dir, &from.name), (&to.dir, &to.name)))?;
    if done {
        trial::note(|| Ok(moved(from, to)));
    }
    Ok(done)
}

/// Removes a name with everything that is below it.
pub(super) fn clear(dir: &Dir, name: &OsStr) -> io::Result<()> {
    nodes::clear(dir, name, &unlink, &remove_dir)
}

/// Renames `from` to `to` if nothing has that name. False if that cannot be done here.
pub(super) fn rename_if_free(dir: &Dir, from: &OsStr, to: &OsStr) -> io::Result<bool> {
    let done = deed(|| exchange::rename_if_free(dir, from, to))?;
    if done {
        trial::note(|| renamed(dir, from, to));
    }
    Ok(done)
}

/// Exchanges what two names stand for, in one step. False if that cannot be done here.
pub(super) fn exchange(dir: &Dir, a: &OsStr, b: &OsStr) -> io::Result<bool> {
    let done = deed(|| exchange::exchange(dir, a, b))?;
    if done {
        trial::note(|| Ok(Deed::Exchanged { folder: folder_id(dir)?, a: a.to_owned(), b: b.to_owned() }));
    }
    Ok(done)
}

/// Takes a name away.
pub(super) fn unlink(dir: &Dir, name: &OsStr) -> io::Result<()> {
    deed(|| dir.remove_file(name))?;
    trial::note(|| Ok(Deed::Unnamed { folder: folder_id(dir)?, name: name.to_owned() }));
    Ok(())
}

/// Makes a folder.
pub(super) fn make_dir(dir: &Dir, name: &OsStr) -> io::Result<()> {
    deed(|| dir.create_dir(name))?;
    let made = || Ok::<_, io::Error>((id(&dir.symlink_metadata(name)?), folder_id(dir)?));
    trial::note(|| made().map(|(made, folder)| Deed::MadeDir { made, folder, name: name.to_owned() }));
    Ok(())
}

/// Removes a folder, if it is empty.
pub(super) fn remove_dir(dir: &Dir, name: &OsStr) -> io::Result<()> {
    deed(|| dir.remove_dir(name))?;
    trial::note(|| Ok(Deed::RemovedDir { folder: folder_id(dir)?, name: name.to_owned() }));
    Ok(())
}

impl Access {
    fn mode(self) -> u32 {
        match self {
            Access::Owner => 0o600,
            Access::Usual => 0o666,
        }
    }
}

fn wrote(file: &File) -> io::Result<Deed> {
    let mut reader = file;
    let at = reader.stream_position()?;
    reader.rewind()?;
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes)?;
    reader.seek(io::SeekFrom::Start(at))?;
    Ok(Deed::Wrote { file: file_id(file)?, bytes })
}

fn named(file: &File, dir: &Dir, name: &OsStr) -> io::Result<Deed> {
    Ok(Deed::Named { file: file_id(file)?, folder: folder_id(dir)?, name: name.to_owned() })
}

fn moved(from: &Place, to: &Place) -> Deed {
    let (from, to) = ((from.folder, from.name.clone()), (to.folder, to.name.clone()));
    Deed::Moved { from, to }
}

fn renamed(dir: &Dir, from: &OsStr, to: &OsStr) -> io::Result<Deed> {
    Ok(Deed::Renamed { folder: folder_id(dir)?, from: from.to_owned(), to: to.to_owned() })
}

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
