//! Putting new bytes in place of spans: everything outside the spans stays.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memchr_iter, memrchr};

use crate::text::find::Eol;

/// What is to be written over `span`.
///
/// With [`Eol::Bridged`], each bare `\n` of `new` takes the ending that its counterpart in the span has, the last one
/// for all further ones. Where the span has none it is that of the line the span lies in, else of the line before.
///
/// ```
/// use toolgate::text::find::Eol;
/// use toolgate::text::splice::replacement_for;
/// let text = b"a\r\nb\r\n";
/// assert_eq!(replacement_for(text, &(0..3), b"a\na2\n", Eol::Bridged), &b"a\r\na2\r\n"[..]);
/// ```
#[must_use]
pub fn replacement_for<'new>(haystack: &[u8], span: &Range<usize>, new: &'new [u8], eol: Eol) -> Cow<'new, [u8]> {
    if eol == Eol::Exact || memchr(b'\n', new).is_none() {
        return Cow::Borrowed(new);
    }
    let mut model = memchr_iter(b'\n', &haystack[span.clone()]).map(|at| ends_in_cr(&haystack[..span.start + at]));
    let mut with_cr = false;
    let mut surroundings = Some(span);
    let mut out = Vec::new();
    let mut from = 0;
    for at in memchr_iter(b'\n', new) {
        match (model.next(), surroundings.take()) {
            (Some(ending), _) => with_cr = ending,
            (None, Some(span)) => with_cr = surrounding_ending(haystack, span),
            (None, None) => {}
        }
        if with_cr && !ends_in_cr(&new[..at]) {
            out.extend_from_slice(&new[from..at]);
            out.push(b'\r');
            from = at;
        }
    }
    if from == 0 && out.is_empty() {
        return Cow::Borrowed(new);
    }
    out.extend_from_slice(&new[from..]);
    Cow::Owned(out)
}

/// Whether the line that `span` lies in ends in `\r\n`; for a last line without an end, whether the one before does.
fn surrounding_ending(haystack: &[u8], span: &Range<usize>) -> bool {
    let after = memchr(b'\n', &haystack[span.end..]).map(|at| span.end + at);
    let line_end = after.or_else(|| memrchr(b'\n', &haystack[..span.start]));
    line_end.is_some_and(|at| ends_in_cr(&haystack[..at]))
}

fn ends_in_cr(text: &[u8]) -> bool {
    text.last() == Some(&b'\r')
}

