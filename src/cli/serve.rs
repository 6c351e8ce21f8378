//! `toolgate serve`: a folder for an MCP client.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use super::assembly::{Assembly, Places};
use super::fail;
use crate::config::Results;
use crate::gate::command_hook::end_all;
use crate::model::world::RealWorld;
use crate::rpc::{Approvals, Mcp, Profile};
use crate::serve::stdio;

/// What a model is told about the server as a whole.
const INSTRUCTIONS: &str = "Files of one folder, read and changed safely. Paths are relative to that folder; nothing \
                            outside it can be reached. Read a file before you change it, and prefer patch_file to \
                            write_file. A failed call changes nothing and says what to do next.";

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The folder to serve. Left out: the current one, unless that is / or the home folder.
    root: Option<PathBuf>,
    /// Advertise output schemas, and send the complete typed output beside the text.
    #[arg(long)]
    structured: bool,
    /// Let nothing be changed: changes are denied, and the tools that make them are not listed.
    #[arg(long)]
    read_only: bool,
    #[command(flatten)]
    places: Places,
}

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    let assembly = match Assembly::open(arguments.root.as_deref(), &arguments.places, arguments.read_only) {
        Ok(assembly) => assembly,
        Err(error) => return fail(1, error),
    };
    if std::io::stdin().is_terminal() {
        explain(&assembly.root);
    }
    let Assembly { config, dispatcher, ledger, .. } = assembly;
    let profile = Profile {
        structured: arguments.structured || config.results == Results::Structured,
        read_only: config.read_only,
        instructions: Some(INSTRUCTIONS.to_owned()),
        ..Profile::default()
    };
    let patience = config.approval.timeout_ms.map_or(Approvals::PATIENCE, |ms| Duration::from_millis(ms.get()));
    let served = Mcp::with_approvals(dispatcher, profile, Approvals::new(Arc::new(RealWorld), patience))
        .map_err(std::io::Error::other)
        .and_then(stdio::serve_process);
    end_all();
    if let Err(error) = ledger.flush() {
        return fail(1, error);
    }
    // What is kept stays within its bounds without anybody having to think of it.
    if let Err(error) = ledger.sweep() {
        tracing::warn!(%error, "what is older than the retention could not be let go of");
    }
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(1, format_args!("standard input cannot be read: {error}")),
    }
}

/// Tells a person who started the server by hand what it is waiting for.
fn explain(root: &str) {
    let _ = writeln!(
        std::io::stderr(),
        "toolgate serves {root} and waits for an MCP client on standard input.\n\
         Clients start it themselves: put this command into their configuration (see the README).\n\
         To try a tool by hand: toolgate call list_dir --root {root}\n\
         Ctrl-D ends it."
    );
}
