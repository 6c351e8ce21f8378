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
    find_up_to(usize::MAX, haystack, needle, eol)
}

/// The first `most` occurrences of `needle`, as [`find_all`] finds them: each takes 16 bytes, and a text may hold as many as
/// it has characters.
#[must_use]
pub fn find_up_to(most: usize, haystack: &[u8], needle: &[u8], eol: Eol) -> Vec<Range<usize>> {
    if eol == Eol::Exact || !has_bare_line_end(needle) || memmem::find(haystack, b"\r\n").is_none() {
        // Bare line ends match only themselves here, so an explicit `\r\n` finds nothing, as it should.
        return exact(most, haystack, needle);
    }
    bridged(most, haystack, needle)
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

fn exact(most: usize, haystack: &[u8], needle: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if needle.is_empty() || most == 0 {
        return found;
    }
    let finder = Finder::new(needle);
    let Some(first) = finder.find(haystack) else { return found };
    let period = period(needle);
    let mut at = first;
    loop {
        found.push(at..at + needle.len());
        if found.len() == most {
            return found;
        }
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
fn bridged(most: usize, haystack: &[u8], needle: &[u8]) -> Vec<Range<usize>> {
    // A `\r` at the needle's end is a byte of its own: there is no `\n` for it to belong to.
    let (body, ends_in_cr) = match needle {
        [body @ .., b'\r'] => (body, true),
        body => (body, false),
    };
    let (folded, dropped) = fold(haystack);
    let (pattern, explicit) = fold(body);
    let line_ends = memchr::memchr_iter(b'\n', &pattern).count();
    let (mut before_start, mut before_end) = (0, 0);
    // What the needle spells out is held against each below, which may leave fewer.
    let mut found = exact(usize::MAX, &folded, &pattern);
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
    found.truncate(most);
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

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "a list of one span is meant")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_occurrence_is_found() {
        let cases: [(&str, &str, &[Range<usize>]); 9] = [
            ("abcabc", "bc", &[1..3, 4..6]),
            ("abc", "x", &[]),
            ("abc", "", &[]),
            ("", "a", &[]),
            ("abc", "abcd", &[]),
            ("aaaa", "aa", &[0..2, 1..3, 2..4]),
            ("abababa", "aba", &[0..3, 2..5, 4..7]),
            ("x = 1\nx = 1\nx = 1\n", "x = 1\nx = 1", &[0..11, 6..17]),
            ("a\r\nb", "a\nb", &[]),
        ];
        for (haystack, needle, spans) in cases {
            assert_eq!(find_all(haystack.as_bytes(), needle.as_bytes(), Eol::Exact), spans, "{haystack:?} {needle:?}");
        }
    }

    #[test]
    fn a_bare_line_end_bridges_both_endings() {
        let cases: [(&str, &str, &[Range<usize>]); 17] = [
            ("one\r\ntwo\r\n", "one\ntwo", &[0..8]),
            ("one\r\ntwo\r\n", "one\ntwo\n", &[0..10]),
            ("k\r\nv\r\nk\nv\n", "k\nv", &[0..4, 6..9]),
            ("a\r\nb", "\nb", &[1..4]),
            ("a\nb", "\nb", &[1..3]),
            ("a\r\nb", "a\n", &[0..3]),
            ("a\r\n\r\nb", "\n", &[1..3, 3..5]),
            ("a\r\n\nb", "\n\n", &[1..4]),
            // What is spelled out stays so.
            ("a\nb\r\nc", "a\r\nb", &[]),
            ("a\r\nb\nc", "a\r\nb\nc", &[0..6]),
            ("a\nb\r\nc a\r\nb\r\nc", "a\r\nb\nc", &[7..14]),
            // A carriage return that is no line ending is content.
            ("a\r\r\nb", "a\nb", &[]),
            ("a\r\r\nb", "a\r\r\nb", &[0..5]),
            ("a\r\r\nb", "\nb", &[2..5]),
            // A carriage return at the needle's end is that byte, so that it can be taken away.
            ("a\r\nb\r\n", "\r", &[1..2, 4..5]),
            ("a\r\nb\r\n", "a\nb\r", &[0..5]),
            ("a\r\nb\n", "a\nb\r", &[]),
        ];
        for (haystack, needle, spans) in cases {
            assert_eq!(
                find_all(haystack.as_bytes(), needle.as_bytes(), Eol::Bridged),
                spans,
                "{haystack:?} {needle:?}"
            );
        }
    }

    #[test]
    fn as_many_as_are_wanted() {
        for eol in [Eol::Exact, Eol::Bridged] {
            assert_eq!(find_up_to(2, b"a\r\na\na\n", b"a\n", eol).len(), 2);
            assert!(find_up_to(0, b"aaa", b"a", eol).is_empty());
        }
    }

    #[test]
    fn replacements_do_not_touch() {
        assert_eq!(disjoint(&find_all(b"aaaaa", b"aa", Eol::Exact)), [0..2, 2..4]);
        assert!(disjoint(&[]).is_empty());
    }

    #[test]
    fn repetition_takes_no_longer_than_its_length() {
        let haystack = vec![b'a'; 1 << 20];
        assert_eq!(find_all(&haystack, &haystack[..1 << 19], Eol::Exact).len(), (1 << 19) + 1);
        let lines = "a\r\n".repeat(1 << 18);
        assert_eq!(find_all(lines.as_bytes(), "a\n".repeat(1 << 17).as_bytes(), Eol::Bridged).len(), (1 << 17) + 1);
        let spelled = "a\r\n".repeat(1 << 17) + "a\n";
        assert_eq!(find_all(lines.as_bytes(), spelled.as_bytes(), Eol::Bridged).len(), 1 << 17);
    }

    /// The end of the match that begins at `at`, found the slow way.
    fn match_at(haystack: &[u8], needle: &[u8], at: usize, eol: Eol) -> Option<usize> {
        let bare =
            |index: usize| eol == Eol::Bridged && needle[index] == b'\n' && (index == 0 || needle[index - 1] != b'\r');
        if bare(0) && haystack[at] == b'\n' && at > 0 && haystack[at - 1] == b'\r' {
            return None;
        }
        let mut end = at;
        for (index, byte) in needle.iter().enumerate() {
            if bare(index) && haystack[end..].starts_with(b"\r\n") {
                end += 1;
            }
            if haystack.get(end) != Some(byte) {
                return None;
            }
            end += 1;
        }
        Some(end)
    }

    proptest! {
        #[test]
        fn finds_what_the_slow_way_finds(
            haystack in "[ab\r\n]{0,40}",
            needle in "[ab\r\n]{1,6}",
            bridged in any::<bool>(),
        ) {
            let (haystack, needle) = (haystack.as_bytes(), needle.as_bytes());
            let eol = if bridged { Eol::Bridged } else { Eol::Exact };
            let slow: Vec<Range<usize>> = (0..haystack.len())
                .filter_map(|at| Some(at..match_at(haystack, needle, at, eol)?))
                .collect();
            prop_assert_eq!(find_all(haystack, needle, eol), slow);
        }
    }
}
