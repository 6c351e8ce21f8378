//! Whether something is still the same file, told without reading it.

use std::io;
use std::time::SystemTime;

use cap_std::fs::{Dir, File, Metadata};

use crate::workspace::Identity;
use crate::workspace::local::patiently;
use crate::workspace::replace::place::Place;

/// Tells a file or folder apart from all others that exist at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct FileId(u64, u64);

/// A file and the state it was in. Two that are equal are most likely the same bytes; it is no proof.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Glimpse {
    id: FileId,
    size: u64,
    modified: Option<SystemTime>,
    changed: (i64, i64),
}

/// The identity of an open folder.
pub(super) fn folder_id(dir: &Dir) -> io::Result<FileId> {
    dir.dir_metadata().map(|metadata| id(&metadata))
}

/// The identity of an open file.
pub(super) fn file_id(file: &File) -> io::Result<FileId> {
    file.metadata().map(|metadata| id(&metadata))
}

/// What `metadata` tells of a file's state.
pub(super) fn glimpse(metadata: &Metadata) -> Glimpse {
    let modified = metadata.modified().ok().map(cap_std::time::SystemTime::into_std);
    Glimpse { id: id(metadata), size: metadata.len(), modified, changed: changed(metadata) }
}

/// What is at `place` now, if anything is.
pub(super) fn glimpse_at(place: &Place) -> io::Result<Option<Glimpse>> {
    match patiently(|| place.dir.symlink_metadata(&place.name)) {
        Ok(metadata) => Ok(Some(glimpse(&metadata))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The identity of the state that `metadata` tells of. Nothing where that may not change with the next write.
#[cfg(unix)]
pub(in crate::workspace) fn identity(metadata: &Metadata) -> Option<Identity> {
    use cap_std::fs::MetadataExt;
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).ok()?.as_nanos();
    let touched =
        u128::try_from(i128::from(metadata.ctime()) * 1_000_000_000 + i128::from(metadata.ctime_nsec())).ok()?;
    // A clock ticks: two writes within one tick look the same. Some file systems count in whole seconds.
    let tick = if metadata.ctime_nsec() == 0 { 3_000_000_000 } else { 50_000_000 };
    if now.checked_sub(touched)? < tick {
        return None;
    }
    let mut hasher = blake3::Hasher::new();
    for part in [metadata.dev(), metadata.ino(), metadata.len()] {
        hasher.update(&part.to_le_bytes());
    }
    for part in [metadata.mtime(), metadata.mtime_nsec(), metadata.ctime(), metadata.ctime_nsec()] {
        hasher.update(&part.to_le_bytes());
    }
    let mut half = [0; 16];
    half.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    Some(Identity(u128::from_le_bytes(half)))
}

/// Too little is told of a file here.
#[cfg(not(unix))]
pub(in crate::workspace) fn identity(_: &Metadata) -> Option<Identity> {
    None
}

impl FileId {
    #[cfg(test)]
    pub(super) fn new(device: u64, inode: u64) -> Self {
        FileId(device, inode)
    }

    /// Tells this file apart for a lock.
    pub(super) fn key(self) -> u64 {
        self.0.rotate_left(32) ^ self.1
    }
}

#[cfg(unix)]
pub(super) fn id(metadata: &Metadata) -> FileId {
    use cap_std::fs::MetadataExt;
    FileId(metadata.dev(), metadata.ino())
}

#[cfg(unix)]
fn changed(metadata: &Metadata) -> (i64, i64) {
    use cap_std::fs::MetadataExt;
    (metadata.ctime(), metadata.ctime_nsec())
}

/// How many names a file has.
#[cfg(unix)]
pub(super) fn names(metadata: &Metadata) -> u64 {
    use cap_std::fs::MetadataExt;
    metadata.nlink()
}

// Stable Rust cannot ask for the file index, so the time of birth has to do.
#[cfg(not(unix))]
pub(super) fn id(metadata: &Metadata) -> FileId {
    let born = metadata.created().ok().and_then(|time| time.into_std().duration_since(SystemTime::UNIX_EPOCH).ok());
    FileId(0, born.map_or(0, |since| since.as_secs() ^ u64::from(since.subsec_nanos()).rotate_left(32)))
}

#[cfg(not(unix))]
fn changed(_: &Metadata) -> (i64, i64) {
    (0, 0)
}

#[cfg(not(unix))]
pub(super) fn names(_: &Metadata) -> u64 {
    1
}
