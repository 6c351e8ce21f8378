//! A program as a model writes it, TypeScript, as the JavaScript that runs: types are erased, and every line and column
//! stays where it was.

mod edits;
mod entry;
mod eraser;
mod fault;
mod fences;
mod members;
mod nesting;
mod nulls;
#[cfg(test)]
mod tests;
mod tokens;

use oxc_allocator::Allocator;
use oxc_ast_visit::Visit;
use oxc_parser::config::RuntimeParserConfig;
use oxc_parser::{ParseOptions, Parser, ParserReturn};
use oxc_span::SourceType;

use edits::Edits;
use eraser::Eraser;
pub use fault::SyntaxFault;
use tokens::Tokens;

/// A program that can run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    text: String,
    inserted: Vec<edits::Inserted>,
    end: (u32, u32),
}

impl Script {
    /// An expression in JavaScript that is a promise of what the program returns. It stands on as many lines as the
    /// program does and one more.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The line and column, both from 1 and in characters, at which the given program has what the script has at `line`
    /// and `column`, as the engine counts them: lines by line feeds, columns by bytes.
    #[must_use]
    pub fn place(&self, line: u32, column: u32) -> (u32, u32) {
        let column = self.characters(line, column);
        let before: u32 = self
            .inserted
            .iter()
            .filter(|inserted| inserted.line == line && inserted.column < column)
            .map(|inserted| inserted.width.min(column - inserted.column))
            .sum();
        (line, (column - before).max(1)).min(self.end)
    }

    /// Whether the program may throw `null`, or reject a promise with it, by what it says itself.
    pub(crate) fn may_throw_null(&self) -> bool {
        let allocator = Allocator::default();
        // What is left when types are erased is read again.
        parse(&allocator, &self.text, SourceType::mjs()).is_ok_and(|parsed| nulls::may_be_thrown(&parsed.program))
    }

    /// A column in characters.
    fn characters(&self, line: u32, bytes: u32) -> u32 {
        let nth = |number: u32| usize::try_from(number.saturating_sub(1)).unwrap_or(usize::MAX);
        let text = self.text.split('\n').nth(nth(line)).unwrap_or_default();
        let before = text.char_indices().take_while(|(at, _)| *at < nth(bytes)).count();
        let beyond = nth(bytes).saturating_sub(text.len());
        u32::try_from(before + beyond + 1).unwrap_or(u32::MAX)
    }
}

/// Reads a program and erases its types.
///
/// A program is the body of an async function: `await` and `return` stand at its top level. A fence around it is no part of
/// it. If it is nothing but a function, or only declares what `main` does, that function is called and its result is the
/// program's; so is that of a last statement that calls such a function without waiting for it.
///
/// ```
/// use toolgate::code::strip::erase;
///
/// let script = erase("const n: number = 1;\nreturn n as number;")?;
/// assert!(script.text().contains("const n         = 1;\nreturn n          ;"));
///
/// let fault = erase("const n = 1;\nenum Color { Red }").unwrap_err();
/// assert_eq!((fault.line, fault.column), (2, 1));
/// # Ok::<(), toolgate::code::strip::SyntaxFault>(())
/// ```
///
/// It goes as deep as the program is nested, on the stack of the thread that calls it, and is for a place where running out
/// of it costs nothing but the program: the process that will run it.
///
/// # Errors
/// It is no TypeScript, or has something in it that is code and not a type: an enum, a namespace, a parameter property, a
/// decorator, an import or export, JSX.
pub fn erase(program: &str) -> Result<Script, SyntaxFault> {
    let bare = fences::blanked(program);
    nesting::check(&bare)?;
    match erase_body(&bare, 0) {
        Ok(script) => Ok(script),
        // `async function () {}` is an expression only where one is expected.
        Err(fault) => match fences::as_expression(&bare) {
            Some((wrapped, at)) => erase_body(&wrapped, at + 1).map_err(|_| fault),
            None => Err(fault),
        },
    }
}

/// Erases the types of `source`. `opened`, unless it is 0, is just behind a parenthesis that the given program does not
/// have.
fn erase_body(source: &str, opened: usize) -> Result<Script, SyntaxFault> {
    let allocator = Allocator::default();
    let language = SourceType::ts().with_module(true);
    let parsed = parse(&allocator, source, language).map_err(|fault| jsx(source).unwrap_or(fault))?;
    let mut edits = Edits::new(source);
    if let Some(hashbang) = &parsed.program.hashbang {
        edits.blank(hashbang.span);
    }
    let mut eraser = Eraser::new(source, Tokens::new(&parsed.tokens), &mut edits);
    eraser.visit_program(&parsed.program);
    eraser.refuse_html_comments();
    if let Some(fault) = eraser.into_fault() {
        return Err(fault);
    }
    entry::make(&parsed.program, &mut edits);
    Ok(edits.script(opened))
}

/// A program without a fault, and its tokens.
fn parse<'a>(allocator: &'a Allocator, source: &'a str, language: SourceType) -> Result<ParserReturn<'a>, SyntaxFault> {
    let options =
        ParseOptions { allow_return_outside_function: true, parse_regular_expression: false, ..Default::default() };
    let parser = || Parser::new(allocator, source, language).with_options(options);
    // The parser keeps tokens well only where it finds no fault.
    let parsed = parser().with_config(RuntimeParserConfig::new(false)).parse();
    if parsed.panicked || !parsed.errors.is_empty() {
        return Err(fault::of_parser(source, &parsed));
    }
    Ok(parser().with_config(RuntimeParserConfig::new(true)).parse())
}

/// What is wrong with a program that would be one if JSX were understood.
fn jsx(source: &str) -> Option<SyntaxFault> {
    let allocator = Allocator::default();
    let parsed = parse(&allocator, source, SourceType::tsx().with_module(true)).ok()?;
    let mut edits = Edits::new(source);
    let mut eraser = Eraser::new(source, Tokens::new(&parsed.tokens), &mut edits);
    eraser.visit_program(&parsed.program);
    eraser.into_fault()
}
