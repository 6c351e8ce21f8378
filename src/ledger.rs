//! What happened, and how to take it back: the session log, kept bytes, changes, and what each caller has seen.

mod blobs;
mod changes;
mod error;
mod exclusive;
mod flusher;
mod log;
mod nodes;
mod open;
pub mod read;
pub mod redact;
pub mod seen;
pub mod state;
mod store;
mod sweep;
mod sweeper;
#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests look at the state folder from outside")]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use serde_json::{Value, json};

use crate::ledger::blobs::Blobs;
pub use crate::ledger::blobs::{Limits, Swept, Total};
use crate::ledger::changes::Changes;
pub use crate::ledger::changes::{
    ChangeKind, ChangeRecord, ChangedStep, Filter, Inverse, OpenChange, Part, SeriesEnd, Status,
};
pub use crate::ledger::error::LedgerError;
pub use crate::ledger::exclusive::Exclusive;
use crate::ledger::flusher::Flusher;
use crate::ledger::log::{LineRef, Log};
use crate::ledger::nodes::Nodes;
pub use crate::ledger::open::Options;
use crate::ledger::redact::{Redact, Secrets, Written};
use crate::ledger::seen::Seen;
pub use crate::ledger::sweeper::Sweeper;
use crate::model::call::Caller;
use crate::model::event::{Event, FsStep, Line};
use crate::model::file_bytes::FileBytes;
use crate::model::id::{CallId, ChangeId, KeptId, SessionId};
use crate::model::version::Version;
use crate::model::world::World;
use crate::workspace::{FileError, Journal, Recovered, Survey};

/// So many bytes of texts are written beside what needs them.
const MUCH: usize = 1024 * 1024;

/// The tool whose event repeats its arguments.
const TODO_WRITE: &str = "todo_write";

/// Whose doing something is: which call, for whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    /// The call, if it was one.
    pub call: Option<CallId>,
    /// Who asked, as the log writes it; also the name under which is kept what they have seen.
    pub caller: Arc<str>,
}

impl Stamp {
    /// The stamp of a call.
    #[must_use]
    pub fn new(call: CallId, caller: &Caller) -> Self {
        let caller = match caller {
            Caller::Mcp { principal } => format!("mcp:{principal}").into(),
            Caller::OneShot => "oneshot".into(),
            Caller::CommandLine => "cli".into(),
            Caller::Embedder => "embedder".into(),
        };
        Stamp { call: Some(call), caller }
    }
}

/// Looks at the files of a change that a crash interrupted, and finishes or clears it away:
/// [`crate::workspace::Workspace`] knows how.
pub type Finish<'a> = &'a mut dyn FnMut(&[FsStep], &dyn Journal) -> Result<Recovered, FileError>;

/// What happened, and how to take it back.
///
/// Every method may be called from every thread. A clone is the same ledger; when the last one goes, what waits is
/// written. A program that ends without dropping it calls [`Ledger::flush`] first.
#[derive(Debug, Clone)]
pub struct Ledger {
    /// Nothing for a ledger that keeps nothing.
    handle: Option<Arc<Handle>>,
}

/// Ends the ledger when it goes. The thread that writes does not hold it.
#[derive(Debug)]
struct Handle(Arc<Core>);

impl Drop for Handle {
    fn drop(&mut self) {
        self.0.flusher.end();
        if let Err(error) = self.0.flush(false) {
            tracing::error!(%error, "the last events are not recorded");
        }
    }
}

pub(crate) struct Core {
    session: SessionId,
    world: Arc<dyn World>,
    redact: Redact,
    durable: bool,
    limits: Limits,
    calls: AtomicU64,
    log: Log,
    blobs: Arc<Blobs>,
    nodes: Nodes,
    changes: Changes,
    seen: Seen,
    flusher: Arc<Flusher>,
    /// What was logged, where that is memory.
    logged: Option<log::MemorySink>,
    /// The folder of all sessions' logs.
    sessions: Option<cap_std::fs::Dir>,
    /// The folder that holds everything.
    state: Option<cap_std::fs::Dir>,
    /// Others see by it that this session runs.
    _alive: Option<changes::Alive>,
}

