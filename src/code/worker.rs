//! The process that runs one program: it is told what to run on standard input, confines itself, runs it, and says on
//! standard output what comes of it.

mod codec;
#[cfg(target_os = "linux")]
mod descriptors;
mod engine;
mod fault;
mod host;
mod names;
mod pipes;
mod print;
mod sandbox;

use std::process::ExitCode;

use crate::code::frames::{Begin, Hello, VERSION};
use pipes::Pipes;

/// The only argument of a process that runs a program.
pub(super) const ARGUMENT: &str = "__code_worker";

/// Whether this process was started to run a program.
pub(super) fn is_worker() -> bool {
    let mut arguments = std::env::args_os().skip(1);
    arguments.next().is_some_and(|argument| argument == ARGUMENT) && arguments.next().is_none()
}

/// Runs a program and ends the process, if that is what it was started for; otherwise nothing.
///
/// Code mode starts its own executable anew for each run. So a program that serves tools in code mode through the library
/// calls this first of all in its `main`, or names another executable that does, such as `toolgate` itself
/// ([`WorkerProgram`](crate::code::WorkerProgram)).
pub fn be_worker_if_asked() {
    if is_worker() {
        let code = u8::from(run().is_none());
        // Nothing is dropped: the engine would only take time to let go of memory that goes with the process.
        std::process::exit(i32::from(code));
    }
}

/// Nothing where whoever started it has gone, or is of another build.
fn run() -> Option<ExitCode> {
    sandbox::depend_on_parent();
    let mut pipes = Pipes::new();
    let begin: Begin = pipes.begin()?;
    // What tells the time asks the system for help once, and after the next line that is too late.
    let _ = engine::computing();
    let sandbox = sandbox::enforce(&begin.limits);
    pipes.hello(&Hello { version: VERSION.to_owned(), sandbox })?;
    if begin.version != VERSION {
        return None;
    }
    engine::run(begin, pipes);
    Some(ExitCode::SUCCESS)
}
