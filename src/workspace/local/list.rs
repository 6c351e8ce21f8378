//! The entries of a folder.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt::Write;
use std::io;

use cap_std::fs::Dir;

use crate::model::path::WsPath;
use crate::workspace::local::below;
use crate::workspace::local::folder::{Folder, Name};
use crate::workspace::local::read::kind_of;
use crate::workspace::{Entry, Kind, Listing, Root};

/// The first `limit` entries of the folder at `path` by the bytes of their names, and how many there are.
/// All names are read, but only the entries that are told are looked at.
pub(super) fn list(root: &Dir, path: &WsPath, limit: usize) -> io::Result<Listing> {
    let mut folder = Folder::open(root, below(path))?;
    let mut names = folder.names()?;
    names.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    let mut total = names.len();
    let mut entries = Vec::with_capacity(limit.min(total));
    for name in &names {
        if entries.len() == limit {
            break;
        }
        match look(root, path, &folder, name) {
            Some(entry) => entries.push(entry),
            None => total -= 1,
        }
    }
    Ok(Listing { entries, total })
}

/// The first `limit` of the folders that a workspace is made of, by name.
pub(super) fn roots(roots: &[Root], limit: usize) -> Listing {
    let mut names: Vec<_> = roots.iter().map(|root| root.at.as_str()).collect();
    names.sort_unstable();
    let entry = |name: &&str| Entry {
        name: (*name).to_owned(),
        addressable: true,
        kind: Some(Kind::Dir),
        size: None,
        target: None,
        leads_to: None,
    };
    Listing { entries: names.iter().take(limit).map(entry).collect(), total: names.len() }
}

/// One entry as it is, a link not followed; nothing if it has gone meanwhile.
fn look(root: &Dir, path: &WsPath, folder: &Folder, Name { name, kind }: &Name) -> Option<Entry> {
    let (kind, size) = match kind {
        // Nothing more is told of these, so there is no need to look.
        Some(Kind::Dir | Kind::Link | Kind::Other) => (*kind, None),
        Some(Kind::File) | None => match folder.look(name) {
            Ok((kind, size)) => (kind, Some(size).filter(|_| kind == Some(Kind::File))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(_) => (None, None),
        },
    };
    let mut entry = Entry {
        name: shown(name).into_owned(),
        addressable: name.to_str().is_some(),
        kind,
        size,
        target: None,
        leads_to: None,
    };
    if kind == Some(Kind::Link) {
        entry.target = folder.target(name).map(|target| shown(&target).into_owned());
        // Resolved from the root, so that a way up and back in counts as inside.
        let there = root.metadata(below(path).join(name)).ok();
        entry.leads_to = there.map(|there| kind_of(&there.file_type()));
    }
    Some(entry)
}

/// A name as text: bytes that are not UTF-8 as `\xNN`.
pub(in crate::workspace) fn shown(name: &OsStr) -> Cow<'_, str> {
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
