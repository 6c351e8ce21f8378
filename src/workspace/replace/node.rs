//! A file, a link or a folder that moves, goes or comes back whole: by a rename, whatever is in it.
//!
//! What goes is first moved aside, as a single file is, and taken by the journal once everything is in place. What comes
//! back is first put beside its place by the journal.

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::Path;

use crate::model::change::Expect;
use crate::model::event::{FsAction, FsStep};
use crate::model::id::KeptId;
use crate::model::path::WsPath;
use crate::model::version::Version;
use crate::workspace::local::{Base, fault};
use crate::workspace::replace::beside::Names;
use crate::workspace::replace::disk;
use crate::workspace::replace::identity::{id, names};
use crate::workspace::replace::keep::InHand;
use crate::workspace::replace::place::Place;
use crate::workspace::replace::swap::left_beside;
use crate::workspace::replace::temp::settle;
use crate::workspace::{self, Depth, FileError, FileErrorKind, Journal, Kind, Survey, journal_failed, nodes};

/// One that moves, goes or comes back.
pub(super) struct Node {
    pub(super) path: WsPath,
    /// Nothing until its folder is made.
    pub(super) place: Option<Place>,
    real: String,
    names: Names,
    deed: Deed,
    state: State,
}

enum Deed {
    Move {
        from: Place,
        from_real: String,
        expect: Expect,
        version: Option<Version>,
    },
    Remove {
        mark: Version,
        bytes: u64,
        kept: KeptId,
        /// It was kept under that name before, and came back.
        again: bool,
    },
    Restore {
        mark: Version,
        kept: KeptId,
    },
}

/// How far it has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Ready,
    /// It has moved, was moved aside, or has come back.
    Put,
    /// The journal was told to take it.
    Taken,
    /// It is for a recovery to look after.
    Left,
}

/// Where a step of the set leads.
pub(super) enum Target {
    /// To a name in a folder that is there.
    Here(Place),
    /// To a name in a folder that is yet to be made.
    Later(String),
}

impl Node {
    /// What is at `from` moves to `to`; `freed` says that an earlier step takes away what is there.
    pub(super) fn moving(
        base: &Base,
        from: &WsPath,
        to: (&WsPath, Target),
        expect: Expect,
        freed: bool,
    ) -> Result<Self, FileError> {
        let at_from = |kind: FileErrorKind| kind.at(from);
        let (path, target) = to;
        let gone = FileErrorKind::Stale { now: None };
        let place = match Place::of_folder(base, from) {
            Err(FileError { kind: FileErrorKind::NotFound, .. }) => return Err(gone.at(from)),
            place => place?.ok_or_else(|| FileErrorKind::IntoItself.at(path))?,
        };
        let metadata = match place.dir.symlink_metadata(&place.name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(gone.at(from)),
            metadata => metadata.map_err(|error| at_from(fault(error)))?,
        };
        let version = match expect {
            Expect::Exactly(wanted) if metadata.is_file() => {
                let now = version_at(&place, &place.name).map_err(|error| at_from(fault(error)))?;
                if now != Some(wanted) {
                    return Err(at_from(FileErrorKind::Stale { now }));
                }
                now
            }
            _ => None,
        };
        if let Target::Here(to) = &target
            && !freed
            && !is_same_name(&place, to).map_err(fault).map_err(|kind| kind.at(path))?
        {
            is_free(to)?;
        }
        let from_real = place.real(base);
        let deed = Deed::Move { from: place, from_real, expect, version };
        let node = Node::new(base, path, target, deed);
        let into_itself = match &node.deed {
            Deed::Move { from_real, .. } => within(&node.real, from_real),
            _ => false,
        };
        if metadata.is_dir() && into_itself { Err(FileErrorKind::IntoItself.at(path)) } else { Ok(node) }
    }

