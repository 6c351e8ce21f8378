//! A walk through a view: what a call may be shown of what it did not name.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::model::error::ToolError;
use crate::model::path::WsPath;
use crate::tool::view::View;
use crate::workspace::{Flow, Found, Kind, Walk, Walked};

/// Which files a caller may be shown that it did not name itself.
pub trait Sieve: Send + Sync {
    /// Whether what is at `path` may be shown.
    fn shows(&self, path: &str) -> bool;

    /// Whether the same call on the folder at `path` could be made.
    fn enters(&self, path: &str) -> bool {
        self.shows(path)
    }
}

/// What a walk through a view shows.
pub struct Seen<'a> {
    /// What the workspace shows.
    pub found: &'a Found<'a>,
    start: &'a WsPath,
    real: &'a WsPath,
}

impl Seen<'_> {
    /// Its path as the caller would write it: below the start as the caller wrote that.
    #[must_use]
    pub fn path(&self) -> String {
        match (self.found.path == self.real.as_str(), self.start.is_root()) {
            (true, _) => self.start.as_str().to_owned(),
            (false, true) => self.found.below.to_owned(),
            (false, false) => format!("{}/{}", self.start, self.found.below),
        }
    }
}

/// What came of a walk through a view.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Strolled {
    /// What the workspace tells.
    pub walked: Walked,
    /// Files that were not shown since a rule keeps them from the caller.
    pub withheld: u64,
}

impl View {
    /// The same view, but what `sieve` holds back is not shown by [`View::walk`].
    pub(crate) fn through(&self, sieve: Arc<dyn Sieve>) -> Self {
        View { sieve: Some(sieve), ..self.clone() }
    }

    /// Whether the caller could make the same call on the folder at `path`, which it did not name.
    pub(crate) fn may_enter(&self, path: &WsPath) -> bool {
        self.sieve.as_ref().is_none_or(|sieve| {
            let real = self.workspace.real(path);
            sieve.enters(path.as_str()) && (real == *path || sieve.enters(real.as_str()))
        })
    }

    /// Shows everything below the folder at `path`, or the file that is there. Links on the way to `path` are followed, links
    /// below are not. Files that a rule keeps from the caller are held back. It ends early where the caller takes the call back.
    ///
    /// # Errors
    /// See [`Workspace::walk`](crate::workspace::Workspace::walk); `cancelled`.
    pub fn walk(
        &self,
        path: &WsPath,
        include_ignored: bool,
        visit: &(dyn Fn(&Seen<'_>) -> Flow + Sync),
    ) -> Result<Strolled, ToolError> {
        // A link that leads nowhere, or outside, is told as what it is.
        self.workspace.stat(path)?;
        let real = self.workspace.real(path);
        let withheld = AtomicU64::new(0);
        let sift = |found: &Found<'_>| {
            if self.cancel.is_cancelled() {
                return Flow::End;
            }
            let seen = Seen { found, start: path, real: &real };
            if let Some(sieve) = &self.sieve
                && !(sieve.shows(found.path) && (real == *path || sieve.shows(&seen.path())))
            {
                // What is in a folder may be shown all the same.
                if found.kind != Kind::Dir {
                    withheld.fetch_add(1, Ordering::Relaxed);
                }
                return Flow::On;
            }
            visit(&seen)
        };
        let walked = self.workspace.walk(&real, &Walk { include_ignored, visit: &sift });
        self.check_cancelled()?;
        // The caller knows the path as it was written.
        let walked = walked.map_err(|error| error.kind.at(path))?;
        Ok(Strolled { walked, withheld: withheld.into_inner() })
    }
}
