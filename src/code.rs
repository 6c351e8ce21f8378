//! Code mode: one tool that runs a program, and a process of its own for each run.
//!
//! A model is told what it can call as TypeScript (`sdk`, `typescript`). The program that it writes goes to a child
//! process, the same binary started anew (`process`, `worker`), which takes from itself whatever the system lets it
//! (`worker/sandbox`), erases the types (`strip`) and runs the program. The child has nothing but two pipes. A call
//! that the program makes arrives as a frame (`frames`), takes the way of every other call (`bridge`), and its outcome
//! goes back as a frame. The child is taken for hostile: whatever breaks the order of frames ends the run, and neither what it says
//! nor what it does not read makes the server hold much more than one call may weigh.
//!
//! The types are erased in the child, and not before it is started: a parser goes as deep as what it reads, and what a model wrote may
//! be made to break it. There it costs the run and nothing else; a fault of syntax is told before anything has run all the same.

mod bridge;
mod clock;
mod failure;
mod frames;
mod limits;
mod process;
mod report;
mod run;
mod run_code;
pub mod sdk;
pub mod strip;
pub mod typescript;
mod worker;

use std::io;

pub use crate::code::failure::Kind;
pub use crate::code::frames::{Landlock, Sandbox};
pub use crate::code::limits::Limits;
pub use crate::code::process::WorkerProgram;
use crate::code::run_code::RunCode;
use crate::code::sdk::{BUDGET, Sdk};
pub use crate::code::worker::be_worker_if_asked;
use crate::model::mode::RUN_CODE;
use crate::tool::registry::{RegisterError, Registry};

/// Adds `run_code` only so that what is recorded of it can be told in words: nothing is tried out, and no call is made.
///
/// # Errors
/// There is such a tool already.
pub fn register_to_tell(registry: &mut Registry) -> Result<(), RegisterError> {
    registry.register(RunCode::new(Options::default()))
}

/// How programs are run.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// How much one run may use.
    pub limits: Limits,
    /// Which program the child process is.
    pub worker: WorkerProgram,
    /// Nothing runs unless the system confines the child in every way that is known here.
    pub require_sandbox: bool,
}

/// Code mode cannot be offered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CodeError {
    /// A program cannot be run at all.
    #[error("code mode has no working runtime: {0}. Serve in native mode, or mend what is said here")]
    NoRuntime(#[source] io::Error),
    /// The system does not confine it enough.
    #[error(
        "code mode would not be confined as require_sandbox = true demands: {0}. Serve in native mode, on a system that has \
         Landlock and seccomp, or without require_sandbox"
    )]
    NotConfined(Sandbox),
    /// The tool cannot be registered.
    #[error(transparent)]
    Register(#[from] RegisterError),
}

/// Adds `run_code` to the tools, documented with an interface to all that are there by now. A program is run once first, so
/// that a runtime which does not work is found before a client is there.
///
/// # Errors
/// No program can be run, or not as confined as it has to be.
pub fn register(registry: &mut Registry, options: Options) -> Result<Sandbox, CodeError> {
    let sandbox = run::try_out(&options).map_err(CodeError::NoRuntime)?;
    if options.require_sandbox && !sandbox.is_full() {
        return Err(CodeError::NotConfined(sandbox));
    }
    registry.register(RunCode::new(options))?;
    document(registry);
    Ok(sandbox)
}

/// Says in the description of `run_code`, if it is there, which tools there are now.
pub fn document(registry: &mut Registry) {
    if registry.get(RUN_CODE).is_some() {
        let documentation = Sdk::of(registry).documentation(BUDGET);
        registry.document(RUN_CODE, documentation);
    }
}
