//! What is wrong with a program, and where.

use oxc_parser::ParserReturn;

/// A program that cannot run: nothing of it has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct SyntaxFault {
    /// The line in the given program, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// What is wrong, and what to write instead.
    pub message: String,
}

impl SyntaxFault {
    /// A fault at a byte of `source`.
    pub(super) fn at(source: &str, offset: usize, message: impl Into<String>) -> Self {
        let (line, column) = place(source, offset);
        SyntaxFault { line, column, message: message.into() }
    }
}

/// Line and column of a byte, both from 1, the column in characters.
pub(super) fn place(source: &str, offset: usize) -> (u32, u32) {
    let (mut line, mut column) = (1, 1);
    let mut chars = source.char_indices().take_while(|(at, _)| *at < offset).map(|(_, char)| char).peekable();
    while let Some(char) = chars.next() {
        if is_line_end(char, chars.peek().copied()) {
            line += 1;
            column = 1;
        } else {
            column += 1;
        }
    }
    (line, column)
}

/// Whether a line ends behind `char`: JavaScript knows four ends of lines, and CR LF is one.
pub(super) fn is_line_end(char: char, next: Option<char>) -> bool {
    match char {
        '\n' | '\u{2028}' | '\u{2029}' => true,
        '\r' => next != Some('\n'),
        _ => false,
    }
}

/// The first of the parser's faults.
pub(super) fn of_parser(source: &str, parsed: &ParserReturn<'_>) -> SyntaxFault {
    let Some(error) = parsed.errors.first() else { return SyntaxFault::at(source, 0, "this is no TypeScript") };
    let offset = error.labels.iter().flatten().map(|label| label.offset()).next();
    let mut message = error.message.to_string();
    if let Some(help) = &error.help {
        message.push_str(&format!(" ({help})"));
    }
    SyntaxFault::at(source, offset.unwrap_or(source.len()), message)
}
