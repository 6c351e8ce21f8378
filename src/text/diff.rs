//! What changed between two texts, as a unified diff. A line ends at `\n` only.

use std::borrow::Cow;
use std::fmt::Write;

use similar::udiff::UnifiedHunkHeader;
use similar::{Algorithm, ChangeTag, DiffOp, DiffTag, capture_diff_slices, group_diff_ops};

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
        let _ = writeln!(out, "{}", UnifiedHunkHeader::new(&hunk));
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
