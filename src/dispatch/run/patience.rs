//! How often a call plans anew, because somebody else keeps changing its files.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{Duration, Instant};

/// How often a change is planned at least because another program got in between.
const ATTEMPTS: u32 = 8;

/// How long it is planned anew.
const PERSISTENCE: Duration = Duration::from_secs(3);

/// The longest pause before it is.
const PAUSE: Duration = Duration::from_millis(20);

/// How long a change is planned anew, and how long it waits before that.
pub(super) struct Patience {
    since: Instant,
    attempts: u32,
}

impl Patience {
    pub(super) fn new() -> Self {
        Patience { since: Instant::now(), attempts: 0 }
    }

    /// Whether there is another attempt. The second one comes at once and is safe from other processes of ours; where that
    /// was not enough another program is at work on the file, and everyone waits a different moment for a gap.
    pub(super) fn goes_on(&mut self) -> bool {
        self.attempts += 1;
        if self.attempts >= ATTEMPTS && self.since.elapsed() >= PERSISTENCE {
            return false;
        }
        if self.attempts > 1 {
            let most = PAUSE.min(Duration::from_millis(1 << self.attempts.min(10)));
            let jitter = RandomState::new().build_hasher().finish() % (most.as_micros() as u64).max(1);
            std::thread::sleep(Duration::from_micros(jitter));
        }
        true
    }
}
