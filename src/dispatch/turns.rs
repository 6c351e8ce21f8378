//! Calls that change one file wait for each other; calls on different files do not.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{Mutex as TurnLock, OwnedMutexGuard};

use crate::model::change::ChangeSet;
use crate::model::path::WsPath;

/// Who is at work on which path.
#[derive(Debug, Default)]
pub(super) struct Turns {
    lines: Arc<Mutex<HashMap<WsPath, Arc<TurnLock<()>>>>>,
}

/// The turn on all paths of one change set; the next in line goes on when it is dropped.
#[derive(Debug)]
pub(super) struct Turn {
    held: Vec<(WsPath, Option<OwnedMutexGuard<()>>)>,
    lines: Arc<Mutex<HashMap<WsPath, Arc<TurnLock<()>>>>>,
}

impl Turns {
    /// Waits for the turn on every path of `set`, in the order of paths so that no two sets wait for each other.
    pub(super) async fn take(&self, set: &ChangeSet) -> Turn {
        let mut paths: Vec<_> = set.iter().map(|change| change.path().clone()).collect();
        paths.sort();
        paths.dedup();
        let mut turn = Turn { held: Vec::with_capacity(paths.len()), lines: Arc::clone(&self.lines) };
        for path in paths {
            let line = {
                let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
                Arc::clone(lines.entry(path.clone()).or_default())
            };
            turn.held.push((path, None));
            let guard = line.lock_owned().await;
            if let Some((_, held)) = turn.held.last_mut() {
                *held = Some(guard);
            }
        }
        turn
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        for (path, guard) in self.held.drain(..) {
            drop(guard);
            // Only the table knows the line: nobody waits in it.
            if lines.get(&path).is_some_and(|line| Arc::strong_count(line) == 1) {
                lines.remove(&path);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;
    use crate::model::change::Change;

    fn set(paths: &[&str]) -> ChangeSet {
        let step = |path: &&str| Change::MakeDir { path: WsPath::parse(path).expect("a path") };
        ChangeSet::new(paths.iter().map(step).collect())
    }

    #[test]
    fn one_file_one_turn() {
        let turns = Turns::default();
        let (ab, bd) = (set(&["a", "b"]), set(&["b", "d"]));
        let first = turns.take(&ab).now_or_never().expect("nobody is in line");
        assert!(turns.take(&set(&["c"])).now_or_never().is_some(), "another file does not wait");
        let mut second = Box::pin(turns.take(&bd));
        assert!((&mut second).now_or_never().is_none(), "the same file waits");
        drop(first);
        drop(second.now_or_never().expect("the turn has come"));
        assert!(turns.lines.lock().expect("a lock").is_empty(), "no line is left behind");
    }
}
