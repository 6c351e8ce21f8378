//! The bytes of a file, shared on their way through plan, gate, log and disk, and hashed once.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;

use crate::model::version::Version;

/// All bytes that a file has or is to have, with their version. A clone shares both: nothing is copied, and the version is
/// found by whoever asks first.
///
/// ```
/// use toolgate::{FileBytes, Version};
/// let bytes = FileBytes::from("fn main() {}");
/// assert_eq!(bytes.version(), Version::of(b"fn main() {}"));
/// assert_eq!(bytes.len(), 12);
/// ```
#[derive(Clone)]
pub struct FileBytes {
    bytes: Bytes,
    version: Arc<OnceLock<Version>>,
}

impl FileBytes {
    /// Bytes whose version is known, from having been hashed as they came.
    pub(crate) fn known(bytes: Bytes, version: Version) -> Self {
        debug_assert_eq!(version, Version::of(&bytes), "that is not their version");
        FileBytes { bytes, version: Arc::new(OnceLock::from(version)) }
    }

    /// Their version.
    #[must_use]
    pub fn version(&self) -> Version {
        *self.version.get_or_init(|| Version::of(&self.bytes))
    }

    /// The bytes alone.
    #[must_use]
    pub fn into_bytes(self) -> Bytes {
        self.bytes
    }
}

impl<B: Into<Bytes>> From<B> for FileBytes {
    fn from(bytes: B) -> Self {
        FileBytes { bytes: bytes.into(), version: Arc::default() }
    }
}

impl Deref for FileBytes {
    type Target = Bytes;

    fn deref(&self) -> &Bytes {
        &self.bytes
    }
}

impl PartialEq for FileBytes {
    fn eq(&self, other: &Self) -> bool {
        match (self.version.get(), other.version.get()) {
            (Some(one), Some(other)) => one == other,
            _ => self.bytes == other.bytes,
        }
    }
}

impl Eq for FileBytes {}

impl fmt::Debug for FileBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.bytes.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_bytes_are_equal_whether_their_version_is_known_or_not() {
        let (known, unknown) = (FileBytes::known("a".into(), Version::of(b"a")), FileBytes::from("a"));
        let other = FileBytes::from("b");
        for (one, two, want) in [(&known, &unknown, true), (&known, &known, true), (&known, &other, false)] {
            assert_eq!((one == two, two == one), (want, want));
            let _ = (one.version(), two.version());
            assert_eq!((one == two, one.version() == two.version()), (want, want), "now that both are known");
        }
        let shared = unknown.clone();
        assert_eq!((shared.version(), shared.as_ptr()), (known.version(), unknown.as_ptr()), "nothing was copied");
    }
}
