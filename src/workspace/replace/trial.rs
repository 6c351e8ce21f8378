//! Where tests make a step of a commit fail, or take an ability of the file system away.

#[cfg(not(test))]
use std::io;

/// What a file system may not be able to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ability {
    /// Files without a name.
    Unnamed,
    /// Two names exchanged in one step.
    Exchange,
    /// A second name for a file.
    Link,
}

/// Stands before each step that can fail. Outside tests it does not.
#[cfg(not(test))]
#[inline]
pub(super) fn step() -> io::Result<()> {
    Ok(())
}

/// Whether to act as if the file system were not able to. Outside tests the system is asked.
#[cfg(not(test))]
#[inline]
pub(super) fn without(_: Ability) -> bool {
    false
}

#[cfg(test)]
pub(super) use staged::{fail_at, step, take_away, without};

#[cfg(test)]
mod staged {
    use std::cell::{Cell, RefCell};
    use std::io;

    use super::Ability;

    thread_local! {
        static STEPS_LEFT: Cell<Option<usize>> = const { Cell::new(None) };
        static TAKEN: RefCell<Vec<Ability>> = const { RefCell::new(Vec::new()) };
    }

    /// Makes the step after `steps` more fail on this thread, once; `None` none. Tells whether the last one did.
    pub(in crate::workspace::replace) fn fail_at(steps: Option<usize>) -> bool {
        STEPS_LEFT.replace(steps).is_none()
    }

    /// Acts on this thread as if the file system were not able to do these.
    pub(in crate::workspace::replace) fn take_away(abilities: &[Ability]) {
        TAKEN.set(abilities.to_vec());
    }

    pub(in crate::workspace::replace) fn step() -> io::Result<()> {
        match STEPS_LEFT.get() {
            Some(0) => {
                STEPS_LEFT.set(None);
                Err(io::Error::from_raw_os_error(5))
            }
            Some(left) => {
                STEPS_LEFT.set(Some(left - 1));
                Ok(())
            }
            None => Ok(()),
        }
    }

    pub(in crate::workspace::replace) fn without(ability: Ability) -> bool {
        TAKEN.with_borrow(|taken| taken.contains(&ability))
    }
}
