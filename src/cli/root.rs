//! Which folder a command works on.

use std::path::{Path, PathBuf};

use crate::workspace::local::{Local, OpenError};

/// Why there is no folder to work on.
#[derive(Debug, thiserror::Error)]
pub(super) enum RootError {
    #[error("the current folder cannot be told: {0}; name a folder")]
    NoCurrentFolder(std::io::Error),
    /// Hosts start servers in odd places; the whole disk is never what was meant.
    #[error(
        "no folder was named, and the current one is {0}; that is too much to hand to a model by accident, so name it \
         if you mean it"
    )]
    TooMuch(String),
    #[error(transparent)]
    Open(#[from] OpenError),
}

/// Opens `root`, or the current folder where none was named.
pub(super) fn open(root: Option<&Path>) -> Result<Local, RootError> {
    let root = match root {
        Some(root) => root.to_owned(),
        None => current_folder()?,
    };
    Ok(Local::open(root)?)
}

fn current_folder() -> Result<PathBuf, RootError> {
    let current = std::env::current_dir().map_err(RootError::NoCurrentFolder)?;
    let is_home = std::env::home_dir().is_some_and(|home| same_folder(&home, &current));
    if current.parent().is_none() || is_home {
        return Err(RootError::TooMuch(current.display().to_string()));
    }
    Ok(current)
}

#[expect(clippy::disallowed_methods, reason = "two folders are compared; nothing is opened by the result")]
/// Whether two paths are one folder, however they are spelled.
fn same_folder(one: &Path, other: &Path) -> bool {
    one == other || one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}
