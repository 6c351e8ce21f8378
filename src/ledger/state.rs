//! The folder outside a workspace in which its ledger is kept.

use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::Dir;

pub use crate::ledger::error::StateError;
use crate::model::folder::Folder;

/// The open state folder of one workspace.
#[derive(Debug)]
pub struct StateFolder {
    pub(super) dir: Dir,
    path: PathBuf,
}

impl StateFolder {
    /// Opens the state folder of the workspace that is made of `folders`, made for this user only if it is not there:
    /// below `home` if one is named, else where this system keeps the state of users.
    ///
    /// # Errors
    /// See [`StateError`].
    pub fn open(folders: &[Folder], home: Option<&Path>) -> Result<Self, StateError> {
        let path = place(folders, home)?;
        enter(&path, true)
            .map(|dir| StateFolder { dir, path: path.clone() })
            .map_err(|source| StateError::Io { path, source })
    }

    /// Opens it only if it is there: to look at what was recorded.
    ///
    /// # Errors
    /// See [`StateError`].
    pub fn find(folders: &[Folder], home: Option<&Path>) -> Result<Option<Self>, StateError> {
        let path = place(folders, home)?;
        match enter(&path, false) {
            Ok(dir) => Ok(Some(StateFolder { dir, path })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(StateError::Io { path, source }),
        }
    }

    /// The folder of the states of all workspaces, where the user has not named one.
    ///
    /// # Errors
    /// See [`StateError`].
    pub fn home() -> Result<PathBuf, StateError> {
        default_home(std::env::consts::OS, |name| std::env::var_os(name))
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Where the ledger of these folders lies, which must be outside of all.
fn place(folders: &[Folder], home: Option<&Path>) -> Result<PathBuf, StateError> {
    let at = |path: &Path| {
        let path = path.to_owned();
        move |source| StateError::Io { path, source }
    };
    let named = home.is_some();
    let home = match home {
        Some(home) => home.to_owned(),
        None => default_home(std::env::consts::OS, |name| std::env::var_os(name))?,
    };
    let mut roots = Vec::with_capacity(folders.len());
    for Folder { at: name, path } in folders {
        roots.push(Folder { at: name.clone(), path: resolved(path).map_err(at(path))? });
    }
    let home = resolved(&home).map_err(at(&home))?;
    let state = home.join(folder_name(&mut roots));
    // Who serves their home folder, or the whole disk, has everything inside, and the gate guards this then.
    match roots.into_iter().find(|root| named && state.starts_with(&root.path)) {
        Some(Folder { path: root, .. }) => Err(StateError::Inside { state, root }),
        None => Ok(state),
    }
}

/// `<name>-<8 hexadecimal digits>`: for people to know it by, and for no other to have it. Several folders have one
/// together, in whatever order they are named.
fn folder_name(roots: &mut [Folder]) -> String {
    roots.sort_by(|one, other| one.at.cmp(&other.at));
    let mut hasher = blake3::Hasher::new();
    let mut names = Vec::new();
    for Folder { at, path } in roots.iter() {
        if at.is_root() {
            names.push(path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default());
        } else {
            names.push(at.to_string());
            hasher.update(at.as_str().as_bytes()).update(b"\0");
        }
        hasher.update(path.as_os_str().as_encoded_bytes());
        if !at.is_root() {
            hasher.update(b"\0");
        }
    }
    let name = names.join("+");
    let plain = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '+') { c } else { '_' };
    let name: String = name.chars().take(40).map(plain).collect();
    let hash = hasher.finalize().to_hex();
    format!("{}-{}", if name.is_empty() { "root" } else { &name }, &hash[..8])
}

/// Where `system` keeps the state of a user, by what the environment says.
fn default_home(system: &str, env: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, StateError> {
    // A relative path would name another folder wherever the server is started.
    let absolute = |name| env(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = match system {
        "windows" => absolute("LOCALAPPDATA").ok_or("LOCALAPPDATA"),
        "macos" => absolute("HOME").map(|home| home.join("Library/Application Support")).ok_or("HOME"),
        _ => {
            absolute("XDG_STATE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/state"))).ok_or("HOME")
        }
    };
    home.map(|home| home.join("toolgate")).map_err(|variable| StateError::NoHome { variable })
}

/// `path` with all links resolved, as far as it exists.
#[expect(clippy::disallowed_methods, reason = "places are compared here; what is opened is opened by a handle")]
fn resolved(path: &Path) -> io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    let mut there = path.as_path();
    let mut missing = Vec::new();
    loop {
        match std::fs::canonicalize(there) {
            Ok(real) => return Ok(missing.iter().rev().fold(real, |path, part| path.join(part))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        match (there.parent(), there.components().next_back()) {
            (Some(parent), Some(Component::Normal(part))) => {
                missing.push(part.to_owned());
                there = parent;
            }
            _ => {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    "a folder that does not exist is followed by `..`",
                ));
            }
        }
    }
}

/// Opens the folder, with nobody but this user in it.
#[expect(clippy::disallowed_methods, reason = "the one place where the state folder is made and entered")]
fn enter(path: &Path, make: bool) -> io::Result<Dir> {
    if make {
        let mut builder = std::fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.recursive(true).create(path)?;
        #[cfg(unix)]
        {
            // One that another user has made in advance is refused here.
            let only_me = std::os::unix::fs::PermissionsExt::from_mode(0o700);
            std::fs::set_permissions(path, only_me)?;
        }
    }
    Dir::open_ambient_dir(path, ambient_authority())
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests look at the folder from outside")]
mod tests {
    use super::*;

    #[test]
    fn the_place_follows_the_system() {
        let env = |name: &str| match name {
            "HOME" => Some("/home/ann".into()),
            "LOCALAPPDATA" => Some("relative".into()),
            _ => None,
        };
        let at = |system| default_home(system, env).map(|path| path.to_string_lossy().into_owned());
        assert_eq!(at("linux").unwrap(), "/home/ann/.local/state/toolgate");
        assert_eq!(at("macos").unwrap(), "/home/ann/Library/Application Support/toolgate");
        assert!(matches!(at("windows"), Err(StateError::NoHome { variable: "LOCALAPPDATA" })));
        let xdg = default_home("linux", |name| (name == "XDG_STATE_HOME").then(|| "/state".into())).unwrap();
        assert_eq!(xdg, Path::new("/state/toolgate"));
    }

    #[test]
    fn a_state_folder_is_made_for_one_user_and_found_again() {
        let root = tempfile::tempdir().unwrap();
        let home = tempfile::tempdir().unwrap();
        let home = home.path().join("deep/er");
        assert!(StateFolder::find(&[Folder::only(root.path())], Some(&home)).unwrap().is_none());
        let state = StateFolder::open(&[Folder::only(root.path())], Some(&home)).unwrap();
        #[cfg(unix)]
        {
            let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(state.path()).unwrap().permissions());
            assert_eq!(mode & 0o777, 0o700);
        }
        let found = StateFolder::find(&[Folder::only(root.path())], Some(&home)).unwrap().unwrap();
        assert_eq!(found.path(), state.path());
        let name = state.path().file_name().unwrap().to_string_lossy().into_owned();
        assert_eq!(name.rsplit('-').next().unwrap().len(), 8, "{name}");
    }

    #[test]
    fn several_folders_have_one_state_in_whatever_order() {
        let (a, b, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let folder = |name: &str, dir: &tempfile::TempDir| Folder {
            at: crate::model::path::WsPath::parse(name).unwrap(),
            path: dir.path().to_owned(),
        };
        let state = |folders: &[Folder]| StateFolder::open(folders, Some(home.path())).unwrap().path().to_owned();
        let both = state(&[folder("a", &a), folder("b", &b)]);
        assert_eq!(both, state(&[folder("b", &b), folder("a", &a)]));
        assert!(both.file_name().unwrap().to_string_lossy().starts_with("a+b-"), "{}", both.display());
        for other in [vec![folder("a", &a)], vec![folder("a", &b), folder("b", &a)], vec![Folder::only(a.path())]] {
            assert_ne!(both, state(&other));
        }
        let inside = StateFolder::open(&[folder("a", &a), folder("b", &b)], Some(&b.path().join("x"))).unwrap_err();
        assert!(matches!(inside, StateError::Inside { .. }));
    }

    #[test]
    fn a_state_folder_inside_the_workspace_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let inside = root.path().join("not/there/yet");
        let refused = StateFolder::open(&[Folder::only(root.path())], Some(&inside)).unwrap_err();
        assert!(matches!(refused, StateError::Inside { .. }) && refused.to_string().contains("--state DIR"));
        assert!(!inside.exists());
        #[cfg(unix)]
        {
            let outside = tempfile::tempdir().unwrap();
            let link = outside.path().join("link");
            std::os::unix::fs::symlink(root.path(), &link).unwrap();
            assert!(matches!(
                StateFolder::open(&[Folder::only(root.path())], Some(&link)),
                Err(StateError::Inside { .. })
            ));
        }
    }
}