    /// What is at `path` goes, and is kept.
    pub(super) fn removal(base: &Base, path: &WsPath, expect: Expect, kept: Option<KeptId>) -> Result<Self, FileError> {
        let absent = || match expect {
            Expect::Any => FileErrorKind::NotFound,
            _ => FileErrorKind::Stale { now: None },
        };
        let place = match Place::of_folder(base, path) {
            Err(FileError { kind: FileErrorKind::NotFound, .. }) => return Err(absent().at(path)),
            place => place?.ok_or_else(|| FileErrorKind::PermissionDenied.at(path))?,
        };
        let survey = match nodes::survey(&place.dir, Path::new(&place.name), Depth::Marks) {
            Err((_, error)) if error.kind() == io::ErrorKind::NotFound => return Err(absent().at(path)),
            survey => survey.map_err(|(_, error)| fault(error).at(path))?,
        };
        check(&survey, expect, Depth::Marks).map_err(|kind| kind.at(path))?;
        let Survey { mark, bytes, .. } = survey;
        let again = kept.is_some();
        let kept = kept.unwrap_or_else(|| KeptId::new(RandomState::new().hash_one(mark.to_string())));
        Ok(Node::new(base, path, Target::Here(place), Deed::Remove { mark, bytes, kept, again }))
    }

    /// What was kept comes back to `path`.
    pub(super) fn coming_back(
        base: &Base,
        path: &WsPath,
        target: Target,
        freed: bool,
        (kept, mark): (KeptId, Version),
        journal: &dyn Journal,
    ) -> Result<Self, FileError> {
        if let (Target::Here(place), false) = (&target, freed) {
            is_free(place)?;
        }
        if !journal.has(kept).map_err(|error| journal_failed(error).at(path))? {
            return Err(FileErrorKind::Gone.at(path));
        }
        Ok(Node::new(base, path, target, Deed::Restore { mark, kept }))
    }

    fn new(base: &Base, path: &WsPath, target: Target, deed: Deed) -> Self {
        let (place, real) = match target {
            Target::Here(place) => {
                let real = place.real(base);
                (Some(place), real)
            }
            Target::Later(real) => (None, real),
        };
        Node { path: path.clone(), place, real, names: Names::draw(), deed, state: State::Ready }
    }

    /// What is about to happen.
    pub(super) fn step(&self) -> FsStep {
        let mut step = FsStep {
            action: FsAction::Move,
            path: self.path.as_str().to_owned(),
            real: self.real.clone(),
            from: None,
            before: None,
            after: None,
            temp: Some(self.names.temp()),
            kept: None,
        };
        match &self.deed {
            Deed::Move { from_real, version, .. } => {
                step.from = Some(from_real.clone());
                step.before = version.map(|version| version.to_string());
                step.after.clone_from(&step.before);
                step.temp = None;
            }
            Deed::Remove { mark, kept, .. } => {
                step.action = FsAction::Remove;
                (step.before, step.kept) = (Some(mark.to_string()), Some(kept.to_string()));
            }
            Deed::Restore { mark, kept } => {
                step.action = FsAction::Restore;
                (step.after, step.kept) = (Some(mark.to_string()), Some(kept.to_string()));
            }
        }
        step
    }

    /// Whether this makes the name that `place` is free.
    pub(super) fn frees(&self, place: &Place) -> bool {
        match &self.deed {
            Deed::Move { from, .. } => from.is(place),
            Deed::Remove { .. } => self.place.as_ref().is_some_and(|own| own.is(place)),
            Deed::Restore { .. } => false,
        }
    }

    /// Whether `real` is something that moves, goes or comes back with this, or lies where it gets to.
    pub(super) fn concerns(&self, real: &str) -> bool {
        let from = match &self.deed {
            Deed::Move { from_real, .. } => within(real, from_real),
            _ => false,
        };
        from || within(real, &self.real)
    }

    /// Finds what had to wait until its folder was made.
    pub(super) fn make_ready(&mut self, base: &Base) -> Result<(), FileError> {
        if self.place.is_none() {
            self.place = Place::of_folder(base, &self.path)?;
        }
        Ok(())
    }

    /// The places whose folders have other names in them afterwards.
    pub(super) fn places(&self) -> impl Iterator<Item = &Place> {
        let from = match &self.deed {
            Deed::Move { from, .. } => Some(from),
            _ => None,
        };
        from.into_iter().chain(&self.place)
    }

