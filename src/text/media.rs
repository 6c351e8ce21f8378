//! What a file that is not text is, by the bytes it begins with.

/// A kind of file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Media {
    /// What people call it.
    pub name: &'static str,
    /// For images that clients can show: the MIME type.
    pub image: Option<&'static str>,
}

/// The kind of file that begins with `head`, if it is one of the common ones. 512 bytes are enough.
///
/// ```
/// use toolgate::text::media::kind;
/// assert_eq!(kind(b"%PDF-1.7\n").map(|media| media.name), Some("PDF document"));
/// assert_eq!(kind(b"fn main() {}"), None);
/// ```
#[must_use]
pub fn kind(head: &[u8]) -> Option<Media> {
    let sign = SIGNS.iter().find(|sign| sign.parts.iter().all(|(at, bytes)| stands_at(head, *at, bytes)))?;
    Some(Media { name: sign.name, image: sign.image })
}

fn stands_at(head: &[u8], at: usize, bytes: &[u8]) -> bool {
    head.get(at..).is_some_and(|rest| rest.starts_with(bytes))
}

/// Bytes at offsets that tell a kind.
struct Sign {
    parts: &'static [(usize, &'static [u8])],
    name: &'static str,
    image: Option<&'static str>,
}

const fn sign(name: &'static str, parts: &'static [(usize, &'static [u8])]) -> Sign {
    Sign { parts, name, image: None }
}

const fn image(name: &'static str, mime: &'static str, parts: &'static [(usize, &'static [u8])]) -> Sign {
    Sign { parts, name, image: Some(mime) }
}

