//! Bytes that are kept: what changes displaced, and texts too long for the log. Named by their version.

mod disk;
mod memory;
mod sweep;

use std::io::{self, Read};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use cap_std::fs::Dir;

use crate::ledger::blobs::disk::DiskBlobs;
use crate::ledger::blobs::memory::MemoryBlobs;
pub use crate::ledger::blobs::sweep::{Limits, Swept, Total};
use crate::ledger::store::hold;
use crate::model::file_bytes::FileBytes;
use crate::model::version::Version;
use crate::model::world::World;
use crate::workspace::{Displaced, DisplacedSource};

/// Where bytes are kept.
#[derive(Debug)]
pub(super) enum Blobs {
    Disk(DiskBlobs),
    Memory(Mutex<MemoryBlobs>),
}

impl Blobs {
    pub(super) fn on_disk(state: Dir, durable: bool, world: Arc<dyn World>) -> Self {
        Blobs::Disk(DiskBlobs::new(state, durable, world))
    }

    /// The state folder, for a ledger that has one.
    pub(super) fn state(&self) -> Option<&Dir> {
        match self {
            Blobs::Disk(disk) => Some(disk.state()),
            Blobs::Memory(_) => None,
        }
    }

    pub(super) fn in_memory() -> Self {
        Blobs::Memory(Mutex::default())
    }

    /// Keeps a text that the log refers to: it may be lost with the power. Keeping it again costs next to nothing.
    pub(super) fn put(&self, text: &FileBytes) -> io::Result<()> {
        match self {
            Blobs::Disk(disk) => disk.put(text.version(), text, false),
            Blobs::Memory(kept) => {
                hold(kept).put(text.version(), || Bytes::clone(text));
                Ok(())
            }
        }
    }

    /// Keeps what a step displaced: under a second name of the same file where it can, else as a copy.
    ///
    /// Says whether it is the same file. It is then to be settled once the change is done, or parted with if it is not.
    pub(super) fn take(&self, displaced: &Displaced<'_>) -> io::Result<bool> {
        match (self, &displaced.source) {
            (Blobs::Disk(disk), DisplacedSource::Bytes(bytes)) => {
                disk.put(displaced.version, bytes, true).map(|()| false)
            }
            (Blobs::Disk(disk), DisplacedSource::File { folder, name }) => disk.take(displaced.version, folder, name),
            (Blobs::Memory(kept), DisplacedSource::Bytes(bytes)) => {
                hold(kept).put(displaced.version, || (*bytes).clone());
                Ok(false)
            }
            (Blobs::Memory(kept), DisplacedSource::File { folder, name }) => {
                let mut bytes = Vec::new();
                folder.open(name)?.read_to_end(&mut bytes)?;
                check(displaced.version, &bytes)?;
                hold(kept).put(displaced.version, || bytes.into());
                Ok(false)
            }
        }
    }

    /// A file that was taken has no other name any more: it is for the ledger alone from now on.
    pub(super) fn settle(&self, version: Version) {
        if let Blobs::Disk(disk) = self
            && let Err(error) = disk.settle(version)
        {
            // It is whole and within a folder that is closed to others.
            tracing::debug!(%error, %version, "kept bytes have the mode they had in the workspace");
        }
    }

    /// A file that was taken is back in the workspace: what happens to it there must not happen to what is kept.
    pub(super) fn part(&self, version: Version) {
        if let Blobs::Disk(disk) = self
            && let Err(error) = disk.part(version)
        {
            tracing::warn!(%error, %version, "a file that was put back is still one with what is kept of it");
        }
    }

    /// The bytes of a version, nothing if they are not kept.
    pub(super) fn get(&self, version: Version) -> io::Result<Option<Bytes>> {
        match self {
            Blobs::Disk(disk) => disk.get(version),
            Blobs::Memory(kept) => Ok(hold(kept).get(version)),
        }
    }
}

/// Whether `bytes` are what they are said to be: a file that was taken may have been written to since, by a program
/// that still holds it open.
fn check(version: Version, bytes: &[u8]) -> io::Result<()> {
    if Version::of(bytes) == version { Ok(()) } else { Err(changed(version)) }
}

fn changed(version: Version) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the bytes kept as {version} are not those bytes any more"))
}
