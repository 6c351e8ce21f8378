//! Percent-encoding, as the paths of addresses use it (RFC 3986).

/// `path` as the path of an address: what is not allowed there, and what would end it, is encoded; `/` stays.
///
/// ```
/// use toolgate::text::uri::{decode, encode_path};
/// assert_eq!(encode_path("docs/ä b#1.md"), "docs/%C3%A4%20b%231.md");
/// assert_eq!(decode("docs/%C3%A4%20b%231.md").as_deref(), Some("docs/ä b#1.md"));
/// assert_eq!(decode("100%"), None);
/// ```
#[must_use]
pub fn encode_path(path: &str) -> String {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let mut encoded = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push('%');
            encoded.push(char::from(HEX[usize::from(byte >> 4)]));
            encoded.push(char::from(HEX[usize::from(byte & 15)]));
        }
    }
    encoded
}

/// What `text` stands for; nothing where it is not properly encoded, or not UTF-8.
#[must_use]
pub fn decode(text: &str) -> Option<String> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'%' => (hex(bytes.next()?)? << 4) | hex(bytes.next()?)?,
            byte => byte,
        });
    }
    String::from_utf8(decoded).ok()
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_not_encoded_properly_stands_for_nothing() {
        for (text, want) in [
            ("a%2Fb", Some("a/b")),
            ("a%2fb", Some("a/b")),
            ("%2e%2e/x", Some("../x")),
            ("%00", Some("\0")),
            ("a+b", Some("a+b")),
            ("", Some("")),
            ("%", None),
            ("%4", None),
            ("%zz", None),
            ("%+1", None),
            ("%ff", None),
        ] {
            assert_eq!(decode(text).as_deref(), want, "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_path_comes_back(path in "\\PC*") {
            let encoded = encode_path(&path);
            prop_assert!(encoded.is_ascii() && !encoded.contains(['?', '#', ' ', '\\', '"']));
            prop_assert_eq!(decode(&encoded), Some(path));
        }
    }
}
