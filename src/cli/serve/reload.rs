//! Reads the configuration again while the server runs.
//!
//! Rules, hooks, what is read-only, tokens and certificates hold anew at once. What else is configured (limits, wordings,
//! how results look) holds until the server is started again.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use super::http::HttpArguments;
use crate::cli::assembly::{Places, anew};
use crate::cli::root::Roots;
use crate::config::Config;
use crate::rpc::Mcp;
use crate::serve::http::{Reload, Renewed};

/// All that is needed to do it.
pub(super) struct Reloader {
    pub(super) roots: Roots,
    pub(super) places: Places,
    pub(super) read_only: bool,
    pub(super) http: HttpArguments,
    /// The files that everything comes from, as they were when they were last read.
    seen: Mutex<Vec<(PathBuf, Looks)>>,
}

/// What tells that a file has changed; nothing if it is not there.
type Looks = Option<(SystemTime, u64)>;

impl Reloader {
    pub(super) fn new(roots: Roots, places: Places, read_only: bool, http: HttpArguments, config: &Config) -> Self {
        let reloader = Reloader { roots, places, read_only, http, seen: Mutex::default() };
        reloader.watch(config);
        reloader
    }

    /// Watches the files that `config` came from. How those looked that are watched already was noted before they were
    /// read, so that nothing is missed that was written since.
    fn watch(&self, config: &Config) {
        let files = config.sources.iter().cloned().chain(self.http.files(&config.http));
        let mut seen = self.seen();
        let known = std::mem::take(&mut *seen);
        let before = |file: &PathBuf| known.iter().find(|(other, _)| other == file).map(|(_, looks)| *looks);
        *seen = files.map(|file| (file.clone(), before(&file).unwrap_or_else(|| looks(&file)))).collect();
    }

    fn seen(&self) -> MutexGuard<'_, Vec<(PathBuf, Looks)>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reload for Reloader {
    fn has_changed(&self) -> bool {
        let mut changed = false;
        for (file, before) in self.seen().iter_mut() {
            let now = looks(file);
            changed |= *before != now;
            // A fault is told once.
            *before = now;
        }
        changed
    }

    fn reload(&self, mcp: &Mcp) -> Result<Renewed, String> {
        // From here on everything that is written is new.
        self.has_changed();
        let (config, policy) = anew(&self.roots, &self.places, mcp.tools()).map_err(|error| error.to_string())?;
        let renewed = self.http.renewed(&config.http).map_err(|error| error.to_string())?;
        if !renewed.auth.is_on() && self.http.needs_auth() {
            return Err("nothing would say who may come in any more".to_owned());
        }
        let read_only = config.read_only || self.read_only;
        mcp.judge_by(policy, read_only);
        self.watch(&config);
        Ok(renewed)
    }
}

#[expect(clippy::disallowed_methods, reason = "the configuration lies outside of workspaces, or decides about one")]
fn looks(file: &std::path::Path) -> Looks {
    let metadata = std::fs::metadata(file).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}
