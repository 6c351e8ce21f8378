//! What is asked of a text by lines, and what is given.

/// Which lines are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineRange {
    /// The first line, counted from 1.
    pub start: u64,
    /// The last line, itself included; nothing is the end of the text.
    pub end: Option<u64>,
    /// How many bytes of the first line to skip. It stops short of the line's `\n`, and of the middle of a character.
    pub offset: u64,
}

impl LineRange {
    /// All lines.
    pub const ALL: LineRange = LineRange { start: 1, end: None, offset: 0 };
}

/// How much a page holds at most.
///
/// A page always gets on: less than one line counts as one, less than four bytes (a character) as four.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageLimits {
    /// Lines.
    pub lines: u64,
    /// Bytes.
    pub bytes: usize,
}

/// Where the next page begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resume {
    /// The line.
    pub line: u64,
    /// How many bytes of that line have been given already.
    pub offset: u64,
}

/// Part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Page {
    /// The bytes, line ends as they are.
    pub text: Vec<u8>,
    /// The line that `text` begins in.
    pub first_line: u64,
    /// How many bytes of the first line were skipped.
    pub first_offset: u64,
    /// The last line of which something is in `text`; `first_line - 1` if nothing is.
    pub last_line: u64,
    /// Where to go on, if the page is cut short; nothing if the range is answered whole.
    pub next: Option<Resume>,
    /// Whether the cut lies inside a line.
    pub clipped: bool,
    /// How many lines the whole text has, if its end was seen.
    pub total_lines: Option<u64>,
}
