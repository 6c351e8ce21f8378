//! `toolgate.toml`: what holds for a workspace, from its user and from whoever wrote the repository.
//!
//! Two files are read; both may be missing:
//!
//! - the user's, named on the command line or in their configuration folder. It counts in full.
//! - `toolgate.toml` in the workspace's own folder. Whoever wrote that repository wrote it, so until the user trusts
//!   exactly these bytes (`toolgate trust`) only what is stricter counts: rules that deny or ask, `read_only = true`,
//!   `protect_git = true`, a stricter `otherwise`, `durability = "full"`. The rest is left out, and that is said.
//!
//! A workspace of several folders has a file in each: the paths in its rules are those below it, and all else holds for
//! the whole workspace.
//!
//! Merging: the rules and hooks of both files count, the user's first, and of all rules the strictest stands, whatever
//! the order. Of a single setting a trusted repository's value stands over the user's. A file with a fault stops the
//! start, since what it forbids would not hold otherwise.

mod fault;
mod file;
mod http;
mod merge;
mod policy;
mod proposal;
mod read;
mod restart;
mod trust;

use std::path::{Path, PathBuf};

pub use fault::ConfigError;
pub use file::{Approval, CodeSection, Description, Durability, LimitsSection, Results, Retention, schema};
pub use http::{Algorithm, HttpSection, OAuthSection, TlsSection};
pub use policy::Setup;
pub use proposal::Proposal;
pub use read::user_file;
pub use trust::{Trust, TrustError};

use crate::gate::command_hook::HookSpec;
use crate::gate::rules::{Decision, Rule};
use crate::model::folder::Folder;
use crate::model::mode::Mode;
use crate::model::path::WsPath;
use crate::tool::view::Settings;
use merge::Standing;
use read::Text;

/// The name of the file in a workspace's folder.
pub const FILE_NAME: &str = "toolgate.toml";

/// What holds for a workspace, once all files are read.
#[derive(Debug, Clone)]
pub struct Config {
    /// How results are sent.
    pub results: Results,
    /// Whether nothing may be changed.
    pub read_only: bool,
    /// What a change outlives once it is told as done.
    pub durability: Durability,
    /// Whether what is in a `.git` is protected from changes.
    pub protect_git: bool,
    /// What holds for calls that no rule hits.
    pub otherwise: Decision,
    /// How the tools reach a model.
    pub mode: Mode,
    /// How programs are run in code mode.
    pub code: CodeSection,
    /// How much one answer may hold and one change may touch.
    pub limits: LimitsSection,
    /// Other wordings of tools' descriptions.
    pub descriptions: Vec<Placed<(String, Description)>>,
    /// The arguments that the log keeps to itself, such as `write_file.content`.
    pub redact: Vec<Placed<String>>,
    /// How long what is kept for undoing stays.
    pub retention: Retention,
    /// How people are asked.
    pub approval: Approval,
    /// Serving over HTTP.
    pub http: HttpSection,
    /// The rules, the user's first.
    pub rules: Vec<Placed<Rule>>,
    /// The hooks, the user's first.
    pub hooks: Vec<Placed<HookSpec>>,
    /// Files that decide what may run. Where they lie in the workspace, they are guarded.
    pub sources: Vec<PathBuf>,
}

/// Something, and where it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed<T> {
    /// What is written there.
    pub value: T,
    /// For people: `/home/me/.config/toolgate/toolgate.toml:7:1`.
    pub at: String,
    /// For the model and the log: `line 7 of the user's configuration`.
    pub line: String,
    /// The folder of the file.
    pub folder: PathBuf,
}

/// Where configuration comes from.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// The file that was named on the command line; it must be there.
    pub named: Option<PathBuf>,
    /// The user's file, if none was named; it may be missing. See [`user_file`].
    pub usual: Option<PathBuf>,
    /// The workspace's folder, or folders: each may hold a file.
    pub folders: Vec<Folder>,
    /// What the user has trusted.
    pub trust: Option<Trust>,
}

/// A configuration, and what is not in it.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// What holds.
    pub config: Config,
    /// What the repository's file asks for and does not get, a line each, for standard error.
    pub left_out: Vec<String>,
}

impl Config {
    /// Reads and merges all files.
    ///
    /// # Errors
    /// A file cannot be read or has a fault.
    pub fn load(sources: &Sources) -> Result<Loaded, ConfigError> {
        let mut loaded = Loaded { config: Config::default(), left_out: Vec::new() };
        let user = match (&sources.named, &sources.usual) {
            (Some(named), _) => Some(Text::read(named)?.ok_or_else(|| ConfigError::missing(named))?),
            (None, Some(usual)) => Text::read(usual)?,
            (None, None) => None,
        };
        let user_path = user.as_ref().map(|user| user.path.clone());
        if let Some(user) = user {
            loaded.take(&user, Standing::User, &WsPath::root())?;
        }
        for Folder { at, path } in &sources.folders {
            let Some(text) = Text::read(&path.join(FILE_NAME))? else { continue };
            // Naming the repository's file is trusting it.
            if user_path.as_ref() != Some(&text.path) {
                let standing = Standing::of_repository(&text, sources.trust.as_ref());
                loaded.take(&text, standing, at).map_err(ConfigError::in_repository)?;
            }
        }
        Ok(loaded)
    }

    /// `settings` with the limits of this configuration.
    #[must_use]
    pub fn settings(&self, mut settings: Settings) -> Settings {
        self.limits.apply(&mut settings.limits);
        settings
    }
}

/// Remembers that the user trusts the `toolgate.toml` in `root` as it is now, and says what counts by that.
///
/// # Errors
/// There is no such file, it has a fault, or it cannot be remembered.
pub fn trust(root: &Path, trust: &Trust) -> Result<Vec<String>, ConfigError> {
    let proposal = Proposal::read(root)?;
    proposal.accept(trust)?;
    Ok(proposal.counts)
}

impl Default for Config {
    fn default() -> Self {
        Config {
            results: Results::default(),
            read_only: false,
            durability: Durability::default(),
            protect_git: true,
            otherwise: Decision::default(),
            mode: Mode::default(),
            code: CodeSection::default(),
            limits: LimitsSection::default(),
            descriptions: Vec::new(),
            redact: Vec::new(),
            retention: Retention::default(),
            approval: Approval::default(),
            http: HttpSection::default(),
            rules: Vec::new(),
            hooks: Vec::new(),
            sources: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests;
