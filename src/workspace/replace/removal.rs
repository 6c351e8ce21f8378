//! A file that goes: it is moved aside, looked at, and back if it is not the one that was meant.

use std::ffi::OsStr;
use std::io;
use std::sync::Arc;

use cap_std::fs::Dir;

use crate::model::change::Expect;
use crate::workspace::FileErrorKind;
use crate::workspace::replace::Setback;
use crate::workspace::replace::disk;
use crate::workspace::replace::identity::{Glimpse, glimpse, glimpse_at};
use crate::workspace::replace::keep::InHand;
use crate::workspace::replace::place::Place;
use crate::workspace::replace::stage::{Old, Terms};
use crate::workspace::replace::swap::left_beside;
use crate::workspace::replace::temp::settle;

/// A file that is ready to go.
#[derive(Debug)]
pub(super) struct Removal {
    dir: Arc<Dir>,
    aside: String,
    /// What was there when this was staged.
    seen: Glimpse,
    moved: bool,
    displaced: Option<InHand>,
}

impl Removal {
    pub(super) fn stage(place: &Place, old: &Old, terms: &Terms<'_>) -> Self {
        let (dir, aside) = (Arc::clone(&place.dir), terms.names.temp());
        Removal { dir, aside, seen: glimpse(&old.metadata), moved: false, displaced: None }
    }

    /// Moves the file aside, and back again if it is not what was expected.
    pub(super) fn perform(&mut self, place: &Place, expect: Expect, glance: bool) -> Result<(), Setback> {
        if glance && glimpse_at(place)? != Some(self.seen.clone()) {
            return Err(Setback::Again);
        }
        match disk::rename(&self.dir, &place.name, self.name()) {
            Ok(()) => self.moved = true,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(Setback::Again),
            Err(error) => return Err(error.into()),
        }
        match InHand::check(place, &self.aside, expect) {
            Ok(displaced) => {
                self.displaced = Some(displaced);
                Ok(())
            }
            Err(setback) => {
                self.undo(place).map_err(FileErrorKind::Io)?;
                Err(setback)
            }
        }
    }

    /// Puts the file back, unless the place is somebody else's by now: then it is left aside, which the failure tells.
    pub(super) fn undo(&mut self, place: &Place) -> io::Result<()> {
        if !self.moved {
            return Ok(());
        }
        match settle(&self.dir, self.name(), &place.name) {
            Ok(gone) => {
                self.moved = !gone;
                self.displaced = None;
                Ok(())
            }
            Err(error) => {
                self.moved = false;
                Err(left_beside(&error, &self.aside))
            }
        }
    }

    /// What was displaced.
    pub(super) fn displaced(&self) -> Option<(&InHand, &str)> {
        self.displaced.as_ref().map(|displaced| (displaced, self.aside.as_str()))
    }

    /// Takes what was moved aside away. Tells whether anything was.
    pub(super) fn finish(&mut self) -> bool {
        let moved = std::mem::take(&mut self.moved);
        if moved {
            // The journal may have taken it; if not, the record says whose it is.
            let _ = disk::unlink(&self.dir, self.name());
        }
        moved
    }

    /// Leaves what was moved aside where it is.
    pub(super) fn leave(&mut self) {
        self.moved = false;
    }

    fn name(&self) -> &OsStr {
        self.aside.as_ref()
    }
}
