//! `toolgate trust`: lets everything in a repository's toolgate.toml count, as it is now.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use super::ask;
use super::assembly::{Places, trust_file};
use super::print::{Out, Paint, Tone, printed};
use super::root::Placed;
use crate::config::Proposal;
use crate::text::harmless;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    folder: Placed,
    /// Do not ask.
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    places: Places,
}

/// So much of a line is shown; a file is told in full.
const LINE: usize = 2_000;

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    printed(|out| offer(arguments, out))
}

fn offer(arguments: &Arguments, out: &mut Out) -> Result<ExitCode, Box<dyn std::error::Error>> {
    let local = arguments.folder.roots().open()?;
    let [folder] = &local.folders()[..] else {
        return Err("name the one folder whose toolgate.toml is to be trusted".into());
    };
    let trust = trust_file(&arguments.places)
        .ok_or("there is no folder to remember it in: set HOME, or name one with --state DIR")?;
    let proposal = Proposal::read(&folder.path)?;
    show(&proposal, Paint::for_stdout(), out)?;
    if proposal.is_trusted(&trust)? {
        writeln!(out, "This is trusted already; there is nothing to do.")?;
        return Ok(ExitCode::SUCCESS);
    }
    if !arguments.yes && !agrees(out)? {
        writeln!(out, "Not trusted; nothing is changed.")?;
        return Ok(ExitCode::from(1));
    }
    proposal.accept(&trust)?;
    writeln!(
        out,
        "Trusted as it is now. If the file changes, what is not stricter stops counting until you trust it again."
    )?;
    Ok(ExitCode::SUCCESS)
}

fn show(proposal: &Proposal, paint: Paint, out: &mut Out) -> io::Result<()> {
    writeln!(out, "{}\n", paint.text(Tone::Strong, &harmless::line(&proposal.path.display().to_string(), LINE)))?;
    for line in proposal.content.lines() {
        writeln!(out, "  {}", harmless::text(line, LINE))?;
    }
    let counts: Vec<_> = proposal.counts.iter().filter_map(|line| line.strip_prefix("left out: ")).collect();
    if counts.is_empty() {
        return writeln!(out, "\nAll of this counts without being trusted: it only makes things stricter.");
    }
    writeln!(out, "\nBy trusting it these count, besides what only makes things stricter:")?;
    counts
        .iter()
        .try_for_each(|line| writeln!(out, "  {} {}", paint.text(Tone::Careful, "+"), harmless::line(line, LINE)))?;
    writeln!(out, "Hooks are programs: they run as you, outside of every limit that toolgate sets.\n")
}

/// Asks where there is somebody to ask.
fn agrees(out: &mut Out) -> Result<bool, Box<dyn std::error::Error>> {
    if !io::stdin().is_terminal() {
        return Err("there is nobody to ask here: look at what is shown, and say --yes if it is what you want".into());
    }
    out.flush()?;
    Ok(ask::yes("Trust this file?")?)
}