    /// Moves it, moves it aside, or lets it come back; back again if it is not the one that was meant.
    pub(super) fn put(&mut self, journal: &dyn Journal) -> Result<(), FileErrorKind> {
        let Some(place) = &self.place else { return Err(FileErrorKind::NotFound) };
        let temp = self.names.temp();
        match &self.deed {
            Deed::Move { from, expect, .. } => {
                relocate(from, place)?;
                self.state = State::Put;
                let Expect::Exactly(wanted) = expect else { return Ok(()) };
                match place.dir.symlink_metadata(&place.name).map_err(fault)? {
                    metadata if metadata.is_file() => {
                        let now = version_at(place, &place.name).map_err(fault)?;
                        if now == Some(*wanted) { Ok(()) } else { Err(FileErrorKind::Stale { now }) }
                    }
                    metadata if metadata.is_dir() => {
                        let survey = nodes::survey(&place.dir, Path::new(&place.name), Depth::Names);
                        check(&survey.map_err(|(_, error)| fault(error))?, *expect, Depth::Names)
                    }
                    _ => Ok(()),
                }
            }
            Deed::Remove { mark, kept, again, .. } => {
                if *again {
                    // A copy of what has come back says nothing about how far this has come.
                    journal.forget(*kept).map_err(journal_failed)?;
                }
                disk::rename(&place.dir, &place.name, temp.as_ref()).map_err(gone)?;
                self.state = State::Put;
                let survey = nodes::survey(&place.dir, Path::new(&temp), Depth::Marks);
                check(&survey.map_err(|(_, error)| fault(error))?, Expect::Exactly(*mark), Depth::Marks)
            }
            Deed::Restore { kept, .. } => {
                self.state = State::Taken;
                journal.give_back(*kept, &place.dir, &temp).map_err(journal_failed)?;
                settle(&place.dir, temp.as_ref(), &place.name).map_err(gone)?;
                self.state = State::Put;
                Ok(())
            }
        }
    }

    /// Lets the journal take what goes.
    pub(super) fn keep(&mut self, journal: &dyn Journal) -> Result<(), FileErrorKind> {
        let (Deed::Remove { bytes, kept, .. }, Some(place)) = (&self.deed, &self.place) else { return Ok(()) };
        // Told before it is tried: the journal may have taken it and failed all the same.
        self.state = State::Taken;
        let name = self.names.temp();
        let node = workspace::Node { kept: *kept, bytes: *bytes, folder: &place.dir, name: &name };
        journal.take(&node).map_err(journal_failed)
    }

    /// Gets back what the journal took, or lets it forget its copy. Tells whether there was anything to do.
    pub(super) fn recall(&mut self, journal: &dyn Journal) -> io::Result<bool> {
        let (Deed::Remove { kept, .. }, Some(place), State::Taken) = (&self.deed, &self.place, self.state) else {
            return Ok(false);
        };
        let name = self.names.temp();
        if is_there(place, name.as_ref())? {
            journal.forget(*kept)?;
        } else {
            journal.give_back(*kept, &place.dir, &name)?;
            journal.forget(*kept)?;
        }
        self.state = State::Put;
        Ok(true)
    }

    /// Puts it back, unless the place is somebody else's by now.
    pub(super) fn undo(&mut self, journal: &dyn Journal) -> io::Result<()> {
        let Some(place) = &self.place else { return Ok(()) };
        let temp = self.names.temp();
        let state = std::mem::replace(&mut self.state, State::Ready);
        match (&self.deed, state) {
            (_, State::Ready | State::Left) => Ok(()),
            (Deed::Move { from, .. }, _) => relocate(place, from).map_err(|kind| {
                let told = format!("{kind}, and what was moved to {} could not be moved back", self.path);
                io::Error::other(told)
            }),
            (Deed::Remove { .. }, _) => settle(&place.dir, temp.as_ref(), &place.name).map(drop).map_err(|error| {
                self.state = State::Left;
                left_beside(&error, &temp)
            }),
            (Deed::Restore { kept, .. }, _) => {
                if state == State::Put {
                    disk::rename(&place.dir, &place.name, temp.as_ref())?;
                }
                give_up(place, &temp, *kept, journal).inspect_err(|_| self.state = State::Left)
            }
        }
    }

