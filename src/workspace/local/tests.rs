//! A folder on disk, met with everything that a disk can hold.

mod limits;
mod links;
mod listing;
mod metadata;
mod named;
mod rivals;
mod special;
#[cfg(unix)]
mod walking;

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::*;
use crate::model::change::{Change, Expect};
use crate::model::version::Version;
use crate::workspace::conformance::{Fixture, check};
use crate::workspace::{DisplacedSource, FileErrorKind, NoJournal};

/// A workspace `ws` and, beside it, a folder `out` that nothing may ever reach.
pub(in crate::workspace) struct Bed {
    pub(in crate::workspace) local: Local,
    folder: TempDir,
}

impl Bed {
    pub(in crate::workspace) fn new() -> Self {
        Bed::in_folder(tempfile::tempdir().expect("a folder"))
    }

    /// In memory where the system has that: for tests that need very many.
    pub(in crate::workspace) fn quick() -> Self {
        Bed::in_folder(quick_folder())
    }

    fn in_folder(folder: TempDir) -> Self {
        fs::create_dir(folder.path().join("ws")).expect("a workspace");
        fs::create_dir(folder.path().join("out")).expect("an outside");
        fs::write(folder.path().join("out/secret"), "secret").expect("a secret");
        let local = Local::open(folder.path().join("ws")).expect("a workspace");
        Bed { local: local.with_durability(Durability::Process), folder }
    }

    /// With these files in it.
    pub(in crate::workspace) fn with(files: &[(&str, &str)]) -> Self {
        Bed::new().and(files)
    }

    pub(in crate::workspace) fn and(self, files: &[(&str, &str)]) -> Self {
        for (path, text) in files {
            let path = self.at(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        self
    }

    pub(in crate::workspace) fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join("ws").join(path)
    }

    pub(in crate::workspace) fn outside(&self) -> PathBuf {
        self.folder.path().join("out")
    }

    pub(in crate::workspace) fn commit(&self, changes: Vec<Change>) -> Result<(), FileError> {
        self.local.commit(&ChangeSet::new(changes), &NoJournal)
    }

    pub(in crate::workspace) fn text(&self, path: &str) -> String {
        String::from_utf8(fs::read(self.at(path)).expect("a file")).expect("text")
    }

    /// What the workspace reads.
    pub(in crate::workspace) fn read(&self, path: &str) -> Result<String, FileErrorKind> {
        let mut file = self.local.open(&ws(path)).map_err(|error| error.kind)?;
        let mut text = String::new();
        file.content.read_to_string(&mut text)?;
        Ok(text)
    }

    /// Nothing temporary may be left anywhere, and nothing outside may have changed.
    pub(in crate::workspace) fn clean(&self) {
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder") {
                let entry = entry.expect("an entry");
                let name = entry.file_name();
                assert!(!name.to_string_lossy().starts_with(".toolgate-"), "left over: {}", entry.path().display());
                if entry.file_type().expect("a type").is_dir() {
                    folders.push(entry.path());
                }
            }
        }
        assert_eq!(fs::read_to_string(self.outside().join("secret")).expect("a secret"), "secret");
        assert_eq!(fs::read_dir(self.outside()).expect("an outside").count(), 1);
    }
}

/// A folder in memory, or else on disk.
pub(in crate::workspace) fn quick_folder() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder")
}

pub(in crate::workspace) fn ws(path: &str) -> WsPath {
    WsPath::parse(path).expect("a path")
}

pub(in crate::workspace) fn write(path: &str, expect: Expect, text: &str) -> Change {
    Change::Write { path: ws(path), expect, content: text.to_owned().into() }
}

pub(in crate::workspace) fn exactly(text: &str) -> Expect {
    Expect::Exactly(Version::of(text.as_bytes()))
}

/// The variant of a failure, for comparison.
#[track_caller]
pub(in crate::workspace) fn kind<T: std::fmt::Debug>(result: Result<T, FileError>) -> String {
    let error = result.expect_err("a failure");
    format!("{:?}", error.kind).split([' ', '(']).next().unwrap_or_default().to_owned()
}

struct OnDisk {
    local: Local,
    // Removed when this is dropped.
    _folder: TempDir,
}

impl Fixture for OnDisk {
    fn workspace(&self) -> &dyn Workspace {
        &self.local
    }
}

#[test]
fn does_what_every_home_does() {
    for durability in [Durability::Full, Durability::Process] {
        check(&|seed| {
            let folder = tempfile::tempdir().expect("a folder");
            for (path, bytes) in seed {
                let path = folder.path().join(path.as_str());
                fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
                fs::write(path, bytes).expect("a file");
            }
            let local = Local::open(folder.path()).expect("a workspace").with_durability(durability);
            Box::new(OnDisk { local, _folder: folder })
        });
    }
}

#[test]
fn a_root_must_be_a_folder_and_the_error_says_what_to_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let missing = Local::open(folder.path().join("no")).expect_err("no folder");
    assert!(matches!(missing, OpenError::NotFound { .. }));
    assert!(
        missing.to_string().ends_with("/no does not exist. Make that folder first, or name another one"),
        "{missing}"
    );
    fs::write(folder.path().join("file"), "").expect("a file");
    for path in ["file", "file/below"] {
        let error = Local::open(folder.path().join(path)).expect_err("a file");
        assert!(matches!(error, OpenError::NotADirectory { .. }), "{error:?}");
    }
}

#[test]
#[cfg(unix)]
fn a_root_that_is_a_link_has_two_spellings() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = fs::canonicalize(folder.path()).map(|path| (path, folder)).expect("a path").0;
    fs::create_dir_all(folder.join("real")).expect("a folder");
    std::os::unix::fs::symlink("real", folder.join("link")).expect("a link");
    let roots = |name: &str| Local::open(folder.join(name)).expect("a workspace").roots()[0].spellings.clone();
    let text = |name: &str| folder.join(name).to_str().expect("text").to_owned();
    assert_eq!(roots("link"), [text("link"), text("real")]);
    assert_eq!(roots("real/"), [text("real")]);
    assert_eq!(roots("real/../link"), [text("real")]);
    let here = Local::open(".").expect("a workspace");
    assert!(
        here.roots()[0].spellings.iter().all(|root| Path::new(root).is_absolute() && !root.ends_with('.')),
        "{here:?}"
    );
}
