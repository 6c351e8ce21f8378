//! A walk of a folder on disk: several threads, each with one folder and one file open at a time.
//!
//! Every folder is opened from the root by its whole path, no link on the way followed; every file from its open folder.
//! So nothing leads outside, whoever swaps what meanwhile, and however deep the folders are few handles are open.

mod names;
mod open;
mod work;

#[cfg(test)]
pub(super) use open::both_ways;

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::thread;

use crate::model::path::WsPath;
use crate::workspace::local::walk::names::Names;
use crate::workspace::local::walk::open::Root;
use crate::workspace::local::walk::work::{Job, Work};
use crate::workspace::local::{Base, Below, fault};
use crate::workspace::walk::ignored::{Above, Level, leaves_out};
use crate::workspace::walk::{prefix, put_path};
use crate::workspace::{FileErrorKind, Flow, Found, Kind, Walk, Walked};

/// More threads than this only wait for each other.
const MOST_THREADS: usize = 8;

/// The first thread calls for help once it has met this many names: most walks are done sooner than a thread begins.
const ALONE: usize = 500;

/// So many files of one folder are looked at by one thread in one go.
const CHUNK: usize = 256;

/// Walks `start`, or shows the file that it is.
pub(super) fn walk(base: &Base, start: &WsPath, asked: &Walk<'_>) -> Result<Walked, FileErrorKind> {
    if !base.is_top(start) {
        let Below { dir, at, .. } = base.find(start).map_err(|error| error.kind)?;
        return walk_in(&Root { dir, at }, start, prefix(start), asked);
    }
    // The place above several folders: one after the other.
    let mut walked = Walked::default();
    for root in base.roots() {
        let Below { dir, at, .. } = base.find(&root.at).map_err(|error| error.kind)?;
        let opener = || Err(FileErrorKind::NotAFile);
        let path = at.as_str();
        match (asked.visit)(&Found { path, below: path, kind: Kind::Dir, opener: &opener }) {
            Flow::On => walked.add_all(walk_in(&Root { dir, at }, at, 0, asked)?),
            Flow::Past => {}
            Flow::End => walked.ended = true,
        }
        if walked.ended {
            break;
        }
    }
    Ok(walked)
}

/// Walks `start`, which lies in `root`; what comes before the first `prefix` bytes of a path is above the start.
fn walk_in(root: &Root<'_>, start: &WsPath, prefix: usize, asked: &Walk<'_>) -> Result<Walked, FileErrorKind> {
    let above = if asked.include_ignored {
        None
    } else {
        Level::above(start, &|path| root.ignore_file(path), &|path| root.is_there(path))
    };
    let folder = match root.folder(start.as_str()) {
        Ok(folder) => folder,
        Err(error) => {
            return match fault(error) {
                FileErrorKind::NotADirectory => only(root, start, asked),
                other => Err(other),
            };
        }
    };
    let shared = Shared { root, asked, prefix, work: Work::default() };
    let mut first = Walker { shared: &shared, walked: Walked::default(), path: String::new(), met: 0 };
    first.folder(folder, start.as_str().to_owned(), &above).map_err(fault)?;
    thread::scope(|scope| {
        let mut helpers = Vec::new();
        while let Some(job) = shared.work.take() {
            first.perform(job);
            if helpers.is_empty() && first.met > ALONE {
                let wanted = thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS) - 1;
                // Where no thread is to be had, this one does it alone.
                helpers.extend((0..wanted).map_while(|_| {
                    let name = thread::Builder::new().name("walk".to_owned());
                    name.spawn_scoped(scope, || shared.help()).ok()
                }));
            }
        }
        for helper in helpers {
            match helper.join() {
                Ok(walked) => first.walked.add_all(walked),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    first.walked.ended = shared.work.has_ended();
    Ok(first.walked)
}

/// Shows a start that is no folder.
fn only(root: &Root<'_>, start: &WsPath, asked: &Walk<'_>) -> Result<Walked, FileErrorKind> {
    let parent = start.parent().unwrap_or_else(WsPath::root);
    let folder = root.folder(parent.as_str()).map_err(fault)?;
    let (kind, _) = open::look(&folder, start.name()).map_err(fault)?;
    let opener = || open::file(&folder, start.name());
    let flow = (asked.visit)(&Found { path: start.as_str(), below: start.name(), kind, opener: &opener });
    Ok(Walked { ended: flow == Flow::End, ..Walked::default() })
}

/// What the threads of a walk share.
struct Shared<'a> {
    root: &'a Root<'a>,
    asked: &'a Walk<'a>,
    /// How many bytes of a path come before what lies below the start.
    prefix: usize,
    work: Work,
}

impl Shared<'_> {
    fn help(&self) -> Walked {
        let mut walker = Walker { shared: self, walked: Walked::default(), path: String::new(), met: 0 };
        while let Some(job) = self.work.take() {
            walker.perform(job);
        }
        walker.walked
    }
}

/// A folder whose files are still to be shown.
struct Opened {
    folder: OwnedFd,
    path: String,
    names: Names,
    above: Above,
}

/// One thread of a walk.
struct Walker<'a> {
    shared: &'a Shared<'a>,
    walked: Walked,
    /// The path that is being shown.
    path: String,
    met: usize,
}

