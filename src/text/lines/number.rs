//! Line numbers before lines, as a model is shown them.

use memchr::memchr_iter;

use crate::text::lines::count;

/// `text` with a number before each line, as a model is shown it.
///
/// ```
/// use toolgate::text::lines::number;
/// assert_eq!(number("a\nb", 9), "9: a\n10: b");
/// ```
#[must_use]
pub fn number(text: &str, first_line: u64) -> String {
    let mut prefix = Prefix::new(first_line);
    let lines = count(text.as_bytes()) as usize;
    let widest = Prefix::new(first_line.saturating_add(lines as u64)).as_bytes().len();
    let mut out = Vec::with_capacity(text.len() + lines * widest);
    let mut start = 0;
    for end in memchr_iter(b'\n', text.as_bytes()) {
        out.extend_from_slice(prefix.as_bytes());
        out.extend_from_slice(&text.as_bytes()[start..=end]);
        prefix.increment();
        start = end + 1;
    }
    if start < text.len() {
        out.extend_from_slice(prefix.as_bytes());
        out.extend_from_slice(&text.as_bytes()[start..]);
    }
    // Never lossy: digits between whole lines of a string are a string.
    String::from_utf8(out).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// A line number and `": "` as text, counted up in place.
struct Prefix {
    text: [u8; Prefix::LEN],
    start: usize,
}

impl Prefix {
    /// The digits of the largest number, and `": "`.
    const LEN: usize = 22;
    const LAST_DIGIT: usize = Self::LEN - 3;

    fn new(mut number: u64) -> Self {
        let mut prefix = Prefix { text: [b'0'; Self::LEN], start: Self::LAST_DIGIT };
        prefix.text[Self::LAST_DIGIT + 1] = b':';
        prefix.text[Self::LAST_DIGIT + 2] = b' ';
        let mut at = Self::LAST_DIGIT;
        loop {
            prefix.text[at] = b'0' + (number % 10) as u8;
            prefix.start = at;
            number /= 10;
            if number == 0 {
                return prefix;
            }
            at -= 1;
        }
    }

    fn increment(&mut self) {
        let mut at = Self::LAST_DIGIT;
        while self.text[at] == b'9' {
            self.text[at] = b'0';
            if at == 0 {
                return;
            }
            at -= 1;
        }
        self.text[at] += 1;
        self.start = self.start.min(at);
    }

    fn as_bytes(&self) -> &[u8] {
        &self.text[self.start..]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_stand_before_lines() {
        let cases = [
            ("", 1, ""),
            ("a", 1, "1: a"),
            ("a\n", 1, "1: a\n"),
            ("a\r\n\nb", 9, "9: a\r\n10: \n11: b"),
            ("\tx\n", 99, "99: \tx\n"),
            ("a\nb\n", 99, "99: a\n100: b\n"),
            ("é\n日", 999, "999: é\n1000: 日"),
            ("a", u64::MAX, "18446744073709551615: a"),
            ("a\n", 0, "0: a\n"),
        ];
        for (text, first, numbered) in cases {
            assert_eq!(number(text, first), numbered);
        }
    }

    proptest! {
        #[test]
        fn numbering_is_what_format_says(text in "([a-z日\\r]{0,5}\n?){0,300}", first in 0u64..2_000_000) {
            let lines = text.split_inclusive('\n').enumerate();
            let expected: String = lines.map(|(at, line)| format!("{}: {line}", first + at as u64)).collect();
            prop_assert_eq!(number(&text, first), expected);
        }
    }
}
