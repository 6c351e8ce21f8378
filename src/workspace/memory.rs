//! A workspace in memory: for the one-shot dispatcher, tests and embedders.

mod commit;
mod held;

use std::collections::BTreeMap;
use std::io::Cursor;
use std::mem;
use std::ops::Bound;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use bytes::Bytes;

use crate::model::change::ChangeSet;
use crate::model::event::FsStep;
use crate::model::path::WsPath;
use crate::model::version::VersionHasher;
use crate::workspace::memory::held::Held;
use crate::workspace::{
    Atomic, Depth, Durability, Entry, FileError, FileErrorKind, Journal, Kind, Listing, OpenFile, Promise, Recovered,
    Stat, Survey, Surveyed, Workspace,
};

/// Files in memory. Clones share the files.
///
/// Folders exist by the files in them; the root always exists.
///
/// ```
/// use toolgate::workspace::{NoJournal, Workspace, memory::Memory};
/// use toolgate::{Change, ChangeSet, Expect, WsPath};
///
/// let memory = Memory::new();
/// let path = WsPath::parse("src/main.rs")?;
/// let write = Change::Write { path: path.clone(), expect: Expect::Absent, content: "fn main() {}".into() };
/// memory.commit(&ChangeSet::new(vec![write]), &NoJournal)?;
/// assert_eq!(memory.snapshot()[&path], "fn main() {}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Memory {
    files: Arc<RwLock<Files>>,
}

type Files = BTreeMap<WsPath, Held>;

impl Memory {
    /// A workspace without files.
    #[must_use]
    pub fn new() -> Self {
        Memory::default()
    }

    /// A workspace of these files. One that lies below another file cannot be reached.
    pub fn from_files(files: impl IntoIterator<Item = (WsPath, Bytes)>) -> Self {
        let files = files.into_iter().filter(|(path, _)| !path.is_root());
        let files = files.map(|(path, bytes)| (path, Held::new(bytes.into()))).collect();
        Memory { files: Arc::new(RwLock::new(files)) }
    }

    /// All files as they are now. The bytes are shared, not copied.
    #[must_use]
    pub fn snapshot(&self) -> BTreeMap<WsPath, Bytes> {
        self.read().iter().map(|(path, held)| (path.clone(), Bytes::clone(&held.bytes))).collect()
    }

    /// Takes all files out; the workspace is empty afterwards.
    #[must_use]
    pub fn take(&self) -> BTreeMap<WsPath, Bytes> {
        mem::take(&mut *self.write()).into_iter().map(|(path, held)| (path, held.bytes.into_bytes())).collect()
    }

    // A thread that panicked left the map whole: `commit` takes back what it has done when it is cut short.
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
            Found::File(held) => held.stat(),
            Found::Folder => Stat { kind: Kind::Dir, size: 0, identity: None },
        })
    }

    fn open(&self, path: &WsPath) -> Result<OpenFile, FileError> {
        match look(&self.read(), path)? {
            Found::File(held) => {
                Ok(OpenFile { stat: held.stat(), content: Box::new(Cursor::new(Bytes::clone(&held.bytes))) })
            }
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

    fn look(&self, path: &WsPath) -> Result<Kind, FileError> {
        self.stat(path).map(|stat| stat.kind)
    }

    fn survey(&self, path: &WsPath, _: Depth) -> Result<Survey, FileError> {
        survey(&self.read(), path)
    }

    fn commit(&self, set: &ChangeSet, journal: &dyn Journal) -> Result<(), FileError> {
        commit::commit(&mut self.write(), set, journal)
    }

    // What lives in memory does not outlive a crash, so nothing is ever left half-done.
    fn recover(&self, steps: &[FsStep], _: &dyn Journal) -> Result<Recovered, FileError> {
        Ok(commit::standing(&self.read(), steps))
    }
}

/// What is at a path.
enum Found<'a> {
    File(&'a Held),
    Folder,
}

fn look<'a>(files: &'a Files, path: &WsPath) -> Result<Found<'a>, FileError> {
    if path.is_root() {
        return Ok(Found::Folder);
    }
    // A plain map may hold both `a` and `a/b`; what is there by its own name is there.
    match files.get(path) {
        Some(held) => Ok(Found::File(held)),
        None if is_folder(files, path) => Ok(Found::Folder),
        None => no_file_above(files, path).and(Err(FileErrorKind::NotFound.at(path))),
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
    while let Some((key, held)) = first_from(files, &from) {
        let Some(below) = key.as_str().strip_prefix(&start) else { break };
        match below.split_once('/') {
            Some((name, _)) => {
                entries.push(entry(name, Kind::Dir, None));
                // `0` follows `/`: the first text behind everything in that folder.
                from = format!("{start}{name}0");
            }
            None => {
                entries.push(entry(below, Kind::File, Some(held.bytes.len() as u64)));
                // NUL is in no path: the first text behind this one.
                from = format!("{}\0", key.as_str());
            }
        }
    }
    entries
}

