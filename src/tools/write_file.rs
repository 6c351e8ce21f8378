//! `write_file`: a whole file from its content.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{check_expected, check_no_nul, missing_folders, naming, not_text};
use crate::model::change::{Change, ChangeSet, Expect};
use crate::model::error::{ErrorCode, ToolError};
use crate::model::file_bytes::FileBytes;
use crate::model::path::WsPath;
use crate::text::counted::counted;
use crate::text::encoding::{self, Encoding};
use crate::text::media;
use crate::tool::view::{TextRules, View};
use crate::tool::{Card, Effect, Facts, Intent, Plan, Spec, Tool};
use crate::workspace::{FileErrorKind, Kind};

/// The tool `write_file`.
#[derive(Debug)]
pub struct WriteFile;

/// What to write where.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// The file, such as src/main.rs.
    pub path: String,
    /// Everything the file shall hold, without line numbers.
    pub content: String,
    /// Make missing folders.
    #[serde(default)]
    pub create_dirs: Option<bool>,
    /// Only if the file is still at this version.
    #[serde(default)]
    pub expected_version: Option<String>,
}

/// What was written.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The file, as it was named.
    pub path: String,
    /// Whether the file is new.
    pub created: bool,
    /// Whether anything is different from before.
    pub changed: bool,
    /// The size of the file in bytes.
    pub size: u64,
    /// The version of the file now.
    pub version: String,
    /// What is worth knowing: a byte order mark that was kept, a name that another system refuses.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Tool for WriteFile {
    type Args = Args;
    type Output = Output;

    fn spec(&self) -> Spec {
        Spec {
            name: "write_file",
            title: "Write file",
            description: "Create a file, or replace ALL of an existing one. To change a part use patch_file. Before replacing a file, read all of it. content is written byte \
                          for byte. A missing folder is an error unless create_dirs is true. Mode, owner, byte order \
                          mark and UTF-16 of the file stay.",
            effect: Effect::Replaces { idempotent: true },
            paths: &["path"],
        }
    }

    async fn plan(&self, view: &View, args: Args) -> Result<Plan<Output>, ToolError> {
        let path = file_path(view, &args.path)?;
        if view.text_rules() == TextRules::Bridged {
            check_no_nul("content", &args.content)?;
        }
        let old = match view.stat(&path) {
            Ok(stat) if stat.kind == Kind::File => Some(view.read_whole(&path)?),
            Ok(_) => return Err(FileErrorKind::NotAFile.at(&path).into()),
            Err(error) if matches!(error.kind, FileErrorKind::NotFound) => None,
            Err(error) => return Err(error.into()),
        };
        check_expected(&path, args.expected_version.as_deref(), old.as_ref().map(FileBytes::version))?;
        match old {
            Some(old) => replace(view, &path, args, &old),
            None => create(view, &path, args),
        }
    }

    fn observe(output: &Output) -> String {
        format!("File written: {}", output.path)
    }

    fn notes(output: &Output) -> Vec<String> {
        output.notes.iter().map(|note| format!("[{note}]")).collect()
    }

    fn facts(output: &Output) -> Facts {
        vec![
            ("version", json!(output.version)),
            ("created", json!(output.created)),
            ("changed", json!(output.changed)),
            ("size", json!(output.size)),
        ]
    }

    fn present(args: &Args) -> Card {
        Card::new(format!("Write {} ({})", args.path, counted(args.content.len(), "byte", "bytes")))
    }

    fn present_result(output: &Output) -> Option<Card> {
        let Output { path, size, .. } = output;
        Some(Card::new(match (output.created, output.changed) {
            (true, _) => format!("Created {path}, {}", counted(*size, "byte", "bytes")),
            (false, true) => format!("Replaced {path}, {} now", counted(*size, "byte", "bytes")),
            (false, false) => format!("Left {path} as it was: it held exactly this"),
        }))
    }
}

/// The path of a file that may be made: not the workspace's folder, and not spelled as a folder.
fn file_path(view: &View, text: &str) -> Result<WsPath, ToolError> {
    let path = view.to_make(text)?;
    if path.is_root() || naming::names_a_folder(text) {
        return Err(ToolError::new(
            ErrorCode::NotAFile,
            format!("{text} names a folder. Give the path of a file, such as {}.", path.join("notes.txt")),
        )
        .with("path", text));
    }
    Ok(path)
}

fn replace(view: &View, path: &WsPath, args: Args, old: &FileBytes) -> Result<Plan<Output>, ToolError> {
    let mut notes = Vec::new();
    let content = match view.text_rules() {
        TextRules::Exact => view.file_bytes(args.content),
        TextRules::Bridged => {
            let encoding = encoding::decode(old)
                .map_err(|fault| {
                    let kind = media::kind(old).map(|media| media.name);
                    not_text(path, old.len() as u64, kind, fault)
                })?
                .encoding;
            notes.extend(kept(encoding));
            match encoding {
                Encoding::Utf8 => view.file_bytes(args.content),
                // A mark in the content is the one that the file has, and it has only one.
                other => encoding::encode(args.content.strip_prefix('\u{feff}').unwrap_or(&args.content), other).into(),
            }
        }
    };
    let output = output(args.path, false, content != *old, &content, notes);
    if !output.changed {
        let mut output = output;
        output.notes.push("The file held exactly this already; nothing was changed.".to_owned());
        return Ok(Plan::Answer(output));
    }
    let change = Change::Write { path: path.clone(), expect: Expect::Exactly(old.version()), content };
    Ok(Plan::Change { set: ChangeSet::new(vec![change]), intent: Intent::Write, output })
}

/// What the file keeps although `content` does not say it.
fn kept(encoding: Encoding) -> Option<String> {
    match encoding {
        Encoding::Utf8 => None,
        Encoding::Utf8Bom => Some("The file began with a UTF-8 byte order mark and still does.".to_owned()),
        Encoding::Utf16Le | Encoding::Utf16Be => {
            Some("The file is UTF-16 with a byte order mark and still is.".to_owned())
        }
    }
}

fn create(view: &View, path: &WsPath, args: Args) -> Result<Plan<Output>, ToolError> {
    let mut changes = folders_above(view, path, args.create_dirs.unwrap_or(false))?;
    let made: Vec<_> = changes.iter().map(Change::path).chain([path]).collect();
    let notes = naming::notes(view, &made);
    let content = view.file_bytes(args.content);
    let output = output(args.path, true, true, &content, notes);
    changes.push(Change::Write { path: path.clone(), expect: Expect::Absent, content });
    Ok(Plan::Change { set: ChangeSet::new(changes), intent: Intent::Write, output })
}

fn output(path: String, created: bool, changed: bool, content: &FileBytes, notes: Vec<String>) -> Output {
    let version = content.version().to_string();
    Output { path, created, changed, size: content.len() as u64, version, notes }
}

/// The steps that make the folders above `path`, where that is wanted; none if they are there.
fn folders_above(view: &View, path: &WsPath, create_dirs: bool) -> Result<Vec<Change>, ToolError> {
    let steps = missing_folders(view, path)?;
    match steps.first() {
        Some(first) if !create_dirs => Err(ToolError::new(
            ErrorCode::FileNotFound,
            format!(
                "The folder {} is not there, and write_file makes none by itself. Check the path with list_dir, or call \
                 again with create_dirs true.",
                first.path()
            ),
        )
        .with("path", first.path().to_string())),
        _ => Ok(steps),
    }
}
