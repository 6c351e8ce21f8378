//! What is left of a text without all that can look alike: blanks, case, forms of characters, escapes.

use std::ops::Range;

use memchr::memmem::Finder;
use unicode_normalization::char::decompose_compatible;

/// A haystack's skeleton, and where its lines begin in both.
pub(super) struct Skeleton {
    pub(super) folded: Vec<u8>,
    pub(super) lines: Vec<Mark>,
    /// Every [`MARKED`] bytes, to find the way back from the skeleton.
    marks: Vec<Mark>,
}

/// A place in a text and in its skeleton.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    pub(super) raw: usize,
    pub(super) folded: usize,
}

/// How many bytes of the raw text lie between two marks, or a few more.
const MARKED: usize = 1024;

impl Skeleton {
    pub(super) fn new(text: &str) -> Self {
        let start = Mark { raw: 0, folded: 0 };
        let mut skeleton = Skeleton { folded: Vec::with_capacity(text.len()), lines: vec![start], marks: vec![start] };
        let mut forms = Forms::default();
        let mut at = 0;
        while at < text.len() {
            let until = at + MARKED;
            while at < until.min(text.len()) {
                at = skeleton.push_atom(text, at, &mut forms);
            }
            skeleton.marks.push(Mark { raw: at, folded: skeleton.folded.len() });
        }
        skeleton
    }

    /// Folds what stands at `at`, and says where it ends.
    fn push_atom(&mut self, text: &str, at: usize, forms: &mut Forms) -> usize {
        let byte = text.as_bytes()[at];
        let plain = PLAIN[usize::from(byte)];
        if plain > DROP {
            self.folded.push(plain);
            return at + 1;
        }
        if plain == DROP {
            if byte == b'\n' {
                self.lines.push(Mark { raw: at + 1, folded: self.folded.len() });
            }
            return at + 1;
        }
        let atom = next_atom(text, at);
        match atom.folded {
            Folded::Parts(char) => forms.push(char, &mut self.folded),
            _ => atom.push_to(&mut self.folded),
        }
        atom.raw.end
    }

    /// Where `wanted` stands, as spans of the raw text from its first to its last character, not overlapping.
    pub(super) fn places<'s>(
        &'s self,
        text: &'s str,
        wanted: &'s [u8],
    ) -> impl Iterator<Item = Range<usize>> + use<'s> {
        let finder = Finder::new(wanted).into_owned();
        let mut from = 0;
        std::iter::from_fn(move || {
            let found = from + finder.find(self.folded.get(from..)?)?;
            from = found + wanted.len();
            let first = self.atom_at(text, found);
            let last = self.atom_at(text, from - 1);
            Some(first.start..last.end)
        })
    }

    /// The raw span of the atom that the skeleton's byte at `wanted` comes from.
    fn atom_at(&self, text: &str, wanted: usize) -> Range<usize> {
        let mark = self.marks.partition_point(|mark| mark.folded <= wanted) - 1;
        let Mark { raw: mut at, folded: mut passed } = self.marks[mark];
        let mut buffer = Vec::new();
        while at < text.len() {
            let atom = next_atom(text, at);
            buffer.clear();
            atom.push_to(&mut buffer);
            passed += buffer.len();
            if passed > wanted {
                return atom.raw;
            }
            at = atom.raw.end;
        }
        at..at
    }

    /// The skeleton of the line with index `line`.
    pub(super) fn line(&self, line: usize) -> &[u8] {
        let end = self.lines.get(line + 1).map_or(self.folded.len(), |next| next.folded);
        &self.folded[self.lines[line].folded..end]
    }

    /// The raw span of the line with index `line`, its end included.
    pub(super) fn raw_line(&self, text: &str, line: usize) -> Range<usize> {
        let end = self.lines.get(line + 1).map_or(text.len(), |next| next.raw);
        self.lines[line].raw..end
    }
}

/// The skeleton of a short text.
pub(super) fn fold(text: &str) -> Vec<u8> {
    Skeleton::new(text).folded
}

/// A piece of text that is folded as a whole.
#[derive(Debug, Clone)]
pub(super) struct Atom {
    pub(super) raw: Range<usize>,
    pub(super) folded: Folded,
}

/// What a piece of text is folded to.
#[derive(Debug, Clone, Copy)]
pub(super) enum Folded {
    /// Nothing: blanks, characters without width, backslashes.
    Nothing,
    /// One character of ASCII.
    Byte(u8),
    /// What a character is made of, in lower case.
    Parts(char),
}

impl Atom {
    /// Appends what the atom is folded to.
    pub(super) fn push_to(&self, out: &mut Vec<u8>) {
        match self.folded {
            Folded::Nothing => {}
            Folded::Byte(byte) => out.push(byte),
            Folded::Parts(char) if is_ideograph(char) => {
                out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
            }
            Folded::Parts(char) => decompose_compatible(char, |part| match part {
                // The letters of Hangul have no case, and are many.
                '\u{1100}'..='\u{11FF}' => out.extend_from_slice(part.encode_utf8(&mut [0; 4]).as_bytes()),
                _ => {
                    for char in part.to_lowercase().filter(|&char| !is_blank(char)) {
                        out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
                    }
                }
            }),
        }
    }
}

