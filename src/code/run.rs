//! One run: a process is started, told the program, listened to and ended; only then is there an outcome.

use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::process::ExitStatus;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_util::FutureExt;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, timeout};

use crate::code::Options;
use crate::code::bridge::Bridge;
use crate::code::clock::Clock;
use crate::code::failure::{Failure, Kind};
use crate::code::frames::{self, BEGIN, Begin, Frames, FromWorker, Hello, Hostile, Sandbox, VERSION};
use crate::code::limits::Limits;
use crate::code::process::Worker;
use crate::code::report::Ended;
use crate::model::mode::RUN_CODE;
use crate::tool::calls::Calls;

/// How long a process may take to say that it is there.
const START: Duration = Duration::from_secs(10);

/// Runs `source` to its end, which is also the end of everything that it has begun.
pub(super) async fn run(
    options: &Options,
    source: &str,
    description: &str,
    wall: Duration,
    calls: &dyn Calls,
) -> Ended {
    let limits = options.limits;
    let clock = Arc::new(Clock::new(wall));
    let mut bridge = Bridge::new(calls, Arc::clone(&clock), limits, description.to_owned());
    let mut logs = Logs { text: Vec::new(), most: limits.log_bytes };
    let mut sandbox = String::new();
    let end = async {
        if source.trim().is_empty() {
            return Err(Failure::new(Kind::Syntax, "there is no program: code is empty"));
        }
        let tools =
            calls.tools().iter().map(|tool| tool.spec().name.to_owned()).filter(|name| name != RUN_CODE).collect();
        let begin = Begin { version: VERSION.to_owned(), source: source.to_owned(), tools, limits };
        let mut talk = Talk::begin(options, &begin).await?;
        sandbox = talk.sandbox.to_string();
        let end = match options.require_sandbox && !talk.sandbox.is_full() {
            true => Err(Failure::new(Kind::Crash, format!("the system did not confine the process: {}", talk.sandbox))),
            false => talk.listen(&mut bridge, &clock, wall, &mut logs).await,
        };
        talk.end(end, &limits).await
    }
    .await;
    let abandoned = bridge.waiting();
    Ended { end, logs: logs.into_text(), notes: bridge.drain().await, abandoned, run: calls.group(), sandbox }
}

/// Runs the smallest program, to find out whether any can be run, and how confined it would be.
pub(super) fn try_out(options: &Options) -> io::Result<Sandbox> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let begin =
        Begin { version: VERSION.to_owned(), source: "return 1".to_owned(), tools: Vec::new(), limits: options.limits };
    runtime.block_on(async {
        let failed = |failure: Failure| io::Error::other(failure.message);
        let mut talk = Talk::begin(options, &begin).await.map_err(failed)?;
        let end = timeout(START, poll_fn(|cx| talk.poll_frame(cx))).await.map_err(|_| io::ErrorKind::TimedOut)?;
        let sandbox = talk.sandbox.clone();
        let end = match end {
            Ok(FromWorker::Value(value)) => Ok(value),
            Ok(FromWorker::Failed(failure)) => Err(failure),
            Ok(_) => Err(Failure::new(Kind::Crash, "a program that makes no call made one")),
            Err(broken) => Err(broken.into()),
        };
        match talk.end(end, &options.limits).await.map_err(failed)? {
            Some(Value::Number(one)) if one.as_u64() == Some(1) => Ok(sandbox),
            other => Err(io::Error::other(format!("a program that returns 1 returned {other:?}"))),
        }
    })
}

/// What the program has printed.
struct Logs {
    text: Vec<u8>,
    most: usize,
}

impl Logs {
    fn add(&mut self, text: &str) -> Result<(), Hostile> {
        // Of lines that are nothing there could be any number.
        if text.is_empty() {
            return Err(Hostile("a line that is none".to_owned()));
        }
        let room = self.most - self.text.len();
        self.text.extend_from_slice(&text.as_bytes()[..text.len().min(room)]);
        if text.len() > room { Err(Hostile("more lines than it may print".to_owned())) } else { Ok(()) }
    }

    fn into_text(self) -> String {
        String::from_utf8_lossy(&self.text).into_owned()
    }
}

