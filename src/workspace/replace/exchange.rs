//! Renames that lose nothing: two names exchanged, or a name taken only if it is free.

use std::ffi::OsStr;
use std::io;

use cap_std::fs::Dir;

/// Exchanges what two names in `dir` stand for, in one step. False if that cannot be done here.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
pub(super) fn exchange(dir: &Dir, a: &OsStr, b: &OsStr) -> io::Result<bool> {
    special((dir, a), (dir, b), rustix::fs::RenameFlags::EXCHANGE)
}

/// Renames `from` to `to` if nothing has that name. False if that cannot be done here.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
pub(super) fn rename_if_free(dir: &Dir, from: &OsStr, to: &OsStr) -> io::Result<bool> {
    transfer_if_free((dir, from), (dir, to))
}

/// Gives a name in one folder to another one, if nothing has that. False if that cannot be done here.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
pub(super) fn transfer_if_free(from: (&Dir, &OsStr), to: (&Dir, &OsStr)) -> io::Result<bool> {
    special(from, to, rustix::fs::RenameFlags::NOREPLACE)
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn special(a: (&Dir, &OsStr), b: (&Dir, &OsStr), flags: rustix::fs::RenameFlags) -> io::Result<bool> {
    use crate::workspace::replace::trial::{self, Ability};
    use rustix::io::Errno;
    if trial::without(Ability::Exchange) {
        return Ok(false);
    }
    match rustix::io::retry_on_intr(|| rustix::fs::renameat_with(a.0, a.1, b.0, b.1, flags)) {
        Ok(()) => Ok(true),
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
pub(super) fn exchange(_: &Dir, _: &OsStr, _: &OsStr) -> io::Result<bool> {
    Ok(false)
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
pub(super) fn rename_if_free(_: &Dir, _: &OsStr, _: &OsStr) -> io::Result<bool> {
    Ok(false)
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
pub(super) fn transfer_if_free(_: (&Dir, &OsStr), _: (&Dir, &OsStr)) -> io::Result<bool> {
    Ok(false)
}

/// Whether `error` says that this file cannot be renamed over: it is a mount point, or on another file system.
pub(super) fn must_stay(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ResourceBusy | io::ErrorKind::CrossesDevices)
}
