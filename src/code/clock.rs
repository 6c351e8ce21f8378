//! How long a run has taken, without the time in which a person is asked.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use tokio::time::Sleep;

use crate::tool::calls::Waiting;

/// Counts a run's time down.
#[derive(Debug)]
pub(super) struct Clock(Mutex<State>);

#[derive(Debug)]
struct State {
    /// What was left when it last began to run, or was stopped.
    left: Duration,
    /// Since when it runs; nothing while a person is asked.
    since: Option<Instant>,
    /// How many people are asked, or how often one is.
    asked: u32,
    waker: Option<Waker>,
}

impl Clock {
    pub(super) fn new(left: Duration) -> Self {
        Clock(Mutex::new(State { left, since: Some(Instant::now()), asked: 0, waker: None }))
    }

    /// Whether the time is up; otherwise the task is woken when it may be. `sleep` is this caller's alone.
    pub(super) fn poll_up(&self, sleep: &mut Option<Pin<Box<Sleep>>>, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.state();
        let Some(since) = state.since else {
            state.waker = Some(cx.waker().clone());
            return Poll::Pending;
        };
        let Some(end) = since.checked_add(state.left) else { return Poll::Pending };
        state.waker = Some(cx.waker().clone());
        drop(state);
        if end <= Instant::now() {
            return Poll::Ready(());
        }
        let end = tokio::time::Instant::from_std(end);
        let sleep = sleep.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(end)));
        if sleep.deadline() != end {
            sleep.as_mut().reset(end);
        }
        sleep.as_mut().poll(cx)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting for Clock {
    fn waits(&self, waiting: bool) {
        let mut state = self.state();
        if waiting {
            state.asked += 1;
            if let Some(since) = state.since.take() {
                state.left = state.left.saturating_sub(since.elapsed());
            }
        } else {
            state.asked = state.asked.saturating_sub(1);
            if state.asked == 0 {
                state.since = Some(Instant::now());
            }
        }
        if let Some(waker) = state.waker.take() {
            waker.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;

    #[test]
    fn the_time_in_which_a_person_is_asked_does_not_count() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        let _inside = runtime.enter();
        let clock = Clock::new(Duration::ZERO);
        let mut cx = Context::from_waker(Waker::noop());
        clock.waits(true);
        clock.waits(true);
        clock.waits(false);
        assert!(clock.poll_up(&mut None, &mut cx).is_pending(), "one is still asked");
        clock.waits(false);
        assert!(clock.poll_up(&mut None, &mut cx).is_ready());
    }
}
