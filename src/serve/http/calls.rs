//! Runs calls beside the connections that they came over.
//!
//! Most calls are done in less time than it takes to change threads, so they run where they were read. One that is
//! known to take longer runs on threads that may be blocked: then its connection still notices that the client has gone,
//! and no other connection waits for it. Nobody knows how long a call will take, be it the quickest tool on a disk that
//! hangs, so there is always a thread for connections that is in no call.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use tokio::runtime::Handle;
use tokio::task::AbortHandle;
use tracing::Instrument as _;

use crate::rpc::Answer;
use crate::rpc::connection::{Connection, Pending, Work};
use crate::serve::http::stream::Stream;

/// A call that keeps its thread busy for longer is not quick. On a busy machine a quick one may take that long too.
const QUICK: Duration = Duration::from_millis(5);

/// After so many calls that were not, no more are expected to be.
const STRIKES: u32 = 3;

/// So many calls in a row must be quick before the next is expected to be.
const PROBATION: u32 = 64;

/// Where calls run.
pub(super) struct Calls {
    paces: Mutex<HashMap<&'static str, Pace>>,
    /// How many more may run where they were read.
    here: AtomicUsize,
    /// The threads that may be blocked.
    patient: Handle,
}

/// How quick the calls of a tool are.
#[derive(Debug, Clone, Copy, Default)]
struct Pace {
    /// How many were not of late.
    strikes: u32,
    /// How many more quick ones it takes.
    probation: u32,
}

/// How a call goes on.
pub(super) enum Begun {
    /// It is done.
    Done(Option<Answer>),
    /// It runs; its answer goes to the stream.
    Running(AbortHandle),
}

impl Calls {
    /// At most `here` calls run where they were read.
    pub(super) fn new(here: usize, patient: Handle) -> Self {
        Calls { paces: Mutex::default(), here: AtomicUsize::new(here), patient }
    }

    /// The threads that may be blocked.
    pub(super) fn patient(&self) -> &Handle {
        &self.patient
    }

    /// Runs a call, as far as it is quick right here; what it comes to otherwise goes to `stream`. `held` is kept until
    /// the call is done.
    pub(super) fn run(
        self: &Arc<Self>,
        mut pending: Pending,
        stream: &Arc<Stream>,
        held: impl Send + 'static,
    ) -> Begun {
        let work = pending.work();
        if self.is_trusted(work)
            && let Some(_here) = Here::take(&self.here)
        {
            hand_over();
            let began = Instant::now();
            let answer = (&mut pending).now_or_never();
            self.note(work, began.elapsed());
            if let Some(answer) = answer {
                return Begun::Done(answer);
            }
        }
        let calls = Arc::clone(self);
        let task = Timed { pending, calls, longest: Duration::ZERO };
        let stream = Arc::clone(stream);
        let task = async move {
            let end = EndOfStream(stream);
            let answer = task.await;
            end.0.finish(answer);
            drop(held);
        };
        let task = self.patient.spawn(task.in_current_span());
        Begun::Running(task.abort_handle())
    }

    fn is_trusted(&self, work: Work) -> bool {
        let (tool, light) = match work {
            Work::NoTool => return true,
            Work::Tools => return false,
            Work::Tool { name, light } => (name, light),
        };
        self.paces.lock().unwrap_or_else(PoisonError::into_inner).get(tool).map_or(light, |pace| pace.probation == 0)
    }

    fn note(&self, work: Work, took: Duration) {
        let Work::Tool { name, light } = work else { return };
        let mut paces = self.paces.lock().unwrap_or_else(PoisonError::into_inner);
        let begin = Pace { strikes: 0, probation: if light { 0 } else { PROBATION } };
        let pace = paces.entry(name).or_insert(begin);
        if took <= QUICK {
            pace.strikes = pace.strikes.saturating_sub(1);
            pace.probation = pace.probation.saturating_sub(1);
            return;
        }
        pace.strikes += 1;
        if pace.strikes >= STRIKES {
            *pace = Pace { strikes: 0, probation: PROBATION };
        }
    }
}

/// Lets another thread look after the connections. The one that has just heard of a request is the one that waits for news
/// of all, and would keep the others asleep for as long as a call blocks it. A task alone stays with its thread; of two
/// one is for whoever wakes up, finds nothing more to do, and waits for news. If nobody sleeps nobody is woken.
fn hand_over() {
    for _ in 0..2 {
        tokio::spawn(std::future::ready(()));
    }
}

/// A call runs where it was read as long as this lives.
struct Here<'a>(&'a AtomicUsize);

impl<'a> Here<'a> {
    /// Nothing if as many do as may.
    fn take(free: &'a AtomicUsize) -> Option<Self> {
        let taken = free.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |free| free.checked_sub(1));
        taken.is_ok().then(|| Here(free))
    }
}

impl Drop for Here<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// A call, and the longest time that it kept a thread busy.
struct Timed {
    pending: Pending,
    calls: Arc<Calls>,
    longest: Duration,
}

impl Future for Timed {
    type Output = Option<Answer>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Answer>> {
        let began = Instant::now();
        let polled = Pin::new(&mut self.pending).poll(context);
        self.longest = self.longest.max(began.elapsed());
        if polled.is_ready() {
            self.calls.note(self.pending.work(), self.longest);
        }
        polled
    }
}

/// Ends a stream also where its call was taken back.
struct EndOfStream(Arc<Stream>);

impl Drop for EndOfStream {
    fn drop(&mut self) {
        self.0.finish(None);
    }
}

/// Takes a call back when it is dropped: where the client has gone, or has been answered.
pub(super) struct CallGuard {
    connection: Connection,
    task: AbortHandle,
}

impl CallGuard {
    /// `connection` is that of this one call.
    pub(super) fn new(connection: Connection, task: AbortHandle) -> Self {
        CallGuard { connection, task }
    }
}

impl Drop for CallGuard {
    fn drop(&mut self) {
        // What is told by its token can stop in the middle; the rest stops at the next point where it waits.
        self.connection.cancel_all();
        self.task.abort();
    }
}
