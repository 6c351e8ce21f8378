//! A workspace in memory: for the one-shot dispatcher, tests and embedders.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::mem;
use std::ops::Bound;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use bytes::Bytes;

use crate::model::change::{Change, ChangeSet, Expect};
use crate::model::path::WsPath;
use crate::model::version::Version;
use crate::workspace::{
    Atomic, Durability, Entry, FileError, FileErrorKind, Kind, Listing, OpenFile, Promise, Stat, Workspace,
};

/// Files in memory. Clones share the files.
///
/// Folders exist by the files in them; the root always exists.
///
/// ```
/// use toolgate::workspace::{Workspace, memory::Memory};
/// use toolgate::{Change, ChangeSet, Expect, WsPath};
///
/// let memory = Memory::new();
/// let path = WsPath::parse("src/main.rs")?;
/// let write = Change::Write { path: path.clone(), expect: Expect::Absent, content: "fn main() {}".into() };
/// memory.commit(&ChangeSet::new(vec![write]))?;
/// assert_eq!(memory.snapshot()[&path], "fn main() {}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Memory {
    files: Arc<RwLock<Files>>,
}

type Files = BTreeMap<WsPath, Bytes>;

impl Memory {
    /// A workspace without files.
    #[must_use]
    pub fn new() -> Self {
        Memory::default()
    }

    /// A workspace of these files. One that lies below another file cannot be reached.
    pub fn from_files(files: impl IntoIterator<Item = (WsPath, Bytes)>) -> Self {
        let files = files.into_iter().filter(|(path, _)| !path.is_root()).collect();
        Memory { files: Arc::new(RwLock::new(files)) }
    }

    /// All files as they are now. The bytes are shared, not copied.
    #[must_use]
    pub fn snapshot(&self) -> BTreeMap<WsPath, Bytes> {
        self.read().clone()
    }

    /// Takes all files out; the workspace is empty afterwards.
    #[must_use]
    pub fn take(&self) -> BTreeMap<WsPath, Bytes> {
        mem::take(&mut *self.write())
    }

    // A thread that panicked left the map whole, since nothing in `commit` panics half-way.
    fn read(&self) -> RwLockReadGuard<'_, Files> {
        self.files.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Files> {
        self.files.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Workspace for Memory {
    fn promise(&self) -> Promise {
        Promise { atomic: Atomic::WholeSet, durable: Durability::None, folders_implied: true }
    }

    fn stat(&self, path: &WsPath) -> Result<Stat, FileError> {
        Ok(match look(&self.read(), path)? {
            Found::File(bytes) => Stat { kind: Kind::File, size: bytes.len() as u64 },
            Found::Folder => Stat { kind: Kind::Dir, size: 0 },
        })
    }

    fn open(&self, path: &WsPath) -> Result<OpenFile, FileError> {
        match look(&self.read(), path)? {
            Found::File(bytes) => Ok(OpenFile {
                stat: Stat { kind: Kind::File, size: bytes.len() as u64 },
                content: Box::new(Cursor::new(bytes.clone())),
            }),
            Found::Folder => Err(FileErrorKind::NotAFile.at(path)),
        }
    }

    fn list(&self, path: &WsPath, limit: usize) -> Result<Listing, FileError> {
        let files = self.read();
        if let Found::File(_) = look(&files, path)? {
            return Err(FileErrorKind::NotADirectory.at(path));
        }
        let mut entries = children(&files, path);
        entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        let total = entries.len();
        entries.truncate(limit);
        Ok(Listing { entries, total })
    }

    fn commit(&self, set: &ChangeSet) -> Result<(), FileError> {
        let mut files = self.write();
        let mut displaced = Vec::new();
        for change in set {
            if let Err(error) = apply(&mut files, change, &mut displaced) {
                restore(&mut files, displaced);
                return Err(error);
            }
        }
        Ok(())
    }
}

/// What is at a path.
enum Found<'a> {
    File(&'a Bytes),
    Folder,
}

fn look<'a>(files: &'a Files, path: &WsPath) -> Result<Found<'a>, FileError> {
    if path.is_root() {
        return Ok(Found::Folder);
    }
    no_file_above(files, path)?;
    match files.get(path) {
        Some(bytes) => Ok(Found::File(bytes)),
        None if is_folder(files, path) => Ok(Found::Folder),
        None => Err(FileErrorKind::NotFound.at(path)),
    }
}

fn no_file_above(files: &Files, path: &WsPath) -> Result<(), FileError> {
    let above = path.as_str().match_indices('/').map(|(at, _)| &path.as_str()[..at]);
    match above.into_iter().any(|folder| files.contains_key(folder)) {
        true => Err(FileErrorKind::NotADirectory.at(path)),
        false => Ok(()),
    }
}

