//! Runs calls beside the connections that they came over.
//!
//! Most calls are done in less time than it takes to change threads, so they run where they were read. One that is
//! known to take longer runs as a task of its own, where it may block: then its connection still notices that the client
//! has gone, and no other connection waits for it.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;
use tokio_util::sync::PollSemaphore;

use crate::rpc::Answer;
use crate::rpc::connection::{Connection, Pending, Work};
use crate::serve::http::stream::Stream;

/// A call that keeps its thread busy for longer is not quick.
const QUICK: Duration = Duration::from_millis(2);

/// So many calls in a row must be quick before the next is trusted to be.
const PROBATION: u32 = 64;

/// So many calls may block a thread at once; the others wait.
const BLOCKING: usize = 64;

/// Where calls run.
pub(super) struct Calls {
    /// How many more quick calls each tool has to make.
    slow: Mutex<HashMap<&'static str, u32>>,
    blocking: Arc<Semaphore>,
}

/// How a call goes on.
pub(super) enum Begun {
    /// It is done.
    Done(Option<Answer>),
    /// It runs; its answer goes to the stream.
    Running(AbortHandle),
}

impl Calls {
    pub(super) fn new() -> Self {
        Calls { slow: Mutex::default(), blocking: Arc::new(Semaphore::new(BLOCKING)) }
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
        if self.is_trusted(work) {
            let began = Instant::now();
            let answer = (&mut pending).now_or_never();
            self.note(work, began.elapsed());
            if let Some(answer) = answer {
                return Begun::Done(answer);
            }
        }
        let calls = Arc::clone(self);
        let task = Blocking {
            pending,
            calls,
            permits: PollSemaphore::new(Arc::clone(&self.blocking)),
            longest: Duration::ZERO,
        };
        let stream = Arc::clone(stream);
        let task = tokio::spawn(async move {
            let end = EndOfStream(stream);
            let answer = task.await;
            end.0.finish(answer);
            drop(held);
        });
        Begun::Running(task.abort_handle())
    }

    fn is_trusted(&self, work: Work) -> bool {
        let (tool, light) = match work {
            Work::NoTool => return true,
            Work::Tools => return false,
            Work::Tool { name, light } => (name, light),
        };
        self.slow.lock().unwrap_or_else(PoisonError::into_inner).get(tool).map_or(light, |more| *more == 0)
    }

    fn note(&self, work: Work, took: Duration) {
        let Work::Tool { name, light } = work else { return };
        let mut slow = self.slow.lock().unwrap_or_else(PoisonError::into_inner);
        let more = slow.entry(name).or_insert(if light { 0 } else { PROBATION });
        *more = if took > QUICK { PROBATION } else { more.saturating_sub(1) };
    }
}

/// A call that may block the thread that it runs on: tokio is told, so that others take over what else that thread
/// would have done.
struct Blocking {
    pending: Pending,
    calls: Arc<Calls>,
    permits: PollSemaphore,
    /// The longest time that it kept a thread busy.
    longest: Duration,
}

impl Future for Blocking {
    type Output = Option<Answer>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Answer>> {
        let Some(_permit) = ready!(self.permits.poll_acquire(context)) else { return Poll::Ready(None) };
        let began = Instant::now();
        let polled = tokio::task::block_in_place(|| Pin::new(&mut self.pending).poll(context));
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
