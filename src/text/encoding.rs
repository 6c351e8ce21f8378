//! Which files are text: UTF-8, and UTF-16 with a byte order mark. What is decoded can be encoded to the same bytes.

use std::borrow::Cow;
use std::char::decode_utf16;

use memchr::memchr;

const UTF8_BOM: &[u8] = b"\xEF\xBB\xBF";
const UTF16_LE_BOM: &[u8] = b"\xFF\xFE";
const UTF16_BE_BOM: &[u8] = b"\xFE\xFF";
/// How characters stand as bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// UTF-8.
    Utf8,
    /// UTF-8 after a byte order mark.
    Utf8Bom,
    /// UTF-16, low bytes first, after a byte order mark.
    Utf16Le,
    /// UTF-16, high bytes first, after a byte order mark.
    Utf16Be,
}

impl Encoding {
    /// The mark that a file in this encoding begins with.
    #[must_use]
    pub const fn bom(self) -> &'static [u8] {
        match self {
            Encoding::Utf8 => b"",
            Encoding::Utf8Bom => UTF8_BOM,
            Encoding::Utf16Le => UTF16_LE_BOM,
            Encoding::Utf16Be => UTF16_BE_BOM,
        }
    }

    /// The name for people and models.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Encoding::Utf8 => "UTF-8",
            Encoding::Utf8Bom => "UTF-8 with a byte order mark",
            Encoding::Utf16Le => "UTF-16 LE",
            Encoding::Utf16Be => "UTF-16 BE",
        }
    }
}

/// A text, and how it stood as bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded<'a> {
    /// The text without its byte order mark.
    pub text: Cow<'a, str>,
    /// How it stood.
    pub encoding: Encoding,
}

/// Why bytes are no text that can be kept as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotText {
    /// There is a NUL, which text has not.
    #[error("binary data, not text (NUL at byte {nul_at})")]
    Binary {
        /// Its offset in bytes.
        nul_at: u64,
    },
    /// It may be text, but in another encoding.
    #[error(
        "not UTF-8, nor UTF-16 with a byte order mark (from byte {bad_at} on), \
         so possibly text in a legacy encoding, which cannot be kept as it is"
    )]
    Unsupported {
        /// The offset of the first byte that does not fit.
        bad_at: u64,
    },
    /// It begins as UTF-32 with a byte order mark does.
    #[error("UTF-32 with a byte order mark, which is not kept as it is")]
    Utf32,
}

/// The encoding that the byte order mark at the start of a file tells; UTF-8 without one.
#[must_use]
pub fn detect(head: &[u8]) -> Encoding {
    [Encoding::Utf8Bom, Encoding::Utf16Le, Encoding::Utf16Be]
        .into_iter()
        .find(|encoding| head.starts_with(encoding.bom()))
        .unwrap_or(Encoding::Utf8)
}

/// Whether a file that begins with `head` is UTF-32 with a byte order mark. In its little-endian form that begins as UTF-16
/// does, with a NUL behind it, which no text has.
#[must_use]
pub fn is_utf32(head: &[u8]) -> bool {
    let (units, _) = head.as_chunks::<4>();
    let all = |unit: fn([u8; 4]) -> u32| {
        units.first().is_some_and(|mark| unit(*mark) == 0xFEFF)
            && units.iter().take(64).all(|bytes| char::from_u32(unit(*bytes)).is_some_and(|char| char != '\0'))
    };
    all(u32::from_le_bytes) || all(u32::from_be_bytes)
}

/// The text that `bytes` are. [`encode`] gives exactly these bytes again.
///
/// # Errors
/// [`NotText`] for everything that is not text in one of the [`Encoding`]s.
///
/// ```
/// use toolgate::text::encoding::{Encoding, NotText, decode, encode};
/// let decoded = decode(b"\xFF\xFEh\0i\0")?;
/// assert_eq!((&*decoded.text, decoded.encoding), ("hi", Encoding::Utf16Le));
/// assert_eq!(encode("hi!", decoded.encoding), b"\xFF\xFEh\0i\0!\0");
/// # Ok::<(), NotText>(())
/// ```
pub fn decode(bytes: &[u8]) -> Result<Decoded<'_>, NotText> {
    if is_utf32(bytes) {
        return Err(NotText::Utf32);
    }
    let encoding = detect(bytes);
    let body = &bytes[encoding.bom().len()..];
    match encoding {
        Encoding::Utf8 | Encoding::Utf8Bom => {
            Ok(Decoded { text: Cow::Borrowed(utf8(body, bytes.len() - body.len())?), encoding })
        }
        Encoding::Utf16Le | Encoding::Utf16Be => {
            let mut text = Vec::with_capacity(body.len());
            let mut transcoder = Transcoder::new(encoding);
            transcoder.feed(bytes, &mut text)?;
            transcoder.finish(&mut text)?;
            Ok(Decoded { text: Cow::Owned(String::from_utf8_lossy(&text).into_owned()), encoding })
        }
    }
}

