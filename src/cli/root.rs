//! Which folder or folders a command works on.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::model::folder::Folder;
use crate::workspace::local::{Local, OpenError};

/// The folders that are named as options.
#[derive(Debug, Clone, Default, clap::Args)]
pub(super) struct Roots {
    /// The folder to work in. For several, give each a name and say it again: paths then begin with the name. Left out:
    /// the current one, unless that is / or the home folder.
    #[arg(long = "root", value_name = "[NAME=]DIR")]
    roots: Vec<OsString>,
}

/// The folders that are named as options, or the only one in its place.
#[derive(Debug, Clone, Default, clap::Args)]
pub(super) struct Placed {
    /// The folder. Left out: the current one, unless that is / or the home folder.
    #[arg(conflicts_with = "roots")]
    root: Option<PathBuf>,
    #[command(flatten)]
    named: Roots,
}

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
    #[error("of several folders each needs a name, which paths then begin with: give {} as --root NAME={}", .0.display(), .0.display())]
    Unnamed(PathBuf),
    #[error(transparent)]
    Open(#[from] OpenError),
}

impl Placed {
    /// Both ways to name folders as one.
    pub(super) fn roots(&self) -> Roots {
        match &self.root {
            Some(root) => Roots { roots: vec![root.clone().into_os_string()] },
            None => self.named.clone(),
        }
    }
}

impl Roots {
    /// Opens the folders, or the current one where none was named.
    pub(super) fn open(&self) -> Result<Local, RootError> {
        let named: Vec<_> = self.roots.iter().map(|root| split(root)).collect();
        if let [] | [(None, _)] = named[..] {
            let root = named.first().map_or_else(current_folder, |(_, root)| Ok((*root).to_owned()))?;
            return Ok(Local::open(root)?);
        }
        let mut folders = Vec::with_capacity(named.len());
        for (name, folder) in named {
            folders.push((name.ok_or_else(|| RootError::Unnamed(folder.to_owned()))?, folder));
        }
        Ok(Local::open_all(folders)?)
    }

    /// The same options once more, as words of a shell.
    pub(super) fn words(&self) -> String {
        self.roots.iter().map(|root| format!(" --root {}", shell_word(&root.to_string_lossy()))).collect()
    }
}

/// The options that name these folders.
pub(super) fn options(folders: &[Folder]) -> String {
    let option = |Folder { at, path }: &Folder| {
        let path = path.display();
        shell_word(&if at.is_root() { path.to_string() } else { format!("{at}={path}") })
    };
    folders.iter().map(|folder| format!(" --root {}", option(folder))).collect()
}

/// The folders as a person reads them.
pub(super) fn shown(folders: &[Folder]) -> String {
    let one = |Folder { at, path }: &Folder| match at.is_root() {
        true => path.display().to_string(),
        false => format!("{at} ({})", path.display()),
    };
    folders.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// The name and the folder of `NAME=DIR`. What stands before the first `=` is a part of the path if it looks like one.
fn split(text: &OsStr) -> (Option<&str>, &Path) {
    match text.to_str().and_then(|text| text.split_once('=')) {
        Some((name, folder)) if !name.contains(std::path::is_separator) && !name.starts_with('.') => {
            (Some(name), Path::new(folder))
        }
        _ => (None, Path::new(text)),
    }
}

/// A word as shells take it.
pub(super) fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/\\:._-+@%,=".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_told_from_a_path() {
        for (text, name, folder) in [
            ("code=/w/code", Some("code"), "/w/code"),
            ("code=a=b", Some("code"), "a=b"),
            ("=x", Some(""), "x"),
            ("/w/a=b", None, "/w/a=b"),
            ("./a=b", None, "./a=b"),
            ("/w", None, "/w"),
        ] {
            assert_eq!(split(OsStr::new(text)), (name, Path::new(folder)), "{text}");
        }
    }
}
