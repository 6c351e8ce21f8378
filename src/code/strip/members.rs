//! What stands before and behind the name of a class member.

use oxc_span::Span;

use super::eraser::Eraser;

const MODIFIERS: [&str; 7] = ["public", "private", "protected", "override", "readonly", "abstract", "declare"];

impl Eraser<'_, '_> {
    /// Erases the modifiers of a class member before its name, and the mark behind it.
    pub(super) fn modifiers(&mut self, member: Span, name: Span, optional: bool, definite: bool) {
        let before: Vec<Span> = self.tokens.within(Span::new(member.start, name.start)).collect();
        for (at, token) in before.iter().enumerate() {
            if MODIFIERS.contains(&self.text(*token)) {
                self.edits.blank(*token);
                if at == 0 {
                    // What is left could go on with the member before: `a = 1` and `["b"] = 2`.
                    self.edits.put(token.start, ';');
                }
            }
        }
        let computed = before.last().is_some_and(|token| self.text(*token) == "[");
        let behind = if computed { self.closed(name.end) } else { name.end };
        if optional {
            self.erase_mark(behind, "?");
        }
        if definite {
            self.erase_mark(behind, "!");
        }
    }

    /// Behind the bracket that closes a computed name.
    fn closed(&self, name_end: u32) -> u32 {
        self.tokens.at_or_after(name_end).map_or(name_end, |bracket| bracket.end)
    }
}
