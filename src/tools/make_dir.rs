//! `make_dir`: a folder, and those above it that are missing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{missing_folders, naming};
use crate::model::change::{Change, ChangeSet};
use crate::model::error::ToolError;
use crate::tool::view::View;
use crate::tool::{Card, Effect, Facts, Intent, Plan, Spec, Tool};
use crate::workspace::{FileErrorKind, Kind};

/// The tool `make_dir`.
#[derive(Debug)]
pub struct MakeDir;

/// Which folder.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// The folder.
    pub path: String,
}

/// What was made.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The folder, as it was named.
    pub path: String,
    /// Whether it is new.
    pub created: bool,
    /// What is worth knowing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Tool for MakeDir {
    type Args = Args;
    type Output = Output;

    fn spec(&self) -> Spec {
        Spec {
            name: "make_dir",
            title: "Make folder",
            description: "Make a folder and the missing ones above it. One that is there stays as it is.",
            effect: Effect::Adds,
            paths: &["path"],
        }
    }

    async fn plan(&self, view: &View, args: Args) -> Result<Plan<Output>, ToolError> {
        let path = view.to_make(&args.path)?;
        let there = match view.stat(&path) {
            Ok(stat) if stat.kind == Kind::Dir => true,
            Ok(_) => return Err(FileErrorKind::AlreadyExists.at(&path).into()),
            Err(error) if matches!(error.kind, FileErrorKind::NotFound) => false,
            Err(error) => return Err(error.into()),
        };
        // A link that leads nowhere is in the way as well.
        if !there && view.look(&path).is_ok() {
            return Err(FileErrorKind::AlreadyExists.at(&path).into());
        }
        let notes = match (there, view.promise().folders_implied) {
            (true, _) => vec!["The folder was there already; nothing was changed.".to_owned()],
            (false, true) => {
                vec!["Folders are there as soon as a file is in them; there was nothing to make.".to_owned()]
            }
            (false, false) => {
                let mut set = missing_folders(view, &path)?;
                set.push(Change::MakeDir { path });
                let made: Vec<_> = set.iter().map(Change::path).collect();
                let output = Output { path: args.path, created: true, notes: naming::notes(view, &made) };
                return Ok(Plan::Change { set: ChangeSet::new(set), intent: Intent::Write, output });
            }
        };
        Ok(Plan::Answer(Output { path: args.path, created: false, notes }))
    }

    fn observe(output: &Output) -> String {
        if output.created { format!("Folder made: {}", output.path) } else { format!("Folder there: {}", output.path) }
    }

    fn notes(output: &Output) -> Vec<String> {
        output.notes.iter().map(|note| format!("[{note}]")).collect()
    }

    fn facts(output: &Output) -> Facts {
        vec![("created", json!(output.created))]
    }

    fn present(args: &Args) -> Card {
        Card::new(format!("Make folder {}", args.path))
    }
}
