//! Makes one file of a change ready beside its place, in the way that its place asks for.

use std::io;

use cap_std::fs::{File, Metadata, OpenOptions};

use crate::model::change::Expect;
use crate::model::file_bytes::FileBytes;
use crate::model::version::Version;
use crate::workspace::FileErrorKind;
use crate::workspace::local::{fault, patiently};
use crate::workspace::replace::beside::Names;
use crate::workspace::replace::fresh::Fresh;
use crate::workspace::replace::identity;
use crate::workspace::replace::keep::InHand;
use crate::workspace::replace::overwrite::Overwrite;
use crate::workspace::replace::place::Place;
use crate::workspace::replace::removal::Removal;
use crate::workspace::replace::swap::Swap;
use crate::workspace::replace::temp::{Naming, version};
use crate::workspace::replace::{Setback, place, trial};

/// A file that is ready to be put in its place.
#[derive(Debug)]
pub(super) enum Staged {
    /// Where nothing is.
    Fresh(Fresh),
    /// In exchange for what is there.
    Swap(Swap),
    /// Into the file that is there.
    Overwrite(Overwrite),
    /// Away with what is there.
    Removal(Removal),
}

/// What making ready has to keep to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Terms<'a> {
    /// What may appear beside the file.
    pub(super) names: &'a Names,
    /// Whether names may appear already.
    pub(super) naming: Naming,
    /// Whether bytes are to be safe on disk.
    pub(super) durable: bool,
    /// Whether the file cannot be replaced by another.
    pub(super) in_place: bool,
}

/// The file that is at a place now.
#[derive(Debug)]
pub(super) struct Old {
    pub(super) file: File,
    pub(super) metadata: Metadata,
}

/// Checks what is at `place`, tells its version, and makes `content` ready for it, or nothing to be there. What cannot
/// be made ready before names may appear is not.
pub(super) fn stage(
    place: &Place,
    expect: Expect,
    content: Option<&FileBytes>,
    terms: &Terms<'_>,
) -> Result<(Option<Version>, Option<Staged>), FileErrorKind> {
    let old = check(place, expect, content.is_some())?;
    let before = old.as_ref().map(|(_, version)| *version);
    let staged = match (old, content) {
        (None, None) => return Err(FileErrorKind::NotFound),
        (None, Some(content)) => Fresh::stage(place, content, terms).map_err(fault)?.map(Staged::Fresh),
        (Some((old, _)), None) => Some(Staged::Removal(Removal::stage(place, &old, terms))),
        (Some((old, _)), Some(content)) => replacement(place, &old, content, terms)?,
    };
    Ok((before, staged))
}

fn replacement(
    place: &Place,
    old: &Old,
    content: &FileBytes,
    terms: &Terms<'_>,
) -> Result<Option<Staged>, FileErrorKind> {
    if !terms.in_place && identity::names(&old.metadata) <= 1 {
        match Swap::stage(place, old, content, terms) {
            Ok(swap) => return Ok(swap.map(Staged::Swap)),
            Err(Setback::Failed(kind)) => return Err(kind),
            Err(Setback::Again | Setback::InPlace) => {}
        }
    }
    Ok(Overwrite::stage(place, old, content, terms).map_err(fault)?.map(Staged::Overwrite))
}

/// The file at `place` if it is what is expected and may be changed; nothing if nothing is there and may be.
fn check(place: &Place, expect: Expect, to_be_written: bool) -> Result<Option<(Old, Version)>, FileErrorKind> {
    place.check_folder()?;
    let Some(old) = Old::open(place).map_err(fault)? else {
        return match expect {
            Expect::Any | Expect::Absent => Ok(None),
            Expect::Exactly(_) => Err(FileErrorKind::Stale { now: None }),
        };
    };
    if !old.metadata.is_file() {
        return Err(FileErrorKind::NotAFile);
    }
    let now = version(&old.file).map_err(fault)?;
    if expect != Expect::Any && expect != Expect::Exactly(now) {
        return Err(FileErrorKind::Stale { now: Some(now) });
    }
    // Whether a file may go is for its folder to say.
    if to_be_written {
        may_write(place).map_err(fault)?;
    }
    Ok(Some((old, now)))
}

/// Whether `content`, as an earlier step leaves it, is what a later one expects.
pub(super) fn meets(expect: Expect, content: Option<&FileBytes>) -> Result<(), FileErrorKind> {
    let now = content.map(FileBytes::version);
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
            Staged::Removal(removal) => removal.perform(place, expect, glance),
        }
    }

    /// Puts back what was there, if this was performed.
    pub(super) fn undo(&mut self, place: &Place) -> io::Result<()> {
        match self {
            Staged::Fresh(fresh) => fresh.undo(place),
            Staged::Swap(swap) => swap.undo(place),
            Staged::Overwrite(overwrite) => overwrite.undo(place),
            Staged::Removal(removal) => removal.undo(place),
        }
    }

    /// What this displaced, and its name beside the place.
    pub(super) fn displaced(&self) -> Option<(&InHand, &str)> {
        match self {
            Staged::Fresh(_) => None,
            Staged::Swap(swap) => swap.displaced(),
            Staged::Overwrite(overwrite) => overwrite.displaced(),
            Staged::Removal(removal) => removal.displaced(),
        }
    }

    /// Takes away what is left beside the place. Tells whether anything was.
    pub(super) fn finish(&mut self) -> bool {
        match self {
            Staged::Fresh(fresh) => fresh.finish(),
            Staged::Swap(swap) => swap.finish(),
            Staged::Overwrite(overwrite) => overwrite.finish(),
            Staged::Removal(removal) => removal.finish(),
        }
    }

    /// Leaves what is beside the place to a recovery.
    pub(super) fn leave(&mut self) {
        match self {
            Staged::Fresh(fresh) => fresh.leave(),
            Staged::Swap(swap) => swap.leave(),
            Staged::Overwrite(overwrite) => overwrite.leave(),
            Staged::Removal(removal) => removal.leave(),
        }
    }

    /// Tells the file that is written into apart for a lock; it may have other names.
    pub(super) fn key(&self) -> Option<u64> {
        match self {
            Staged::Overwrite(overwrite) => Some(overwrite.key()),
            Staged::Fresh(_) | Staged::Swap(_) | Staged::Removal(_) => None,
        }
    }
}

impl Old {
    /// Opens what is at `place`, a link not followed: [`Place`] has done that.
    pub(super) fn open(place: &Place) -> io::Result<Option<Self>> {
        patiently(trial::step)?;
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
    place::may(&place.dir, &place.name, rustix::fs::Access::WRITE_OK)
}

#[cfg(not(unix))]
fn may_write(place: &Place) -> io::Result<()> {
    if place.dir.symlink_metadata(&place.name)?.permissions().readonly() {
        return Err(io::Error::from_raw_os_error(5)); // ERROR_ACCESS_DENIED
    }
    Ok(())
}
