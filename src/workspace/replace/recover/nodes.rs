//! What moved, went or came back whole, after a crash: how far it had come, and finishing it or taking it back.

use std::io;
use std::path::Path;

use crate::model::event::{FsAction, FsStep};
use crate::model::id::KeptId;
use crate::model::path::WsPath;
use crate::model::version::Version;
use crate::workspace::local::{Base, fault};
use crate::workspace::replace::beside::Names;
use crate::workspace::replace::disk;
use crate::workspace::replace::node::{give_up, is_there, relocate};
use crate::workspace::replace::place::Place;
use crate::workspace::replace::recover::found::Stand;
use crate::workspace::replace::recover::unreadable;
use crate::workspace::replace::temp::settle;
use crate::workspace::{Depth, FileError, FileErrorKind, Journal, journal_failed, nodes};

/// One file, link or folder of a change.
pub(super) struct FoundNode {
    pub(super) path: WsPath,
    /// Nothing if its folder is gone.
    place: Option<Place>,
    what: What,
    stand: Stand,
}

enum What {
    Move { from: Option<Place> },
    Remove { temp: String, kept: KeptId },
    Restore { temp: String, kept: KeptId, mark: Option<Version> },
}

impl FoundNode {
    pub(super) fn look(
        base: &Base,
        path: &WsPath,
        place: Option<Place>,
        step: &FsStep,
        journal: &dyn Journal,
    ) -> Result<Self, FileError> {
        let at = |kind: FileErrorKind| kind.at(path);
        let what = match step.action {
            FsAction::Move => {
                let from = step.from.as_deref().unwrap_or_default();
                let from = WsPath::parse(from).map_err(|error| at(unreadable(&error)))?;
                What::Move { from: Place::of_real(base, &from, &from)? }
            }
            action => {
                let kept = step.kept.as_deref().unwrap_or_default();
                let kept = kept.parse().map_err(|error| at(unreadable(&error)))?;
                let names = step.temp.as_deref().and_then(Names::of);
                let temp = names.map(|names| names.temp()).ok_or_else(|| at(unreadable(&"no name beside it")))?;
                let mark = step.after.as_deref().and_then(|mark| mark.parse().ok());
                if action == FsAction::Remove {
                    What::Remove { temp, kept }
                } else {
                    What::Restore { temp, kept, mark }
                }
            }
        };
        let mut found = FoundNode { path: path.clone(), place, what, stand: Stand::Unclear };
        found.stand = found.stands(step, journal).map_err(|error| at(fault(error)))?;
        Ok(found)
    }

    fn stands(&self, step: &FsStep, journal: &dyn Journal) -> io::Result<Stand> {
        let at = |place: &Option<Place>, name: Option<&str>| match place {
            Some(place) => is_there(place, name.map_or(place.name.as_os_str(), AsRef::as_ref)),
            None => Ok(false),
        };
        let here = at(&self.place, None)?;
        Ok(match &self.what {
            What::Move { from } => match (at(from, None)?, here) {
                (true, false) => Stand::Before,
                (false, true) => Stand::After,
                (false, false) => Stand::Unclear,
                // Somebody has put something to where it came from, or to where it was to go.
                (true, true) if self.is_version(step)? => Stand::After,
                (true, true) => Stand::Before,
            },
            What::Remove { temp, kept } => match (journal.has(*kept)?, at(&self.place, Some(temp))?) {
                (true, _) => Stand::Finished,
                (false, true) => Stand::After,
                (false, false) if here => Stand::Before,
                (false, false) => Stand::Unclear,
            },
            What::Restore { temp, kept, mark } => match (journal.has(*kept)?, at(&self.place, Some(temp))?) {
                (_, true) => Stand::Before,
                (true, false) if here && self.mark()? == *mark => Stand::After,
                (true, false) => Stand::Before,
                (false, false) if here => Stand::After,
                (false, false) => Stand::Unclear,
            },
        })
    }

    fn is_version(&self, step: &FsStep) -> io::Result<bool> {
        let Some(place) = &self.place else { return Ok(false) };
        let now = crate::workspace::replace::keep::InHand::open(&place.dir, &place.name)?;
        Ok(now.is_some_and(|now| Some(now.version.to_string()) == step.after))
    }

    fn mark(&self) -> io::Result<Option<Version>> {
        let Some(place) = &self.place else { return Ok(None) };
        let survey = nodes::survey(&place.dir, Path::new(&place.name), Depth::Marks);
        survey.map(|survey| Some(survey.mark)).map_err(|(_, error)| error)
    }

    pub(super) fn stand(&self) -> Stand {
        self.stand
    }

    /// The places whose folders may have other names in them.
    pub(super) fn places(&self) -> impl Iterator<Item = &Place> {
        let from = match &self.what {
            What::Move { from } => from.as_ref(),
            _ => None,
        };
        from.into_iter().chain(&self.place)
    }

    /// Lets the journal take what went, and lets it forget what came back.
    pub(super) fn finish(&self, journal: &dyn Journal) -> Result<(), FileErrorKind> {
        let Some(place) = &self.place else { return Ok(()) };
        match &self.what {
            What::Move { .. } => Ok(()),
            What::Remove { temp, kept } => give_up(place, temp, *kept, journal).map_err(journal_failed),
            What::Restore { kept, .. } if self.stand == Stand::After => journal.forget(*kept).map_err(journal_failed),
            What::Restore { .. } => Ok(()),
        }
    }

    /// Puts back what moved or went, and takes out what came back. What is somebody else's stays.
    pub(super) fn put_back(&self, journal: &dyn Journal) -> Result<(), FileErrorKind> {
        let Some(place) = &self.place else { return Ok(()) };
        match &self.what {
            What::Move { from: Some(from) } if self.stand == Stand::After => match relocate(place, from) {
                Err(FileErrorKind::Stale { .. }) => Ok(()),
                done => done,
            },
            What::Remove { temp, .. } if self.stand == Stand::After => {
                match settle(&place.dir, temp.as_ref(), &place.name) {
                    // Somebody has put something there, which is the newest.
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
                    done => done.map(drop).map_err(fault),
                }
            }
            What::Restore { temp, kept, mark } if self.stand == Stand::After => {
                // The journal gets it back with whatever somebody has done to it since; unless it has a copy, which is
                // then not the same any more.
                if journal.has(*kept).map_err(journal_failed)? && self.mark().map_err(fault)? != *mark {
                    return Ok(());
                }
                disk::rename(&place.dir, &place.name, temp.as_ref()).map_err(fault)
            }
            _ => Ok(()),
        }
    }

    /// Takes away what is beside a place that is as it was, once the journal has it.
    pub(super) fn clear(&self, journal: &dyn Journal) -> Result<(), FileErrorKind> {
        let Some(place) = &self.place else { return Ok(()) };
        match &self.what {
            What::Move { .. } => Ok(()),
            What::Remove { temp, kept } | What::Restore { temp, kept, .. } => {
                give_up(place, temp, *kept, journal).map_err(journal_failed)
            }
        }
    }
}