impl Ledger {
    /// A ledger that records nothing and keeps nothing, at no cost: for callers of whom nobody wants to know.
    #[must_use]
    pub const fn none() -> Self {
        Ledger { handle: None }
    }

    /// Whether nothing is recorded and kept. What somebody has seen is not known then, and changes cannot be undone.
    #[must_use]
    pub const fn is_none(&self) -> bool {
        self.handle.is_none()
    }

    fn core(&self) -> Option<&Arc<Core>> {
        self.handle.as_ref().map(|handle| &handle.0)
    }

    /// The session that is recorded.
    #[must_use]
    pub fn session(&self) -> Option<&SessionId> {
        self.core().map(|core| &core.session)
    }

    /// The next call's number.
    #[must_use]
    pub fn next_call(&self) -> CallId {
        static UNRECORDED: AtomicU64 = AtomicU64::new(0);
        let calls = self.core().map_or(&UNRECORDED, |core| &core.calls);
        CallId(calls.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Records an event. It is written within 100 ms, or with the next [`Ledger::flush`] or change.
    pub fn record(&self, stamp: &Stamp, event: Event) {
        if let Some(core) = self.core() {
            core.record(stamp, event);
        }
    }

    /// The same for an event that costs something to make: it is made only where it is recorded.
    pub fn record_with(&self, stamp: &Stamp, event: impl FnOnce() -> Event) {
        if let Some(core) = self.core() {
            core.record(stamp, event());
        }
    }

    /// `arguments` of a call of `tool` as they are recorded: what is secret is hidden, and long texts stand elsewhere.
    /// Nothing where nothing is recorded.
    #[must_use]
    pub fn written(&self, tool: &str, arguments: &Value) -> Option<Written> {
        self.core().map(|core| core.redact.written(tool, arguments.clone()))
    }

    /// Records an event in which such arguments stand, with the texts that they refer to.
    pub fn record_written(&self, stamp: &Stamp, event: &Event, texts: &[FileBytes]) {
        if let Some(core) = self.core() {
            core.append(stamp, event, texts.to_vec());
        }
    }

    /// What is secret in the arguments of a call of `tool`, to be kept out of whatever else is recorded or shown of it.
    #[must_use]
    pub fn secrets(&self, tool: &str, arguments: &Value) -> Secrets {
        match self.core() {
            Some(core) if !core.redact.is_empty() => core.redact.apply(tool, &mut arguments.clone()),
            _ => Secrets::default(),
        }
    }

    /// Writes everything that waits.
    ///
    /// # Errors
    /// It cannot be written. It goes on waiting.
    pub fn flush(&self) -> Result<(), LedgerError> {
        self.core().map_or(Ok(()), |core| core.flush(core.durable))
    }

    /// Whether what is done from now on can be recorded: writes the events that wait. To be asked before anything is
    /// done that cannot be taken back; a change asks by itself.
    ///
    /// # Errors
    /// They cannot be written, so nothing may be changed.
    pub fn ready(&self) -> Result<(), LedgerError> {
        self.core().map_or(Ok(()), |core| core.write_log(false).and_then(|()| core.changes.ready()))
    }

    /// The same for a change that is about to be made ready. It asks again before it is made, so where much waits to be
    /// written, that may go on meanwhile.
    ///
    /// # Errors
    /// As [`Ledger::ready`].
    pub fn prepare(&self) -> Result<(), LedgerError> {
        let Some(core) = self.core() else { return Ok(()) };
        if core.log.waiting_texts() < MUCH {
            return self.ready();
        }
        core.flusher.hurry();
        core.changes.ready()
    }

    /// What everybody has seen of files.
    #[must_use]
    pub fn seen(&self) -> &Seen {
        static NOTHING: Seen = Seen::nothing();
        self.core().map_or(&NOTHING, |core| &core.seen)
    }

    /// A name for changes that will be shown and undone as one: see [`OpenChange::in_group`]. Nothing where nothing is
    /// recorded.
    #[must_use]
    pub fn new_group(&self) -> Option<ChangeId> {
        self.core().map(|core| core.new_change())
    }

    /// Begins a change by `tool`. The workspace's commit is given what this returns, and tells it what it is about to
    /// do.
    pub fn begin(&self, stamp: &Stamp, tool: &str, kind: ChangeKind) -> OpenChange {
        let Some(core) = self.core() else { return OpenChange::unrecorded() };
        let record = ChangeRecord::begin(core.new_change(), core.session.clone(), stamp, core.world.now(), tool, kind);
        OpenChange::new(core, stamp, record)
    }

    /// The changes that `filter` takes, newest first, those of other processes among them.
    ///
    /// # Errors
    /// The list cannot be read.
    pub fn changes(&self, filter: &Filter) -> Result<Vec<ChangeRecord>, LedgerError> {
        self.core().map_or(Ok(Vec::new()), |core| core.changes.list(filter))
    }

    /// One change.
    ///
    /// # Errors
    /// There is none of that name, or the list cannot be read.
    pub fn change(&self, change: ChangeId) -> Result<ChangeRecord, LedgerError> {
        self.core().ok_or(LedgerError::NoSuchChange(change))?.changes.get(change)
    }

    /// The change that an undo without a name takes back: the newest of `caller`, or of anybody, that has happened, was
    /// not undone and is no undo itself. So one undo after the other walks back, and to undo an undo is to redo.
    ///
    /// # Errors
    /// The list cannot be read.
    pub fn latest(&self, caller: Option<&str>) -> Result<Option<ChangeRecord>, LedgerError> {
        self.core().map_or(Ok(None), |core| core.changes.latest(caller))
    }

    /// The changes of a group, newest first; of a change that is in none, it alone.
    ///
    /// # Errors
    /// There is nothing of that name, or the list cannot be read.
    pub fn named(&self, name: ChangeId) -> Result<Vec<ChangeRecord>, LedgerError> {
        self.core().ok_or(LedgerError::NoSuchChange(name))?.changes.named(name)
    }

    /// What takes back the change, or the group of changes, of that name.
    ///
    /// # Errors
    /// It has not happened, was undone already, or what it displaced is no longer kept.
    pub fn inverse(&self, name: ChangeId) -> Result<Inverse, LedgerError> {
        let core = self.core().ok_or(LedgerError::NoSuchChange(name))?;
        let records = core.changes.named(name)?;
        let inverse = match <[ChangeRecord; 1]>::try_from(records) {
            Ok([record]) if record.change == name => changes::inverse(record, &core.blobs),
            Ok(records) => changes::inverse_of_all(name, records.into(), &core.blobs),
            Err(records) => changes::inverse_of_all(name, records, &core.blobs),
        };
        inverse.map_err(|error| match error {
            // A part alone would bring back a part alone.
            LedgerError::Undone { change, by } => {
                let series = core.changes.get(by).ok().and_then(|record| record.part).map(|part| part.series);
                LedgerError::Undone { change, by: series.unwrap_or(by) }
            }
            error => error,
        })
    }

    /// Ends what processes that are gone have left open: `finish` finds out from the files, and finishes or clears
    /// away.
    ///
    /// # Errors
    /// The list of changes cannot be used.
    pub fn recover(&self, finish: Finish<'_>) -> Result<Vec<(ChangeId, Recovered)>, LedgerError> {
        self.core().map_or(Ok(Vec::new()), |core| changes::recover(core, finish))
    }

    /// Kept bytes, nothing if they are not kept.
    ///
    /// # Errors
    /// They cannot be read, or are not those bytes any more.
    pub fn blob(&self, version: Version) -> Result<Option<Bytes>, LedgerError> {
        self.core().map_or(Ok(None), |core| core.blobs.get(version).map_err(LedgerError::Blobs))
    }

    /// The names of all that is in something that is kept whole; nothing if it is not kept.
    ///
    /// # Errors
    /// It cannot be looked at.
    pub fn kept_names(&self, kept: KeptId) -> Result<Option<Survey>, LedgerError> {
        self.core().map_or(Ok(None), |core| core.nodes.names(kept).map_err(LedgerError::Blobs))
    }

    /// How much is kept.
    ///
    /// # Errors
    /// It cannot be looked at.
    pub fn kept(&self) -> Result<Total, LedgerError> {
        self.core().map_or(Ok(Total::default()), |core| core.blobs.total(&core.nodes).map_err(LedgerError::Blobs))
    }

    /// What this session has recorded; of a long one what came last.
    #[must_use]
    pub fn lines(&self) -> Vec<Line> {
        let Some(core) = self.core() else { return Vec::new() };
        if let Err(error) = core.flush(false) {
            tracing::warn!(%error, "what was recorded last is still to be written");
        }
        match (&core.logged, &core.sessions) {
            (Some(logged), _) => read::lines_of(&store::hold(&logged.0)),
            (None, Some(sessions)) => read::last_lines(sessions, &core.session).unwrap_or_else(|error| {
                tracing::warn!(%error, "what was recorded cannot be read");
                Vec::new()
            }),
            (None, None) => Vec::new(),
        }
    }
}

impl std::fmt::Debug for Core {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Core").field("session", &self.session).field("durable", &self.durable).finish_non_exhaustive()
    }
}

impl Core {
    fn record(&self, stamp: &Stamp, mut event: Event) {
        let mut texts = Vec::new();
        match &mut event {
            Event::ToolCall { tool, arguments, .. } | Event::CodeDispatch { tool, arguments, .. } => {
                let written = self.redact.written(tool, arguments.take());
                (*arguments, texts) = (written.arguments, written.texts);
            }
            Event::TodoWrite { todos } => {
                let mut arguments = json!({ "todos": std::mem::take(todos) });
                self.redact.apply(TODO_WRITE, &mut arguments);
                let left = arguments.get_mut("todos").map(Value::take);
                *todos = left.and_then(|todos| serde_json::from_value(todos).ok()).unwrap_or_default();
            }
            _ => {}
        }
        self.append(stamp, &event, texts);
    }

