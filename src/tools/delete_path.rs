//! `delete_path`: a file, a link or a folder goes, and is kept so that it can come back.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{kind_word, not_found};
use crate::model::change::{Change, ChangeSet, Expect};
use crate::model::error::{ErrorCode, ToolError};
use crate::model::path::WsPath;
use crate::text::counted::counted;
use crate::tool::view::View;
use crate::tool::{Card, Effect, Facts, Intent, Plan, Spec, Tool};
use crate::workspace::{Depth, Kind, Survey};

/// The tool `delete_path`.
#[derive(Debug)]
pub struct DeletePath;

/// What goes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// The file, link or folder.
    pub path: String,
    /// Needed for a folder that is not empty.
    #[serde(default)]
    pub recursive: Option<bool>,
}

/// What has gone.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The path, as it was named.
    pub path: String,
    /// `file`, `folder` or `link`.
    pub kind: String,
    /// How many files, links and folders were in it.
    pub entries: usize,
    /// How many bytes its files had.
    pub bytes: u64,
}

impl Tool for DeletePath {
    type Args = Args;
    type Output = Output;

    fn spec(&self) -> Spec {
        Spec {
            name: "delete_path",
            title: "Delete",
            description: "Delete a file, link or folder with all that is in it; what a link leads to stays. undo_change \
                          brings it back.",
            effect: Effect::Replaces { idempotent: false },
            paths: &["path"],
        }
    }

    fn takes_links(&self) -> bool {
        true
    }

    async fn plan(&self, view: &View, args: Args) -> Result<Plan<Output>, ToolError> {
        let path = view.existing(&args.path)?;
        if view.is_root(&path) {
            let problem = "is the workspace's own folder, which stays. Name what is to go in it";
            return Err(ToolError::bad_argument("path", problem));
        }
        let survey = view.survey(&path, Depth::Marks).map_err(|error| not_found(view, &path, error.into()))?;
        check_special(&path, &survey)?;
        let entries = survey.below.len();
        if entries > 0 && !args.recursive.unwrap_or(false) {
            return Err(ToolError::new(
                ErrorCode::DirectoryNotEmpty,
                format!(
                    "{path} is a folder that holds {}. Nothing was deleted. Look with list_dir, and set recursive to delete \
                     it with all of them.",
                    counted(entries, "entry", "entries")
                ),
            )
            .with("path", path.to_string())
            .with("entries", entries));
        }
        check_size(view, &path, &survey)?;
        let output = Output { path: args.path, kind: kind_word(survey.kind).to_owned(), entries, bytes: survey.bytes };
        let change = Change::Remove { path, expect: Expect::Exactly(survey.mark), kept: None };
        Ok(Plan::Change { set: ChangeSet::new(vec![change]), intent: Intent::Write, output })
    }

    fn observe(output: &Output) -> String {
        match (output.kind.as_str(), output.entries) {
            ("folder", 0) => format!("Folder deleted: {}", output.path),
            ("folder", entries) => {
                format!("Folder deleted: {} ({})", output.path, counted(entries, "entry", "entries"))
            }
            ("link", _) => format!("Link deleted: {}", output.path),
            _ => format!("File deleted: {}", output.path),
        }
    }

    fn facts(output: &Output) -> Facts {
        vec![("kind", json!(output.kind)), ("entries", json!(output.entries)), ("bytes", json!(output.bytes))]
    }

    fn present(args: &Args) -> Card {
        let all = if args.recursive == Some(true) { " with all that is in it" } else { "" };
        Card::new(format!("Delete {}{all}", args.path))
    }

    fn present_result(output: &Output) -> Option<Card> {
        let Output { kind, path, entries, bytes } = output;
        Some(Card::new(match entries {
            0 => format!("Deleted {kind} {path}"),
            _ => format!(
                "Deleted {kind} {path} ({}, {})",
                counted(*entries, "entry", "entries"),
                counted(*bytes, "byte", "bytes")
            ),
        }))
    }
}

/// Refuses what could not come back: a FIFO, a socket, a device, another file system.
fn check_special(path: &WsPath, survey: &Survey) -> Result<(), ToolError> {
    let special = match survey.kind {
        Kind::Other => path.to_string(),
        _ => match survey.below.iter().find(|entry| entry.kind == Kind::Other) {
            Some(entry) => format!("{path}/{}", entry.path),
            None => return Ok(()),
        },
    };
    Err(ToolError::new(
        ErrorCode::NotAFile,
        format!(
            "{special} is no file, link or folder of this file system (a FIFO, socket, device or mount), and could not be \
             brought back. Nothing was deleted. Delete what is beside it, or ask the user to remove it."
        ),
    )
    .with("path", special))
}

fn check_size(view: &View, path: &WsPath, survey: &Survey) -> Result<(), ToolError> {
    let limits = view.limits();
    let entries = survey.below.len();
    let (what, limit, setting) = if survey.bytes > limits.delete_bytes {
        (format!("{} bytes", survey.bytes), limits.delete_bytes, "delete_bytes")
    } else if entries > limits.delete_entries {
        (format!("{entries} entries"), limits.delete_entries as u64, "delete_entries")
    } else {
        return Ok(());
    };
    Err(ToolError::new(
        ErrorCode::TooLarge,
        format!(
            "{path} holds {what}, and one deletion keeps at most {limit} for undoing ({setting} in the configuration). \
             Nothing was deleted. Delete parts of it one by one, or ask the user to delete it or to raise the limit."
        ),
    )
    .with("path", path.to_string())
    .with("limit", limit))
}
