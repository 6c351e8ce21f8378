//! Keeps commits of this process from swapping the same file at the same time.
//!
//! Without this a commit could rest on bytes that another one has swapped in and is about to take out again.
//! Other programs take no part in it; them the check of the displaced file catches. A file that is written in place is
//! locked for other processes of ours as well, since nothing can be checked there after the fact.

use std::sync::{Mutex, MutexGuard, PoisonError};

use cap_std::fs::File;

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

/// Waits until no other process of ours is writing into `file`. Held until `file` is closed.
///
/// Whoever can open a file can lock it, so nobody is waited for without end: then the checks have to do by themselves.
#[cfg(unix)]
pub(super) fn across_processes(file: &File) {
    use rustix::fs::{FlockOperation, flock};
    use rustix::io::Errno;
    use std::time::Duration;
    const PAUSE: Duration = Duration::from_millis(2);
    const PAUSES: usize = 1500;
    for _ in 0..PAUSES {
        match flock(file, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::INTR) => {}
            Err(Errno::WOULDBLOCK) => std::thread::sleep(PAUSE),
            // Some file systems have no locks.
            Ok(()) | Err(_) => return,
        }
    }
}

/// Other systems give no handle to lock by that would not keep readers out.
#[cfg(not(unix))]
pub(super) fn across_processes(_: &File) {}
