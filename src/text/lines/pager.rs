//! Cutting a page out of a text that comes in chunks.

use memchr::{memchr, memchr_iter, memrchr};

use crate::text::lines::{LineRange, Page, PageLimits, Resume, line_ends};

/// Whether a [`Pager`] wants more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// The page is not complete yet.
    More,
    /// The page is complete. What is fed from here on is only counted.
    Enough,
}

/// Cuts a page out of a text that comes in chunks; holds no more than the page.
///
/// ```
/// use toolgate::text::lines::{Flow, LineRange, PageLimits, Pager, Resume};
/// let range = LineRange { start: 2, end: None, offset: 0 };
/// let mut pager = Pager::new(range, PageLimits { lines: 1, bytes: 1000 });
/// assert_eq!(pager.feed(b"one\ntw"), Flow::More);
/// assert_eq!(pager.feed(b"o\nthree\n"), Flow::Enough);
/// let page = pager.finish_at_end();
/// assert_eq!(page.text, b"two\n");
/// assert_eq!(page.next, Some(Resume { line: 3, offset: 0 }));
/// assert_eq!(page.total_lines, Some(3));
/// ```
#[derive(Debug)]
pub struct Pager {
    range: LineRange,
    limits: PageLimits,
    stage: Stage,
    /// Line ends seen; until the page is complete, the line at hand is the one after these.
    ends: u64,
    /// Whether the last line seen has no end yet.
    open: bool,
    text: Vec<u8>,
    /// Where in `text` the line at hand begins.
    line_start: usize,
    first_offset: u64,
    /// The last bytes skipped within the first line, to step back to the start of a character.
    skipped: Vec<u8>,
    last_line: u64,
    next: Option<Resume>,
    clipped: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Before the first line.
    Lines,
    /// In the first line, with so many bytes still to skip.
    Bytes(u64),
    /// In the page.
    Page,
    /// After it.
    Done,
}

impl Pager {
    /// A pager for `range`, within `limits`.
    #[must_use]
    pub fn new(range: LineRange, limits: PageLimits) -> Self {
        let range = LineRange { start: range.start.max(1), ..range };
        let limits = PageLimits { lines: limits.lines.max(1), bytes: limits.bytes.max(4) };
        let stage = match range.end {
            Some(end) if end < range.start => Stage::Done,
            _ if range.start == 1 => Stage::Bytes(range.offset),
            _ => Stage::Lines,
        };
        Pager {
            range,
            limits,
            stage,
            ends: 0,
            open: false,
            text: Vec::new(),
            line_start: 0,
            first_offset: 0,
            skipped: Vec::new(),
            last_line: range.start - 1,
            next: None,
            clipped: false,
        }
    }

    /// A pager for `range` whose text is fed from the start of `line` on, which is not behind the range's start.
    #[must_use]
    pub fn from_line(line: u64, range: LineRange, limits: PageLimits) -> Self {
        let pager = Pager::new(range, limits);
        let ends = line.saturating_sub(1).min(pager.range.start - 1);
        let stage = match pager.stage {
            Stage::Lines if ends == pager.range.start - 1 => Stage::Bytes(pager.range.offset),
            stage => stage,
        };
        Pager { ends, stage, ..pager }
    }

    /// How many line ends lie before what is fed next.
    #[must_use]
    pub fn line_ends(&self) -> u64 {
        self.ends
    }

    /// Takes the next chunk of the text.
    pub fn feed(&mut self, mut chunk: &[u8]) -> Flow {
        if let Some(&last) = chunk.last() {
            self.open = last != b'\n';
        }
        while !chunk.is_empty() {
            let used = match self.stage {
                Stage::Lines => self.skip_lines(chunk),
                Stage::Bytes(left) => self.skip_bytes(chunk, left),
                Stage::Page => self.take(chunk),
                Stage::Done => {
                    self.ends += line_ends(chunk);
                    chunk.len()
                }
            };
            chunk = &chunk[used..];
        }
        if self.stage == Stage::Done { Flow::Enough } else { Flow::More }
    }

    /// The page, where the text may go on after what was fed. Before [`Flow::Enough`] that is a page cut short.
    #[must_use]
    pub fn finish(mut self) -> Page {
        if self.stage != Stage::Done {
            self.cut();
        }
        self.page(None)
    }

    /// The page, where all of the text was fed.
    #[must_use]
    pub fn finish_at_end(mut self) -> Page {
        let mut total = self.ends;
        if self.open {
            total += 1;
        }
        if self.stage == Stage::Page {
            self.last_line = self.line_at_hand();
        }
        self.page(Some(total))
    }

