//! The session log: JSON lines that wait a moment, then are written at once at the end of a file.

mod sink;

use std::io;
use std::sync::{Arc, Mutex};

use crate::ledger::blobs::Blobs;
pub(super) use crate::ledger::log::sink::{FileSink, MemorySink, Sink};
use crate::ledger::store::hold;
use crate::model::event::Event;
use crate::model::file_bytes::FileBytes;
use crate::model::id::{CallId, SessionId};

/// Beyond this, what nobody can write is not held any longer: the log then has a gap, and says so.
const MOST_WAITING: usize = 32 * 1024 * 1024;

/// A line as it is written; read back it is a [`crate::model::event::Line`].
#[derive(Debug, serde::Serialize)]
pub(super) struct LineRef<'a> {
    pub(super) time: jiff::Timestamp,
    pub(super) session: &'a SessionId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) call: Option<CallId>,
    pub(super) caller: &'a str,
    #[serde(flatten)]
    pub(super) event: &'a Event,
}

/// The log of one session.
pub(super) struct Log {
    waiting: Mutex<Waiting>,
    sink: Mutex<Box<dyn Sink>>,
    blobs: Arc<Blobs>,
    most: usize,
}

/// What is to be written.
#[derive(Debug, Default)]
struct Waiting {
    lines: Vec<u8>,
    /// Texts that the lines refer to; written before them.
    texts: Vec<FileBytes>,
    texts_bytes: usize,
    /// How many lines found no room.
    lost: u64,
}

impl Waiting {
    fn bytes(&self) -> usize {
        self.lines.len() + self.texts_bytes
    }

    fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.texts.is_empty()
    }

    /// Puts back what could not be written, before what has come since.
    fn put_back(&mut self, mut earlier: Waiting) {
        earlier.lines.append(&mut self.lines);
        earlier.texts.append(&mut self.texts);
        earlier.texts_bytes += self.texts_bytes;
        earlier.lost += self.lost;
        *self = earlier;
    }
}

impl std::fmt::Debug for Log {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Log").field("waiting", &hold(&self.waiting).bytes()).finish_non_exhaustive()
    }
}

impl Log {
    pub(super) fn new(sink: Box<dyn Sink>, blobs: Arc<Blobs>) -> Self {
        Log { waiting: Mutex::default(), sink: Mutex::new(sink), blobs, most: MOST_WAITING }
    }

    #[cfg(test)]
    pub(super) fn holding_at_most(self, most: usize) -> Self {
        Log { most, ..self }
    }

    /// Takes a line, and the texts that it refers to. Nothing is written yet.
    pub(super) fn record(&self, line: &LineRef<'_>, texts: Vec<FileBytes>) {
        let mut bytes = Vec::with_capacity(256);
        if let Err(error) = serde_json::to_writer(&mut bytes, line) {
            tracing::error!(%error, "an event is no JSON, so it is not recorded");
            return;
        }
        bytes.push(b'\n');
        let texts_bytes: usize = texts.iter().map(|text| text.len()).sum();
        let mut waiting = hold(&self.waiting);
        if !waiting.lines.is_empty() && waiting.bytes() + bytes.len() + texts_bytes > self.most {
            waiting.lost += 1;
            return;
        }
        waiting.lines.extend_from_slice(&bytes);
        waiting.texts.extend(texts);
        waiting.texts_bytes += texts_bytes;
    }

    /// How many bytes of texts wait.
    pub(super) fn waiting_texts(&self) -> usize {
        hold(&self.waiting).texts_bytes
    }

    /// Writes what waits, and makes it outlive the loss of power if `durable`. What could not be written goes on
    /// waiting. Says how many lines are missing after those that were written.
    pub(super) fn flush(&self, durable: bool) -> io::Result<u64> {
        let mut sink = hold(&self.sink);
        let mut taken = std::mem::take(&mut *hold(&self.waiting));
        if !taken.is_empty()
            && let Err(error) = self.write(&mut taken, &mut **sink)
        {
            hold(&self.waiting).put_back(taken);
            return Err(error);
        }
        if durable && let Err(error) = sink.sync() {
            // That lines are missing is still to be told.
            hold(&self.waiting).lost += taken.lost;
            return Err(error);
        }
        Ok(taken.lost)
    }

    fn write(&self, taken: &mut Waiting, sink: &mut dyn Sink) -> io::Result<()> {
        while let Some(text) = taken.texts.last() {
            self.blobs.put(text)?;
            taken.texts_bytes -= text.len();
            taken.texts.pop();
        }
        let mut written = 0;
        let result = loop {
            match sink.write(&taken.lines[written..]) {
                _ if written == taken.lines.len() => break Ok(()),
                Ok(0) => break Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => written += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => break Err(error),
            }
        };
        taken.lines.drain(..written);
        result
    }
}
