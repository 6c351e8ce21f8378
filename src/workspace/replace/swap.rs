//! A file in exchange for another: what it displaces is in our hands before anyone can lose it.

use std::io;

use cap_std::fs::File;

use crate::model::change::Expect;
use crate::model::version::Version;
use crate::workspace::FileErrorKind;
use crate::workspace::local::patiently;
use crate::workspace::replace::exchange::{exchange, must_stay};
use crate::workspace::replace::identity::{Glimpse, glimpse, glimpse_at, id};
use crate::workspace::replace::place::Place;
use crate::workspace::replace::stage::{Old, as_it_is};
use crate::workspace::replace::temp::{Access, Temp, new_name, version};
use crate::workspace::replace::trial::{self, Ability};
use crate::workspace::replace::{Setback, metadata};

/// How often a file is given back to somebody who keeps saving it in between.
const EXCHANGES: usize = 1000;

/// A file that is ready to take the place of another.
#[derive(Debug)]
pub(super) struct Swap {
    temp: Temp,
    content: Version,
    /// What was there when this was staged.
    seen: Glimpse,
    state: State,
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
    /// Writes `content` beside `place` with everything that is known about the old file.
    pub(super) fn stage(place: &Place, old: &Old, content: &[u8], durable: bool) -> Result<Self, Setback> {
        let temp = Temp::write(&place.dir, Access::Owner, content)?;
        trial::step()?;
        if !metadata::carry(&old.file, &temp.file)? {
            return Err(Setback::InPlace);
        }
        if durable {
            temp.sync()?;
        }
        Ok(Swap { temp, content: Version::of(content), seen: glimpse(&old.metadata), state: State::Waiting })
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
        let checked = trial::step().map_err(Setback::from).and_then(|()| self.check_displaced(place, expect));
        if checked.is_err() {
            self.undo(place).map_err(FileErrorKind::Io)?;
        }
        checked
    }

    fn put(&mut self, place: &Place) -> io::Result<()> {
        let own = self.temp.named()?.to_owned();
        trial::step()?;
        if exchange(&place.dir, &own, &place.name)? {
            self.state = State::Exchanged;
            return Ok(());
        }
        // Without an exchange the old file gets a second name, so that the rename does not destroy it.
        let kept = new_name();
        if trial::without(Ability::Link) || place.dir.hard_link(&place.name, &place.dir, &kept).is_err() {
            return self.put_over_copy(place);
        }
        if let Err(error) = place.dir.rename(&own, &place.dir, &place.name) {
            let _ = place.dir.remove_file(&kept);
            return Err(error);
        }
        self.temp.takes_over(kept);
        self.state = State::Renamed;
        Ok(())
    }

    /// The last resort, for file systems that can neither exchange nor link.
    fn put_over_copy(&mut self, place: &Place) -> io::Result<()> {
        let old = place.dir.open_with(&place.name, &as_it_is(false))?;
        let mut copy = Temp::create(&place.dir, Access::Owner)?;
        io::copy(&mut &old, &mut &copy.file)?;
        metadata::carry(&old, &copy.file)?;
        copy.sync()?;
        let kept = copy.named()?.to_owned();
        let own = self.temp.named()?.to_owned();
        place.dir.rename(&own, &place.dir, &place.name)?;
        copy.leave();
        self.temp.takes_over(kept);
        self.state = State::Renamed;
        Ok(())
    }

    /// Whether the displaced file is what the change rests on.
    fn check_displaced(&mut self, place: &Place, expect: Expect) -> Result<(), Setback> {
        let displaced: File = {
            let name = self.temp.named()?;
            patiently(|| place.dir.open_with(name, &as_it_is(false)))?
        };
        if !displaced.metadata()?.is_file() {
            return Err(FileErrorKind::NotAFile.into());
        }
        match expect {
            Expect::Exactly(wanted) => match version(&displaced)? {
                now if now == wanted => Ok(()),
                now => Err(FileErrorKind::Stale { now: Some(now) }.into()),
            },
            Expect::Absent | Expect::Any => Ok(()),
        }
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
            let kept = self.temp.leave().unwrap_or_default();
            let kept = kept.display();
            return Err(io::Error::new(
                error.kind(),
                format!("{error}, and what was there before could not be put back; it is beside it in {kept}"),
            ));
        }
        self.state = State::Waiting;
        Ok(())
    }

    fn exchange_back(&mut self, place: &Place) -> io::Result<()> {
        let own = self.temp.named()?.to_owned();
        let in_hand = || patiently(|| place.dir.symlink_metadata(&own)).map(|metadata| id(&metadata));
        let mut put = in_hand()?;
        match exchange(&place.dir, &own, &place.name) {
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
            exchange(&place.dir, &own, &place.name)?;
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
            place.dir.rename(&kept, &place.dir, &place.name)?;
            self.temp.leave();
        }
        Ok(())
    }
}
