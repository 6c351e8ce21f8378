//! One file of a change set: from what to what, and how far that has come.

use std::io;

use crate::model::change::Expect;
use crate::model::event::{FsAction, FsStep};
use crate::model::file_bytes::FileBytes;
use crate::model::path::WsPath;
use crate::model::version::Version;
use crate::workspace::local::Base;
use crate::workspace::replace::beside::Names;
use crate::workspace::replace::place::Place;
use crate::workspace::replace::stage::{Staged, Terms, meets, stage};
use crate::workspace::replace::temp::Naming;
use crate::workspace::replace::{Setback, disk};
use crate::workspace::{FileError, FileErrorKind, Journal, journal_failed};

/// How often a step starts anew when what is there changes under its hands.
const ATTEMPTS: usize = 16;

/// One file of a change set.
pub(super) struct Item {
    pub(super) path: WsPath,
    /// Nothing until its folder is made.
    pub(super) place: Option<Place>,
    real: String,
    expect: Expect,
    /// The bytes that the file is to have, nothing if it is to go.
    content: Option<FileBytes>,
    before: Option<Version>,
    names: Names,
    durable: bool,
    /// Nothing while it has to wait for its folder, or for the record.
    staged: Option<Staged>,
    kept: bool,
}

impl Item {
    /// Checks what is at `place`, and makes everything ready that leaves no trace.
    pub(super) fn new(
        base: &Base,
        place: Place,
        expect: Expect,
        content: Option<&FileBytes>,
        durable: bool,
    ) -> Result<Self, FileErrorKind> {
        let (path, real) = (place.path.clone(), place.real(base));
        let mut item = Item { place: Some(place), ..Item::later(path, real, expect, content, durable) };
        item.before = item.stage(Naming::Later, false)?;
        Ok(item)
    }

    /// A file in a folder that is yet to be made.
    pub(super) fn later(
        path: WsPath,
        real: String,
        expect: Expect,
        content: Option<&FileBytes>,
        durable: bool,
    ) -> Self {
        let (content, names) = (content.cloned(), Names::draw());
        Item { path, place: None, real, expect, content, before: None, names, durable, staged: None, kept: false }
    }

    /// Where the links on the way to it lead.
    pub(super) fn real(&self) -> &str {
        &self.real
    }

    /// What is there before, nothing if no file is.
    pub(super) fn creates(&self) -> bool {
        self.before.is_none()
    }

    /// Goes on to another content: a later step rests on what this one leaves, so the two are one.
    pub(super) fn go_on(&mut self, expect: Expect, content: Option<&FileBytes>) -> Result<(), FileErrorKind> {
        meets(expect, self.content.as_ref())?;
        if self.content.is_none() && content.is_none() {
            return Err(FileErrorKind::NotFound);
        }
        self.content = content.cloned();
        self.staged = None;
        if self.place.is_some() && !(self.creates() && self.content.is_none()) {
            self.before = self.stage(Naming::Later, false)?;
        }
        Ok(())
    }

    /// Whether the set does nothing to this file after all.
    pub(super) fn comes_to_nothing(&self) -> bool {
        self.creates() && self.content.is_none()
    }

    /// What is about to happen.
    pub(super) fn step(&self) -> FsStep {
        FsStep {
            action: if self.content.is_some() { FsAction::Write } else { FsAction::Delete },
            path: self.path.as_str().to_owned(),
            real: self.real.clone(),
            from: None,
            before: self.before.map(|version| version.to_string()),
            after: self.content.as_ref().map(|content| content.version().to_string()),
            temp: Some(self.names.temp()),
            kept: None,
        }
    }

    /// Makes ready what had to wait until the record told of its names.
    pub(super) fn make_ready(&mut self, base: &Base) -> Result<(), FileError> {
        if self.place.is_none() {
            self.place = Some(Place::of_file(base, &self.path)?);
        }
        if self.staged.is_none() {
            self.stage(Naming::Now, false).map_err(|kind| kind.at(&self.path))?;
        }
        Ok(())
    }

    fn stage(&mut self, naming: Naming, in_place: bool) -> Result<Option<Version>, FileErrorKind> {
        // What was made ready before has the same names, so it goes first.
        self.staged = None;
        let Some(place) = &self.place else { return Ok(None) };
        let terms = Terms { names: &self.names, naming, durable: self.durable, in_place };
        let (before, staged) = stage(place, self.expect, self.content.as_ref(), &terms)?;
        self.staged = staged;
        Ok(before)
    }

    /// Everything that another commit must not touch meanwhile.
    pub(super) fn keys(&self) -> impl Iterator<Item = u64> {
        let staged = self.staged.as_ref().and_then(Staged::key);
        [self.place.as_ref().map(Place::key), staged].into_iter().flatten()
    }

    /// Puts the file in its place, and checks what that displaced.
    pub(super) fn put(&mut self) -> Result<(), FileErrorKind> {
        for attempt in 0..ATTEMPTS {
            // Some file systems never tell the same of a file twice; what counts is what was displaced.
            let glance = attempt < ATTEMPTS / 2;
            let (Some(place), Some(staged)) = (&self.place, &mut self.staged) else { break };
            let in_place = match staged.perform(place, self.expect, glance) {
                Ok(()) => return Ok(()),
                Err(Setback::Failed(kind)) => return Err(kind),
                Err(Setback::Again) => false,
                Err(Setback::InPlace) => true,
            };
            self.settle()?;
            self.stage(Naming::Now, in_place)?;
        }
        Err(FileErrorKind::Io(io::Error::other("the file keeps changing while it is being written")))
    }

    /// Sees to it that what was put back is safe before its other name goes.
    fn settle(&self) -> io::Result<()> {
        match &self.place {
            Some(place) if self.durable => disk::sync_folder(&place.dir),
            _ => Ok(()),
        }
    }

    /// Gives what was displaced to the journal.
    pub(super) fn keep(&mut self, journal: &dyn Journal) -> Result<(), FileErrorKind> {
        let Some((displaced, name)) = self.staged.as_ref().and_then(Staged::displaced) else { return Ok(()) };
        let Some(place) = &self.place else { return Ok(()) };
        // Told before it is tried: the journal may have taken the file and failed all the same.
        self.kept = true;
        displaced.give(journal, &self.path, (&place.dir, name), &self.names).map_err(journal_failed)
    }

    /// Gets back what the journal took, if it was given anything.
    pub(super) fn recall(&self) -> io::Result<bool> {
        match (self.staged.as_ref().and_then(Staged::displaced), &self.place) {
            (Some((displaced, name)), Some(place)) if self.kept => {
                displaced.recall(&place.dir, name, &self.names, self.durable).map(|()| true)
            }
            _ => Ok(false),
        }
    }

    /// Puts back what was there.
    pub(super) fn undo(&mut self) -> io::Result<()> {
        match (&mut self.staged, &self.place) {
            (Some(staged), Some(place)) => staged.undo(place),
            _ => Ok(()),
        }
    }

    /// Takes away what is left beside the file. Tells whether anything was.
    pub(super) fn finish(&mut self) -> bool {
        self.staged.take().is_some_and(|mut staged| staged.finish())
    }

    /// Leaves what is beside the file to a recovery.
    pub(super) fn leave(&mut self) {
        if let Some(staged) = &mut self.staged {
            staged.leave();
        }
    }
}
