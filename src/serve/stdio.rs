//! MCP over standard input and output: one frame a line (MCP, basic/transports/stdio).
//!
//! One thread reads, and runs each call itself. If a call holds it up for a millisecond another thread goes on reading,
//! so a slow tool never blocks a `ping`. While more lines wait than one thread gets done, a second one helps. A call that
//! waits for something, such as a hook, does so on a thread of its own.

use std::io::{self, Read, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use tokio::runtime::{Builder, Handle, Runtime};

use crate::rpc::Mcp;
use crate::rpc::connection::{Accepted, Connection, Order};
use crate::rpc::principal::Principal;
use crate::serve::backlog::Backlog;
use crate::serve::lines::{Line, Lines};
use crate::serve::outbox::LineOutbox;
use crate::serve::process;
use crate::serve::watch::{Turn, Watch};

/// The longest line that is read.
const LINE_LIMIT: usize = 128 * 1024 * 1024;

/// After so many bytes answers go out even though more lines have come in already.
const BATCH: usize = 256 * 1024;

/// Past so many lines that are being answered no thread is started for more: they wait their turn.
const MOST_THREADS: usize = 256;

/// So many calls wait for something at once, each on a thread.
const MOST_WAITING: usize = 512;

/// How long calls may stand still after the client has closed its end; then they are taken back.
const GRACE: Duration = Duration::from_secs(1);

/// How long calls that have been taken back may take to notice.
const NOTICE: Duration = Duration::from_secs(4);

/// Serves one client until its stream ends. Changes that have begun by then are finished.
///
/// # Errors
/// The runtime cannot be started or `input` cannot be read.
pub fn serve(mcp: Mcp, input: impl Read + Send + 'static, output: impl Write + Send + 'static) -> io::Result<()> {
    run(mcp, input, output, Signals::Ignored)
}

/// Whether a signal that asks the process to end is the end of the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Signals {
    /// They are somebody else's.
    Ignored,
    /// They are, so that a change which has begun is finished.
    End,
}

fn run(
    mcp: Mcp,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    signals: Signals,
) -> io::Result<()> {
    let outbox = Arc::new(LineOutbox::new(output));
    let session = Arc::new(Session {
        connection: Connection::new(mcp.clone(), Principal::local(), Arc::clone(&outbox) as _, Order::Kept),
        outbox,
        lines: Mutex::new(Lines::new(Box::new(input), LINE_LIMIT)),
        watch: Watch::default(),
        backlog: Backlog::default(),
        calls: OnceLock::new(),
        signals,
        runtime: Mutex::default(),
        state: Mutex::default(),
        changed: Condvar::new(),
    });
    session.greet();
    let ended = session.wait_for_end();
    mcp.close();
    session.outbox.drain(GRACE);
    if let Some(runtime) = session.runtime.lock().unwrap_or_else(PoisonError::into_inner).take() {
        runtime.shutdown_background();
    }
    ended
}

/// Serves MCP on the process's own standard input and output.
///
/// From now on nothing else can write to standard output: what tries to ends up on standard error (B136).
///
/// # Errors
/// See [`serve`].
pub fn serve_process(mcp: Mcp) -> io::Result<()> {
    run(mcp, process::stdin(), process::private_stdout()?, Signals::End)
}

fn thread(name: &str, body: impl FnOnce() + Send + 'static) -> io::Result<()> {
    std::thread::Builder::new().name(name.to_owned()).spawn(body).map(drop)
}

struct Session {
    connection: Connection,
    outbox: Arc<LineOutbox>,
    lines: Mutex<Lines<Box<dyn Read + Send>>>,
    watch: Watch,
    backlog: Backlog,
    /// Where calls go on that wait for something; started with the first call.
    calls: OnceLock<Option<Handle>>,
    signals: Signals,
    runtime: Mutex<Option<Runtime>>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// How the stream ended.
    ended: Option<io::Result<()>>,
    /// Lines that are being answered, on a thread or in the runtime.
    running: usize,
    /// Lines that have been.
    answered: u64,
}

