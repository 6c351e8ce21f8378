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