/// What characters beyond ASCII are folded to, remembered: finding it out is slow.
#[derive(Default)]
struct Forms {
    /// For each character where its bytes lie; nothing if that is not known yet.
    known: Vec<Option<(u32, u32)>>,
    bytes: Vec<u8>,
}

impl Forms {
    /// Characters from here on are not remembered. Most are ideographs, which stand for themselves.
    const END: u32 = 0x3000;

    fn push(&mut self, char: char, out: &mut Vec<u8>) {
        let index = u32::from(char);
        if index >= Self::END {
            Atom { raw: 0..0, folded: Folded::Parts(char) }.push_to(out);
            return;
        }
        if self.known.is_empty() {
            self.known = vec![None; Self::END as usize];
        }
        let (start, end) = self.known[index as usize].unwrap_or_else(|| {
            let start = self.bytes.len() as u32;
            Atom { raw: 0..0, folded: Folded::Parts(char) }.push_to(&mut self.bytes);
            (start, self.bytes.len() as u32)
        });
        self.known[index as usize] = Some((start, end));
        out.extend_from_slice(&self.bytes[start as usize..end as usize]);
    }
}

/// The atom that begins at `at`, which is before the end of `text`.
pub(super) fn next_atom(text: &str, at: usize) -> Atom {
    let bytes = text.as_bytes();
    let byte = bytes[at];
    match PLAIN[usize::from(byte)] {
        DROP => Atom { raw: at..at + 1, folded: Folded::Nothing },
        SPECIAL => match byte {
            b'\\' => Atom { raw: at..escape_end(bytes, at), folded: Folded::Nothing },
            b'&' => entity(bytes, at),
            _ => wide(text, at),
        },
        plain => Atom { raw: at..at + 1, folded: Folded::Byte(plain) },
    }
}

/// The end of a run of backslashes, with the letter of a line end or tab behind it.
fn escape_end(bytes: &[u8], at: usize) -> usize {
    let run = bytes[at..].iter().take_while(|&&byte| byte == b'\\').count();
    let end = at + run;
    if matches!(bytes.get(end), Some(b'n' | b't' | b'r')) { end + 1 } else { end }
}

fn entity(bytes: &[u8], at: usize) -> Atom {
    const ENTITIES: [(&[u8], u8); 6] =
        [(b"&lt;", b'<'), (b"&gt;", b'>'), (b"&amp;", b'&'), (b"&quot;", b'"'), (b"&#39;", b'\''), (b"&apos;", b'\'')];
    let known = ENTITIES.iter().find(|(name, _)| bytes[at..].starts_with(name));
    let (len, byte) = known.map_or((1, b'&'), |(name, byte)| (name.len(), *byte));
    Atom { raw: at..at + len, folded: Folded::Byte(byte) }
}

fn wide(text: &str, at: usize) -> Atom {
    let Some(char) = text[at..].chars().next() else { return Atom { raw: at..text.len(), folded: Folded::Nothing } };
    if is_ideograph(char) {
        return Atom { raw: at..at + char.len_utf8(), folded: Folded::Parts(char) };
    }
    let folded = match (is_blank(char), plain_quote(char)) {
        (true, _) => Folded::Nothing,
        (false, Some(plain)) => Folded::Byte(plain),
        (false, None) => Folded::Parts(char),
    };
    Atom { raw: at..at + char.len_utf8(), folded }
}

/// Whether `char` is one of the many that have only one form.
fn is_ideograph(char: char) -> bool {
    matches!(char, '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}')
}

/// Whether `char` shows nothing: a space of any sort, or a character without width.
pub(super) fn is_blank(char: char) -> bool {
    char.is_whitespace() || char.is_control() || has_no_width(char)
}

/// Whether `char` takes no room at all.
pub(super) fn has_no_width(char: char) -> bool {
    matches!(char, '\u{AD}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}' | '\u{FE0E}' | '\u{FE0F}')
}

/// The plain quote or dash that a typographic one stands for.
pub(super) fn plain_quote(char: char) -> Option<u8> {
    match char {
        '\u{2018}'..='\u{201B}' | '\u{2032}' | '\u{00B4}' | '\u{02BC}' | '\u{2039}' | '\u{203A}' => Some(b'\''),
        '\u{201C}'..='\u{201F}' | '\u{2033}' | '\u{00AB}' | '\u{00BB}' => Some(b'"'),
        '\u{2010}'..='\u{2015}' | '\u{2212}' => Some(b'-'),
        _ => None,
    }
}

/// In [`PLAIN`]: this byte folds to nothing.
const DROP: u8 = 1;
/// In [`PLAIN`]: this byte begins an atom that takes a closer look.
const SPECIAL: u8 = 0;

/// What each byte folds to where it stands for itself.
const PLAIN: [u8; 256] = {
    let mut table = [SPECIAL; 256];
    let mut byte = 0;
    while byte < 128 {
        table[byte] = match byte as u8 {
            b'\\' | b'&' => SPECIAL,
            0..=b' ' | 127 => DROP,
            plain => plain.to_ascii_lowercase(),
        };
        byte += 1;
    }
    table
};
