//! One search over everything below a folder.

use std::sync::{Mutex, PoisonError};

use grep_regex::RegexMatcher;

use super::file::{Hits, Scratch, Wanted, Watch};
use super::pattern::{Reading, matcher};
use super::{Args, Show};
use crate::model::error::ToolError;
use crate::model::path::WsPath;
use crate::text::glob::Glob;
use crate::tool::view::{Seen, Strolled, TextRules, View};
use crate::tools::walking::{First, Rank, Ticker, glob};
use crate::workspace::{FileErrorKind, Flow, Kind, Unreadable};

/// What is searched for, and in which files.
pub(super) struct Asked {
    matcher: RegexMatcher,
    glob: Option<Glob>,
    include_ignored: bool,
    wanted: Wanted,
}

/// What came of a search.
pub(super) struct Tally {
    pub(super) kept: First<Hits>,
    pub(super) lines_matched: u64,
    pub(super) files_matched: u64,
    pub(super) searched: u64,
    pub(super) binary: u64,
    pub(super) overlong: u64,
    pub(super) unreadable: Unreadable,
    pub(super) strolled: Strolled,
}

impl Asked {
    pub(super) fn new(view: &View, args: &Args) -> Result<Self, ToolError> {
        let limits = view.limits();
        let lines = args.show() == Show::Lines;
        let room = if lines { limits.found_lines } else { limits.found_paths };
        let exact = view.text_rules() == TextRules::Exact;
        let wanted = Wanted {
            first_only: args.show() == Show::Files,
            lines,
            context: if lines { args.context_lines.unwrap_or(0) as usize } else { 0 },
            room: args.limit.map_or(room, |limit| usize::try_from(limit).unwrap_or(usize::MAX)),
            line_bytes: limits.found_line_bytes,
            exact,
        };
        let reading = Reading {
            literal: args.literal.unwrap_or(false),
            ignore_case: args.ignore_case.unwrap_or(false),
            crlf: !exact,
        };
        Ok(Asked {
            matcher: matcher(&args.pattern, reading)?,
            glob: args.glob.as_deref().map(|text| glob("glob", text)).transpose()?,
            include_ignored: args.include_ignored.unwrap_or(false),
            wanted,
        })
    }

    /// The same search for the pattern as plain text, that only counts.
    pub(super) fn counting_literally(view: &View, args: &Args) -> Result<Self, ToolError> {
        let asked = Asked::new(view, args)?;
        let reading =
            Reading { literal: true, ignore_case: args.ignore_case.unwrap_or(false), crlf: !asked.wanted.exact };
        let wanted = Wanted { first_only: false, lines: false, context: 0, room: 0, ..asked.wanted };
        Ok(Asked { matcher: matcher(&args.pattern, reading)?, wanted, ..asked })
    }

    /// Searches `path` and everything below.
    pub(super) fn run(&self, view: &View, path: &WsPath) -> Result<Tally, ToolError> {
        let ticker = Ticker::new(view, "searching");
        let search = Search {
            asked: self,
            watch: Watch { view, ticker: &ticker },
            idle: Mutex::default(),
            tally: Mutex::new(self.nothing()),
        };
        let strolled = view.walk(path, self.include_ignored, &|seen| search.visit(seen))?;
        let tally = search.tally.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Tally { strolled, ..tally })
    }

    fn nothing(&self) -> Tally {
        Tally {
            kept: First::new(self.wanted.room),
            lines_matched: 0,
            files_matched: 0,
            searched: 0,
            binary: 0,
            overlong: 0,
            unreadable: Unreadable::default(),
            strolled: Strolled::default(),
        }
    }
}

/// A search at work, shared by the threads of a walk.
struct Search<'a> {
    asked: &'a Asked,
    watch: Watch<'a>,
    /// What threads search with, while they do not.
    idle: Mutex<Vec<Scratch>>,
    tally: Mutex<Tally>,
}

impl Search<'_> {
    fn visit(&self, seen: &Seen<'_>) -> Flow {
        let found = seen.found;
        let glob = self.asked.glob.as_ref();
        match found.kind {
            Kind::Dir if glob.is_some_and(|glob| glob.takes_out(found.below)) => return Flow::Past,
            Kind::File if glob.is_none_or(|glob| glob.hits(found.below, false)) => {}
            Kind::File | Kind::Dir | Kind::Link | Kind::Other => return Flow::On,
        }
        self.watch.ticker.tick();
        let searched = found.open().and_then(|body| {
            let mut scratch = self.scratch();
            let hits = scratch.search(&self.asked.matcher, &self.asked.wanted, body, &self.watch);
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(scratch);
            hits
        });
        self.add(seen, searched);
        Flow::On
    }

    fn scratch(&self) -> Scratch {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.unwrap_or_else(|| Scratch::new(&self.asked.wanted))
    }

    fn add(&self, seen: &Seen<'_>, searched: Result<Hits, FileErrorKind>) {
        // The path is made before the others have to wait.
        let rank = match &searched {
            Ok(hits) if hits.matched > 0 => Some(Rank::of(seen.path())),
            _ => None,
        };
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        match searched {
            Ok(hits) if hits.binary => tally.binary += 1,
            Ok(hits) => {
                tally.searched += 1;
                tally.overlong += u64::from(hits.overlong);
                tally.lines_matched += hits.matched;
                if let Some(rank) = rank {
                    tally.files_matched += 1;
                    let weight =
                        if self.asked.wanted.lines { hits.matched.min(self.asked.wanted.room as u64) } else { 1 };
                    if tally.kept.wants(&rank) {
                        tally.kept.add(rank, usize::try_from(weight).unwrap_or(usize::MAX), hits);
                    }
                }
            }
            // Gone meanwhile, or something else is there now.
            Err(FileErrorKind::NotFound | FileErrorKind::NotAFile) => {}
            Err(_) => tally.unreadable.add(&seen.path()),
        }
    }
}
