//! How much is kept, and what goes when it is too much or too old.

use std::collections::HashSet;
use std::io;
use std::time::{Duration, SystemTime};

use cap_std::fs::Dir;

use crate::ledger::blobs::Blobs;
use crate::ledger::store::hold;
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
    version: Version,
    bytes: u64,
    modified: SystemTime,
}

impl Blobs {
    /// How much is kept.
    pub(in crate::ledger) fn total(&self) -> io::Result<Total> {
        match self {
            Blobs::Disk(disk) => Ok(sum(&kept(disk.state())?)),
            Blobs::Memory(kept) => {
                let kept = hold(kept);
                let bytes = kept.values().map(|bytes| bytes.len() as u64).sum();
                Ok(Total { count: kept.len() as u64, bytes })
            }
        }
    }

    /// Lets go of what is not in `keep` and too old, then of the oldest until the rest is not too much; `only_told`, it
    /// says what would go.
    pub(in crate::ledger) fn sweep(
        &self,
        keep: &HashSet<Version>,
        limits: Limits,
        now: SystemTime,
        only_told: bool,
    ) -> io::Result<Swept> {
        let Blobs::Disk(disk) = self else {
            return Ok(Swept { gone: Total::default(), left: self.total()? });
        };
        let mut all = kept(disk.state())?;
        let mut left = sum(&all);
        let mut swept = Swept::default();
        all.retain(|one| !keep.contains(&one.version));
        all.sort_by_key(|one| one.modified);
        for one in all {
            let old = now.duration_since(one.modified).is_ok_and(|age| age > limits.older_than);
            if !old && left.bytes <= limits.max_bytes {
                break;
            }
            if !only_told {
                disk.remove(one.version)?;
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

/// Everything that is kept. Files that are on their way in have other names and are not counted.
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
            found.push(Kept { version, bytes: metadata.len(), modified });
        }
    }
    Ok(found)
}
