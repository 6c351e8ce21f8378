//! What a crash left at one file of a change and beside it, and what that says about how far its step had come.

use std::ffi::OsStr;
use std::io;

use crate::model::event::FsStep;
use crate::model::path::WsPath;
use crate::model::version::Version;
use crate::workspace::FileErrorKind;
use crate::workspace::local::fault;
use crate::workspace::replace::beside::Names;
use crate::workspace::replace::disk;
use crate::workspace::replace::identity::{FileId, file_id};
use crate::workspace::replace::keep::InHand;
use crate::workspace::replace::place::Place;
use crate::workspace::replace::recover::unreadable;
use crate::workspace::replace::stage::as_it_is;

/// One file of a change.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) path: WsPath,
    /// Nothing if its folder is gone.
    pub(super) place: Option<Place>,
    /// Nothing if the record does not say.
    pub(super) names: Option<Names>,
    pub(super) before: Option<Version>,
    pub(super) after: Option<Version>,
    here: There,
    temp: There,
    copy: There,
    written: There,
}

/// What a name stands for.
#[derive(Debug)]
pub(super) enum There {
    Nothing,
    /// Not a regular file.
    Other,
    File(Box<InHand>, FileId),
}

/// How far a step had come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stand {
    /// The file is not in place, or not wholly.
    Before,
    /// The file is in place, or was before somebody changed it again.
    After,
    /// It is in place, and what it displaced is kept: so all files of the change are in place.
    Finished,
    /// There is no telling.
    Unclear,
}

impl Found {
    pub(super) fn look(
        path: &WsPath,
        place: Option<Place>,
        step: &FsStep,
        durable: bool,
    ) -> Result<Self, FileErrorKind> {
        let (before, after) = (version(step.before.as_deref())?, version(step.after.as_deref())?);
        let names = step.temp.as_deref().and_then(Names::of);
        let nothing = || There::Nothing;
        let mut found = Found {
            path: path.clone(),
            place,
            names,
            before,
            after,
            here: nothing(),
            temp: nothing(),
            copy: nothing(),
            written: nothing(),
        };
        found.look_around(durable).map_err(fault)?;
        Ok(found)
    }

    fn look_around(&mut self, durable: bool) -> io::Result<()> {
        let Some(place) = &self.place else { return Ok(()) };
        self.here = There::look(place, &place.name)?;
        let Some(names) = &self.names else { return Ok(()) };
        self.temp = There::look(place, names.temp().as_ref())?;
        self.copy = There::look(place, names.copy().as_ref())?;
        self.written = There::look(place, names.written().as_ref())?;
        let old = There::look(place, names.old().as_ref())?;
        let written_to = [&self.copy, &self.written].into_iter().any(|copy| matches!(copy, There::File(..)));
        if durable && written_to && matches!(self.here, There::File(..)) {
            // What was written into the file, whole as it looks, may not be on disk.
            disk::sync_file(&place.dir.open_with(&place.name, &as_it_is(true))?)?;
        }
        if !self.is_new(&self.here) || !matches!(self.temp, There::Nothing) {
            return Ok(());
        }
        // The file is in place, and only the last rename, which says so, is missing.
        if self.before.is_some() && self.is_old(&self.copy) {
            disk::rename(&place.dir, names.copy().as_ref(), names.written().as_ref())?;
            self.written = std::mem::replace(&mut self.copy, There::Nothing);
        } else if matches!(old, There::File(..)) && !old.is_same(&self.here) {
            disk::rename(&place.dir, names.old().as_ref(), names.temp().as_ref())?;
            self.temp = old;
        }
        Ok(())
    }

    /// Whether `there` is what the change was to make, and not what was there before.
    pub(super) fn is_new(&self, there: &There) -> bool {
        self.before != self.after && there.is(self.after)
    }

    /// Whether `there` is what was there before.
    pub(super) fn is_old(&self, there: &There) -> bool {
        there.is(self.before)
    }

    /// What is at the file's own name.
    pub(super) fn here(&self) -> &There {
        &self.here
    }

    /// What is beside it: the new file, or the displaced one.
    pub(super) fn temp(&self) -> &There {
        &self.temp
    }

    /// The old bytes of a file that was written to, all of it.
    pub(super) fn written(&self) -> &There {
        &self.written
    }

    /// The old bytes of a file that is neither old nor new since it was being written to.
    pub(super) fn torn(&self) -> Option<&InHand> {
        let interrupted = matches!((&self.temp, &self.written), (There::Nothing, There::Nothing))
            && matches!(self.here, There::File(..))
            && !self.is_old(&self.here)
            && !self.is_new(&self.here);
        match &self.copy {
            There::File(copy, _) if interrupted && self.is_old(&self.copy) => Some(copy),
            _ => None,
        }
    }

    pub(super) fn stand(&self) -> Stand {
        if self.before == self.after {
            return Stand::Unclear;
        }
        if self.is_old(&self.here) {
            return Stand::Before;
        }
        if !matches!(self.written, There::Nothing) {
            return Stand::After;
        }
        match &self.temp {
            There::Nothing if self.is_new(&self.here) && self.before.is_some() => Stand::Finished,
            There::Nothing if self.is_new(&self.here) => Stand::After,
            There::Nothing if self.torn().is_some() => Stand::Before,
            There::Nothing => Stand::Unclear,
            temp if self.is_new(temp) => Stand::Before,
            temp if self.before.is_some() && self.is_old(temp) => Stand::After,
            // It displaced something that it was not meant for.
            _ if self.is_new(&self.here) => Stand::Before,
            _ => Stand::Unclear,
        }
    }
}

impl There {
    pub(super) fn look(place: &Place, name: &OsStr) -> io::Result<Self> {
        match InHand::open(&place.dir, name) {
            Ok(Some(file)) => {
                let id = file_id(&file.file)?;
                Ok(There::File(Box::new(file), id))
            }
            Ok(None) => Ok(There::Other),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(There::Nothing),
            Err(error) => Err(error),
        }
    }

    /// Whether these are the bytes of `version`, or nothing is there and should be.
    pub(super) fn is(&self, version: Option<Version>) -> bool {
        match self {
            There::Nothing => version.is_none(),
            There::Other => false,
            There::File(file, _) => Some(file.version) == version,
        }
    }

    /// Whether both are one file.
    pub(super) fn is_same(&self, other: &There) -> bool {
        matches!((self, other), (There::File(_, a), There::File(_, b)) if a == b)
    }

    pub(super) fn mode(&self) -> Option<u32> {
        match self {
            There::File(file, _) => file.mode,
            There::Nothing | There::Other => None,
        }
    }
}

fn version(text: Option<&str>) -> Result<Option<Version>, FileErrorKind> {
    text.map(str::parse).transpose().map_err(|error| unreadable(&error))
}
