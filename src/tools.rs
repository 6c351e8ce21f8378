//! The built-in tools, one file each.

pub mod delete_path;
mod edit;
pub mod file_info;
pub mod find_files;
pub mod list_dir;
pub mod make_dir;
pub mod move_path;
mod naming;
pub mod patch_file;
pub mod patch_files;
pub mod read_file;
pub mod search_files;
pub mod todo_write;
pub mod undo_change;
mod walking;
pub mod write_file;

use schemars::JsonSchema;
use serde::Serialize;

use crate::model::change::Change;
use crate::model::error::{ErrorCode, ToolError};
use crate::model::path::WsPath;
use crate::model::version::Version;
use crate::text::encoding::NotText;
use crate::text::names;
use crate::tool::registry::{RegisterError, Registry};
use crate::tool::view::{TextRules, View};
use crate::workspace::{FileErrorKind, Kind};

/// How many names of a folder a missing one is compared with.
const NAMES_COMPARED: usize = 10_000;

/// Adds every built-in tool to `registry`.
///
/// # Errors
/// A tool of the same name is there already.
pub fn register(registry: &mut Registry) -> Result<(), RegisterError> {
    register_file_tools(registry)?;
    registry.register(make_dir::MakeDir)?;
    registry.register(todo_write::TodoWrite)?;
    registry.register(undo_change::UndoChange)
}

/// Adds the tools that need nothing but files: where a call stands alone there is nothing to plan and nothing to undo,
/// and where folders exist by the files in them, none to make.
///
/// # Errors
/// A tool of the same name is there already.
pub fn register_file_tools(registry: &mut Registry) -> Result<(), RegisterError> {
    register_looking(registry)?;
    registry.register(delete_path::DeletePath)?;
    registry.register(move_path::MovePath)?;
    registry.register(patch_file::PatchFile)?;
    registry.register(patch_files::PatchFiles)?;
    registry.register(write_file::WriteFile)
}

/// Adds the tools that look at files and change nothing.
///
/// # Errors
/// A tool of the same name is there already.
pub fn register_looking(registry: &mut Registry) -> Result<(), RegisterError> {
    registry.register(file_info::FileInfo)?;
    registry.register(find_files::FindFiles)?;
    registry.register(list_dir::ListDir)?;
    registry.register(read_file::ReadFile::default())?;
    registry.register(search_files::SearchFiles)
}

/// Tells a model that a file is not text that these tools can keep whole.
fn not_text(path: &WsPath, size: u64, kind: Option<&str>, fault: NotText) -> ToolError {
    let error = match fault {
        NotText::Binary { nul_at } => {
            let what = kind.map_or_else(|| "a binary file".to_owned(), |kind| format!("a binary file ({kind})"));
            ToolError::new(
                ErrorCode::BinaryFile,
                format!(
                    "{path} is {what}: NUL at byte {nul_at}, {size} bytes. These tools read and change text only, \
                     and it is as it was. Work on the text it is made from, or ask the user."
                ),
            )
            .with("nul_at", nul_at)
        }
        NotText::Unsupported { bad_at } => ToolError::new(
            ErrorCode::UnsupportedEncoding,
            format!(
                "{path} is neither UTF-8 nor UTF-16 with a byte order mark (byte {bad_at}, {size} bytes). It is as it \
                 was, since guessing would damage it. Ask the user to convert it to UTF-8 first."
            ),
        )
        .with("bad_at", bad_at),
        NotText::Utf32 => ToolError::new(
            ErrorCode::UnsupportedEncoding,
            format!(
                "{path} is UTF-32 ({size} bytes); these tools read and change UTF-8, and UTF-16 with a byte order mark. It \
                 is as it was. Ask the user to convert it to UTF-8 first."
            ),
        ),
    };
    let error = error.with("path", path.to_string()).with("size", size);
    match kind {
        Some(kind) => error.with("kind", kind),
        None => error,
    }
}

/// Refuses a call that rests on another version of the file than the one that is there.
fn check_expected(path: &WsPath, expected: Option<&str>, now: Option<Version>) -> Result<(), ToolError> {
    let Some(expected) = expected else { return Ok(()) };
    let expected: Version = expected.parse().map_err(|fault| {
        ToolError::bad_argument("expected_version", format_args!("{fault}. Leave it out if you do not have one."))
    })?;
    if Some(expected) == now {
        return Ok(());
    }
    let there = now.map_or_else(|| "there is no such file".to_owned(), |now| format!("its version is {now}"));
    Err(ToolError::new(
        ErrorCode::StaleVersion,
        format!(
            "{path} is not at version {expected}: {there}. Read it again, then redo the change on what it says now."
        ),
    )
    .with("path", path.to_string())
    .with("current_version", now.map(|now| now.to_string())))
}

