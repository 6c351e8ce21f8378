//! Changing files: all steps of a change set, or none.
//!
//! First everything is made ready beside its target: what can fail slowly fails here, and nobody sees it.
//! Then, under locks, each file is put in place, and what it displaced is checked and kept. Only when all are in
//! and safe on disk does the displaced go. A failure on the way takes back what was done, last step first.

mod exchange;
mod fresh;
mod identity;
mod locks;
mod metadata;
mod overwrite;
mod place;
mod space;
mod stage;
mod swap;
mod sync;
mod temp;
#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests look at the folder from outside")]
mod tests;
mod trial;

use std::io;

use bytes::Bytes;
use cap_std::fs::Dir;

use crate::model::change::{Change, ChangeSet, Expect};
use crate::model::path::WsPath;
use crate::workspace::local::fault;
use crate::workspace::replace::place::Place;
use crate::workspace::replace::stage::{Staged, stage};
use crate::workspace::replace::sync::sync_folder;
use crate::workspace::{Durability, FileError, FileErrorKind};

/// How often a step starts anew when what is there changes under its hands.
const ATTEMPTS: usize = 16;

/// Performs all steps of `set` below `root`, or none.
pub(super) fn commit(root: &Dir, durability: Durability, set: &ChangeSet) -> Result<(), FileError> {
    let mut work = Work { root, durable: durability == Durability::Full, folders: Vec::new(), writes: Vec::new() };
    if let Err(error) = work.prepare(set) {
        return Err(work.undo().err().unwrap_or(error));
    }
    // Held until what was displaced is gone, or back.
    let _held = locks::hold(work.writes.iter().flat_map(Write::keys));
    match work.perform() {
        Ok(()) => {
            drop(work);
            Ok(())
        }
        Err(error) => Err(work.undo().err().unwrap_or(error)),
    }
}

/// A change set that is being performed.
struct Work<'a> {
    root: &'a Dir,
    durable: bool,
    /// Made so far.
    folders: Vec<Place>,
    writes: Vec<Write>,
}

/// One file of a change set.
struct Write {
    path: WsPath,
    place: Place,
    expect: Expect,
    content: Bytes,
    staged: Staged,
}

/// Why a staged file did not get to its place.
#[derive(Debug)]
enum Setback {
    /// The change cannot be made.
    Failed(FileErrorKind),
    /// What is there is not what this was staged for; it is to be looked at anew.
    Again,
    /// This file cannot be replaced by another, so it must be written in place.
    InPlace,
}

impl From<FileErrorKind> for Setback {
    fn from(kind: FileErrorKind) -> Self {
        Setback::Failed(kind)
    }
}

impl From<io::Error> for Setback {
    fn from(error: io::Error) -> Self {
        Setback::Failed(fault(error))
    }
}

impl Work<'_> {
    fn prepare(&mut self, set: &ChangeSet) -> Result<(), FileError> {
        for change in set {
            match change {
                Change::MakeDir { path } => self.make_dir(path)?,
                Change::Write { path, expect, content } => self.stage(path, *expect, content)?,
                Change::Delete { path, .. } | Change::RemoveDir { path } => {
                    return Err(FileErrorKind::Io(io::ErrorKind::Unsupported.into()).at(path));
                }
            }
        }
        Ok(())
    }

    fn perform(&mut self) -> Result<(), FileError> {
        for write in &mut self.writes {
            write.perform(self.durable).map_err(|kind| kind.at(&write.path))?;
        }
        if self.durable { self.sync() } else { Ok(()) }
    }

    fn make_dir(&mut self, path: &WsPath) -> Result<(), FileError> {
        let Some(place) = Place::of_folder(self.root, path)? else { return Ok(()) };
        let made = trial::step().and_then(|()| place.dir.create_dir(&place.name));
        match made {
            Ok(()) => {
                self.folders.push(place);
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                // Asked through the root, since a link that leads outside is no folder.
                let there = self.root.metadata(path.as_str()).is_ok_and(|metadata| metadata.is_dir());
                if there { Ok(()) } else { Err(FileErrorKind::AlreadyExists.at(path)) }
            }
            Err(error) => Err(fault(error).at(path)),
        }
    }

    fn stage(&mut self, path: &WsPath, expect: Expect, content: &Bytes) -> Result<(), FileError> {
        let place = Place::of_file(self.root, path)?;
        let durable = self.durable;
        let staged = |place: &Place, expect| stage(place, expect, content, durable).map_err(|kind| kind.at(path));
        // A second step on one file rests on what the first one leaves, so the two are one.
        if let Some(earlier) = self.writes.iter_mut().find(|earlier| earlier.place.is(&place)) {
            stage::meets(expect, Some(&earlier.content)).map_err(|kind| kind.at(path))?;
            earlier.staged = staged(&place, earlier.expect)?;
            earlier.content = content.clone();
            return Ok(());
        }
        let staged = staged(&place, expect)?;
        self.writes.push(Write { path: path.clone(), place, expect, content: content.clone(), staged });
        Ok(())
    }

    /// Makes names as safe as content: each folder once.
    fn sync(&self) -> Result<(), FileError> {
        let mut done = Vec::new();
        for place in self.writes.iter().map(|write| &write.place).chain(&self.folders) {
            if !done.contains(&place.folder) {
                sync_folder(&place.dir).map_err(|error| fault(error).at(&place.path))?;
                done.push(place.folder);
            }
        }
        Ok(())
    }

    /// Takes everything back, last step first. Fails where bytes that were displaced could not be put back;
    /// they are kept then, and the failure says where.
    fn undo(mut self) -> Result<(), FileError> {
        let mut result = Ok(());
        for write in self.writes.iter_mut().rev() {
            if let Err(error) = write.staged.undo(&write.place) {
                result = Err(FileErrorKind::Io(error).at(&write.path));
            }
        }
        if self.durable {
            // The failure is told in any case; a second one adds nothing to it.
            let _ = self.sync();
        }
        // Temporary files go before the folders that hold them.
        self.writes.clear();
        for place in self.folders.drain(..).rev() {
            // One that others have put something into meanwhile stays.
            let _ = place.dir.remove_dir(&place.name);
        }
        result
    }
}

impl Write {
    /// Everything that another commit must not touch meanwhile.
    fn keys(&self) -> impl Iterator<Item = u64> {
        [Some(self.place.key()), self.staged.key()].into_iter().flatten()
    }

    fn perform(&mut self, durable: bool) -> Result<(), FileErrorKind> {
        for attempt in 0..ATTEMPTS {
            // Some file systems never tell the same of a file twice; what counts is what was displaced.
            let glance = attempt < ATTEMPTS / 2;
            self.staged = match self.staged.perform(&self.place, self.expect, glance) {
                Ok(()) => return Ok(()),
                Err(Setback::Failed(kind)) => return Err(kind),
                Err(Setback::Again) => stage(&self.place, self.expect, &self.content, durable)?,
                Err(Setback::InPlace) => stage::in_place(&self.place, self.expect, &self.content, durable)?,
            };
        }
        Err(FileErrorKind::Io(io::Error::other("the file keeps changing while it is being written")))
    }
}
