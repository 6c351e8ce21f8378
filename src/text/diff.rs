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