impl Session {
    /// Reads and answers on the thread that serves, until the first call comes or the stream ends: a client that only looks
    /// around, as many do at their start, needs no other thread.
    fn greet(self: &Arc<Self>) {
        loop {
            let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
            let line = lines.next();
            let more = lines.has_line();
            let Some(accepted) = self.accept(line) else { return };
            drop(lines);
            if let Accepted::Pending(_) = &accepted {
                return self.hand_over(accepted);
            }
            if let Accepted::Answer(answer) = &accepted {
                self.outbox.push(&answer.frame);
            }
            if !more || self.outbox.waiting() > BATCH {
                self.outbox.flush();
            }
            if self.outbox.is_broken() {
                return self.end(Ok(()));
            }
        }
    }

    /// Lets another thread run the first call and read on, so that this one can wait for the end whatever a call does.
    fn hand_over(self: &Arc<Self>, first: Accepted) {
        let running = Running::new(self);
        let reader = Arc::clone(self);
        let started = thread("reader", move || {
            let step = reader.watch.busy();
            let _running = reader.answer(first, running);
            reader.outbox.flush();
            if reader.watch.back(step) == Turn::Kept {
                reader.read();
            }
        });
        if let Err(error) = started {
            self.end(Err(error));
        }
    }

    /// Reads lines and answers them until the stream ends or another thread has taken the turn.
    fn read(self: &Arc<Self>) {
        loop {
            self.outbox.wait_for_room();
            let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
            // The helper may have taken the line for which an answer was held back.
            if !lines.has_line() && self.outbox.is_left_waiting() {
                drop(lines);
                let step = self.watch.busy();
                self.outbox.flush();
                if self.watch.back(step) == Turn::Lost {
                    return;
                }
                continue;
            }
            let line = lines.next();
            let more = lines.has_line();
            // Before anyone else can read on and find the end: until this line is answered the session is not idle.
            let running = Running::new(self);
            let step = self.watch.busy();
            let Some(accepted) = self.accept(line) else { return };
            // A call has its place in line now, so that none that is read later can overtake it.
            drop(lines);
            if more {
                self.backlog.call();
            }
            // Kept until the answer is written, or handed on with the call.
            let _running = self.answer(accepted, running);
            if !more || self.outbox.waiting() > BATCH {
                self.outbox.flush();
            }
            if self.outbox.is_broken() {
                return self.end(Ok(()));
            }
            if self.watch.back(step) == Turn::Lost {
                return self.outbox.flush();
            }
        }
    }

    /// Helps the reader while lines are waiting that need not be waited for.
    fn help(self: &Arc<Self>) {
        while self.backlog.wait() {
            loop {
                // Whoever holds the lines may be waiting for more, while an answer from here has not gone out yet.
                let Ok(mut lines) = self.lines.try_lock() else { break };
                let Some(line) = lines.waiting() else { break };
                let running = Running::new(self);
                let accepted = match line {
                    Line::Whole(line) => self.connection.accept(line),
                    Line::TooLong => self.connection.too_long(LINE_LIMIT),
                    Line::End => break,
                };
                drop(lines);
                let _running = self.answer(accepted, running);
                if self.outbox.waiting() > BATCH {
                    self.outbox.flush();
                    self.outbox.wait_for_room();
                }
            }
            self.outbox.flush();
        }
    }

    /// What a line that was waited for asks of the session; with the end of the stream, or its failure, the session ends.
    fn accept(&self, line: io::Result<Line>) -> Option<Accepted> {
        match line {
            Ok(Line::Whole(line)) => Some(self.connection.accept(line)),
            Ok(Line::TooLong) => Some(self.connection.too_long(LINE_LIMIT)),
            Ok(Line::End) => {
                self.end(Ok(()));
                None
            }
            Err(error) => {
                self.end(Err(error));
                None
            }
        }
    }

    /// Runs a call here as far as it goes, and the rest, if it waits for something, on another thread; `running` goes where
    /// the call goes.
    fn answer(self: &Arc<Self>, accepted: Accepted, running: Running) -> Option<Running> {
        let mut pending = match accepted {
            Accepted::Nothing => return Some(running),
            Accepted::Answer(answer) => {
                self.outbox.push(&answer.frame);
                return Some(running);
            }
            Accepted::Pending(pending) => pending,
        };
        let Some(calls) = self.calls.get_or_init(|| self.start_calls()) else { return Some(running) };
        let entered = calls.enter();
        match (&mut pending).now_or_never() {
            Some(answer) => {
                if let Some(answer) = answer {
                    self.outbox.push(&answer.frame);
                }
                Some(running)
            }
            None => {
                drop(entered);
                // What it does when it goes on may take as long as what it has done so far, so it has a thread of its own.
                let runtime = calls.clone();
                calls.spawn_blocking(move || {
                    if let Some(answer) = runtime.block_on(pending) {
                        running.session.outbox.push(&answer.frame);
                        running.session.outbox.flush();
                    }
                    drop(running);
                });
                None
            }
        }
    }

