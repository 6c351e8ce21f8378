//! `toolgate serve`: a folder for MCP clients, one on standard input and output or many over HTTP.

mod http;
mod reload;

use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use reload::Reloader;

use super::assembly::{Assembly, Places};
use super::fail;
use super::logs::{self, LogArguments};
use super::root::{self, Placed};
use crate::config::{Config, Results};
use crate::gate::command_hook::end_all;
use crate::model::folder::Folder;
use crate::model::mode::Mode;
use crate::model::world::RealWorld;
use crate::rpc::{Approvals, Mcp, Profile};
use crate::serve::{self, stdio};

/// What a model is told about the server as a whole.
const INSTRUCTIONS: &str = "Files of one folder, read and changed safely. Paths are relative to that folder; nothing \
                            outside it can be reached. Read a file before you change it, and prefer patch_file to \
                            write_file. A failed call changes nothing and says what to do next.";

/// How long what is too old or too much may be kept while the server runs.
const SWEEP: Duration = Duration::from_secs(60 * 60);

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    folder: Placed,
    /// Advertise output schemas, and send the complete typed output beside the text.
    #[arg(long)]
    structured: bool,
    /// Let nothing be changed: changes are denied, and the tools that make them are not listed.
    #[arg(long)]
    read_only: bool,
    /// How the tools reach the model: each by itself, all from programs that it writes (run_code), or both.
    #[arg(long, value_name = "native|code|both")]
    mode: Option<Mode>,
    #[command(flatten)]
    places: Places,
    #[command(flatten)]
    logs: LogArguments,
    #[command(flatten)]
    http: http::HttpArguments,
}

impl Arguments {
    /// Whom the log is for, if there is to be one.
    pub(super) fn log_format(&self) -> Option<logs::Format> {
        self.logs.format()
    }
}

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    let assembly =
        match Assembly::serving(&arguments.folder.roots(), &arguments.places, arguments.read_only, arguments.mode) {
            Ok(assembly) => assembly,
            Err(error) => return fail(1, error),
        };
    let mut over_http = match arguments.http.options(&assembly.config) {
        Ok(options) => options,
        Err(error) => return fail(1, error),
    };
    if let Some(options) = &mut over_http {
        options.reload = Some(Box::new(Reloader::new(arguments, &assembly)));
    }
    if over_http.is_none() && std::io::stdin().is_terminal() && !logs::for_programs() {
        explain(&assembly.folders);
    }
    let Assembly { config, dispatcher, ledger, folders } = assembly;
    let profile = Profile {
        structured: structured(arguments.structured, &config),
        read_only: config.read_only,
        mode: config.mode,
        instructions: Some(instructions(&folders)),
        ..Profile::default()
    };
    // What is kept stays within its bounds without anybody having to think of it, however long the server runs.
    let sweeper = match ledger.sweep_every(SWEEP) {
        Ok(sweeper) => sweeper,
        Err(error) => return fail(1, error),
    };
    let patience = config.approval.timeout_ms.map_or(Approvals::PATIENCE, |ms| Duration::from_millis(ms.get()));
    let mut approvals = Approvals::new(Arc::new(RealWorld), patience);
    if config.approval.timeout_ms.is_some() {
        approvals = approvals.with_lifetime(patience);
    }
    let served = Mcp::with_approvals(dispatcher, profile, approvals).map_err(std::io::Error::other).and_then(|mcp| {
        match over_http {
            Some(options) => serve::http::serve(mcp, options),
            None => stdio::serve_process(mcp).map_err(cannot_read),
        }
    });
    end_all();
    if let Err(error) = ledger.flush() {
        return fail(1, error);
    }
    drop(sweeper);
    ledger.sweep_or_say();
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(1, error),
    }
}

/// Whether results carry the typed output: if the command line says so, or else the configuration.
fn structured(asked: bool, config: &Config) -> bool {
    asked || config.results == Results::Structured
}

/// What a model is told about the server, and how paths begin where there are several folders.
fn instructions(folders: &[Folder]) -> String {
    let names: Vec<_> = folders.iter().filter(|folder| !folder.at.is_root()).map(|folder| folder.at.as_str()).collect();
    if names.is_empty() {
        return INSTRUCTIONS.to_owned();
    }
    format!(
        "{INSTRUCTIONS} There are several folders, and every path begins with the name of one: {}.",
        names.join(", ")
    )
}

fn cannot_read(error: std::io::Error) -> std::io::Error {
    std::io::Error::new(error.kind(), format!("standard input cannot be read: {error}"))
}

/// Tells a person who started the server by hand what it is waiting for.
fn explain(folders: &[Folder]) {
    let (shown, options) = (root::shown(folders), root::options(folders));
    let _ = writeln!(
        std::io::stderr(),
        "toolgate serves {shown} and waits for an MCP client on standard input.\n\
         Clients start it themselves: put this command into their configuration (see the README).\n\
         To serve clients over HTTP instead, add: --http 127.0.0.1:8765\n\
         To try a tool by hand: toolgate call list_dir{options}\n\
         Ctrl-D ends it."
    );
}
