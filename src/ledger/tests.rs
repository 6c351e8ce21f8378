//! The ledger as others use it: two processes on one folder, crashes, full disks, undo.

mod changes;
mod kept;
mod logging;
mod reading;
mod recovery;
mod seeing;
mod whole;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use serde_json::json;

use crate::ledger::state::StateFolder;
use crate::ledger::{ChangeKind, Ledger, OpenChange, Options, Stamp};
use crate::model::change::{Change, ChangeSet, Expect};
use crate::model::event::{Event, FsAction, FsStep};
use crate::model::folder::Folder;
use crate::model::id::CallId;
use crate::model::path::WsPath;
use crate::model::version::Version;
use crate::model::world::World;
use crate::workspace::{Displaced, DisplacedSource, Journal};

/// A world in which every look at the clock takes a millisecond and no two numbers are alike.
#[derive(Default)]
struct Counted(AtomicU64);

impl World for Counted {
    fn now(&self) -> jiff::Timestamp {
        jiff::Timestamp::from_millisecond(self.0.fetch_add(1, Ordering::Relaxed) as i64).unwrap()
    }

    fn random(&self) -> u128 {
        let count = self.0.fetch_add(1, Ordering::Relaxed);
        u128::from_le_bytes(*blake3::hash(&count.to_le_bytes()).as_bytes().first_chunk().unwrap())
    }
}

/// A workspace, its state folder, and one world for all who use them.
struct Bed {
    root: tempfile::TempDir,
    home: tempfile::TempDir,
    world: Arc<Counted>,
}

impl Bed {
    fn new() -> Self {
        Bed { root: tempfile::tempdir().unwrap(), home: tempfile::tempdir().unwrap(), world: Arc::default() }
    }

    fn state(&self) -> StateFolder {
        StateFolder::open(&[Folder::only(self.root.path())], Some(self.home.path())).unwrap()
    }

    /// As another process would.
    fn ledger(&self) -> Ledger {
        self.ledger_with(Options::default())
    }

    fn ledger_with(&self, options: Options) -> Ledger {
        Ledger::open(self.state(), options, self.world.clone()).unwrap()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.state().path().join(name)
    }

    /// The file of a session's log.
    fn log(&self, ledger: &Ledger) -> PathBuf {
        self.path(&format!("sessions/{}.jsonl", ledger.session().unwrap().as_str()))
    }
}

fn stamp(call: u64) -> Stamp {
    Stamp { call: Some(CallId(call)), caller: "mcp:local".into() }
}

fn called(tool: &str) -> Event {
    Event::ToolCall { tool: tool.to_owned(), arguments: json!({"path": "a.txt"}), variant: None, method: None }
}

fn ws(path: &str) -> WsPath {
    WsPath::parse(path).unwrap()
}

/// Files that are changed as a workspace changes them, and told to a journal.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Files(BTreeMap<String, Bytes>);

impl Files {
    fn commit(&mut self, set: &ChangeSet, journal: &dyn Journal) -> std::io::Result<()> {
        journal.intend(&set.iter().map(|change| self.step(change)).collect::<Vec<_>>())?;
        for change in set {
            let path = change.path();
            let there = self.0.get(path.as_str()).cloned();
            let (expect, content) = match change {
                Change::Write { expect, content, .. } => (*expect, Some(Bytes::clone(content))),
                Change::Delete { expect, .. } => (*expect, None),
                _ => continue,
            };
            let met = match expect {
                Expect::Any => true,
                Expect::Absent => there.is_none(),
                Expect::Exactly(version) => there.as_deref().map(Version::of) == Some(version),
            };
            assert!(met, "{path} is not as the change expects it");
            if let Some(there) = there {
                let source = DisplacedSource::Bytes(&there);
                journal.keep(&Displaced { path, version: Version::of(&there), mode: Some(0o644), source })?;
            }
            match content {
                Some(content) => self.0.insert(path.as_str().to_owned(), content),
                None => self.0.remove(path.as_str()),
            };
        }
        Ok(())
    }

    fn step(&self, change: &Change) -> FsStep {
        let (action, after) = match change {
            Change::Write { content, .. } => (FsAction::Write, Some(content.version())),
            Change::Delete { .. } => (FsAction::Delete, None),
            Change::MakeDir { .. } => (FsAction::MakeDir, None),
            Change::RemoveDir { .. } => (FsAction::RemoveDir, None),
            other => panic!("these files do not know {other:?}"),
        };
        let path = change.path().as_str().to_owned();
        let before = self.0.get(&path).map(|bytes| Version::of(bytes).to_string());
        let after = after.map(|v| v.to_string());
        FsStep { action, real: path.clone(), path, from: None, before, after, temp: None, kept: None }
    }
}

fn write(path: &str, content: &str) -> Change {
    Change::Write { path: ws(path), expect: Expect::Any, content: content.to_owned().into() }
}

/// A change that is about to be made.
fn begin(ledger: &Ledger, kind: ChangeKind) -> OpenChange {
    ledger.begin(&stamp(1), "write_file", kind)
}
