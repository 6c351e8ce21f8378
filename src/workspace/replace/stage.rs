//! Makes one file of a change ready beside its place, in the way that its place asks for.

use std::io;

use bytes::Bytes;
use cap_std::fs::{File, Metadata, OpenOptions};

use crate::model::change::Expect;
use crate::model::version::Version;
use crate::workspace::FileErrorKind;
use crate::workspace::local::{fault, patiently};
use crate::workspace::replace::fresh::Fresh;
use crate::workspace::replace::identity;
use crate::workspace::replace::overwrite::Overwrite;
use crate::workspace::replace::place::Place;
use crate::workspace::replace::swap::Swap;
use crate::workspace::replace::temp::version;
use crate::workspace::replace::{Setback, trial};

/// A file that is ready to be put in its place.
#[derive(Debug)]
pub(super) enum Staged {
    /// Where nothing is.
    Fresh(Fresh),
    /// In exchange for what is there.
    Swap(Swap),
    /// Into the file that is there.
    Overwrite(Overwrite),
}

/// The file that is at a place now.
#[derive(Debug)]
pub(super) struct Old {
    pub(super) file: File,
    pub(super) metadata: Metadata,
}

/// Checks what is at `place` and makes `content` ready for it.
pub(super) fn stage(place: &Place, expect: Expect, content: &Bytes, durable: bool) -> Result<Staged, FileErrorKind> {
    let Some(old) = check(place, expect)? else {
        return Fresh::stage(place, content, durable).map(Staged::Fresh).map_err(fault);
    };
    if identity::names(&old.metadata) > 1 {
        return overwrite(place, old, content, durable);
    }
    match Swap::stage(place, &old, content, durable) {
        Ok(swap) => Ok(Staged::Swap(swap)),
        Err(Setback::Failed(kind)) => Err(kind),
        Err(Setback::Again | Setback::InPlace) => overwrite(place, old, content, durable),
    }
}

/// The same for a file that cannot be replaced by another.
pub(super) fn in_place(place: &Place, expect: Expect, content: &Bytes, durable: bool) -> Result<Staged, FileErrorKind> {
    match check(place, expect)? {
        Some(old) => overwrite(place, old, content, durable),
        None => Fresh::stage(place, content, durable).map(Staged::Fresh).map_err(fault),
    }
}

fn overwrite(place: &Place, old: Old, content: &Bytes, durable: bool) -> Result<Staged, FileErrorKind> {
    Overwrite::stage(place, &old, content, durable).map(Staged::Overwrite).map_err(fault)
}

/// The file at `place` if it is what is expected and may be changed; nothing if nothing is there and may be.
fn check(place: &Place, expect: Expect) -> Result<Option<Old>, FileErrorKind> {
    let old = Old::open(place).map_err(fault)?;
    match (&old, expect) {
        (Some(old), _) if !old.metadata.is_file() => return Err(FileErrorKind::NotAFile),
        (Some(_), Expect::Any) | (None, Expect::Any | Expect::Absent) => {}
        (None, Expect::Exactly(_)) => return Err(FileErrorKind::Stale { now: None }),
        (Some(old), Expect::Exactly(_) | Expect::Absent) => {
            let now = version(&old.file).map_err(fault)?;
            if expect != Expect::Exactly(now) {
                return Err(FileErrorKind::Stale { now: Some(now) });
            }
        }
    }
    if old.is_some() {
        may_write(place).map_err(fault)?;
    }
    Ok(old)
}

/// Whether `content`, as an earlier step leaves it, is what a later one expects.
pub(super) fn meets(expect: Expect, content: Option<&Bytes>) -> Result<(), FileErrorKind> {
    let now = content.map(|content| Version::of(content));
    match expect {
        Expect::Any => Ok(()),
        Expect::Absent if now.is_none() => Ok(()),
        Expect::Exactly(version) if now == Some(version) => Ok(()),
        Expect::Absent | Expect::Exactly(_) => Err(FileErrorKind::Stale { now }),
    }
}

impl Staged {
    /// Puts the file in its place. With a `glance` at whether what is there still is what it was staged for.
    pub(super) fn perform(&mut self, place: &Place, expect: Expect, glance: bool) -> Result<(), Setback> {
        match self {
            Staged::Fresh(fresh) => fresh.perform(place),
            Staged::Swap(swap) => swap.perform(place, expect, glance),
            Staged::Overwrite(overwrite) => overwrite.perform(place, expect, glance),
        }
    }

    /// Puts back what was there, if this was performed.
    pub(super) fn undo(&mut self, place: &Place) -> io::Result<()> {
        match self {
            Staged::Fresh(fresh) => fresh.undo(place),
            Staged::Swap(swap) => swap.undo(place),
            Staged::Overwrite(overwrite) => overwrite.undo(),
        }
    }

    /// Tells the file that is written into apart for a lock; it may have other names.
    pub(super) fn key(&self) -> Option<u64> {
        match self {
            Staged::Overwrite(overwrite) => Some(overwrite.key()),
            Staged::Fresh(_) | Staged::Swap(_) => None,
        }
    }
}

impl Old {
    /// Opens what is at `place`, a link not followed: [`Place`] has done that.
    pub(super) fn open(place: &Place) -> io::Result<Option<Self>> {
        trial::step()?;
        match patiently(|| place.dir.open_with(&place.name, &as_it_is(false))) {
            Ok(file) => Ok(Some(Old { metadata: file.metadata()?, file })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// How a name is opened that is not to be a link, and without waiting.
pub(super) fn as_it_is(write: bool) -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(write);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW;
        cap_std::fs::OpenOptionsExt::custom_flags(&mut options, flags.bits().cast_signed());
    }
    options
}

/// Refuses a file that this process may not write, though it might replace it.
#[cfg(unix)]
fn may_write(place: &Place) -> io::Result<()> {
    use rustix::fs::{Access, AtFlags, accessat};
    use rustix::io::Errno;
    let ask = |flags| accessat(&place.dir, &place.name, Access::WRITE_OK, flags);
    match ask(AtFlags::EACCESS | AtFlags::SYMLINK_NOFOLLOW) {
        // Older systems know no flags. That the name is no link has been looked at.
        Err(Errno::NOSYS | Errno::INVAL | Errno::NOTSUP) => Ok(ask(AtFlags::empty())?),
        done => Ok(done?),
    }
}

#[cfg(not(unix))]
fn may_write(place: &Place) -> io::Result<()> {
    if place.dir.symlink_metadata(&place.name)?.permissions().readonly() {
        return Err(io::Error::from_raw_os_error(5)); // ERROR_ACCESS_DENIED
    }
    Ok(())
}
