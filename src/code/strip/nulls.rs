//! Whether a program may throw `null`. The engine throws it as well, where it has no room left for an error.

use oxc_ast::ast::*;
use oxc_ast_visit::{Visit, walk};

/// Words without which nothing is thrown but by `throw`: what rejects a promise, and what runs a text.
const WORDS: [&str; 4] = ["reject", "throw", "eval", "Function"];

/// Whether there is anything in the program that may throw `null`. What it says may be longer than that, so this may be said of
/// a program that throws none.
pub(super) fn may_be_thrown(program: &Program<'_>) -> bool {
    let mut search = Search { found: false };
    search.visit_program(program);
    search.found
}

struct Search {
    found: bool,
}

impl<'a> Visit<'a> for Search {
    fn visit_throw_statement(&mut self, throw: &ThrowStatement<'a>) {
        self.found |= may_be_null(&throw.argument);
        walk::walk_throw_statement(self, throw);
    }

    fn visit_new_expression(&mut self, new: &NewExpression<'a>) {
        // What rejects a promise may have any name there.
        if matches!(&new.callee, Expression::Identifier(class) if class.name == "Promise") {
            self.found |= match new.arguments.first().and_then(Argument::as_expression) {
                Some(Expression::ArrowFunctionExpression(begin)) => takes_second(&begin.params),
                Some(Expression::FunctionExpression(begin)) => takes_second(&begin.params),
                _ => true,
            };
        }
        walk::walk_new_expression(self, new);
    }

    fn visit_identifier_name(&mut self, name: &IdentifierName<'a>) {
        self.found |= WORDS.contains(&name.name.as_str());
    }

    fn visit_identifier_reference(&mut self, name: &IdentifierReference<'a>) {
        self.found |= WORDS.contains(&name.name.as_str());
    }

    fn visit_string_literal(&mut self, text: &StringLiteral<'a>) {
        self.found |= WORDS.contains(&text.value.as_str());
    }
}

fn takes_second(parameters: &FormalParameters<'_>) -> bool {
    parameters.items.len() > 1 || parameters.rest.is_some()
}

fn may_be_null(thrown: &Expression<'_>) -> bool {
    !matches!(
        thrown.get_inner_expression(),
        Expression::NewExpression(_)
            | Expression::ObjectExpression(_)
            | Expression::ArrayExpression(_)
            | Expression::StringLiteral(_)
            | Expression::TemplateLiteral(_)
            | Expression::NumericLiteral(_)
            | Expression::BooleanLiteral(_)
            | Expression::BigIntLiteral(_)
            | Expression::RegExpLiteral(_)
            | Expression::ArrowFunctionExpression(_)
            | Expression::FunctionExpression(_)
            | Expression::ClassExpression(_)
    )
}
