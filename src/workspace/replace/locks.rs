//! Keeps commits of this process from swapping the same file at the same time.
//!
//! Without this a commit could rest on bytes that another one has swapped in and is about to take out again.
//! Other programs take no part in it; them the check of the displaced file catches.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Enough that two commits of different files seldom meet.
const STRIPES: usize = 256;

static LOCKS: [Mutex<()>; STRIPES] = [const { Mutex::new(()) }; STRIPES];

/// Waits until nobody else holds any of `keys`. Held until dropped.
pub(super) fn hold(keys: impl Iterator<Item = u64>) -> Vec<MutexGuard<'static, ()>> {
    let mut stripes: Vec<usize> = keys.map(|key| (key % STRIPES as u64) as usize).collect();
    // In one order for all, so that no two commits wait for each other.
    stripes.sort_unstable();
    stripes.dedup();
    // A lock guards no value, so a panic elsewhere leaves nothing half-done behind it.
    stripes.into_iter().map(|stripe| LOCKS[stripe].lock().unwrap_or_else(PoisonError::into_inner)).collect()
}
