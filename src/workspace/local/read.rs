//! Looking at files and opening them for reading.

use std::io;

use cap_std::fs::{Dir, FileType, Metadata, OpenOptions};
use jiff::Timestamp;

use crate::model::path::WsPath;
use crate::workspace::local::list::shown;
use crate::workspace::local::{below, fault, patiently};
use crate::workspace::replace::identity;
use crate::workspace::{About, FileErrorKind, Kind, OpenFile, Stat};

/// What is at `path`, a link followed.
pub(super) fn stat(root: &Dir, path: &WsPath) -> io::Result<Stat> {
    let metadata = patiently(|| root.metadata(below(path)))?;
    Ok(stat_of(&metadata))
}

/// What is at `path`, a link itself and what it leads to.
pub(super) fn about(root: &Dir, path: &WsPath) -> io::Result<About> {
    let link = patiently(|| root.symlink_metadata(below(path)))?;
    let (metadata, target) = if link.is_symlink() {
        let target = root.read_link_contents(below(path)).ok();
        (root.metadata(below(path)).ok(), target.map(|target| shown(target.as_os_str()).into_owned()))
    } else {
        (Some(link), None)
    };
    let modified = metadata.as_ref().and_then(|metadata| metadata.modified().ok());
    Ok(About {
        stat: metadata.as_ref().map(stat_of),
        target,
        mode: metadata.as_ref().and_then(mode),
        modified: modified.and_then(|time| Timestamp::try_from(time.into_std()).ok()),
    })
}

#[cfg(unix)]
#[allow(clippy::unnecessary_wraps, reason = "not every system has these")]
fn mode(metadata: &Metadata) -> Option<u32> {
    use cap_std::fs::MetadataExt;
    Some(metadata.mode() & 0o7777)
}

#[cfg(not(unix))]
fn mode(_: &Metadata) -> Option<u32> {
    None
}

/// Opens the regular file at `path`. What it is is asked of the open handle, not of the path.
pub(super) fn open(root: &Dir, path: &WsPath) -> Result<OpenFile, FileErrorKind> {
    let file = patiently(|| root.open_with(below(path), &for_content())).map_err(fault)?;
    let stat = file.metadata().map(|metadata| stat_of(&metadata)).map_err(fault)?;
    match stat.kind {
        Kind::File => Ok(OpenFile { stat, content: Box::new(file.into_std()) }),
        Kind::Dir | Kind::Link | Kind::Other => Err(FileErrorKind::NotAFile),
    }
}

fn stat_of(metadata: &Metadata) -> Stat {
    let kind = kind_of(&metadata.file_type());
    let identity = if kind == Kind::File { identity(metadata) } else { None };
    Stat { kind, size: metadata.len(), identity }
}

/// Opens for reading without waiting for anyone at the other end, and without becoming a terminal's owner.
fn for_content() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use cap_std::fs::OpenOptionsExt;
        use rustix::fs::OFlags;
        options.custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed());
    }
    options
}

/// What a file type is in the workspace's words.
pub(in crate::workspace) fn kind_of(file_type: &FileType) -> Kind {
    if file_type.is_file() {
        Kind::File
    } else if file_type.is_dir() {
        Kind::Dir
    } else if file_type.is_symlink() {
        Kind::Link
    } else {
        Kind::Other
    }
}
