//! What can go wrong with the ledger, and what to do then.

use std::io;
use std::path::PathBuf;

use crate::model::error::{ErrorCode, ToolError};
use crate::model::id::ChangeId;
use crate::model::version::Version;

/// The state folder of a workspace cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// Nothing says where a user's state lives.
    #[error("there is no home folder to keep the ledger in: set {variable}, or name a folder with --state DIR")]
    NoHome {
        /// The variable of the environment that would say it.
        variable: &'static str,
    },
    /// Tools could change the ledger.
    #[error(
        "the state folder {} lies inside the workspace {}, where tools could change it: name one outside with \
         --state DIR, or serve a smaller folder", state.display(), root.display()
    )]
    Inside {
        /// Where the ledger would lie.
        state: PathBuf,
        /// The workspace.
        root: PathBuf,
    },
    /// The system says no.
    #[error(
        "the state folder {} cannot be used: {source}. Make it writable for this user, or name another one with \
         --state DIR", path.display()
    )]
    Io {
        /// Where.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// The ledger cannot do what is asked of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LedgerError {
    /// The session log cannot be written, so nothing may be changed.
    #[error(
        "the session log cannot be written ({0}), and what is not recorded first is not changed. Ask the user to make \
         room on the disk of the state folder, or to make it writable; then try again"
    )]
    Log(#[source] io::Error),
    /// The list of changes cannot be written or read.
    #[error(
        "the list of changes cannot be used ({0}). Ask the user to make room on the disk of the state folder, or to \
         make it writable; then try again"
    )]
    Changes(#[source] io::Error),
    /// Kept bytes cannot be stored or fetched.
    #[error("kept bytes cannot be used ({0}). Ask the user to look at the state folder; then try again")]
    Blobs(#[source] io::Error),
    /// No such change.
    #[error("there is no change {0}. Name one as the result of its call, or `toolgate log`, has it")]
    NoSuchChange(ChangeId),
    /// The change has not happened, so there is nothing to take back.
    #[error("the change {0} has not happened, so there is nothing to undo")]
    NotDone(ChangeId),
    /// It has been taken back already.
    #[error("the change {change} was undone already, by {by}. To make it once more, undo {by}")]
    Undone {
        /// The change.
        change: ChangeId,
        /// Its undoing.
        by: ChangeId,
    },
    /// The bytes that an undo needs are not there any more.
    #[error(
        "{path} cannot be put back: its earlier bytes ({version}) are no longer kept. Restore it from version control \
         or a backup"
    )]
    Gone {
        /// The file.
        path: String,
        /// Which bytes.
        version: Version,
    },
    /// A line of the list of changes cannot be understood.
    #[error(
        "the record of the change {0} cannot be understood: {1}. Restore its files from version control or a backup"
    )]
    Unreadable(ChangeId, String),
}

/// What the model is told, with the cure.
impl From<LedgerError> for ToolError {
    fn from(error: LedgerError) -> Self {
        let code = match &error {
            LedgerError::Log(source) | LedgerError::Changes(source) | LedgerError::Blobs(source) => match source.kind()
            {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                    ErrorCode::NoSpace
                }
                _ => ErrorCode::IoError,
            },
            LedgerError::NoSuchChange(_) | LedgerError::NotDone(_) | LedgerError::Undone { .. } => {
                ErrorCode::InvalidArguments
            }
            LedgerError::Gone { .. } | LedgerError::Unreadable(..) => ErrorCode::IoError,
        };
        ToolError::new(code, format!("{error}."))
    }
}

impl LedgerError {
    /// The same as a failure of input and output, so that a full disk is still told as one.
    pub(super) fn into_io(self) -> io::Error {
        let kind = match &self {
            LedgerError::Log(source) | LedgerError::Changes(source) | LedgerError::Blobs(source) => source.kind(),
            _ => io::ErrorKind::Other,
        };
        io::Error::new(kind, self)
    }
}
