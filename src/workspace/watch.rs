//! Sees what happens to files of a local folder, whoever does it. Nothing is watched until somebody asks.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use notify::event::{EventKind, ModifyKind, RenameMode};
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};

use crate::model::folder::Folder;
use crate::model::path::WsPath;
use crate::workspace::local::{Base, Below, below};
use crate::workspace::replace::is_temporary;

/// What has happened to files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sighting {
    /// The files that are not as they were: changed, come or gone.
    pub changed: Vec<WsPath>,
    /// Whether any has come or gone.
    pub list_changed: bool,
}

/// Takes what was seen.
pub type Tell = Box<dyn Fn(&Sighting) + Send + Sync>;

/// What is watched. It ends when it goes.
pub trait Watch: Send + Sync {
    /// Watches the file at `path`, whether or not there is one.
    fn file(&self, path: &WsPath);

    /// Watches it no longer.
    fn forget(&self, path: &WsPath);

    /// Watches all files, or only single ones again.
    fn tree(&self, watched: bool);
}

/// A file is told of once it has been left alone for so long: one change is many events.
const QUIET: Duration = Duration::from_millis(20);

/// Something that never stops is told of this often all the same.
const LONGEST: Duration = Duration::from_millis(500);

/// Watches a folder. Watching ends when this goes.
pub(super) struct Watched {
    /// The open folders: what cannot be reached through them is not watched.
    base: Base,
    folders: Vec<Folder>,
    state: Mutex<State>,
}

struct State {
    watcher: RecommendedWatcher,
    /// How many files are watched in each folder. The folder is what is watched: a file that is replaced is another one.
    folders: BTreeMap<WsPath, BTreeSet<WsPath>>,
    tree: bool,
}

impl Watched {
    /// Begins; `folders` are those of `base`.
    pub(super) fn start(base: Base, folders: Vec<Folder>, tell: Tell) -> notify::Result<Arc<Self>> {
        let (sender, events) = channel();
        let watcher = RecommendedWatcher::new(Forward(sender), notify::Config::default().with_follow_symlinks(false))?;
        let from = folders.clone();
        let thread = std::thread::Builder::new().name("watch files".to_owned());
        thread.spawn(move || gather(&from, &events, &tell)).map_err(notify::Error::io)?;
        let state = Mutex::new(State { watcher, folders: BTreeMap::new(), tree: false });
        Ok(Arc::new(Watched { base, folders, state }))
    }

    /// Where `folder` is for the system, if it can be reached.
    fn place(&self, folder: &WsPath) -> Option<PathBuf> {
        let Below { dir, at, path } = self.base.find(folder).ok()?;
        dir.metadata(below(&path)).ok()?;
        let root = &self.folders.iter().find(|folder| folder.at == *at)?.path;
        Some(if path.is_root() { root.clone() } else { root.join(path.as_str()) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watch for Watched {
    fn file(&self, path: &WsPath) {
        let Some(folder) = path.parent() else { return };
        let Some(place) = self.place(&folder) else { return };
        let mut state = self.state();
        let first = !state.folders.contains_key(&folder);
        state.folders.entry(folder.clone()).or_default().insert(path.clone());
        if first
            && !state.tree
            && let Err(error) = state.watcher.watch(&place, RecursiveMode::NonRecursive)
        {
            tracing::warn!(%folder, %error, "what changes there cannot be seen");
        }
    }

    fn forget(&self, path: &WsPath) {
        let Some(folder) = path.parent() else { return };
        let place = self.place(&folder);
        let mut state = self.state();
        let Some(files) = state.folders.get_mut(&folder) else { return };
        files.remove(path);
        if files.is_empty() {
            state.folders.remove(&folder);
            if let Some(place) = place.filter(|_| !state.tree) {
                // It may have been another folder of that name that was watched.
                let _ = state.watcher.unwatch(&place);
            }
        }
    }

    fn tree(&self, watched: bool) {
        let mut state = self.state();
        state.tree = watched;
        for folder in &self.folders {
            let changed = match watched {
                true => state.watcher.watch(&folder.path, RecursiveMode::Recursive),
                false => state.watcher.unwatch(&folder.path),
            };
            if let Err(error) = changed {
                tracing::warn!(%error, "files that come and go cannot all be seen");
            }
        }
        let single: Vec<_> = state.folders.keys().filter(|_| !watched).cloned().collect();
        for place in single.iter().filter_map(|folder| self.place(folder)) {
            if let Err(error) = state.watcher.watch(&place, RecursiveMode::NonRecursive) {
                tracing::warn!(%error, "what changes there cannot be seen any more");
            }
        }
    }
}

/// Hands events on to the thread that gathers them.
struct Forward(Sender<notify::Event>);

impl notify::EventHandler for Forward {
    fn handle_event(&mut self, event: notify::Result<notify::Event>) {
        match event {
            // Nobody listens any more at the end.
            Ok(event) => drop(self.0.send(event)),
            Err(error) => tracing::warn!(%error, "an event of the file system was lost"),
        }
    }
}

/// What has come and gone at each path that something has happened to.
type Balance = BTreeMap<WsPath, i32>;

/// Makes one sighting of the events that come together.
fn gather(folders: &[Folder], events: &Receiver<notify::Event>, tell: &Tell) {
    while let Ok(first) = events.recv() {
        let mut balance = Balance::new();
        let began = Instant::now();
        let mut next = Ok(first);
        while let Ok(event) = next {
            note(&mut balance, folders, &event);
            let wait = LONGEST.saturating_sub(began.elapsed()).min(QUIET);
            next = if wait.is_zero() { Err(RecvTimeoutError::Timeout) } else { events.recv_timeout(wait) };
        }
        if !balance.is_empty() {
            // What came where something went is the same file with other bytes.
            let list_changed = balance.values().any(|balance| *balance != 0);
            tell(&Sighting { changed: balance.into_keys().collect(), list_changed });
        }
    }
}

fn note(balance: &mut Balance, folders: &[Folder], event: &notify::Event) {
    let comes = match event.kind {
        EventKind::Create(_) | EventKind::Modify(ModifyKind::Name(RenameMode::To)) => 1,
        EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(RenameMode::From)) => -1,
        // Both ends were told one by one already.
        EventKind::Modify(ModifyKind::Metadata(_) | ModifyKind::Name(RenameMode::Both)) | EventKind::Access(_) => {
            return;
        }
        _ => 0,
    };
    for path in &event.paths {
        let Some(path) = folders.iter().find_map(|folder| folder.inside(path)) else { continue };
        // What git and the replacing of files do for themselves is no news.
        if path.components().any(|part| part == ".git") || is_temporary(path.name()) {
            continue;
        }
        *balance.entry(path).or_default() += comes;
    }
}
