//! Text as a JSON string, at the speed of copying where nothing needs an escape.

/// How many bytes are looked at together.
const BLOCK: usize = 16;

/// Appends `text` as a JSON string. The result is what `serde_json` writes.
///
/// ```
/// let mut json = String::new();
/// toolgate::text::json::push_string(&mut json, "a \"b\"\n");
/// assert_eq!(json, r#""a \"b\"\n""#);
/// ```
pub fn push_string(json: &mut String, text: &str) {
    json.reserve(text.len() + text.len() / 16 + 2);
    json.push('"');
    let mut from = 0;
    while let Some(at) = next_escaped(&text.as_bytes()[from..]).map(|at| from + at) {
        // What needs an escape is ASCII, so both ends lie between characters.
        json.push_str(&text[from..at]);
        push_escape(json, text.as_bytes()[at]);
        from = at + 1;
    }
    json.push_str(&text[from..]);
    json.push('"');
}

fn needs_escape(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

fn next_escaped(bytes: &[u8]) -> Option<usize> {
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    for (count, block) in blocks.iter().enumerate() {
        // Without a branch inside, so that the compiler looks at a block at once.
        if block.iter().fold(false, |any, byte| any | needs_escape(*byte)) {
            return block.iter().position(|byte| needs_escape(*byte)).map(|at| count * BLOCK + at);
        }
    }
    rest.iter().position(|byte| needs_escape(*byte)).map(|at| blocks.len() * BLOCK + at)
}

fn push_escape(json: &mut String, byte: u8) {
    match byte {
        b'"' => json.push_str("\\\""),
        b'\\' => json.push_str("\\\\"),
        b'\n' => json.push_str("\\n"),
        b'\r' => json.push_str("\\r"),
        b'\t' => json.push_str("\\t"),
        0x08 => json.push_str("\\b"),
        0x0c => json.push_str("\\f"),
        other => {
            const DIGITS: &[u8; 16] = b"0123456789abcdef";
            json.push_str("\\u00");
            json.push(DIGITS[usize::from(other >> 4)].into());
            json.push(DIGITS[usize::from(other & 15)].into());
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(text: &str) -> String {
        let mut json = String::new();
        push_string(&mut json, text);
        json
    }

    #[test]
    fn every_character_of_ascii_as_serde_writes_it() {
        let ascii: String = (0..=127_u8).map(char::from).collect();
        assert_eq!(written(&ascii), serde_json::to_string(&ascii).expect("a string"));
    }

    proptest! {
        #[test]
        fn any_text_as_serde_writes_it(text in "(\\PC|[\u{0}-\u{7f}]|\"|\\\\|\n){0,80}") {
            prop_assert_eq!(written(&text), serde_json::to_string(&text).expect("a string"));
        }
    }
}
