//! Notices that the thread which reads the stream is held up by a call, so that another can go on reading.
//!
//! Running a call on the thread that read it saves two changes of threads, which cost more than reading a small file.
//! The price is that a slow call would hold up everything behind it; this takes the price away.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a call may hold up the reader.
const PATIENCE: Duration = Duration::from_millis(1);

/// How long the watch stays awake after the last call. Then it sleeps until the next.
const AWAKE: Duration = Duration::from_millis(20);

/// The reading turn: since when the thread that has it is busy with something else.
#[derive(Default)]
pub(super) struct Watch {
    state: Mutex<State>,
    wake: Condvar,
}

#[derive(Default)]
struct State {
    busy_since: Option<Instant>,
    /// Counts what the reader did: a turn that was taken away shows as a step that it did not take.
    step: u64,
    asleep: bool,
    ended: bool,
}

/// Whether the thread that had the reading turn still has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    Kept,
    Lost,
}

impl Watch {
    /// The reader turns to something that may take long.
    pub(super) fn busy(&self) -> u64 {
        let mut state = self.state();
        state.step += 1;
        state.busy_since = Some(Instant::now());
        if state.asleep {
            state.asleep = false;
            self.wake.notify_one();
        }
        state.step
    }

    /// The reader is back, unless its turn was taken away since `step`.
    pub(super) fn back(&self, step: u64) -> Turn {
        let mut state = self.state();
        if state.step != step {
            return Turn::Lost;
        }
        state.busy_since = None;
        Turn::Kept
    }

    /// Ends [`Watch::keep`].
    pub(super) fn end(&self) {
        self.state().ended = true;
        self.wake.notify_one();
    }

    /// Watches until [`Watch::end`]. When the reader is held up `take_over` is asked to find another; if it does, the
    /// reader has lost its turn.
    pub(super) fn keep(&self, take_over: impl Fn() -> bool) {
        let mut seen = 0;
        let mut idle_since = Instant::now();
        let mut state = self.state();
        while !state.ended {
            if state.step != seen {
                seen = state.step;
                idle_since = Instant::now();
            }
            state = match state.busy_since {
                // The next reader starts with its own step, which has to wait for this lock.
                Some(since) if since.elapsed() >= PATIENCE && take_over() => {
                    state.step += 1;
                    state.busy_since = None;
                    state
                }
                None if idle_since.elapsed() >= AWAKE => {
                    state.asleep = true;
                    self.wake.wait(state).unwrap_or_else(PoisonError::into_inner)
                }
                _ => self.wake.wait_timeout(state, PATIENCE).unwrap_or_else(PoisonError::into_inner).0,
            };
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn who_is_held_up_loses_the_turn() {
        let watch = Watch::default();
        let (taken, takes) = mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(|| watch.keep(|| taken.send(()).is_ok()));
            let step = watch.busy();
            takes.recv().expect("somebody takes over");
            assert_eq!(watch.back(step), Turn::Lost);
            watch.end();
        });
    }

    #[test]
    fn who_is_back_keeps_the_turn() {
        let watch = Watch::default();
        let step = watch.busy();
        assert_eq!(watch.back(step), Turn::Kept);
    }
}