    fn page(self, total_lines: Option<u64>) -> Page {
        Page {
            text: self.text,
            first_line: self.range.start,
            first_offset: self.first_offset,
            last_line: self.last_line,
            next: self.next,
            clipped: self.clipped,
            total_lines,
        }
    }

    fn skip_lines(&mut self, chunk: &[u8]) -> usize {
        /// Counting a block is many times faster than visiting its line ends.
        const BLOCK: usize = 16 * 1024;
        let mut used = 0;
        for block in chunk.chunks(BLOCK) {
            let wanted = self.range.start - 1 - self.ends;
            let ends = line_ends(block);
            if ends < wanted {
                self.ends += ends;
                used += block.len();
                continue;
            }
            self.ends += wanted;
            self.stage = Stage::Bytes(self.range.offset);
            // `wanted` fits: it is no more than the ends in a block.
            let last = memchr_iter(b'\n', block).nth(wanted as usize - 1);
            return used + last.map_or(block.len(), |at| at + 1);
        }
        used
    }

    fn skip_bytes(&mut self, chunk: &[u8], left: u64) -> usize {
        if left == 0 {
            self.step_back(chunk[0]);
            self.stage = Stage::Page;
            return 0;
        }
        let most = usize::try_from(left).map_or(chunk.len(), |left| left.min(chunk.len()));
        let line_end = memchr(b'\n', &chunk[..most]);
        let used = line_end.unwrap_or(most);
        self.first_offset += used as u64;
        self.skipped.extend_from_slice(&chunk[used.saturating_sub(3)..used]);
        self.skipped.drain(..self.skipped.len().saturating_sub(3));
        self.stage = Stage::Bytes(if line_end.is_some() { 0 } else { left - used as u64 });
        used
    }

    /// Where `next` goes on with a character that began in what was skipped, the page begins with that character.
    fn step_back(&mut self, next: u8) {
        let whole = whole_chars(&self.skipped);
        if is_continuation(next) {
            self.text.extend_from_slice(&self.skipped[whole..]);
            self.first_offset -= (self.skipped.len() - whole) as u64;
        }
        self.skipped = Vec::new();
    }

    fn take(&mut self, chunk: &[u8]) -> usize {
        let taken = self.ends - (self.range.start - 1);
        let room = self.limits.bytes - self.text.len();
        if taken == self.limits.lines || room == 0 {
            self.cut();
            return 0;
        }
        let window = &chunk[..room.min(chunk.len())];
        let range_lines = self.range.end.map_or(u64::MAX, |end| end - (self.range.start - 1));
        let wanted = range_lines.min(self.limits.lines) - taken;
        // Counting is many times faster than visiting, and most pages hold all that there is.
        let found = line_ends(window).min(wanted);
        let last = if found < wanted {
            memrchr(b'\n', window)
        } else {
            // `wanted` fits: it is no more than the ends in a window.
            memchr_iter(b'\n', window).nth(wanted as usize - 1)
        };
        let whole = last.map_or(0, |at| at + 1);
        let used = if found == wanted { whole } else { window.len() };
        if whole > 0 {
            self.line_start = self.text.len() + whole;
        }
        self.text.extend_from_slice(&window[..used]);
        self.ends += found;
        if self.range.end == Some(self.ends) {
            self.stage = Stage::Done;
            self.last_line = self.ends;
        }
        used
    }

    /// Ends the page here, since more follows: before the line at hand, or inside it where it is the first.
    fn cut(&mut self) {
        let LineRange { start, offset, .. } = self.range;
        self.next = Some(Resume { line: start, offset });
        if self.stage == Stage::Page {
            if self.line_start > 0 && self.text.len() == self.limits.bytes {
                self.text.truncate(self.line_start);
            }
            self.text.truncate(whole_chars(&self.text));
            let skipped = if self.ends + 1 == start { self.first_offset } else { 0 };
            let given = (self.text.len() - self.line_start) as u64;
            self.next = Some(Resume { line: self.ends + 1, offset: skipped + given });
            self.clipped = given > 0;
            self.last_line = self.line_at_hand();
        }
        self.stage = Stage::Done;
    }

    /// The last line of which something is in the page.
    fn line_at_hand(&self) -> u64 {
        self.ends + u64::from(self.text.len() > self.line_start)
    }
}

fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

/// How much of `text` is left without a character that is cut off at its end.
fn whole_chars(text: &[u8]) -> usize {
    for back in 1..=text.len().min(3) {
        let at = text.len() - back;
        let wants = match text[at] {
            byte if is_continuation(byte) => continue,
            0xC2..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF4 => 4,
            _ => 1,
        };
        return if wants > back { at } else { text.len() };
    }
    text.len()
}

#[cfg(test)]
mod tests;
