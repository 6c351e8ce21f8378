//! Where tests make a deed of a commit fail, stop the world after it, watch it, or take an ability of the file
//! system away. Outside tests it does nothing.

use std::ffi::OsString;
#[cfg(not(test))]
use std::io;

use crate::workspace::replace::identity::FileId;

/// What a file system may not be able to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ability {
    /// Files without a name.
    Unnamed,
    /// Two names exchanged in one step.
    Exchange,
    /// A second name for a file.
    Link,
    /// Waiting for the disk. Not an ability one can lack, but a test that plays the disk itself has no need of it.
    Sync,
}

/// What was done to the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(not(test), allow(dead_code, reason = "only tests read it"))]
pub(super) enum Deed {
    /// A file was made, without a name as yet.
    Created { file: FileId },
    /// A file has these bytes now.
    Wrote { file: FileId, bytes: Vec<u8> },
    /// The bytes of a file are safe.
    SyncedFile { file: FileId },
    /// A file has a name, one more or its first.
    Named { file: FileId, folder: FileId, name: OsString },
    /// Two names have changed places.
    Exchanged { folder: FileId, a: OsString, b: OsString },
    /// A file has another name; what had that is gone.
    Renamed { folder: FileId, from: OsString, to: OsString },
    /// What had a name in one folder has one in another, or another one in the same.
    Moved { from: (FileId, OsString), to: (FileId, OsString) },
    /// A name is gone.
    Unnamed { folder: FileId, name: OsString },
    /// A folder was made.
    MadeDir { made: FileId, folder: FileId, name: OsString },
    /// A folder was removed.
    RemovedDir { folder: FileId, name: OsString },
    /// The names in a folder are safe.
    SyncedDir { folder: FileId },
}

/// Stands before each deed, which can fail.
#[cfg(not(test))]
#[inline]
pub(super) fn step() -> io::Result<()> {
    Ok(())
}

/// Tells of a deed that is done.
#[cfg(not(test))]
#[inline]
pub(super) fn note(_: impl FnOnce() -> io::Result<Deed>) {}

/// Whether to act as if the file system were not able to. Outside tests the system is asked.
#[cfg(not(test))]
#[inline]
pub(super) fn without(_: Ability) -> bool {
    false
}

#[cfg(test)]
pub(super) use staged::{fail_with, note, step, stop_at, take_away, watch, watch_no_more, watched, without};

#[cfg(test)]
mod staged {
    use std::cell::{Cell, RefCell};
    use std::io;

    use super::{Ability, Deed};

    /// What happens at the step after so many more.
    #[derive(Clone, Copy)]
    enum Plan {
        Nothing,
        Fail { left: usize, errno: i32 },
        Stop { left: usize },
    }

    thread_local! {
        static PLAN: Cell<Plan> = const { Cell::new(Plan::Nothing) };
        static TAKEN: RefCell<Vec<Ability>> = const { RefCell::new(Vec::new()) };
        static DEEDS: RefCell<Option<Vec<Deed>>> = const { RefCell::new(None) };
    }

    /// Makes the step after `steps` more fail on this thread, once, with an error of the system; `None` none.
    /// Tells whether the last one did.
    pub(in crate::workspace::replace) fn fail_with(steps: Option<usize>, errno: i32) -> bool {
        let plan = steps.map_or(Plan::Nothing, |left| Plan::Fail { left, errno });
        matches!(PLAN.replace(plan), Plan::Nothing)
    }

    /// Lets nothing more happen to the disk after `steps` more; `None` lifts that. Tells whether that point was reached.
    pub(in crate::workspace::replace) fn stop_at(steps: Option<usize>) -> bool {
        let plan = steps.map_or(Plan::Nothing, |left| Plan::Stop { left });
        matches!(PLAN.replace(plan), Plan::Stop { left: 0 })
    }

    /// Acts on this thread as if the file system were not able to do these.
    pub(in crate::workspace::replace) fn take_away(abilities: &[Ability]) {
        TAKEN.set(abilities.to_vec());
    }

    /// Starts to write down what is done to the disk.
    pub(in crate::workspace::replace) fn watch() {
        DEEDS.set(Some(Vec::new()));
    }

    /// Ends that, and tells what was done.
    pub(in crate::workspace::replace) fn watch_no_more() -> Vec<Deed> {
        DEEDS.take().unwrap_or_default()
    }

    /// What was done so far, if anyone watches.
    pub(in crate::workspace::replace) fn watched() -> Vec<Deed> {
        DEEDS.with_borrow(|deeds| deeds.clone().unwrap_or_default())
    }

    pub(in crate::workspace::replace) fn step() -> io::Result<()> {
        match PLAN.get() {
            Plan::Nothing => Ok(()),
            Plan::Fail { left: 0, errno } => {
                PLAN.set(Plan::Nothing);
                Err(io::Error::from_raw_os_error(errno))
            }
            Plan::Fail { left, errno } => {
                PLAN.set(Plan::Fail { left: left - 1, errno });
                Ok(())
            }
            Plan::Stop { left: 0 } => Err(io::Error::other("the world has stopped")),
            Plan::Stop { left } => {
                PLAN.set(Plan::Stop { left: left - 1 });
                Ok(())
            }
        }
    }

    pub(in crate::workspace::replace) fn note(deed: impl FnOnce() -> io::Result<Deed>) {
        DEEDS.with_borrow_mut(|deeds| {
            if let Some(deeds) = deeds {
                deeds.push(deed().expect("a deed can be told"));
            }
        });
    }

    pub(in crate::workspace::replace) fn without(ability: Ability) -> bool {
        TAKEN.with_borrow(|taken| taken.contains(&ability))
    }
}