fn utf8(bytes: &[u8], at: usize) -> Result<&str, NotText> {
    if let Some(nul) = memchr(0, bytes) {
        return Err(NotText::Binary { nul_at: (at + nul) as u64 });
    }
    str::from_utf8(bytes).map_err(|error| NotText::Unsupported { bad_at: (at + error.valid_up_to()) as u64 })
}

/// The bytes of `text` in `encoding`, with its byte order mark. What `text` begins with, even another mark, is text.
#[must_use]
pub fn encode(text: &str, encoding: Encoding) -> Vec<u8> {
    let mut out = encoding.bom().to_vec();
    match encoding {
        Encoding::Utf8 | Encoding::Utf8Bom => out.extend_from_slice(text.as_bytes()),
        Encoding::Utf16Le => out.extend(text.encode_utf16().flat_map(u16::to_le_bytes)),
        Encoding::Utf16Be => out.extend(text.encode_utf16().flat_map(u16::to_be_bytes)),
    }
    out
}

/// Turns a text that comes in chunks into UTF-8 without a byte order mark. UTF-8 passes through unchecked.
#[derive(Debug)]
pub struct Transcoder {
    encoding: Encoding,
    /// How many bytes of the byte order mark have gone by; nothing once it is behind, or was not there.
    bom: Option<usize>,
    /// Bytes of a character that is not complete yet.
    held: Vec<u8>,
    /// The offset of the first byte not yet in `out`.
    at: u64,
}

impl Transcoder {
    /// A transcoder for a file in `encoding`.
    #[must_use]
    pub fn new(encoding: Encoding) -> Self {
        Transcoder { encoding, bom: Some(0), held: Vec::new(), at: 0 }
    }

    /// Appends what `chunk` completes to `out`.
    ///
    /// # Errors
    /// [`NotText`] for UTF-16 that is not well formed or holds a NUL.
    pub fn feed(&mut self, chunk: &[u8], out: &mut Vec<u8>) -> Result<(), NotText> {
        let chunk = self.strip_bom(chunk, out);
        match self.encoding {
            Encoding::Utf8 | Encoding::Utf8Bom => out.extend_from_slice(chunk),
            Encoding::Utf16Le => self.utf16(chunk, out, u16::from_le_bytes)?,
            Encoding::Utf16Be => self.utf16(chunk, out, u16::from_be_bytes)?,
        }
        Ok(())
    }

    /// Says that the file ends here.
    ///
    /// # Errors
    /// [`NotText::Unsupported`] if it ends inside a character.
    pub fn finish(mut self, out: &mut Vec<u8>) -> Result<(), NotText> {
        self.give_up_bom(out);
        if self.held.is_empty() { Ok(()) } else { Err(NotText::Unsupported { bad_at: self.at }) }
    }

