//! `list_dir`: what is in a folder, and in the folders below it.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{PathKind, not_found, shown};
use crate::model::error::{ErrorCode, ToolError};
use crate::model::path::WsPath;
use crate::text::counted::counted;
use crate::tool::view::View;
use crate::tool::{Card, Effect, Facts, Plan, Spec, Tool};
use crate::workspace::{Entry, Kind};

/// How many folders lie between two notes of progress.
const FOLDERS_A_NOTE: usize = 500;

/// The tool `list_dir`.
#[derive(Debug)]
pub struct ListDir;

/// What to list.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// The folder. Left out: the workspace's own.
    #[serde(default)]
    pub path: Option<String>,
    /// How many levels to show. Left out: 1.
    #[serde(default)]
    #[schemars(range(min = 1, max = 64))]
    pub depth: Option<u32>,
}

/// What is there.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The folder.
    pub path: String,
    /// Its entries sorted by name, each folder followed by what is in it.
    pub entries: Vec<Row>,
    /// Entries that were left out for want of room, in the folders that were looked at.
    pub omitted: usize,
}

/// One entry of a folder.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Row {
    /// Its path below the listed folder.
    pub path: String,
    /// What it is.
    #[serde(rename = "type")]
    pub kind: PathKind,
    /// Its size in bytes, for a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// What a link points to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// What is odd about it: a broken link, a name that no call can use, a folder that cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Tool for ListDir {
    type Args = Args;
    type Output = Output;

    fn spec(&self) -> Spec {
        Spec {
            name: "list_dir",
            title: "List folder",
            description: "Show what is in a folder: one line an entry, `type size path`, sorted by name; type is file, \
                          dir, link or other. Use it before guessing a path. Nothing is hidden or \
                          ignored; links are not entered. It says if there are more than 10000.",
            effect: Effect::Reads,
            paths: &["path"],
        }
    }

    async fn plan(&self, view: &View, args: Args) -> Result<Plan<Output>, ToolError> {
        let path = view.existing(args.path.as_deref().unwrap_or("."))?;
        let mut walk = Walk { view, rows: Vec::new(), omitted: 0, folders: 0 };
        walk.folder(&path, "", args.depth.unwrap_or(1)).map_err(|error| not_found(view, &path, error))?;
        Ok(Plan::Answer(Output { path: path.to_string(), entries: walk.rows, omitted: walk.omitted }))
    }

    fn observe(output: &Output) -> String {
        let mut text = String::with_capacity(output.entries.len() * 32);
        for row in &output.entries {
            row.write_line(&mut text);
        }
        text
    }

    fn notes(output: &Output) -> Vec<String> {
        let mut notes = Vec::new();
        if output.entries.is_empty() {
            notes.push("[The folder is empty.]".to_owned());
        }
        if output.omitted > 0 {
            notes.push(format!(
                "[At least {} more entries are not shown. List a folder below, or ask for less depth.]",
                output.omitted
            ));
        }
        notes
    }

    fn facts(output: &Output) -> Facts {
        vec![("entries", json!(output.entries.len())), ("omitted", json!(output.omitted))]
    }

    fn present(args: &Args) -> Card {
        Card::new(format!("List {}", args.path.as_deref().unwrap_or(".")))
    }

    fn present_result(output: &Output) -> Option<Card> {
        let shown = counted(output.entries.len(), "entry", "entries");
        let more = if output.omitted > 0 { ", and there are more" } else { "" };
        Some(Card::new(format!("Listed {}: {shown}{more}", output.path)))
    }
}

impl Row {
    fn write_line(&self, text: &mut String) {
        let kind = match self.kind {
            PathKind::File => "file",
            PathKind::Dir => "dir",
            PathKind::Link => "link",
            PathKind::Other => "other",
        };
        let slash = if self.kind == PathKind::Dir { "/" } else { "" };
        let size = self.size.map_or_else(|| "-".to_owned(), |size| size.to_string());
        // Writing to a string cannot fail.
        let _ = write!(text, "{kind} {size} {}{slash}", shown(&self.path));
        if let Some(target) = &self.target {
            let _ = write!(text, " -> {}", shown(target));
        }
        if let Some(note) = &self.note {
            let _ = write!(text, " ({note})");
        }
        text.push('\n');
    }
}

struct Walk<'a> {
    view: &'a View,
    rows: Vec<Row>,
    omitted: usize,
    folders: usize,
}

impl Walk<'_> {
    /// Lists `folder`, whose path below the listed one is `below`, `depth` levels deep.
    fn folder(&mut self, folder: &WsPath, below: &str, depth: u32) -> Result<(), ToolError> {
        self.view.check_cancelled()?;
        self.folders += 1;
        if self.folders.is_multiple_of(FOLDERS_A_NOTE) {
            self.view.progress(self.folders as f64, None, Some("listing"));
        }
        let room = self.view.limits().list_entries.saturating_sub(self.rows.len());
        let listing = self.view.list(folder, room)?;
        self.omitted += listing.total - listing.entries.len();
        for entry in listing.entries {
            if self.rows.len() == self.view.limits().list_entries {
                self.omitted += 1;
                continue;
            }
            let path = if below.is_empty() { entry.name.clone() } else { format!("{below}/{}", entry.name) };
            let enter = depth > 1 && entry.addressable && entry.kind == Some(Kind::Dir);
            let inside = enter.then(|| folder.join(&entry.name));
            self.rows.push(row(path.clone(), entry));
            if let Some(inside) = inside {
                self.enter(&inside, &path, depth - 1)?;
            }
        }
        Ok(())
    }

    /// A folder that cannot be read, or has gone meanwhile, is a row that says so, not the end of the listing.
    fn enter(&mut self, folder: &WsPath, below: &str, depth: u32) -> Result<(), ToolError> {
        let row = self.rows.len() - 1;
        if !self.view.may_enter(folder) {
            self.rows[row].note = Some("a rule keeps it from being listed".to_owned());
            return Ok(());
        }
        match self.folder(folder, below, depth) {
            Err(error) if error.code != ErrorCode::Cancelled => {
                self.rows[row].note = Some(format!("cannot be listed: {}", error.code));
                Ok(())
            }
            done => done,
        }
    }
}

fn row(path: String, entry: Entry) -> Row {
    let (kind, trouble) = match entry.kind {
        Some(Kind::Link) => (PathKind::Link, link_note(entry.leads_to)),
        Some(kind) => (kind.into(), None),
        None => (PathKind::Other, Some("cannot be looked at")),
    };
    let unusable = (!entry.addressable).then_some("its name is not UTF-8, so no call can name it");
    let notes: Vec<_> = [trouble, unusable].into_iter().flatten().collect();
    let note = (!notes.is_empty()).then(|| notes.join("; "));
    Row { path, kind, size: entry.size, target: entry.target, note }
}

fn link_note(leads_to: Option<Kind>) -> Option<&'static str> {
    match leads_to {
        Some(Kind::Dir) => Some("a folder"),
        Some(_) => None,
        None => Some("broken, or leads outside"),
    }
}
