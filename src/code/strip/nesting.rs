//! How deep a program is nested, and how often the parser has to try twice, told before it does.

use super::fault::SyntaxFault;

/// Brackets within brackets. People and models get by with twenty.
const DEEPEST: usize = 200;

/// Places one after the other at which only what comes behind says whether a type or a value stands there: `a < …` may begin
/// type arguments, `a ? (…` the parameters of a function. From each the parser reads on as far as that takes, and then once more
/// from there, so that many of them cost their number squared.
const MOST_TRIES: usize = 200;

/// Refuses a program whose brackets are nested too deeply, or with too long a chain of what may be a type.
///
/// It reads strings, comments, templates and, as well as can be told without a parser, regular expressions over.
pub(super) fn check(program: &str) -> Result<(), SyntaxFault> {
    let mut scan =
        Scan { bytes: program.as_bytes(), at: 0, open: Vec::new(), tries: 0, after_question: false, may_divide: false };
    while scan.at < scan.bytes.len() {
        scan.step();
        if scan.open.len() > DEEPEST {
            let message = format!(
                "brackets are nested more than {DEEPEST} deep. Build the value in steps, each with a name of its own."
            );
            return Err(SyntaxFault::at(program, scan.at.saturating_sub(1), message));
        }
        if scan.tries > MOST_TRIES {
            let message = format!(
                "one statement has more than {MOST_TRIES} `<` or `? (` one after the other, at each of which types or a function could begin. Divide it into \
                 statements, each with a `;` behind it."
            );
            return Err(SyntaxFault::at(program, scan.at.saturating_sub(1), message));
        }
    }
    Ok(())
}

/// Words behind which a slash begins a regular expression, though they end like a name.
const BEFORE_A_VALUE: [&[u8]; 15] = [
    b"return",
    b"typeof",
    b"case",
    b"in",
    b"of",
    b"delete",
    b"void",
    b"throw",
    b"new",
    b"await",
    b"yield",
    b"else",
    b"do",
    b"instanceof",
    b"default",
];

struct Scan<'p> {
    bytes: &'p [u8],
    at: usize,
    /// Open brackets, with the tries before each; a backtick is an open template that a `${` interrupts.
    open: Vec<(u8, usize)>,
    /// Where the parser may still be trying something when it comes here.
    tries: usize,
    /// Whether the last thing was a question mark.
    after_question: bool,
    /// Whether what is before ends a value, so that a slash divides it.
    may_divide: bool,
}

impl Scan<'_> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn step(&mut self) {
        let Some(byte) = self.peek(0) else { return };
        match (byte, self.peek(1)) {
            (b'/', Some(b'/')) => return self.skip_to(|byte, _| matches!(byte, b'\n' | b'\r')),
            (b'/', Some(b'*')) => {
                self.at += 2;
                self.skip_to(|byte, next| byte == b'*' && next == Some(b'/'));
                self.at += 2;
                return;
            }
            (b'/', _) if !self.may_divide => self.regular_expression(),
            (b'"' | b'\'', _) => {
                self.quoted(byte);
                self.may_divide = true;
            }
            (b'`', _) => self.template(),
            (b'}', _) if self.open.last().is_some_and(|(open, _)| *open == b'`') => {
                self.close();
                self.template();
            }
            (b'(' | b'[' | b'{', _) => {
                self.tries += usize::from(byte == b'(' && self.after_question);
                self.open.push((byte, self.tries));
                self.single(false);
            }
            (b')' | b']' | b'}', _) => {
                self.close();
                self.single(byte != b'}');
            }
            (b';', _) => {
                self.tries = self.open.last().map_or(0, |(_, before)| *before);
                self.single(false);
            }
            (b'<', Some(b'=')) | (b'=', Some(b'>')) | (b'?', Some(b'?' | b'.')) => {
                self.at += 1;
                self.single(false);
            }
            (b'<', _) => {
                // Behind a question mark a function with type parameters may begin as well, and their end is not its.
                self.tries += 1 + usize::from(self.after_question);
                self.single(false);
            }
            (b'>', _) => {
                // The end of type arguments, or of the attempt to read some.
                let before = self.open.last().map_or(0, |(_, before)| *before);
                self.tries = self.tries.saturating_sub(1).max(before);
                self.single(false);
            }
            (b'?', _) => {
                self.single(false);
                self.after_question = true;
                return;
            }
            (b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'_' | b'$' | 0x80.., _) => return self.word(),
            (byte, _) if byte.is_ascii_whitespace() => {
                self.at += 1;
                return;
            }
            _ => self.single(false),
        }
        self.after_question = false;
    }

    /// What was tried within brackets has come to its end with them.
    fn close(&mut self) {
        self.tries = self.open.pop().map_or(0, |(_, before)| before);
    }

    fn single(&mut self, may_divide: bool) {
        self.at += 1;
        self.may_divide = may_divide;
    }

    fn word(&mut self) {
        let start = self.at;
        self.skip_to(|byte, _| !(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | 0x80..)));
        let word = self.bytes.get(start..self.at).unwrap_or_default();
        if str::from_utf8(word).is_ok_and(|word| word.chars().all(|char| char.is_whitespace() || char == '\u{feff}')) {
            return;
        }
        self.tries += usize::from(self.after_question && word == b"async");
        self.after_question = false;
        self.may_divide = !BEFORE_A_VALUE.contains(&word);
    }

    fn skip_to(&mut self, end: impl Fn(u8, Option<u8>) -> bool) {
        while let Some(byte) = self.peek(0) {
            if end(byte, self.peek(1)) {
                break;
            }
            self.at += 1;
        }
    }

    /// Past a string; one that is not closed ends with its line.
    fn quoted(&mut self, quote: u8) {
        self.at += 1;
        while let Some(byte) = self.peek(0) {
            self.at += if byte == b'\\' { 2 } else { 1 };
            if byte == quote || byte == b'\n' {
                break;
            }
        }
    }

    fn regular_expression(&mut self) {
        self.at += 1;
        let mut in_class = false;
        while let Some(byte) = self.peek(0) {
            self.at += if byte == b'\\' { 2 } else { 1 };
            match byte {
                b'[' => in_class = true,
                b']' => in_class = false,
                b'/' if !in_class => break,
                b'\n' => break,
                _ => {}
            }
        }
        self.may_divide = true;
    }

    /// From a backtick, or from the brace that closes a `${`, to the next of these.
    fn template(&mut self) {
        self.at += 1;
        self.may_divide = true;
        while let Some(byte) = self.peek(0) {
            if byte == b'$' && self.peek(1) == Some(b'{') {
                self.at += 2;
                self.open.push((b'`', self.tries));
                self.may_divide = false;
                break;
            }
            self.at += if byte == b'\\' { 2 } else { 1 };
            if byte == b'`' {
                break;
            }
        }
    }
}
