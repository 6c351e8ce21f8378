//! Why a change was not made, where it would have taken back another: told by what has happened since.

use std::collections::HashSet;

use crate::dispatch::run::Run;
use crate::dispatch::run::files::CommitError;
use crate::ledger::{ChangeRecord, Filter};
use crate::model::change::{Change, ChangeSet};
use crate::model::error::{ErrorCode, ToolError};
use crate::model::id::ChangeId;
use crate::model::path::WsPath;
use crate::tool::Intent;
use crate::workspace::{FileError, FileErrorKind};

/// How many later changes a message names.
const NAMED: usize = 5;

impl Run<'_> {
    /// What the model is told about the failure of `set`.
    pub(super) fn told(&self, error: CommitError, set: &ChangeSet, intent: &Intent) -> ToolError {
        use FileErrorKind::{AlreadyExists, NotADirectory, NotAFile, NotFound, Stale};
        match (error, intent) {
            (
                CommitError::File(FileError {
                    path,
                    kind: kind @ (Stale { .. } | NotFound | NotAFile | NotADirectory | AlreadyExists),
                }),
                Intent::Undo { change, .. },
            ) => {
                let now = if let Stale { now } = kind { now } else { None };
                let is_its_folder = set.iter().flat_map(Change::paths).all(|there| *there != path);
                self.changed_since(*change, &path, matches!(kind, NotFound) && is_its_folder)
                    .with("current_version", now.map(|version| version.to_string()))
            }
            (error, _) => error.of(set),
        }
    }

    /// Nobody's later work is undone with a change; if it was done by calls, they are named.
    fn changed_since(&self, change: ChangeId, path: &WsPath, folder_is_gone: bool) -> ToolError {
        let records = self.dispatcher.ledger.changes(&Filter::default()).unwrap_or_default();
        let is_it = |record: &&ChangeRecord| record.change == change || record.as_one() == Some(change);
        let since: Vec<_> = records.iter().take_while(|record| !is_it(record)).collect();
        // What came and was taken back again is in nobody's way.
        let came: HashSet<_> =
            since.iter().flat_map(|record| [Some(record.change), record.as_one()]).flatten().collect();
        let takes_back = |record: &ChangeRecord| record.undoes().is_some_and(|undone| came.contains(&undone));
        let counts = |record: &&&ChangeRecord| record.stands() && !takes_back(record) && touches(record, path);
        let later: Vec<_> = since.iter().filter(counts).collect();
        let named: Vec<_> =
            later.iter().take(NAMED).map(|record| format!("{} ({})", record.change, record.tool)).collect();
        let more = later.len().saturating_sub(named.len());
        let cure = match later.len() {
            0 if folder_is_gone => "This folder is gone: make it with make_dir, then undo the change again.".to_owned(),
            0 => "Look at what is there now, and change it as you would any other file. To go further back, name an older change."
                .to_owned(),
            1 => format!("The change {} has come after it there: undo that first.", named.join("")),
            _ if more > 0 => {
                format!("These have come after it there: {} and {more} more. Undo them first, the newest first.", named.join(", "))
            }
            _ => format!("These have come after it there: {}. Undo them first, in this order.", named.join(", ")),
        };
        ToolError::new(
            ErrorCode::StaleVersion,
            format!(
                "{path} is not as change {change} left it, so nothing was undone and it is as it was left since. {cure}"
            ),
        )
        .with("path", path.to_string())
        .with("later", later.iter().map(|record| record.change.to_string()).collect::<Vec<_>>())
    }
}

/// Whether a change is about `path`, what lies below it, or a folder above it.
fn touches(record: &ChangeRecord, path: &WsPath) -> bool {
    let near = |text: &str| WsPath::parse(text).is_ok_and(|there| there.is_within(path) || path.is_within(&there));
    record.steps.iter().any(|step| {
        let step = &step.step;
        near(&step.path) || near(&step.real) || step.from.as_deref().is_some_and(near)
    })
}
