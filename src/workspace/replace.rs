//! Changing files: all steps of a change set, or none.
//!
//! First everything is made ready beside its target that leaves no trace: what can fail slowly fails here, and nobody
//! sees it. Then the journal is told what is about to happen, and by which names; nothing has a name before that. Then,
//! under locks, each file is put in place, and what it displaced is checked. Only when all are in and safe on disk does
//! the journal get the displaced. A failure on the way takes back what was done, last step first; after a crash
//! [`recover`] finishes it or takes it back.

mod beside;
mod disk;
mod exchange;
mod folder;
mod fresh;
mod identity;
mod item;
mod keep;
mod locks;
mod metadata;
mod node;
mod overwrite;
mod place;
mod recover;
mod removal;
mod stage;
mod swap;
mod sync;
mod temp;
#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests look at the folder from outside")]
mod tests;
mod trial;

use std::borrow::Cow;
use std::io;
use std::sync::MutexGuard;

use cap_std::fs::Dir;

use crate::model::change::{Change, ChangeSet, Expect};
use crate::model::event::{FsAction, FsStep};
use crate::model::file_bytes::FileBytes;
use crate::model::path::WsPath;
use crate::workspace::local::{Base, Below, fault};
pub(super) use crate::workspace::replace::beside::is_temporary;
use crate::workspace::replace::folder::{Folder, is_folder};
pub(super) use crate::workspace::replace::identity::identity;
use crate::workspace::replace::item::Item;
pub(super) use crate::workspace::replace::metadata::carry;
use crate::workspace::replace::node::{Node, Target};
use crate::workspace::replace::place::Place;
pub(super) use crate::workspace::replace::recover::recover;
pub(super) use crate::workspace::replace::sync::sync_folder;
use crate::workspace::{Durability, FileError, FileErrorKind, Journal, journal_failed};

/// Where the links on the way to `path` lead, for a file that may not be there yet as well as for a folder. What lies below the
/// last thing that is there has no links on its way.
pub(super) fn real(root: &Dir, path: &WsPath) -> WsPath {
    if place::is_straight(root, path) {
        return path.clone();
    }
    let ways = std::iter::successors(Some(path.clone()), WsPath::parent).filter(|way| !way.is_root());
    let found = ways.into_iter().find_map(|way| Some((leads_to(root, &way)?, path.below(&way)?)));
    found.map_or_else(|| path.clone(), |(there, rest)| rest.under(&there))
}

/// The same for a path of which all but its last part is there.
fn leads_to(root: &Dir, path: &WsPath) -> Option<WsPath> {
    let below = Below { dir: root, at: &WsPath::root(), path: Cow::Borrowed(path) };
    let folder = || root.canonicalize(path.as_str()).ok().and_then(|real| real.to_str().map(str::to_owned));
    let real = Place::of_file_below(&below, path).ok().map(|place| place.real_below(&below)).or_else(folder);
    real.and_then(|real| WsPath::parse(&real).ok())
}

/// Performs all steps of `set` below `base`, or none.
pub(super) fn commit(
    base: &Base,
    durability: Durability,
    set: &ChangeSet,
    journal: &dyn Journal,
) -> Result<(), FileError> {
    let durable = durability == Durability::Full;
    let mut work =
        Work { base, durable, folders: Vec::new(), nodes: Vec::new(), files: Vec::new(), emptied: Vec::new() };
    work.prepare(set, journal)?;
    let steps = work.steps();
    let Some(first) = set.iter().next().filter(|_| !steps.is_empty()) else { return Ok(()) };
    journal.intend(&steps).map_err(|error| journal_failed(error).at(first.path()))?;
    // Held until what was displaced is gone, or back.
    let mut held = Vec::new();
    match work.perform(journal, &mut held) {
        Ok(()) => {
            work.finish(journal);
            Ok(())
        }
        Err(error) => Err(work.undo(journal).err().unwrap_or(error)),
    }
}

/// A change set that is being performed.
struct Work<'a> {
    base: &'a Base,
    durable: bool,
    /// To be made, or made.
    folders: Vec<Folder>,
    /// What moves, goes or comes back whole.
    nodes: Vec<Node>,
    files: Vec<Item>,
    /// Folders that go once the files in them are gone.
    emptied: Vec<Place>,
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

