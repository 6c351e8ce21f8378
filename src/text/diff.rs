//! What changed between two texts, as a unified diff. A line ends at `\n` only.

use std::borrow::Cow;
use std::fmt::Write;

use memchr::memchr_iter;
use similar::udiff::UnifiedHunkHeader;
use similar::{Algorithm, ChangeTag, DiffOp, DiffTag, capture_diff_slices, group_diff_ops};

use crate::text::splice::{Apart, lines_apart};

/// The change from `old` to `new` as a unified diff with `context` lines around each part; empty if there is none.
///
/// ```
/// use toolgate::text::diff::unified;
/// let diff = unified("a.txt", "one\ntwo\n", "one\n2", 3);
/// assert_eq!(diff, "\
/// --- a/a.txt
/// +++ b/a.txt
/// @@ -1,2 +1,2 @@
///  one
/// -two
/// +2
/// \\ No newline at end of file
/// ");
/// ```
#[must_use]
pub fn unified(path: &str, old: &str, new: &str, context: usize) -> String {
    below(0, path, old, new, context)
}

/// [`unified`] of what differs in texts that may be long, and whether that is all of it: no more than `most` bytes of each
/// are compared, from the first line that differs on.
///
/// ```
/// use toolgate::text::diff::unified_start;
/// let (diff, whole) = unified_start("a.txt", "1\n2\n3\n4\n", "1\n2\n3\nx\n", 1, 100);
/// assert!(whole && diff.ends_with("@@ -3,2 +3,2 @@\n 3\n-4\n+x\n"), "{diff}");
/// let (diff, whole) = unified_start("a.txt", "", &"long\n".repeat(100), 1, 10);
/// assert!(!whole && diff.ends_with("@@ -0,0 +1,2 @@\n+long\n+long\n"), "{diff}");
/// ```
#[must_use]
pub fn unified_start(path: &str, old: &str, new: &str, context: usize, most: usize) -> (String, bool) {
    // Without what is the same at the end, so that cutting off makes no difference where there is none.
    let Apart { before, removed, added } = lines_apart(old.as_bytes(), new.as_bytes());
    let from = before.saturating_sub(context);
    let old = &old[line_start(old, from)..line_start(old, before + removed + context)];
    let new = &new[line_start(new, from)..line_start(new, before + added + context)];
    let whole = old == new || (old.len() <= most && new.len() <= most);
    (below(from, path, first_lines(old, most), first_lines(new, most), context), whole)
}

/// Where the line with that index begins, or else the end.
fn line_start(text: &str, index: usize) -> usize {
    let ended = |before: usize| memchr_iter(b'\n', text.as_bytes()).nth(before).map_or(text.len(), |end| end + 1);
    index.checked_sub(1).map_or(0, ended)
}

/// As many whole lines as `most` bytes hold; of a first line that is longer its beginning.
fn first_lines(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    let begun = &text[..text.floor_char_boundary(most)];
    begun.rfind('\n').map_or(begun, |end| &begun[..=end])
}

