//! `undo_change`: takes back a change that was recorded.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::model::change::{Change, ChangeSet};
use crate::model::error::{ErrorCode, ToolError};
use crate::model::path::WsPath;
use crate::tool::view::{Inverse, View};
use crate::tool::{Card, Effect, Facts, Intent, Plan, Spec, Tool};

/// The tool `undo_change`.
#[derive(Debug)]
pub struct UndoChange;

/// Which change.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// A change or a run, by name. Left out: your newest that stands.
    #[serde(default)]
    pub change: Option<String>,
}

/// What was taken back.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The change that is undone.
    pub undone: String,
    /// The files that are as they were before it.
    pub paths: Vec<String>,
    /// Folders that the change had made and that stay, since something else is in them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stay: Vec<String>,
}

impl Tool for UndoChange {
    type Args = Args;
    type Output = Output;

    fn spec(&self) -> Spec {
        Spec {
            name: "undo_change",
            title: "Undo a change",
            description: "Take back a change made with these tools: every file of it is as it was before. Leave change \
                          out for your newest, and call again to go further back. Refused with stale_version if a file \
                          has changed since. To redo, undo the undo by its own id.",
            effect: Effect::Replaces { idempotent: false },
            paths: &[],
        }
    }

    async fn plan(&self, view: &View, args: Args) -> Result<Plan<Output>, ToolError> {
        let Inverse { change, set, series } = view.inverse(args.change.as_deref())?;
        let stay = folders_that_stay(view, &set);
        if let (Some(first), true) = (stay.first(), stay.len() == set.iter().len()) {
            return Err(ToolError::new(
                ErrorCode::StaleVersion,
                format!(
                    "{first} is not as change {change} left it: something is in it by now, so it stays, and nothing was undone. \
                     Look with list_dir, and delete it with delete_path if all of it can go."
                ),
            )
            .with("path", first.to_string()));
        }
        let mut paths: Vec<_> =
            set.iter().map(Change::path).filter(|path| !stay.contains(path)).map(WsPath::to_string).collect();
        let mut told = HashSet::new();
        paths.retain(|path| told.insert(path.clone()));
        let stay = stay.iter().map(WsPath::to_string).collect();
        let output = Output { undone: change.to_string(), paths, stay };
        Ok(Plan::Change { set, intent: Intent::Undo { change, series }, output })
    }

    fn observe(output: &Output) -> String {
        format!("Change undone: {} ({})", output.undone, output.paths.join(", "))
    }

    fn notes(output: &Output) -> Vec<String> {
        match &output.stay[..] {
            [] => Vec::new(),
            [folder] => vec![format!("[The folder {folder} stays: something else is in it by now.]")],
            folders => vec![format!("[The folders {} stay: something else is in them by now.]", folders.join(", "))],
        }
    }

    fn facts(output: &Output) -> Facts {
        vec![("undone", json!(output.undone))]
    }

    fn present(args: &Args) -> Card {
        Card::new(match &args.change {
            Some(change) => format!("Undo change {change}"),
            None => "Undo the newest change".to_owned(),
        })
    }

    fn present_result(output: &Output) -> Option<Card> {
        Some(Card::new(format!("Undid {}: {}", output.undone, output.paths.join(", "))))
    }
}

/// The folders that `set` would remove were they empty by then.
fn folders_that_stay(view: &View, set: &ChangeSet) -> Vec<WsPath> {
    let mut going: HashSet<WsPath> = HashSet::new();
    for step in set {
        match step {
            Change::Delete { path, .. } | Change::Remove { path, .. } | Change::Move { from: path, .. } => {
                going.insert(path.clone());
            }
            Change::Write { .. } | Change::MakeDir { .. } | Change::RemoveDir { .. } | Change::Restore { .. } => {}
        }
    }
    let mut stay = Vec::new();
    // From the inside out, as the set has them.
    for step in set {
        let Change::RemoveDir { path } = step else { continue };
        let Ok(listing) = view.list(path, usize::MAX) else { continue };
        if listing.entries.iter().all(|entry| entry.addressable && going.contains(&path.join(&entry.name))) {
            going.insert(path.clone());
        } else {
            stay.push(path.clone());
        }
    }
    stay
}
