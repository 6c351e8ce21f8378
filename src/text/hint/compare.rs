//! In what two texts with the same skeleton differ.

use std::ops::Range;

use crate::text::hint::Difference;
use crate::text::hint::skeleton::{Folded, has_no_width, next_atom, plain_quote};

/// `place` with the blanks around it that correspond to those around `old`.
pub(super) fn with_blanks(haystack: &str, place: Range<usize>, old: &str) -> Range<usize> {
    let inner = old.trim();
    let lead = &old[..old.len() - old.trim_start().len()];
    let tail = &old[lead.len() + inner.len()..];
    let (before, after) = (&haystack[..place.start], &haystack[place.end..]);
    let start = if before.ends_with(lead) { lead.len() } else { blanks_before(before, line_ends(lead)) };
    let end = if after.starts_with(tail) { tail.len() } else { blanks_after(after, line_ends(tail)) };
    place.start - start..place.end + end
}

fn line_ends(text: &str) -> usize {
    text.matches('\n').count()
}

/// How many bytes of blanks stand at the end of `text`, across so many line ends.
fn blanks_before(text: &str, mut line_ends: usize) -> usize {
    let mut start = text.len();
    for (at, char) in text.char_indices().rev() {
        if !char.is_whitespace() || char == '\n' && line_ends == 0 {
            break;
        }
        line_ends -= usize::from(char == '\n');
        start = at;
    }
    text.len() - start
}

/// How many bytes of blanks stand at the start of `text`, up to so many line ends.
fn blanks_after(text: &str, mut line_ends: usize) -> usize {
    for (at, char) in text.char_indices() {
        match char {
            // The carriage return of a line end that is not wanted is not either.
            '\n' if line_ends == 0 => return text[..at].strip_suffix('\r').map_or(at, str::len),
            '\n' if line_ends == 1 => return at + 1,
            '\n' => line_ends -= 1,
            _ if char.is_whitespace() => {}
            _ => return at,
        }
    }
    text.len()
}

/// In what `old` and `actual` differ; nothing where their skeletons do. `at_line_start` says where they begin.
pub(super) fn differences(old: &str, actual: &str, at_line_start: bool) -> Option<Vec<Difference>> {
    let (mut ours, mut theirs) = (Units::new(old), Units::new(actual));
    let mut differs = Vec::new();
    let mut first = true;
    loop {
        let (our, their) = (ours.next(), theirs.next());
        if our.gap != their.gap {
            let edge = Edge { start: first && at_line_start, end: our.part.is_none() };
            gaps(our.gap, their.gap, edge, &mut differs);
        }
        match (our.part, their.part) {
            (None, None) => break,
            (Some(a), Some(b)) if a == b => {
                if our.raw != their.raw {
                    differs.push(forms(our.raw, their.raw));
                }
            }
            _ => return None,
        }
        first = false;
    }
    differs.sort_unstable();
    differs.dedup();
    Some(differs)
}

/// A text as the parts of its skeleton, with what stands between them.
struct Units<'t> {
    text: &'t str,
    at: usize,
    /// What is left of the atom at hand, last part first.
    parts: Vec<u8>,
    raw: Range<usize>,
}

struct Unit<'t> {
    /// What is folded to nothing before it.
    gap: &'t str,
    /// One byte of the skeleton; nothing at the end.
    part: Option<u8>,
    /// The characters it comes from.
    raw: &'t str,
}

impl<'t> Units<'t> {
    fn new(text: &'t str) -> Self {
        Units { text, at: 0, parts: Vec::new(), raw: 0..0 }
    }

    fn next(&mut self) -> Unit<'t> {
        let gap_start = self.at;
        let mut gap_end = self.at;
        while self.parts.is_empty() && self.at < self.text.len() {
            let atom = next_atom(self.text, self.at);
            if !matches!(atom.folded, Folded::Nothing) {
                atom.push_to(&mut self.parts);
                self.parts.reverse();
            }
            self.at = atom.raw.end;
            if self.parts.is_empty() {
                gap_end = self.at;
            }
            self.raw = atom.raw;
        }
        Unit { gap: &self.text[gap_start..gap_end], part: self.parts.pop(), raw: &self.text[self.raw.clone()] }
    }
}

