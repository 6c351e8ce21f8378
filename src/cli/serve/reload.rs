//! Reads the configuration again while the server runs.
//!
//! Rules, hooks, what is read-only, limits, wordings, how results look, how programs run, tokens and certificates hold anew at
//! once. What does not (see [`Config::restart_for`]) is said in the log.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use super::http::HttpArguments;
use super::{Arguments, structured};
use crate::cli::assembly::{Anew, Assembly, Places};
use crate::cli::root::Roots;
use crate::config::Config;
use crate::ledger::Ledger;
use crate::model::mode::Mode;
use crate::rpc::{Mcp, Serving};
use crate::serve::http::{Reload, Renewed};

/// All that is needed to do it.
pub(super) struct Reloader {
    roots: Roots,
    places: Places,
    read_only: bool,
    structured: bool,
    mode: Option<Mode>,
    http: HttpArguments,
    ledger: Ledger,
    /// What the server was started with.
    started: Config,
    /// The files that everything comes from, as they were when they were last read.
    seen: Mutex<Vec<(PathBuf, Looks)>>,
}

/// What tells that a file has changed; nothing if it is not there.
type Looks = Option<(SystemTime, u64)>;

impl Reloader {
    pub(super) fn new(arguments: &Arguments, assembly: &Assembly) -> Self {
        let reloader = Reloader {
            roots: arguments.folder.roots(),
            places: arguments.places.clone(),
            read_only: arguments.read_only,
            structured: arguments.structured,
            mode: arguments.mode,
            http: arguments.http.clone(),
            ledger: assembly.ledger.clone(),
            started: assembly.config.clone(),
            seen: Mutex::default(),
        };
        reloader.watch(&assembly.config);
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
        let anew = Anew::read(&self.roots, &self.places, self.started.mode, &self.ledger);
        let Anew { mut config, registry, offers, settings, policy } = anew.map_err(|error| error.to_string())?;
        config.mode = self.mode.unwrap_or(config.mode);
        let renewed = self.http.renewed(&config.http).map_err(|error| error.to_string())?;
        if !renewed.auth.is_on() && self.http.needs_auth() {
            return Err("nothing would say who may come in any more".to_owned());
        }
        let read_only = config.read_only || self.read_only;
        let structured = structured(self.structured, &config);
        mcp.renew(Serving { registry, offers, settings, policy, read_only, structured });
        self.watch(&config);
        let later = config.restart_for(&self.started);
        if !later.is_empty() {
            tracing::warn!(settings = later.join(", "), "what has changed here needs a restart to hold");
        }
        Ok(renewed)
    }
}

#[expect(clippy::disallowed_methods, reason = "the configuration lies outside of workspaces, or decides about one")]
fn looks(file: &std::path::Path) -> Looks {
    let metadata = std::fs::metadata(file).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}
