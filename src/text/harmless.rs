//! Text from a model or a file as a person may be shown it: nothing in it moves, hides or turns round what is around.

use std::fmt::Write;

/// One line of at most `most` characters.
#[must_use]
pub fn line(text: &str, most: usize) -> String {
    let mut shown = String::new();
    push_harmless(&mut shown, text, most, |_| false);
    shown
}

/// The same, but tabs stay.
#[must_use]
pub fn text(text: &str, most: usize) -> String {
    let mut shown = String::new();
    push_harmless(&mut shown, text, most, |char| char == '\t');
    shown
}

/// Appends up to `most` characters of `text`, with those that cannot be seen or change how others are shown as
/// `<U+202E>`; `kept` ones stay.
pub fn push_harmless(shown: &mut String, text: &str, most: usize, kept: impl Fn(char) -> bool) {
    let mut chars = text.chars();
    for char in chars.by_ref().take(most) {
        if is_harmful(char) && !kept(char) {
            let _ = write!(shown, "<U+{:04X}>", u32::from(char));
        } else {
            shown.push(char);
        }
    }
    let more = chars.count();
    if more > 0 {
        let _ = write!(shown, "… ({more} more characters)");
    }
}

/// Whether a character cannot be seen, or changes how others are: control characters, line ends, what sets the
/// direction of writing, and what has no width.
#[must_use]
pub fn is_harmful(char: char) -> bool {
    char.is_control()
        || matches!(
            char,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_shown_and_what_is_too_long_is_cut() {
        assert_eq!(line("a\u{1b}[2J\u{202e}b\n", 99), "a<U+001B>[2J<U+202E>b<U+000A>");
        assert_eq!(line("abcde", 3), "abc… (2 more characters)");
    }
}
