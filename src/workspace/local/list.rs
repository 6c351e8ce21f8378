//! The entries of a folder.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::io;

use cap_std::fs::Dir;

use crate::model::path::WsPath;
use crate::workspace::local::read::kind_of;
use crate::workspace::local::{below, patiently};
use crate::workspace::{Entry, Kind, Listing};

/// The first `limit` entries of the folder at `path` by the bytes of their names, and how many there are.
/// All names are read, but only the entries that are told are looked at.
pub(super) fn list(root: &Dir, path: &WsPath, limit: usize) -> io::Result<Listing> {
    let folder = patiently(|| root.open_dir(below(path)))?;
    let mut names = names(&folder)?;
    names.sort_unstable();
    let mut total = names.len();
    let mut entries = Vec::with_capacity(limit.min(total));
    for name in names {
        if entries.len() == limit {
            break;
        }
        match look(root, path, &folder, &name) {
            Some(entry) => entries.push(entry),
            None => total -= 1,
        }
    }
    Ok(Listing { entries, total })
}

fn names(folder: &Dir) -> io::Result<Vec<OsString>> {
    patiently(|| folder.entries())?.map(|entry| entry.map(|entry| entry.file_name())).collect()
}

/// One entry as it is, a link not followed; nothing if it has gone meanwhile.
fn look(root: &Dir, path: &WsPath, folder: &Dir, name: &OsStr) -> Option<Entry> {
    let metadata = match patiently(|| folder.symlink_metadata(name)) {
        Ok(metadata) => Some(metadata),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(_) => None,
    };
    let kind = metadata.as_ref().map(|metadata| kind_of(&metadata.file_type()));
    let size = metadata.filter(|_| kind == Some(Kind::File)).map(|metadata| metadata.len());
    let (target, leads_to) = match kind {
        Some(Kind::Link) => (
            folder.read_link_contents(name).ok().map(|target| shown(target.as_os_str()).into_owned()),
            // Resolved from the root, so that a way up and back in counts as inside.
            root.metadata(below(path).join(name)).ok().map(|metadata| kind_of(&metadata.file_type())),
        ),
        _ => (None, None),
    };
    Some(Entry { addressable: name.to_str().is_some(), name: shown(name).into_owned(), kind, size, target, leads_to })
}

/// A name as text: bytes that are not UTF-8 as `\xNN`.
fn shown(name: &OsStr) -> Cow<'_, str> {
    if let Some(text) = name.to_str() {
        return Cow::Borrowed(text);
    }
    let mut text = String::new();
    for chunk in name.as_encoded_bytes().utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            // Writing to a `String` cannot fail.
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    Cow::Owned(text)
}
