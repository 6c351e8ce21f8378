//! What a change displaced: checked, given to the journal, and got back from there if the change fails after all.

use std::ffi::OsStr;
use std::io;
use std::sync::Arc;

use cap_std::fs::{Dir, File, Metadata};

use crate::model::change::Expect;
use crate::model::path::WsPath;
use crate::model::version::Version;
use crate::workspace::local::patiently;
use crate::workspace::replace::beside::Names;
use crate::workspace::replace::disk::{self, Access};
use crate::workspace::replace::identity::names;
use crate::workspace::replace::place::Place;
use crate::workspace::replace::stage::as_it_is;
use crate::workspace::replace::temp::{Naming, Temp, version};
use crate::workspace::replace::{Setback, metadata};
use crate::workspace::{Displaced, DisplacedSource, FileErrorKind, Journal};

/// Displaced bytes, held open: whatever becomes of their name, they can be read.
#[derive(Debug)]
pub(super) struct InHand {
    pub(super) file: File,
    pub(super) version: Version,
    pub(super) mode: Option<u32>,
}

impl InHand {
    /// What is in `dir` under `name` now, where that is a regular file.
    pub(super) fn open(dir: &Dir, name: &OsStr) -> io::Result<Option<Self>> {
        // A FIFO's other end would notice if it were opened.
        if !dir.symlink_metadata(name)?.is_file() {
            return Ok(None);
        }
        let file = patiently(|| dir.open_with(name, &as_it_is(false)))?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Ok(None);
        }
        Ok(Some(InHand { version: version(&file)?, mode: mode(&metadata), file }))
    }

    /// What is beside `place` under `name`, if it is what the change rests on.
    pub(super) fn check(place: &Place, name: &str, expect: Expect) -> Result<Self, Setback> {
        let displaced = InHand::open(&place.dir, name.as_ref())?.ok_or(FileErrorKind::NotAFile)?;
        match expect {
            Expect::Exactly(wanted) if displaced.version != wanted => {
                Err(FileErrorKind::Stale { now: Some(displaced.version) }.into())
            }
            Expect::Exactly(_) | Expect::Absent | Expect::Any => Ok(displaced),
        }
    }

    /// Gives the bytes, which are in `dir` under `name`, to `journal`. It may take the file itself away.
    pub(super) fn give(
        &self,
        journal: &dyn Journal,
        path: &WsPath,
        (dir, name): (&Arc<Dir>, &str),
        names: &Names,
    ) -> io::Result<()> {
        self.give_as(self.mode, journal, path, (dir, name), names)
    }

    /// The same as the bytes of a file of another mode.
    pub(super) fn give_as(
        &self,
        mode: Option<u32>,
        journal: &dyn Journal,
        path: &WsPath,
        (dir, name): (&Arc<Dir>, &str),
        names: &Names,
    ) -> io::Result<()> {
        let give = |name| {
            let source = DisplacedSource::File { folder: dir, name };
            journal.keep(&Displaced { path, version: self.version, mode, source })
        };
        // A file that goes on under another name must not be the one that is kept, since it can be written to there.
        if self::names(&self.file.metadata()?) > 1 {
            let copy = Temp::named_at_once(dir, names.copy(), Access::Owner)?;
            disk::copy(&self.file, &copy.file)?;
            return give(copy.name());
        }
        give(name)
    }

    /// Makes sure that the bytes are in `dir` under `name`, also where the journal took them away.
    pub(super) fn recall(&self, dir: &Arc<Dir>, name: &str, names: &Names, durable: bool) -> io::Result<()> {
        match dir.symlink_metadata(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            there => return there.map(drop),
        }
        // A recovery takes what has that name for all of the bytes, so it gets it last.
        let Some(mut again) = Temp::create(dir, names.copy(), Naming::Now, Access::Owner)? else {
            return Err(io::ErrorKind::Unsupported.into());
        };
        disk::copy(&self.file, &again.file)?;
        metadata::carry(&self.file, &again.file)?;
        set_mode(&again.file, self.mode)?;
        if durable {
            again.sync()?;
        }
        again.settle(name.as_ref())
    }
}

/// The permission bits of a file, where the system has any.
#[cfg(unix)]
pub(super) fn mode(metadata: &Metadata) -> Option<u32> {
    use cap_std::fs::MetadataExt;
    Some(metadata.mode() & 0o7777)
}

#[cfg(unix)]
fn set_mode(file: &File, mode: Option<u32>) -> io::Result<()> {
    match mode {
        Some(mode) => Ok(rustix::fs::fchmod(file, rustix::fs::Mode::from_raw_mode(mode as rustix::fs::RawMode))?),
        None => Ok(()),
    }
}

#[cfg(not(unix))]
pub(super) fn mode(_: &Metadata) -> Option<u32> {
    None
}

#[cfg(not(unix))]
fn set_mode(_: &File, _: Option<u32>) -> io::Result<()> {
    Ok(())
}
