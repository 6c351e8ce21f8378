//! Kept bytes in memory: the newest of them.

use std::collections::{HashMap, VecDeque};

use bytes::Bytes;

use crate::ledger::blobs::sweep::Total;
use crate::model::version::Version;

/// So many bytes are held; beyond that the oldest go.
const MOST: usize = 256 * 1024 * 1024;

/// Bytes by their version.
#[derive(Debug, Default)]
pub(in crate::ledger) struct MemoryBlobs {
    held: HashMap<Version, Bytes>,
    /// Oldest first.
    order: VecDeque<Version>,
    bytes: usize,
}

impl MemoryBlobs {
    /// Keeps what `bytes` gives, unless it is kept already.
    pub(super) fn put(&mut self, version: Version, bytes: impl FnOnce() -> Bytes) {
        if !self.held.contains_key(&version) {
            self.insert(version, bytes(), MOST);
        }
    }

    fn insert(&mut self, version: Version, bytes: Bytes, most: usize) {
        self.bytes += bytes.len();
        self.held.insert(version, bytes);
        // What has just come stays, however large it is.
        while self.bytes > most
            && let Some(oldest) = self.order.pop_front()
        {
            self.bytes -= self.held.remove(&oldest).map_or(0, |gone| gone.len());
        }
        self.order.push_back(version);
    }

    pub(super) fn get(&self, version: Version) -> Option<Bytes> {
        self.held.get(&version).cloned()
    }

    pub(super) fn total(&self) -> Total {
        Total { count: self.held.len() as u64, bytes: self.bytes as u64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_go_when_it_is_too_much() {
        let mut blobs = MemoryBlobs::default();
        let texts = ["one", "two", "three", "much too long to be held"];
        let version = |text: &str| Version::of(text.as_bytes());
        for (text, left) in texts.into_iter().zip([&texts[..1], &texts[..2], &texts[1..3], &texts[3..]]) {
            blobs.insert(version(text), text.into(), 8);
            let held: Vec<_> = texts.into_iter().filter(|text| blobs.get(version(text)).is_some()).collect();
            assert_eq!(held, left, "after {text}");
            let bytes = left.iter().map(|text| text.len() as u64).sum();
            assert_eq!(blobs.total(), Total { count: left.len() as u64, bytes });
        }
        blobs.put(version(texts[3]), || unreachable!("it is kept already"));
    }
}
