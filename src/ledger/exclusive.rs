//! One commit at a time on one file, across processes.
//!
//! A commit that finds another writer's bytes puts them back. For that moment its own bytes are in the file, and nobody
//! must build on them.

use std::fs::File;
use std::io;

use cap_std::fs::Dir;

use crate::ledger::{Ledger, LedgerError, store};
use crate::model::path::WsPath;

/// In how many lots files are locked: enough that two commits on different files seldom meet.
const STRIPES: u8 = 64;

/// The right to commit changes of some files; it ends when this is dropped.
#[derive(Debug)]
pub struct Exclusive {
    stripes: Vec<u8>,
    files: Vec<File>,
}

impl Exclusive {
    /// Whether it is a right to all of `paths`.
    #[must_use]
    pub fn covers<'a>(&self, mut paths: impl Iterator<Item = &'a WsPath>) -> bool {
        paths.all(|path| self.stripes.contains(&stripe(path)))
    }
}

impl Drop for Exclusive {
    fn drop(&mut self) {
        for file in &self.files {
            // The system gives it back with the file in any case.
            let _ = file.unlock();
        }
    }
}

impl Ledger {
    /// Waits until no other process commits a change of any of `paths`, which are told as links lead. Nobody may wait for
    /// anything else while they hold this: it holds up the thread of whoever is next.
    ///
    /// # Errors
    /// The state folder cannot be used.
    pub fn exclusively<'a>(&self, paths: impl Iterator<Item = &'a WsPath>) -> Result<Exclusive, LedgerError> {
        let mut stripes: Vec<_> = paths.map(stripe).collect();
        // In one order everywhere, so that no two commits wait for each other.
        stripes.sort_unstable();
        stripes.dedup();
        let files = match self.core().and_then(|core| core.state.as_ref()) {
            Some(state) => take(state, &stripes).map_err(LedgerError::Changes)?,
            None => Vec::new(),
        };
        Ok(Exclusive { stripes, files })
    }
}

fn stripe(path: &WsPath) -> u8 {
    blake3::hash(path.as_str().as_bytes()).as_bytes()[0] % STRIPES
}

fn take(state: &Dir, stripes: &[u8]) -> io::Result<Vec<File>> {
    let folder = store::folder(state, "locks")?;
    stripes
        .iter()
        .map(|stripe| {
            let file = store::append(&folder, &format!("{stripe:02}"))?;
            file.lock()?;
            Ok(file)
        })
        .collect()
}
