//! A folder of the system that a workspace is made of.

use std::path::{Path, PathBuf};

use crate::model::path::WsPath;

/// Where files of a workspace lie on disk: in its only folder, or in one of several, each under its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// What paths of the workspace begin with that lie in it: its name, or nothing where it is the only one.
    pub at: WsPath,
    /// The folder as the system resolves it.
    pub path: PathBuf,
}

impl Folder {
    /// The only folder of a workspace.
    pub fn only(path: impl Into<PathBuf>) -> Self {
        Folder { at: WsPath::root(), path: path.into() }
    }

    /// The path in the workspace of what lies at `file`, where that is in this folder. Nothing for the folder itself.
    #[must_use]
    pub fn inside(&self, file: &Path) -> Option<WsPath> {
        let below = WsPath::parse(file.strip_prefix(&self.path).ok()?.to_str()?).ok()?;
        (!below.is_root()).then(|| below.under(&self.at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_in_a_folder_has_a_path() {
        let path = |text: &str| WsPath::parse(text).expect("a path");
        let only = Folder::only("/w/code");
        let named = Folder { at: path("code"), path: "/w/code".into() };
        for (file, in_only, in_named) in [
            ("/w/code/src/a.rs", Some("src/a.rs"), Some("code/src/a.rs")),
            ("/w/code", None, None),
            ("/w/code-2/a", None, None),
            ("/elsewhere", None, None),
        ] {
            assert_eq!(only.inside(Path::new(file)), in_only.map(path), "{file}");
            assert_eq!(named.inside(Path::new(file)), in_named.map(path), "{file}");
        }
    }
}
