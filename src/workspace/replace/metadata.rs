//! What a file is besides its bytes: a replacement has to be that as well.

use std::io;

use cap_std::fs::File;

/// Gives `to` the owner, extended attributes, access lists and mode of `from`. False if it cannot have all of them.
///
/// Not carried, since they vouch for bytes that are no longer there: the setuid bit, capabilities and signatures.
#[cfg(unix)]
pub(in crate::workspace) fn carry(from: &File, to: &File) -> io::Result<bool> {
    use rustix::fs::{Mode, fchmod, fchown, fstat};
    use rustix::process::{Gid, Uid};
    let (old, new) = (fstat(from)?, fstat(to)?);
    let owner = (old.st_uid != new.st_uid).then(|| Uid::from_raw(old.st_uid));
    let group = (old.st_gid != new.st_gid).then(|| Gid::from_raw(old.st_gid));
    if (owner.is_some() || group.is_some()) && fchown(to, owner, group).is_err() {
        return Ok(false);
    }
    if !attributes::carry(from, to)? {
        return Ok(false);
    }
    // Last, since each of the above may clear bits.
    let mode = Mode::from_raw_mode(old.st_mode) & !Mode::SUID & Mode::from_raw_mode(0o7777);
    fchmod(to, mode)?;
    let carried = fstat(to)?;
    Ok(Mode::from_raw_mode(carried.st_mode) & Mode::from_raw_mode(0o7777) == mode)
}

/// Clears what vouches for the bytes that `file` had before.
#[cfg(unix)]
pub(super) fn drop_privileges(file: &File) -> io::Result<()> {
    use rustix::fs::{Mode, fchmod, fstat};
    let mode = Mode::from_raw_mode(fstat(file)?.st_mode);
    if mode.contains(Mode::SUID) {
        fchmod(file, mode & Mode::from_raw_mode(0o3777))?;
    }
    Ok(())
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
mod attributes {
    use std::ffi::CString;
    use std::io;

    use cap_std::fs::File;
    use rustix::fs::{XattrFlags, fgetxattr, flistxattr, fremovexattr, fsetxattr};
    use rustix::io::Errno;

    /// Vouch for the old bytes.
    const DROPPED: [&[u8]; 3] = [b"security.capability", b"security.ima", b"security.evm"];
    /// A new file inherits one from its folder that the old file may not have.
    const INHERITED: &[u8] = b"system.posix_acl_access";
    /// The most that Linux lets an attribute, or the list of their names, have.
    const LARGEST: usize = 64 * 1024;

    pub(super) fn carry(from: &File, to: &File) -> io::Result<bool> {
        let mut wanted = names(from)?;
        wanted.retain(|name| !DROPPED.contains(&name.as_bytes()));
        for name in &wanted {
            let Ok(value) = value(from, name) else { return Ok(false) };
            // One that is there already need not be set, which might be forbidden.
            if self::value(to, name).as_ref() != Ok(&value) && fsetxattr(to, name, &value, XattrFlags::empty()).is_err()
            {
                return Ok(false);
            }
        }
        for name in names(to)? {
            if name.as_bytes() == INHERITED && !wanted.contains(&name) && fremovexattr(to, &name).is_err() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn names(file: &File) -> io::Result<Vec<CString>> {
        let mut list = Vec::new();
        match grow(&mut list, |buffer| flistxattr(file, buffer)) {
            Ok(()) => {}
            Err(Errno::NOTSUP | Errno::NOSYS) => return Ok(Vec::new()),
            Err(error) => return Err(error.into()),
        }
        Ok(list.split(|byte| *byte == 0).filter(|name| !name.is_empty()).filter_map(|n| CString::new(n).ok()).collect())
    }

    fn value(file: &File, name: &CString) -> rustix::io::Result<Vec<u8>> {
        let mut value = Vec::new();
        grow(&mut value, |buffer| fgetxattr(file, name, buffer))?;
        Ok(value)
    }

    /// Reads with a small buffer, and a large one if that was too small.
    fn grow(
        into: &mut Vec<u8>,
        mut read: impl FnMut(&mut [u8]) -> rustix::io::Result<usize>,
    ) -> rustix::io::Result<()> {
        for size in [256, LARGEST] {
            into.resize(size, 0);
            match read(into) {
                Ok(len) => {
                    into.truncate(len);
                    return Ok(());
                }
                Err(Errno::RANGE) => {}
                Err(error) => return Err(error),
            }
        }
        Err(Errno::RANGE)
    }
}

#[cfg(all(unix, not(any(target_os = "linux", target_os = "android", target_vendor = "apple"))))]
mod attributes {
    use std::io;

    use cap_std::fs::File;

    pub(super) fn carry(_: &File, _: &File) -> io::Result<bool> {
        Ok(true)
    }
}

/// A replacement inherits the rights of its folder; a file that is marked read-only was refused before.
#[cfg(not(unix))]
pub(in crate::workspace) fn carry(_: &File, _: &File) -> io::Result<bool> {
    Ok(true)
}

#[cfg(not(unix))]
pub(super) fn drop_privileges(_: &File) -> io::Result<()> {
    Ok(())
}
