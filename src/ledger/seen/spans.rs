//! Which parts of a file were seen: intervals that grow together.

use serde::{Deserialize, Serialize};

use crate::ledger::seen::Replaced;

/// A place in a file: in which line, and before which of its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Position {
    /// The line, from 1.
    pub line: u64,
    /// The byte of that line, from 0.
    pub offset: u64,
}

impl Position {
    /// The beginning of a file.
    pub const START: Position = Position { line: 1, offset: 0 };

    /// Behind every place that there is.
    const END: Position = Position { line: u64::MAX, offset: u64::MAX };
}

/// From a place up to another one, which is not part of it; up to the end, if there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Span {
    #[serde(rename = "f")]
    pub(super) from: Position,
    #[serde(rename = "t", skip_serializing_if = "Option::is_none", default)]
    pub(super) to: Option<Position>,
}

impl Span {
    pub(super) const WHOLE: Span = Span { from: Position::START, to: None };

    fn end(&self) -> Position {
        self.to.unwrap_or(Position::END)
    }
}

/// Spans in order that neither touch nor overlap.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Spans(Vec<Span>);

impl Spans {
    pub(super) fn whole() -> Self {
        Spans(vec![Span::WHOLE])
    }

    pub(super) fn is_whole(&self) -> bool {
        matches!(self.0.as_slice(), [Span { from, to: None }] if *from <= Position::START)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether all of `span` was seen.
    pub(super) fn cover(&self, span: &Span) -> bool {
        self.0.iter().any(|seen| seen.from <= span.from && span.end() <= seen.end())
    }

    pub(super) fn add(&mut self, mut span: Span) {
        if span.end() <= span.from {
            return;
        }
        let first = self.0.partition_point(|seen| seen.end() < span.from);
        let last = self.0.partition_point(|seen| seen.from <= span.end());
        if let Some(touched) = self.0.get(first..last)
            && let (Some(head), Some(tail)) = (touched.first(), touched.last())
        {
            if head.from < span.from {
                span.from = head.from;
            }
            if tail.end() > span.end() {
                span.to = tail.to;
            }
        }
        self.0.splice(first..last, [span]);
    }

    pub(super) fn add_all(&mut self, other: &Spans) {
        other.0.iter().for_each(|span| self.add(*span));
    }

    /// Where all this stands once the lines of `replaced` were put in: what lies behind them has moved. They themselves are
    /// seen if what they replace was, or if they replace nothing: their text is the patch's own.
    pub(super) fn carried_over(&self, replaced: &Replaced) -> Spans {
        let Replaced { first, removed, added } = *replaced;
        let start = |line| Position { line, offset: 0 };
        let (top, bottom) = (start(first), start(first + removed));
        let moved = |place: Position| Position { line: place.line - removed + added, ..place };
        let mut spans = Spans::default();
        for span in &self.0 {
            if span.from < top {
                spans.add(Span { from: span.from, to: Some(span.end().min(top)) });
            }
            if span.end() > bottom {
                spans.add(Span { from: moved(span.from.max(bottom)), to: span.to.map(moved) });
            }
        }
        if removed == 0 || self.cover(&Span { from: top, to: Some(bottom) }) {
            spans.add(Span { from: top, to: Some(start(first + added)) });
        }
        spans
    }

    /// The lines that were not seen, first and last; no last one stands for up to the end.
    pub(super) fn unseen(&self) -> Vec<(u64, Option<u64>)> {
        let mut gaps = Vec::new();
        let mut at = Some(Position::START);
        for span in &self.0 {
            if let Some(at) = at
                && at < span.from
            {
                // A span that begins within a line leaves the part before it to be read with the line above.
                gaps.push((at.line, Some(at.line.max(span.from.line.saturating_sub(1)))));
            }
            at = span.to;
        }
        gaps.extend(at.map(|at| (at.line, None)));
        gaps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where a line begins.
    fn at(line: u64) -> Position {
        Position { line, offset: 0 }
    }

    fn spans(parts: &[(u64, Option<u64>)]) -> Spans {
        let mut spans = Spans::default();
        parts.iter().for_each(|&(from, to)| spans.add(Span { from: at(from), to: to.map(at) }));
        spans
    }

    #[test]
    fn spans_grow_together() {
        assert_eq!(spans(&[(1, Some(5)), (5, None)]), Spans::whole());
        assert_eq!(spans(&[(5, None), (1, Some(5))]), Spans::whole());
        assert_eq!(spans(&[(1, Some(3)), (7, Some(9)), (2, Some(8))]), spans(&[(1, Some(9))]));
        assert_eq!(spans(&[(1, None), (3, Some(4))]), Spans::whole());
        assert_eq!(spans(&[(3, Some(4)), (1, None)]), Spans::whole());
        assert_eq!(spans(&[(1, Some(2)), (4, Some(5))]).0.len(), 2);
    }

    #[test]
    fn what_is_missing_is_told_in_lines() {
        assert_eq!(Spans::default().unseen(), [(1, None)]);
        assert_eq!(Spans::whole().unseen(), []);
        assert_eq!(spans(&[(3, Some(5)), (8, Some(9))]).unseen(), [(1, Some(2)), (5, Some(7)), (9, None)]);
        assert_eq!(spans(&[(4, None)]).unseen(), [(1, Some(3))]);
    }

    #[test]
    fn what_was_seen_moves_with_the_lines() {
        let some = spans(&[(1, Some(3)), (5, Some(9)), (11, None)]);
        let carried = |first, removed, added| some.carried_over(&Replaced { first, removed, added });
        // Line 7, seen, became three.
        assert_eq!(carried(7, 1, 3), spans(&[(1, Some(3)), (5, Some(11)), (13, None)]));
        // Lines 3 and 4, unseen, became one, which is not all the patch's own.
        assert_eq!(carried(3, 2, 1), spans(&[(1, Some(3)), (4, Some(8)), (10, None)]));
        // Lines 8-10, seen in part.
        assert_eq!(carried(8, 3, 3), spans(&[(1, Some(3)), (5, Some(8)), (11, None)]));
        // Two new lines between unseen ones.
        assert_eq!(carried(4, 0, 2), spans(&[(1, Some(3)), (4, Some(6)), (7, Some(11)), (13, None)]));
        // Everything from line 12 on has gone.
        assert_eq!(carried(12, 5, 0), spans(&[(1, Some(3)), (5, Some(9)), (11, None)]));
        assert_eq!(carried(1, 1, 0), spans(&[(1, Some(2)), (4, Some(8)), (10, None)]));
    }

    proptest::proptest! {
        #[test]
        fn a_line_is_seen_or_missing_and_never_both(
            parts in proptest::collection::vec((1u64..20, 1u64..10), 0..8),
            edit in (1u64..30, 0u64..6, 0u64..6),
        ) {
            let spans = spans(&parts.iter().map(|&(from, lines)| (from, Some(from + lines))).collect::<Vec<_>>());
            for line in 1..40 {
                let seen = parts.iter().any(|&(from, lines)| (from..from + lines).contains(&line));
                let missing = spans.unseen().iter().any(|&(from, to)| from <= line && to.is_none_or(|to| line <= to));
                proptest::prop_assert_eq!(seen, !missing, "line {} of {:?}", line, spans);
                proptest::prop_assert_eq!(seen, spans.cover(&Span { from: at(line), to: Some(at(line + 1)) }));
            }
            let replaced = Replaced { first: edit.0, removed: edit.1, added: edit.2 };
            let carried = spans.carried_over(&replaced);
            for line in 1..60 {
                let before = if line < edit.0 { Some(line) } else { (line + edit.1).checked_sub(edit.2) };
                let is_seen = |spans: &Spans, line| spans.cover(&Span { from: at(line), to: Some(at(line + 1)) });
                let want = if (edit.0..edit.0 + edit.2).contains(&line) {
                    (edit.0..edit.0 + edit.1).all(|line| is_seen(&spans, line))
                } else {
                    before.is_some_and(|line| is_seen(&spans, line))
                };
                proptest::prop_assert_eq!(is_seen(&carried, line), want, "line {} of {:?} after {:?}", line, spans, edit);
            }
            let ordered = spans.0.windows(2).all(|two| two[0].end() < two[1].from);
            proptest::prop_assert!(ordered, "{:?}", spans);
        }
    }
}
