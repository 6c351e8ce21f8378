//! `toolgate serve`: a folder for an MCP client.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use super::{fail, root};
use crate::rpc::Profile;
use crate::serve::server::Server;
use crate::workspace::Workspace;
use crate::workspace::local::Local;

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
}

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    let workspace = match root::open(arguments.root.as_deref()) {
        Ok(workspace) => workspace,
        Err(error) => return fail(1, error),
    };
    if std::io::stdin().is_terminal() {
        explain(&workspace);
    }
    let instructions = Some(INSTRUCTIONS.to_owned());
    let profile = Profile { structured: arguments.structured, instructions, ..Profile::default() };
    let server = match Server::new(workspace).profile(profile).builtin_tools() {
        Ok(server) => server,
        Err(error) => return fail(1, error),
    };
    match server.serve_stdio() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(1, format_args!("standard input cannot be read: {error}")),
    }
}

/// Tells a person who started the server by hand what it is waiting for.
fn explain(workspace: &Local) {
    let root = workspace.roots().first().map_or(".", String::as_str);
    let _ = writeln!(
        std::io::stderr(),
        "toolgate serves {root} and waits for an MCP client on standard input.\n\
         Clients start it themselves: put this command into their configuration (see the README).\n\
         To try a tool by hand: toolgate call list_dir --root {root}\n\
         Ctrl-D ends it."
    );
}
