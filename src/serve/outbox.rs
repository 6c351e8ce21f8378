//! Frames on their way out: written whole, in order, as many at once as have gathered.

use std::io::Write;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::rpc::connection::Outbox;

/// So much may wait for a client that does not read; then nothing more is read from it either.
const WAITING: usize = 64 * 1024 * 1024;

/// How much is written at once.
const PIECE: usize = 1024 * 1024;

/// A buffer larger than this is given back once it is written.
const KEPT: usize = 1024 * 1024;

/// Frames for one stream. Whoever finds nobody writing writes for all; no thread of its own is needed.
pub(super) struct LineOutbox {
    state: Mutex<State>,
    drained: Condvar,
    sink: Mutex<Box<dyn Write + Send>>,
}

#[derive(Default)]
struct State {
    waiting: Vec<u8>,
    writing: bool,
    broken: bool,
    /// How many bytes have gone out.
    written: u64,
    /// How many threads wait for that. Waking nobody costs a system call as well.
    blocked: usize,
}

impl LineOutbox {
    pub(super) fn new(sink: impl Write + Send + 'static) -> Self {
        LineOutbox { state: Mutex::default(), drained: Condvar::new(), sink: Mutex::new(Box::new(sink)) }
    }

    /// Adds a frame; it goes out with the next [`LineOutbox::flush`].
    pub(super) fn push(&self, frame: &str) {
        let mut state = self.state();
        if state.broken {
            return;
        }
        let start = state.waiting.len();
        state.waiting.extend_from_slice(frame.as_bytes());
        // A frame is one line. JSON has line ends between its tokens only, where a space is as good.
        for at in memchr::memchr2_iter(b'\n', b'\r', frame.as_bytes()) {
            state.waiting[start + at] = b' ';
        }
        state.waiting.push(b'\n');
    }

    /// Waits until the client has read enough to be given more. Whoever reads from it waits here first, so that a client
    /// which does not read can make nobody hold more and more for it.
    pub(super) fn wait_for_room(&self) {
        let mut state = self.state();
        while state.waiting.len() > WAITING && state.writing && !state.broken {
            state.blocked += 1;
            state = self.drained.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.blocked -= 1;
        }
    }

    /// Writes what waits, and waits for whoever is writing, as long as that gets on: `limit` without a byte is the end.
    pub(super) fn drain(&self, limit: Duration) {
        self.flush();
        let mut state = self.state();
        let mut written = state.written;
        while (state.writing || !state.waiting.is_empty()) && !state.broken {
            state.blocked += 1;
            let (next, waited) = self.drained.wait_timeout(state, limit).unwrap_or_else(PoisonError::into_inner);
            state = next;
            state.blocked -= 1;
            if waited.timed_out() && state.written == written {
                return;
            }
            written = state.written;
        }
    }

    /// How many bytes have gone out.
    pub(super) fn written(&self) -> u64 {
        self.state().written
    }

    /// Whether frames wait and nobody is writing them.
    pub(super) fn is_left_waiting(&self) -> bool {
        let state = self.state();
        !state.waiting.is_empty() && !state.writing && !state.broken
    }

    /// How many bytes wait.
    pub(super) fn waiting(&self) -> usize {
        self.state().waiting.len()
    }

    /// Writes what waits, unless another thread is at it: that one goes on until nothing waits.
    pub(super) fn flush(&self) {
        let mut state = self.state();
        if state.writing {
            return;
        }
        state.writing = true;
        let mut bytes = Vec::new();
        while !state.waiting.is_empty() && !state.broken {
            std::mem::swap(&mut bytes, &mut state.waiting);
            drop(state);
            let written = self.write(&bytes);
            bytes.clear();
            state = self.state();
            if let Err(error) = written {
                tracing::info!(%error, "the client has stopped reading");
                state.broken = true;
                state.waiting = Vec::new();
            }
            if state.blocked > 0 {
                self.drained.notify_all();
            }
        }
        if state.blocked > 0 {
            self.drained.notify_all();
        }
        if state.waiting.is_empty() && bytes.capacity() <= KEPT {
            state.waiting = bytes;
        }
        state.writing = false;
    }

    /// Writes in pieces, so that it shows how far a slow client is.
    fn write(&self, bytes: &[u8]) -> std::io::Result<()> {
        let mut sink = self.sink.lock().unwrap_or_else(PoisonError::into_inner);
        for piece in bytes.chunks(PIECE) {
            sink.write_all(piece)?;
            self.state().written += piece.len() as u64;
        }
        sink.flush()
    }

    /// Whether the client has stopped reading for good.
    pub(super) fn is_broken(&self) -> bool {
        self.state().broken
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Outbox for LineOutbox {
    fn send(&self, frame: &str) {
        self.push(frame);
        self.flush();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl Write for Written {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().expect("a lock").extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn frames_of_many_threads_stay_whole() {
        let written = Written::default();
        let outbox = LineOutbox::new(written.clone());
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let outbox = &outbox;
                scope.spawn(move || (0..500).for_each(|n| outbox.send(&format!("{{\"t\":{thread},\n\"n\":{n}}}"))));
            }
        });
        let bytes = written.0.lock().expect("a lock").clone();
        let text = String::from_utf8(bytes).expect("UTF-8");
        assert_eq!(text.lines().count(), 4000);
        for line in text.lines() {
            serde_json::from_str::<serde_json::Value>(line).expect("a whole frame");
        }
    }
}
