//! A file in exchange for another: what it displaces is in our hands before anyone can lose it.

use std::io;

use crate::model::change::Expect;
use crate::model::file_bytes::FileBytes;
use crate::model::version::Version;
use crate::workspace::FileErrorKind;
use crate::workspace::local::patiently;
use crate::workspace::replace::beside::Names;
use crate::workspace::replace::disk::{self, Access};
use crate::workspace::replace::exchange::must_stay;
use crate::workspace::replace::identity::{Glimpse, glimpse, glimpse_at, id};
use crate::workspace::replace::keep::InHand;
use crate::workspace::replace::place::Place;
use crate::workspace::replace::stage::{Old, Terms, as_it_is};
use crate::workspace::replace::temp::Temp;
use crate::workspace::replace::{Setback, metadata, trial};

/// How often a file is given back to somebody who keeps saving it in between.
const EXCHANGES: usize = 1000;

/// A file that is ready to take the place of another.
#[derive(Debug)]
pub(super) struct Swap {
    temp: Temp,
    names: Names,
    content: Version,
    /// What was there when this was staged.
    seen: Glimpse,
    state: State,
    durable: bool,
    displaced: Option<InHand>,
}

/// What has the temporary name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The new file.
    Waiting,
    /// The displaced file.
    Exchanged,
    /// The displaced file, or a copy; the new one was renamed over it.
    Renamed,
}

impl Swap {
    /// Writes `content` beside `place` with everything that is known about the old file. Nothing if that has to wait
    /// until names may appear.
    pub(super) fn stage(
        place: &Place,
        old: &Old,
        content: &FileBytes,
        terms: &Terms<'_>,
    ) -> Result<Option<Self>, Setback> {
        let staged = Temp::write(&place.dir, terms.names.temp(), terms.naming, Access::Owner, content)?;
        let Some(temp) = staged else { return Ok(None) };
        patiently(trial::step)?;
        if !metadata::carry(&old.file, &temp.file)? {
            return Err(Setback::InPlace);
        }
        if terms.durable {
            temp.sync()?;
        }
        let (names, content, seen) = (terms.names.clone(), content.version(), glimpse(&old.metadata));
        let durable = terms.durable;
        Ok(Some(Swap { temp, names, content, seen, state: State::Waiting, durable, displaced: None }))
    }

    /// Swaps the file in, and out again if what it displaced is not what was expected.
    pub(super) fn perform(&mut self, place: &Place, expect: Expect, glance: bool) -> Result<(), Setback> {
        if glance && glimpse_at(place)? != Some(self.seen.clone()) {
            // Found out here, nobody sees the new bytes only to lose them again.
            return Err(Setback::Again);
        }
        match self.put(place) {
            Ok(()) => {}
            Err(error) if must_stay(&error) => return Err(Setback::InPlace),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(Setback::Again),
            Err(error) => return Err(error.into()),
        }
        let checked =
            patiently(trial::step).map_err(Setback::from).and_then(|()| InHand::check(place, self.temp.name(), expect));
        match checked {
            Ok(displaced) => {
                self.displaced = Some(displaced);
                Ok(())
            }
            Err(setback) => {
                self.undo(place).map_err(FileErrorKind::Io)?;
                Err(setback)
            }
        }
    }

    fn put(&mut self, place: &Place) -> io::Result<()> {
        let own = self.temp.named()?.to_owned();
        if disk::exchange(&place.dir, &own, &place.name)? {
            self.state = State::Exchanged;
            return Ok(());
        }
        // Without an exchange the old file gets a second name, so that the rename does not destroy it.
        let old = self.names.old();
        if !disk::link(&place.dir, &place.name, old.as_ref())? {
            return self.put_over_copy(place);
        }
        let renamed = self.second_name_is_safe(place).and_then(|()| disk::rename(&place.dir, &own, &place.name));
        if let Err(error) = renamed {
            let _ = disk::unlink(&place.dir, old.as_ref());
            return Err(error);
        }
        self.renamed(old)
    }

    /// The last resort, for file systems that can neither exchange nor link.
    fn put_over_copy(&mut self, place: &Place) -> io::Result<()> {
        let old = place.dir.open_with(&place.name, &as_it_is(false))?;
        let mut copy = Temp::named_at_once(&place.dir, self.names.old(), Access::Owner)?;
        disk::copy(&old, &copy.file)?;
        metadata::carry(&old, &copy.file)?;
        copy.sync()?;
        self.second_name_is_safe(place)?;
        let own = self.temp.named()?.to_owned();
        disk::rename(&place.dir, &own, &place.name)?;
        copy.leave();
        self.renamed(self.names.old())
    }

    /// Else a loss of power could take the second name, and the rename after it not.
    fn second_name_is_safe(&self, place: &Place) -> io::Result<()> {
        if self.durable { disk::sync_folder(&place.dir) } else { Ok(()) }
    }

    /// The new file has its name, and what it was renamed over is still there as `old`.
    fn renamed(&mut self, old: String) -> io::Result<()> {
        self.state = State::Renamed;
        self.temp.takes_over(old);
        // From its name a recovery tells that the new file got to its place.
        self.temp.rename(self.names.temp())
    }

    /// Puts the displaced file back, unless the place is somebody else's by now.
    ///
    /// What cannot be put back is left under its temporary name, which the failure tells.
    pub(super) fn undo(&mut self, place: &Place) -> io::Result<()> {
        let undone = match self.state {
            State::Waiting => Ok(()),
            State::Exchanged => self.exchange_back(place),
            State::Renamed => self.rename_back(place),
        };
        if let Err(error) = undone {
            self.temp.leave();
            return Err(left_beside(&error, self.temp.name()));
        }
        self.state = State::Waiting;
        self.displaced = None;
        Ok(())
    }

    fn exchange_back(&mut self, place: &Place) -> io::Result<()> {
        let own = self.temp.named()?.to_owned();
        let in_hand = || patiently(|| place.dir.symlink_metadata(&own)).map(|metadata| id(&metadata));
        let mut put = in_hand()?;
        match disk::exchange(&place.dir, &own, &place.name) {
            // Somebody has deleted the new file, and so the place stays empty.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            done => done?,
        };
        if self.temp.is_at(&own, self.content)? {
            return Ok(());
        }
        // Somebody has put a file there since, or written to ours. Theirs is the newest, so it goes back; and if
        // what comes out then is not what went in before, they have been at it again.
        for _ in 0..EXCHANGES {
            let newest = in_hand()?;
            disk::exchange(&place.dir, &own, &place.name)?;
            if in_hand()? == put {
                return Ok(());
            }
            put = newest;
        }
        Err(io::Error::other("the file keeps changing while it is being put back"))
    }

    fn rename_back(&mut self, place: &Place) -> io::Result<()> {
        if self.temp.is_at(&place.name, self.content)? {
            let kept = self.temp.named()?.to_owned();
            disk::rename(&place.dir, &kept, &place.name)?;
            self.temp.leave();
        }
        Ok(())
    }

    /// What was displaced.
    pub(super) fn displaced(&self) -> Option<(&InHand, &str)> {
        self.displaced.as_ref().map(|displaced| (displaced, self.temp.name()))
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

/// `error`, which kept displaced bytes from getting back, with where they are.
pub(super) fn left_beside(error: &io::Error, name: &str) -> io::Error {
    let told = format!("{error}, and what was there before could not be put back; it is beside it in {name}");
    io::Error::new(error.kind(), told)
}