impl Walker<'_> {
    fn perform(&mut self, job: Job) {
        let _done = self.shared.work.finishing();
        match job {
            Job::Files { opened, from } => self.files(&opened, from),
            Job::Folder { path, above } => {
                let opened = self.shared.root.folder(&path);
                let told = path.clone();
                match opened.and_then(|folder| self.folder(folder, path, &above)) {
                    Ok(()) => {}
                    Err(error) => match fault(error) {
                        // Gone meanwhile, or something else is there now.
                        FileErrorKind::NotFound | FileErrorKind::NotADirectory | FileErrorKind::NotAFile => {}
                        _ => self.walked.unreadable.add(&told),
                    },
                }
            }
        }
    }

    /// Shows the folders in `folder`, and its files unless they are so many that they are left for all threads.
    fn folder(&mut self, folder: OwnedFd, path: String, above: &Above) -> std::io::Result<()> {
        let (names, holds) = names::read(&folder)?;
        self.met += names.len();
        let above = if self.shared.asked.include_ignored {
            None
        } else {
            Level::enter(above, &path, holds, &|file| self.shared.root.ignore_file(file))
        };
        self.walked.unnamed += names.unnamed();
        let opened = Arc::new(Opened { folder, path, names, above });
        let mut folders = Vec::new();
        for name in opened.names.folders() {
            if self.show(&opened, name, Kind::Dir) == Flow::On {
                folders.push(Job::Folder { path: self.path.clone(), above: opened.above.clone() });
            }
        }
        self.shared.work.give(folders);
        let files = opened.names.files().len();
        if files <= CHUNK {
            self.files(&opened, 0);
        } else {
            let chunk = |from| Job::Files { opened: Arc::clone(&opened), from };
            self.shared.work.give((0..files).step_by(CHUNK).map(chunk).collect());
        }
        Ok(())
    }

    /// Shows a chunk of what is no folder.
    fn files(&mut self, opened: &Opened, from: usize) {
        for (name, kind) in opened.names.files().skip(from).take(CHUNK) {
            if self.shared.work.has_ended() {
                return;
            }
            self.show(opened, name, kind);
        }
    }

    fn show(&mut self, opened: &Opened, name: &str, kind: Kind) -> Flow {
        put_path(&mut self.path, &opened.path, name);
        let Shared { asked, work, prefix, .. } = self.shared;
        if !asked.include_ignored && leaves_out(&opened.above, &self.path, name, kind == Kind::Dir) {
            self.walked.ignored += 1;
            return Flow::Past;
        }
        let opener = || open::file(&opened.folder, name);
        let found = Found { path: &self.path, below: &self.path[*prefix..], kind, opener: &opener };
        let flow = (asked.visit)(&found);
        if flow == Flow::End {
            work.end();
        }
        flow
    }
}
