//! What the proofs stand on: a folder with a state that outlives its servers, calls sent without waiting, and the list
//! of changes read back. With `TOOLGATE_LONG=1` proofs go on for many more rounds.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use crate::suite::cases::kit::{Reply, files_of, frame};
use crate::suite::support::{Server, Temp};

/// How many rounds: `usual` by default, `long` with `TOOLGATE_LONG=1`.
pub fn rounds(usual: usize, long: usize) -> usize {
    if std::env::var_os("TOOLGATE_LONG").is_some_and(|value| value == "1") { long } else { usual }
}

/// A folder, and the state of it that all its servers share.
pub struct Site {
    pub folder: Temp,
    pub state: Temp,
}

impl Site {
    pub fn new() -> Self {
        Site { folder: Temp::new(), state: Temp::new() }
    }

    pub fn serve(&self) -> Server {
        Server::start_with(self.folder.path(), &["--state", utf8(self.state.path())])
    }

    /// The folder of this workspace's records.
    pub fn records(&self) -> PathBuf {
        let mut folders =
            fs::read_dir(self.state.path()).expect("a state folder").map(|entry| entry.expect("one").path());
        folders.find(|path| path.is_dir()).expect("a workspace's records")
    }

    /// The list of changes; each line must be whole.
    pub fn history(&self) -> History {
        History::of(&fs::read_to_string(self.records().join("changes.jsonl")).unwrap_or_default())
    }

    /// Asserts that nothing of ours lies in the folder any more.
    #[track_caller]
    pub fn is_clean(&self) {
        let left: Vec<_> =
            files_of(self.folder.path()).into_keys().filter(|path| path.contains(".toolgate-")).collect();
        assert!(left.is_empty(), "left in the workspace: {left:?}");
    }
}

pub fn utf8(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

/// Sends a call and does not wait for its answer.
pub fn post(server: &mut Server, id: usize, tool: &str, arguments: Value) {
    server.send(&frame(id.into(), tool, arguments));
}

/// Reads the answers to the next `count` calls, in whatever order they come.
pub fn answers(server: &mut Server, count: usize) -> BTreeMap<usize, Reply> {
    let mut replies = BTreeMap::new();
    while replies.len() < count {
        replies.extend(answer(server.recv()));
    }
    replies
}

/// The call that `message` answers, and how; nothing if it is no answer.
pub fn answer(mut message: Value) -> Option<(usize, Reply)> {
    let id = usize::try_from(message["id"].as_u64()?).ok()?;
    assert!(message.get("result").is_some(), "no result: {message}");
    Some((id, Reply(message["result"].take())))
}

impl Reply {
    pub fn is_done(&self) -> bool {
        self.0["isError"] != true
    }

    /// The code of a failure.
    pub fn code(&self) -> &str {
        self.0["structuredContent"]["error"].as_str().unwrap_or_default()
    }
}

/// What the list of changes says.
#[derive(Debug, Default)]
pub struct History {
    /// All that was begun: the change and its record.
    pub begun: Vec<(String, Value)>,
    pub done: BTreeSet<String>,
    pub void: BTreeSet<String>,
}

impl History {
    fn of(text: &str) -> Self {
        let mut history = History::default();
        for line in text.lines() {
            let entry: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in: {line}"));
            let change = entry["change"].as_str().expect("a change").to_owned();
            match entry["status"].as_str() {
                Some("intent") => history.begun.push((change, entry)),
                Some("done") => drop(history.done.insert(change)),
                Some("void") => drop(history.void.insert(change)),
                _ => panic!("no status: {line}"),
            }
        }
        history
    }

    /// Changes of which nobody has said how they ended.
    pub fn open(&self) -> Vec<&str> {
        let names = self.begun.iter().map(|(change, _)| change.as_str());
        names.filter(|change| !self.done.contains(*change) && !self.void.contains(*change)).collect()
    }

    /// The changes of the file at `path` that were done, in the order in which they were begun.
    pub fn done_to<'a>(&'a self, path: &'a str) -> Vec<&'a str> {
        self.steps_of(path).map(|(change, _)| change).collect()
    }

    /// How many changes of `path` left bytes that no later change rests on. One is the last; each further one was
    /// overwritten, by someone who makes no records, or is lost.
    pub fn ends(&self, path: &str) -> usize {
        let before: BTreeSet<_> = self.steps_of(path).map(|(_, step)| step["before"].as_str()).collect();
        self.steps_of(path).filter(|(_, step)| !before.contains(&step["after"].as_str())).count()
    }

    fn steps_of<'a>(&'a self, path: &'a str) -> impl Iterator<Item = (&'a str, &'a Value)> {
        let done = self.begun.iter().filter(|(change, _)| self.done.contains(change));
        done.flat_map(|(change, record)| {
            record["steps"].as_array().into_iter().flatten().map(move |step| (change, step))
        })
        .filter(move |(_, step)| step["real"] == path)
        .map(|(change, step)| (change.as_str(), step))
    }
}

/// Tells another thread to end, also where a proof fails.
pub struct End<'a>(pub &'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