/// A conversation with a process.
struct Talk {
    worker: Worker,
    frames: Frames,
    sandbox: Sandbox,
    /// What it is still to be told.
    outgoing: Vec<u8>,
    told: usize,
}

/// The conversation cannot go on.
enum Broken {
    /// The process has closed its end.
    Gone,
    /// It talks nonsense.
    Hostile(Hostile),
    Io(io::Error),
}

impl From<Hostile> for Broken {
    fn from(hostile: Hostile) -> Self {
        Broken::Hostile(hostile)
    }
}

impl From<Broken> for Failure {
    fn from(broken: Broken) -> Self {
        Failure::new(
            Kind::Crash,
            match broken {
                Broken::Gone => "the process that ran the program ended without a word".to_owned(),
                Broken::Hostile(hostile) => format!("{hostile}; it was killed"),
                Broken::Io(error) => format!("the process that ran the program cannot be talked to: {error}"),
            },
        )
    }
}

impl Talk {
    async fn begin(options: &Options, begin: &Begin) -> Result<Self, Failure> {
        let start = async {
            let worker = Worker::start(&options.worker).await.map_err(|error| {
                Failure::new(Kind::Crash, format!("the process for the program cannot be started: {error}"))
            })?;
            let mut outgoing = Vec::new();
            // Numbers and texts: writing them cannot fail.
            frames::push(&mut outgoing, BEGIN, &serde_json::to_vec(begin).unwrap_or_default());
            let sandbox = Sandbox { landlock: frames::Landlock::None, seccomp: false, limits: false };
            let mut talk = Talk { worker, frames: Frames::new(begin.limits), sandbox, outgoing, told: 0 };
            match poll_fn(|cx| talk.poll_frame(cx)).await {
                Ok(FromWorker::Hello(Hello { version, sandbox })) if version == VERSION => {
                    talk.sandbox = sandbox;
                    Ok(talk)
                }
                Ok(FromWorker::Hello(Hello { version, .. })) => Err(Failure::new(
                    Kind::Crash,
                    format!(
                        "the process for the program is {version}, and this is {VERSION}; they have to be the same"
                    ),
                )),
                Ok(_) => Err(Broken::Hostile(Hostile("something before its greeting".to_owned())).into()),
                Err(_) => Err(Failure::new(
                    Kind::Crash,
                    "the process that was started for the program is none that runs programs: its main has to call \
                     toolgate::code::be_worker_if_asked() before anything else",
                )),
            }
        };
        timeout(START, start).await.unwrap_or_else(|_| {
            Err(Failure::new(
                Kind::Crash,
                format!("the process for the program did not say within {} seconds that it is there", START.as_secs()),
            ))
        })
    }

    /// Listens until the program has come to something, its time is up, or its caller takes it back.
    async fn listen(
        &mut self,
        bridge: &mut Bridge<'_>,
        clock: &Clock,
        wall: Duration,
        logs: &mut Logs,
    ) -> Result<Option<Value>, Failure> {
        // The token of its calls: none of them can notice before this does.
        let cancel = bridge.cancel.clone();
        let mut cancelled = pin!(cancel.cancelled());
        let mut sleep = None;
        poll_fn(|cx| {
            self.poll_end(bridge, logs, cx).or_else_pending(|| {
                if cancelled.as_mut().poll_unpin(cx).is_ready() {
                    return Poll::Ready(Err(Failure::new(Kind::Aborted, "its caller took it back")));
                }
                up(clock, wall, &mut sleep, cx)
            })
        })
        .await
    }

