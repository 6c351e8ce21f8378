//! Reading a file in pieces until a page of it is full.

use std::io::{Read, Seek, SeekFrom};

use super::super::not_text;
use super::index::{LineIndex, Lines, Place};
use crate::model::error::ToolError;
use crate::model::path::WsPath;
use crate::model::version::{Version, VersionHasher};
use crate::text::encoding::{self, Encoding, Transcoder};
use crate::text::lines::{Flow, LineRange, Page, PageLimits, Pager};
use crate::tool::view::{TextRules, View};
use crate::workspace::{FileErrorKind, OpenFile};

/// Reads in pieces of this size; a file that fits into one is hashed as well.
const PIECE: usize = 256 * 1024;

/// How far past the page a file is read only to count its lines.
const COUNT_AHEAD: u64 = 256 * 1024 * 1024;

/// How many pieces lie between two notes of progress.
const PIECES_A_NOTE: u64 = 64;

/// The first or next bytes of a file.
pub(super) struct Piece {
    pub(super) bytes: Vec<u8>,
    /// Whether the file ends with it.
    pub(super) last: bool,
}

/// Reads up to [`PIECE`] bytes. The size that the system tells is only a hint: some files tell 0 (B073).
pub(super) fn read_piece(file: &mut OpenFile, path: &WsPath) -> Result<Piece, ToolError> {
    let expected = usize::try_from(file.stat.size).unwrap_or(PIECE).min(PIECE);
    next_piece(file, path, Vec::with_capacity(expected + 1))
}

/// Like [`read_piece`], into a buffer that is there already.
fn next_piece(file: &mut OpenFile, path: &WsPath, mut bytes: Vec<u8>) -> Result<Piece, ToolError> {
    (&mut file.content)
        .take(PIECE as u64)
        .read_to_end(&mut bytes)
        .map_err(|error| FileErrorKind::Io(error).at(path))?;
    let last = bytes.len() < PIECE;
    Ok(Piece { bytes, last })
}

/// Reads on from `head` until the page is full, then counts lines for a while so that the total is known. A file that is
/// as it was when it was read before is read from near the page, and not counted again.
///
/// The version of a long file is not worth its price, but where nothing else tells the file apart: it was changed a moment
/// ago, and what is read of it now would be worth nothing later.
pub(super) fn read_page(
    view: &View,
    path: &WsPath,
    mut file: OpenFile,
    head: Piece,
    range: LineRange,
    index: &LineIndex,
) -> Result<(Page, Option<Version>), ToolError> {
    let limits = view.limits();
    let limits = PageLimits { lines: limits.read_lines, bytes: limits.read_bytes };
    // Plain UTF-8 is shown as it is.
    let encoding = match view.text_rules() {
        TextRules::Exact => None,
        TextRules::Bridged => Some(encoding::detect(&head.bytes)).filter(|encoding| *encoding != Encoding::Utf8),
    };
    let identity = file.stat.identity;
    // Where characters have a state, the middle of a file cannot be read by itself.
    let plain = !matches!(encoding, Some(Encoding::Utf16Le | Encoding::Utf16Be));
    let indexed = identity.filter(|_| plain && !head.last);
    let known = indexed.and_then(|identity| index.look_up(path, identity));
    let mut reading = Reading {
        view,
        path,
        pager: Pager::new(range, limits),
        counts: known.is_none(),
        hasher: (identity.is_none() && !head.last).then(VersionHasher::default),
        version: head.last.then(|| Version::of(&head.bytes)),
        decoder: encoding.map(Transcoder::new),
        decoded: Vec::new(),
        done: 0,
        lines: known.clone().or_else(|| indexed.and_then(|_| Lines::of(file.stat.size))),
    };
    let begin = known.as_ref().and_then(|lines| lines.before(range.start));
    let mut piece = head;
    if let Some(Place { line, offset }) = begin.filter(|place| place.offset >= piece.bytes.len() as u64) {
        file.content.seek(SeekFrom::Start(offset)).map_err(|error| FileErrorKind::Io(error).at(path))?;
        piece.bytes.clear();
        piece = next_piece(&mut file, path, piece.bytes)?;
        (reading.pager, reading.done, reading.decoder) = (Pager::from_line(line, range, limits), offset, None);
    }
    let done = reading.read(file, piece)?;
    if let (Some(identity), Some(lines)) = (indexed, done.lines.filter(|lines| known.as_ref() != Some(lines))) {
        index.remember(path, identity, lines);
    }
    Ok((done.page, done.version))
}

/// A page that is being read.
struct Reading<'a> {
    view: &'a View,
    path: &'a WsPath,
    pager: Pager,
    /// Whether lines are counted behind the page.
    counts: bool,
    hasher: Option<VersionHasher>,
    version: Option<Version>,
    decoder: Option<Transcoder>,
    decoded: Vec<u8>,
    /// How many bytes of the file lie before the next piece.
    done: u64,
    /// Where lines begin.
    lines: Option<Lines>,
}

/// A page that was read, and what else was found out.
struct Done {
    page: Page,
    version: Option<Version>,
    lines: Option<Lines>,
}

