//! What is left of a walk: folders to enter, and files of folders that are open already.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::workspace::local::walk::Opened;
use crate::workspace::walk::ignored::Above;

/// A piece of work for one thread.
pub(super) enum Job {
    /// Opens a folder and shows what is in it.
    Folder { path: String, above: Above },
    /// Shows files of a folder, from the one with this number on.
    Files { opened: Arc<Opened>, from: usize },
}

/// The work of a walk, shared by its threads.
#[derive(Default)]
pub(super) struct Work {
    left: Mutex<Left>,
    changed: Condvar,
    ended: AtomicBool,
}

#[derive(Default)]
struct Left {
    // Files come first, so that there are never more folders open than threads.
    files: Vec<Job>,
    // The last comes first: deep before wide, so that few are waiting.
    folders: Vec<Job>,
    busy: usize,
}

impl Work {
    /// Something to do; waits while others may still find some. Nothing once all is done or the walk has ended. What is taken must
    /// be told as done by [`Work::finishing`].
    pub(super) fn take(&self) -> Option<Job> {
        let mut left = self.left();
        loop {
            if self.has_ended() {
                return None;
            }
            let job = left.files.pop();
            if let Some(job) = job.or_else(|| left.folders.pop()) {
                left.busy += 1;
                return Some(job);
            }
            if left.busy == 0 {
                return None;
            }
            left = self.changed.wait(left).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Adds work.
    pub(super) fn give(&self, jobs: Vec<Job>) {
        if jobs.is_empty() {
            return;
        }
        let mut left = self.left();
        for job in jobs {
            match job {
                Job::Files { .. } => left.files.push(job),
                Job::Folder { .. } => left.folders.push(job),
            }
        }
        drop(left);
        self.changed.notify_all();
    }

    /// Tells that the taken job is done when it is dropped. A job that panics ends the walk, so that nobody waits for it.
    pub(super) fn finishing(&self) -> impl Drop + '_ {
        Finishing(self)
    }

    /// Lets nobody take anything any more.
    pub(super) fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    fn left(&self) -> MutexGuard<'_, Left> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Finishing<'a>(&'a Work);

impl Drop for Finishing<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.end();
        }
        let mut left = self.0.left();
        left.busy -= 1;
        let last = left.busy == 0;
        drop(left);
        if last {
            self.0.changed.notify_all();
        }
    }
}
