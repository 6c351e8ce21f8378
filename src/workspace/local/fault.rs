//! What the system's errors mean for a file operation.

use std::io;

use crate::workspace::FileErrorKind;

/// Tells a failure of the system in the workspace's words.
pub(in crate::workspace) fn fault(error: io::Error) -> FileErrorKind {
    use io::ErrorKind::{
        AlreadyExists, DirectoryNotEmpty, FileTooLarge, InvalidFilename, IsADirectory, NotADirectory, NotFound,
        PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull,
    };
    match error.kind() {
        // `cap-std` says so in its own words; the system never does without a number.
        PermissionDenied if error.raw_os_error().is_none() => FileErrorKind::Outside,
        PermissionDenied | ReadOnlyFilesystem => FileErrorKind::PermissionDenied,
        NotFound => FileErrorKind::NotFound,
        NotADirectory => FileErrorKind::NotADirectory,
        IsADirectory => FileErrorKind::NotAFile,
        AlreadyExists | DirectoryNotEmpty => FileErrorKind::AlreadyExists,
        StorageFull | QuotaExceeded | FileTooLarge => FileErrorKind::NoSpace,
        InvalidFilename => FileErrorKind::BadName("it is longer than the file system takes".to_owned()),
        _ if no_text(&error) => FileErrorKind::BadName("the file system does not take its characters".to_owned()),
        _ if is_circle(&error) => FileErrorKind::LinkLoop,
        _ if not_openable(&error) => FileErrorKind::NotAFile,
        _ => FileErrorKind::Io(error),
    }
}

/// More links on the way than the system follows.
#[cfg(unix)]
fn is_circle(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

#[cfg(not(unix))]
fn is_circle(_: &io::Error) -> bool {
    false
}

/// A socket, or a device that nobody drives.
#[cfg(unix)]
fn not_openable(error: &io::Error) -> bool {
    use rustix::io::Errno;
    [Errno::NXIO, Errno::NODEV].map(Errno::raw_os_error).map(Some).contains(&error.raw_os_error())
}

/// The name is not in the encoding that the file system wants.
#[cfg(unix)]
fn no_text(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::ILSEQ.raw_os_error())
}

#[cfg(not(unix))]
fn no_text(_: &io::Error) -> bool {
    false
}

#[cfg(not(unix))]
fn not_openable(_: &io::Error) -> bool {
    false
}

/// Does it again for as long as a signal cuts it short.
pub(in crate::workspace) fn patiently<T>(mut attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match attempt() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}
