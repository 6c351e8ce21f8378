//! Line numbers before lines, as a model is shown them.

use memchr::memchr;

use crate::text::lines::count;

/// `text` with a number before each line, as a model is shown it.
///
/// ```
/// use toolgate::text::lines::number;
/// assert_eq!(number("a\nb", 9), "9: a\n10: b");
/// ```
#[must_use]
pub fn number(text: &str, first_line: u64) -> String {
    let lines = count(text.as_bytes());
    let widest = first_line.saturating_add(lines).to_string().len() + 2;
    let mut out = String::with_capacity(text.len() + lines as usize * widest);
    let mut tens = first_line / 10;
    let mut ones = (first_line % 10) as usize;
    let mut head = leading_digits(tens);
    let mut start = 0;
    while start < text.len() {
        let end = memchr(b'\n', &text.as_bytes()[start..]).map_or(text.len(), |at| start + at + 1);
        out.push_str(&head);
        out.push_str(LAST_DIGIT[ones]);
        out.push_str(&text[start..end]);
        start = end;
        ones += 1;
        if ones == LAST_DIGIT.len() {
            ones = 0;
            tens += 1;
            head = leading_digits(tens);
        }
    }
    out
}

/// What stands after the leading digits, which change only every tenth line: formatting each number is slow.
const LAST_DIGIT: [&str; 10] = ["0: ", "1: ", "2: ", "3: ", "4: ", "5: ", "6: ", "7: ", "8: ", "9: "];

fn leading_digits(tens: u64) -> String {
    if tens == 0 { String::new() } else { tens.to_string() }
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
