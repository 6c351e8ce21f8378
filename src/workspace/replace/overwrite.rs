//! A file that cannot be replaced by another: it has several names, is a mount point, or carries what a new
//! file could not. It is written in place once its old bytes are safe beside it.

use std::io::{self, Seek, Write};

use bytes::Bytes;
use cap_std::fs::{File, Permissions};

use crate::model::change::Expect;
use crate::workspace::local::patiently;
use crate::workspace::replace::identity::{FileId, Glimpse, glimpse, glimpse_at, id};
use crate::workspace::replace::place::Place;
use crate::workspace::replace::stage::{Old, as_it_is};
use crate::workspace::replace::temp::{Access, Temp, version};
use crate::workspace::replace::{Setback, metadata, space, trial};

/// A file that is ready to be written to.
#[derive(Debug)]
pub(super) struct Overwrite {
    file: File,
    id: FileId,
    seen: Glimpse,
    len: u64,
    permissions: Permissions,
    backup: Temp,
    content: Bytes,
    durable: bool,
    written: bool,
}

impl Overwrite {
    /// Copies the old bytes to a file beside `place`.
    pub(super) fn stage(place: &Place, old: &Old, content: &Bytes, durable: bool) -> io::Result<Self> {
        space::may_hold(content.len())?;
        let file = patiently(|| place.dir.open_with(&place.name, &as_it_is(true)))?;
        let mut backup = Temp::create(&place.dir, Access::Owner)?;
        trial::step()?;
        (&old.file).rewind()?;
        let len = io::copy(&mut &old.file, &mut &backup.file)?;
        if durable {
            backup.sync()?;
        }
        backup.named()?;
        let metadata = &old.metadata;
        let (id, seen, permissions) = (id(metadata), glimpse(metadata), metadata.permissions());
        Ok(Overwrite { file, id, seen, len, permissions, backup, content: content.clone(), durable, written: false })
    }

    /// Writes the new bytes. There is a moment in which others see both old and new ones.
    pub(super) fn perform(&mut self, place: &Place, expect: Expect, glance: bool) -> Result<(), Setback> {
        let seen = Some(self.seen.clone());
        let still_there = !glance || (Some(glimpse(&self.file.metadata()?)) == seen && glimpse_at(place)? == seen);
        let now = version(&self.file)?;
        let expected = !matches!(expect, Expect::Exactly(wanted) if wanted != now);
        if !(still_there && expected && now == version(&self.backup.file)?) {
            return Err(Setback::Again);
        }
        self.written = true;
        Ok(self.write()?)
    }

    fn write(&self) -> io::Result<()> {
        trial::step()?;
        space::reserve(&self.file, self.content.len())?;
        let mut file = &self.file;
        file.rewind()?;
        trial::step()?;
        file.write_all(&self.content)?;
        trial::step()?;
        file.set_len(self.content.len() as u64)?;
        metadata::drop_privileges(file)?;
        if self.durable {
            trial::step()?;
            file.sync_all()?;
        }
        Ok(())
    }

    /// Writes the old bytes back. Where that fails they are left beside the file, and the failure tells where.
    pub(super) fn undo(&mut self) -> io::Result<()> {
        if !self.written {
            return Ok(());
        }
        self.written = false;
        self.restore().map_err(|error| {
            let kept = self.backup.leave().unwrap_or_default();
            let kept = kept.display();
            io::Error::new(
                error.kind(),
                format!("{error}, and what was there before could not be put back; it is beside it in {kept}"),
            )
        })
    }

    fn restore(&self) -> io::Result<()> {
        let (mut file, mut backup) = (&self.file, &self.backup.file);
        file.rewind()?;
        backup.rewind()?;
        io::copy(&mut backup, &mut file)?;
        file.set_len(self.len)?;
        if file.metadata()?.permissions() != self.permissions {
            file.set_permissions(self.permissions.clone())?;
        }
        if self.durable { file.sync_all() } else { Ok(()) }
    }

    /// Tells the file apart for a lock, by whatever name it is reached.
    pub(super) fn key(&self) -> u64 {
        self.id.key()
    }
}
