//! A folder that a change makes.

use std::io;

use crate::model::path::WsPath;
use crate::workspace::local::{Base, Below, fault};
use crate::workspace::replace::disk;
use crate::workspace::replace::place::Place;
use crate::workspace::{FileError, FileErrorKind};

/// A folder that is not there yet.
pub(super) struct Folder {
    pub(super) path: WsPath,
    pub(super) real: String,
    /// Where it was made, once it is.
    pub(super) made: Option<Place>,
}

impl Folder {
    pub(super) fn make(&mut self, base: &Base) -> Result<(), FileError> {
        let Some(place) = Place::of_folder(base, &self.path)? else { return Ok(()) };
        match disk::make_dir(&place.dir, &place.name) {
            Ok(()) => {
                self.made = Some(place);
                Ok(())
            }
            // Somebody else has made it meanwhile.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => is_folder(base, &self.path),
            Err(error) => Err(fault(error).at(&self.path)),
        }
    }
}

/// Refuses what is there where a folder is wanted, and is none.
pub(super) fn is_folder(base: &Base, path: &WsPath) -> Result<(), FileError> {
    // Asked through the root, since a link that leads outside is no folder.
    let Below { dir, path: below, .. } = base.find(path)?;
    let there = dir.metadata(below.as_str()).is_ok_and(|metadata| metadata.is_dir());
    if there { Ok(()) } else { Err(FileErrorKind::AlreadyExists.at(path)) }
}
