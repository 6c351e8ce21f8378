//! `toolgate call`: one tool on real files, from a shell.

use std::io::{self, ErrorKind, IsTerminal, Read, Write};
use std::process::ExitCode;

use serde_json::json;
use tracing::Level;

use super::assembly::{Assembly, Places};
use super::logs::complain;
use super::root::Roots;
use super::wait::wait_for;
use super::{ask, fail};
use crate::dispatch::{Completed, Control};
use crate::gate::command_hook::end_all;
use crate::model::call::{Call, Caller};
use crate::model::error::ToolError;
use crate::model::json::{JsonFault, parse_strict};

/// Exit code of a call that the tool could not do.
const TOOL_ERROR: u8 = 1;

/// Exit code of a call that could not be made.
const NO_CALL: u8 = 2;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The tool, such as read_file; `toolgate tools` lists them.
    tool: String,
    /// Its arguments as a JSON object. `-`: from standard input. Left out: {}.
    json: Option<String>,
    #[command(flatten)]
    roots: Roots,
    #[command(flatten)]
    places: Places,
    /// Print the outcome as JSON instead of the text that a model sees.
    #[arg(long = "json", id = "as_json")]
    as_json: bool,
}

/// What was given is not what a tool is called with.
#[derive(Debug, thiserror::Error)]
#[error("the arguments cannot be read: {0}; give an object such as '{{\"path\": \"src/main.rs\"}}'")]
pub(super) struct NotArguments(pub(super) JsonFault);

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    match outcome(arguments) {
        Ok(completed) => match print(arguments, &completed) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                fail(NO_CALL, format_args!("the outcome cannot be printed: {error}"))
            }
            _ if completed.outcome.is_ok() => ExitCode::SUCCESS,
            _ => ExitCode::from(TOOL_ERROR),
        },
        Err(error) => fail(NO_CALL, error),
    }
}

fn outcome(arguments: &Arguments) -> Result<Completed, Box<dyn std::error::Error>> {
    let text = match arguments.json.as_deref() {
        None => "{}".to_owned(),
        Some("-") => {
            let mut text = String::new();
            io::stdin().read_to_string(&mut text)?;
            text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text)
        }
        Some(text) => text.to_owned(),
    };
    let assembly = Assembly::open(&arguments.roots, &arguments.places, false)?;
    let call = Call { tool: arguments.tool.clone(), arguments: Ok(parse_strict(&text).map_err(NotArguments)?) };
    let control = Control { approver: ask::whoever_is_there(), ..Control::default() };
    let outcome = wait_for(assembly.dispatcher.dispatch(call, &Caller::CommandLine, control));
    end_all();
    let outcome = outcome??;
    if let Err(error) = assembly.ledger.flush() {
        // What could be changed was recorded before; that something was looked at is not worth the answer.
        complain(Level::WARN, error);
    }
    Ok(outcome)
}

fn print(arguments: &Arguments, completed: &Completed) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if arguments.as_json {
        writeln!(out, "{}", as_json(&arguments.tool, completed))?;
        return out.flush();
    }
    match &completed.outcome {
        Ok(output) => {
            let observation = completed.observation(output);
            out.write_all(observation.as_bytes())?;
            if out.is_terminal() && !observation.ends_with('\n') {
                out.write_all(b"\n")?;
            }
            out.flush()?;
            completed.notes().iter().try_for_each(|note| writeln!(io::stderr(), "{note}"))
        }
        Err(error) => writeln!(io::stderr(), "{}", error.told()),
    }
}

fn as_json(tool: &str, completed: &Completed) -> serde_json::Value {
    match &completed.outcome {
        Ok(output) => json!({
            "status": "ok",
            "tool": tool,
            "observation": completed.observation(output),
            "notes": completed.notes(),
            "change": completed.change,
            "output": output.structured().ok(),
        }),
        Err(ToolError { code, message, details, .. }) => {
            json!({"status": "error", "tool": tool, "error": code, "message": message, "details": details})
        }
    }
}
