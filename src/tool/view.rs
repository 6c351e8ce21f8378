//! What a tool may look at: the workspace, read-only, and what the call allows.

mod absolute;
mod settings;
mod walk;

use std::io::Read;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::model::change::ChangeSet;
use crate::model::error::{ErrorCode, ToolError, glimpse};
use crate::model::file_bytes::FileBytes;
use crate::model::id::ChangeId;
use crate::model::path::{PathError, WsPath, is_absolute};
use crate::text::names::look_alike;
use crate::tool::ask::Asker;
use crate::tool::log::LogSink;
use crate::workspace::{
    About, Depth, FileError, FileErrorKind, Kind, Listing, OpenFile, Promise, Root, Stat, Survey, Workspace,
};

pub use settings::{Limits, Settings, TextRules};
pub use walk::{Seen, Sieve, Strolled};

/// A read-only view of a workspace for one call.
#[derive(Clone)]
pub struct View {
    workspace: Arc<dyn Workspace>,
    settings: Settings,
    cancel: CancellationToken,
    progress: Option<Arc<dyn ProgressSink>>,
    history: Option<Arc<dyn History>>,
    sieve: Option<Arc<dyn Sieve>>,
    /// Long texts of the arguments that are in memory already.
    texts: Arc<[FileBytes]>,
    door: Door,
}

/// What a view knows of who called, and how they can be spoken to.
#[derive(Clone)]
pub(crate) struct Door {
    /// Who called, as the log writes it.
    pub(crate) caller: Arc<str>,
    /// Puts questions to them.
    pub(crate) asker: Arc<dyn Asker>,
    /// Takes messages for their log.
    pub(crate) log: Option<Arc<dyn LogSink>>,
}

/// What a caller has changed before, and what would take it back.
pub trait History: Send + Sync {
    /// What takes back `change`, or the caller's newest change.
    ///
    /// # Errors
    /// `invalid_arguments` if there is no such change, or nothing to undo.
    fn inverse(&self, change: Option<&str>) -> Result<Inverse, ToolError>;
}

/// What takes back a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inverse {
    /// The change.
    pub change: ChangeId,
    /// The steps that take it back, from what it left to what was before.
    pub set: ChangeSet,
    /// Where they cannot be done as one set: the sets of which it consists, to be done one after the other, and which change
    /// each takes back.
    pub series: Vec<(ChangeId, ChangeSet)>,
}

/// Where news of a long call goes.
pub trait ProgressSink: Send + Sync {
    /// `done` of `total` (if known) is done; `done` only ever grows.
    fn progress(&self, done: f64, total: Option<f64>, message: Option<&str>);
}

impl View {
    /// A view of `workspace` for a call that `cancel` takes back.
    pub(crate) fn new(
        workspace: Arc<dyn Workspace>,
        settings: Settings,
        cancel: CancellationToken,
        progress: Option<Arc<dyn ProgressSink>>,
        history: Option<Arc<dyn History>>,
        door: Door,
    ) -> Self {
        View { workspace, settings, cancel, progress, history, sieve: None, texts: Arc::default(), door }
    }

    /// The arguments of the call hold these texts.
    pub(crate) fn share(&mut self, texts: Vec<FileBytes>) {
        self.texts = texts.into();
    }

    /// `text` as the bytes of a file. Where it is an argument that the log keeps as well, both are one: nothing is held, or
    /// hashed, twice.
    #[must_use]
    pub fn file_bytes(&self, text: String) -> FileBytes {
        let same = |known: &&FileBytes| ***known == text.as_bytes();
        self.texts.iter().find(same).cloned().unwrap_or_else(|| text.into())
    }

    /// Who called, as the log writes it: `mcp:local`, `cli`.
    #[must_use]
    pub fn caller(&self) -> &str {
        &self.door.caller
    }

    pub(super) fn asker(&self) -> &dyn Asker {
        &*self.door.asker
    }

    pub(super) fn log_sink(&self) -> Option<&dyn LogSink> {
        self.door.log.as_deref()
    }

