//! What a tool proposes to do to files.

use crate::model::file_bytes::FileBytes;
use crate::model::id::KeptId;
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
        content: FileBytes,
    },
    /// A file goes. What its bytes were is kept. As with a write, a link at `path` is followed and stays: the file that
    /// it leads to goes.
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
    /// An empty folder goes, once all files of the set are done. One that is not empty, or that the system does not let
    /// go, is left as it is, and that is no fault.
    RemoveDir {
        /// Where.
        path: WsPath,
    },
    /// A file, a link itself, or a folder with all that is in it gets another path and stays what it is. Nothing may be
    /// at `to`. No other step of the set may be about what is below either path.
    Move {
        /// From where.
        from: WsPath,
        /// To where.
        to: WsPath,
        /// The bytes of a file that moves; of a folder the mark that a survey of its names gave; of a link nothing.
        expect: Expect,
    },
    /// A file, a link itself, or a folder with all that is in it goes. It is kept whole, as it is.
    Remove {
        /// Where.
        path: WsPath,
        /// The mark that a survey of it gave.
        expect: Expect,
        /// Under which name it is kept; a new one if left out.
        kept: Option<KeptId>,
    },
    /// What was removed comes back as it was. Nothing may be at `path`.
    Restore {
        /// Where.
        path: WsPath,
        /// Under which name it is kept.
        kept: KeptId,
        /// The mark that it had.
        mark: Version,
    },
}

impl Change {
    /// The path that this step changes: of a move, where it leads.
    #[must_use]
    pub fn path(&self) -> &WsPath {
        match self {
            Change::Write { path, .. }
            | Change::Delete { path, .. }
            | Change::MakeDir { path }
            | Change::RemoveDir { path }
            | Change::Move { to: path, .. }
            | Change::Remove { path, .. }
            | Change::Restore { path, .. } => path,
        }
    }

    /// Every path that this step names.
    pub fn paths(&self) -> impl Iterator<Item = &WsPath> {
        let from = match self {
            Change::Move { from, .. } => Some(from),
            _ => None,
        };
        from.into_iter().chain([self.path()])
    }
}

/// Steps that are done all or not at all, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangeSet(Vec<Change>);

impl ChangeSet {
    /// The same steps, but for the one at `at`.
    pub(crate) fn with(&self, at: usize, change: Change) -> Self {
        let mut steps = self.0.clone();
        if let Some(step) = steps.get_mut(at) {
            *step = change;
        }
        ChangeSet(steps)
    }

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
