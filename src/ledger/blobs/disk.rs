//! Kept bytes in files, `blobs/ab/<version>`, of which each appears whole or not at all.

use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::Arc;

use bytes::Bytes;
use cap_std::fs::Dir;

use crate::ledger::blobs::{changed, check};
use crate::ledger::store;
use crate::model::version::{Version, VersionHasher};
use crate::model::world::World;
use crate::workspace::space;

/// How many bytes are copied at once.
const PIECE: usize = 128 * 1024;

/// Files of kept bytes.
pub(in crate::ledger) struct DiskBlobs {
    state: Dir,
    durable: bool,
    world: Arc<dyn World>,
}

impl std::fmt::Debug for DiskBlobs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DiskBlobs").field("state", &self.state).field("durable", &self.durable).finish_non_exhaustive()
    }
}

impl DiskBlobs {
    pub(super) fn new(state: Dir, durable: bool, world: Arc<dyn World>) -> Self {
        DiskBlobs { state, durable, world }
    }

    /// Keeps `bytes`, and if they are `needed`, so that they outlive what this ledger outlives.
    pub(super) fn put(&self, version: Version, bytes: &[u8], needed: bool) -> io::Result<()> {
        let (shard, name) = self.place(version)?;
        let durable = needed && self.durable;
        if !self.has(&shard, &name, bytes.len() as u64)? {
            return self.fill(&shard, &name, durable, |file| {
                space::may_hold(bytes.len() as u64)?;
                file.write_all(bytes)
            });
        }
        if durable { sync(&shard, &name) } else { Ok(()) }
    }

    /// Keeps the displaced file: as a second name of it where both lie on one file system, else as a copy. It stays
    /// where it is, so that a change that fails later can still be taken back.
    ///
    /// Says whether it is the same file.
    pub(super) fn take(&self, version: Version, folder: &Dir, source: &str) -> io::Result<bool> {
        let (shard, name) = self.place(version)?;
        let length = folder.symlink_metadata(source)?.len();
        let linked = !self.has(&shard, &name, length)?;
        if linked && folder.hard_link(source, &shard, &name).is_err() {
            // Another file system; or a blob of another length, which a program wrote to that still held it open.
            self.fill(&shard, &name, self.durable, |file| copy(folder, source, file, version))?;
            return Ok(false);
        }
        if self.durable {
            sync(&shard, &name)?;
        }
        Ok(linked)
    }

    /// What was taken is for the ledger alone from now on: no other name of it is left.
    pub(super) fn settle(&self, version: Version) -> io::Result<()> {
        let (shard, name) = self.place(version)?;
        let file = match shard.open(&name) {
            #[cfg(unix)]
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                // Its mode keeps out even its owner.
                shard.set_permissions(&name, cap_std::fs::PermissionsExt::from_mode(0o600))?;
                shard.open(&name)?
            }
            opened => opened?,
        };
        let file = file.into_std();
        #[cfg(unix)]
        file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
        file.set_modified(store::system_time(self.world.now())?)
    }

    /// What was taken is back in the workspace: what is kept becomes a file of its own.
    pub(super) fn part(&self, version: Version) -> io::Result<()> {
        let (shard, name) = self.place(version)?;
        match shard.symlink_metadata(&name) {
            Ok(kept) if is_shared(&kept) => {
                self.fill(&shard, &name, self.durable, |file| copy(&shard, &name, file, version))
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    pub(super) fn remove(&self, version: Version) -> io::Result<()> {
        let (shard, name) = self.place(version)?;
        match shard.remove_file(&name) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    pub(super) fn get(&self, version: Version) -> io::Result<Option<Bytes>> {
        let name = version.to_string();
        let Some(mut file) = store::existing(&self.state, &format!("blobs/{}/{name}", &name[..2]))? else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        check(version, &bytes)?;
        Ok(Some(bytes.into()))
    }

    pub(super) fn state(&self) -> &Dir {
        &self.state
    }

    fn place(&self, version: Version) -> io::Result<(Dir, String)> {
        let name = version.to_string();
        let shard = format!("blobs/{}", &name[..2]);
        let dir = match self.state.open_dir(&shard) {
            Ok(dir) => dir,
            Err(_) => {
                let blobs = store::folder(&self.state, "blobs")?;
                let dir = store::folder(&blobs, &name[..2])?;
                if self.durable {
                    store::sync_folder(&blobs)?;
                    store::sync_folder(&self.state)?;
                }
                dir
            }
        };
        Ok((dir, name))
    }

    /// Whether these bytes are kept already; they are young again then.
    fn has(&self, shard: &Dir, name: &str, length: u64) -> io::Result<bool> {
        match shard.symlink_metadata(name) {
            Ok(there) if there.len() == length => {
                // Their age is a hint only.
                let _ = self.touch(shard, name);
                Ok(true)
            }
            Ok(_) => Ok(false),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn touch(&self, shard: &Dir, name: &str) -> io::Result<()> {
        shard.open(name)?.into_std().set_modified(store::system_time(self.world.now())?)
    }

    /// Makes the file `name` of what `write` writes, all at once.
    fn fill(
        &self,
        shard: &Dir,
        name: &str,
        durable: bool,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<()> {
        let temp = format!(".{name}.{:08x}", self.world.random() as u32);
        let written = store::fresh(shard, &temp).and_then(|mut file| {
            write(&mut file)?;
            file.set_modified(store::system_time(self.world.now())?)?;
            if durable { file.sync_all() } else { Ok(()) }
        });
        written.and_then(|()| shard.rename(&temp, shard, name)).inspect_err(|_| {
            let _ = shard.remove_file(&temp);
        })?;
        if durable { store::sync_folder(shard) } else { Ok(()) }
    }
}

/// Makes what is kept outlive the loss of power.
fn sync(shard: &Dir, name: &str) -> io::Result<()> {
    shard.open(name)?.sync_all()?;
    store::sync_folder(shard)
}

/// Whether the file may have another name.
fn is_shared(file: &cap_std::fs::Metadata) -> bool {
    #[cfg(unix)]
    return cap_std::fs::MetadataExt::nlink(file) > 1;
    #[cfg(not(unix))]
    return file.is_file();
}

/// Copies `source`, which must be the bytes of `version`.
fn copy(folder: &Dir, source: &str, to: &mut File, version: Version) -> io::Result<()> {
    let mut from = folder.open(source)?;
    space::may_hold(from.metadata()?.len())?;
    let mut hasher = VersionHasher::default();
    let mut piece = vec![0; PIECE];
    loop {
        match from.read(&mut piece) {
            Ok(0) => break,
            Ok(count) => {
                hasher.update(&piece[..count]);
                to.write_all(&piece[..count])?;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    if hasher.finish() == version { Ok(()) } else { Err(changed(version)) }
}
