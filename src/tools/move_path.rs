//! `move_path`: another path for a file, a link or a folder with all that is in it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{kind_word, missing_folders, naming, not_found};
use crate::model::change::{Change, ChangeSet, Expect};
use crate::model::error::{ErrorCode, ToolError};
use crate::model::path::WsPath;
use crate::text::counted::counted;
use crate::tool::view::View;
use crate::tool::{Card, Effect, Facts, Intent, Plan, Spec, Tool};
use crate::workspace::{Depth, FileErrorKind, Kind};

/// A file up to so many bytes is held to what it was when its move is undone; a larger one is not read for that.
const HELD_TO: u64 = 64 * 1024 * 1024;

/// The tool `move_path`.
#[derive(Debug)]
pub struct MovePath;

/// What moves where.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// What moves.
    pub from: String,
    /// Its whole new path; missing folders are made.
    pub to: String,
    /// Replace what is there.
    #[serde(default)]
    pub overwrite: Option<bool>,
}

/// What was moved.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// Where it was.
    pub from: String,
    /// Where it is.
    pub to: String,
    /// `file`, `folder` or `link`.
    pub kind: String,
    /// Whether something else was there before.
    pub replaced: bool,
    /// Whether anything is different from before.
    pub changed: bool,
    /// What is worth knowing of its new name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Tool for MovePath {
    type Args = Args;
    type Output = Output;

    fn spec(&self) -> Spec {
        Spec {
            name: "move_path",
            title: "Move",
            description: "Move or rename a file, link or folder with all that is in it. A folder that is not \
                          empty is never replaced.",
            effect: Effect::Replaces { idempotent: false },
            paths: &["from", "to"],
        }
    }

    fn takes_links(&self) -> bool {
        true
    }

    async fn plan(&self, view: &View, args: Args) -> Result<Plan<Output>, ToolError> {
        let from = movable(view, "from", view.existing(&args.from)?)?;
        let to = movable(view, "to", view.to_make(&args.to)?)?;
        let kind = view.look(&from).map_err(|error| not_found(view, &from, error.into()))?;
        if kind == Kind::Other {
            return Err(FileErrorKind::NotAFile.at(&from).into());
        }
        let kind_name = kind_word(kind).to_owned();
        let output = |replaced, changed, notes| Output {
            from: args.from.clone(),
            to: args.to.clone(),
            kind: kind_name.clone(),
            replaced,
            changed,
            notes,
        };
        if from == to {
            return Ok(Plan::Answer(output(false, false, Vec::new())));
        }
        if kind != Kind::Dir && naming::names_a_folder(&args.to) {
            return Err(ToolError::new(
                ErrorCode::NotAFile,
                format!(
                    "{} names a folder, and {from} is a {}. Give its whole new path, such as {}.",
                    args.to,
                    kind_word(kind),
                    to.join(from.name())
                ),
            )
            .with("path", args.to));
        }
        if kind == Kind::Dir && to.is_within(&from) {
            return Err(FileErrorKind::IntoItself.at(&to).into());
        }
        let mut set = missing_folders(view, &to)?;
        let in_the_way = match view.look(&to) {
            Err(error) if matches!(error.kind, FileErrorKind::NotFound) => None,
            // The same name in other letters, where the file system takes them for one.
            Ok(_) if is_spelling_of(view, &from, &to) => None,
            there => Some(there?),
        };
        if let Some(there) = in_the_way {
            set.push(replaced(view, kind, &to, there, args.overwrite.unwrap_or(false))?);
        }
        let expect = match kind {
            // One that may not be read can move all the same.
            Kind::File if view.stat(&from)?.size <= HELD_TO => {
                view.read_whole(&from).map_or(Expect::Any, |file| Expect::Exactly(file.version()))
            }
            _ => Expect::Any,
        };
        let mut made: Vec<_> =
            set.iter().filter(|step| matches!(step, Change::MakeDir { .. })).map(Change::path).collect();
        made.push(&to);
        let notes = naming::notes(view, &made);
        set.push(Change::Move { from, to, expect });
        let output = output(in_the_way.is_some(), true, notes);
        Ok(Plan::Change { set: ChangeSet::new(set), intent: Intent::Write, output })
    }

    fn observe(output: &Output) -> String {
        match (output.changed, output.kind.as_str()) {
            (false, _) => format!("Nothing to move: {} is there already", output.to),
            (true, "folder") => format!("Folder moved: {} to {}", output.from, output.to),
            (true, "link") => format!("Link moved: {} to {}", output.from, output.to),
            (true, _) => format!("File moved: {} to {}", output.from, output.to),
        }
    }

    fn notes(output: &Output) -> Vec<String> {
        output.notes.iter().map(|note| format!("[{note}]")).collect()
    }

    fn facts(output: &Output) -> Facts {
        vec![("kind", json!(output.kind)), ("replaced", json!(output.replaced)), ("changed", json!(output.changed))]
    }

    fn present(args: &Args) -> Card {
        Card::new(format!("Move {} to {}", args.from, args.to))
    }
}

fn movable(view: &View, field: &str, path: WsPath) -> Result<WsPath, ToolError> {
    if view.is_root(&path) {
        let problem = "is the workspace's own folder, which stays where it is. Name something in it";
        return Err(ToolError::bad_argument(field, problem));
    }
    Ok(path)
}

/// Whether `to` is `from` in other letters and no entry of its own.
fn is_spelling_of(view: &View, from: &WsPath, to: &WsPath) -> bool {
    let alike = from.parent() == to.parent() && from.name().to_lowercase() == to.name().to_lowercase();
    let listed = || to.parent().and_then(|folder| view.list(&folder, usize::MAX).ok());
    alike && listed().is_some_and(|listing| listing.entries.iter().all(|entry| entry.name != to.name()))
}

/// The step that takes away what is at `to`, if it may be replaced.
fn replaced(view: &View, kind: Kind, to: &WsPath, there: Kind, overwrite: bool) -> Result<Change, ToolError> {
    let refuse = |code, why: String| Err(ToolError::new(code, why).with("path", to.to_string()));
    let survey = view.survey(to, Depth::Marks)?;
    match (kind, there) {
        (_, Kind::Dir) if !survey.below.is_empty() => {
            let code = if overwrite { ErrorCode::DirectoryNotEmpty } else { ErrorCode::AlreadyExists };
            refuse(
                code,
                format!(
                    "{to} is a folder that holds {}, and is never replaced. Give the whole new path, such as {}.",
                    counted(survey.below.len(), "entry", "entries"),
                    to.join("name")
                ),
            )
        }
        (Kind::Dir, Kind::Dir) | (Kind::File | Kind::Link, Kind::File | Kind::Link) if !overwrite => refuse(
            ErrorCode::AlreadyExists,
            format!("A {} is at {to} already. Choose another path, or set overwrite to replace it.", kind_word(there)),
        ),
        (Kind::Dir, Kind::Dir) | (Kind::File | Kind::Link, Kind::File | Kind::Link) => {
            Ok(Change::Remove { path: to.clone(), expect: Expect::Exactly(survey.mark), kept: None })
        }
        _ => refuse(
            ErrorCode::AlreadyExists,
            format!(
                "A {} is at {to}, and a {} does not replace it. Choose another path, or {} first.",
                kind_word(there),
                kind_word(kind),
                if there == Kind::Other { "ask the user to remove it" } else { "delete it" }
            ),
        ),
    }
}
