//! A file where nothing is.

use std::io;

use crate::model::version::Version;
use crate::workspace::FileErrorKind;
use crate::workspace::replace::Setback;
use crate::workspace::replace::place::Place;
use crate::workspace::replace::temp::{Access, Temp};

/// A new file, ready to get its name.
#[derive(Debug)]
pub(super) struct Fresh {
    temp: Temp,
    content: Version,
    placed: bool,
}

impl Fresh {
    /// Writes `content` beside `place`.
    pub(super) fn stage(place: &Place, content: &[u8], durable: bool) -> io::Result<Self> {
        let temp = Temp::write(&place.dir, Access::Usual, content)?;
        if durable {
            temp.sync()?;
        }
        Ok(Fresh { temp, content: Version::of(content), placed: false })
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
            place.dir.remove_file(&place.name)?;
        }
        self.placed = false;
        Ok(())
    }
}
