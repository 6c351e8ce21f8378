//! The lines that are most similar to a text: candidates by cheap signs, then a closer look at the few best.

use std::collections::HashMap;
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::text::hint::Difference;
use crate::text::hint::compare::differences;
use crate::text::hint::similarity::similarity;
use crate::text::hint::skeleton::Skeleton;

/// Below this similarity a hint would mislead.
const SIMILAR: f64 = 0.6;
/// How many candidates of each kind are weighed.
const CANDIDATES: usize = 6;
/// How many of them are compared in full.
const COMPARED: usize = 5;
/// Shorter lines, such as `});`, tell nothing of where they stand.
const TELLING: usize = 4;

/// The lines most similar to `old`, and in what they differ; nothing if none are similar enough.
pub(super) fn most_similar(haystack: &str, skeleton: &Skeleton, old: &str) -> Option<(Range<usize>, Vec<Difference>)> {
    let wanted = Wanted::new(old)?;
    let (mut starts, weight) = by_equal_lines(skeleton, &wanted);
    if 2 * weight < wanted.skeleton.folded.len() {
        starts.extend(by_trigrams(skeleton, &wanted));
    }
    let mut windows: Vec<Range<usize>> =
        starts.into_iter().map(|start| fitted(skeleton, &wanted, start)).filter(|lines| !lines.is_empty()).collect();
    windows.sort_unstable_by_key(|lines| (lines.start, lines.end));
    windows.dedup();

    let raw = |lines: &Range<usize>| {
        skeleton.raw_line(haystack, lines.start).start..skeleton.raw_line(haystack, lines.end - 1).end
    };
    let mut likely: Vec<(usize, Range<usize>)> =
        windows.into_iter().map(|lines| (wanted.shared_weight(skeleton, &lines), lines)).collect();
    likely.sort_by_key(|(weight, lines)| (std::cmp::Reverse(*weight), lines.start));
    // What is far longer is not similar, and would take long to compare.
    likely.retain(|(_, lines)| raw(lines).len() <= 4 * wanted.text.len() + 4096);
    likely.truncate(COMPARED);
    let scored = likely.into_iter().map(|(_, lines)| (similarity(wanted.text, &haystack[raw(&lines)]), lines));
    let (score, lines) = scored.max_by(|(a, x), (b, y)| a.total_cmp(b).then(y.start.cmp(&x.start)))?;
    if score < SIMILAR {
        return None;
    }
    let mut differs = line_differences(haystack, skeleton, &wanted, &lines);
    differs.push(Difference::Words);
    Some((raw(&lines), differs))
}

/// The text that was looked for, without blank lines around it.
struct Wanted<'t> {
    text: &'t str,
    skeleton: Skeleton,
    lines: usize,
}

impl<'t> Wanted<'t> {
    fn new(old: &'t str) -> Option<Self> {
        let whole = Skeleton::new(old);
        let filled = |&line: &usize| !whole.line(line).is_empty();
        let first = (0..whole.lines.len()).find(filled)?;
        let last = (0..whole.lines.len()).rev().find(filled)?;
        let text = &old[whole.raw_line(old, first).start..whole.raw_line(old, last).end];
        Some(Wanted { text, skeleton: Skeleton::new(text), lines: last - first + 1 })
    }

    fn line(&self, line: usize) -> &[u8] {
        self.skeleton.line(line)
    }

    /// How much of the text's trigrams the window has too: a cheap bound for how similar they can be.
    fn shared_weight(&self, skeleton: &Skeleton, lines: &Range<usize>) -> usize {
        let folded = &skeleton.folded[skeleton.lines[lines.start].folded..];
        let len: usize = lines.clone().map(|line| skeleton.line(line).len()).sum();
        let mut counts: HashMap<[u8; 3], usize> = HashMap::new();
        for trigram in self.skeleton.folded.windows(3).take(WEIGHED) {
            *counts.entry([trigram[0], trigram[1], trigram[2]]).or_default() += 1;
        }
        let mut shared = 0;
        for trigram in folded[..len].windows(3).take(2 * WEIGHED) {
            if let Some(left) = counts.get_mut(trigram).filter(|left| **left > 0) {
                *left -= 1;
                shared += 1;
            }
        }
        shared
    }
}

/// How many trigrams are counted to weigh a candidate.
const WEIGHED: usize = 4000;

/// Where the text would begin if a line that both have stood at the same place: the starts with the most such lines,
/// and how much the lines of the best weigh.
fn by_equal_lines(skeleton: &Skeleton, wanted: &Wanted<'_>) -> (Vec<usize>, usize) {
    /// A line that stands everywhere must not make this slow.
    const VOTES: usize = 200_000;
    let mut places: HashMap<&[u8], Vec<usize>> = HashMap::new();
    let mut longest = 0;
    for line in 0..wanted.lines {
        let folded = wanted.line(line);
        if folded.len() >= TELLING {
            places.entry(folded).or_default().push(line);
            longest = longest.max(folded.len());
        }
    }
    let mut lengths = vec![false; longest + 1];
    for folded in places.keys() {
        lengths[folded.len()] = true;
    }
    let mut votes: HashMap<usize, usize> = HashMap::new();
    let mut left = VOTES;
    for line in 0..skeleton.lines.len() {
        let folded = skeleton.line(line);
        if !lengths.get(folded.len()).copied().unwrap_or(false) {
            continue;
        }
        for &place in places.get(folded).into_iter().flatten() {
            *votes.entry(line.saturating_sub(place)).or_default() += folded.len();
            left -= 1;
            if left == 0 {
                return best(votes);
            }
        }
    }
    best(votes)
}

