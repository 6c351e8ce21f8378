//! `toolgate stats`: calls, errors and times, from what was recorded.

use std::io::{self, Write};
use std::process::ExitCode;

use super::assembly::{Places, Recorded};
use super::print::{Out, Paint, Tone, printed, span};
use super::root::Placed;
use crate::ledger::read::{self, Stats, ToolStats};
use crate::text::counted::counted;
use crate::text::harmless;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    folder: Placed,
    /// Print all figures as JSON.
    #[arg(long = "json", id = "as_json")]
    as_json: bool,
    #[command(flatten)]
    places: Places,
}

/// So many letters of a name are shown.
const NAME: usize = 40;

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    printed(|out| figures(arguments, out))
}

fn figures(arguments: &Arguments, out: &mut Out) -> Result<ExitCode, Box<dyn std::error::Error>> {
    let recorded = Recorded::find(&arguments.folder.roots(), &arguments.places)?;
    let stats = match &recorded.state {
        Some(state) => read::stats(read::lines(state)?)?,
        None => Stats::default(),
    };
    if arguments.as_json {
        writeln!(out, "{}", serde_json::to_string_pretty(&stats)?)?;
    } else if stats.calls == 0 {
        writeln!(out, "{}", recorded.nothing())?;
    } else {
        tell(&stats, Paint::for_stdout(), out)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn tell(stats: &Stats, paint: Paint, out: &mut impl Write) -> io::Result<()> {
    let unanswered = stats.calls.saturating_sub(stats.answered);
    let errors: u64 = stats.errors.values().sum();
    let mut parts = vec![counted(stats.calls, "call", "calls"), counted(stats.changes, "change", "changes")];
    parts.push(counted(errors, "error", "errors"));
    parts.push(counted(stats.denials, "denial", "denials"));
    if unanswered > 0 {
        parts.push(format!("{unanswered} without an answer"));
    }
    writeln!(out, "{}\n", paint.text(Tone::Strong, &parts.join(", ")))?;
    tools(stats, paint, out)?;
    if !stats.errors.is_empty() {
        writeln!(out, "\n{}", paint.text(Tone::Dim, "error                      times"))?;
        let mut codes: Vec<_> = stats.errors.iter().collect();
        codes.sort_by_key(|(code, times)| (std::cmp::Reverse(**times), (*code).clone()));
        for (code, times) in codes {
            writeln!(out, "{:<24} {times:>7}", harmless::line(code, NAME))?;
        }
    }
    variants(stats, paint, out)
}

fn tools(stats: &Stats, paint: Paint, out: &mut impl Write) -> io::Result<()> {
    let head = format!("{:<24} {:>7} {:>7} {:>9} {:>9}", "tool", "calls", "errors", "p50", "p95");
    writeln!(out, "{}", paint.text(Tone::Dim, &head))?;
    for (tool, ToolStats { calls, errors, p50, p95, .. }) in &stats.tools {
        let (tool, p50, p95) = (harmless::line(tool, NAME), span(*p50), span(*p95));
        writeln!(out, "{tool:<24} {calls:>7} {errors:>7} {p50:>9} {p95:>9}")?;
    }
    Ok(())
}

/// Of tools whose description had more than one wording, or another than the built-in one.
fn variants(stats: &Stats, paint: Paint, out: &mut impl Write) -> io::Result<()> {
    let mut head = Some(format!("\n{:<24} {:<24} {:>7} {:>7}", "tool", "description", "calls", "errors"));
    for (tool, wordings) in stats.variants.iter().filter(|(_, wordings)| wordings.keys().ne(["built-in"])) {
        if let Some(head) = head.take() {
            writeln!(out, "{}", paint.text(Tone::Dim, &head))?;
        }
        for (variant, figures) in wordings {
            let errors: u64 = figures.errors.values().sum();
            let (tool, variant) = (harmless::line(tool, NAME), harmless::line(variant, NAME));
            writeln!(out, "{tool:<24} {variant:<24} {:>7} {errors:>7}", figures.calls)?;
        }
    }
    Ok(())
}