/// `haystack` with each span replaced.
///
/// # Panics
/// If the spans are not in order, overlap, or leave the haystack.
///
/// ```
/// use toolgate::text::splice::splice;
/// assert_eq!(splice(b"one two", &[(0..3, b"1".into()), (4..7, b"2".into())]), b"1 2");
/// ```
#[must_use]
pub fn splice(haystack: &[u8], edits: &[(Range<usize>, Cow<'_, [u8]>)]) -> Vec<u8> {
    let gone: usize = edits.iter().map(|(span, _)| span.len()).sum();
    let added: usize = edits.iter().map(|(_, new)| new.len()).sum();
    let mut out = Vec::with_capacity((haystack.len() + added).saturating_sub(gone));
    let mut from = 0;
    for (span, new) in edits {
        out.extend_from_slice(&haystack[from..span.start]);
        out.extend_from_slice(new);
        from = span.end;
    }
    out.extend_from_slice(&haystack[from..]);
    out
}

/// How many lines [`splice`] adds and removes, counted around each group of `edits` that share lines.
///
/// ```
/// use toolgate::text::splice::lines_changed;
/// assert_eq!(lines_changed(b"a\nb\nc\n", &[(2..3, b"x\ny".into())]), (2, 1));
/// assert_eq!(lines_changed(b"a\nb\n", &[(0..1, b"a\nnew".into())]), (1, 0));
/// ```
#[must_use]
pub fn lines_changed(haystack: &[u8], edits: &[(Range<usize>, Cow<'_, [u8]>)]) -> (usize, usize) {
    let line_end = |at: usize| memchr(b'\n', &haystack[at..]).map_or(haystack.len(), |end| at + end + 1);
    let (mut added, mut removed) = (0, 0);
    let mut rest = edits;
    while let Some((first, _)) = rest.first() {
        let start = memrchr(b'\n', &haystack[..first.start]).map_or(0, |at| at + 1);
        let (mut end, mut count) = (line_end(first.end), 1);
        while let Some((next, _)) = rest.get(count).filter(|(next, _)| next.start < end) {
            end = line_end(next.end);
            count += 1;
        }
        let group: Vec<_> =
            rest[..count].iter().map(|(span, new)| (span.start - start..span.end - start, new.clone())).collect();
        let old = &haystack[start..end];
        let apart = lines_apart(old, &splice(old, &group));
        added += apart.added;
        removed += apart.removed;
        rest = &rest[count..];
    }
    (added, removed)
}

/// Where two texts differ, in whole lines: the same before it and the same after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Apart {
    /// How many lines are the same before.
    pub before: usize,
    /// How many lines of the old text come then.
    pub removed: usize,
    /// How many lines of the new text stand there.
    pub added: usize,
}

/// Which lines of `old` became which of `new`, as one block.
///
/// ```
/// use toolgate::text::splice::{Apart, lines_apart};
/// assert_eq!(lines_apart(b"a\nb\nc\n", b"a\nc\n"), Apart { before: 1, removed: 1, added: 0 });
/// ```
#[must_use]
pub fn lines_apart(old: &[u8], new: &[u8]) -> Apart {
    let lines = |text| <[u8]>::split_inclusive(text, |byte| *byte == b'\n').collect::<Vec<_>>();
    let (old, new) = (lines(old), lines(new));
    let before = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[before..], &new[before..]);
    let after = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    Apart { before, removed: old.len() - after, added: new.len() - after }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::find::{disjoint, find_all};

    fn patch(text: &str, old: &str, new: &str, eol: Eol) -> String {
        let spans = disjoint(&find_all(text.as_bytes(), old.as_bytes(), eol));
        let edits: Vec<_> = spans
            .into_iter()
            .map(|span| {
                let new = replacement_for(text.as_bytes(), &span, new.as_bytes(), eol);
                (span, new)
            })
            .collect();
        String::from_utf8(splice(text.as_bytes(), &edits)).expect("text")
    }

    #[test]
    fn new_lines_end_as_the_replaced_ones_do() {
        let cases = [
            ("a\r\nb\r\nc\r\n", "b", "B", "a\r\nB\r\nc\r\n"),
            ("one\r\ntwo\r\nthree\r\n", "one\ntwo", "one\nTWO", "one\r\nTWO\r\nthree\r\n"),
            ("a\r\nb\r\n", "a\n", "a\na2\n", "a\r\na2\r\nb\r\n"),
            ("k\r\nv\r\nk\nv\n", "k\nv", "K\nV", "K\r\nV\r\nK\nV\n"),
            // The ending of the line it lies in, or of the line before.
            ("a\r\nb\r\n", "b", "b\nc", "a\r\nb\r\nc\r\n"),
            ("a\r\nb", "b", "b\nc\n", "a\r\nb\r\nc\r\n"),
            ("a\r\nb\n", "b", "b\nc", "a\r\nb\nc\n"),
            ("a", "a", "a\nb", "a\nb"),
            // One by one, the last for all that follow.
            ("a\nb\r\nc", "a\nb\nc", "1\n2\n3\n4", "1\n2\r\n3\r\n4"),
            // What is spelled out stays.
            ("a\nb\n", "a\nb", "a\r\nb", "a\r\nb\n"),
            ("a\r\nb\r\n", "a\nb", "a\r\nb\nc", "a\r\nb\r\nc\r\n"),
            // Nothing is a template, nothing is tidied.
            ("m: A\nn: 1\n", "A", "'^[sv]d[a-z]$'", "m: '^[sv]d[a-z]$'\nn: 1\n"),
            ("a = 1;\n", "a = 1", "a = $$('p')", "a = $$('p');\n"),
            ("a  \nb\t\n", "b\t", "B\t", "a  \nB\t\n"),
            ("alpha\nbeta\n\n", "beta", "B", "alpha\nB\n\n"),
            ("x\r\ny", "\ny", "\nz", "x\r\nz"),
        ];
        for (text, old, new, right) in cases {
            assert_eq!(patch(text, old, new, Eol::Bridged), right, "{text:?} {old:?} {new:?}");
        }
    }

    #[test]
    fn exact_means_byte_for_byte() {
        assert_eq!(patch("a\r\nb\r\n", "a", "x\ny", Eol::Exact), "x\ny\r\nb\r\n");
        assert!(matches!(replacement_for(b"a\r\n", &(0..1), b"b", Eol::Bridged), Cow::Borrowed(b"b")));
    }

    proptest! {
        #[test]
        fn all_outside_the_spans_stays(
            text in "[ab\r\n]{0,60}",
            old in "[ab\r\n]{1,3}",
            new in "[xy\r\n]{0,5}",
            bridged in any::<bool>(),
        ) {
            let eol = if bridged { Eol::Bridged } else { Eol::Exact };
            let spans = disjoint(&find_all(text.as_bytes(), old.as_bytes(), eol));
            let edits: Vec<_> = spans
                .iter()
                .map(|span| (span.clone(), replacement_for(text.as_bytes(), span, new.as_bytes(), eol)))
                .collect();
            let out = splice(text.as_bytes(), &edits);
            let (mut from, mut at) = (0, 0);
            for (span, new) in &edits {
                let kept = &text.as_bytes()[from..span.start];
                prop_assert_eq!(&out[at..at + kept.len()], kept);
                at += kept.len();
                prop_assert_eq!(&out[at..at + new.len()], &new[..]);
                at += new.len();
                from = span.end;
            }
            prop_assert_eq!(&out[at..], &text.as_bytes()[from..]);
        }

        #[test]
        fn a_uniform_file_stays_uniform(
            lines in proptest::collection::vec("[ab]{0,3}", 0..8),
            old in "[ab\n]{1,3}",
            new in "[xy\n]{0,5}",
        ) {
            let crlf = lines.iter().map(|line| format!("{line}\r\n")).collect::<String>();
            let lf = crlf.replace('\r', "");
            let patched = patch(&crlf, &old, &new, Eol::Bridged);
            prop_assert_eq!(patched, patch(&lf, &old, &new, Eol::Exact).replace('\n', "\r\n"));
        }
    }
}
