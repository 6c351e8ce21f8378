//! The walk over a program that erases what is only a type, and refuses what is more.

use oxc_ast::ast::*;
use oxc_ast_visit::{Visit, walk};
use oxc_span::{GetSpan, Span};

use super::edits::Edits;
use super::fault::SyntaxFault;
use super::tokens::Tokens;

pub(super) struct Eraser<'s, 't> {
    pub(super) source: &'s str,
    pub(super) tokens: Tokens<'t>,
    pub(super) edits: &'t mut Edits<'s>,
    /// The first thing that is refused, and its place.
    refused: Option<(u32, &'static str)>,
}

impl<'s, 't> Eraser<'s, 't> {
    pub(super) fn new(source: &'s str, tokens: Tokens<'t>, edits: &'t mut Edits<'s>) -> Self {
        Eraser { source, tokens, edits, refused: None }
    }

    /// The first thing, in the order of the program, that cannot be erased.
    pub(super) fn into_fault(self) -> Option<SyntaxFault> {
        self.refused.map(|(offset, message)| SyntaxFault::at(self.source, offset as usize, message))
    }

    pub(super) fn refuse(&mut self, span: Span, message: &'static str) {
        if self.refused.is_none_or(|(offset, _)| span.start < offset) {
            self.refused = Some((span.start, message));
        }
    }

    /// `<!--` is an operator, a not and a decrement in TypeScript, but begins a comment in a script.
    pub(super) fn refuse_html_comments(&mut self) {
        let found: Vec<usize> = self.source.match_indices("<!--").map(|(at, _)| at).collect();
        for at in found {
            let Ok(start) = u32::try_from(at) else { continue };
            if self.tokens.at_or_after(start).is_some_and(|token| token.start == start) {
                self.refuse(Span::new(start, start), "`<!--` begins a comment in JavaScript: put a space behind `<`.");
            }
        }
    }

    pub(super) fn text(&self, span: Span) -> &'s str {
        self.source.get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    /// Erases a whole statement or class member. The semicolon in its place keeps the one before from going on behind it.
    pub(super) fn erase_whole(&mut self, span: Span) {
        self.edits.blank(span);
        self.edits.put(span.start, ';');
    }

    /// Ends a statement or class member whose last words are erased: what follows on the next line could go on with what
    /// is left.
    pub(super) fn end(&mut self, span: Span) {
        let erased = self.tokens.within(span).rev().take_while(|token| self.edits.is_blank(token.start)).last();
        if let Some(first) = erased {
            self.edits.put(first.start, ';');
        }
    }

    /// Erases the token `mark`, if it is what comes at `offset` or next.
    pub(super) fn erase_mark(&mut self, offset: u32, mark: &str) {
        if let Some(token) = self.tokens.at_or_after(offset)
            && self.text(token) == mark
        {
            self.edits.blank(token);
        }
    }

    /// What is behind `expression` up to `end`: `as T`, `satisfies T`, `!`, `<T>`.
    fn erase_behind(&mut self, expression: Span, end: u32) {
        self.edits.blank(Span::new(expression.end, end));
    }

    /// An arrow function's parenthesis must stand on the line of what is before and behind it, so it takes the place of
    /// the type.
    fn arrow(&mut self, arrow: &ArrowFunctionExpression<'_>) {
        if let Some(parameters) = &arrow.type_parameters
            && let Some(open) = self.tokens.at_or_after(parameters.span.end)
            && self.edits.has_line_end(Span::new(parameters.span.start, open.start))
        {
            self.edits.blank(open);
            self.edits.put(parameters.span.start, '(');
        }
        if let Some(returned) = &arrow.return_type
            && let Some(close) = self.tokens.before(returned.span.start)
            && self.edits.has_line_end(Span::new(close.start, returned.span.end))
        {
            self.edits.blank(close);
            self.edits.put_last(returned.span.end, ')');
        }
    }