/// The steps that make the missing folders above `path`, from the outside in.
fn missing_folders(view: &View, path: &WsPath) -> Result<Vec<Change>, ToolError> {
    let mut steps = Vec::new();
    if view.promise().folders_implied {
        return Ok(steps);
    }
    let mut folder = path.parent();
    while let Some(missing) = folder.filter(|folder| !folder.is_root()) {
        match view.stat(&missing) {
            Ok(stat) if stat.kind == Kind::Dir => break,
            Ok(_) => return Err(FileErrorKind::NotADirectory.at(&missing).into()),
            Err(error) if matches!(error.kind, FileErrorKind::NotFound) => {}
            Err(error) => return Err(error.into()),
        }
        // A folder cannot be made where a link is, even if that leads nowhere.
        if matches!(view.look(&missing), Ok(Kind::Link)) {
            return Err(broken_link(view, &missing).unwrap_or_else(|| FileErrorKind::AlreadyExists.at(&missing).into()));
        }
        folder = missing.parent();
        steps.push(Change::MakeDir { path: missing });
    }
    steps.reverse();
    Ok(steps)
}

/// What is at a path, as results tell it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the words say it")]
pub enum PathKind {
    File,
    Dir,
    Link,
    Other,
}

impl From<Kind> for PathKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::File => PathKind::File,
            Kind::Dir => PathKind::Dir,
            Kind::Link => PathKind::Link,
            Kind::Other => PathKind::Other,
        }
    }
}

/// Tells of the link at `path`, or on the way there, that leads to nothing; nothing if no link is to blame.
fn broken_link(view: &View, path: &WsPath) -> Option<ToolError> {
    let ways = std::iter::successors(Some(path.clone()), WsPath::parent).filter(|way| !way.is_root());
    let way = ways.into_iter().find(|way| matches!(view.look(way), Ok(Kind::Link)))?;
    if view.stat(&way).is_ok() {
        return None;
    }
    let target = view.about(&way).ok()?.target?;
    let message = format!(
        "{way} is a link to {}, and nothing is there. {}",
        shown(&target),
        if way == *path {
            "Make what it points to, or take the link away with delete_path."
        } else {
            "Choose another path, or take the link away with delete_path first."
        }
    );
    Some(
        ToolError::new(ErrorCode::FileNotFound, message)
            .with("path", path.to_string())
            .with("link", way.to_string())
            .with("target", target),
    )
}

/// What something is, in a word for people and models.
fn kind_word(kind: Kind) -> &'static str {
    match kind {
        Kind::File => "file",
        Kind::Dir => "folder",
        Kind::Link => "link",
        Kind::Other => "special file",
    }
}

/// Refuses NUL in text that would make a file these tools could not read again (B063).
fn check_no_nul(field: &str, text: &str) -> Result<(), ToolError> {
    match text.find('\0') {
        None => Ok(()),
        Some(at) => Err(ToolError::bad_argument(
            field,
            format_args!("holds a NUL character at byte {at}, which would make the file binary. Leave it out."),
        )),
    }
}

/// A path that keeps to its line: quoted and escaped if it holds control characters (B088).
fn shown(path: &str) -> String {
    if path.contains(char::is_control) { serde_json::Value::from(path).to_string() } else { path.to_owned() }
}

/// The same error; where nothing is at the path, with what may have been meant: a link that leads nowhere, another Unicode
/// form, another case, a slip of the pen.
fn not_found(view: &View, path: &WsPath, error: ToolError) -> ToolError {
    if error.code != ErrorCode::FileNotFound || view.text_rules() == TextRules::Exact {
        return error;
    }
    if let Some(broken) = broken_link(view, path) {
        return broken;
    }
    let Some(folder) = path.parent() else { return error };
    let Ok(listing) = view.list(&folder, NAMES_COMPARED) else { return error };
    let names = listing.entries.iter().filter(|entry| entry.addressable).map(|entry| entry.name.as_str());
    let Some(meant) = names::most_like(path.name(), names) else { return error };
    let meant = folder.join(meant);
    ToolError {
        message: format!(
            "Nothing is at {path}. Did you mean {meant}? List the folder with list_dir to see what is there."
        ),
        ..error
    }
    .with("did_you_mean", meant.to_string())
}