    /// Starts what calls need beyond this thread. Without it nothing can be served, so a failure ends the session.
    fn start_calls(self: &Arc<Self>) -> Option<Handle> {
        // Its own threads only wake those of the calls. More calls than this wait their turn; none waits for a later one.
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .max_blocking_threads(MOST_WAITING)
            .thread_name("calls")
            .enable_all()
            .build();
        let watched = Arc::clone(self);
        let helper = Arc::clone(self);
        let threads =
            || thread("watch", move || watched.keep_watch()).and_then(|()| thread("helper", move || helper.help()));
        match runtime.and_then(|runtime| threads().map(|()| runtime)) {
            Ok(runtime) => {
                let handle = runtime.handle().clone();
                if self.signals == Signals::End {
                    handle.spawn(Arc::clone(self).end_by_signal());
                }
                *self.runtime.lock().unwrap_or_else(PoisonError::into_inner) = Some(runtime);
                Some(handle)
            }
            Err(error) => {
                self.end(Err(error));
                None
            }
        }
    }

    /// Before the first call there is nothing to finish, and a signal ends the process as it always does.
    #[cfg(unix)]
    async fn end_by_signal(self: Arc<Self>) {
        use tokio::signal::unix::{SignalKind, signal};

        let kinds = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()];
        let signals: Vec<_> = kinds.into_iter().filter_map(|kind| signal(kind).ok()).collect();
        let arrivals = signals.into_iter().map(|mut signal| Box::pin(async move { signal.recv().await }));
        futures_util::future::select_all(arrivals).await;
        self.end(Ok(()));
    }

    #[cfg(not(unix))]
    async fn end_by_signal(self: Arc<Self>) {
        if tokio::signal::ctrl_c().await.is_ok() {
            self.end(Ok(()));
        }
    }

    fn keep_watch(self: &Arc<Self>) {
        self.watch.keep(|| {
            if self.state().running >= MOST_THREADS {
                return false;
            }
            let reader = Arc::clone(self);
            let started = thread("reader", move || reader.read());
            // Without another thread everything goes on, one call after the other.
            started.inspect_err(|error| tracing::warn!(%error, "no thread could be started")).is_ok()
        });
    }

    fn end(&self, how: io::Result<()>) {
        self.connection.hang_up();
        // Nobody needs to read on.
        self.watch.end();
        self.backlog.end();
        self.state().ended.get_or_insert(how);
        self.changed.notify_all();
    }

    /// Waits for the end of the stream and then, for a while, for the calls that still run.
    fn wait_for_end(&self) -> io::Result<()> {
        let mut state = self.state();
        while state.ended.is_none() {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        drop(state);
        if !self.wait_until_idle(GRACE) {
            self.connection.cancel_all();
            self.wait_until_idle(NOTICE);
        }
        self.state().ended.take().unwrap_or(Ok(()))
    }

    /// Waits for what still runs, as long as it gets on: `limit` in which nothing is answered and no byte goes out is the
    /// end of it.
    fn wait_until_idle(&self, limit: Duration) -> bool {
        let mut state = self.state();
        while state.running > 0 {
            let before = (state.answered, self.outbox.written());
            let (next, waited) = self.changed.wait_timeout(state, limit).unwrap_or_else(PoisonError::into_inner);
            state = next;
            if waited.timed_out() && before == (state.answered, self.outbox.written()) {
                return false;
            }
        }
        true
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts a line as being answered for as long as it lives.
struct Running {
    session: Arc<Session>,
}

impl Running {
    fn new(session: &Arc<Session>) -> Self {
        session.state().running += 1;
        Running { session: Arc::clone(session) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut state = self.session.state();
        state.running -= 1;
        state.answered += 1;
        // Until the stream has ended nobody waits for this, and waking nobody costs a system call as well.
        if state.running == 0 && state.ended.is_some() {
            self.session.changed.notify_all();
        }
    }
}