    /// Erases `abstract` before `class`, and what is implemented.
    fn class(&mut self, class: &Class<'_>) {
        for token in self.tokens.within(Span::new(class.span.start, class.body.span.start)) {
            match self.text(token) {
                "abstract" => self.edits.blank(token),
                _ => break,
            }
        }
        if let Some(last) = class.implements.last() {
            let before = [
                class.id.as_ref().map(|id| id.span.end),
                class.type_parameters.as_ref().map(|parameters| parameters.span.end),
                class.super_class.as_ref().map(|class| class.span().end),
                class.super_type_arguments.as_ref().map(|arguments| arguments.span.end),
            ];
            let header = before.into_iter().flatten().max().unwrap_or(class.span.start);
            let implements =
                self.tokens.within(Span::new(header, last.span.start)).find(|token| self.text(*token) == "implements");
            if let Some(implements) = implements {
                self.edits.blank(Span::new(implements.start, last.span.end));
            }
        }
    }
}

const ENUM: &str =
    "an enum is code, and only types are erased. Write `const Color = { Red: \"red\" } as const;` instead.";
const NAMESPACE: &str = "a namespace is code, and only types are erased. Write an object or plain functions instead.";
const PARAMETER: &str = "a parameter property is code, and only types are erased. Declare the field in the class and assign \
                         it in the constructor.";
const DECORATOR: &str = "decorators are not understood. Call the function yourself.";
const ACCESSOR: &str = "accessor fields are not understood. Write a get and a set method instead.";
const IMPORT: &str = "nothing can be imported: there are no modules. Everything that can be called is in `tools`.";
const EXPORT: &str =
    "the program is the body of an async function, and exports nothing. Remove `export`, and return the result.";
const JSX: &str = "JSX is not understood. Build the text with a template string.";
const ASSERTION: &str = "write `value as Type` instead of `<Type>value`.";

impl<'a> Visit<'a> for Eraser<'_, '_> {
    fn visit_statement(&mut self, it: &Statement<'a>) {
        let span = it.span();
        match it {
            Statement::TSTypeAliasDeclaration(_)
            | Statement::TSInterfaceDeclaration(_)
            | Statement::TSGlobalDeclaration(_) => {
                self.erase_whole(span);
            }
            Statement::TSEnumDeclaration(declared) if declared.declare => self.erase_whole(span),
            Statement::TSModuleDeclaration(declared) if declared.declare => self.erase_whole(span),
            Statement::ClassDeclaration(class) if class.declare => self.erase_whole(span),
            Statement::VariableDeclaration(variables) if variables.declare => self.erase_whole(span),
            Statement::FunctionDeclaration(function) if function.declare || function.body.is_none() => {
                self.erase_whole(span)
            }
            Statement::VariableDeclaration(_)
            | Statement::ExpressionStatement(_)
            | Statement::ReturnStatement(_)
            | Statement::ThrowStatement(_) => {
                walk::walk_statement(self, it);
                self.end(span);
            }
            Statement::TSEnumDeclaration(_) => self.refuse(span, ENUM),
            Statement::TSModuleDeclaration(_) => self.refuse(span, NAMESPACE),
            Statement::ImportDeclaration(_) | Statement::TSImportEqualsDeclaration(_) => self.refuse(span, IMPORT),
            Statement::ExportAllDeclaration(_)
            | Statement::ExportDefaultDeclaration(_)
            | Statement::ExportNamedDeclaration(_)
            | Statement::TSExportAssignment(_)
            | Statement::TSNamespaceExportDeclaration(_) => self.refuse(span, EXPORT),
            _ => walk::walk_statement(self, it),
        }
    }

    fn visit_import_expression(&mut self, it: &ImportExpression<'a>) {
        self.refuse(it.span, IMPORT);
    }

    fn visit_meta_property(&mut self, it: &MetaProperty<'a>) {
        if it.meta.name == "import" {
            self.refuse(it.span, IMPORT);
        }
    }

    fn visit_decorator(&mut self, it: &Decorator<'a>) {
        self.refuse(it.span, DECORATOR);
    }

    fn visit_jsx_element(&mut self, it: &JSXElement<'a>) {
        self.refuse(it.span, JSX);
    }

    fn visit_jsx_fragment(&mut self, it: &JSXFragment<'a>) {
        self.refuse(it.span, JSX);
    }

