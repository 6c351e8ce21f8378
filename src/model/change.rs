//! What a tool proposes to do to files.

use bytes::Bytes;

use crate::model::path::WsPath;
use crate::model::version::Version;

/// What must be at a path for a change to be right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    /// Nothing: the change creates it.
    Absent,
    /// Exactly these bytes: the change rests on having seen them.
    Exactly(Version),
    /// Whatever is there.
    Any,
}

/// One step of a change set.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// The file at `path` gets exactly `content`.
    Write {
        /// Where.
        path: WsPath,
        /// From what.
        expect: Expect,
        /// To what.
        content: Bytes,
    },
    /// A file goes. What its bytes were is kept.
    Delete {
        /// Where.
        path: WsPath,
        /// From what.
        expect: Expect,
    },
    /// A folder is made; its parent exists or is made by an earlier step. One that is there already is no fault.
    MakeDir {
        /// Where.
        path: WsPath,
    },
    /// An empty folder goes. One that is not empty is left as it is, and that is no fault.
    RemoveDir {
        /// Where.
        path: WsPath,
    },
}

impl Change {
    /// The path that this step changes.
    #[must_use]
    pub fn path(&self) -> &WsPath {
        match self {
            Change::Write { path, .. }
            | Change::Delete { path, .. }
            | Change::MakeDir { path }
            | Change::RemoveDir { path } => path,
        }
    }
}

/// Steps that are done all or not at all, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangeSet(Vec<Change>);

impl ChangeSet {
    /// A set of these steps.
    #[must_use]
    pub fn new(changes: Vec<Change>) -> Self {
        ChangeSet(changes)
    }

    /// The steps in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Change> {
        self.0.iter()
    }

    /// Whether there is nothing to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'a> IntoIterator for &'a ChangeSet {
    type Item = &'a Change;
    type IntoIter = std::slice::Iter<'a, Change>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}
