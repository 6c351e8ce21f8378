//! `toolgate log`: what was called, decided and changed, as cards that a person likes to read.

mod card;
mod gather;

use std::collections::VecDeque;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

use super::assembly::{Places, Recorded};
use super::print::{Out, Paint, printed};
use super::root::Placed;
use crate::code;
use crate::ledger::read::{self, Follow};
use crate::ledger::state::StateFolder;
use crate::model::event::Line;
use crate::tool::registry::Registry;
use crate::tools;
use card::Cards;
use gather::{Gather, Wanted};

/// How often it is looked for something new.
const LOOK: Duration = Duration::from_millis(200);

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    folder: Placed,
    /// Go on as more is recorded, until Ctrl-C.
    #[arg(long, short)]
    follow: bool,
    /// Print the events themselves, one JSON object a line.
    #[arg(long = "json", id = "as_json")]
    as_json: bool,
    /// Only of this session, or of those whose names begin so.
    #[arg(long)]
    session: Option<String>,
    /// Only calls of this tool.
    #[arg(long)]
    tool: Option<String>,
    /// Only of this caller, such as cli; mcp stands for every mcp:….
    #[arg(long)]
    caller: Option<String>,
    /// Only calls that have changed something.
    #[arg(long)]
    changes: bool,
    /// Only the last N calls.
    #[arg(long, value_name = "N")]
    last: Option<usize>,
    #[command(flatten)]
    places: Places,
}

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    printed(|out| show(arguments, out))
}

fn show(arguments: &Arguments, out: &mut Out) -> Result<ExitCode, Box<dyn std::error::Error>> {
    let recorded = Recorded::find(&arguments.folder.roots(), &arguments.places)?;
    let mut registry = Registry::new();
    tools::register(&mut registry)?;
    code::register_to_tell(&mut registry)?;
    let mut log = Log {
        gather: Gather::new(Wanted {
            session: arguments.session.clone(),
            tool: arguments.tool.clone(),
            caller: arguments.caller.clone(),
            changes: arguments.changes,
        }),
        cards: (!arguments.as_json).then(|| Cards::new(registry, Paint::for_stdout())),
        out,
    };
    if arguments.follow {
        log.follow(arguments, recorded)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut shown = 0;
    let mut any = false;
    if let Some(state) = &recorded.state {
        let lines = read::lines(state)?.inspect(|_| any = true);
        shown = log.past(lines, arguments.last)?;
    }
    if shown == 0 && !arguments.as_json {
        let nothing = if any {
            "nothing that was recorded is what you ask for: leave out an option to see more".to_owned()
        } else {
            recorded.nothing()
        };
        writeln!(log.out, "{nothing}")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A log on its way to standard output.
struct Log<'a> {
    gather: Gather,
    /// Nothing where the events themselves are printed.
    cards: Option<Cards>,
    out: &'a mut Out,
}

impl Log<'_> {
    /// Prints what was recorded so far, each call as a whole, and says how many groups of lines that were.
    fn past(&mut self, lines: impl Iterator<Item = io::Result<Line>>, last: Option<usize>) -> io::Result<usize> {
        let mut shown = 0;
        let mut waiting = VecDeque::new();
        for line in lines {
            let Some(group) = self.gather.whole(line?) else { continue };
            match last {
                None => {
                    self.print(&group)?;
                    shown += 1;
                }
                Some(last) => keep_last(&mut waiting, group, last),
            }
        }
        for group in self.gather.unfinished() {
            match last {
                None => waiting.push_back(group),
                Some(last) => keep_last(&mut waiting, group, last),
            }
        }
        shown += waiting.len();
        for group in &waiting {
            self.print(group)?;
            if let (Some(cards), true) = (&mut self.cards, gather::is_open(group)) {
                cards.open(self.out)?;
            }
        }
        Ok(shown)
    }

    /// Prints what was recorded so far, then everything as it is recorded.
    fn follow(&mut self, arguments: &Arguments, recorded: Recorded) -> Result<(), Box<dyn std::error::Error>> {
        let Recorded { folders, mut state, .. } = recorded;
        if state.is_none() && self.cards.is_some() {
            let _ = writeln!(io::stderr(), "toolgate: nothing is recorded yet; waiting for the first call");
        }
        let mut follow = Follow::from_the_beginning();
        if let Some(state) = &state {
            let past = follow.look(state)?;
            self.past(past.into_iter().map(Ok), arguments.last)?;
        }
        loop {
            self.out.flush()?;
            std::thread::sleep(LOOK);
            if state.is_none() {
                state = StateFolder::find(&folders, arguments.places.state.as_deref())?;
            }
            let Some(state) = &state else { continue };
            for line in follow.look(state)? {
                if let Some(group) = self.gather.at_once(line) {
                    self.print(&group)?;
                }
            }
        }
    }

    fn print(&mut self, group: &[Line]) -> io::Result<()> {
        match &mut self.cards {
            Some(cards) => group.iter().try_for_each(|line| cards.print(line, self.out)),
            None => group.iter().try_for_each(|line| {
                serde_json::to_writer(&mut *self.out, line)?;
                self.out.write_all(b"\n")
            }),
        }
    }
}

fn keep_last(waiting: &mut VecDeque<Vec<Line>>, group: Vec<Line>, most: usize) {
    waiting.push_back(group);
    while waiting.len() > most {
        waiting.pop_front();
    }
}
