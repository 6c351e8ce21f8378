//! How a file operation fails, and what a model is told of it.

use std::io;

use crate::model::error::{ErrorCode, ToolError};
use crate::model::path::WsPath;
use crate::model::version::Version;

/// A file operation failed; the workspace is as it was.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {kind}")]
pub struct FileError {
    /// Where.
    pub path: WsPath,
    /// How.
    pub kind: FileErrorKind,
}

/// How a file operation failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileErrorKind {
    /// Nothing is there.
    #[error("nothing is there")]
    NotFound,
    /// A link on the way leads outside.
    #[error("a link on the way leads outside the workspace")]
    Outside,
    /// Links on the way lead round in a circle, or cannot be followed: there are too many of them, or the system makes them up.
    #[error("links on the way lead round in a circle, or cannot be followed")]
    LinkLoop,
    /// Something is there, but not a regular file.
    #[error("not a regular file")]
    NotAFile,
    /// A part of the path is not a folder.
    #[error("not a folder")]
    NotADirectory,
    /// Something is there already.
    #[error("something is there already")]
    AlreadyExists,
    /// The system forbids it.
    #[error("the system forbids it")]
    PermissionDenied,
    /// The system forbids changes in its folder.
    #[error("the system lets this process change nothing in the folder {0}")]
    ClosedFolder(String),
    /// The disk, a quota or a file size limit is full.
    #[error("no space is left")]
    NoSpace,
    /// What the change rests on is not there any more.
    #[error("the file is not what the change rests on")]
    Stale {
        /// What is there now, nothing if no file is.
        now: Option<Version>,
    },
    /// A change has failed half-way and could not be taken back wholly: nothing is lost, and a recovery will finish it or
    /// take it back. Everything else that fails leaves the workspace as it was.
    #[error("{0}")]
    Unsettled(String),
    /// What is to come back is no longer kept.
    #[error("it is no longer kept")]
    Gone,
    /// A folder cannot be moved into itself.
    #[error("a folder cannot be moved into itself")]
    IntoItself,
    /// It lies on another file system, where nothing can be moved to in one step.
    #[error("it is on another file system")]
    OtherFileSystem,
    /// The name is not one that this system takes.
    #[error("the name is not allowed here: {0}")]
    BadName(String),
    /// Anything else.
    #[error("{0}")]
    Io(#[from] io::Error),
}

impl FileErrorKind {
    /// The same failure, at `path`.
    #[must_use]
    pub fn at(self, path: &WsPath) -> FileError {
        FileError { path: path.clone(), kind: self }
    }
}

/// What the model is told, with the cure.
impl From<FileError> for ToolError {
    fn from(FileError { path, kind }: FileError) -> Self {
        let error = match kind {
            FileErrorKind::NotFound => ToolError::new(
                ErrorCode::FileNotFound,
                format!("Nothing is at {path}. List its folder with list_dir to see what is there."),
            ),
            FileErrorKind::Outside => ToolError::new(
                ErrorCode::OutsideWorkspace,
                format!(
                    "{path} leads outside the workspace through a link (links to absolute paths count as outside, \
                     also when they point back in). Use the path of the real file inside the workspace."
                ),
            ),
            FileErrorKind::LinkLoop => ToolError::new(
                ErrorCode::NotAFile,
                format!(
                    "{path} leads to nothing: the links on the way go round in a circle, or cannot be followed. list_dir shows \
                     where each points; delete_path takes a link away."
                ),
            ),
            FileErrorKind::NotAFile => ToolError::new(
                ErrorCode::NotAFile,
                format!("{path} is not a regular file. Use list_dir to see what it is, and name a file."),
            ),
            FileErrorKind::NotADirectory => ToolError::new(
                ErrorCode::NotADirectory,
                format!("{path}, or a part of that path, is not a folder. List the folder above it to see what is there."),
            ),
            FileErrorKind::AlreadyExists => ToolError::new(
                ErrorCode::AlreadyExists,
                format!("Something is at {path} already. Choose another name, or change what is there."),
            ),
            FileErrorKind::PermissionDenied => ToolError::new(
                ErrorCode::PermissionDenied,
                format!("The operating system does not let this process use {path}. Ask the user to change its permissions."),
            ),
            FileErrorKind::ClosedFolder(folder) => ToolError::new(
                ErrorCode::PermissionDenied,
                format!(
                    "{path} cannot be changed, made or removed: the operating system lets this process change nothing in the \
                     folder {folder}. Ask the user to change the permissions of that folder."
                ),
            )
            .with("folder", folder),
            FileErrorKind::NoSpace => ToolError::new(
                ErrorCode::NoSpace,
                format!("There is no space left to write {path} (disk, quota or file size limit). It is as it was. Ask the user to make room."),
            ),
            FileErrorKind::Stale { now } => ToolError::new(
                ErrorCode::StaleVersion,
                format!("{path} was changed by someone else meanwhile and is as they left it. Read it again, then redo the change."),
            )
            .with("current_version", now.map(|version| version.to_string())),
            FileErrorKind::Unsettled(why) => ToolError::new(
                ErrorCode::IoError,
                format!(
                    "{path}: {why}. Nothing is lost: the next start of toolgate finishes this change or takes it back. Read the \
                     file before you go on, and tell the user."
                ),
            ),
            FileErrorKind::Gone => ToolError::new(
                ErrorCode::IoError,
                format!(
                    "What was at {path} is no longer kept, so it cannot come back. Restore it from version control or a backup."
                ),
            ),
            FileErrorKind::IntoItself => ToolError::bad_argument(
                "to",
                format_args!("{path} lies in the folder that is to be moved. Choose a place outside of it."),
            ),
            FileErrorKind::OtherFileSystem => ToolError::new(
                ErrorCode::IoError,
                format!(
                    "{path} is on another file system than what is to be moved, so it cannot be moved there in one step. \
                     Nothing was changed. Write it anew there and delete the old one, or ask the user to move it."
                ),
            ),
            FileErrorKind::BadName(why) => {
                ToolError::new(ErrorCode::InvalidArguments, format!("{path} cannot be a name here: {why}. Choose another name."))
            }
            FileErrorKind::Io(error) => ToolError::new(
                ErrorCode::IoError,
                format!("{path}: {error}. The workspace is as it was; try again, and tell the user if it stays so."),
            ),
        };
        error.with("path", path.to_string())
    }
}
