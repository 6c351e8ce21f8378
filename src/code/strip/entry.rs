//! What of a program is its result, where no `return` says so.

use oxc_ast::ast::*;
use oxc_span::GetSpan;

use super::edits::Edits;

/// Makes the program return what the function comes to that it consists of, declares as `main`, or calls at its end.
pub(super) fn make(program: &Program<'_>, edits: &mut Edits<'_>) {
    let body: Vec<&Statement<'_>> = program.body.iter().filter(|statement| !says_nothing(statement)).collect();
    if let [Statement::ExpressionStatement(only)] = body.as_slice()
        && let Some(arguments) = function(&only.expression)
    {
        edits.insert(only.expression.span().start, "return (");
        edits.insert(only.expression.span().end, &format!(")({arguments})"));
        return;
    }
    match body.as_slice() {
        [.., Statement::ExpressionStatement(last)] if calls_a_function(&last.expression, &body) => {
            edits.insert(last.expression.span().start, "return ");
        }
        _ => {
            if let Some((name, arguments)) = main(&body)
                && let Ok(end) = u32::try_from(program.source_text.len())
            {
                edits.insert(end, &format!("\nreturn {name}({arguments});"));
            }
        }
    }
}

/// Nothing is left of it at run time.
fn says_nothing(statement: &Statement<'_>) -> bool {
    match statement {
        Statement::TSTypeAliasDeclaration(_) | Statement::TSInterfaceDeclaration(_) | Statement::EmptyStatement(_) => {
            true
        }
        Statement::FunctionDeclaration(function) => function.declare || function.body.is_none(),
        Statement::VariableDeclaration(variables) => variables.declare,
        Statement::ClassDeclaration(class) => class.declare,
        _ => false,
    }
}

/// What to call the function with that an expression is, if it is one.
fn function(expression: &Expression<'_>) -> Option<&'static str> {
    match expression.get_inner_expression() {
        Expression::ArrowFunctionExpression(arrow) => Some(arguments(&arrow.params)),
        Expression::FunctionExpression(function) if !function.generator => Some(arguments(&function.params)),
        _ => None,
    }
}

/// A function that wants something wants the tools.
fn arguments(parameters: &FormalParameters<'_>) -> &'static str {
    match parameters.items.first().map(|parameter| &parameter.pattern) {
        None => "",
        Some(BindingPattern::ObjectPattern(_)) => "{ tools }",
        Some(_) => "tools",
    }
}

/// Whether an expression calls a function that the program itself writes: `main()`, `(async () => {})()`, with `await`
/// before or `.catch(…)` behind.
fn calls_a_function(expression: &Expression<'_>, body: &[&Statement<'_>]) -> bool {
    match expression.get_inner_expression() {
        Expression::AwaitExpression(awaited) => calls_a_function(&awaited.argument, body),
        Expression::CallExpression(call) => match call.callee.get_inner_expression() {
            Expression::StaticMemberExpression(member)
                if matches!(member.property.name.as_str(), "then" | "catch" | "finally") =>
            {
                calls_a_function(&member.object, body)
            }
            Expression::Identifier(name) => declared(body).any(|(declared, _)| declared == name.name.as_str()),
            callee => function(callee).is_some(),
        },
        _ => false,
    }
}

/// The function to call in a program that does nothing but declare: `main`, or the only one.
fn main<'b>(body: &[&'b Statement<'_>]) -> Option<(&'b str, &'static str)> {
    let only_declares = body.iter().all(|statement| match statement {
        Statement::FunctionDeclaration(_) | Statement::ClassDeclaration(_) => true,
        Statement::VariableDeclaration(variables) => {
            variables.declarations.iter().all(|one| one.init.as_ref().is_none_or(|init| is_still(init)))
        }
        _ => false,
    });
    let functions: Vec<_> = declared(body).collect();
    match functions.as_slice() {
        [only] if only_declares => Some(*only),
        several if only_declares => several.iter().find(|(name, _)| *name == "main").copied(),
        _ => None,
    }
}

/// Nothing happens when it is evaluated.
fn is_still(expression: &Expression<'_>) -> bool {
    function(expression).is_some() || expression.get_inner_expression().is_literal()
}

/// The functions that are declared at the top level, and what to call each with.
fn declared<'b>(body: &[&'b Statement<'_>]) -> impl Iterator<Item = (&'b str, &'static str)> {
    body.iter().flat_map(|statement| match statement {
        Statement::FunctionDeclaration(function) if !function.generator => {
            function.id.iter().map(|id| (id.name.as_str(), arguments(&function.params))).collect::<Vec<_>>()
        }
        Statement::VariableDeclaration(variables) => {
            let named = |one: &'b VariableDeclarator<'_>| match &one.id {
                BindingPattern::BindingIdentifier(id) => {
                    one.init.as_ref().and_then(function).map(|arguments| (id.name.as_str(), arguments))
                }
                _ => None,
            };
            variables.declarations.iter().filter_map(named).collect()
        }
        _ => Vec::new(),
    })
}
