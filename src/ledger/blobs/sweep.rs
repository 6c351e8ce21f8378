//! How much is kept, and what goes when it is too much or too old.

use std::io;
use std::time::{Duration, SystemTime};

use cap_std::fs::Dir;

use crate::ledger::blobs::Blobs;
use crate::ledger::changes::Needed;
use crate::ledger::nodes::Nodes;
use crate::ledger::store::hold;
use crate::model::id::KeptId;
use crate::model::version::Version;

/// How much is kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Total {
    /// How many versions.
    pub count: u64,
    /// Their bytes in all.
    pub bytes: u64,
}

/// How much may be kept, and how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Beyond this many bytes the oldest go.
    pub max_bytes: u64,
    /// What is older goes.
    pub older_than: Duration,
}

/// What has gone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// What went.
    pub gone: Total,
    /// What is left.
    pub left: Total,
}

struct Kept {
    what: What,
    bytes: u64,
    modified: SystemTime,
}

/// Bytes, or something that was taken whole.
enum What {
    Blob(Version),
    Node(KeptId),
}

impl Blobs {
    /// How much is kept, with what is kept whole.
    pub(in crate::ledger) fn total(&self, nodes: &Nodes) -> io::Result<Total> {
        let whole = sum(&whole(nodes)?);
        let bytes = match self {
            Blobs::Disk(disk) => sum(&kept(disk.state())?),
            Blobs::Memory(kept) => hold(kept).total(),
        };
        Ok(Total { count: bytes.count + whole.count, bytes: bytes.bytes + whole.bytes })
    }

    /// Lets go of what is not in `keep` and too old, then of the oldest until the rest is not too much; `only_told`, it
    /// says what would go.
    pub(in crate::ledger) fn sweep(
        &self,
        nodes: &Nodes,
        keep: &Needed,
        limits: Limits,
        now: SystemTime,
        only_told: bool,
    ) -> io::Result<Swept> {
        let Blobs::Disk(disk) = self else {
            return Ok(Swept { gone: Total::default(), left: self.total(nodes)? });
        };
        let mut all = kept(disk.state())?;
        all.extend(whole(nodes)?);
        let mut left = sum(&all);
        let mut swept = Swept::default();
        all.retain(|one| match &one.what {
            What::Blob(version) => !keep.versions.contains(version),
            What::Node(id) => !keep.nodes.contains(id),
        });
        all.sort_by_key(|one| one.modified);
        for one in all {
            let old = now.duration_since(one.modified).is_ok_and(|age| age > limits.older_than);
            if !old && left.bytes <= limits.max_bytes {
                break;
            }
            if !only_told {
                match one.what {
                    What::Blob(version) => disk.remove(version)?,
                    What::Node(id) => nodes.forget(id)?,
                }
            }
            left = Total { count: left.count - 1, bytes: left.bytes - one.bytes };
            swept.gone = Total { count: swept.gone.count + 1, bytes: swept.gone.bytes + one.bytes };
        }
        swept.left = left;
        Ok(swept)
    }
}

fn sum(kept: &[Kept]) -> Total {
    Total { count: kept.len() as u64, bytes: kept.iter().map(|one| one.bytes).sum() }
}

/// What is kept whole.
fn whole(nodes: &Nodes) -> io::Result<Vec<Kept>> {
    let all = nodes.all()?.into_iter();
    Ok(all.map(|node| Kept { what: What::Node(node.id), bytes: node.bytes, modified: node.modified }).collect())
}

/// All bytes that are kept. Files that are on their way in have other names and are not counted.
fn kept(state: &Dir) -> io::Result<Vec<Kept>> {
    let blobs = match state.open_dir("blobs") {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        opened => opened?,
    };
    let mut found = Vec::new();
    for shard in blobs.entries()? {
        for entry in shard?.open_dir()?.entries()? {
            let entry = entry?;
            let Some(version) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            // Another process may have swept it meanwhile.
            let Ok(metadata) = entry.metadata() else { continue };
            let modified = metadata.modified().map_or(SystemTime::UNIX_EPOCH, cap_std::time::SystemTime::into_std);
            found.push(Kept { what: What::Blob(version), bytes: metadata.len(), modified });
        }
    }
    Ok(found)
}
