//! The thread that writes what has waited long enough. It sleeps while nothing waits, and ends with the ledger.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;

use crate::ledger::store::hold;

/// How long what is recorded may wait to be written.
const PATIENCE: Duration = Duration::from_millis(100);

/// How long to wait after a failure.
const AFTER_A_FAILURE: Duration = Duration::from_secs(1);

/// What is to be written.
pub(super) trait Waiting: Send + Sync {
    /// Writes it. Says whether that went well.
    fn flush(&self) -> bool;
}

/// Wakes the thread.
#[derive(Debug, Default)]
pub(super) struct Flusher {
    /// Something waits, and the thread knows or is about to be told.
    waits: AtomicBool,
    state: Mutex<State>,
    wake: Condvar,
    /// What writes, once that is known.
    work: OnceLock<Weak<dyn Waiting>>,
}

#[derive(Debug, Default)]
struct State {
    running: bool,
    ended: bool,
    /// What waits is to be written now.
    hurry: bool,
}

impl std::fmt::Debug for dyn Waiting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Waiting")
    }
}

impl Flusher {
    /// From now on `work` is what writes. Until then nothing is written by itself.
    pub(super) fn employ(&self, work: Weak<dyn Waiting>) {
        // Told once.
        let _ = self.work.set(work);
    }

    /// Something waits to be written.
    pub(super) fn nudge(self: &Arc<Self>) {
        // The common case costs one look: the thread knows already.
        if self.waits.load(Ordering::Acquire) || self.waits.swap(true, Ordering::AcqRel) {
            return;
        }
        let mut state = hold(&self.state);
        if state.running {
            self.wake.notify_all();
        } else if let (false, Some(work)) = (state.ended, self.work.get()) {
            let (flusher, work) = (self.clone(), work.clone());
            let started = std::thread::Builder::new().name("ledger".into()).spawn(move || flusher.run(&work));
            state.running = started.is_ok();
        }
        if !state.running {
            // No thread is to be had now; the next one who records tries again.
            self.waits.store(false, Ordering::Release);
        }
    }

    /// What waits is much and will be needed soon: it is written at once, beside whatever the caller does meanwhile.
    pub(super) fn hurry(self: &Arc<Self>) {
        self.nudge();
        hold(&self.state).hurry = true;
        self.wake.notify_all();
    }

    /// Ends the thread. What still waits is for the caller to write.
    pub(super) fn end(&self) {
        hold(&self.state).ended = true;
        self.wake.notify_all();
    }

    fn run(&self, work: &Weak<dyn Waiting>) {
        let mut patience = PATIENCE;
        loop {
            {
                let state = hold(&self.state);
                let idle = |state: &mut State| !state.ended && !self.waits.load(Ordering::Acquire);
                let state = self.wake.wait_while(state, idle).unwrap_or_else(PoisonError::into_inner);
                let going_on = |state: &mut State| !state.ended && !state.hurry;
                let waited = self.wake.wait_timeout_while(state, patience, going_on);
                let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
                if state.ended {
                    return;
                }
                state.hurry = false;
            }
            self.waits.store(false, Ordering::Release);
            let Some(work) = work.upgrade() else { return };
            patience = PATIENCE;
            if !work.flush() {
                self.waits.store(true, Ordering::Release);
                patience = AFTER_A_FAILURE;
            }
        }
    }
}
