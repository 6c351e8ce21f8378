//! The thread that lets go of what is too old or too much while a server runs.

use std::io;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::ledger::Ledger;

/// Sweeps a ledger again and again, until it is dropped.
#[derive(Debug)]
#[must_use = "sweeping ends when it is dropped"]
pub struct Sweeper {
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Ledger {
    /// Sweeps ([`Ledger::sweep`]) after every `pause`, in a thread of its own. A failure is logged, and the next time it is
    /// tried again.
    ///
    /// # Errors
    /// No thread is to be had.
    pub fn sweep_every(&self, pause: Duration) -> io::Result<Sweeper> {
        let (end, ended) = channel();
        let ledger = self.clone();
        let thread = std::thread::Builder::new().name("sweeper".to_owned()).spawn(move || {
            while ended.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                ledger.sweep_or_say();
            }
        })?;
        Ok(Sweeper { end: Some(end), thread: Some(thread) })
    }

    /// Sweeps, and logs it if that fails: nobody waits for what has gone.
    pub fn sweep_or_say(&self) {
        if let Err(error) = self.sweep() {
            tracing::warn!(%error, "what is older than the retention could not be let go of");
        }
    }
}

impl Drop for Sweeper {
    fn drop(&mut self) {
        drop(self.end.take());
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the thread that sweeps the ledger has failed");
        }
    }
}