    fn poll_end(
        &mut self,
        bridge: &mut Bridge<'_>,
        logs: &mut Logs,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Option<Value>, Failure>> {
        loop {
            bridge.poll(&mut self.outgoing, cx);
            let frame = match self.poll_frame(cx) {
                Poll::Ready(Ok(frame)) => frame,
                Poll::Ready(Err(broken)) => return Poll::Ready(Err(broken.into())),
                // It has read all that there was meanwhile.
                Poll::Pending if bridge.is_held_back() && self.outgoing.is_empty() => continue,
                Poll::Pending => return Poll::Pending,
            };
            let taken = match frame {
                FromWorker::Log(text) => logs.add(&text),
                FromWorker::Call(call) => bridge.take(call),
                FromWorker::Value(value) => return Poll::Ready(Ok(value)),
                FromWorker::Failed(failure) => return Poll::Ready(Err(failure)),
                FromWorker::Hello(_) => Err(Hostile("a second greeting".to_owned())),
            };
            if let Err(hostile) = taken {
                return Poll::Ready(Err(Broken::Hostile(hostile).into()));
            }
        }
    }

    /// Tells what is to be told, and gives the next thing that the process says.
    fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Result<FromWorker, Broken>> {
        if let Err(error) = self.write(cx) {
            // It may have said why before it closed its end.
            tracing::debug!(%error, "a process that runs a program does not listen");
        }
        loop {
            if let Some(frame) = self.frames.next()? {
                return Poll::Ready(Ok(frame));
            }
            let mut bytes = [std::mem::MaybeUninit::uninit(); 16 * 1024];
            let mut buffer = ReadBuf::uninit(&mut bytes);
            if let Err(error) = ready!(Pin::new(&mut self.worker.stdout).poll_read(cx, &mut buffer)) {
                return Poll::Ready(Err(Broken::Io(error)));
            }
            if buffer.filled().is_empty() {
                return Poll::Ready(Err(Broken::Gone));
            }
            self.frames.add(buffer.filled());
        }
    }

    fn write(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        while self.told < self.outgoing.len() {
            match Pin::new(&mut self.worker.stdin).poll_write(cx, &self.outgoing[self.told..]) {
                Poll::Pending => return Ok(()),
                Poll::Ready(written) => self.told += written.inspect_err(|_| self.told = self.outgoing.len())?,
            }
        }
        self.outgoing.clear();
        self.told = 0;
        Ok(())
    }

    /// Ends the process; where it had ended by itself, that says more of what has happened.
    async fn end(mut self, end: Result<Option<Value>, Failure>, limits: &Limits) -> Result<Option<Value>, Failure> {
        let crashed = matches!(&end, Err(failure) if failure.kind == Kind::Crash);
        let status = if crashed { timeout(Duration::from_millis(200), self.worker.ended()).await.ok() } else { None };
        // What has ended is not killed by this; either way it is gone afterwards.
        let _ = self.worker.end().await;
        match (end, status) {
            (Err(failure), Some(Ok(status))) => Err(of_death(failure, status, limits)),
            (end, _) => end,
        }
    }
}

/// What the end of a process says about why it has ended.
#[cfg(unix)]
fn of_death(failure: Failure, status: ExitStatus, limits: &Limits) -> Failure {
    use std::os::unix::process::ExitStatusExt as _;
    let computed = rustix::process::Signal::XCPU.as_raw();
    match status.signal() {
        Some(signal) if signal == computed => {
            let what = format!("the program computed for more than {} ms", limits.computing.as_millis());
            Failure::limit(Kind::Timeout, what, "code.computing_ms")
        }
        Some(signal) if signal == rustix::process::Signal::SEGV.as_raw() => {
            let why = "most often a program that is nested so deeply, such as in a chain of thousands, that the stack runs out";
            Failure { message: format!("{} (signal {signal}: {why})", failure.message), ..failure }
        }
        Some(signal) => Failure { message: format!("{} (signal {signal})", failure.message), ..failure },
        None => failure,
    }
}

#[cfg(not(unix))]
fn of_death(failure: Failure, _: ExitStatus, _: &Limits) -> Failure {
    failure
}

fn up(
    clock: &Clock,
    wall: Duration,
    sleep: &mut Option<Pin<Box<Sleep>>>,
    cx: &mut Context<'_>,
) -> Poll<Result<Option<Value>, Failure>> {
    ready!(clock.poll_up(sleep, cx));
    let what = format!("the program had not ended after {} ms", wall.as_millis());
    Poll::Ready(Err(Failure::limit(Kind::Timeout, what, "timeout_ms, at most code.wall_ms")))
}

/// What to look at where nothing has come yet.
trait OrElsePending: Sized {
    fn or_else_pending(self, other: impl FnOnce() -> Self) -> Self;
}

impl<T> OrElsePending for Poll<T> {
    fn or_else_pending(self, other: impl FnOnce() -> Self) -> Self {
        if self.is_pending() { other() } else { self }
    }
}