/// Looking, and making ready: nothing here leaves a trace.
impl Work<'_> {
    fn prepare(&mut self, set: &ChangeSet, journal: &dyn Journal) -> Result<(), FileError> {
        for change in set {
            match change {
                Change::MakeDir { path } => self.plan_folder(path)?,
                Change::RemoveDir { path } => self.plan_removal(path)?,
                Change::Write { path, expect, content } => self.plan_file(path, *expect, Some(content))?,
                Change::Delete { path, expect } => self.plan_file(path, *expect, None)?,
                Change::Move { .. } | Change::Remove { .. } | Change::Restore { .. } => {
                    self.plan_node(change, journal)?
                }
            }
        }
        self.one_thing_at_a_time()?;
        self.files.retain(|file| !file.comes_to_nothing());
        Ok(())
    }

    /// Where the parent of `path` will be, if that is a folder that an earlier step makes.
    fn in_planned(&self, path: &WsPath) -> Option<String> {
        let parent = path.parent()?;
        let folder = self.folders.iter().find(|folder| folder.path == parent)?;
        Some(format!("{}/{}", folder.real, path.name()))
    }

    fn plan_folder(&mut self, path: &WsPath) -> Result<(), FileError> {
        if self.folders.iter().any(|folder| folder.path == *path) {
            return Ok(());
        }
        let real = match self.in_planned(path) {
            Some(real) => {
                place::check_names(path)?;
                real
            }
            None => {
                let Some(place) = Place::of_folder(self.base, path)? else { return Ok(()) };
                match place.dir.symlink_metadata(&place.name) {
                    Ok(_) => return is_folder(self.base, path),
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {
                        place.check_folder().map_err(|kind| kind.at(path))?;
                        place.real(self.base)
                    }
                    Err(error) => return Err(fault(error).at(path)),
                }
            }
        };
        self.folders.push(Folder { path: path.clone(), real, made: None });
        Ok(())
    }

    fn plan_removal(&mut self, path: &WsPath) -> Result<(), FileError> {
        let place = match Place::of_folder(self.base, path) {
            Err(FileError { kind: FileErrorKind::NotFound, .. }) | Ok(None) => return Ok(()),
            Ok(Some(place)) => place,
            Err(error) => return Err(error),
        };
        match place.dir.symlink_metadata(&place.name) {
            Ok(metadata) if metadata.is_dir() => self.emptied.push(place),
            Ok(_) => return Err(FileErrorKind::NotADirectory.at(path)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(fault(error).at(path)),
        }
        Ok(())
    }

    fn plan_file(&mut self, path: &WsPath, expect: Expect, content: Option<&FileBytes>) -> Result<(), FileError> {
        let at = |kind: FileErrorKind| kind.at(path);
        if let Some(real) = self.in_planned(path) {
            place::check_names(path)?;
            if let Some(earlier) = self.files.iter_mut().find(|earlier| earlier.path == *path) {
                return earlier.go_on(expect, content).map_err(at);
            }
            stage::meets(expect, None).map_err(at)?;
            content.ok_or_else(|| FileErrorKind::NotFound.at(path))?;
            self.files.push(Item::later(path.clone(), real, expect, content, self.durable));
            return Ok(());
        }
        let place = Place::of_file(self.base, path)?;
        let is_here = |earlier: &&mut Item| earlier.place.as_ref().is_some_and(|other| other.is(&place));
        if let Some(earlier) = self.files.iter_mut().find(is_here) {
            return earlier.go_on(expect, content).map_err(at);
        }
        self.files.push(Item::new(self.base, place, expect, content, self.durable).map_err(at)?);
        Ok(())
    }

    fn plan_node(&mut self, change: &Change, journal: &dyn Journal) -> Result<(), FileError> {
        let path = change.path();
        let target = || match self.in_planned(path) {
            Some(real) => place::check_names(path).map(|()| Target::Later(real)),
            None => {
                let place = Place::of_folder(self.base, path)?;
                place.map(Target::Here).ok_or_else(|| FileErrorKind::Stale { now: None }.at(path))
            }
        };
        let node = match change {
            Change::Remove { expect, kept, .. } => Node::removal(self.base, path, *expect, *kept)?,
            Change::Restore { kept, mark, .. } => {
                let target = target()?;
                let freed = self.frees(&target);
                Node::coming_back(self.base, path, target, freed, (*kept, *mark), journal)?
            }
            Change::Move { from, expect, .. } => {
                let target = target()?;
                let freed = self.frees(&target);
                Node::moving(self.base, from, (path, target), *expect, freed)?
            }
            _ => return Ok(()),
        };
        self.nodes.push(node);
        Ok(())
    }

    /// Whether an earlier step takes away what is where another one leads.
    fn frees(&self, target: &Target) -> bool {
        match target {
            Target::Here(place) => self.nodes.iter().any(|earlier| earlier.frees(place)),
            Target::Later(_) => false,
        }
    }

    /// Refuses a set in which a file is changed in what moves, goes or comes back with it.
    fn one_thing_at_a_time(&self) -> Result<(), FileError> {
        let in_the_way = |file: &&Item| self.nodes.iter().any(|node| node.concerns(file.real()));
        let Some(file) = self.files.iter().find(in_the_way) else { return Ok(()) };
        let told = "it is changed in the same set as something that holds it moves or goes; make two sets of it";
        Err(FileErrorKind::Io(io::Error::new(io::ErrorKind::InvalidInput, told)).at(&file.path))
    }

    /// What is about to happen, in that order.
    fn steps(&self) -> Vec<FsStep> {
        let folder = |action, path: &WsPath, real: String| FsStep {
            action,
            path: path.as_str().to_owned(),
            real,
            from: None,
            before: None,
            after: None,
            temp: None,
            kept: None,
        };
        let made = self.folders.iter().map(|made| folder(FsAction::MakeDir, &made.path, made.real.clone()));
        let gone = self.emptied.iter().map(|gone| folder(FsAction::RemoveDir, &gone.path, gone.real(self.base)));
        made.chain(self.nodes.iter().map(Node::step)).chain(self.files.iter().map(Item::step)).chain(gone).collect()
    }
}