    /// Takes away what is left beside the place. Tells whether anything was.
    pub(super) fn finish(&mut self, journal: &dyn Journal) -> bool {
        let Some(place) = &self.place else { return false };
        match (&self.deed, self.state) {
            (Deed::Remove { .. }, State::Taken) => {
                self.state = State::Ready;
                let name = self.names.temp();
                let left = is_there(place, name.as_ref()).unwrap_or(true);
                left && disk::clear(&place.dir, name.as_ref()).is_ok()
            }
            (Deed::Restore { kept, .. }, State::Put) => {
                self.state = State::Ready;
                // A copy that is left over goes with everything that is old.
                let _ = journal.forget(*kept);
                false
            }
            _ => false,
        }
    }

    /// Leaves everything as it is, for a recovery.
    pub(super) fn leave(&mut self) {
        self.state = State::Left;
    }
}

/// Gives what is beside `place` under `temp` to the journal, or takes it away where the journal has it still.
pub(super) fn give_up(place: &Place, temp: &str, kept: KeptId, journal: &dyn Journal) -> io::Result<()> {
    if !is_there(place, temp.as_ref())? {
        return Ok(());
    }
    if !journal.has(kept)? {
        let survey = nodes::survey(&place.dir, Path::new(temp), Depth::Marks).map_err(|(_, error)| error)?;
        journal.take(&workspace::Node { kept, bytes: survey.bytes, folder: &place.dir, name: temp })?;
    }
    disk::clear(&place.dir, temp.as_ref())
}

/// Gives what is at `from` the name `to`, which must be free.
pub(super) fn relocate(from: &Place, to: &Place) -> Result<(), FileErrorKind> {
    if is_same_name(from, to).map_err(fault)? {
        return disk::transfer(from, to).map_err(gone);
    }
    if disk::transfer_if_free(from, to).map_err(gone)? {
        return Ok(());
    }
    // Nothing here does it in one step, so somebody may get in between.
    is_free(to).map_err(|error| error.kind)?;
    disk::transfer(from, to).map_err(gone)
}

/// What it means that a name is not there, or taken.
fn gone(error: io::Error) -> FileErrorKind {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty => {
            FileErrorKind::Stale { now: None }
        }
        io::ErrorKind::CrossesDevices => FileErrorKind::OtherFileSystem,
        _ => fault(error),
    }
}

/// Whether both are one name, spelled with other letters, of a file system that takes them for the same.
fn is_same_name(a: &Place, b: &Place) -> io::Result<bool> {
    let spelled_alike = || match (a.name.to_str(), b.name.to_str()) {
        (Some(a), Some(b)) => a != b && a.to_lowercase() == b.to_lowercase(),
        _ => false,
    };
    if a.folder != b.folder || !spelled_alike() {
        return Ok(false);
    }
    match (a.dir.symlink_metadata(&a.name), b.dir.symlink_metadata(&b.name)) {
        // A file of two names is not renamed by giving it the one that it has.
        (Ok(a), Ok(b)) => Ok(id(&a) == id(&b) && (a.is_dir() || names(&a) == 1)),
        (Err(error), _) | (_, Err(error)) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        (Err(error), _) | (_, Err(error)) => Err(error),
    }
}

fn is_free(place: &Place) -> Result<(), FileError> {
    match is_there(place, &place.name) {
        Ok(false) => Ok(()),
        Ok(true) => Err(FileErrorKind::Stale { now: None }.at(&place.path)),
        Err(error) => Err(fault(error).at(&place.path)),
    }
}

pub(super) fn is_there(place: &Place, name: &std::ffi::OsStr) -> io::Result<bool> {
    match place.dir.symlink_metadata(name) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn version_at(place: &Place, name: &std::ffi::OsStr) -> io::Result<Option<Version>> {
    Ok(InHand::open(&place.dir, name)?.map(|file| file.version))
}

/// Whether what goes is what was expected, and can be kept; of what moves only the names are expected.
fn check(survey: &Survey, expect: Expect, depth: Depth) -> Result<(), FileErrorKind> {
    if matches!(expect, Expect::Exactly(mark) if mark != survey.mark) || expect == Expect::Absent {
        return Err(FileErrorKind::Stale { now: None });
    }
    let special = survey.kind == Kind::Other || survey.below.iter().any(|entry| entry.kind == Kind::Other);
    if depth == Depth::Marks && special { Err(FileErrorKind::NotAFile) } else { Ok(()) }
}

fn within(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
