//! The tokens of a program, found by where they are.

use oxc_parser::Token;
use oxc_span::Span;

/// All tokens in the order of the program.
#[derive(Clone, Copy)]
pub(super) struct Tokens<'t> {
    all: &'t [Token],
}

impl<'t> Tokens<'t> {
    pub(super) fn new(all: &'t [Token]) -> Self {
        Tokens { all }
    }

    /// The first token that begins at `offset` or later.
    pub(super) fn at_or_after(self, offset: u32) -> Option<Span> {
        self.all.get(self.index(offset)).map(Token::span)
    }

    /// The last token that begins before `offset`.
    pub(super) fn before(self, offset: u32) -> Option<Span> {
        self.index(offset).checked_sub(1).and_then(|at| self.all.get(at)).map(Token::span)
    }

    /// The tokens that begin in `span`.
    pub(super) fn within(self, span: Span) -> impl DoubleEndedIterator<Item = Span> {
        let (from, to) = (self.index(span.start), self.index(span.end));
        self.all.get(from..to).unwrap_or_default().iter().map(Token::span)
    }

    fn index(self, offset: u32) -> usize {
        self.all.partition_point(|token| token.start() < offset)
    }
}
