//! Lines: counting, numbering, paging. A line ends at `\n` only; a `\r` before it belongs to the line's end.

mod number;
mod page;
mod pager;

use memchr::memchr_iter;

pub use number::number;
pub use page::{LineRange, Page, PageLimits, Resume};
pub use pager::{Flow, Pager};

fn line_ends(text: &[u8]) -> u64 {
    memchr_iter(b'\n', text).count() as u64
}

/// How many lines `text` has.
///
/// ```
/// use toolgate::text::lines::count;
/// assert_eq!([count(b""), count(b"a"), count(b"a\n"), count(b"a\nb")], [0, 1, 1, 2]);
/// ```
#[must_use]
pub fn count(text: &[u8]) -> u64 {
    let open = text.last().is_some_and(|&last| last != b'\n');
    line_ends(text) + u64::from(open)
}

/// The line, counted from 1, that the byte at `at` lies in; past the end it is the line that would go on there.
#[must_use]
pub fn line_of(text: &[u8], at: usize) -> u64 {
    line_ends(&text[..at.min(text.len())]) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_line_feed_ends_a_line() {
        for (text, lines) in [("", 0), ("a", 1), ("a\n", 1), ("a\nb", 2), ("\n\n", 2), ("a\rb\x0cc\u{2028}d\r\n", 1)] {
            assert_eq!(count(text.as_bytes()), lines, "{text:?}");
        }
    }

    #[test]
    fn the_line_of_an_offset() {
        for (at, line) in [(0, 1), (1, 1), (2, 2), (3, 2), (4, 3), (99, 3)] {
            assert_eq!(line_of(b"a\nb\n", at), line, "{at}");
        }
    }
}
