//! A file where nothing is.

use std::io;

use crate::model::file_bytes::FileBytes;
use crate::model::version::Version;
use crate::workspace::FileErrorKind;
use crate::workspace::replace::Setback;
use crate::workspace::replace::disk::{self, Access};
use crate::workspace::replace::place::Place;
use crate::workspace::replace::stage::Terms;
use crate::workspace::replace::temp::Temp;

/// A new file, ready to get its name.
#[derive(Debug)]
pub(super) struct Fresh {
    temp: Temp,
    content: Version,
    placed: bool,
}

impl Fresh {
    /// Writes `content` beside `place`. Nothing if that has to wait until names may appear.
    pub(super) fn stage(place: &Place, content: &FileBytes, terms: &Terms<'_>) -> io::Result<Option<Self>> {
        let staged = Temp::write(&place.dir, terms.names.temp(), terms.naming, Access::Usual, content)?;
        let Some(temp) = staged else { return Ok(None) };
        if terms.durable {
            temp.sync()?;
        }
        Ok(Some(Fresh { temp, content: content.version(), placed: false }))
    }

    /// Gives the file its name, unless somebody else was faster.
    pub(super) fn perform(&mut self, place: &Place) -> Result<(), Setback> {
        match self.temp.settle(&place.name) {
            Ok(()) => {
                self.placed = true;
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(Setback::Again),
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                Err(FileErrorKind::BadName("the file system does not take it".to_owned()).into())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Takes the file away again, unless it is somebody else's by now.
    pub(super) fn undo(&mut self, place: &Place) -> io::Result<()> {
        if self.placed && self.temp.is_at(&place.name, self.content)? {
            disk::unlink(&place.dir, &place.name)?;
        }
        self.placed = false;
        Ok(())
    }

    /// Takes what has a temporary name away. Tells whether anything had one.
    pub(super) fn finish(&mut self) -> bool {
        self.temp.remove()
    }

    /// Leaves what has a temporary name where it is.
    pub(super) fn leave(&mut self) {
        self.temp.leave();
    }
}
