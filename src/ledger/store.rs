//! Files of the ledger's own folder: for this user only, appended to in whole lines, shared between processes.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use cap_std::fs::{Dir, DirBuilder, OpenOptions};
#[cfg(unix)]
use cap_std::fs::{DirBuilderExt, OpenOptionsExt};

use crate::workspace::space;

/// Takes a lock whose holder may have panicked: what it guards is whole after every step.
pub(super) fn hold<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The folder `name`, made for this user only if it is not there.
pub(super) fn folder(dir: &Dir, name: &str) -> io::Result<Dir> {
    match dir.open_dir(name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        opened => return opened,
    }
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    builder.mode(0o700);
    match dir.create_dir_with(name, &builder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => dir.open_dir(name),
    }
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    options.mode(0o600);
    options
}

/// Opens `name` for appending and reading, made for this user only if it is not there.
pub(super) fn append(dir: &Dir, name: &str) -> io::Result<File> {
    Ok(dir.open_with(name, options().append(true).read(true).create(true))?.into_std())
}

/// Makes `name`, which must not be there, for this user only.
pub(super) fn fresh(dir: &Dir, name: &str) -> io::Result<File> {
    Ok(dir.open_with(name, options().write(true).create_new(true))?.into_std())
}

/// Opens `name` for reading, nothing if it is not there.
pub(super) fn existing(dir: &Dir, name: &str) -> io::Result<Option<File>> {
    match dir.open(name) {
        Ok(file) => Ok(Some(file.into_std())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Writes whole lines at the end of `name` and says from where to where. Where that fails, the file is as it was.
///
/// The caller holds the [`Lock`] of the file.
pub(super) fn append_lines(dir: &Dir, name: &str, lines: &[u8], durable: bool) -> io::Result<Range<u64>> {
    let mut file = append(dir, name)?;
    let length = file.metadata()?.len();
    // Where a crash cut the last line off, what follows begins a line of its own.
    let begun = if ends_whole(&mut file, length)? { lines.into() } else { Cow::from([b"\n", lines].concat()) };
    space::may_hold(length + begun.len() as u64)?;
    if let Err(error) = file.write_all(&begun) {
        // Half a line is read past in any case.
        let _ = file.set_len(length);
        return Err(error);
    }
    if durable {
        file.sync_data()?;
        if length == 0 {
            sync_folder(dir)?;
        }
    }
    Ok(length..length + begun.len() as u64)
}

fn ends_whole(file: &mut File, length: u64) -> io::Result<bool> {
    if length == 0 {
        return Ok(true);
    }
    let mut last = [0];
    file.seek(SeekFrom::Start(length - 1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

/// Replaces `name` by `bytes` in one step.
pub(super) fn replace(dir: &Dir, name: &str, bytes: &[u8], random: u128, durable: bool) -> io::Result<()> {
    let temp = format!(".{name}.{random:032x}");
    let written = fresh(dir, &temp).and_then(|mut file| {
        space::may_hold(bytes.len() as u64)?;
        file.write_all(bytes)?;
        if durable { file.sync_all() } else { Ok(()) }
    });
    written.and_then(|()| dir.rename(&temp, dir, name)).inspect_err(|_| {
        let _ = dir.remove_file(&temp);
    })?;
    if durable { sync_folder(dir) } else { Ok(()) }
}

/// Makes the names of a folder outlive the loss of power, where the system can.
pub(super) fn sync_folder(dir: &Dir) -> io::Result<()> {
    // The handle of the folder itself is only good for finding things in it.
    if cfg!(unix) { dir.open(".")?.sync_all() } else { Ok(()) }
}

/// Keeps processes, and threads of this one, from writing to the same files at once.
#[derive(Debug)]
pub(super) struct Lock(Mutex<File>);

/// Released when dropped.
pub(super) struct Held<'a>(MutexGuard<'a, File>);

impl Lock {
    /// The lock that the file `name` stands for. It is a file of its own, since some systems keep others from reading
    /// what is locked.
    pub(super) fn open(dir: &Dir, name: &str) -> io::Result<Self> {
        Ok(Lock(Mutex::new(append(dir, name)?)))
    }

    /// Waits for it.
    pub(super) fn hold(&self) -> io::Result<Held<'_>> {
        let file = hold(&self.0);
        file.lock()?;
        Ok(Held(file))
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        // The system releases it with the file in any case.
        let _ = self.0.unlock();
    }
}

/// A point in time as files know it.
pub(super) fn system_time(time: jiff::Timestamp) -> io::Result<SystemTime> {
    SystemTime::try_from(time).map_err(io::Error::other)
}
