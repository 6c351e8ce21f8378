//! The sessions of legacy clients: opened by `initialize`, named by `Mcp-Session-Id`, bound to whoever opened them.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::rpc::Mcp;
use crate::rpc::connection::{Connection, Order};
use crate::rpc::principal::Principal;
use crate::serve::http::stream::{Budget, Keeping, Overflow, Reader, Stream, StreamOutbox};

/// So many bytes of events that were read are kept for all sessions together.
const REPLAY: usize = 64 * 1024 * 1024;

/// So many streams of answered requests are kept of one session.
const STREAMS: usize = 32;

/// All sessions.
pub(super) struct Sessions {
    most: usize,
    idle: Duration,
    began: Instant,
    open: Mutex<HashMap<String, Arc<Session>>>,
    budget: Arc<Budget>,
}

/// One session.
pub(super) struct Session {
    pub(super) id: String,
    pub(super) connection: Connection,
    /// What belongs to no request.
    general: Arc<Stream>,
    /// The streams of its requests that were sent as events.
    streams: Mutex<VecDeque<(u64, Arc<Stream>)>>,
    last_stream: AtomicU64,
    budget: Arc<Budget>,
    /// Requests that are being answered, and streams that are being read.
    active: AtomicUsize,
    /// When somebody last had something to do with it, in nanoseconds from the beginning.
    used: AtomicU64,
    began: Instant,
}

/// Keeps a session from being taken for idle.
pub(super) struct Active(Arc<Session>);

/// There is no room for another session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Full;

impl Sessions {
    pub(super) fn new(most: usize, idle: Duration) -> Self {
        let budget = Arc::new(Budget::new(REPLAY));
        Sessions { most, idle, began: Instant::now(), open: Mutex::default(), budget }
    }

    /// Makes a session that nobody can find yet: the handshake may fail.
    pub(super) fn prepare(&self, mcp: &Mcp, principal: &Principal) -> Result<Arc<Session>, getrandom::Error> {
        let mut id = [0; 16];
        getrandom::fill(&mut id)?;
        let id = format!("{:032x}", u128::from_ne_bytes(id));
        let keeping = Keeping::ForReplay { stream: 0, budget: Arc::clone(&self.budget) };
        let general = Arc::new(Stream::new(keeping, Overflow::Forgets));
        let outbox = Arc::new(StreamOutbox { stream: Arc::clone(&general), reaches: true });
        Ok(Arc::new(Session {
            id,
            connection: Connection::new(mcp.clone(), principal.clone(), outbox, Order::Free),
            general,
            streams: Mutex::default(),
            last_stream: AtomicU64::new(0),
            budget: Arc::clone(&self.budget),
            active: AtomicUsize::new(0),
            used: AtomicU64::new(0),
            began: self.began,
        }))
    }

    /// Opens a session. If there are too many, the idlest of whoever has the most makes room.
    pub(super) fn open(&self, session: Arc<Session>) -> Result<(), Full> {
        session.touch();
        let mut open = self.lock();
        let displaced = if open.len() >= self.most { Some(idlest(&open).ok_or(Full)?) } else { None };
        let displaced = displaced.and_then(|id| open.remove(&id));
        open.insert(session.id.clone(), session);
        drop(open);
        if let Some(session) = displaced {
            session.end();
        }
        Ok(())
    }

    /// The session of this name, if it is `principal`'s.
    pub(super) fn find(&self, id: &str, principal: &Principal) -> Option<Arc<Session>> {
        let session = self.lock().get(id).filter(|session| session.connection.principal() == principal).cloned()?;
        session.touch();
        Some(session)
    }

    /// Ends a session.
    pub(super) fn close(&self, session: &Session) {
        if let Some(session) = self.lock().remove(&session.id) {
            session.end();
        }
    }

    /// Ends those that nobody has had to do with for too long.
    pub(super) fn sweep(&self) {
        let now = now(self.began);
        let idle = u64::try_from(self.idle.as_nanos()).unwrap_or(u64::MAX);
        let is_old =
            |session: &Session| session.is_idle() && now.saturating_sub(session.used.load(Ordering::Relaxed)) > idle;
        let old: Vec<_> = {
            let mut open = self.lock();
            let old: Vec<String> =
                open.values().filter(|session| is_old(session)).map(|session| session.id.clone()).collect();
            old.iter().filter_map(|id| open.remove(id)).collect()
        };
        for session in old {
            session.end();
        }
    }

    /// Ends all streams that belong to no request: the server is about to end.
    pub(super) fn end_listening(&self) {
        let all: Vec<_> = self.lock().values().cloned().collect();
        all.iter().for_each(|session| session.general.finish(None));
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Session>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The session that is missed least: of the principal with the most, the one that was not used for the longest time.
fn idlest(open: &HashMap<String, Arc<Session>>) -> Option<String> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for session in open.values() {
        *counts.entry(&session.connection.principal().name).or_default() += 1;
    }
    let most = counts.values().max().copied()?;
    open.values()
        .filter(|session| session.is_idle() && counts[session.connection.principal().name.as_str()] == most)
        .min_by_key(|session| session.used.load(Ordering::Relaxed))
        .map(|session| session.id.clone())
}

fn now(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

impl Session {
    /// A stream for one more request.
    pub(super) fn stream(&self) -> (u64, Arc<Stream>) {
        let number = self.last_stream.fetch_add(1, Ordering::Relaxed) + 1;
        let keeping = Keeping::ForReplay { stream: number, budget: Arc::clone(&self.budget) };
        (number, Arc::new(Stream::new(keeping, Overflow::Ends)))
    }

    /// Keeps a stream that is sent as events, so that its client can come back to it.
    pub(super) fn keep(&self, number: u64, stream: &Arc<Stream>) {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        streams.push_back((number, Arc::clone(stream)));
        while streams.len() > STREAMS {
            let Some(ended) = streams.iter().position(|(_, stream)| stream.has_ended()) else { break };
            streams.remove(ended);
        }
    }

    /// Reads a stream from the event after the one that the client has seen last; nothing if it is not kept any more.
    pub(super) fn resume(&self, stream: u64, last: u64) -> Option<Reader> {
        if stream == 0 {
            return Some(self.general.read(Some(last)));
        }
        let streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        streams.iter().find(|(number, _)| *number == stream).map(|(_, stream)| stream.read(Some(last)))
    }

    /// Reads what belongs to no request.
    pub(super) fn listen(&self) -> Reader {
        self.general.read(None)
    }

    /// The event that begins the stream which belongs to no request.
    pub(super) fn general(&self) -> &Stream {
        &self.general
    }

    /// From now on, until the mark is dropped, the session is in use.
    pub(super) fn active(self: &Arc<Self>) -> Active {
        self.active.fetch_add(1, Ordering::Relaxed);
        Active(Arc::clone(self))
    }

    fn is_idle(&self) -> bool {
        self.active.load(Ordering::Relaxed) == 0
    }

    fn touch(&self) {
        self.used.store(now(self.began), Ordering::Relaxed);
    }

    /// Nothing more is served, and what is under way is taken back.
    fn end(&self) {
        self.connection.cancel_all();
        self.connection.hang_up();
        self.general.finish(None);
        for (_, stream) in self.streams.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            stream.finish(None);
        }
    }
}

impl Drop for Active {
    fn drop(&mut self) {
        self.0.touch();
        self.0.active.fetch_sub(1, Ordering::Relaxed);
    }
}
