//! One line of an answer: exact where it is short, cut around the match where it is long.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

/// A line that matches, or stands near one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Row {
    /// Its number.
    pub line: u64,
    /// Its text without the line end. Bytes that are not UTF-8 stand as `\xNN`.
    pub text: String,
    /// Whether it matches.
    #[serde(rename = "type")]
    pub kind: RowKind,
    /// Whether it is only a part of the line.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

/// Why a line is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RowKind {
    Match,
    Context,
}

impl Row {
    /// A row of at most `most` bytes of `line`, around the byte `at`.
    pub(super) fn new(number: u64, line: &[u8], kind: RowKind, at: usize, most: usize) -> Self {
        if line.len() <= most {
            return Row { line: number, text: text(line), kind, cut: false };
        }
        // A quarter of what is shown lies before the match.
        let begin = at.saturating_sub(most / 4).min(line.len() - most);
        let end = begin + most;
        let (from, to) = (boundary(line, begin), if end < line.len() { boundary(line, end) } else { end });
        let (before, after) = (if from > 0 { "\u{2026}" } else { "" }, if to < line.len() { "\u{2026}" } else { "" });
        Row { line: number, text: format!("{before}{}{after}", text(&line[from..to])), kind, cut: true }
    }

    /// How many bytes it takes in an answer, about.
    pub(super) fn size(&self) -> usize {
        self.text.len() + 8
    }
}

/// The next place from `at` downwards where a character begins.
fn boundary(line: &[u8], at: usize) -> usize {
    let inside = |at: usize| line.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    (at.saturating_sub(3)..=at).rev().find(|at| !inside(*at)).unwrap_or(at)
}

fn text(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            // Writing to a string cannot fail.
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}

/// Keeps the first rows with at most `matches` matching lines in at most `bytes` bytes, and says how many match.
pub(super) fn first(rows: &mut Vec<Row>, matches: usize, bytes: usize) -> usize {
    let (mut matched, mut size) = (0, 0);
    let mut keep = 0;
    for row in rows.iter() {
        size += row.size();
        let more = usize::from(row.kind == RowKind::Match);
        if matched + more > matches || size > bytes {
            break;
        }
        matched += more;
        keep += 1;
    }
    // What leads up to a match that is not shown says nothing.
    let mut own = rows[..keep].iter().rposition(|row| row.kind == RowKind::Match).map_or(0, |last| last + 1);
    while own > 0 && own < keep && rows[own].line == rows[own - 1].line + 1 {
        own += 1;
    }
    rows.truncate(own);
    matched
}

/// Writes rows as `N: text`, context as `N- text`, with `--` where lines are left out between them.
pub(super) fn write_rows(text: &mut String, rows: &[Row]) {
    let context = rows.iter().any(|row| row.kind == RowKind::Context);
    let mut next = None;
    for row in rows {
        if context && next.is_some_and(|next| next != row.line) {
            text.push_str("--\n");
        }
        let sign = if row.kind == RowKind::Match { ':' } else { '-' };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}{sign} {}", row.line, row.text);
        next = Some(row.line + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_cut_around_the_match_between_characters() {
        let line = "\u{65e5}".repeat(1000);
        for at in 0..line.len() {
            let row = Row::new(1, line.as_bytes(), RowKind::Match, at, 100);
            assert!(row.cut && row.text.len() <= 109, "{at}: {}", row.text.len());
            assert!(row.text.chars().all(|c| matches!(c, '\u{65e5}' | '\u{2026}')), "{at}: {}", row.text);
            assert_eq!(
                (row.text.starts_with('\u{2026}'), row.text.ends_with('\u{2026}')),
                (at > 27, at < 2925),
                "{at}"
            );
        }
    }

    #[test]
    fn a_short_line_is_exact_and_odd_bytes_show() {
        let row = Row::new(3, b"a\xff\tb\r", RowKind::Match, 0, 100);
        assert_eq!((row.text.as_str(), row.cut), ("a\\xff\tb\r", false));
    }

    #[test]
    fn only_whole_rows_are_kept() {
        let row = |line, kind| Row { line, text: "12345678".to_owned(), kind, cut: false };
        let (hit, near) = (RowKind::Match, RowKind::Context);
        let all = vec![row(1, near), row(2, hit), row(3, near), row(5, near), row(6, hit), row(7, near)];
        for (matches, bytes, lines, matched) in [
            (9, 999, &[1, 2, 3, 5, 6, 7][..], 2),
            (1, 999, &[1, 2, 3], 1),
            (9, 50, &[1, 2, 3], 1),
            (9, 20, &[], 0),
            (0, 999, &[], 0),
        ] {
            let mut rows = all.clone();
            assert_eq!(first(&mut rows, matches, bytes), matched, "{matches} {bytes}");
            assert_eq!(rows.iter().map(|row| row.line).collect::<Vec<_>>(), lines, "{matches} {bytes}");
        }
    }
}
