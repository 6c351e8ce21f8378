//! Wakes a thread that helps while more lines wait than the reader gets done.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Where the helper waits to be called.
#[derive(Default)]
pub(super) struct Backlog {
    state: Mutex<State>,
    called: Condvar,
}

#[derive(Default)]
struct State {
    /// Whether the helper waits. To call one who is at work costs nothing.
    asleep: bool,
    called: bool,
    ended: bool,
}

impl Backlog {
    /// Lines are waiting.
    pub(super) fn call(&self) {
        let mut state = self.state();
        state.called = true;
        if state.asleep {
            state.asleep = false;
            self.called.notify_one();
        }
    }

    /// Waits until there is something to help with; false at the end.
    pub(super) fn wait(&self) -> bool {
        let mut state = self.state();
        while !state.called && !state.ended {
            state.asleep = true;
            state = self.called.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.called = false;
        !state.ended
    }

    /// Nothing more will come.
    pub(super) fn end(&self) {
        self.state().ended = true;
        self.called.notify_one();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_called_helps_and_who_is_not_needed_ends() {
        let backlog = Backlog::default();
        backlog.call();
        assert!(backlog.wait(), "called before the wait");
        std::thread::scope(|scope| {
            let helper = scope.spawn(|| (backlog.wait(), backlog.wait()));
            backlog.call();
            backlog.end();
            let (first, last) = helper.join().expect("no panic");
            assert!(!last, "the end is the end, called before or not: {first}");
        });
    }
}
