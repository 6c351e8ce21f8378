//! Where a text stands in another: every occurrence, overlapping ones too, with line endings exact or bridged.

use std::ops::Range;

use memchr::memmem::{self, Finder};

/// How line ends are matched and written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Eol {
    /// Byte for byte.
    Exact,
    /// A bare `\n` (one without `\r` before it) stands for `\n` and for `\r\n`. A `\r\n` stands for itself.
    Bridged,
}

/// Every occurrence of `needle`, in order, overlapping ones too; none of an empty needle.
///
/// Takes time in proportion to the two texts, also where they repeat themselves; the answer is not capped.
/// With [`Eol::Bridged`] no match begins or ends between `\r` and `\n`, unless the needle itself ends in `\r`.
///
/// ```
/// use toolgate::text::find::{Eol, find_all};
/// assert_eq!(find_all(b"aaa", b"aa", Eol::Exact), [0..2, 1..3]);
/// assert_eq!(find_all(b"x\r\ny", b"\ny", Eol::Bridged), [1..4]);
/// ```
#[must_use]
pub fn find_all(haystack: &[u8], needle: &[u8], eol: Eol) -> Vec<Range<usize>> {
    if eol == Eol::Exact || !has_bare_line_end(needle) || memmem::find(haystack, b"\r\n").is_none() {
        // Bare line ends match only themselves here, so an explicit `\r\n` finds nothing, as it should.
        return exact(haystack, needle);
    }
    bridged(haystack, needle)
}

/// The matches that a replacement of all of them takes: from left to right, none touching the one before.
#[must_use]
pub fn disjoint(matches: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut taken: Vec<Range<usize>> = Vec::new();
    for found in matches {
        if taken.last().is_none_or(|last| last.end <= found.start) {
            taken.push(found.clone());
        }
    }
    taken
}

fn has_bare_line_end(needle: &[u8]) -> bool {
    memchr::memchr_iter(b'\n', needle).any(|at| at == 0 || needle[at - 1] != b'\r')
}

fn exact(haystack: &[u8], needle: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if needle.is_empty() {
        return found;
    }
    let finder = Finder::new(needle);
    let Some(first) = finder.find(haystack) else { return found };
    let period = period(needle);
    let mut at = first;
    loop {
        found.push(at..at + needle.len());
        // No match begins before `at + period`. Whether one begins there is told by the bytes that it would add.
        let added = at + needle.len()..at + needle.len() + period;
        if haystack.get(added) == Some(&needle[needle.len() - period..]) {
            at += period;
            continue;
        }
        let from = at + period;
        match haystack.get(from..).and_then(|rest| finder.find(rest)) {
            Some(next) => at = from + next,
            None => return found,
        }
    }
}

/// The least distance at which `needle` can overlap itself.
fn period(needle: &[u8]) -> usize {
    // The longest border of each prefix, as Knuth, Morris and Pratt have it.
    let mut borders = vec![0; needle.len()];
    let mut border = 0;
    for at in 1..needle.len() {
        while border > 0 && needle[at] != needle[border] {
            border = borders[border - 1];
        }
        if needle[at] == needle[border] {
            border += 1;
        }
        borders[at] = border;
    }
    needle.len() - border
}

/// Searches with every `\r\n` taken for `\n` on both sides, then holds the matches to what the needle spells out.
fn bridged(haystack: &[u8], needle: &[u8]) -> Vec<Range<usize>> {
    // A `\r` at the needle's end is a byte of its own: there is no `\n` for it to belong to.
    let (body, ends_in_cr) = match needle {
        [body @ .., b'\r'] => (body, true),
        body => (body, false),
    };
    let (folded, dropped) = fold(haystack);
    let (pattern, explicit) = fold(body);
    let line_ends = memchr::memchr_iter(b'\n', &pattern).count();
    let (mut before_start, mut before_end) = (0, 0);
    let mut found = exact(&folded, &pattern);
    found.retain_mut(|span| {
        before_start += dropped[before_start..].iter().take_while(|&&at| at < span.start).count();
        before_end += dropped[before_end..].iter().take_while(|&&at| at < span.end).count();
        let within = &dropped[before_start..before_end];
        let spelled = explicit.is_empty()
            || within.len() == line_ends
            || within.len() >= explicit.len()
                && explicit.iter().all(|at| within.binary_search(&(span.start + at)).is_ok());
        *span = span.start + before_start..span.end + before_end;
        if ends_in_cr {
            span.end += 1;
            return spelled && haystack.get(span.end - 1) == Some(&b'\r');
        }
        spelled
    });
    found
}

/// `text` with `\n` for every `\r\n`, and where in it those `\n` stand.
fn fold(text: &[u8]) -> (Vec<u8>, Vec<usize>) {
    let mut folded = Vec::with_capacity(text.len());
    let mut dropped = Vec::new();
    let mut from = 0;
    for at in memmem::find_iter(text, b"\r\n") {
        folded.extend_from_slice(&text[from..at]);
        dropped.push(folded.len());
        from = at + 1;
    }
    folded.extend_from_slice(&text[from..]);
    (folded, dropped)
}
