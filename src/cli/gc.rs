//! `toolgate gc`: lets go of kept bytes, changes and logs that are too old or too much.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use jiff::Timestamp;

use super::assembly::{Assembly, Places, Recorded, retention};
use super::print::{Out, printed, size};
use super::root::Placed;
use crate::ledger::read::session_names;
use crate::ledger::{Filter, Ledger, LedgerError, Limits, Status, Swept, Total};
use crate::text::counted::counted;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    folder: Placed,
    /// Only say what would go.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    places: Places,
}

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    printed(|out| sweep(arguments, out))
}

fn sweep(arguments: &Arguments, out: &mut Out) -> Result<ExitCode, Box<dyn std::error::Error>> {
    let recorded = Recorded::find(&arguments.folder.roots(), &arguments.places)?;
    let Some(state) = &recorded.state else {
        writeln!(out, "{}", recorded.nothing())?;
        return Ok(ExitCode::SUCCESS);
    };
    let Assembly { config, ledger, .. } = Assembly::open(&arguments.folder.roots(), &arguments.places, false)?;
    let limits = retention(&config);
    if arguments.dry_run {
        let swept = ledger.foresee_sweep()?;
        let changes = old_changes(&ledger, limits)?;
        tell("would go", &swept, changes, None, out)?;
    } else {
        let (changes, logs) = (changes(&ledger)?, session_names(state)?.len());
        let swept = ledger.sweep()?;
        let gone = changes.saturating_sub(self::changes(&ledger)?);
        let logs = logs.saturating_sub(session_names(state)?.len());
        tell("went", &swept, gone, Some(logs), out)?;
    }
    rule(limits, state.path(), out)?;
    Ok(ExitCode::SUCCESS)
}

fn changes(ledger: &Ledger) -> Result<usize, LedgerError> {
    Ok(ledger.changes(&Filter::default())?.len())
}

/// How many changes are over and too old.
fn old_changes(ledger: &Ledger, limits: Limits) -> Result<usize, LedgerError> {
    let days = i64::try_from(limits.older_than.as_secs()).unwrap_or(i64::MAX);
    let before = Timestamp::from_second(Timestamp::now().as_second().saturating_sub(days)).unwrap_or(Timestamp::MIN);
    let all = ledger.changes(&Filter::default())?;
    Ok(all.iter().filter(|record| record.status != Status::Intent && record.time < before).count())
}

fn tell(
    what: &str,
    Swept { gone, left }: &Swept,
    changes: usize,
    logs: Option<usize>,
    out: &mut impl Write,
) -> std::io::Result<()> {
    let versions =
        |total: &Total| format!("{} ({})", counted(total.count, "kept version", "kept versions"), size(total.bytes));
    let changes = counted(changes, "change", "changes");
    let logs = match logs {
        Some(logs) => format!(" and {}", counted(logs, "session log", "session logs")),
        None => String::new(),
    };
    writeln!(out, "{}, {changes}{logs} {what}; {} left", versions(gone), versions(left))
}

fn rule(limits: Limits, state: &Path, out: &mut impl Write) -> std::io::Result<()> {
    writeln!(
        out,
        "What is older than {} goes, and the oldest beyond {}: [retention] in toolgate.toml says so. All of it is in {}",
        counted(limits.older_than.as_secs() / (24 * 60 * 60), "day", "days"),
        size(limits.max_bytes),
        state.display()
    )
}