/// The files below `folder`, with the rest of their paths.
fn below<'a>(files: &'a Files, folder: &WsPath) -> impl Iterator<Item = (&'a WsPath, &'a str, &'a Held)> + use<'a> {
    let start = if folder.is_root() { String::new() } else { format!("{}/", folder.as_str()) };
    let from = files.range::<str, _>((Bound::Included(start.as_str()), Bound::Unbounded));
    from.map_while(move |(path, held)| Some((path, path.as_str().strip_prefix(&start)?, held)))
}

fn survey(files: &Files, path: &WsPath) -> Result<Survey, FileError> {
    let mut marks = VersionHasher::default();
    let mut mark = |path: &str, held: &Held| {
        marks.update(format!("{}:{path}={}", path.len(), held.bytes.version()).as_bytes());
        held.bytes.len() as u64
    };
    let (mut entries, mut bytes) = (BTreeMap::new(), 0);
    let kind = match look(files, path)? {
        Found::File(held) => {
            bytes += mark("", held);
            Kind::File
        }
        Found::Folder => {
            for (_, rest, held) in below(files, path) {
                bytes += mark(rest, held);
                let folders = rest.match_indices('/').map(|(at, _)| (rest[..at].to_owned(), Kind::Dir));
                entries.extend(folders.chain([(rest.to_owned(), Kind::File)]));
            }
            Kind::Dir
        }
    };
    let below = entries.into_iter().map(|(path, kind)| Surveyed { path, kind }).collect();
    Ok(Survey { kind, below, bytes, mark: marks.finish() })
}

fn first_from<'a>(files: &'a Files, from: &str) -> Option<(&'a WsPath, &'a Held)> {
    files.range::<str, _>((Bound::Included(from), Bound::Unbounded)).next()
}

fn entry(name: &str, kind: Kind, size: Option<u64>) -> Entry {
    Entry { name: name.to_owned(), addressable: true, kind: Some(kind), size, target: None, leads_to: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::change::{Change, Expect};
    use crate::workspace::NoJournal;
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
        let write = Change::Write { path: path.clone(), expect: Expect::Absent, content: "2".into() };
        memory.clone().commit(&ChangeSet::new(vec![write]), &NoJournal).expect("a commit");
        assert_eq!(memory.snapshot()[&path], "2");
        assert_eq!(before.len(), 1);
        assert_eq!(memory.take().len(), 2);
        assert!(memory.snapshot().is_empty());
    }

    #[test]
    fn an_identity_is_of_one_write() {
        let path = WsPath::parse("a").expect("a path");
        let memory = Memory::from_files([(path.clone(), Bytes::from("1"))]);
        let identity = || memory.stat(&path).expect("a file").identity.expect("an identity");
        let first = identity();
        assert_eq!(first, identity());
        let write = Change::Write { path: path.clone(), expect: Expect::Any, content: "1".into() };
        memory.commit(&ChangeSet::new(vec![write]), &NoJournal).expect("a commit");
        assert_ne!(first, identity());
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