impl Reading<'_> {
    fn read(mut self, mut file: OpenFile, mut piece: Piece) -> Result<Done, ToolError> {
        let mut full_after = None;
        for count in 1_u64.. {
            let flow = self.feed(&piece)?;
            if piece.last {
                return self.end();
            }
            if flow == Flow::Enough {
                let full_after = *full_after.get_or_insert(self.done);
                let ahead = file.stat.size.saturating_sub(full_after).max(self.done - full_after);
                if !self.counts || ahead > COUNT_AHEAD {
                    break;
                }
            }
            self.view.check_cancelled()?;
            if count.is_multiple_of(PIECES_A_NOTE) {
                self.view.progress(self.done as f64, Some(file.stat.size.max(self.done) as f64), Some("reading"));
            }
            piece.bytes.clear();
            piece = next_piece(&mut file, self.path, piece.bytes)?;
        }
        let mut page = self.pager.finish();
        page.total_lines = self.lines.as_ref().and_then(|lines| lines.total);
        Ok(Done { page, version: self.version, lines: self.lines })
    }

    fn feed(&mut self, piece: &Piece) -> Result<Flow, ToolError> {
        self.done += piece.bytes.len() as u64;
        if let Some(hasher) = &mut self.hasher {
            hasher.update(&piece.bytes);
        }
        let flow = match &mut self.decoder {
            None => self.pager.feed(&piece.bytes),
            Some(decoder) => {
                self.decoded.clear();
                let fed = decoder.feed(&piece.bytes, &mut self.decoded);
                fed.map_err(|fault| not_text(self.path, self.done, None, fault))?;
                self.pager.feed(&self.decoded)
            }
        };
        if let (Some(lines), Some(end)) = (&mut self.lines, memchr::memrchr(b'\n', &piece.bytes)) {
            let behind = (piece.bytes.len() - end - 1) as u64;
            lines.note(Place { line: self.pager.line_ends() + 1, offset: self.done - behind });
        }
        Ok(flow)
    }

    fn end(mut self) -> Result<Done, ToolError> {
        if let Some(decoder) = self.decoder {
            self.decoded.clear();
            decoder.finish(&mut self.decoded).map_err(|fault| not_text(self.path, self.done, None, fault))?;
            self.pager.feed(&self.decoded);
        }
        let page = self.pager.finish_at_end();
        if let Some(lines) = &mut self.lines {
            lines.total = page.total_lines;
        }
        let version = self.version.or_else(|| self.hasher.as_ref().map(VersionHasher::finish));
        Ok(Done { page, version, lines: self.lines })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::model::change::{Change, ChangeSet, Expect};
    use crate::tool::ask::NobodyToAsk;
    use crate::tool::view::{Door, Settings};
    use crate::workspace::memory::Memory;
    use crate::workspace::{NoJournal, Workspace};

    fn put(memory: &Memory, path: &WsPath, text: String) {
        let write = Change::Write { path: path.clone(), expect: Expect::Any, content: text.into() };
        memory.commit(&ChangeSet::new(vec![write]), &NoJournal).expect("a commit");
    }

    fn numbered(first: u64, last: u64) -> String {
        (first..=last).map(|n| format!("line {n} \u{65e5}\n")).collect()
    }

    #[test]
    fn later_visits_show_what_the_first_would_and_never_an_older_state() {
        let (memory, path) = (Memory::new(), WsPath::parse("f").expect("a path"));
        let door = Door { caller: "test".into(), asker: Arc::new(NobodyToAsk), log: None };
        let home = Arc::new(memory.clone());
        let view = View::new(home, Settings::served(), CancellationToken::new(), None, None, door);
        let index = LineIndex::default();
        let read = |start, end| {
            let mut file = memory.open(&path).expect("a file");
            let head = read_piece(&mut file, &path).expect("a piece");
            let range = LineRange { start, end: Some(end), offset: 0 };
            let page = read_page(&view, &path, file, head, range, &index).expect("a page").0;
            (String::from_utf8(page.text).expect("text"), page.total_lines)
        };
        for mark in ["", "\u{feff}"] {
            let lines = 200_000;
            put(&memory, &path, format!("{mark}{}", numbered(1, lines)));
            for first in [150_000, 1, 20_000, 149_999, 150_001, 199_990, 199_999, 2, 17_000] {
                let last = (first + 9).min(lines);
                let (text, total) = read(first, first + 9);
                assert_eq!(text, numbered(first, last), "{mark:?} {first}");
                assert_eq!(total, Some(lines), "{mark:?} {first}");
                let known = index.look_up(&path, memory.stat(&path).expect("a file").identity.expect("an identity"));
                assert!(known.is_some_and(|lines| lines.before(100_000).is_some()), "{mark:?} {first}");
            }
            assert_eq!(read(200_001, 200_002), (String::new(), Some(lines)), "{mark:?}");
            // Another state of the file is another file.
            put(&memory, &path, format!("{mark}one more\n{}", numbered(1, lines)));
            assert_eq!(read(150_001, 150_001), (numbered(150_000, 150_000), Some(lines + 1)), "{mark:?}");
        }
    }
}
