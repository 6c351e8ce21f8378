//! `toolgate check`: what would be decided about a call, and by whom.

use std::io::Write;
use std::process::ExitCode;

use super::assembly::{Places, judging};
use super::call::NotArguments;
use super::fail;
use super::print::{Paint, Tone, printed};
use super::root::Roots;
use crate::dispatch::Foreseen;
use crate::gate::rules::Decision;
use crate::gate::{Ground, Verdict};
use crate::model::call::{Call, Caller};
use crate::model::json::parse_strict;
use crate::text::harmless;

/// Exit code of a call that may not run.
const DENIED: u8 = 1;

/// Exit code of what is no call.
const NO_CALL: u8 = 2;

/// Exit code of a call that a person would be asked about.
const ASKED: u8 = 3;

/// So much of a reason is shown.
const REASON: usize = 400;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The tool, such as write_file; `toolgate tools` lists them.
    tool: String,
    /// Its arguments as a JSON object.
    #[arg(default_value = "{}")]
    json: String,
    #[command(flatten)]
    roots: Roots,
    /// Who would call: `mcp` for a client of `toolgate serve`, `cli` for `toolgate call`.
    #[arg(long, value_enum, default_value_t = Who::Mcp)]
    caller: Who,
    #[command(flatten)]
    places: Places,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Who {
    Mcp,
    Cli,
}

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    match foresee(arguments) {
        Ok(foreseen) => printed(|out| tell(&foreseen, Paint::for_stdout(), out)),
        Err(error) => fail(NO_CALL, error),
    }
}

fn foresee(arguments: &Arguments) -> Result<Foreseen, Box<dyn std::error::Error>> {
    let given = parse_strict(&arguments.json).map_err(NotArguments)?;
    let dispatcher = judging(&arguments.roots, &arguments.places)?;
    let caller = match arguments.caller {
        Who::Mcp => Caller::Mcp { principal: "local".into() },
        Who::Cli => Caller::CommandLine,
    };
    let call = Call { tool: arguments.tool.clone(), arguments: Ok(given) };
    let foreseen = dispatcher.foresee(call, &caller)?;
    Ok(foreseen.map_err(|error| error.told())?)
}

fn tell(foreseen: &Foreseen, paint: Paint, out: &mut impl Write) -> std::io::Result<ExitCode> {
    let (code, tone, word, ground) = match &foreseen.verdict {
        Verdict::Allow => (0, Tone::Good, "allow", None),
        Verdict::Deny(ground) => (DENIED, Tone::Bad, "deny", Some(ground)),
        Verdict::Ask(ground) => (ASKED, Tone::Careful, "ask", Some(ground)),
    };
    write!(out, "{}", paint.text(tone, word))?;
    match ground {
        Some(Ground { by, reason }) => {
            writeln!(out, ": {} says: {}", harmless::line(by, REASON), harmless::line(reason, REASON))?;
        }
        None if foreseen.rules.is_empty() => writeln!(out, ": no rule forbids it")?,
        None => writeln!(out)?,
    }
    for path in &foreseen.paths {
        let path = if path.is_empty() { "." } else { path };
        writeln!(out, "  path  {}", harmless::line(path, REASON))?;
    }
    for (at, decision) in &foreseen.rules {
        let word = match decision {
            Decision::Allow => "allows",
            Decision::Ask => "asks",
            Decision::Deny => "denies",
        };
        writeln!(out, "  rule  at {} {word}", harmless::line(at, REASON))?;
    }
    if code != DENIED {
        for hook in &foreseen.hooks {
            writeln!(out, "  hook  {} would be asked, and may be stricter", harmless::line(hook, REASON))?;
        }
    }
    Ok(ExitCode::from(code))
}
