//! The names beside a file that a change of it uses. All follow from one, so that the record of it is enough.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

const PREFIX: &str = ".toolgate-";
const TEMP: &str = ".tmp";

/// The names of one change of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Names {
    stem: String,
}

/// Whether a file of that name lies beside another one only while that is changed.
pub(in crate::workspace) fn is_temporary(name: &str) -> bool {
    name.starts_with(PREFIX)
}

impl Names {
    /// Names that nothing has: two processes never draw the same, but for a chance of one in 2^64.
    pub(super) fn draw() -> Self {
        static DRAWN: AtomicU64 = AtomicU64::new(0);
        let random = RandomState::new().hash_one(DRAWN.fetch_add(1, Ordering::Relaxed));
        Names { stem: format!("{PREFIX}{random:016x}") }
    }

    /// The names that go with a recorded one, if it can be ours.
    pub(super) fn of(temp: &str) -> Option<Self> {
        let stem = temp.strip_suffix(TEMP)?;
        let drawn = stem.strip_prefix(PREFIX)?;
        let ours = drawn.len() == 16 && drawn.bytes().all(|byte| byte.is_ascii_hexdigit());
        ours.then(|| Names { stem: stem.to_owned() })
    }

    /// Under which a new file waits, and the displaced one stays after it.
    pub(super) fn temp(&self) -> String {
        format!("{}{TEMP}", self.stem)
    }

    /// A second name of the old file, or a copy that can stand for it, while it is about to be renamed over.
    pub(super) fn old(&self) -> String {
        format!("{}.old", self.stem)
    }

    /// A copy of the old bytes while the file itself is being written to, and is neither old nor new.
    pub(super) fn copy(&self) -> String {
        format!("{}.copy", self.stem)
    }

    /// The same copy once the file is written.
    pub(super) fn written(&self) -> String {
        format!("{}.done", self.stem)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_were_drawn_are_taken_from_a_record() {
        let names = Names::draw();
        assert_eq!(Names::of(&names.temp()), Some(names.clone()));
        assert_ne!(Names::draw(), names);
        for odd in ["", "a", ".toolgate-.tmp", ".toolgate-../../0123456789a.tmp", &names.copy(), "x.tmp"] {
            assert_eq!(Names::of(odd), None, "{odd}");
        }
    }
}
