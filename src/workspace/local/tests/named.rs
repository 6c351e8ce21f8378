//! A folder with a name does what one without does, below its name.

use std::io;

use super::*;
use crate::model::event::FsStep;
use crate::model::id::KeptId;
use crate::workspace::{Displaced, Journal, Listing, Node, OpenFile, Promise, Recovered, Stat};

/// A workspace of two folders, seen from inside of one.
struct Inside {
    both: Local,
    at: WsPath,
    // Removed when these are dropped.
    _folders: [TempDir; 2],
}

impl Inside {
    fn out(&self, path: &WsPath) -> WsPath {
        path.under(&self.at)
    }

    fn back(&self, path: &WsPath) -> WsPath {
        path.below(&self.at).expect("nothing is told of another folder")
    }

    fn told<T>(&self, result: Result<T, FileError>) -> Result<T, FileError> {
        result.map_err(|error| error.kind.at(&self.back(&error.path)))
    }

    fn step(&self, step: &FsStep, path: impl Fn(&Self, &WsPath) -> WsPath) -> FsStep {
        let text = |text: &str| {
            let path = path(self, &if text.is_empty() { WsPath::root() } else { ws(text) });
            path.as_str().to_owned()
        };
        let from = step.from.as_deref().map(text);
        FsStep { path: text(&step.path), real: text(&step.real), from, ..step.clone() }
    }
}

/// A journal that is told of paths without the name.
struct Telling<'a>(&'a Inside, &'a dyn Journal);

impl Journal for Telling<'_> {
    fn intend(&self, steps: &[FsStep]) -> io::Result<()> {
        let steps: Vec<_> = steps.iter().map(|step| self.0.step(step, Inside::back)).collect();
        self.1.intend(&steps)
    }

    fn keep(&self, displaced: &Displaced<'_>) -> io::Result<()> {
        let path = self.0.back(displaced.path);
        let source = match displaced.source {
            DisplacedSource::Bytes(bytes) => DisplacedSource::Bytes(bytes),
            DisplacedSource::File { folder, name } => DisplacedSource::File { folder, name },
        };
        self.1.keep(&Displaced { path: &path, version: displaced.version, mode: displaced.mode, source })
    }

    fn take(&self, node: &Node<'_>) -> io::Result<()> {
        self.1.take(node)
    }

    fn has(&self, kept: KeptId) -> io::Result<bool> {
        self.1.has(kept)
    }

    fn give_back(&self, kept: KeptId, folder: &Dir, name: &str) -> io::Result<()> {
        self.1.give_back(kept, folder, name)
    }

    fn forget(&self, kept: KeptId) -> io::Result<()> {
        self.1.forget(kept)
    }
}

impl Workspace for Inside {
    fn promise(&self) -> Promise {
        self.both.promise()
    }

    fn stat(&self, path: &WsPath) -> Result<Stat, FileError> {
        self.told(self.both.stat(&self.out(path)))
    }

    fn about(&self, path: &WsPath) -> Result<About, FileError> {
        self.told(self.both.about(&self.out(path)))
    }

    fn open(&self, path: &WsPath) -> Result<OpenFile, FileError> {
        self.told(self.both.open(&self.out(path)))
    }

    fn real(&self, path: &WsPath) -> WsPath {
        self.back(&self.both.real(&self.out(path)))
    }

    fn list(&self, path: &WsPath, limit: usize) -> Result<Listing, FileError> {
        self.told(self.both.list(&self.out(path), limit))
    }

    fn look(&self, path: &WsPath) -> Result<Kind, FileError> {
        self.told(self.both.look(&self.out(path)))
    }

    fn survey(&self, path: &WsPath, depth: Depth) -> Result<Survey, FileError> {
        self.told(self.both.survey(&self.out(path), depth))
    }

    fn commit(&self, set: &ChangeSet, journal: &dyn Journal) -> Result<(), FileError> {
        let out = |change: &Change| match change.clone() {
            Change::Write { path, expect, content } => Change::Write { path: self.out(&path), expect, content },
            Change::Delete { path, expect } => Change::Delete { path: self.out(&path), expect },
            Change::MakeDir { path } => Change::MakeDir { path: self.out(&path) },
            Change::RemoveDir { path } => Change::RemoveDir { path: self.out(&path) },
            Change::Move { from, to, expect } => Change::Move { from: self.out(&from), to: self.out(&to), expect },
            Change::Remove { path, expect, kept } => Change::Remove { path: self.out(&path), expect, kept },
            Change::Restore { path, kept, mark } => Change::Restore { path: self.out(&path), kept, mark },
        };
        let set = ChangeSet::new(set.iter().map(out).collect());
        self.told(self.both.commit(&set, &Telling(self, journal)))
    }

    fn recover(&self, steps: &[FsStep], journal: &dyn Journal) -> Result<Recovered, FileError> {
        let steps: Vec<_> = steps.iter().map(|step| self.step(step, Inside::out)).collect();
        self.told(self.both.recover(&steps, &Telling(self, journal)))
    }
}

impl Fixture for Inside {
    fn workspace(&self) -> &dyn Workspace {
        self
    }
}

#[test]
fn a_folder_with_a_name_does_what_every_home_does() {
    check(&|seed| {
        let folders = [quick_folder(), quick_folder()];
        for (path, bytes) in seed {
            let path = folders[0].path().join(path.as_str());
            fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            fs::write(path, bytes).expect("a file");
        }
        let both = Local::open_all([("code", folders[0].path()), ("docs", folders[1].path())]).expect("a workspace");
        Box::new(Inside { both, at: ws("code"), _folders: folders })
    });
}
