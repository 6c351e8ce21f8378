//! Names, strings and comments as they can stand in a declaration, whatever they are made of.

use std::fmt::Write;

use crate::text::harmless::is_harmful;

/// Characters of a comment; a schema's description may be a book.
const LONGEST_COMMENT: usize = 600;

/// A member's name: bare if it is a plain identifier, else as a string. Reserved words are fine where members are named.
pub(crate) fn key(name: &str) -> String {
    if is_identifier(name) { name.to_owned() } else { string(name) }
}

/// Whether `name` can stand bare.
pub(crate) fn is_identifier(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || matches!(first, b'_' | b'$'))
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$'))
}

/// A string in quotes. What cannot be seen is escaped, and so is the backtick, which could close a fence around.
pub(crate) fn string(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for char in text.chars() {
        match char {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '`' => escape(&mut quoted, char),
            char if is_harmful(char) => escape(&mut quoted, char),
            char => quoted.push(char),
        }
    }
    quoted.push('"');
    quoted
}

fn escape(quoted: &mut String, char: char) {
    let mut units = [0; 2];
    for unit in char.encode_utf16(&mut units) {
        let _ = write!(quoted, "\\u{unit:04x}");
    }
}

/// What is said about something, on one line, such that it cannot end the comment or a fence that it stands in.
/// Nothing, if nothing is said.
pub(crate) fn comment(said: &str) -> Option<String> {
    let seen: String =
        said.chars().map(|char| if char.is_control() { ' ' } else { char }).filter(|char| !is_harmful(*char)).collect();
    let mut line = String::new();
    for word in seen.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    let cut = line.char_indices().nth(LONGEST_COMMENT).map(|(at, _)| at);
    if let Some(at) = cut {
        line.truncate(at);
        line.push('…');
    }
    let safe = line.replace("*/", "*\\/").replace("```", "'''").replace("~~~", "---");
    (!safe.is_empty()).then_some(safe)
}

/// The first sentence of what is said, on one line; nothing, if nothing is said.
pub(crate) fn first_sentence(said: &str) -> Option<String> {
    let line = comment(said)?;
    let ends = line.match_indices(['.', ':', ';']).map(|(at, _)| line.split_at(at));
    let end = ends.into_iter().find(|(sentence, rest)| {
        // Not behind `e.g.`
        let is_word = !sentence.ends_with(|char: char| char.is_alphabetic())
            || sentence.chars().rev().take_while(|char| char.is_alphabetic()).count() > 1;
        is_word && matches!(rest.as_bytes(), [_] | [_, b' ', ..])
    });
    Some(end.map_or(line.as_str(), |(sentence, _)| sentence).to_owned())
}
