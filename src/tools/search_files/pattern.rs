//! From the text of a pattern to what matches lines, within bounds.

use grep_regex::{RegexMatcher, RegexMatcherBuilder};

use crate::model::error::{ErrorCode, ToolError, glimpse};

/// A longer pattern is no search.
const MOST_BYTES: usize = 16 * 1024;

/// What a pattern may grow to, and what may be kept while it is matched. The engine is linear in the text whatever the
/// pattern is.
const MOST_COMPILED_BYTES: usize = 8 * 1024 * 1024;

/// What a pattern is taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) literal: bool,
    pub(super) ignore_case: bool,
    /// Whether `\r\n` ends a line, so that `$` stands before it.
    pub(super) crlf: bool,
}

/// What matches lines.
pub(super) fn matcher(pattern: &str, reading: Reading) -> Result<RegexMatcher, ToolError> {
    let bad = |problem: String| Err(ToolError::bad_argument("pattern", problem));
    if pattern.is_empty() {
        return bad(
            "it is empty, and would match every line. Say what to search for; find_files lists files.".to_owned()
        );
    }
    if pattern.len() > MOST_BYTES {
        return bad(format!(
            "it has {} bytes; at most {MOST_BYTES} are taken. Search for a shorter part.",
            pattern.len()
        ));
    }
    let mut builder = RegexMatcherBuilder::new();
    builder.fixed_strings(reading.literal).case_insensitive(reading.ignore_case).multi_line(true);
    builder.size_limit(MOST_COMPILED_BYTES).dfa_size_limit(MOST_COMPILED_BYTES);
    if reading.crlf {
        builder.crlf(true);
    } else {
        builder.line_terminator(Some(b'\n'));
    }
    builder.build(pattern).map_err(|error| refusal(pattern, reading.literal, &error))
}

/// Whether any character of `pattern` stands for something else than itself.
pub(super) fn has_meaning(pattern: &str) -> bool {
    regex_syntax::escape(pattern) != pattern
}

fn refusal(pattern: &str, literal: bool, error: &grep_regex::Error) -> ToolError {
    use grep_regex::ErrorKind;
    if let (false, Some((what, at))) = (literal, fault(pattern)) {
        let before = pattern.get(..at).map_or(0, |before| before.chars().count());
        let rest = pattern.get(at..).unwrap_or_default();
        let place = if rest.is_empty() { "at its end".to_owned() } else { format!("at {:?}", glimpse(rest)) };
        let problem = format!(
            "not a regular expression: {what} (character {}, {place}). Mend it, or set literal to take it as plain text.",
            before + 1
        );
        return ToolError::bad_argument("pattern", problem).with("at", before + 1);
    }
    let problem = match error.kind() {
        ErrorKind::NotAllowed(_) => {
            "it asks for a line break, but each line is held against it by itself. Search for what is on one line, and use \
             context_lines to see the next."
                .to_owned()
        }
        _ => format!("it cannot be searched for: {error}. Search for something simpler."),
    };
    let error = ToolError::bad_argument("pattern", problem);
    debug_assert_eq!(error.code, ErrorCode::InvalidArguments);
    error
}

/// What is wrong with an expression, and the byte where.
fn fault(pattern: &str) -> Option<(String, usize)> {
    match regex_syntax::Parser::new().parse(pattern).err()? {
        regex_syntax::Error::Parse(error) => Some((error.kind().to_string(), error.span().start.offset)),
        regex_syntax::Error::Translate(error) => Some((error.kind().to_string(), error.span().start.offset)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Reading = Reading { literal: false, ignore_case: false, crlf: true };

    #[test]
    fn a_bad_expression_is_told_with_its_place() {
        for (pattern, at, what) in [
            ("foo(", 4, "unclosed group"),
            ("\u{e4}[b", 2, "unclosed character class"),
            ("a**b)", 5, "unopened group"),
            ("(?=a)", 1, "look-around"),
            (r"(a)\1", 4, "backreferences"),
            (r"\p{Nonsense}", 1, "Unicode property"),
            ("a{2,1}", 2, "repetition"),
        ] {
            let error = matcher(pattern, PLAIN).expect_err(pattern);
            assert_eq!(error.code, ErrorCode::InvalidArguments);
            assert_eq!(error.details["at"], at, "{pattern}: {}", error.message);
            assert!(error.message.contains(what), "{pattern}: {}", error.message);
            assert!(matcher(pattern, Reading { literal: true, ..PLAIN }).is_ok(), "{pattern} as text");
        }
    }

    #[test]
    fn what_would_explode_is_refused_at_once() {
        let nested = format!("{}a{}", "(".repeat(5000), ")".repeat(5000));
        for pattern in ["((a{1000}){1000}){1000}", r"\p{L}{10000}", nested.as_str(), "a\nb", "", &"a".repeat(1 << 20)] {
            let error = matcher(pattern, PLAIN).expect_err("refused");
            assert_eq!(error.code, ErrorCode::InvalidArguments);
            assert!(error.message.len() < 1000, "{}", error.message);
        }
        assert!(matcher("(a+)+$", PLAIN).is_ok() && matcher(r"\s[^a]", PLAIN).is_ok());
    }
}
