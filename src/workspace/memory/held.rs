//! A file in memory, and what tells it apart from all others.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::model::file_bytes::FileBytes;
use crate::workspace::{Identity, Kind, Stat};

/// The bytes of a file as one write left them.
#[derive(Debug, Clone)]
pub(super) struct Held {
    pub(super) bytes: FileBytes,
    stamp: u64,
}

impl Held {
    pub(super) fn new(bytes: FileBytes) -> Self {
        static WRITES: AtomicU64 = AtomicU64::new(0);
        Held { bytes, stamp: WRITES.fetch_add(1, Ordering::Relaxed) }
    }

    pub(super) fn stat(&self) -> Stat {
        // Another process counts its writes from nought as well, and an identity may be written down.
        static PROCESS: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(std::process::id()));
        let identity = Identity(u128::from(*PROCESS) << 64 | u128::from(self.stamp));
        Stat { kind: Kind::File, size: self.bytes.len() as u64, identity: Some(identity) }
    }
}