/// The starts with the most weight, but none that is far behind the first; and the weight of that.
fn best(votes: HashMap<usize, usize>) -> (Vec<usize>, usize) {
    let mut votes: Vec<(usize, usize)> = votes.into_iter().collect();
    votes.sort_unstable_by_key(|&(start, weight)| (std::cmp::Reverse(weight), start));
    let most = votes.first().map_or(0, |&(_, weight)| weight);
    let near = votes.into_iter().take_while(|&(_, weight)| 4 * weight >= most);
    (near.take(CANDIDATES).map(|(start, _)| start).collect(), most)
}

/// Where the text would begin if its longest lines stood at the lines that share the most trigrams with them.
fn by_trigrams(skeleton: &Skeleton, wanted: &Wanted<'_>) -> Vec<usize> {
    const ANCHORS: usize = 3;
    let mut anchors: Vec<usize> = (0..wanted.lines).filter(|&line| wanted.line(line).len() >= TELLING).collect();
    anchors.sort_by_key(|&line| (std::cmp::Reverse(wanted.line(line).len()), line));
    anchors.truncate(ANCHORS);

    // For each trigram, one count in a lane of its own for each anchor that has it.
    const LANE: u32 = 20;
    let mut table = vec![0u64; SLOTS];
    for (lane, &line) in anchors.iter().enumerate() {
        for trigram in wanted.line(line).windows(3) {
            table[slot(trigram)] |= 1 << (LANE * lane as u32);
        }
    }
    let mut best: Vec<Vec<(u64, usize)>> = vec![Vec::new(); anchors.len()];
    for line in 0..skeleton.lines.len() {
        let folded = skeleton.line(line);
        let folded = &folded[..folded.len().min((1 << LANE) - 1)];
        let sum: u64 = folded.windows(3).map(|trigram| table[slot(trigram)]).sum();
        if sum == 0 {
            continue;
        }
        for (lane, &anchor) in anchors.iter().enumerate() {
            let whole = (wanted.line(anchor).len() - 2) as u64;
            let shared = (sum >> (LANE * lane as u32) & ((1 << LANE) - 1)).min(whole);
            let len = (folded.len() as u64 - 2).min(2 * whole);
            let score = 2000 * shared / (whole + len);
            if score >= 300 {
                keep_best(&mut best[lane], score, line);
            }
        }
    }
    let starts = anchors
        .iter()
        .zip(best)
        .flat_map(|(&anchor, lines)| lines.into_iter().map(move |(_, line)| line.saturating_sub(anchor)));
    starts.collect()
}

const SLOTS: usize = 1 << 14;

fn slot(trigram: &[u8]) -> usize {
    let bits = usize::from(trigram[0]) << 9 ^ usize::from(trigram[1]) << 5 ^ usize::from(trigram[2]);
    bits & (SLOTS - 1)
}

/// Keeps the first of the lines with the highest scores.
fn keep_best(best: &mut Vec<(u64, usize)>, score: u64, line: usize) {
    if best.len() == CANDIDATES && best.last().is_some_and(|&(least, _)| least >= score) {
        return;
    }
    let at = best.partition_point(|&(other, _)| other >= score);
    best.insert(at, (score, line));
    best.truncate(CANDIDATES);
}

/// The lines from about `start` on that correspond to the text, also where some were added or are gone.
fn fitted(skeleton: &Skeleton, wanted: &Wanted<'_>, start: usize) -> Range<usize> {
    let end = skeleton.lines.len();
    let slack = wanted.lines.min(8);
    let around = start.saturating_sub(slack)..(start + wanted.lines + slack).min(end);
    let pairs = equal_lines(skeleton, wanted, &around);
    let (Some(first), Some(last)) = (pairs.first(), pairs.last()) else {
        return start..(start + wanted.lines).min(end);
    };
    let from = first.1.saturating_sub(first.0);
    from..(last.1 + wanted.lines - last.0).min(end)
}

/// The lines of the text and of `window` that are equal but for what a skeleton leaves out, in order.
fn equal_lines(skeleton: &Skeleton, wanted: &Wanted<'_>, window: &Range<usize>) -> Vec<(usize, usize)> {
    let ours: Vec<&[u8]> = (0..wanted.lines).map(|line| wanted.line(line)).collect();
    let theirs: Vec<&[u8]> = window.clone().map(|line| skeleton.line(line)).collect();
    let mut pairs = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, &ours, &theirs) {
        if let DiffOp::Equal { old_index, new_index, len } = op {
            let equal = (0..len).map(|at| (old_index + at, window.start + new_index + at));
            pairs.extend(equal.filter(|&(ours, _)| wanted.line(ours).len() >= TELLING));
        }
    }
    pairs
}

/// In what the lines that are equal but for blanks, case and the like differ.
fn line_differences(
    haystack: &str,
    skeleton: &Skeleton,
    wanted: &Wanted<'_>,
    window: &Range<usize>,
) -> Vec<Difference> {
    let mut all = Vec::new();
    for (ours, theirs) in equal_lines(skeleton, wanted, window) {
        let our_line = &wanted.text[wanted.skeleton.raw_line(wanted.text, ours)];
        let their_line = &haystack[skeleton.raw_line(haystack, theirs)];
        let (our_line, their_line) = match our_line.strip_suffix('\n') {
            Some(our_line) => (our_line, their_line.strip_suffix('\n').unwrap_or(their_line)),
            // The text ends within the line: what follows is no difference.
            None => (our_line, their_line.trim_end_matches(['\n', '\r'])),
        };
        let same = if ours == 0 { their_line.ends_with(our_line) } else { their_line == our_line };
        if !same {
            all.extend(differences(our_line, their_line, true).unwrap_or_default());
        }
    }
    all
}
