//! The command line: one file a subcommand. The only place that names concrete parts and puts them together.

mod ask;
mod assembly;
mod call;
mod check;
mod diff;
mod dispatch;
mod gc;
mod log;
mod logs;
mod print;
mod root;
mod schemas;
mod serve;
mod stats;
mod tools;
mod trust;
mod undo;
mod wait;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use logs::fail;

/// File tools for language models: validated, contained, atomic.
#[derive(Debug, Parser)]
#[command(version, about, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve a folder to MCP clients, on standard input and output or over HTTP.
    Serve(serve::Arguments),
    /// Answer one call: a JSON document on standard input, one on standard output.
    Dispatch,
    /// Run one tool on real files and print what a model would see.
    Call(call::Arguments),
    /// Show what was called, decided and changed.
    Log(log::Arguments),
    /// Show what a change did.
    Diff(diff::Arguments),
    /// Take back the newest change, or the one that is named.
    Undo(undo::Arguments),
    /// Count calls, errors and times.
    Stats(stats::Arguments),
    /// Let go of records and kept bytes that are too old or too much.
    Gc(gc::Arguments),
    /// Say what the rules would decide about a call.
    Check(check::Arguments),
    /// Let everything in a repository's toolgate.toml count.
    Trust(trust::Arguments),
    /// Print every tool as providers and clients want it, or check a published list against today's.
    Tools(tools::Arguments),
    /// Write the JSON Schemas of everything that toolgate reads and writes into a folder.
    #[command(hide = true)]
    Schemas(schemas::Arguments),
}

/// Runs the command that the process was started with. The exit code is 0 if it did what was asked.
#[must_use]
pub fn run() -> ExitCode {
    let Arguments { command } = Arguments::parse();
    logs::start(if let Command::Serve(arguments) = &command { arguments.log_format() } else { None });
    match command {
        Command::Serve(arguments) => serve::run(&arguments),
        Command::Dispatch => dispatch::run(),
        Command::Call(arguments) => call::run(&arguments),
        Command::Log(arguments) => log::run(&arguments),
        Command::Diff(arguments) => diff::run(&arguments),
        Command::Undo(arguments) => undo::run(&arguments),
        Command::Stats(arguments) => stats::run(&arguments),
        Command::Gc(arguments) => gc::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Trust(arguments) => trust::run(&arguments),
        Command::Tools(arguments) => tools::run(&arguments),
        Command::Schemas(arguments) => schemas::run(&arguments),
    }
}
