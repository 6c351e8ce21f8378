//! The identity of a file's bytes.

use std::fmt;
use std::str::FromStr;

/// A content hash: equal versions are equal bytes, whatever the clock says.
///
/// Written as 32 hexadecimal digits, the first half of the BLAKE3 hash.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Version([u8; 16]);

impl Version {
    /// The version of `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Version::truncate(&blake3::hash(bytes))
    }

    fn truncate(hash: &blake3::Hash) -> Self {
        let mut half = [0; 16];
        half.copy_from_slice(&hash.as_bytes()[..16]);
        Version(half)
    }
}

/// Finds the version of bytes that come in pieces.
#[derive(Debug, Default)]
pub struct VersionHasher(blake3::Hasher);

impl VersionHasher {
    /// Takes the next piece.
    pub fn update(&mut self, piece: &[u8]) {
        self.0.update(piece);
    }

    /// The version of everything taken so far.
    #[must_use]
    pub fn finish(&self) -> Version {
        Version::truncate(&self.0.finalize())
    }
}

/// The text is not a version: it wants 32 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a version is 32 hexadecimal digits, as an earlier result gave it")]
pub struct NotAVersion;

impl FromStr for Version {
    type Err = NotAVersion;

    fn from_str(text: &str) -> Result<Self, NotAVersion> {
        let digits = text.as_bytes();
        if digits.len() != 32 {
            return Err(NotAVersion);
        }
        let mut bytes = [0; 16];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let high = (pair[0] as char).to_digit(16).ok_or(NotAVersion)?;
            let low = (pair[1] as char).to_digit(16).ok_or(NotAVersion)?;
            *byte = (high * 16 + low) as u8;
        }
        Ok(Version(bytes))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = [0; 32];
        for (pair, byte) in text.chunks_exact_mut(2).zip(self.0) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
        f.write_str(std::str::from_utf8(&text).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Version({self})")
    }
}

impl serde::Serialize for Version {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_back() {
        let version = Version::of(b"hello");
        assert_eq!(version.to_string().parse(), Ok(version));
        assert_eq!("xyz".parse::<Version>(), Err(NotAVersion));
        let mut hasher = VersionHasher::default();
        hasher.update(b"hel");
        hasher.update(b"lo");
        assert_eq!(hasher.finish(), version);
    }
}