/// What makes two ways to write the same part of the skeleton differ.
fn forms(ours: &str, theirs: &str) -> Difference {
    let is_entity = |raw: &str| raw.len() > 1 && raw.starts_with('&');
    let is_quote = |raw: &str| raw.chars().any(|char| plain_quote(char).is_some());
    if is_entity(ours) || is_entity(theirs) {
        Difference::Escapes
    } else if is_quote(ours) || is_quote(theirs) {
        Difference::Quotes
    } else if ours.to_lowercase() == theirs.to_lowercase() {
        Difference::Case
    } else {
        Difference::UnicodeForm
    }
}

/// Where a gap lies in the text.
#[derive(Clone, Copy)]
struct Edge {
    /// At the start of a line.
    start: bool,
    /// At the end of the text.
    end: bool,
}

/// Causes that can be taken out of a gap, and how.
const CAUSES: [Cause; 3] = [
    (Difference::Escapes, unescape),
    (Difference::InvisibleSpace, visible_only),
    (Difference::CarriageReturn, |gap| gap.replace('\r', "")),
];

type Cause = (Difference, fn(&str) -> String);

/// What makes two gaps differ, one cause after the other taken away until they are equal.
fn gaps(ours: &str, theirs: &str, edge: Edge, differs: &mut Vec<Difference>) {
    let (mut ours, mut theirs) = (ours.to_owned(), theirs.to_owned());
    for (difference, without) in CAUSES {
        let (our_rest, their_rest) = (without(&ours), without(&theirs));
        // Taken away from both, it differed only if what was taken did.
        if taken(&ours, &our_rest) != taken(&theirs, &their_rest) {
            differs.push(difference);
        }
        (ours, theirs) = (our_rest, their_rest);
        if ours == theirs {
            return;
        }
    }
    blanks(&ours, &theirs, edge, differs);
}

/// The characters of `before` which are in it more often than in `after`, roughly: what a step took away.
fn taken(before: &str, after: &str) -> Vec<char> {
    let mut rest = after.chars().peekable();
    before.chars().filter(|&char| rest.next_if_eq(&char).is_none()).collect()
}

fn unescape(gap: &str) -> String {
    let mut plain = String::with_capacity(gap.len());
    let mut escaped = false;
    for char in gap.chars() {
        match char {
            '\\' => escaped = true,
            'n' if escaped => plain.push('\n'),
            't' if escaped => plain.push('\t'),
            'r' if escaped => plain.push('\r'),
            char => {
                plain.push(char);
                escaped = false;
            }
        }
    }
    plain
}

/// Without characters that have no width; all other blanks but those of ASCII become plain spaces.
fn visible_only(gap: &str) -> String {
    gap.chars().filter(|&char| !has_no_width(char)).map(|char| if char.is_ascii() { char } else { ' ' }).collect()
}

/// What makes two gaps of plain blanks differ.
fn blanks(ours: &str, theirs: &str, edge: Edge, differs: &mut Vec<Difference>) {
    let our_lines: Vec<&str> = ours.split('\n').collect();
    let their_lines: Vec<&str> = theirs.split('\n').collect();
    let (our_last, their_last) = (our_lines.len() - 1, their_lines.len() - 1);
    if (our_last == 0) != (their_last == 0) {
        let at_edge = edge.start || edge.end;
        differs.push(if at_edge { Difference::BlankLines } else { Difference::LineBreaks });
        return;
    }
    if our_last != their_last {
        differs.push(Difference::BlankLines);
    }
    if our_last == 0 {
        if ours != theirs {
            differs.push(match edge {
                Edge { end: true, .. } => Difference::TrailingSpace,
                Edge { start: true, .. } => indentation(ours, theirs),
                _ => Difference::TabsAndSpaces,
            });
        }
        return;
    }
    if !edge.start && our_lines[0] != their_lines[0] {
        differs.push(Difference::TrailingSpace);
    }
    if our_last == their_last && our_lines[1..our_last] != their_lines[1..our_last] {
        differs.push(Difference::TrailingSpace);
    }
    if our_lines[our_last] != their_lines[their_last] {
        differs.push(indentation(our_lines[our_last], their_lines[their_last]));
    }
}

fn indentation(ours: &str, theirs: &str) -> Difference {
    let both_have = |blank: char| ours.contains(blank) && theirs.contains(blank);
    let either_has = |blank: char| ours.contains(blank) || theirs.contains(blank);
    let mixed = either_has('\t') && either_has(' ') && !(both_have('\t') && both_have(' '));
    if mixed { Difference::TabsAndSpaces } else { Difference::Indentation }
}
