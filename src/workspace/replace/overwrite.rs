//! A file that cannot be replaced by another: it has several names, is a mount point, or carries what a new
//! file could not. It is written in place once its old bytes are safe beside it.

use std::io;

use cap_std::fs::{File, Permissions};

use crate::model::change::Expect;
use crate::model::file_bytes::FileBytes;
use crate::workspace::local::patiently;
use crate::workspace::replace::beside::Names;
use crate::workspace::replace::disk::{self, Access};
use crate::workspace::replace::identity::{FileId, Glimpse, glimpse, glimpse_at, id};
use crate::workspace::replace::keep::{InHand, mode};
use crate::workspace::replace::place::Place;
use crate::workspace::replace::stage::{Old, Terms, as_it_is};
use crate::workspace::replace::swap::left_beside;
use crate::workspace::replace::temp::{Temp, version};
use crate::workspace::replace::{Setback, locks, metadata};
use crate::workspace::space;

/// A file that is ready to be written to.
#[derive(Debug)]
pub(super) struct Overwrite {
    file: File,
    id: FileId,
    seen: Glimpse,
    len: u64,
    permissions: Permissions,
    mode: Option<u32>,
    backup: Temp,
    names: Names,
    content: FileBytes,
    durable: bool,
    displaced: Option<InHand>,
}

impl Overwrite {
    /// Copies the old bytes to a file beside `place`. Nothing if that has to wait until names may appear.
    pub(super) fn stage(place: &Place, old: &Old, content: &FileBytes, terms: &Terms<'_>) -> io::Result<Option<Self>> {
        space::may_hold(content.len() as u64)?;
        let file = patiently(|| place.dir.open_with(&place.name, &as_it_is(true)))?;
        let staged = Temp::create(&place.dir, terms.names.copy(), terms.naming, Access::Owner)?;
        let Some(backup) = staged else { return Ok(None) };
        let len = disk::copy(&old.file, &backup.file)?;
        if terms.durable {
            backup.sync()?;
        }
        let metadata = &old.metadata;
        Ok(Some(Overwrite {
            file,
            id: id(metadata),
            seen: glimpse(metadata),
            len,
            permissions: metadata.permissions(),
            mode: mode(metadata),
            backup,
            names: terms.names.clone(),
            content: content.clone(),
            durable: terms.durable,
            displaced: None,
        }))
    }

    /// Writes the new bytes. There is a moment in which others see both old and new ones.
    pub(super) fn perform(&mut self, place: &Place, expect: Expect, glance: bool) -> Result<(), Setback> {
        // Looking and writing are two steps. Held until the file is closed, so that taking back is covered too.
        locks::across_processes(&self.file);
        let seen = Some(self.seen.clone());
        let still_there = !glance || (Some(glimpse(&self.file.metadata()?)) == seen && glimpse_at(place)? == seen);
        let now = version(&self.file)?;
        let expected = !matches!(expect, Expect::Exactly(wanted) if wanted != now);
        if !(still_there && expected && now == version(&self.backup.file)?) {
            return Err(Setback::Again);
        }
        self.backup.named()?;
        if self.durable {
            disk::sync_folder(&place.dir)?;
        }
        self.displaced = Some(InHand { file: self.backup.file.try_clone()?, version: now, mode: self.mode });
        self.write()?;
        // From its name a recovery tells that the file is not half-written.
        Ok(self.backup.rename(self.names.written())?)
    }

    fn write(&self) -> io::Result<()> {
        disk::reserve(&self.file, self.content.len())?;
        disk::write(&self.file, &self.content)?;
        disk::set_len(&self.file, self.content.len() as u64)?;
        metadata::drop_privileges(&self.file)?;
        if self.durable { disk::sync_file(&self.file) } else { Ok(()) }
    }

    /// Writes the old bytes back. Where that fails they are left beside the file, and the failure tells where.
    pub(super) fn undo(&mut self, place: &Place) -> io::Result<()> {
        if self.displaced.take().is_none() {
            return Ok(());
        }
        self.restore(place).map_err(|error| {
            self.backup.leave();
            left_beside(&error, self.backup.name())
        })
    }

    fn restore(&mut self, place: &Place) -> io::Result<()> {
        if self.backup.name() != self.names.copy() {
            self.backup.rename(self.names.copy())?;
            if self.durable {
                disk::sync_folder(&place.dir)?;
            }
        }
        disk::copy(&self.backup.file, &self.file)?;
        disk::set_len(&self.file, self.len)?;
        if self.file.metadata()?.permissions() != self.permissions {
            self.file.set_permissions(self.permissions.clone())?;
        }
        if self.durable { disk::sync_file(&self.file) } else { Ok(()) }
    }

    /// What was displaced.
    pub(super) fn displaced(&self) -> Option<(&InHand, &str)> {
        self.displaced.as_ref().map(|displaced| (displaced, self.backup.name()))
    }

    /// Takes the copy away. Tells whether there was any.
    pub(super) fn finish(&mut self) -> bool {
        self.backup.remove()
    }

    /// Leaves the copy where it is.
    pub(super) fn leave(&mut self) {
        self.backup.leave();
    }

    /// Tells the file apart for a lock, by whatever name it is reached.
    pub(super) fn key(&self) -> u64 {
        self.id.key()
    }
}
