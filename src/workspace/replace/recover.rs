//! After a crash: finishes a change, or takes it back, from its record and from what is there.
//!
//! What stands beside a file tells how far its step had come: the new bytes wait there until they are put in place, and
//! the displaced ones stay there from then on until the journal has them. That goes only when all files are in place. So
//! where a displaced file is gone, or all are in place, the change is finished; otherwise it is taken back.

mod back;
mod found;
mod nodes;

use std::io;

use crate::model::event::{FsAction, FsStep};
use crate::model::path::WsPath;
use crate::workspace::local::{Base, fault};
use crate::workspace::replace::place::Place;
use crate::workspace::replace::recover::back::{clear, finish, put_back};
use crate::workspace::replace::recover::found::{Found, Stand};
use crate::workspace::replace::recover::nodes::FoundNode;
use crate::workspace::replace::{disk, identity};
use crate::workspace::{Durability, FileError, FileErrorKind, Journal, Recovered};

/// Finishes or clears away what a crash left of `steps`.
pub(in crate::workspace) fn recover(
    base: &Base,
    durability: Durability,
    steps: &[FsStep],
    journal: &dyn Journal,
) -> Result<Recovered, FileError> {
    let mut scene = Scene::look(base, durability == Durability::Full, steps, journal)?;
    let verdict = scene.judge();
    match verdict {
        Recovered::Done => scene.finish(journal)?,
        Recovered::Void => scene.take_back(journal)?,
    }
    Ok(verdict)
}

/// What a change has left.
struct Scene {
    durable: bool,
    nodes: Vec<FoundNode>,
    files: Vec<Found>,
    made: Vec<Folder>,
    emptied: Vec<Folder>,
}

/// A folder that the change makes or removes.
struct Folder {
    /// Nothing if what holds it is gone.
    place: Option<Place>,
    is_there: bool,
}

impl Scene {
    fn look(base: &Base, durable: bool, steps: &[FsStep], journal: &dyn Journal) -> Result<Self, FileError> {
        let mut scene = Scene { durable, nodes: Vec::new(), files: Vec::new(), made: Vec::new(), emptied: Vec::new() };
        for step in steps {
            let path = WsPath::parse(&step.path).map_err(|error| unreadable(&error).at(&WsPath::root()))?;
            let real = WsPath::parse(&step.real).map_err(|error| unreadable(&error).at(&path))?;
            let place = Place::of_real(base, &path, &real)?;
            match step.action {
                FsAction::MakeDir => scene.made.push(Folder::look(place)),
                FsAction::RemoveDir => scene.emptied.push(Folder::look(place)),
                FsAction::Move | FsAction::Remove | FsAction::Restore => {
                    scene.nodes.push(FoundNode::look(base, &path, place, step, journal)?);
                }
                FsAction::Write | FsAction::Delete => {
                    scene.files.push(Found::look(&path, place, step, durable).map_err(|kind| kind.at(&path))?);
                }
            }
        }
        Ok(scene)
    }

    fn judge(&self) -> Recovered {
        let is = |stand: Stand| {
            self.files.iter().any(|file| file.stand() == stand) || self.nodes.iter().any(|node| node.stand() == stand)
        };
        let only_folders = self.files.is_empty() && self.nodes.is_empty();
        let unmade = self.made.iter().any(|folder| !folder.is_there);
        let done = is(Stand::Finished) || (!is(Stand::Before) && !unmade && (is(Stand::After) || only_folders));
        if done { Recovered::Done } else { Recovered::Void }
    }

    fn finish(&mut self, journal: &dyn Journal) -> Result<(), FileError> {
        // Before anything that was displaced goes: this may be the first time that all names are safe.
        self.sync()?;
        for file in &self.files {
            finish(file, journal).map_err(|kind| kind.at(&file.path))?;
        }
        for node in &self.nodes {
            node.finish(journal).map_err(|kind| kind.at(&node.path))?;
        }
        for place in self.emptied.iter().filter_map(|folder| folder.place.as_ref()) {
            remove(place);
        }
        self.sync()
    }

    fn take_back(&mut self, journal: &dyn Journal) -> Result<(), FileError> {
        for file in self.files.iter().rev() {
            put_back(file, journal, self.durable).map_err(|kind| kind.at(&file.path))?;
        }
        for node in self.nodes.iter().rev() {
            node.put_back(journal).map_err(|kind| kind.at(&node.path))?;
            // One may have made room for another, which must not be lost alone.
            for place in node.places().filter(|_| self.durable) {
                disk::sync_folder(&place.dir).map_err(|error| fault(error).at(&place.path))?;
            }
        }
        // Else what was put back could be lost, and its other name with it.
        self.sync()?;
        for file in &self.files {
            clear(file, journal).map_err(|kind| kind.at(&file.path))?;
        }
        for node in &self.nodes {
            node.clear(journal).map_err(|kind| kind.at(&node.path))?;
        }
        for place in self.made.iter().rev().filter_map(|folder| folder.place.as_ref()) {
            remove(place);
        }
        self.sync()
    }

    /// Makes all names safe: each folder once.
    fn sync(&self) -> Result<(), FileError> {
        if !self.durable {
            return Ok(());
        }
        let files = self.files.iter().filter_map(|file| file.place.as_ref());
        let folders = self.made.iter().chain(&self.emptied).filter_map(|folder| folder.place.as_ref());
        let nodes = self.nodes.iter().flat_map(FoundNode::places);
        let mut done: Vec<identity::FileId> = Vec::new();
        for place in nodes.chain(files).chain(folders) {
            if !done.contains(&place.folder) {
                disk::sync_folder(&place.dir).map_err(|error| fault(error).at(&place.path))?;
                done.push(place.folder);
            }
        }
        Ok(())
    }
}

impl Folder {
    fn look(place: Option<Place>) -> Self {
        let is_there = place
            .as_ref()
            .is_some_and(|place| place.dir.symlink_metadata(&place.name).is_ok_and(|metadata| metadata.is_dir()));
        Folder { place, is_there }
    }
}

/// Removes a folder. One that is not empty stays, as does one that the system does not let go.
fn remove(place: &Place) {
    let _ = disk::remove_dir(&place.dir, &place.name);
}

fn unreadable(why: &dyn std::fmt::Display) -> FileErrorKind {
    FileErrorKind::Io(io::Error::new(io::ErrorKind::InvalidData, format!("the record of a change is not one: {why}")))
}
