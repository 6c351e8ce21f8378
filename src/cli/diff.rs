//! `toolgate diff`: what a change did, from the bytes that are kept.

mod sides;

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

use bytes::Bytes;

use super::assembly::{Places, Recorded};
use super::print::{Out, Paint, Tone, local, printed, size};
use super::root::{self, Roots};
use crate::ledger::state::StateFolder;
use crate::ledger::{ChangeRecord, ChangedStep, Filter, Ledger, LedgerError, Options, Status};
use crate::model::event::{FsAction, FsStep};
use crate::model::id::ChangeId;
use crate::model::world::RealWorld;
use crate::text::encoding::decode;
use crate::text::{diff, harmless};
use sides::Side;
pub(super) use sides::Sides;

/// Unchanged lines around each part.
const CONTEXT: usize = 3;

/// So much of a line is shown.
const LINE: usize = 5_000;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The change, as `toolgate log` shows it, or a run of a program with all that it changed. Left out: the newest.
    change: Option<ChangeId>,
    /// Show what happened to its files since, instead.
    #[arg(long)]
    now: bool,
    #[command(flatten)]
    roots: Roots,
    #[command(flatten)]
    places: Places,
}

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    printed(|out| show(arguments, out))
}

fn show(arguments: &Arguments, out: &mut Out) -> Result<ExitCode, Box<dyn std::error::Error>> {
    let Recorded { local, folders, state } = Recorded::find(&arguments.roots, &arguments.places)?;
    let Some(state) = state else {
        return Err(format!("nothing is recorded for {}, so there is no change to show", root::shown(&folders)).into());
    };
    let home = arguments.places.state.as_deref();
    let ledger = Ledger::open(StateFolder::open(&folders, home)?, Options::default(), Arc::new(RealWorld))?;
    let records = match arguments.change {
        Some(name) => ledger.named(name)?,
        None => vec![newest(&ledger)?],
    };
    let paint = Paint::for_stdout();
    // As they happened.
    for record in records.iter().rev() {
        let sides = Sides::of(record, &local, &ledger, &state)?;
        writeln!(out, "{}", paint.text(Tone::Dim, &headline(record)))?;
        for step in &record.steps {
            let (before, after) = if arguments.now { sides.since(step)? } else { sides.change(step)? };
            step_shown(step, &before, &after, paint, out)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn newest(ledger: &Ledger) -> Result<ChangeRecord, Box<dyn std::error::Error>> {
    let happened = |record: &ChangeRecord| record.status == Status::Done;
    let newest = ledger.changes(&Filter::default())?.into_iter().find(happened);
    newest.ok_or_else(|| "no change is recorded that has happened, so there is none to show".into())
}

/// Which change it is, on one line.
pub(super) fn headline(record: &ChangeRecord) -> String {
    let mut line = format!(
        "change {} · {} by {} · {}",
        record.change,
        harmless::line(&record.tool, 60),
        harmless::line(&record.caller, 60),
        local(record.time, "%Y-%m-%d %H:%M:%S")
    );
    if let Some(undoes) = record.undoes() {
        line.push_str(&format!(" · undoes {undoes}"));
    }
    match (record.status, record.undone_by) {
        (_, Some(by)) => line.push_str(&format!(" · undone by {by}")),
        (Status::Void, _) => line.push_str(" · has not happened"),
        (Status::Intent, _) => line.push_str(" · not finished"),
        (Status::Done, None) => {}
    }
    line
}

fn step_shown(
    ChangedStep { step, .. }: &ChangedStep,
    before: &Side,
    after: &Side,
    paint: Paint,
    out: &mut impl Write,
) -> io::Result<()> {
    let path = harmless::line(&step.path, LINE);
    match step.action {
        FsAction::MakeDir => return writeln!(out, "folder made: {path}"),
        FsAction::RemoveDir => return writeln!(out, "folder removed: {path}"),
        FsAction::Move => return writeln!(out, "moved: {} → {path}", moved_from(step)),
        FsAction::Remove => return writeln!(out, "deleted whole: {path}"),
        FsAction::Restore => return writeln!(out, "restored whole: {path}"),
        FsAction::Write | FsAction::Delete => {}
    }
    let (before, after) = match (before, after) {
        (Side::Lost(why), _) | (_, Side::Lost(why)) => return writeln!(out, "{path}: {why}"),
        (Side::Absent, Side::Absent) => return writeln!(out, "{path}: was not there, and is not there"),
        (Side::Absent, Side::Bytes(after)) => {
            writeln!(out, "{}", paint.text(Tone::Strong, &format!("created: {path}")))?;
            (Bytes::new(), after.clone())
        }
        (Side::Bytes(before), Side::Absent) => {
            writeln!(out, "{}", paint.text(Tone::Strong, &format!("removed: {path}")))?;
            (before.clone(), Bytes::new())
        }
        (Side::Bytes(before), Side::Bytes(after)) => (before.clone(), after.clone()),
    };
    let (Ok(old), Ok(new)) = (decode(&before), decode(&after)) else {
        return writeln!(
            out,
            "{path}: not text: {} before, {} after",
            size(before.len() as u64),
            size(after.len() as u64)
        );
    };
    if before == after {
        return writeln!(out, "{path}: no difference");
    }
    if old.text == new.text {
        return writeln!(out, "{path}: the same text in another encoding");
    }
    coloured(&diff::unified(&step.path, &old.text, &new.text, CONTEXT), paint, out)
}

fn moved_from(step: &FsStep) -> String {
    harmless::line(step.from.as_deref().unwrap_or_default(), LINE)
}

/// A diff for a terminal; where it goes to a program, every byte of it stays as it is.
fn coloured(diff: &str, paint: Paint, out: &mut impl Write) -> io::Result<()> {
    if !paint.is_for_people() {
        return out.write_all(diff.as_bytes());
    }
    for (number, line) in diff.split_terminator('\n').enumerate() {
        let tone = match line.as_bytes().first() {
            _ if number < 2 => Tone::Strong,
            Some(b'+') => Tone::Good,
            Some(b'-') => Tone::Bad,
            Some(b'@') => Tone::Place,
            Some(b'\\') => Tone::Dim,
            _ => Tone::Plain,
        };
        writeln!(out, "{}", paint.text(tone, &harmless::text(line, LINE)))?;
    }
    Ok(())
}

/// What the change has done to each of its files, a line each: `src/a.rs  +1 −1`.
pub(super) fn summary(record: &ChangeRecord, sides: &Sides<'_>) -> Result<Vec<String>, LedgerError> {
    record.steps.iter().map(|step| Ok(summed_up(step, &sides.change(step)?))).collect()
}

fn summed_up(ChangedStep { step, .. }: &ChangedStep, (before, after): &(Side, Side)) -> String {
    let text = |side: &Side| match side {
        Side::Bytes(bytes) => decode(bytes).map(|decoded| decoded.text.into_owned()).ok(),
        Side::Absent => Some(String::new()),
        Side::Lost(_) => None,
    };
    let what = match (step.action, before) {
        (FsAction::MakeDir, _) => "  folder made",
        (FsAction::RemoveDir, _) => "  folder removed",
        (FsAction::Move, _) => return format!("{} → {}", moved_from(step), harmless::line(&step.path, LINE)),
        (FsAction::Remove, _) => return format!("{}  deleted whole", harmless::line(&step.path, LINE)),
        (FsAction::Restore, _) => return format!("{}  restored whole", harmless::line(&step.path, LINE)),
        (FsAction::Delete, _) => "  removed",
        (FsAction::Write, Side::Absent) => "  created",
        (FsAction::Write, _) => "",
    };
    let mut line = format!("{}{what}", harmless::line(&step.path, LINE));
    if let (Some(old), Some(new)) = (text(before), text(after))
        && old != new
    {
        let (added, removed) = diff::summary(&old, &new);
        line.push_str(&format!("  +{added} −{removed}"));
    }
    line
}
