//! What was taken out of a workspace whole, as it was: `nodes/<id>/it`, and beside it how large it is.

use std::io;
use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use crate::ledger::blobs::Blobs;
use crate::ledger::store;
use crate::model::id::KeptId;
use crate::model::world::World;
use crate::workspace::{Depth, Node, Survey, nodes};

/// What was taken.
const IT: &str = "it";
/// A copy of it that is not whole yet.
const PART: &str = "part";
/// How many bytes are in it.
const BYTES: &str = "bytes";

/// Where it is kept.
pub(super) struct Nodes {
    /// They know the state folder; a second handle of it would be one file more that is always open.
    blobs: Arc<Blobs>,
    /// Of a ledger in memory: a folder that goes with it.
    passing: OnceLock<Passing>,
    durable: bool,
    world: Arc<dyn World>,
}

struct Passing {
    holder: Dir,
    name: String,
    dir: Dir,
}

/// One of those that are kept.
pub(super) struct KeptNode {
    pub(super) id: KeptId,
    pub(super) bytes: u64,
    pub(super) modified: SystemTime,
}

impl std::fmt::Debug for Nodes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Nodes").field("durable", &self.durable).finish_non_exhaustive()
    }
}

impl Nodes {
    /// Beside `blobs`.
    pub(super) fn beside(blobs: &Arc<Blobs>, durable: bool, world: Arc<dyn World>) -> Self {
        Nodes { blobs: blobs.clone(), passing: OnceLock::new(), durable, world }
    }

    /// The folder of all of them, if it is there.
    fn existing(&self) -> io::Result<Option<Dir>> {
        let Some(state) = self.blobs.state() else {
            return self.passing.get().map(|passing| passing.dir.try_clone()).transpose();
        };
        match state.open_dir("nodes") {
            Ok(folder) => Ok(Some(folder)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The folder of all of them.
    fn folder(&self) -> io::Result<Dir> {
        if let Some(state) = self.blobs.state() {
            return store::folder(state, "nodes");
        }
        if self.passing.get().is_none() {
            let _ = self.passing.set(Passing::make(self.world.random())?);
        }
        self.existing()?.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// The folder of one, if it is there.
    fn own(&self, id: KeptId) -> io::Result<Option<Dir>> {
        let Some(folder) = self.existing()? else { return Ok(None) };
        match folder.open_dir(id.to_string()) {
            Ok(own) => Ok(Some(own)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Takes it: moves it here where both lie on one file system, else copies it.
    pub(super) fn take(&self, node: &Node<'_>) -> io::Result<()> {
        self.forget(node.kept)?;
        let (name, folder) = (node.kept.to_string(), self.folder()?);
        let own = store::folder(&folder, &name)?;
        self.write_size(&own, node.bytes).and_then(|()| self.take_into(&own, node)).inspect_err(|_| {
            if !is_there(&own, IT).unwrap_or(true) {
                // Half a copy is of no use to anyone.
                let _ = self.forget(node.kept);
            }
        })?;
        self.sync(&own)?;
        self.sync(&folder)
    }

    fn take_into(&self, own: &Dir, node: &Node<'_>) -> io::Result<()> {
        match node.folder.rename(node.name, own, IT) {
            Ok(()) => return self.sync(node.folder),
            Err(error) if must_be_copied(&error) => {}
            Err(error) => return Err(error),
        }
        nodes::copy(node.folder, node.name.as_ref(), own, PART.as_ref(), self.durable)?;
        self.sync(own)?;
        own.rename(PART, own, IT)
    }

    fn write_size(&self, own: &Dir, bytes: u64) -> io::Result<()> {
        let mut size = store::fresh(own, BYTES)?;
        size.write_all(bytes.to_string().as_bytes())?;
        size.set_modified(store::system_time(self.world.now())?)?;
        if self.durable { size.sync_all() } else { Ok(()) }
    }

    /// The names of all that is in one; nothing if it is not here.
    pub(super) fn names(&self, id: KeptId) -> io::Result<Option<Survey>> {
        let Some(own) = self.own(id)?.filter(|own| is_there(own, IT).unwrap_or(true)) else { return Ok(None) };
        nodes::survey(&own, Path::new(IT), Depth::Names).map(Some).map_err(|(_, error)| error)
    }

    pub(super) fn has(&self, id: KeptId) -> io::Result<bool> {
        self.own(id)?.map_or(Ok(false), |own| is_there(&own, IT))
    }

    /// Moves it to `name` in `folder`, or copies it there and has it still.
    pub(super) fn give_back(&self, id: KeptId, folder: &Dir, name: &str) -> io::Result<()> {
        let own = self.own(id)?.ok_or(io::ErrorKind::NotFound)?;
        match own.rename(IT, folder, name) {
            Ok(()) => {}
            Err(error) if must_be_copied(&error) => {
                nodes::copy(&own, IT.as_ref(), folder, name.as_ref(), self.durable).inspect_err(|_| {
                    let _ = clear(folder, name);
                })?;
            }
            Err(error) => return Err(error),
        }
        self.sync(folder)?;
        self.sync(&own)
    }

    /// Lets go of it.
    pub(super) fn forget(&self, id: KeptId) -> io::Result<()> {
        if self.own(id)?.is_none() {
            return Ok(());
        }
        let folder = self.folder()?;
        clear(&folder, &id.to_string())?;
        self.sync(&folder)
    }

    /// All that are kept, and what is left of those that were.
    pub(super) fn all(&self) -> io::Result<Vec<KeptNode>> {
        let Some(folder) = self.existing()? else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for entry in folder.entries()? {
            let entry = entry?;
            let Some(id) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            // Another process may have swept it meanwhile.
            let Ok(own) = entry.open_dir() else { continue };
            let bytes = own.read_to_string(BYTES).ok().and_then(|bytes| bytes.parse().ok()).unwrap_or(0);
            let modified = own.metadata(BYTES).and_then(|metadata| metadata.modified());
            let modified = modified.map_or(SystemTime::UNIX_EPOCH, cap_std::time::SystemTime::into_std);
            found.push(KeptNode { id, bytes, modified });
        }
        Ok(found)
    }

    fn sync(&self, dir: &Dir) -> io::Result<()> {
        if self.durable { store::sync_folder(dir) } else { Ok(()) }
    }
}

impl Passing {
    fn make(random: u128) -> io::Result<Self> {
        let holder = Dir::open_ambient_dir(std::env::temp_dir(), ambient_authority())?;
        let name = format!("toolgate-{random:032x}");
        let dir = store::folder(&holder, &name)?;
        Ok(Passing { holder, name, dir })
    }
}

impl Drop for Passing {
    fn drop(&mut self) {
        // The system clears that folder in the end.
        let _ = clear(&self.holder, &self.name);
    }
}

fn clear(dir: &Dir, name: &str) -> io::Result<()> {
    nodes::clear(dir, name.as_ref(), &|dir, name| dir.remove_file(name), &|dir, name| dir.remove_dir(name))
}

fn is_there(dir: &Dir, name: &str) -> io::Result<bool> {
    match dir.symlink_metadata(name) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether it lies on another file system, or is a folder whose own mode keeps it where it is.
fn must_be_copied(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::CrossesDevices | io::ErrorKind::PermissionDenied)
}
