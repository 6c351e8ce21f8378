//! How many calls a principal may make in a minute.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use crate::rpc::principal::Principal;

/// So many principals are remembered; then those who may make all their calls again are forgotten.
const REMEMBERED: usize = 10_000;

/// Counts calls. Each principal may save up the calls of one minute.
#[derive(Debug)]
pub(super) struct Rates {
    a_minute: Option<f64>,
    began: Instant,
    left: Mutex<HashMap<String, Left>>,
}

#[derive(Debug, Clone, Copy)]
struct Left {
    calls: f64,
    /// In seconds from the beginning.
    at: f64,
}

impl Rates {
    pub(super) fn new(a_minute: Option<u32>) -> Self {
        Rates { a_minute: a_minute.map(f64::from), began: Instant::now(), left: Mutex::default() }
    }

    /// Takes so many calls.
    ///
    /// # Errors
    /// After how many seconds there are as many.
    pub(super) fn take(&self, principal: &Principal, calls: u32) -> Result<(), u64> {
        self.take_at(principal, calls, self.began.elapsed().as_secs_f64())
    }

    fn take_at(&self, principal: &Principal, calls: u32, now: f64) -> Result<(), u64> {
        let Some(most) = self.a_minute.filter(|_| calls > 0) else { return Ok(()) };
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let refilled = |left: &Left| (left.calls + (now - left.at) * most / 60.0).min(most);
        if left.len() >= REMEMBERED {
            left.retain(|_, left| refilled(left) < most);
        }
        let entry = left.entry(principal.name.clone()).or_insert(Left { calls: most, at: now });
        // A batch of more than a minute's calls may come when all are left.
        let wanted = f64::from(calls).min(most);
        let there = refilled(entry);
        *entry = Left { calls: there, at: now };
        if there >= wanted {
            entry.calls -= f64::from(calls);
            return Ok(());
        }
        let seconds = ((wanted - there) * 60.0 / most).ceil().max(1.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most some minutes")]
        Err(seconds as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minutes_calls_may_come_at_once_and_more_when_time_has_passed() {
        let rates = Rates::new(Some(60));
        let (one, other) = (Principal::local(), Principal { name: "other".to_owned(), ..Principal::local() });
        assert!((0..60).all(|_| rates.take_at(&one, 1, 0.0).is_ok()));
        assert_eq!(rates.take_at(&one, 1, 0.0), Err(1));
        assert_eq!(rates.take_at(&one, 5, 0.0), Err(5));
        assert_eq!(rates.take_at(&one, 0, 0.0), Ok(()), "what is no call is not counted");
        assert_eq!(rates.take_at(&other, 1, 0.0), Ok(()));
        assert_eq!(rates.take_at(&one, 2, 2.0), Ok(()));
        assert_eq!(rates.take_at(&one, 1, 2.0), Err(1));
        assert_eq!(rates.take_at(&one, 100, 200.0), Ok(()), "more than a minute's, once all are left");
        assert!(rates.take_at(&one, 1, 201.0).is_err(), "but it counts");
        assert!((0..1000).all(|_| Rates::new(None).take(&one, 1).is_ok()));
    }
}
