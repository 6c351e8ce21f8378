//! A file beside its target that is not in anyone's way: without a name where the system allows that, so that
//! nothing is left behind whatever happens.

use std::ffi::OsStr;
use std::io::{self, Read, Seek};
use std::sync::Arc;

use cap_std::fs::{Dir, File};

use crate::model::version::{Version, VersionHasher};
use crate::workspace::local::patiently;
use crate::workspace::replace::disk::{self, Access};
use crate::workspace::replace::identity::{FileId, file_id, id};
use crate::workspace::space;

/// A temporary file. Its name, if it has one, goes when this is dropped.
#[derive(Debug)]
pub(super) struct Temp {
    pub(super) file: File,
    dir: Arc<Dir>,
    name: String,
    has_name: bool,
}

/// Whether a new file may have a name: not before the record tells of it, since a crash would leave it behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Naming {
    /// Not yet.
    Later,
    /// If it needs one.
    Now,
}

impl Temp {
    /// Writes `content` to a new file in `dir`. Nothing if it would need a name and may have none.
    pub(super) fn write(
        dir: &Arc<Dir>,
        name: String,
        naming: Naming,
        access: Access,
        content: &[u8],
    ) -> io::Result<Option<Self>> {
        space::may_hold(content.len() as u64)?;
        let Some(temp) = Temp::create(dir, name, naming, access)? else { return Ok(None) };
        disk::write(&temp.file, content)?;
        Ok(Some(temp))
    }

    /// A new, empty file in `dir`. Nothing if it would need a name and may have none.
    pub(super) fn create(dir: &Arc<Dir>, name: String, naming: Naming, access: Access) -> io::Result<Option<Self>> {
        let dir = Arc::clone(dir);
        if let Some(file) = disk::create_unnamed(&dir, access)? {
            return Ok(Some(Temp { file, dir, name, has_name: false }));
        }
        match naming {
            Naming::Later => Ok(None),
            Naming::Now => disk::create(&dir, &name, access).map(|file| Some(Temp { file, dir, name, has_name: true })),
        }
    }

    /// A new, empty file in `dir` that has its name at once.
    pub(super) fn named_at_once(dir: &Arc<Dir>, name: String, access: Access) -> io::Result<Self> {
        let file = disk::create(dir, &name, access)?;
        Ok(Temp { file, dir: Arc::clone(dir), name, has_name: true })
    }

    /// Waits until the content is on disk.
    pub(super) fn sync(&self) -> io::Result<()> {
        disk::sync_file(&self.file)
    }

    /// The name that this file has, or will have.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The name of this file, given to it now if it had none.
    pub(super) fn named(&mut self) -> io::Result<&OsStr> {
        if !self.has_name {
            disk::give_name(&self.file, &self.dir, self.name.as_ref())?;
            self.has_name = true;
        }
        Ok(self.name.as_ref())
    }

    /// Gives what has the temporary name, which may be another file by now, another one.
    pub(super) fn rename(&mut self, name: String) -> io::Result<()> {
        disk::rename(&self.dir, self.name.as_ref(), name.as_ref())?;
        self.name = name;
        Ok(())
    }

    /// Gives the file its final name, if nothing has that name yet.
    pub(super) fn settle(&mut self, name: &OsStr) -> io::Result<()> {
        if !self.has_name {
            return disk::give_name(&self.file, &self.dir, name);
        }
        self.has_name = !settle(&self.dir, self.name.as_ref(), name)?;
        Ok(())
    }

    /// Leaves the name, and what has it, where it is. From here on it is somebody else's to take away.
    pub(super) fn leave(&mut self) {
        self.has_name = false;
    }

    /// From now on another file has the name `name`, and it goes with this.
    pub(super) fn takes_over(&mut self, name: String) {
        self.name = name;
        self.has_name = true;
    }

    /// Whether `name` stands for this very file, and its bytes are still `content`.
    pub(super) fn is_at(&self, name: &OsStr, content: Version) -> io::Result<bool> {
        let there: Option<FileId> = match self.dir.symlink_metadata(name) {
            Ok(metadata) => Some(id(&metadata)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        Ok(there == Some(file_id(&self.file)?) && version(&self.file)? == content)
    }

    /// Takes the name away. Tells whether the file had one.
    pub(super) fn remove(&mut self) -> bool {
        let has_name = std::mem::take(&mut self.has_name);
        if has_name {
            // Nobody is left to tell, and the journal may have taken it; the record says whose it is.
            let _ = disk::unlink(&self.dir, self.name.as_ref());
        }
        has_name
    }
}

impl Drop for Temp {
    fn drop(&mut self) {
        self.remove();
    }
}

/// Renames `own` to `name`, if nothing has that name yet. Tells whether `own` is free then.
pub(super) fn settle(dir: &Dir, own: &OsStr, name: &OsStr) -> io::Result<bool> {
    if disk::rename_if_free(dir, own, name)? {
        return Ok(true);
    }
    if disk::link(dir, own, name)? {
        // At once, since a file of several names would be written in place by the next one.
        return Ok(disk::unlink(dir, own).is_ok());
    }
    // Nothing here does it in one step, so somebody may get in between.
    match dir.symlink_metadata(name) {
        Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => disk::rename(dir, own, name).map(|()| true),
        Err(error) => Err(error),
    }
}

/// The version of everything in `file`.
pub(super) fn version(file: &File) -> io::Result<Version> {
    let mut file = file;
    file.rewind()?;
    let mut hasher = VersionHasher::default();
    let mut piece = vec![0; 128 * 1024];
    loop {
        match patiently(|| file.read(&mut piece))? {
            0 => return Ok(hasher.finish()),
            len => hasher.update(&piece[..len]),
        }
    }
}