/// [`unified`] for texts whose first `above` lines, the same in both, are left out.
fn below(above: usize, path: &str, old: &str, new: &str, context: usize) -> String {
    if old == new {
        return String::new();
    }
    let (old, new) = (lines(old), lines(new));
    let ops = capture_diff_slices(Algorithm::Myers, &old, &new);
    let mut out = String::new();
    for (mark, side) in [("---", 'a'), ("+++", 'b')] {
        // Writing to a string does not fail.
        let _ = writeln!(out, "{mark} {}", quoted(&format!("{side}/{path}")));
    }
    for hunk in group_diff_ops(ops, context) {
        let counted: Vec<_> = hunk.iter().map(|op| moved(*op, above)).collect();
        let _ = writeln!(out, "{}", UnifiedHunkHeader::new(&counted));
        for change in hunk.iter().flat_map(|op| op.iter_changes(&old[..], &new[..])) {
            out.push(match change.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            });
            let line: &str = change.value();
            out.push_str(line);
            if !line.ends_with('\n') {
                out.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
    out
}

/// How many lines the change from `old` to `new` adds and removes.
///
/// ```
/// assert_eq!(toolgate::text::diff::summary("a\nb\n", "a\nc\nd\n"), (2, 1));
/// ```
#[must_use]
pub fn summary(old: &str, new: &str) -> (usize, usize) {
    let ops = capture_diff_slices(Algorithm::Myers, &lines(old), &lines(new));
    let changes = ops.iter().filter(|op| op.tag() != DiffTag::Equal);
    changes.fold((0, 0), |(added, removed), op: &DiffOp| (added + op.new_range().len(), removed + op.old_range().len()))
}

/// The same so many lines further down.
fn moved(op: DiffOp, by: usize) -> DiffOp {
    match op {
        DiffOp::Equal { old_index, new_index, len } => {
            DiffOp::Equal { old_index: old_index + by, new_index: new_index + by, len }
        }
        DiffOp::Delete { old_index, old_len, new_index } => {
            DiffOp::Delete { old_index: old_index + by, old_len, new_index: new_index + by }
        }
        DiffOp::Insert { old_index, new_index, new_len } => {
            DiffOp::Insert { old_index: old_index + by, new_index: new_index + by, new_len }
        }
        DiffOp::Replace { old_index, old_len, new_index, new_len } => {
            DiffOp::Replace { old_index: old_index + by, old_len, new_index: new_index + by, new_len }
        }
    }
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// A path that would break the header's line stands in quotes, as git writes it.
fn quoted(path: &str) -> Cow<'_, str> {
    if path.contains(|char: char| char.is_control() || char == '"' || char == '\\') {
        Cow::Owned(format!("{path:?}"))
    } else {
        Cow::Borrowed(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(old: &str, new: &str, context: usize) -> String {
        unified("f", old, new, context)
    }

    #[test]
    fn hunks_are_as_diff_writes_them() {
        let head = "--- a/f\n+++ b/f\n";
        let cases = [
            ("", "a\n", 3, "@@ -0,0 +1 @@\n+a\n"),
            ("a\n", "", 3, "@@ -1 +0,0 @@\n-a\n"),
            ("a\n", "b\n", 0, "@@ -1 +1 @@\n-a\n+b\n"),
            ("a\nb\nc\n", "a\nB\nc\n", 1, "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"),
            ("a\nb\nc\n", "a\nc\n", 0, "@@ -2 +1,0 @@\n-b\n"),
            ("a\nc\n", "a\nb\nc\n", 0, "@@ -1,0 +2 @@\n+b\n"),
            (
                "1\n2\n3\n4\n5\n6\n",
                "x\n2\n3\n4\n5\ny\n",
                1,
                "@@ -1,2 +1,2 @@\n-1\n+x\n 2\n@@ -5,2 +5,2 @@\n 5\n-6\n+y\n",
            ),
            ("a", "a\n", 3, "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"),
            ("a\nb", "x\nb", 3, "@@ -1,2 +1,2 @@\n-a\n+x\n b\n\\ No newline at end of file\n"),
            // Line endings are content, and only a line feed ends a line.
            ("a\r\n", "a\n", 3, "@@ -1 +1 @@\n-a\r\n+a\n"),
            ("a\rb\n", "a\rc\n", 3, "@@ -1 +1 @@\n-a\rb\n+a\rc\n"),
        ];
        for (old, new, context, right) in cases {
            assert_eq!(diff(old, new, context), format!("{head}{right}"), "{old:?} {new:?}");
        }
        assert_eq!(diff("a\n", "a\n", 3), "");
    }

    #[test]
    fn the_start_of_a_long_change_is_what_the_whole_begins_with() {
        let old: String = (0..200).map(|n| format!("line {n}\n")).collect();
        for (at, with) in [(0, "x\n"), (1, ""), (100, "x\ny\n"), (197, "x"), (199, "x")] {
            let line = format!("line {at}\n");
            let new = old.replacen(&line, with, 1);
            assert_eq!(unified_start("f", &old, &new, 3, 1000), (diff(&old, &new, 3), true), "{at} {with:?}");
        }
        let new = old.replace("line", "zeile");
        let (start, whole) = unified_start("f", &old, &new, 3, 100);
        assert!(!whole && start.contains("\n-line 0\n") && start.contains("\n+zeile 0\n"), "{start}");
        assert!(start.len() < 400 && !start.contains("No newline"), "{start}");
        let (start, whole) = unified_start("f", "", &"\u{e4}".repeat(100), 3, 11);
        assert!(!whole && start.contains("+\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}\n"), "{start}");
        assert_eq!(unified_start("f", &old, &old, 3, 10), (String::new(), true));
    }

    #[test]
    fn a_path_cannot_break_its_line() {
        assert!(unified("a\nb", "1", "2", 3).starts_with("--- \"a/a\\nb\"\n+++ \"b/a\\nb\"\n@@"));
        assert!(unified("a b/é", "1", "2", 3).starts_with("--- a/a b/é\n"));
    }

    #[test]
    fn lines_are_counted() {
        for (old, new, counts) in
            [("", "", (0, 0)), ("", "a\nb", (2, 0)), ("a\nb\n", "", (0, 2)), ("a\nb\nc\n", "a\nX\nY\nc\n", (2, 1))]
        {
            assert_eq!(summary(old, new), counts, "{old:?} {new:?}");
        }
    }
}
