//! Makes the names in a folder outlive a loss of power.

use std::io;

use cap_std::fs::Dir;

/// Waits until the names in `dir` are on disk.
#[cfg(unix)]
pub(in crate::workspace) fn sync_folder(dir: &Dir) -> io::Result<()> {
    use rustix::fs::{Mode, OFlags, fsync, openat, sync};
    use rustix::io::{Errno, retry_on_intr};
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    match retry_on_intr(|| openat(dir, ".", flags, Mode::empty())) {
        Ok(readable) => match retry_on_intr(|| fsync(&readable)) {
            // Some file systems have nothing to do here, and say so.
            Err(Errno::INVAL | Errno::NOTSUP) => Ok(()),
            done => Ok(done?),
        },
        // A folder that may be written but not read can only be synced with everything else.
        Err(Errno::ACCESS) => {
            sync();
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}

/// There is no portable way; the file itself has been synced.
#[cfg(not(unix))]
pub(in crate::workspace) fn sync_folder(_: &Dir) -> io::Result<()> {
    Ok(())
}