/// Doing it, or taking it back.
impl Work<'_> {
    fn perform(&mut self, journal: &dyn Journal, held: &mut Vec<MutexGuard<'static, ()>>) -> Result<(), FileError> {
        for folder in &mut self.folders {
            folder.make(self.base)?;
        }
        if !self.nodes.is_empty() {
            // What moves into a folder would be lost with it, if the power went.
            self.sync_made()?;
        }
        for node in &mut self.nodes {
            node.make_ready(self.base)?;
        }
        for file in &mut self.files {
            file.make_ready(self.base)?;
        }
        let nodes = self.nodes.iter().flat_map(Node::places).map(Place::key);
        *held = locks::hold(nodes.chain(self.files.iter().flat_map(Item::keys)));
        for at in 0..self.nodes.len() {
            self.put_node(at, journal)?;
        }
        for file in &mut self.files {
            file.put().map_err(|kind| kind.at(&file.path))?;
        }
        self.sync()?;
        for file in &mut self.files {
            file.keep(journal).map_err(|kind| kind.at(&file.path))?;
        }
        for node in &mut self.nodes {
            node.keep(journal).map_err(|kind| kind.at(&node.path))?;
        }
        Ok(())
    }

    fn put_node(&mut self, at: usize, journal: &dyn Journal) -> Result<(), FileError> {
        let (earlier, later) = self.nodes.split_at_mut(at);
        let Some(node) = later.first_mut() else { return Ok(()) };
        if let Some(place) = node.place.as_ref().filter(|place| earlier.iter().any(|earlier| earlier.frees(place)))
            && self.durable
        {
            // Else a loss of power could take what made room, and what took the room not.
            disk::sync_folder(&place.dir).map_err(|error| fault(error).at(&node.path))?;
        }
        node.put(journal).map_err(|kind| kind.at(&node.path))
    }

    /// Clears away what is not needed any more. From here on nothing fails: what cannot be cleared away stays.
    fn finish(&mut self, journal: &dyn Journal) {
        let mut cleared = false;
        for file in &mut self.files {
            cleared |= file.finish();
        }
        for node in &mut self.nodes {
            cleared |= node.finish(journal);
        }
        for place in &self.emptied {
            cleared |= disk::remove_dir(&place.dir, &place.name).is_ok();
        }
        if cleared {
            // Else a loss of power would bring back what nobody looks for any more.
            let _ = self.sync();
        }
    }

    /// Makes the folders that were made safe.
    fn sync_made(&self) -> Result<(), FileError> {
        for place in self.folders.iter().filter(|_| self.durable).filter_map(|folder| folder.made.as_ref()) {
            disk::sync_folder(&place.dir).map_err(|error| fault(error).at(&place.path))?;
        }
        Ok(())
    }

    /// Makes names as safe as content: each folder once.
    fn sync(&self) -> Result<(), FileError> {
        if !self.durable {
            return Ok(());
        }
        let files = self.files.iter().filter_map(|file| file.place.as_ref());
        let folders = self.folders.iter().filter_map(|folder| folder.made.as_ref());
        let nodes = self.nodes.iter().flat_map(Node::places);
        let mut done = Vec::new();
        for place in nodes.chain(files).chain(folders).chain(&self.emptied) {
            if !done.contains(&place.folder) {
                disk::sync_folder(&place.dir).map_err(|error| fault(error).at(&place.path))?;
                done.push(place.folder);
            }
        }
        Ok(())
    }

    /// Gets back what the journal has, all of it, before any file is put back: where displaced bytes are gone, a recovery
    /// takes the change for finished.
    fn recall(&mut self, journal: &dyn Journal) -> Result<(), FileError> {
        let mut recalled = false;
        for node in &mut self.nodes {
            recalled |= node.recall(journal).map_err(|error| fault(error).at(&node.path))?;
        }
        for file in &self.files {
            recalled |= file.recall().map_err(|error| fault(error).at(&file.path))?;
        }
        if recalled { self.sync() } else { Ok(()) }
    }

    /// Takes everything back, last step first. Fails where bytes that were displaced could not be put back;
    /// they are kept then, and the failure says where.
    fn undo(mut self, journal: &dyn Journal) -> Result<(), FileError> {
        if let Err(FileError { path, kind }) = self.recall(journal) {
            self.leave();
            let told = format!("{kind}, and the bytes before could not be got back; the change stands");
            return Err(FileErrorKind::Unsettled(told).at(&path));
        }
        let mut result = Ok(());
        for file in self.files.iter_mut().rev() {
            if let Err(error) = file.undo() {
                result = Err(FileErrorKind::Unsettled(error.to_string()).at(&file.path));
            }
        }
        for node in self.nodes.iter_mut().rev() {
            if let Err(error) = node.undo(journal) {
                result = Err(FileErrorKind::Unsettled(error.to_string()).at(&node.path));
            }
            let places = node.places().filter(|_| self.durable);
            // As on the way there: the one must not be lost without the other. A failure is told in any case.
            places.for_each(|place| drop(disk::sync_folder(&place.dir)));
        }
        // The failure is told in any case; a second one adds nothing to it.
        let _ = self.sync();
        let mut cleared = false;
        // Temporary files go before the folders that hold them.
        for file in &mut self.files {
            cleared |= file.finish();
        }
        for place in self.folders.iter().rev().filter_map(|folder| folder.made.as_ref()) {
            // One that others have put something into meanwhile stays.
            cleared |= disk::remove_dir(&place.dir, &place.name).is_ok();
        }
        if cleared {
            let _ = self.sync();
        }
        result
    }

    /// Leaves everything to a recovery.
    fn leave(&mut self) {
        self.files.iter_mut().for_each(Item::leave);
        self.nodes.iter_mut().for_each(Node::leave);
    }
}

impl Drop for Work<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // A journal that panics must not cost anyone their bytes; a recovery will find them.
            self.leave();
        }
    }
}
