//! A walk by nothing but listing and opening: right for every home, one thread, the order of names.

use std::io::Read;

use crate::model::path::WsPath;
use crate::workspace::walk::ignored::{Above, Holds, Level, MOST_BYTES, leaves_out};
use crate::workspace::walk::{Body, Flow, Found, Walk, Walked, prefix};
use crate::workspace::{FileError, FileErrorKind, Kind, Workspace};

/// Walks `start`, or shows the file that it is.
pub(in crate::workspace) fn walk<W: Workspace + ?Sized>(
    workspace: &W,
    start: &WsPath,
    asked: &Walk<'_>,
) -> Result<Walked, FileError> {
    let mut walk = Plain { workspace, asked, prefix: prefix(start), walked: Walked::default() };
    if workspace.stat(start)?.kind != Kind::Dir {
        let shown = workspace.stat(start)?.kind;
        walk.prefix = start.as_str().len() - start.name().len();
        walk.walked.ended = walk.show(start, shown) == Flow::End;
        return Ok(walk.walked);
    }
    let above = if asked.include_ignored {
        None
    } else {
        Level::above(start, &|path| walk.read(path), &|path| walk.is_there(path))
    };
    // Other folders that cannot be listed are told; this one is all that was asked for.
    let mut left = vec![(start.clone(), above)];
    let mut first = true;
    while let Some((folder, above)) = left.pop() {
        match walk.folder(&folder, &above, &mut left) {
            Ok(true) => {}
            Ok(false) => {
                walk.walked.ended = true;
                break;
            }
            Err(error) if first => return Err(error),
            Err(FileError { kind: FileErrorKind::NotFound, .. }) => {}
            Err(_) => walk.walked.unreadable.add(folder.as_str()),
        }
        first = false;
    }
    Ok(walk.walked)
}

struct Plain<'a, W: ?Sized> {
    workspace: &'a W,
    asked: &'a Walk<'a>,
    prefix: usize,
    walked: Walked,
}

impl<W: Workspace + ?Sized> Plain<'_, W> {
    /// Shows what is in one folder; false if that is to be the end.
    fn folder(&mut self, folder: &WsPath, above: &Above, left: &mut Vec<(WsPath, Above)>) -> Result<bool, FileError> {
        let listing = self.workspace.list(folder, usize::MAX)?;
        let mut holds = Holds::default();
        listing.entries.iter().for_each(|entry| holds.note(entry.name.as_bytes()));
        let above = if self.asked.include_ignored {
            None
        } else {
            Level::enter(above, folder.as_str(), holds, &|path| self.read(path))
        };
        for entry in &listing.entries {
            if !entry.addressable {
                self.walked.unnamed += 1;
                continue;
            }
            let path = folder.join(&entry.name);
            let Some(kind) = entry.kind else {
                self.walked.unreadable.add(path.as_str());
                continue;
            };
            if !self.asked.include_ignored && leaves_out(&above, path.as_str(), &entry.name, kind == Kind::Dir) {
                self.walked.ignored += 1;
                continue;
            }
            match self.show(&path, kind) {
                Flow::On if kind == Kind::Dir => left.push((path, above.clone())),
                Flow::On | Flow::Past => {}
                Flow::End => return Ok(false),
            }
        }
        Ok(true)
    }

    fn show(&self, path: &WsPath, kind: Kind) -> Flow {
        let open = || {
            if kind != Kind::File {
                return Err(FileErrorKind::NotAFile);
            }
            let file = self.workspace.open(path).map_err(|error| error.kind)?;
            Ok(Body { size: file.stat.size, content: Box::new(file.content) })
        };
        let (path, below) = (path.as_str(), &path.as_str()[self.prefix..]);
        (self.asked.visit)(&Found { path, below, kind, opener: &open })
    }

    fn read(&self, path: &str) -> Option<Vec<u8>> {
        let file = self.workspace.open(&WsPath::parse(path).ok()?).ok()?;
        let mut bytes = Vec::new();
        file.content.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    fn is_there(&self, path: &str) -> bool {
        WsPath::parse(path).is_ok_and(|path| self.workspace.stat(&path).is_ok())
    }
}
