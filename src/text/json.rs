//! JSON texts that may be long: written, and read once more, at the speed of copying where nothing is escaped.
//!
//! serde_json looks at every byte of what it passes over, and copies a text that holds escapes twice.

use memchr::memchr;

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

/// The members of an object, in order, each as it stands; nothing where a name is written with escapes.
///
/// `object` must have been read as JSON before: it is not checked again, and of what is no JSON anything may come.
///
/// ```
/// use toolgate::text::json::members;
/// let found = members(r#"{"a": [1, "}"], "b": "\""}"#);
/// assert_eq!(found, Some(vec![("a", r#"[1, "}"]"#), ("b", r#""\"""#)]));
/// ```
#[must_use]
pub fn members(object: &str) -> Option<Vec<(&str, &str)>> {
    let bytes = object.as_bytes();
    let mut found = Vec::new();
    let mut at = blanks_end(bytes, 0);
    if bytes.get(at) != Some(&b'{') {
        return None;
    }
    at += 1;
    loop {
        at = blanks_end(bytes, at);
        match bytes.get(at)? {
            b'}' => return Some(found),
            b',' => at = blanks_end(bytes, at + 1),
            _ => {}
        }
        let name_end = string_end(bytes, at)?;
        let name = object.get(at + 1..name_end - 1).filter(|name| !name.contains('\\'))?;
        let colon = blanks_end(bytes, name_end);
        let start = blanks_end(bytes, colon + 1);
        at = value_end(bytes, start)?;
        found.push((name, object.get(start..at)?));
    }
}

/// The text that a JSON string stands for; nothing if it is none, or holds half of a surrogate pair.
///
/// As for [`members`], `string` must have been read as JSON before.
///
/// ```
/// use toolgate::text::json::unescape;
/// assert_eq!(unescape(r#""a\n\u00e9""#).as_deref(), Some("a\né"));
/// assert_eq!(unescape(r#""\ud83d""#), None);
/// ```
#[must_use]
pub fn unescape(string: &str) -> Option<String> {
    let mut rest = string.strip_prefix('"')?.strip_suffix('"')?;
    let mut text = String::with_capacity(rest.len());
    while let Some(at) = memchr(b'\\', rest.as_bytes()) {
        text.push_str(rest.get(..at)?);
        let (character, length) = escaped(rest.get(at + 1..)?)?;
        text.push(character);
        rest = rest.get(at + 1 + length..)?;
    }
    text.push_str(rest);
    Some(text)
}

/// What stands behind a backslash, and how many bytes that is.
fn escaped(rest: &str) -> Option<(char, usize)> {
    let character = match rest.as_bytes().first()? {
        b'n' => '\n',
        b't' => '\t',
        b'r' => '\r',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'u' => return from_units(rest),
        &plain @ (b'"' | b'\\' | b'/') => plain.into(),
        _ => return None,
    };
    Some((character, 1))
}

/// The character of `uXXXX`, or of a surrogate pair of two such.
fn from_units(rest: &str) -> Option<(char, usize)> {
    let unit = |at: usize| u16::from_str_radix(rest.get(at..at + 4)?, 16).ok();
    let first = unit(1)?;
    if let Some(character) = char::from_u32(first.into()) {
        return Some((character, 5));
    }
    let second = unit(7).filter(|_| rest.get(5..7) == Some("\\u"))?;
    char::decode_utf16([first, second]).next()?.ok().map(|character| (character, 11))
}

fn blanks_end(bytes: &[u8], from: usize) -> usize {
    let blanks = bytes.iter().skip(from).take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
    from + blanks.count()
}

/// Where the string ends that begins at `start`.
fn string_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut from = start + 1;
    loop {
        let quote = from + memchr(b'"', bytes.get(from..)?)?;
        // It is escaped behind an odd number of backslashes.
        let backslashes = bytes[from..quote].iter().rev().take_while(|byte| **byte == b'\\').count();
        if backslashes % 2 == 0 {
            return Some(quote + 1);
        }
        from = quote + 1;
    }
}

/// Where the value ends that begins at `start`.
fn value_end(bytes: &[u8], start: usize) -> Option<usize> {
    match bytes.get(start)? {
        b'"' => string_end(bytes, start),
        b'{' | b'[' => nested_end(bytes, start),
        _ => {
            let after = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r');
            bytes[start..].iter().position(after).map(|length| start + length)
        }
    }
}

/// Where the object or list ends that begins at `start`.
fn nested_end(bytes: &[u8], start: usize) -> Option<usize> {
    let (mut at, mut depth) = (start, 0_usize);
    loop {
        match bytes.get(at)? {
            b'"' => {
                at = string_end(bytes, at)?;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return Some(at);
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

    #[test]
    fn strings_end_where_they_end() {
        for (object, want) in [
            ("{}", vec![]),
            (" { } ", vec![]),
            (r#"{"a":1}"#, vec![("a", "1")]),
            ("{\n\t\"a\" : -1.5e3 ,\r \"b\": null\n}", vec![("a", "-1.5e3"), ("b", "null")]),
            (r#"{"a":"\\\\","b":"\\\"","c":"\"\\"}"#, vec![("a", r#""\\\\""#), ("b", r#""\\\"""#), ("c", r#""\"\\""#)]),
            (r#"{"a":{"b":"}]","c":[{}]},"d":[]}"#, vec![("a", r#"{"b":"}]","c":[{}]}"#), ("d", "[]")]),
            (r#"{"":"","":true}"#, vec![("", r#""""#), ("", "true")]),
        ] {
            serde_json::from_str::<serde_json::Value>(object).expect("JSON");
            assert_eq!(members(object), Some(want), "{object}");
        }
        assert_eq!(members(r#"{"\u0061":1}"#), None, "a name in other words");
        assert_eq!(members("[1]"), None);
    }

    fn value() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            any::<i64>().prop_map(Into::into),
            any::<bool>().prop_map(Into::into),
            "(\\PC|[\u{0}-\u{7f}]|\"|\\\\){0,12}".prop_map(Into::into),
        ];
        leaf.prop_recursive(3, 20, 4, |inner| {
            let object = prop::collection::vec(("[a-z\"{}\\\\]{0,3}", inner.clone()), 0..4);
            prop_oneof![
                prop::collection::vec(inner, 0..4).prop_map(Into::into),
                object.prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_serde_writes_is_read_again(
            object in prop::collection::btree_map("[a-z{},:]{0,4}", value(), 0..5),
            pretty in any::<bool>(),
        ) {
            let json = if pretty { serde_json::to_string_pretty(&object) } else { serde_json::to_string(&object) };
            let json = json.expect("JSON");
            let found = members(&json).expect("plain names");
            let read = found.iter().map(|(name, value)| ((*name).to_owned(), serde_json::from_str(value).expect("JSON")));
            prop_assert_eq!(read.collect::<std::collections::BTreeMap<String, serde_json::Value>>(), object);
        }

        #[test]
        fn any_text_is_unescaped_to_itself(text in "(\\PC|[\u{0}-\u{7f}]|\"|\\\\|\n){0,80}") {
            let json = serde_json::to_string(&text).expect("a string");
            prop_assert_eq!(unescape(&json), Some(text.clone()));
            let units: String = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
            prop_assert_eq!(unescape(&format!("\"{units}\"")), Some(text));
        }

        #[test]
        fn any_text_as_serde_writes_it(text in "(\\PC|[\u{0}-\u{7f}]|\"|\\\\|\n){0,80}") {
            prop_assert_eq!(written(&text), serde_json::to_string(&text).expect("a string"));
        }
    }
}
