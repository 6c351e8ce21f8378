//! News of files: who has subscribed to one is told when it changes, whoever changes it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::dispatch::Observer;
use crate::model::change::{Change, ChangeSet, Expect};
use crate::model::path::WsPath;
use crate::rpc::news::News;
use crate::workspace::{Sighting, Watch};

/// Watches the files that somebody has subscribed to. Nothing is started until somebody has.
pub(crate) struct Files {
    news: News,
    watched: Mutex<Watched>,
}

#[derive(Default)]
struct Watched {
    /// The addresses under which each file was subscribed to, and how often.
    paths: BTreeMap<WsPath, BTreeMap<String, usize>>,
    /// How many streams want to hear of files that come and go.
    tree: usize,
    watch: Option<Arc<dyn Watch>>,
}

impl Files {
    pub(crate) fn new(news: News) -> Arc<Self> {
        Arc::new(Files { news, watched: Mutex::default() })
    }

    /// From now on news of the file at `path` go out as news of `uri`. `start` begins to watch, where nobody does yet.
    pub(crate) fn subscribe(&self, path: &WsPath, uri: &str, start: impl FnOnce() -> Option<Arc<dyn Watch>>) {
        let watch = {
            let mut watched = self.watched();
            *watched.paths.entry(path.clone()).or_default().entry(uri.to_owned()).or_default() += 1;
            watched.watch_or(start)
        };
        if let Some(watch) = watch {
            watch.file(path);
        }
    }

    /// One less.
    pub(crate) fn unsubscribe(&self, path: &WsPath, uri: &str) {
        let mut watched = self.watched();
        let Some(uris) = watched.paths.get_mut(path) else { return };
        if let Some(count) = uris.get_mut(uri) {
            *count -= 1;
            if *count == 0 {
                uris.remove(uri);
            }
        }
        if uris.is_empty() {
            watched.paths.remove(path);
            if let Some(watch) = watched.watch.clone() {
                drop(watched);
                watch.forget(path);
            }
        }
    }

    /// A stream wants to hear of files that come and go.
    pub(crate) fn watch_tree(&self, start: impl FnOnce() -> Option<Arc<dyn Watch>>) {
        let watch = {
            let mut watched = self.watched();
            watched.tree += 1;
            if watched.tree > 1 {
                return;
            }
            watched.watch_or(start)
        };
        if let Some(watch) = watch {
            watch.tree(true);
        }
    }

    /// One less.
    pub(crate) fn forget_tree(&self) {
        let mut watched = self.watched();
        watched.tree -= 1;
        if watched.tree == 0
            && let Some(watch) = watched.watch.clone()
        {
            drop(watched);
            watch.tree(false);
        }
    }

    /// Something has happened to files, whoever did it.
    pub(crate) fn sighted(&self, sighting: &Sighting) {
        let uris: BTreeSet<String> = {
            let watched = self.watched();
            sighting.changed.iter().flat_map(|path| watched.within(path)).cloned().collect()
        };
        uris.iter().for_each(|uri| self.news.resource_updated(uri));
        if sighting.list_changed {
            self.news.resources_changed();
        }
    }

    fn watched(&self) -> MutexGuard<'_, Watched> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watched {
    /// The addresses of the file at `path`, or of all files in the folder that is there.
    fn within<'a>(&'a self, path: &'a WsPath) -> impl Iterator<Item = &'a String> {
        let from = self.paths.range::<WsPath, _>(path..);
        let begin_alike = from.take_while(|(file, _)| file.as_str().starts_with(path.as_str()));
        begin_alike.filter(|(file, _)| file.is_within(path)).flat_map(|(_, uris)| uris.keys())
    }

    fn watch_or(&mut self, start: impl FnOnce() -> Option<Arc<dyn Watch>>) -> Option<Arc<dyn Watch>> {
        if self.watch.is_none() {
            self.watch = start();
        }
        self.watch.clone()
    }
}

/// What the server itself changes: of that everybody hears, also where nothing is watched.
impl Observer for Files {
    fn changed(&self, set: &ChangeSet) {
        let watched = self.watched();
        let (files, tree) = (watched.watch.is_some(), watched.watch.is_some() && watched.tree > 0);
        drop(watched);
        let comes_or_goes = |change: &Change| match change {
            Change::Write { expect, .. } => *expect == Expect::Absent,
            Change::Delete { .. } | Change::Move { .. } | Change::Remove { .. } | Change::Restore { .. } => true,
            // A folder by itself is no resource.
            Change::MakeDir { .. } | Change::RemoveDir { .. } => false,
        };
        let paths = set.iter().flat_map(Change::paths).cloned();
        // Whoever watches sees this as well, and would tell it twice.
        let changed = if files { Vec::new() } else { paths.collect() };
        self.sighted(&Sighting { changed, list_changed: !tree && set.iter().any(comes_or_goes) });
    }
}
