//! How similar two short texts are, between 0 and 1.

use std::collections::HashMap;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::text::hint::skeleton::fold;

/// How much of `actual` is like `wanted`, whose first and last lines may be parts of lines.
pub(super) fn similarity(wanted: &str, actual: &str) -> f64 {
    /// Up to this many bytes, spelling counts.
    const SPELLED: usize = 300;
    /// Up to this many words, words count; beyond, lines.
    const WORDS: usize = 1500;
    let mut ids = Ids::default();
    let (our_words, their_words) = (ids.of(words(wanted).take(WORDS + 1)), ids.of(words(actual).take(2 * WORDS + 1)));
    if our_words.len() > WORDS || their_words.len() > 2 * WORDS {
        let (ours, theirs) = (ids.of(wanted.lines().map(str::trim)), ids.of(actual.lines().map(str::trim)));
        return shared(&ours, &theirs);
    }
    let by_words = shared(&our_words, &their_words);
    let (ours, theirs) = (fold(wanted), fold(actual));
    if ours.len() > SPELLED || theirs.len() > 4 * SPELLED {
        return by_words;
    }
    let single = |bytes: &[u8]| bytes.iter().map(|&byte| (u64::from(byte), 1)).collect::<Vec<_>>();
    let by_letters = shared(&single(&ours), &single(&theirs));
    // Letters alone find likeness in any two lines, words alone none in a misspelt one.
    f64::midpoint(by_words, by_letters).max(0.8 * by_letters)
}

/// Numbers for pieces of text, equal for equal pieces.
#[derive(Default)]
struct Ids<'t>(HashMap<&'t str, u64>);

impl<'t> Ids<'t> {
    /// The pieces as numbers, each with its weight.
    fn of(&mut self, pieces: impl Iterator<Item = &'t str>) -> Vec<(u64, usize)> {
        let number = |piece: &'t str| {
            let next = self.0.len() as u64;
            (*self.0.entry(piece).or_insert(next), piece.len())
        };
        pieces.map(number).collect()
    }
}

/// Words, and other visible characters one by one.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        let first = rest.chars().next()?;
        let in_word = |char: char| char.is_alphanumeric() || char == '_';
        let end =
            if in_word(first) { rest.find(|char| !in_word(char)).unwrap_or(rest.len()) } else { first.len_utf8() };
        let (word, tail) = rest.split_at(end);
        rest = tail;
        Some(word)
    })
}

/// The share of the weight that both have in order; of `theirs` only the part that corresponds to `ours` counts.
fn shared(ours: &[(u64, usize)], theirs: &[(u64, usize)]) -> f64 {
    let ops = capture_diff_slices(Algorithm::Myers, ours, theirs);
    let equal: Vec<(usize, usize, usize)> = ops
        .iter()
        .filter_map(|op| match *op {
            DiffOp::Equal { old_index, new_index, len } => Some((old_index, new_index, len)),
            _ => None,
        })
        .collect();
    let (Some(first), Some(last)) = (equal.first(), equal.last()) else { return 0.0 };
    let start = first.1.saturating_sub(first.0);
    let missing = ours.len() - (last.0 + last.2);
    let end = (last.1 + last.2 + missing).min(theirs.len());
    let weight = |pieces: &[(u64, usize)]| pieces.iter().map(|&(_, weight)| weight).sum::<usize>();
    let both: usize = equal.iter().map(|&(at, _, len)| weight(&ours[at..at + len])).sum();
    2.0 * both as f64 / (weight(ours) + weight(&theirs[start..end])).max(1) as f64
}