fn is_folder(files: &Files, path: &WsPath) -> bool {
    let start = format!("{}/", path.as_str());
    first_from(files, &start).is_some_and(|(key, _)| key.as_str().starts_with(&start))
}

/// One entry for each name directly below `folder`, however much lies below that.
fn children(files: &Files, folder: &WsPath) -> Vec<Entry> {
    let start = if folder.is_root() { String::new() } else { format!("{}/", folder.as_str()) };
    let mut entries = Vec::new();
    let mut from = start.clone();
    while let Some((key, bytes)) = first_from(files, &from) {
        let Some(below) = key.as_str().strip_prefix(&start) else { break };
        match below.split_once('/') {
            Some((name, _)) => {
                entries.push(entry(name, Kind::Dir, None));
                // `0` follows `/`: the first text behind everything in that folder.
                from = format!("{start}{name}0");
            }
            None => {
                entries.push(entry(below, Kind::File, Some(bytes.len() as u64)));
                // NUL is in no path: the first text behind this one.
                from = format!("{}\0", key.as_str());
            }
        }
    }
    entries
}

fn first_from<'a>(files: &'a Files, from: &str) -> Option<(&'a WsPath, &'a Bytes)> {
    files.range::<str, _>((Bound::Included(from), Bound::Unbounded)).next()
}

fn entry(name: &str, kind: Kind, size: Option<u64>) -> Entry {
    Entry { name: name.to_owned(), addressable: true, kind: Some(kind), size, target: None, leads_to: None }
}

fn apply(files: &mut Files, change: &Change, displaced: &mut Displaced) -> Result<(), FileError> {
    let path = change.path();
    no_file_above(files, path)?;
    match change {
        Change::MakeDir { .. } if files.contains_key(path) => Err(FileErrorKind::AlreadyExists.at(path)),
        Change::MakeDir { .. } => Ok(()),
        Change::Delete { .. } | Change::RemoveDir { .. } => {
            Err(FileErrorKind::Io(std::io::ErrorKind::Unsupported.into()).at(path))
        }
        Change::Write { expect, content, .. } => {
            if path.is_root() || is_folder(files, path) {
                return Err(FileErrorKind::NotAFile.at(path));
            }
            meets(*expect, files.get(path)).map_err(|kind| kind.at(path))?;
            displaced.push((path.clone(), files.insert(path.clone(), content.clone())));
            Ok(())
        }
    }
}

fn meets(expect: Expect, found: Option<&Bytes>) -> Result<(), FileErrorKind> {
    let now = || found.map(|bytes| Version::of(bytes));
    let holds = match expect {
        Expect::Any => true,
        Expect::Absent => found.is_none(),
        Expect::Exactly(version) => now() == Some(version),
    };
    if holds { Ok(()) } else { Err(FileErrorKind::Stale { now: now() }) }
}

/// What earlier steps of a set replaced, in their order.
type Displaced = Vec<(WsPath, Option<Bytes>)>;

fn restore(files: &mut Files, displaced: Displaced) {
    for (path, bytes) in displaced.into_iter().rev() {
        match bytes {
            Some(bytes) => files.insert(path, bytes),
            None => files.remove(&path),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::conformance::{Fixture, check};

    struct InMemory(Memory);

    impl Fixture for InMemory {
        fn workspace(&self) -> &dyn Workspace {
            &self.0
        }
    }

    #[test]
    fn does_what_every_home_does() {
        check(&|seed| Box::new(InMemory(Memory::from_files(seed.clone()))));
    }

    #[test]
    fn clones_share_files_and_snapshots_do_not() {
        let memory = Memory::from_files([(WsPath::parse("a/b").expect("a path"), Bytes::from("1"))]);
        let before = memory.snapshot();
        let path = WsPath::parse("a/c").expect("a path");
        let write = Change::Write { path: path.clone(), expect: Expect::Absent, content: Bytes::from("2") };
        memory.clone().commit(&ChangeSet::new(vec![write])).expect("a commit");
        assert_eq!(memory.snapshot()[&path], "2");
        assert_eq!(before.len(), 1);
        assert_eq!(memory.take().len(), 2);
        assert!(memory.snapshot().is_empty());
    }

    #[test]
    fn looking_does_not_walk_all_files() {
        let files = (0..200_000).map(|n| (WsPath::parse(&format!("d{}/f{n}", n % 10)).expect("a path"), Bytes::new()));
        let memory = Memory::from_files(files);
        let started = std::time::Instant::now();
        for n in 0..10_000 {
            let path = WsPath::parse(&format!("d{}", n % 12)).expect("a path");
            assert_eq!(memory.stat(&path).is_ok(), n % 12 < 10);
        }
        assert_eq!(memory.list(&WsPath::root(), 3).expect("a listing").total, 10);
        assert!(started.elapsed().as_secs() < 5, "{:?}", started.elapsed());
    }
}
