//! `toolgate undo`: takes changes back, whoever made them, through the gate like every other call.

use std::io::Write;
use std::process::ExitCode;

use serde_json::json;

use super::ask;
use super::assembly::{Assembly, Places, Recorded};
use super::diff::{Sides, headline, summary};
use super::fail;
use super::print::{Out, Paint, Tone, printed};
use super::root::{Roots, shell_word};
use super::wait::wait_for;
use crate::dispatch::{Completed, Control};
use crate::gate::command_hook::end_all;
use crate::ledger::ChangeRecord;
use crate::model::call::{Call, Caller};
use crate::model::error::{ErrorCode, ToolError};
use crate::model::id::ChangeId;
use crate::text::harmless;

const TOOL: &str = "undo_change";

/// So much of a message is shown.
const MESSAGE: usize = 2_000;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The change, as `toolgate log` shows it, or a run of a program with all that it changed; an undo can be undone,
    /// too. Left out: the newest that stands.
    change: Option<ChangeId>,
    /// Take back so many changes, the newest first.
    #[arg(long, value_name = "N", conflicts_with = "change")]
    last: Option<std::num::NonZeroU32>,
    #[command(flatten)]
    roots: Roots,
    #[command(flatten)]
    places: Places,
}

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    printed(|out| {
        let done = undo(arguments, out);
        end_all();
        done
    })
}

fn undo(arguments: &Arguments, out: &mut Out) -> Result<ExitCode, Box<dyn std::error::Error>> {
    let recorded = Recorded::find(&arguments.roots, &arguments.places)?;
    if recorded.state.is_none() {
        return Err(format!("there is nothing to undo: {}", recorded.nothing()).into());
    }
    let assembly = Assembly::open(&arguments.roots, &arguments.places, false)?;
    let undoing = Undoing { asked: arguments, recorded, assembly, paint: Paint::for_stdout() };
    let code = match arguments.change {
        Some(name) => undoing.one(name, &undoing.assembly.ledger.named(name)?, out)?,
        None => undoing.newest(arguments.last.map_or(1, std::num::NonZeroU32::get), out)?,
    };
    undoing.assembly.ledger.flush()?;
    Ok(code)
}

struct Undoing<'a> {
    asked: &'a Arguments,
    recorded: Recorded,
    assembly: Assembly,
    paint: Paint,
}

impl Undoing<'_> {
    /// The newest changes of anybody; each one is looked for when those after it are taken back.
    fn newest(&self, number: u32, out: &mut Out) -> Result<ExitCode, Box<dyn std::error::Error>> {
        for done in 0..number {
            let Some(record) = self.assembly.ledger.latest(None)? else {
                if done == 0 {
                    return Err(
                        "there is nothing to undo: no change stands that is no undo itself. To redo one, undo its \
                                undo by name; `toolgate log --changes` lists them"
                            .into(),
                    );
                }
                writeln!(out, "No other change stands.")?;
                break;
            };
            let name = record.as_one().unwrap_or(record.change);
            let code = self.one(name, &self.assembly.ledger.named(name)?, out)?;
            if code != ExitCode::SUCCESS {
                return Ok(code);
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Takes back one change, or all changes of a run; `name` is whose.
    fn one(
        &self,
        name: ChangeId,
        records: &[ChangeRecord],
        out: &mut Out,
    ) -> Result<ExitCode, Box<dyn std::error::Error>> {
        for record in records {
            self.show(record, out)?;
        }
        // Seen before it is done, also where doing it takes long.
        out.flush()?;
        let Completed { outcome, change, .. } = self.call(name)?;
        match outcome {
            Ok(output) => {
                for note in output.notes() {
                    writeln!(out, "  {}", harmless::line(&note, MESSAGE))?;
                }
                let redo = change.map(|id| format!("; to redo it: {}", self.command("undo", id))).unwrap_or_default();
                writeln!(out, "{} undone{redo}", self.paint.text(Tone::Good, "✓"))?;
                Ok(ExitCode::SUCCESS)
            }
            Err(error) => {
                out.flush()?;
                Ok(self.refused(name, &error))
            }
        }
    }

    fn show(&self, record: &ChangeRecord, out: &mut Out) -> Result<(), Box<dyn std::error::Error>> {
        writeln!(out, "{}", headline(record))?;
        if let Some(state) = &self.recorded.state {
            let sides = Sides::of(record, &self.recorded.local, &self.assembly.ledger, state)?;
            for line in summary(record, &sides)? {
                writeln!(out, "  {line}")?;
            }
        }
        Ok(())
    }

    fn call(&self, change: ChangeId) -> Result<Completed, Box<dyn std::error::Error>> {
        let call = Call { tool: TOOL.to_owned(), arguments: Ok(json!({"change": change.to_string()})) };
        let control = Control { approver: ask::whoever_is_there(), ..Control::default() };
        Ok(wait_for(self.assembly.dispatcher.dispatch(call, &Caller::CommandLine, control))??)
    }

    fn refused(&self, name: ChangeId, error: &ToolError) -> ExitCode {
        let path = error.details.get("path").and_then(|path| path.as_str());
        match (error.code, path) {
            (ErrorCode::StaleVersion, Some(path)) => fail(
                1,
                format_args!(
                    "not undone: {} has changed since, and nothing was touched. See what happened to it: {}",
                    harmless::line(path, MESSAGE),
                    self.command("diff --now", name)
                ),
            ),
            _ => fail(1, format_args!("not undone: {}", harmless::line(&error.told(), MESSAGE))),
        }
    }

    /// A command that means the same folders as this one.
    fn command(&self, words: &str, change: ChangeId) -> String {
        let mut command = format!("toolgate {words} {change}{}", self.asked.roots.words());
        if let Some(state) = &self.asked.places.state {
            command.push_str(&format!(" --state {}", shell_word(&state.display().to_string())));
        }
        command
    }
}
