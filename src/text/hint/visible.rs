//! Two lines side by side, with what cannot be seen made visible.

use crate::text::hint::skeleton::has_no_width;

/// The first line in which two texts differ.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LineDifference {
    /// Which line of the texts it is, counted from 1.
    pub line: u64,
    /// How it stands in the first, made [`visible`].
    pub old: String,
    /// How it stands in the second, made [`visible`].
    pub actual: String,
}

/// The first line in which `old` and `actual` differ; nothing where they are equal.
///
/// ```
/// use toolgate::text::hint::first_difference;
/// let found = first_difference("a\n  b\n", "a\n\tb\r\n").expect("a difference");
/// assert_eq!((found.line, &*found.old, &*found.actual), (2, "··b", "→b␍"));
/// ```
#[must_use]
pub fn first_difference(old: &str, actual: &str) -> Option<LineDifference> {
    let (mut ours, mut theirs) = (old.split('\n'), actual.split('\n'));
    let mut line = 1;
    loop {
        match (ours.next(), theirs.next()) {
            (None, None) => return None,
            (our, their) if our == their => line += 1,
            (our, their) => {
                let shown = |side: Option<&str>| side.map(clipped).unwrap_or_default();
                return Some(LineDifference { line, old: shown(our), actual: shown(their) });
            }
        }
    }
}

fn clipped(line: &str) -> String {
    /// Longer lines are of no help.
    const SHOWN: usize = 400;
    let head = head(line, SHOWN);
    let mut shown = visible(head);
    if head.len() < line.len() {
        shown.push('…');
    }
    shown
}

/// `line` with `→` for a tab, `␍` for a carriage return, `·` for blanks at its start, its end and next to another,
/// and `<U+00A0>` and the like for what else cannot be seen.
#[must_use]
pub fn visible(line: &str) -> String {
    let chars: Vec<char> = line.chars().collect();
    let content = |char: &char| !matches!(char, ' ' | '\t' | '\r' | '\n');
    let first = chars.iter().position(content).unwrap_or(chars.len());
    let last = chars.iter().rposition(content).unwrap_or(0);
    let mut shown = String::with_capacity(line.len());
    for (at, &char) in chars.iter().enumerate() {
        match char {
            ' ' => {
                let single = at > first && at < last && chars[at - 1] != ' ' && chars[at + 1] != ' ';
                shown.push(if single { ' ' } else { '·' });
            }
            '\t' => shown.push('→'),
            '\r' => shown.push('␍'),
            '\n' => shown.push('\n'),
            char if char.is_control() || char.is_whitespace() || has_no_width(char) || is_mark(char) => {
                shown.push_str(&format!("<U+{:04X}>", u32::from(char)));
            }
            char => shown.push(char),
        }
    }
    shown
}

/// The first `most` bytes of `text`, less what would cut a character.
pub(super) fn head(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Combining marks, which tell a decomposed character from a composed one.
fn is_mark(char: char) -> bool {
    matches!(char, '\u{0300}'..='\u{036F}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_shown() {
        let cases = [
            ("a b", "a b"),
            ("  a", "··a"),
            ("a  b ", "a··b·"),
            ("\ta\t", "→a→"),
            ("a \r", "a·␍"),
            (" ", "·"),
            ("", ""),
            ("a\u{a0}b\u{200b}", "a<U+00A0>b<U+200B>"),
            ("e\u{301}", "e<U+0301>"),
            ("\u{7}\u{1b}[1m", "<U+0007><U+001B>[1m"),
            ("日本 é", "日本 é"),
        ];
        for (line, shown) in cases {
            assert_eq!(visible(line), shown, "{line:?}");
        }
    }

    #[test]
    fn the_first_line_that_differs() {
        let cases = [
            ("a", "a", None),
            ("a\nb", "a\nc", Some((2, "b", "c"))),
            ("a\n", "a", Some((2, "", ""))),
            ("a\nb", "a\r\nb", Some((1, "a", "a␍"))),
            ("a", "a\n  ", Some((2, "", "··"))),
        ];
        for (old, actual, right) in cases {
            let found = first_difference(old, actual);
            let found = found.as_ref().map(|found| (found.line, &*found.old, &*found.actual));
            assert_eq!(found, right, "{old:?} {actual:?}");
        }
        let long = first_difference(&"日".repeat(300), "x").expect("a difference");
        assert_eq!(long.old, "日".repeat(133) + "…");
    }
}
