//! A repository's file that the user may trust: what it says, and what counts by trusting it.

use std::path::{Path, PathBuf};

use super::fault::ConfigError;
use super::merge::{Since, Standing};
use super::read::Text;
use super::{Config, FILE_NAME, Loaded, Trust};
use crate::model::path::WsPath;

/// The `toolgate.toml` of a repository as it was read once: what is shown is what is trusted.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Proposal {
    /// Where it lies.
    pub path: PathBuf,
    /// What it says.
    pub content: String,
    /// What counts only if it is trusted, a line each.
    pub counts: Vec<String>,
}

impl Proposal {
    /// Reads the file in `root`.
    ///
    /// # Errors
    /// There is none, or it has a fault.
    pub fn read(root: &Path) -> Result<Self, ConfigError> {
        let path = root.join(FILE_NAME);
        let text = Text::read(&path)?.ok_or_else(|| ConfigError::missing(&path))?;
        let mut alone = Loaded { config: Config::default(), left_out: Vec::new() };
        alone.take(&text, Standing::Stranger { since: Since::Never }, &WsPath::root())?;
        Ok(Proposal { path: text.path, content: text.content, counts: alone.left_out })
    }

    /// Whether exactly this is trusted already.
    ///
    /// # Errors
    /// That cannot be told.
    pub fn is_trusted(&self, trust: &Trust) -> Result<bool, ConfigError> {
        Ok(trust.since(&self.path, self.content.as_bytes())? == Since::Now)
    }

    /// Remembers that exactly this is trusted.
    ///
    /// # Errors
    /// It cannot be remembered.
    pub fn accept(&self, trust: &Trust) -> Result<(), ConfigError> {
        Ok(trust.remember(&self.path, self.content.as_bytes())?)
    }
}
