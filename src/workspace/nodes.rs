//! Whole files, links and folders, told, copied and cleared away by their open folder and name. No link is followed.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use cap_std::fs::{Dir, File, Metadata, OpenOptions};

use crate::model::version::{Version, VersionHasher};
use crate::workspace::local::{kind_of, patiently, shown};
use crate::workspace::replace::{carry, sync_folder};
use crate::workspace::{Depth, Kind, Survey, Surveyed, space};

/// Everything at `way` below `root`, and below that. Tells where it failed.
pub(crate) fn survey(root: &Dir, way: &Path, depth: Depth) -> Result<Survey, (PathBuf, io::Error)> {
    let at_top = |error| (way.to_owned(), error);
    let top = patiently(|| root.symlink_metadata(way)).map_err(at_top)?;
    let kind = kind_of(&top.file_type());
    let mut found = Vec::new();
    let mut folders: Vec<usize> = Vec::new();
    let mut next = (kind == Kind::Dir).then(PathBuf::new);
    while let Some(below) = next {
        let path = if below.as_os_str().is_empty() { way.to_owned() } else { way.join(&below) };
        let folder = patiently(|| open_folder(root, &path)).and_then(|folder| Ok((folder.dir_metadata()?, folder)));
        let (metadata, folder) = folder.map_err(|error| (path.clone(), error))?;
        let is_mounted = is_mounted(&metadata, &top);
        match folders.pop().and_then(|at| found.get_mut(at)) {
            Some(Found { kind, .. }) if is_mounted => *kind = Kind::Other,
            _ => look_into(&folder, &below, depth, &mut found, &mut folders).map_err(|error| (path, error))?,
        }
        next = folders.last().map(|at| found[*at].path.clone());
    }
    let mut marks = VersionHasher::default();
    let mut bytes = 0;
    if depth == Depth::Marks {
        let target = if kind == Kind::Link { root.read_link_contents(way).map_err(at_top)? } else { PathBuf::new() };
        let own = Found { path: PathBuf::new(), kind, metadata: Some(top), target };
        found.push(own);
    }
    if depth == Depth::Names {
        return Ok(names(kind, found));
    }
    found.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    for one in &found {
        bytes += one.mark(&mut marks);
    }
    let below = found.into_iter().filter(|one| !one.path.as_os_str().is_empty());
    let below = below.map(|one| Surveyed { path: written(&one.path), kind: one.kind }).collect();
    Ok(Survey { kind, below, bytes, mark: marks.finish() })
}

/// What a look at names alone tells. There may be very many of them, and somebody waits.
fn names(kind: Kind, found: Vec<Found>) -> Survey {
    let mut below: Vec<_> =
        found.into_iter().map(|one| Surveyed { path: written(&one.path), kind: one.kind }).collect();
    below.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    let mut marks = VersionHasher::default();
    marks.update(&[kind as u8]);
    for entry in &below {
        marks.update(entry.path.as_bytes());
        marks.update(&[0, entry.kind as u8]);
    }
    Survey { kind, below, bytes: 0, mark: marks.finish() }
}

/// An entry, and what its mark is made of where somebody asked.
struct Found {
    path: PathBuf,
    kind: Kind,
    metadata: Option<Metadata>,
    target: PathBuf,
}

