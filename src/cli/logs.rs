//! What the process says about itself on standard error: nothing, lines for people, or lines of JSON for programs.

mod json;

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::sync::OnceLock;

use json::JsonLines;
use serde_json::{Value, json};
use tracing::Level;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// What is worth a line where a format is asked for and `RUST_LOG` says nothing.
const USUAL: &str = "toolgate=info";

/// Whom the log is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Format {
    /// Lines for people.
    Text,
    /// One JSON object a line: time, level, target, message and fields.
    Json,
}

#[derive(Debug, Clone, clap::Args)]
pub(super) struct LogArguments {
    /// Log to standard error: as text, or as JSON, where all that is said there is one object a line with time, level,
    /// target, message and fields. RUST_LOG says how much; without it `toolgate=info`.
    #[arg(long, value_name = "text|json", hide_possible_values = true)]
    log_format: Option<Format>,
}

impl LogArguments {
    pub(super) fn format(&self) -> Option<Format> {
        self.log_format
    }
}

/// Whether what is said is for programs. Known once the command line is read, and the same from then on.
static FOR_PROGRAMS: OnceLock<bool> = OnceLock::new();

/// Begins to log. Without a format only what `RUST_LOG` asks for, and for people.
pub(super) fn start(format: Option<Format>) {
    let asked = std::env::var_os("RUST_LOG").is_some();
    let filter = || if asked { EnvFilter::from_default_env() } else { EnvFilter::new(USUAL) };
    match format {
        None if !asked => {}
        Some(Format::Json) => {
            let _ = FOR_PROGRAMS.set(true);
            tracing_subscriber::registry().with(filter()).with(JsonLines).init();
            std::panic::set_hook(Box::new(|panic| {
                let place = panic.location().map(ToString::to_string);
                let what = panic.payload_as_str().unwrap_or("a panic");
                say(Level::ERROR, what, &[("place", json!(place))]);
            }));
        }
        None | Some(Format::Text) => tracing_subscriber::fmt()
            .with_env_filter(filter())
            .with_writer(std::io::stderr)
            .with_ansi(std::io::stderr().is_terminal())
            .init(),
    }
}

/// Whether nobody but programs reads what is said.
pub(super) fn for_programs() -> bool {
    FOR_PROGRAMS.get().copied().unwrap_or(false)
}

/// Says what has to be said however little is logged.
pub(super) fn say(level: Level, message: &str, fields: &[(&str, Value)]) {
    let line = if for_programs() {
        let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        json::line(level, "toolgate", message, fields, Vec::new())
    } else {
        format!("{message}\n")
    };
    // In one piece, for programs that wait for it. If nobody can read it, nobody needs it.
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// Says that something is wrong.
pub(super) fn complain(level: Level, what: impl std::fmt::Display) {
    let by = if for_programs() { "" } else { "toolgate: " };
    say(level, &format!("{by}{what}"), &[]);
}

/// Says on standard error why the command failed.
pub(super) fn fail(code: u8, why: impl std::fmt::Display) -> ExitCode {
    complain(Level::ERROR, why);
    ExitCode::from(code)
}