    /// How much one answer may hold.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.settings.limits
    }

    /// How text arguments meet the text of files.
    #[must_use]
    pub fn text_rules(&self) -> TextRules {
        self.settings.text
    }

    /// What the workspace guarantees.
    #[must_use]
    pub fn promise(&self) -> Promise {
        self.workspace.promise()
    }

    /// The path that `text` names. An absolute one is taken where it ends in the workspace's own folder.
    ///
    /// # Errors
    /// `outside_workspace` or `invalid_arguments`.
    pub fn path(&self, text: &str) -> Result<WsPath, ToolError> {
        let roots = self.workspace.roots();
        let relative = match WsPath::parse(text) {
            Err(PathError::Outside) if is_absolute(text) => absolute::inside(text, roots).ok_or(PathError::Outside),
            parsed => parsed,
        };
        let path = relative.map_err(|fault| path_refused(text, fault))?;
        if path.is_root() || roots.is_empty() || roots.iter().any(|root| path.is_within(&root.at)) {
            return Ok(path);
        }
        Err(in_no_root(text, roots))
    }

    /// The path that `text` names, spelled as what is there: a name in another Unicode form finds its file if nothing has
    /// exactly that name and one thing has it in another form. For everything but what is to be made.
    ///
    /// # Errors
    /// As [`View::path`].
    pub fn existing(&self, text: &str) -> Result<WsPath, ToolError> {
        Ok(self.spelled(self.path(text)?))
    }

    /// The path of something that is to be made: its folder spelled as it is there, its own name as in `text`.
    ///
    /// # Errors
    /// As [`View::path`].
    pub fn to_make(&self, text: &str) -> Result<WsPath, ToolError> {
        let path = self.path(text)?;
        Ok(match path.parent() {
            Some(folder) if !folder.as_str().is_ascii() => self.spelled(folder).join(path.name()),
            _ => path,
        })
    }

    /// `path` in the spelling of what is there.
    pub(crate) fn spelled(&self, path: WsPath) -> WsPath {
        if path.as_str().is_ascii() || self.settings.text == TextRules::Exact {
            return path;
        }
        let mut there = WsPath::root();
        for name in path.components() {
            let exact = there.join(name);
            there = if name.is_ascii() { exact } else { self.look_alike(&there, name).unwrap_or(exact) };
        }
        there
    }

    /// The one entry of `folder` that has `name` in another Unicode form, where nothing has it exactly.
    fn look_alike(&self, folder: &WsPath, name: &str) -> Option<WsPath> {
        let gone = |error: &FileError| matches!(error.kind, FileErrorKind::NotFound);
        if !self.workspace.stat(&folder.join(name)).is_err_and(|error| gone(&error)) {
            return None;
        }
        let entries = self.workspace.list(folder, usize::MAX).ok()?.entries;
        let mut alike = entries.iter().filter(|entry| entry.addressable && look_alike(&entry.name, name));
        match (alike.next(), alike.next()) {
            // One that is there under exactly this name is a broken link.
            (Some(only), None) if only.name != name => Some(folder.join(&only.name)),
            _ => None,
        }
    }

    /// Where the links on the way to `path` lead.
    #[must_use]
    pub fn real(&self, path: &WsPath) -> WsPath {
        self.workspace.real(path)
    }

    /// Whether `path` is one of the folders that the workspace is made of, or what holds them.
    #[must_use]
    pub fn is_root(&self, path: &WsPath) -> bool {
        path.is_root() || self.workspace.roots().iter().any(|root| root.at == *path)
    }

    /// What is at `path`.
    ///
    /// # Errors
    /// See [`Workspace::stat`].
    pub fn stat(&self, path: &WsPath) -> Result<Stat, FileError> {
        self.workspace.stat(path)
    }

    /// What is at `path`, a link itself and what it leads to.
    ///
    /// # Errors
    /// See [`Workspace::about`].
    pub fn about(&self, path: &WsPath) -> Result<About, FileError> {
        self.workspace.about(path)
    }

    /// Opens a regular file.
    ///
    /// # Errors
    /// See [`Workspace::open`].
    pub fn open(&self, path: &WsPath) -> Result<OpenFile, FileError> {
        self.workspace.open(path)
    }

    /// The entries of a folder.
    ///
    /// # Errors
    /// See [`Workspace::list`].
    pub fn list(&self, path: &WsPath, limit: usize) -> Result<Listing, FileError> {
        self.workspace.list(path, limit)
    }

    /// What `path` itself is: a link at its end is not followed.
    ///
    /// # Errors
    /// See [`Workspace::look`].
    pub fn look(&self, path: &WsPath) -> Result<Kind, FileError> {
        self.workspace.look(path)
    }

    /// Everything at `path` and below it, no link followed.
    ///
    /// # Errors
    /// See [`Workspace::survey`].
    pub fn survey(&self, path: &WsPath, depth: Depth) -> Result<Survey, FileError> {
        self.workspace.survey(path, depth)
    }

    /// All bytes of a file that is to be changed.
    ///
    /// # Errors
    /// `too_large` past [`Limits::edit_bytes`], and whatever opening it gives.
    pub fn read_whole(&self, path: &WsPath) -> Result<FileBytes, ToolError> {
        let limit = self.settings.limits.edit_bytes;
        let mut file = self.open(path)?;
        let mut bytes = Vec::with_capacity(usize::try_from(file.stat.size.min(limit)).unwrap_or(0) + 1);
        (&mut file.content)
            .take(limit.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(|error| FileErrorKind::Io(error).at(path))?;
        if bytes.len() as u64 > limit {
            return Err(ToolError::new(
                ErrorCode::TooLarge,
                format!(
                    "{path} is larger than the {limit} bytes that can be edited here (edit_bytes in the configuration). It \
                     is as it was. Ask the user to change it, or to raise the limit."
                ),
            )
            .with("limit", limit));
        }
        Ok(bytes.into())
    }

    /// What takes back `change`, or the caller's newest change.
    ///
    /// # Errors
    /// See [`History::inverse`]; `invalid_arguments` where no changes are recorded at all.
    pub fn inverse(&self, change: Option<&str>) -> Result<Inverse, ToolError> {
        let history = self.history.as_ref().ok_or_else(|| {
            ToolError::new(ErrorCode::InvalidArguments, "No changes are recorded here, so none can be undone.")
        })?;
        history.inverse(change)
    }

    /// The first bytes of a file.
    pub(crate) fn read_start(&self, path: &WsPath, most: u64) -> Result<Vec<u8>, FileError> {
        let mut bytes = Vec::new();
        let file = self.open(path)?;
        file.content.take(most).read_to_end(&mut bytes).map_err(|error| FileErrorKind::Io(error).at(path))?;
        Ok(bytes)
    }

    /// Ends the call early where its caller has taken it back. Call it between steps of long work.
    ///
    /// # Errors
    /// `cancelled`.
    pub fn check_cancelled(&self) -> Result<(), ToolError> {
        if self.cancel.is_cancelled() {
            return Err(View::taken_back());
        }
        Ok(())
    }

    /// `cancelled`.
    pub(crate) fn taken_back() -> ToolError {
        ToolError::new(ErrorCode::Cancelled, "The call was taken back. Nothing was changed.")
    }

    /// Resolves when the caller takes the call back.
    pub async fn cancelled(&self) {
        self.cancel.cancelled().await;
    }

    /// Tells the caller how far the work is, if they asked to be told. `done` only ever grows.
    pub fn progress(&self, done: f64, total: Option<f64>, message: Option<&str>) {
        if let Some(sink) = &self.progress {
            sink.progress(done, total, message);
        }
    }
}

/// Where there are several folders, a path begins with the name of one.
fn in_no_root(text: &str, roots: &[Root]) -> ToolError {
    let names: Vec<_> = roots.iter().map(|root| root.at.as_str()).collect();
    let (text, names) = (glimpse(text), names.join(", "));
    ToolError::new(
        ErrorCode::OutsideWorkspace,
        format!("{text} is in none of the folders here. Paths begin with the name of one: {names}."),
    )
    .with("path", text.into_owned())
}

fn path_refused(text: &str, fault: PathError) -> ToolError {
    match fault {
        PathError::Outside => ToolError::new(
            ErrorCode::OutsideWorkspace,
            format!(
                "{} leads outside the workspace{}. Use a path relative to the workspace's folder; list_dir with path \".\" \
                 shows it.",
                glimpse(text),
                if is_absolute(text) && absolute::climbs(text) { " (.. is followed only inside of it and along its own path)" } else { "" }
            ),
        ),
        PathError::Empty | PathError::Nul => ToolError::bad_argument(
            "path",
            format_args!("{fault}. Give a path relative to the workspace's folder, such as src/main.rs, or . for the folder itself."),
        ),
    }
    .with("path", glimpse(text).into_owned())
}