/// Adds the entries of an open folder, and the places of those that are folders.
fn look_into(
    folder: &Dir,
    below: &Path,
    depth: Depth,
    found: &mut Vec<Found>,
    folders: &mut Vec<usize>,
) -> io::Result<()> {
    for entry in folder.entries()? {
        let entry = entry?;
        let (name, mut kind, mut metadata) = (entry.file_name(), kind_of(&entry.file_type()?), None);
        // Not every folder tells what is in it.
        if depth == Depth::Marks || kind == Kind::Other {
            match patiently(|| entry.metadata()) {
                Ok(told) => (kind, metadata) = (kind_of(&told.file_type()), Some(told)),
                // It has gone meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            }
        }
        let asked = depth == Depth::Marks && kind == Kind::Link;
        let target = if asked { folder.read_link_contents(&name)? } else { PathBuf::new() };
        if kind == Kind::Dir {
            folders.push(found.len());
        }
        found.push(Found { path: below.join(&name), kind, metadata, target });
    }
    Ok(())
}

impl Survey {
    /// What holds all of these under their names.
    pub(super) fn of_all(surveys: Vec<(&str, Survey)>) -> Self {
        let mut all = Survey { kind: Kind::Dir, below: Vec::new(), bytes: 0, mark: Version::of(b"") };
        let mut marks = VersionHasher::default();
        for (name, survey) in surveys {
            marks.update(format!("{name}={}", survey.mark).as_bytes());
            all.bytes += survey.bytes;
            all.below.push(Surveyed { path: name.to_owned(), kind: survey.kind });
            let below = survey.below.into_iter();
            all.below.extend(below.map(|entry| Surveyed { path: format!("{name}/{}", entry.path), ..entry }));
        }
        all.mark = marks.finish();
        all
    }
}

/// Opens a folder to look into it; a link is none.
#[cfg(unix)]
fn open_folder(dir: &Dir, way: &Path) -> io::Result<Dir> {
    use cap_std::fs::OpenOptionsExt;
    use rustix::fs::OFlags;
    let mut options = OpenOptions::new();
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    options.read(true).custom_flags(flags.bits().cast_signed());
    dir.open_with(way, &options).map(|folder| Dir::from_std_file(folder.into_std()))
}

#[cfg(not(unix))]
fn open_folder(dir: &Dir, way: &Path) -> io::Result<Dir> {
    if dir.symlink_metadata(way)?.is_symlink() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    dir.open_dir(way)
}

/// A path below a folder with `/` between its parts.
fn written(path: &Path) -> String {
    if let (true, Some(plain)) = (cfg!(unix), path.to_str()) {
        return plain.to_owned();
    }
    let parts: Vec<_> = path.iter().map(shown).collect();
    parts.join("/")
}

impl Found {
    /// Takes what tells whether it has changed, and tells how many bytes a file has. A folder's own times change with what
    /// is in it, which is told anyway.
    fn mark(&self, marks: &mut VersionHasher) -> u64 {
        let mut part = |bytes: &[u8]| {
            marks.update(&(bytes.len() as u64).to_le_bytes());
            marks.update(bytes);
        };
        part(self.path.as_os_str().as_encoded_bytes());
        part(&[self.kind as u8]);
        part(self.target.as_os_str().as_encoded_bytes());
        let Some(metadata) = self.metadata.as_ref().filter(|_| self.kind != Kind::Link) else { return 0 };
        part(&mode(metadata).to_le_bytes());
        if self.kind != Kind::File {
            return 0;
        }
        part(&metadata.len().to_le_bytes());
        let modified = metadata.modified().ok().map(cap_std::time::SystemTime::into_std);
        let since = modified.and_then(|time| time.duration_since(std::time::SystemTime::UNIX_EPOCH).ok());
        part(&since.map_or(0, |since| since.as_nanos()).to_le_bytes());
        metadata.len()
    }
}

/// Copies what is `name` in `from` to `to`, where nothing has that name: bytes, modes, owners, attributes, times, links as they
/// are. What is neither file, link nor folder is refused.
pub(crate) fn copy(from: &Dir, name: &OsStr, to: &Dir, copy: &OsStr, durable: bool) -> io::Result<()> {
    let metadata = from.symlink_metadata(name)?;
    match kind_of(&metadata.file_type()) {
        Kind::File => copy_file(from, name, to, copy, durable)?,
        Kind::Link => {
            link(&from.read_link_contents(name)?, to, copy)?;
            own(&metadata, to, copy);
        }
        Kind::Dir => {
            to.create_dir(copy)?;
            let (source, made) = (open_folder(from, name.as_ref())?, open_folder(to, copy.as_ref())?);
            for entry in source.entries()? {
                let entry = entry?.file_name();
                self::copy(&source, &entry, &made, &entry, durable)?;
            }
            // What this system or this user cannot carry over is lost, as with every copy.
            let _ = carry(&File::from_std(source.into_std_file()), &File::from_std(made.try_clone()?.into_std_file()))?;
            to.set_permissions(copy, metadata.permissions())?;
            timed(&metadata, to, copy);
            if durable {
                sync_folder(&made)?;
            }
        }
        Kind::Other => {
            let told = format!("{} is no file, link or folder, and cannot be copied", shown(name));
            return Err(io::Error::new(io::ErrorKind::InvalidInput, told));
        }
    }
    Ok(())
}

fn copy_file(from: &Dir, name: &OsStr, to: &Dir, copy: &OsStr, durable: bool) -> io::Result<()> {
    let mut source = from.open(name)?;
    space::may_hold(source.metadata()?.len())?;
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    cap_std::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut made = to.open_with(copy, &options)?;
    io::copy(&mut source, &mut made)?;
    // What this system or this user cannot carry over is lost, as with every copy.
    if carry(&source, &made)? {
        // These are the bytes that a setuid bit vouches for, and they are their owner's.
        made.set_permissions(source.metadata()?.permissions())?;
    }
    let modified = source.metadata()?.modified()?.into_std();
    let made = made.into_std();
    made.set_modified(modified)?;
    if durable { made.sync_all() } else { Ok(()) }
}

#[cfg(unix)]
fn link(target: &Path, to: &Dir, name: &OsStr) -> io::Result<()> {
    to.symlink_contents(target, name)
}

/// Windows wants to know what a link leads to, which may be nothing.
#[cfg(not(unix))]
fn link(_: &Path, _: &Dir, _: &OsStr) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Gives a copy of a link its owner, where this process may, and its times.
#[cfg(unix)]
fn own(metadata: &Metadata, dir: &Dir, name: &OsStr) {
    use cap_std::fs::MetadataExt;
    use rustix::fs::{AtFlags, chownat};
    use rustix::process::{Gid, Uid};
    let (uid, gid) = (Uid::from_raw(metadata.uid()), Gid::from_raw(metadata.gid()));
    let _ = chownat(dir, name, Some(uid), Some(gid), AtFlags::SYMLINK_NOFOLLOW);
    timed(metadata, dir, name);
}

#[cfg(not(unix))]
fn own(_: &Metadata, _: &Dir, _: &OsStr) {}

/// Gives a copy of a link or a folder its times. Not every file system keeps them for links.
#[cfg(unix)]
fn timed(metadata: &Metadata, dir: &Dir, name: &OsStr) {
    use cap_std::fs::MetadataExt;
    use rustix::fs::{AtFlags, Timespec, Timestamps, utimensat};
    let at = |seconds, nanos| Timespec { tv_sec: seconds, tv_nsec: nanos };
    let last_access = at(metadata.atime(), metadata.atime_nsec());
    let last_modification = at(metadata.mtime(), metadata.mtime_nsec());
    let _ = utimensat(dir, name, &Timestamps { last_access, last_modification }, AtFlags::SYMLINK_NOFOLLOW);
}

#[cfg(not(unix))]
fn timed(_: &Metadata, _: &Dir, _: &OsStr) {}

#[cfg(unix)]
fn mode(metadata: &Metadata) -> u32 {
    cap_std::fs::MetadataExt::mode(metadata) & 0o7777
}

#[cfg(not(unix))]
fn mode(metadata: &Metadata) -> u32 {
    u32::from(metadata.permissions().readonly())
}

/// Whether something in `top` lies on another file system.
#[cfg(unix)]
fn is_mounted(metadata: &Metadata, top: &Metadata) -> bool {
    use cap_std::fs::MetadataExt;
    metadata.dev() != top.dev()
}

#[cfg(not(unix))]
fn is_mounted(_: &Metadata, _: &Metadata) -> bool {
    false
}

/// Removes what is `name` in `dir` with all that is in it, each name by `unlink` and `remove_dir`; nothing if it is not there.
pub(crate) fn clear(
    dir: &Dir,
    name: &OsStr,
    unlink: &dyn Fn(&Dir, &OsStr) -> io::Result<()>,
    remove_dir: &dyn Fn(&Dir, &OsStr) -> io::Result<()>,
) -> io::Result<()> {
    let metadata = match dir.symlink_metadata(name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        told => told?,
    };
    if !metadata.is_dir() {
        return unlink(dir, name);
    }
    // Its mode may keep out even its owner.
    #[cfg(unix)]
    if mode(&metadata) & 0o700 != 0o700 {
        dir.set_permissions(name, cap_std::fs::PermissionsExt::from_mode(0o700))?;
    }
    let folder = open_folder(dir, name.as_ref())?;
    let names = folder.entries()?.map(|entry| entry.map(|entry| entry.file_name())).collect::<io::Result<Vec<_>>>()?;
    for inner in names {
        clear(&folder, &inner, unlink, remove_dir)?;
    }
    remove_dir(dir, name)
}
