//! Finds out that there is no room before it is too late.

use std::io;

use cap_std::fs::File;

/// Refuses a file longer than this process may make. The system would end the process for trying.
#[cfg(unix)]
pub(crate) fn may_hold(len: u64) -> io::Result<()> {
    use rustix::process::{Resource, getrlimit};
    match getrlimit(Resource::Fsize).current {
        Some(limit) if len > limit => {
            let why = format!("this process may make no file longer than {limit} bytes: ulimit -f");
            Err(io::Error::new(io::ErrorKind::FileTooLarge, why))
        }
        _ => Ok(()),
    }
}

/// Sees to it that `file` can grow to `len` bytes, as far as the file system can tell beforehand.
#[cfg(target_os = "linux")]
pub(super) fn reserve(file: &File, len: usize) -> io::Result<()> {
    use rustix::fs::{FallocateFlags, fallocate};
    use rustix::io::{Errno, retry_on_intr};
    if len == 0 {
        return Ok(());
    }
    match retry_on_intr(|| fallocate(file, FallocateFlags::KEEP_SIZE, 0, len as u64)) {
        Err(Errno::NOTSUP | Errno::NOSYS | Errno::INVAL | Errno::PERM) => Ok(()),
        done => Ok(done?),
    }
}

#[cfg(not(unix))]
pub(crate) fn may_hold(_: u64) -> io::Result<()> {
    Ok(())
}

#[cfg(not(target_os = "linux"))]
pub(super) fn reserve(_: &File, _: usize) -> io::Result<()> {
    Ok(())
}