    fn strip_bom<'c>(&mut self, mut chunk: &'c [u8], out: &mut Vec<u8>) -> &'c [u8] {
        while let Some(seen) = self.bom {
            let bom = self.encoding.bom();
            if seen == bom.len() {
                self.at = seen as u64;
                self.bom = None;
                break;
            }
            match chunk.split_first() {
                None => break,
                Some((&byte, rest)) if byte == bom[seen] => {
                    self.bom = Some(seen + 1);
                    chunk = rest;
                }
                Some(_) => self.give_up_bom(out),
            }
        }
        chunk
    }

    /// What looked like the start of a mark is content.
    fn give_up_bom(&mut self, out: &mut Vec<u8>) {
        let Some(seen) = self.bom.take() else { return };
        let bom = self.encoding.bom();
        match self.encoding {
            _ if seen == bom.len() => self.at = seen as u64,
            Encoding::Utf8 | Encoding::Utf8Bom => out.extend_from_slice(&bom[..seen]),
            Encoding::Utf16Le | Encoding::Utf16Be => self.held.extend_from_slice(&bom[..seen]),
        }
    }

    fn utf16(&mut self, chunk: &[u8], out: &mut Vec<u8>, unit: fn([u8; 2]) -> u16) -> Result<(), NotText> {
        let mut rest = chunk;
        // First what was held, byte by byte, until it is a character.
        while !self.held.is_empty() {
            let Some((&byte, tail)) = rest.split_first() else { return Ok(()) };
            self.held.push(byte);
            rest = tail;
            let held = std::mem::take(&mut self.held);
            self.pairs(&held, out, unit)?;
        }
        self.pairs(rest, out, unit)
    }

    /// Appends the characters of `bytes`; what is not complete at the end is held.
    fn pairs(&mut self, bytes: &[u8], out: &mut Vec<u8>, unit: fn([u8; 2]) -> u16) -> Result<(), NotText> {
        let (pairs, odd) = bytes.as_chunks::<2>();
        let cut = match pairs.last() {
            Some(&last) if (0xD800..0xDC00).contains(&unit(last)) => pairs.len() - 1,
            _ => pairs.len(),
        };
        out.reserve(bytes.len());
        for char in decode_utf16(pairs[..cut].iter().map(|&pair| unit(pair))) {
            match char {
                Ok('\0') => return Err(NotText::Binary { nul_at: self.at }),
                Ok(char) => {
                    out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
                    self.at += 2 * char.len_utf16() as u64;
                }
                Err(_) => return Err(NotText::Unsupported { bad_at: self.at }),
            }
        }
        self.held.extend_from_slice(&bytes[2 * cut..]);
        debug_assert!(odd.len() < 2, "pairs leave one byte at most");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Case = (&'static [u8], Result<(&'static str, Encoding), NotText>);

    #[test]
    fn text_is_told_from_the_rest() {
        use Encoding::{Utf8, Utf8Bom, Utf16Be, Utf16Le};
        let cases: [Case; 25] = [
            (b"", Ok(("", Utf8))),
            (b"h\xC3\xA9\n", Ok(("hé\n", Utf8))),
            (b"\xEF\xBB\xBFa", Ok(("a", Utf8Bom))),
            (b"\xEF\xBB\xBF", Ok(("", Utf8Bom))),
            // Two marks: neither is hidden, or one would be lost.
            (b"\xEF\xBB\xBF\xEF\xBB\xBFa", Ok(("\u{FEFF}a", Utf8Bom))),
            (b"\xFF\xFEa\0", Ok(("a", Utf16Le))),
            (b"\xFE\xFF\0a", Ok(("a", Utf16Be))),
            (b"\xFF\xFE\x34\xD8\x1E\xDD", Ok(("\u{1D11E}", Utf16Le))),
            (b"\xFF\xFE\xFF\xFEa\0", Ok(("\u{FEFF}a", Utf16Le))),
            (b"PK\x03\x04\0\0\xFF", Err(NotText::Binary { nul_at: 4 })),
            (b"\xFF\x80a\0", Err(NotText::Binary { nul_at: 3 })),
            (b"\xEF\xBB\xBFa\0", Err(NotText::Binary { nul_at: 4 })),
            (b"a\xE7\xE3o\n", Err(NotText::Unsupported { bad_at: 1 })),
            (b"\xC4\xE3\xBA\xC3\n", Err(NotText::Unsupported { bad_at: 0 })),
            (b"ok \xE6\x97", Err(NotText::Unsupported { bad_at: 3 })),
            (b"\xFF\xFEa", Err(NotText::Unsupported { bad_at: 2 })),
            (b"\xFF\xFEa\0\x34\xD8", Err(NotText::Unsupported { bad_at: 4 })),
            (b"\xFF\xFE\x34\xD8a\0", Err(NotText::Unsupported { bad_at: 2 })),
            (b"\xFF\xFEa\0\0\0", Err(NotText::Binary { nul_at: 4 })),
            (b"\xFF\xFE\0\0", Err(NotText::Utf32)),
            (b"\xFF\xFE\0\0a\0\0\0\x1E\xD1\x01\0", Err(NotText::Utf32)),
            (b"\0\0\xFE\xFF\0\0\0a", Err(NotText::Utf32)),
            // No character is so large, and none is NUL: something else that begins alike.
            (b"\xFF\xFE\0\0a\0\0\x01", Err(NotText::Binary { nul_at: 2 })),
            (b"\0\0\xFE\xFF\0\0\0\0", Err(NotText::Binary { nul_at: 0 })),
            (b"\0\0\xFF\xFE", Err(NotText::Binary { nul_at: 0 })),
        ];
        for (bytes, right) in cases {
            let right = right.map(|(text, encoding)| Decoded { text: text.into(), encoding });
            assert_eq!(decode(bytes), right, "{bytes:x?}");
        }
    }

    #[test]
    fn the_mark_is_the_first_and_everything_after_it_is_text() {
        assert_eq!(encode("é", Encoding::Utf8Bom), b"\xEF\xBB\xBF\xC3\xA9");
        assert_eq!(encode("\u{FEFF}é", Encoding::Utf8Bom), b"\xEF\xBB\xBF\xEF\xBB\xBF\xC3\xA9");
        assert_eq!(encode("\u{FEFF}a", Encoding::Utf16Be), b"\xFE\xFF\xFE\xFF\0a");
        assert_eq!(encode("\u{FEFF}a", Encoding::Utf8), b"\xEF\xBB\xBFa");
    }

    fn transcode(encoding: Encoding, bytes: &[u8], chunk: usize) -> Result<Vec<u8>, NotText> {
        let mut out = Vec::new();
        let mut transcoder = Transcoder::new(encoding);
        for chunk in bytes.chunks(chunk) {
            transcoder.feed(chunk, &mut out)?;
        }
        transcoder.finish(&mut out)?;
        Ok(out)
    }

    #[test]
    fn what_only_starts_like_a_mark_is_content() {
        for bytes in [&b"\xEF\xBB"[..], b"\xEF\xBBx", b"x\xEF\xBB\xBF", b""] {
            for chunk in 1..4 {
                assert_eq!(transcode(Encoding::Utf8Bom, bytes, chunk).as_deref(), Ok(bytes));
            }
        }
        assert_eq!(transcode(Encoding::Utf16Le, b"a\0", 1).as_deref(), Ok(&b"a"[..]));
        assert_eq!(transcode(Encoding::Utf16Be, b"\xFE", 1), Err(NotText::Unsupported { bad_at: 0 }));
    }

    fn any_encoding() -> impl Strategy<Value = Encoding> {
        prop_oneof![Just(Encoding::Utf8), Just(Encoding::Utf8Bom), Just(Encoding::Utf16Le), Just(Encoding::Utf16Be)]
    }

    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        let marked = (any_encoding(), proptest::collection::vec(any::<u8>(), 0..24));
        prop_oneof![
            marked.prop_map(|(encoding, body)| [encoding.bom(), &body].concat()),
            (any_encoding(), "[a\u{FEFF}日𝄞é\r\n]{0,12}").prop_map(|(encoding, text)| encode(&text, encoding)),
        ]
    }

    proptest! {
        #[test]
        fn what_is_decoded_encodes_to_the_same_bytes(bytes in bytes()) {
            if let Ok(decoded) = decode(&bytes) {
                prop_assert_eq!(encode(&decoded.text, decoded.encoding), bytes);
            }
        }

        #[test]
        fn what_is_encoded_decodes_to_the_same_text(text in "[a日𝄞é\r\n][a\u{FEFF}日𝄞é\r\n]{0,12}", encoding in any_encoding()) {
            let bytes = encode(&text, encoding);
            prop_assert_eq!(decode(&bytes), Ok(Decoded { text: text.into(), encoding }));
        }

        #[test]
        fn a_stream_says_what_the_whole_says(bytes in bytes(), chunk in 1usize..9) {
            prop_assume!(!is_utf32(&bytes)); // that is found before there is a stream
            let encoding = detect(&bytes);
            let streamed = transcode(encoding, &bytes, chunk);
            match encoding {
                Encoding::Utf8 | Encoding::Utf8Bom => {
                    prop_assert_eq!(streamed.as_deref(), Ok(&bytes[encoding.bom().len()..]));
                }
                // Only the whole can tell that a second mark would be lost.
                _ if bytes[2..].starts_with(encoding.bom()) => {}
                _ => prop_assert_eq!(streamed, decode(&bytes).map(|decoded| decoded.text.into_owned().into_bytes())),
            }
        }
    }
}
