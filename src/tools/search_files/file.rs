//! Searching one file: small ones in one piece, large ones as they are read, never more of one in memory than a line.

use std::io::{self, Read};

use grep_matcher::{LineTerminator, Matcher};
use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkMatch};

use super::row::{Row, RowKind};
use crate::tool::view::View;
use crate::tools::walking::Ticker;
use crate::workspace::{Body, FileErrorKind};

/// A file up to this size is searched in one piece.
const PIECE: usize = 256 * 1024;

/// A longer line is not searched: it would have to be held in memory.
pub(super) const MOST_LINE_BYTES: usize = 16 * 1024 * 1024;

/// What is wanted of each file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    /// Whether the first match is enough.
    pub(super) first_only: bool,
    /// Whether lines are numbered and kept.
    pub(super) lines: bool,
    /// Lines before and after each match.
    pub(super) context: usize,
    /// At most so many matching lines are kept of one file.
    pub(super) room: usize,
    /// At most so many bytes are shown of a line.
    pub(super) line_bytes: usize,
    /// Files are text whatever is in them, and every byte is shown.
    pub(super) exact: bool,
}

/// What was found in a file.
#[derive(Debug, Default)]
pub(super) struct Hits {
    pub(super) matched: u64,
    pub(super) rows: Vec<Row>,
    pub(super) binary: bool,
    /// A line is too long, and what is behind it was not searched.
    pub(super) overlong: bool,
}

/// What one thread needs to search files, used again for each.
pub(super) struct Scratch {
    searcher: Searcher,
    piece: Vec<u8>,
}

impl Scratch {
    pub(super) fn new(wanted: &Wanted) -> Self {
        let binary = if wanted.exact { BinaryDetection::none() } else { BinaryDetection::quit(0) };
        let end = if wanted.exact { LineTerminator::byte(b'\n') } else { LineTerminator::crlf() };
        let searcher = SearcherBuilder::new()
            .line_terminator(end)
            .line_number(wanted.lines)
            .before_context(wanted.context)
            .after_context(wanted.context)
            .binary_detection(binary)
            .bom_sniffing(!wanted.exact)
            .heap_limit(Some(MOST_LINE_BYTES))
            .max_matches(wanted.first_only.then_some(1))
            .build();
        Scratch { searcher, piece: vec![0; PIECE] }
    }

    /// Searches one file.
    pub(super) fn search(
        &mut self,
        matcher: &RegexMatcher,
        wanted: &Wanted,
        mut body: Body,
        watch: &Watch<'_>,
    ) -> Result<Hits, FileErrorKind> {
        let mut collect = Collect { matcher, wanted, hits: Hits::default() };
        let (read, whole) = fill(&mut self.piece, &mut body)?;
        let piece = &self.piece[..read];
        let utf16 = matches!(piece, [0xff, 0xfe, ..] | [0xfe, 0xff, ..]);
        if !wanted.exact && !utf16 && memchr::memchr(0, piece).is_some() {
            return Ok(Hits { binary: true, ..Hits::default() });
        }
        let mut failed = None;
        let searched = if whole {
            self.searcher.search_slice(matcher, piece, &mut collect)
        } else {
            let rest = Watched { content: body.content, watch, failed: &mut failed };
            self.searcher.search_reader(matcher, piece.chain(rest), &mut collect)
        };
        let mut hits = collect.hits;
        match (searched, failed) {
            (_, Some(error)) => return Err(error.into()),
            // Nothing else fails here but the bound on what is held.
            (Err(_), None) => hits.overlong = true,
            (Ok(()), None) => {}
        }
        if hits.binary {
            hits = Hits { binary: true, ..Hits::default() };
        }
        Ok(hits)
    }
}

/// Reads the first piece, and tells whether that is all there is.
fn fill(piece: &mut [u8], body: &mut Body) -> Result<(usize, bool), FileErrorKind> {
    let told = usize::try_from(body.size).unwrap_or(usize::MAX);
    let mut read = 0;
    while read < piece.len() {
        match body.content.read(&mut piece[read..]) {
            Ok(0) => return Ok((read, true)),
            Ok(more) => read += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
        // As long as the system says; one call less for nearly every file. Some files tell 0 and hold more.
        if read == told {
            return Ok((read, true));
        }
    }
    Ok((read, false))
}

/// Whoever wants to know that a large file is being read, or wants it to end.
pub(super) struct Watch<'a> {
    pub(super) view: &'a View,
    pub(super) ticker: &'a Ticker<'a>,
}

struct Watched<'a> {
    content: Box<dyn Read + Send>,
    watch: &'a Watch<'a>,
    failed: &'a mut Option<io::Error>,
}

impl Read for Watched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.watch.ticker.tick();
        let taken_back = self.watch.view.check_cancelled().map_err(|_| io::Error::other("taken back"));
        taken_back.and_then(|()| self.content.read(buffer)).inspect_err(|error| {
            if error.kind() != io::ErrorKind::Interrupted {
                *self.failed = Some(io::Error::new(error.kind(), error.to_string()));
            }
        })
    }
}

struct Collect<'a> {
    matcher: &'a RegexMatcher,
    wanted: &'a Wanted,
    hits: Hits,
}

impl Collect<'_> {
    fn row(&self, number: Option<u64>, bytes: &[u8], kind: RowKind) -> Row {
        let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let line = if self.wanted.exact { line } else { line.strip_suffix(b"\r").unwrap_or(line) };
        let at = if line.len() > self.wanted.line_bytes && kind == RowKind::Match {
            self.matcher.find(line).ok().flatten().map_or(0, |found| found.start())
        } else {
            0
        };
        Row::new(number.unwrap_or(0), line, kind, at, self.wanted.line_bytes)
    }

    fn has_room(&self) -> bool {
        self.hits.matched <= self.wanted.room as u64
    }
}

impl Sink for Collect<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.hits.matched += 1;
        if self.wanted.lines && self.has_room() {
            let row = self.row(found.line_number(), found.bytes(), RowKind::Match);
            self.hits.rows.push(row);
        }
        Ok(!self.wanted.first_only)
    }

    fn context(&mut self, _: &Searcher, near: &SinkContext<'_>) -> io::Result<bool> {
        // What leads up to a match that there is no room for is dropped later.
        if self.wanted.lines && self.has_room() && *near.kind() != SinkContextKind::Other {
            let row = self.row(near.line_number(), near.bytes(), RowKind::Context);
            self.hits.rows.push(row);
        }
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> io::Result<bool> {
        self.hits.binary = true;
        Ok(false)
    }
}
