//! Runs a command to its end or to its time limit: input and outputs flow at once, and nothing of it is left behind.

use std::collections::BTreeSet;
use std::io::{self, ErrorKind, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::group;

/// More than this on standard output is no answer.
const MOST_OUTPUT: usize = 1 << 20;
/// So much of standard error is kept.
const MOST_ERRORS: usize = 64 << 10;
/// How long to wait for the rest of the output once the command and its group have ended.
const DRAIN: Duration = Duration::from_millis(250);
/// How often to look whether the command has ended, where nothing says so.
const TICK: Duration = Duration::from_millis(20);
/// How often to try again where another thread's fork holds the program open for writing.
const BUSY_TRIES: u32 = 20;

/// A command that has ended by itself.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) status: ExitStatus,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
    /// Something outlived the command's group and still holds its standard output.
    pub(super) cut_short: bool,
}

/// A command that has not.
#[derive(Debug)]
pub(super) enum Trouble {
    /// It could not be started.
    Start(io::Error),
    /// It could not be looked after.
    Lost(io::Error),
    /// Its time was up.
    TimedOut {
        /// It had closed its standard input before it was told everything.
        deaf: bool,
        stderr: Vec<u8>,
    },
    /// It printed too much.
    TooMuch,
}

/// Runs `command` with `input` as its standard input, for `limit` at most, or until `flow` is abandoned. Blocks until then.
pub(super) fn run(command: &mut Command, input: Vec<u8>, limit: Duration, flow: &Arc<Flow>) -> Result<Ended, Trouble> {
    // Never this process's own output: that carries frames.
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    group::alone(command);
    let deadline = Instant::now().checked_add(limit);
    let mut running = Running::start(command).map_err(Trouble::Start)?;
    if let Err(error) = attend(&mut running.child, flow, input) {
        return Err(Trouble::Lost(error)); // dropping it ends it
    }
    let in_time = flow.await_end(&mut running.child, deadline);
    group::end(running.child.id());
    let status = running.reap().map_err(Trouble::Lost)?;
    let mut parts = flow.drain();
    if parts.stdout.too_much {
        return Err(Trouble::TooMuch);
    }
    let (stdout, stderr) = (std::mem::take(&mut parts.stdout.bytes), std::mem::take(&mut parts.stderr.bytes));
    if !in_time {
        return Err(Trouble::TimedOut { deaf: parts.deaf, stderr });
    }
    Ok(Ended { status, stdout, stderr, cut_short: !parts.stdout.ended })
}

/// Ends every command that is running, and whatever it has started. For the end of the program.
pub fn end_all() {
    running().iter().for_each(|first| group::end(*first));
}

/// The first processes of the groups that are running; none of them has been waited for.
static RUNNING: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

fn running() -> MutexGuard<'static, BTreeSet<u32>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A started command. Dropped, it is ended.
struct Running {
    child: Child,
    reaped: bool,
}

impl Running {
    fn start(command: &mut Command) -> io::Result<Self> {
        for _ in 0..BUSY_TRIES {
            match command.spawn() {
                Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => thread::sleep(Duration::from_millis(5)),
                Err(error) => return Err(error),
                Ok(child) => {
                    running().insert(child.id());
                    return Ok(Running { child, reaped: false });
                }
            }
        }
        Err(ErrorKind::ExecutableFileBusy.into())
    }

    fn reap(&mut self) -> io::Result<ExitStatus> {
        if !group::has_ended(&mut self.child) {
            // Where there are no groups.
            let _ = self.child.kill();
        }
        // First out of the list, then waited for: what is in the list may be ended by its id.
        running().remove(&self.child.id());
        self.reaped = true;
        self.child.wait()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.reaped {
            group::end(self.child.id());
            // Nobody is left to be told.
            let _ = self.reap();
        }
    }
}

/// Starts the threads that feed a command and listen to it. They end with its pipes.
fn attend(child: &mut Child, flow: &Arc<Flow>, input: Vec<u8>) -> io::Result<()> {
    let id = child.id();
    let (Some(mut stdin), Some(stdout), Some(stderr)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(ErrorKind::BrokenPipe.into());
    };
    let on_thread = |name: &str, work: Box<dyn FnOnce(&Flow) + Send>| {
        let flow = Arc::clone(flow);
        thread::Builder::new().name(name.to_owned()).spawn(move || work(&flow)).map(drop)
    };
    on_thread("hook stdout", Box::new(|flow| listen(flow, stdout, MOST_OUTPUT, |parts| &mut parts.stdout)))?;
    on_thread("hook stderr", Box::new(|flow| listen(flow, stderr, MOST_ERRORS, |parts| &mut parts.stderr)))?;
    on_thread(
        "hook end",
        Box::new(move |flow| {
            group::await_end(id);
            flow.tell(|_| ());
        }),
    )?;
    on_thread(
        "hook stdin",
        Box::new(move |flow| {
            // A hook that has heard enough is not at fault; its exit code says what it thinks.
            if stdin.write_all(&input).is_err() {
                flow.tell(|parts| parts.deaf = true);
            }
        }),
    )
}

/// Keeps the first `most` bytes of a stream, and reads on to its end.
fn listen(flow: &Flow, mut stream: impl Read, most: usize, part: fn(&mut Parts) -> &mut Heard) {
    let mut buffer = vec![0; 16 << 10];
    loop {
        let read = match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        flow.tell(|parts| {
            let heard = part(parts);
            let keep = read.min(most - heard.bytes.len());
            heard.bytes.extend_from_slice(&buffer[..keep]);
            heard.too_much |= keep < read;
        });
    }
    flow.tell(|parts| part(parts).ended = true);
}

/// What the threads of one run tell the one that waits for them.
#[derive(Default)]
pub(super) struct Flow {
    parts: Mutex<Parts>,
    news: Condvar,
}

#[derive(Default)]
struct Parts {
    stdout: Heard,
    stderr: Heard,
    deaf: bool,
    /// Nobody waits for the command any more.
    abandoned: bool,
}

#[derive(Default)]
struct Heard {
    bytes: Vec<u8>,
    ended: bool,
    too_much: bool,
}

impl Flow {
    fn parts(&self) -> MutexGuard<'_, Parts> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, news: impl FnOnce(&mut Parts)) {
        news(&mut self.parts());
        self.news.notify_all();
    }

    /// Nobody waits for the command any more: it is ended as if its time were up.
    pub(super) fn abandon(&self) {
        self.tell(|parts| parts.abandoned = true);
    }

    /// Waits until the command itself has ended, whoever holds its pipes, or has printed too much. False: its time was up.
    fn await_end(&self, child: &mut Child, deadline: Option<Instant>) -> bool {
        let mut parts = self.parts();
        loop {
            if parts.stdout.too_much || group::has_ended(child) {
                return true;
            }
            let left = deadline.map_or(TICK, |deadline| deadline.saturating_duration_since(Instant::now()));
            if left.is_zero() || parts.abandoned {
                return false;
            }
            parts = self.news.wait_timeout(parts, left.min(TICK)).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Waits a moment for what is still in the pipes.
    fn drain(&self) -> MutexGuard<'_, Parts> {
        let parts = self.parts();
        let open = |parts: &mut Parts| !(parts.stdout.ended && parts.stderr.ended);
        self.news.wait_timeout_while(parts, DRAIN, open).unwrap_or_else(PoisonError::into_inner).0
    }
}
