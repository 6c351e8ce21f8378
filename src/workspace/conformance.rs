//! What every home of files does alike, as a suite that any home can be put through.
//!
//! It is for tests: [`check`] panics where a home differs, with a message that says in what.
//!
//! ```
//! use toolgate::workspace::conformance::{Fixture, check};
//! use toolgate::workspace::{Workspace, memory::Memory};
//!
//! impl Fixture for InMemory {
//!     fn workspace(&self) -> &dyn Workspace {
//!         &self.0
//!     }
//! }
//! struct InMemory(Memory);
//!
//! check(&|files| {
//!     let files = files.iter().map(|(path, bytes)| (path.clone(), bytes.clone()));
//!     Box::new(InMemory(Memory::from_files(files)))
//! });
//! ```

mod changing;
mod journal;
mod looking;
mod removing;
mod sets;
mod walking;
mod whole;

use std::collections::BTreeMap;
use std::io::Read;

use bytes::Bytes;

use crate::model::change::{Change, ChangeSet, Expect};
use crate::model::path::WsPath;
use crate::model::version::Version;
use crate::workspace::{FileError, FileErrorKind, Kind, NoJournal, Stat, Workspace};

/// A workspace for one check, with whatever it needs to live: a folder on disk, a server.
pub trait Fixture {
    /// The workspace. Only the check uses it.
    fn workspace(&self) -> &dyn Workspace;
}

/// The files that a fixture starts with.
pub type Seed = BTreeMap<WsPath, Bytes>;

/// Puts a home of files through the suite. `make` gives a fresh workspace that holds exactly the seed's files.
///
/// # Panics
/// Where the home does not keep what [`Workspace`] and its [`Promise`](crate::workspace::Promise) say.
pub fn check(make: &dyn Fn(&Seed) -> Box<dyn Fixture>) {
    let cases =
        [looking::CASES, walking::CASES, changing::CASES, removing::CASES, sets::CASES, whole::CASES, journal::CASES];
    for (name, case) in cases.into_iter().flatten() {
        let seed =
            seed(&[("top.txt", "top\n"), ("src/main.rs", "fn main() {}\n"), ("src/deep/er.txt", ""), ("src-2", "2")]);
        let fixture = make(&seed);
        case(&Bench { name, workspace: fixture.workspace(), seed });
    }
}

/// A case and what it works on.
type Case = (&'static str, fn(&Bench<'_>));

/// What a case works on.
struct Bench<'a> {
    name: &'static str,
    workspace: &'a dyn Workspace,
    seed: Seed,
}

impl Bench<'_> {
    /// All bytes at `path`.
    fn read(&self, path: &str) -> Result<Vec<u8>, FileErrorKind> {
        let mut file = self.workspace.open(&at(path)).map_err(|error| error.kind)?;
        assert_eq!(file.stat.kind, Kind::File, "{}: what is opened is a file", self.name);
        let mut bytes = Vec::new();
        match file.content.read_to_end(&mut bytes) {
            Ok(_) => Ok(bytes),
            Err(error) => panic!("{}: {path} opens but does not read: {error}", self.name),
        }
    }

    fn stat(&self, path: &str) -> Result<Stat, FileErrorKind> {
        self.workspace.stat(&at(path)).map_err(|error| error.kind)
    }

    fn commit(&self, changes: Vec<Change>) -> Result<(), FileError> {
        self.workspace.commit(&ChangeSet::new(changes), &NoJournal)
    }

    /// The commit must come to pass.
    fn done(&self, changes: Vec<Change>) {
        if let Err(error) = self.commit(changes) {
            panic!("{}: a commit that is right fails: {error}", self.name);
        }
    }

    /// The commit must fail, and how.
    fn refused(&self, changes: Vec<Change>) -> FileError {
        match self.commit(changes) {
            Ok(()) => panic!("{}: a commit that is wrong is done", self.name),
            Err(error) => error,
        }
    }

    /// `path` must hold exactly `want`.
    fn holds(&self, path: &str, want: &str) {
        match self.read(path) {
            Ok(bytes) => {
                assert_eq!(String::from_utf8_lossy(&bytes), want, "{}: the bytes of {path}", self.name);
            }
            Err(kind) => panic!("{}: {path} cannot be read: {kind}", self.name),
        }
    }

    /// Nothing must be at `path`.
    fn absent(&self, path: &str) {
        assert_kind(self.name, path, self.stat(path), "NotFound");
    }

    /// Everything must be as it was at the start, and nothing more.
    fn untouched(&self) {
        for (path, bytes) in &self.seed {
            self.holds(path.as_str(), &String::from_utf8_lossy(bytes));
        }
        for (folder, names) in [(".", vec!["src", "src-2", "top.txt"]), ("src", vec!["deep", "main.rs"])] {
            assert_eq!(self.names(folder), names, "{}: the names in {folder}", self.name);
        }
    }

    fn names(&self, folder: &str) -> Vec<String> {
        match self.workspace.list(&at(folder), usize::MAX) {
            Ok(listing) => listing.entries.into_iter().map(|entry| entry.name).collect(),
            Err(error) => panic!("{}: {folder} cannot be listed: {error}", self.name),
        }
    }
}

/// Two failures are of one kind where the name of their variant is one.
fn assert_kind<T: std::fmt::Debug>(case: &str, path: &str, result: Result<T, FileErrorKind>, want: &str) {
    match result {
        Ok(value) => panic!("{case}: {path} is to fail with {want}, not to give {value:?}"),
        Err(kind) => {
            let told = format!("{kind:?}");
            assert_eq!(told.split([' ', '(']).next(), Some(want), "{case}: how {path} fails");
        }
    }
}

fn at(path: &str) -> WsPath {
    match WsPath::parse(path) {
        Ok(path) => path,
        Err(error) => panic!("{path:?} is no path: {error}"),
    }
}

fn seed(files: &[(&str, &'static str)]) -> Seed {
    files.iter().map(|(path, text)| (at(path), Bytes::from_static(text.as_bytes()))).collect()
}

fn write(path: &str, expect: Expect, text: &str) -> Change {
    Change::Write { path: at(path), expect, content: text.to_owned().into() }
}

fn make_dir(path: &str) -> Change {
    Change::MakeDir { path: at(path) }
}

fn delete(path: &str, expect: Expect) -> Change {
    Change::Delete { path: at(path), expect }
}

fn remove_dir(path: &str) -> Change {
    Change::RemoveDir { path: at(path) }
}

fn exactly(text: &str) -> Expect {
    Expect::Exactly(Version::of(text.as_bytes()))
}