    fn append(&self, stamp: &Stamp, event: &Event, texts: Vec<FileBytes>) {
        let line =
            LineRef { time: self.world.now(), session: &self.session, call: stamp.call, caller: &stamp.caller, event };
        self.log.record(&line, texts);
        self.flusher.nudge();
    }

    /// Writes everything that waits.
    fn flush(&self, durable: bool) -> Result<(), LedgerError> {
        self.write_log(durable)?;
        self.changes.ready()?;
        if let Err(error) = self.seen.flush() {
            // At worst a file is to be read again.
            tracing::warn!(%error, "what was seen is not written down yet");
        }
        Ok(())
    }

    /// Writes the events that wait.
    fn write_log(&self, durable: bool) -> Result<(), LedgerError> {
        let events = self.log.flush(durable).map_err(LedgerError::Log)?;
        if events > 0 {
            self.record(&Stamp { call: None, caller: "ledger".into() }, Event::LogGap { events });
        }
        Ok(())
    }

    fn new_change(&self) -> ChangeId {
        ChangeId::new(self.world.random())
    }
}

impl flusher::Waiting for Core {
    fn flush(&self) -> bool {
        let flushed = Core::flush(self, false);
        if let Err(error) = &flushed {
            tracing::warn!(%error, "events wait to be recorded");
        }
        flushed.is_ok()
    }
}
