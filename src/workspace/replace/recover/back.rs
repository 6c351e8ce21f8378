//! One file of a change after a crash: finished, or put back as it was.
//!
//! Bytes that are neither the old nor the new ones are somebody else's. They stay where they are, or the journal
//! gets them.

use std::io;

use crate::workspace::local::fault;
use crate::workspace::replace::disk::{self, Access};
use crate::workspace::replace::keep::InHand;
use crate::workspace::replace::place::Place;
use crate::workspace::replace::recover::found::{Found, There};
use crate::workspace::replace::stage::as_it_is;
use crate::workspace::replace::temp::{Temp, settle};
use crate::workspace::{FileErrorKind, Journal, journal_failed};

/// Gives what was displaced to the journal, and clears away the rest.
pub(super) fn finish(file: &Found, journal: &dyn Journal) -> Result<(), FileErrorKind> {
    let (Some(place), Some(names)) = (&file.place, &file.names) else { return Ok(()) };
    // A copy beside the file that it was made of is of no use any more.
    let in_hand = !matches!((file.temp(), file.written()), (There::Nothing, There::Nothing));
    for name in [names.copy(), names.old()] {
        let there = There::look(place, name.as_ref()).map_err(fault)?;
        drop_or_keep(file, place, &name, &there, in_hand, journal)?;
    }
    for name in [names.written(), names.temp()] {
        let there = There::look(place, name.as_ref()).map_err(fault)?;
        drop_or_keep(file, place, &name, &there, false, journal)?;
    }
    Ok(())
}

/// Puts the old file back where the new one is. What that takes out stays beside it until [`clear`].
pub(super) fn put_back(file: &Found, journal: &dyn Journal, durable: bool) -> Result<(), FileErrorKind> {
    let (Some(place), Some(names)) = (&file.place, &file.names) else { return Ok(()) };
    if let Some(old) = file.torn() {
        // Nobody can tell whose bytes they are, so they are not lost.
        keep_copy(file, place, journal)?;
        return rewrite(place, old, durable).map_err(fault);
    }
    if !file.is_new(file.here()) {
        return Ok(());
    }
    let temp = names.temp();
    match (file.written(), file.temp()) {
        (There::File(old, _), _) => {
            // From its name another recovery tells that the file is half-written.
            disk::rename(&place.dir, names.written().as_ref(), names.copy().as_ref()).map_err(fault)?;
            if durable {
                disk::sync_folder(&place.dir).map_err(fault)?;
            }
            rewrite(place, old, durable).map_err(fault)
        }
        (_, There::Nothing) if file.before.is_none() => disk::unlink(&place.dir, &place.name).map_err(fault),
        (_, There::Nothing) => Ok(()),
        // It has got a second name but not lost its first.
        (_, waiting) if file.is_new(waiting) && file.before.is_none() && waiting.is_same(file.here()) => {
            disk::unlink(&place.dir, &place.name).map_err(fault)
        }
        (_, waiting) if file.is_new(waiting) => Ok(()),
        _ if file.after.is_none() => match settle(&place.dir, temp.as_ref(), &place.name) {
            // Somebody has put a file there, which is the newest.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            done => done.map(drop).map_err(fault),
        },
        _ if disk::exchange(&place.dir, temp.as_ref(), &place.name).map_err(fault)? => Ok(()),
        _ => disk::rename(&place.dir, temp.as_ref(), &place.name).map_err(fault),
    }
}

/// Takes away what is beside a file that is as it was.
pub(super) fn clear(file: &Found, journal: &dyn Journal) -> Result<(), FileErrorKind> {
    let (Some(place), Some(names)) = (&file.place, &file.names) else { return Ok(()) };
    let here = There::look(place, &place.name).map_err(fault)?;
    let is_back = file.is_old(&here);
    for name in [names.copy(), names.old(), names.written()] {
        let there = There::look(place, name.as_ref()).map_err(fault)?;
        // These are copies of what is there.
        drop_or_keep(file, place, &name, &there, is_back, journal)?;
    }
    let temp = There::look(place, names.temp().as_ref()).map_err(fault)?;
    drop_or_keep(file, place, &names.temp(), &temp, is_back && file.is_old(&temp), journal)
}

/// Takes a name beside the file away, once the journal has its bytes, if they are not safe elsewhere.
fn drop_or_keep(
    file: &Found,
    place: &Place,
    name: &str,
    there: &There,
    safe: bool,
    journal: &dyn Journal,
) -> Result<(), FileErrorKind> {
    let There::File(bytes, _) = there else { return Ok(()) };
    let here = There::look(place, &place.name).map_err(fault)?;
    if !(safe || file.is_new(there) || there.is_same(&here)) {
        keep(file, place, name, bytes, &here, journal)?;
    }
    match disk::unlink(&place.dir, name.as_ref()) {
        // The journal may have taken it away.
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(fault(error)),
        _ => Ok(()),
    }
}

fn keep(
    file: &Found,
    place: &Place,
    name: &str,
    bytes: &InHand,
    here: &There,
    journal: &dyn Journal,
) -> Result<(), FileErrorKind> {
    let Some(names) = &file.names else { return Ok(()) };
    // A copy is for its owner alone; the file that it was made of is still there and tells its mode.
    let mode = if name == names.temp() { bytes.mode } else { here.mode().or(bytes.mode) };
    bytes.give_as(mode, journal, &file.path, (&place.dir, name), names).map_err(journal_failed)
}

/// Gives a copy of what is at `place` to the journal.
fn keep_copy(file: &Found, place: &Place, journal: &dyn Journal) -> Result<(), FileErrorKind> {
    let (There::File(here, _), Some(names)) = (file.here(), &file.names) else { return Ok(()) };
    let name = names.old();
    let old = There::look(place, name.as_ref()).map_err(fault)?;
    drop_or_keep(file, place, &name, &old, file.is_old(&old), journal)?;
    let copy = Temp::named_at_once(&place.dir, name, Access::Owner).map_err(fault)?;
    disk::copy(&here.file, &copy.file).map_err(fault)?;
    let version = crate::workspace::replace::temp::version(&copy.file).map_err(fault)?;
    let bytes = InHand { file: copy.file.try_clone().map_err(fault)?, version, mode: here.mode };
    bytes.give(journal, &file.path, (&place.dir, copy.name()), names).map_err(journal_failed)
}

/// Writes `old` into the file at `place`, which stays the file that it is.
fn rewrite(place: &Place, old: &InHand, durable: bool) -> io::Result<()> {
    let file = place.dir.open_with(&place.name, &as_it_is(true))?;
    let len = disk::copy(&old.file, &file)?;
    disk::set_len(&file, len)?;
    if durable { disk::sync_file(&file) } else { Ok(()) }
}
