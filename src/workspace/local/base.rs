//! The folders that a workspace on disk is made of: one, or several by name.

use std::borrow::Cow;
use std::io;

use cap_std::fs::Dir;

use crate::model::path::WsPath;
use crate::workspace::{FileError, FileErrorKind, Root};

/// Open folders. Paths are resolved beneath the one that they lead into, and a link that leads from one into another leads
/// outside.
#[derive(Debug)]
pub(in crate::workspace) struct Base {
    roots: Vec<Root>,
    dirs: Vec<Dir>,
}

/// A path, and the open folder that it is resolved beneath.
pub(in crate::workspace) struct Below<'a> {
    pub(in crate::workspace) dir: &'a Dir,
    /// What the folder is called in the workspace.
    pub(in crate::workspace) at: &'a WsPath,
    /// The path beneath it.
    pub(in crate::workspace) path: Cow<'a, WsPath>,
}

impl Base {
    pub(super) fn new(folders: impl IntoIterator<Item = (Root, Dir)>) -> Self {
        let (roots, dirs) = folders.into_iter().unzip();
        Base { roots, dirs }
    }

    /// The same folders, open once more.
    pub(super) fn try_clone(&self) -> io::Result<Self> {
        let dirs = self.dirs.iter().map(Dir::try_clone).collect::<io::Result<_>>()?;
        Ok(Base { roots: self.roots.clone(), dirs })
    }

    pub(super) fn roots(&self) -> &[Root] {
        &self.roots
    }

    /// Whether `path` is the place above several folders, where nothing but these is.
    pub(in crate::workspace) fn is_top(&self, path: &WsPath) -> bool {
        path.is_root() && self.roots.iter().all(|root| !root.at.is_root())
    }

    /// The open folder that `path` leads into.
    ///
    /// # Errors
    /// [`FileErrorKind::NotAFile`] for the place above several folders, [`FileErrorKind::NotFound`] where no folder has
    /// that name.
    pub(in crate::workspace) fn find<'a>(&'a self, path: &'a WsPath) -> Result<Below<'a>, FileError> {
        if self.is_top(path) {
            return Err(FileErrorKind::NotAFile.at(path));
        }
        for (root, dir) in self.roots.iter().zip(&self.dirs) {
            let below =
                if root.at.is_root() { Some(Cow::Borrowed(path)) } else { path.below(&root.at).map(Cow::Owned) };
            if let Some(below) = below {
                return Ok(Below { dir, at: &root.at, path: below });
            }
        }
        Err(FileErrorKind::NotFound.at(path))
    }
}
