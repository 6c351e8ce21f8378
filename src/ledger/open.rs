//! How a ledger comes to be: in the state folder of a workspace, or in memory.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use crate::ledger::blobs::{Blobs, Limits};
use crate::ledger::changes::{Alive, Changes};
use crate::ledger::error::StateError;
use crate::ledger::flusher::{Flusher, Waiting};
use crate::ledger::log::{FileSink, Log, MemorySink};
use crate::ledger::nodes::Nodes;
use crate::ledger::redact::Redact;
use crate::ledger::seen::{Notes, Seen};
use crate::ledger::state::StateFolder;
use crate::ledger::{Core, Handle, Ledger, store};
use crate::model::id::SessionId;
use crate::model::world::World;
use crate::workspace::Durability;

/// How a ledger is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// What it outlives. In files that is at least the end of the process.
    pub durability: Durability,
    /// Which arguments are secret.
    pub redact: Redact,
    /// How much may be kept, and how long: what [`Ledger::sweep`] goes by.
    pub retention: Limits,
}

impl Default for Options {
    fn default() -> Self {
        let month = Duration::from_secs(30 * 24 * 60 * 60);
        let retention = Limits { max_bytes: 1024 * 1024 * 1024, older_than: month };
        Options { durability: Durability::Full, redact: Redact::default(), retention }
    }
}

impl Ledger {
    /// A ledger that lives as long as it is held: full behaviour, nothing on disk. It holds what is newest, some megabytes
    /// of what was recorded and 256 MiB of what can be put back; a server that runs for long has it in a state folder.
    #[must_use]
    pub fn in_memory(world: Arc<dyn World>) -> Self {
        let session = SessionId::new(world.now(), world.random());
        let logged = MemorySink::default();
        let blobs = Arc::new(Blobs::in_memory());
        Ledger::of(Core {
            session,
            redact: Redact::default(),
            durable: false,
            limits: Options::default().retention,
            calls: AtomicU64::new(0),
            log: Log::new(Box::new(logged.clone()), blobs.clone()),
            nodes: Nodes::beside(&blobs, false, world.clone()),
            blobs,
            changes: Changes::in_memory(),
            seen: Seen::noted(Notes::nowhere()),
            flusher: Arc::default(),
            logged: Some(logged),
            world,
            sessions: None,
            state: None,
            _alive: None,
        })
    }

    /// The ledger of a workspace, kept in its state folder. Other processes may have the same one open.
    ///
    /// # Errors
    /// The folder cannot be used.
    pub fn open(state: StateFolder, options: Options, world: Arc<dyn World>) -> Result<Self, StateError> {
        let core = open(&state, options, world);
        core.map(Ledger::of).map_err(|source| StateError::Io { path: state.path().to_owned(), source })
    }

    fn of(core: Core) -> Self {
        let core = Arc::new(core);
        // Memory needs no thread: it is written when somebody looks.
        if core.logged.is_none() {
            let waiting: Arc<dyn Waiting> = core.clone();
            core.flusher.employ(Arc::downgrade(&waiting));
        }
        Ledger { handle: Some(Arc::new(Handle(core))) }
    }
}

fn open(state: &StateFolder, options: Options, world: Arc<dyn World>) -> io::Result<Core> {
    let Options { durability, redact, retention } = options;
    let durable = durability == Durability::Full;
    let sessions = store::folder(&state.dir, "sessions")?;
    let (session, alive) = begin_session(&sessions, &*world)?;
    let blobs = Arc::new(Blobs::on_disk(state.dir.try_clone()?, durable, world.clone()));
    let flusher: Arc<Flusher> = Arc::default();
    let sink = FileSink::new(sessions.try_clone()?, format!("{}.jsonl", session.as_str()));
    Ok(Core {
        session,
        redact,
        durable,
        limits: retention,
        calls: AtomicU64::new(0),
        log: Log::new(Box::new(sink), blobs.clone()),
        nodes: Nodes::beside(&blobs, durable, world.clone()),
        blobs,
        changes: Changes::on_disk(state.dir.try_clone()?, durable)?,
        seen: Seen::noted(Notes::on_disk(&state.dir, flusher.clone(), world.clone())?),
        flusher,
        logged: None,
        world,
        sessions: Some(sessions),
        state: Some(state.dir.try_clone()?),
        _alive: Some(alive),
    })
}

/// A session with a name of its own.
fn begin_session(sessions: &cap_std::fs::Dir, world: &dyn World) -> io::Result<(SessionId, Alive)> {
    let mut taken = 0;
    loop {
        // Where the world has no randomness the names are counted up.
        let session = SessionId::new(world.now(), world.random().wrapping_add(taken));
        match Alive::begin(sessions.try_clone()?, &session)? {
            Some(alive) => return Ok((session, alive)),
            None => taken += 1,
        }
    }
}