/// The first that fits counts, so the special stand before the general.
#[rustfmt::skip]
const SIGNS: &[Sign] = &[
    image("PNG image", "image/png", &[(0, b"\x89PNG\r\n\x1a\n")]),
    image("JPEG image", "image/jpeg", &[(0, b"\xFF\xD8\xFF")]),
    image("GIF image", "image/gif", &[(0, b"GIF87a")]),
    image("GIF image", "image/gif", &[(0, b"GIF89a")]),
    image("WebP image", "image/webp", &[(0, b"RIFF"), (8, b"WEBP")]),
    sign("BMP image", &[(0, b"BM"), (6, b"\0\0\0\0"), (15, b"\0\0\0")]),
    sign("TIFF image", &[(0, b"II*\0")]),
    sign("TIFF image", &[(0, b"MM\0*")]),
    sign("Windows icon", &[(0, b"\0\0\x01\0"), (5, b"\0")]),
    sign("AVIF image", &[(4, b"ftypavif")]),
    sign("HEIC image", &[(4, b"ftyphei")]),
    sign("HEIC image", &[(4, b"ftypmif1")]),
    sign("Photoshop image", &[(0, b"8BPS\0\x01")]),
    sign("WAV audio", &[(0, b"RIFF"), (8, b"WAVE")]),
    sign("AVI video", &[(0, b"RIFF"), (8, b"AVI ")]),
    sign("QuickTime video", &[(4, b"ftypqt")]),
    sign("M4A audio", &[(4, b"ftypM4A")]),
    sign("MP4 video", &[(4, b"ftyp")]),
    sign("Matroska or WebM video", &[(0, b"\x1A\x45\xDF\xA3")]),
    sign("MP3 audio", &[(0, b"ID3")]),
    sign("FLAC audio", &[(0, b"fLaC")]),
    sign("Ogg media", &[(0, b"OggS\0")]),
    sign("PDF document", &[(0, b"%PDF-")]),
    sign("Word, Excel or PowerPoint document (Office Open XML)", &[(0, b"PK\x03\x04"), (30, b"[Content_Types].xml")]),
    sign("OpenDocument file", &[(0, b"PK\x03\x04"), (30, b"mimetypeapplication/vnd.oasis.opendocument")]),
    sign("EPUB book", &[(0, b"PK\x03\x04"), (30, b"mimetypeapplication/epub+zip")]),
    sign("Java archive", &[(0, b"PK\x03\x04"), (30, b"META-INF/")]),
    sign("ZIP archive", &[(0, b"PK\x03\x04")]),
    sign("ZIP archive", &[(0, b"PK\x05\x06")]),
    sign("Microsoft Office document (old format)", &[(0, b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1")]),
    sign("gzip data", &[(0, b"\x1F\x8B\x08")]),
    sign("bzip2 data", &[(0, b"BZh"), (4, b"1AY&SY")]),
    sign("xz data", &[(0, b"\xFD7zXZ\0")]),
    sign("Zstandard data", &[(0, b"\x28\xB5\x2F\xFD")]),
    sign("LZ4 data", &[(0, b"\x04\x22\x4D\x18")]),
    sign("7-Zip archive", &[(0, b"7z\xBC\xAF\x27\x1C")]),
    sign("RAR archive", &[(0, b"Rar!\x1A\x07")]),
    sign("tar archive", &[(257, b"ustar")]),
    sign("static library", &[(0, b"!<arch>\n")]),
    sign("SQLite database", &[(0, b"SQLite format 3\0")]),
    sign("Parquet data", &[(0, b"PAR1")]),
    sign("HDF5 data", &[(0, b"\x89HDF\r\n\x1a\n")]),
    sign("NumPy array", &[(0, b"\x93NUMPY")]),
    sign("git index", &[(0, b"DIRC\0\0\0")]),
    sign("git pack", &[(0, b"PACK\0\0\0")]),
    sign("ELF program", &[(0, b"\x7FELF")]),
    sign("Mach-O program", &[(0, b"\xCF\xFA\xED\xFE")]),
    sign("Mach-O program", &[(0, b"\xCE\xFA\xED\xFE")]),
    sign("Mach-O universal program", &[(0, b"\xCA\xFE\xBA\xBE\0\0\0\x02")]),
    sign("Java class", &[(0, b"\xCA\xFE\xBA\xBE")]),
    sign("Windows program", &[(0, b"MZ"), (6, b"\0"), (28, b"\0\0\0\0")]),
    sign("Windows program", &[(0, b"MZ\x90\0")]),
    sign("WebAssembly module", &[(0, b"\0asm")]),
    sign("LLVM bitcode", &[(0, b"BC\xC0\xDE")]),
    sign("TrueType font", &[(0, b"\0\x01\0\0\0")]),
    sign("OpenType font", &[(0, b"OTTO\0")]),
    sign("WOFF font", &[(0, b"wOFF")]),
    sign("WOFF2 font", &[(0, b"wOF2")]),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn name(head: &[u8]) -> Option<&'static str> {
        kind(head).map(|media| media.name)
    }

    #[test]
    fn kinds_are_told_by_their_first_bytes() {
        let mut tar = vec![b'f'; 257];
        tar.extend_from_slice(b"ustar\x0000");
        let cases: [(&[u8], &str); 14] = [
            (b"PK\x03\x04\x14\0\x06\0", "ZIP archive"),
            (b"\x7FELF\x02\x01", "ELF program"),
            (b"\x1F\x8B\x08\0", "gzip data"),
            (b"SQLite format 3\0", "SQLite database"),
            (b"\xCA\xFE\xBA\xBE\0\0\0\x34", "Java class"),
            (b"\xCA\xFE\xBA\xBE\0\0\0\x02", "Mach-O universal program"),
            (b"RIFF\x10\0\0\0WAVEfmt ", "WAV audio"),
            (b"\0\0\0\x20ftypisom", "MP4 video"),
            (b"\0\0\0\x20ftypavif", "AVIF image"),
            (b"BM\x36\0\x0C\0\0\0\0\0\x36\0\0\0\x28\0\0\0", "BMP image"),
            (b"MZ\x90\0\x03\0", "Windows program"),
            (b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "Microsoft Office document (old format)"),
            (b"PK\x03\x04__________________________mimetypeapplication/epub+zip", "EPUB book"),
            (&tar, "tar archive"),
        ];
        for (head, right) in cases {
            assert_eq!(name(head), Some(right), "{head:x?}");
        }
    }

    #[test]
    fn only_images_that_clients_show_have_a_mime_type() {
        let cases: [(&[u8], Option<&str>); 6] = [
            (b"\x89PNG\r\n\x1a\n", Some("image/png")),
            (b"\xFF\xD8\xFF\xE0", Some("image/jpeg")),
            (b"GIF89a", Some("image/gif")),
            (b"RIFF\x10\0\0\0WEBPVP8 ", Some("image/webp")),
            (b"II*\0", None),
            (b"%PDF-1.4", None),
        ];
        for (head, mime) in cases {
            assert_eq!(kind(head).expect("a known kind").image, mime, "{head:x?}");
        }
    }

    #[test]
    fn text_is_no_kind() {
        for text in
            ["", "B", "BM is short for benchmark, which it is", "MZ", "GIF", "RIFF and raff", "Rar!", "PK", "ftyp"]
        {
            assert_eq!(name(text.as_bytes()), None, "{text:?}");
        }
    }
}
