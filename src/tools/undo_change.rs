//! `undo_change`: takes back a change that was recorded.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::model::error::ToolError;
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
        let mut paths: Vec<_> = set.iter().map(|step| step.path().to_string()).collect();
        let mut told = HashSet::new();
        paths.retain(|path| told.insert(path.clone()));
        let output = Output { undone: change.to_string(), paths };
        Ok(Plan::Change { set, intent: Intent::Undo { change, series }, output })
    }

    fn observe(output: &Output) -> String {
        format!("Change undone: {} ({})", output.undone, output.paths.join(", "))
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