    fn visit_ts_type_assertion(&mut self, it: &TSTypeAssertion<'a>) {
        self.refuse(it.span, ASSERTION);
    }

    fn visit_ts_type_annotation(&mut self, it: &TSTypeAnnotation<'a>) {
        self.edits.blank(it.span);
    }

    fn visit_ts_type_parameter_declaration(&mut self, it: &TSTypeParameterDeclaration<'a>) {
        self.edits.blank(it.span);
    }

    fn visit_ts_type_parameter_instantiation(&mut self, it: &TSTypeParameterInstantiation<'a>) {
        self.edits.blank(it.span);
    }

    fn visit_ts_class_implements_list(&mut self, _: &oxc_allocator::Vec<'a, TSClassImplements<'a>>) {}

    fn visit_ts_this_parameter(&mut self, it: &TSThisParameter<'a>) {
        self.edits.blank(it.span);
        self.erase_mark(it.span.end, ",");
    }

    fn visit_ts_as_expression(&mut self, it: &TSAsExpression<'a>) {
        self.visit_expression(&it.expression);
        self.erase_behind(it.expression.span(), it.span.end);
    }

    fn visit_ts_satisfies_expression(&mut self, it: &TSSatisfiesExpression<'a>) {
        self.visit_expression(&it.expression);
        self.erase_behind(it.expression.span(), it.span.end);
    }

    fn visit_ts_non_null_expression(&mut self, it: &TSNonNullExpression<'a>) {
        self.visit_expression(&it.expression);
        self.erase_behind(it.expression.span(), it.span.end);
    }

    fn visit_ts_instantiation_expression(&mut self, it: &TSInstantiationExpression<'a>) {
        self.visit_expression(&it.expression);
        self.erase_behind(it.expression.span(), it.span.end);
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        if it.definite {
            self.erase_mark(it.id.span().end, "!");
        }
        walk::walk_variable_declarator(self, it);
    }

    fn visit_formal_parameter(&mut self, it: &FormalParameter<'a>) {
        if it.accessibility.is_some() || it.readonly || it.r#override {
            self.refuse(it.span, PARAMETER);
        }
        if it.optional {
            self.erase_mark(it.pattern.span().end, "?");
        }
        walk::walk_formal_parameter(self, it);
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        match it.body.statements.as_slice() {
            // An expression, though it stands there as a statement: it does not end where a line ends.
            [Statement::ExpressionStatement(body)] if it.expression => {
                it.type_parameters.iter().for_each(|parameters| self.visit_ts_type_parameter_declaration(parameters));
                self.visit_formal_parameters(&it.params);
                it.return_type.iter().for_each(|returned| self.visit_ts_type_annotation(returned));
                self.visit_expression(&body.expression);
            }
            _ => walk::walk_arrow_function_expression(self, it),
        }
        self.arrow(it);
    }

    fn visit_class(&mut self, it: &Class<'a>) {
        self.class(it);
        walk::walk_class(self, it);
    }

    fn visit_class_element(&mut self, it: &ClassElement<'a>) {
        match it {
            ClassElement::TSIndexSignature(signature) => self.erase_whole(signature.span),
            ClassElement::MethodDefinition(method) if method.value.body.is_none() => self.erase_whole(method.span),
            ClassElement::PropertyDefinition(field) if is_only_declared(field) => self.erase_whole(field.span),
            ClassElement::AccessorProperty(accessor) => self.refuse(accessor.span, ACCESSOR),
            ClassElement::MethodDefinition(method) => {
                self.modifiers(method.span, method.key.span(), method.optional, false);
                walk::walk_class_element(self, it);
            }
            ClassElement::PropertyDefinition(field) => {
                self.modifiers(field.span, field.key.span(), field.optional, field.definite);
                walk::walk_class_element(self, it);
                self.end(field.span);
            }
            ClassElement::StaticBlock(_) => walk::walk_class_element(self, it),
        }
    }
}

fn is_only_declared(field: &PropertyDefinition<'_>) -> bool {
    field.declare || field.r#type == PropertyDefinitionType::TSAbstractPropertyDefinition
}
