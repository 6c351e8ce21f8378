//! Why a configuration is not taken: where, what is wrong, and what was probably meant.

use std::path::Path;

use super::trust::TrustError;
use crate::model::error::glimpse;
use crate::tool::near::nearest;

/// A configuration is not taken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A file has a fault.
    #[error("{at}: {what}")]
    Fault {
        /// The file, the line and the column.
        at: String,
        /// What is wrong, and what to write instead.
        what: String,
    },
    /// A file cannot be read.
    #[error("the configuration {path} cannot be read: {why}")]
    Unreadable {
        /// The file.
        path: String,
        /// Why.
        why: String,
    },
    /// What was trusted cannot be told.
    #[error(transparent)]
    Trust(#[from] TrustError),
}

impl ConfigError {
    pub(super) fn missing(path: &Path) -> Self {
        ConfigError::Unreadable { path: path.display().to_string(), why: "there is no such file".to_owned() }
    }

    /// The fault of a file that the user may not have written themselves.
    pub(super) fn in_repository(self) -> Self {
        match self {
            ConfigError::Fault { at, what } => {
                let why = "this file came with the folder that is served, and what it forbids would not hold; \
                           correct or remove it";
                ConfigError::Fault { at, what: format!("{what} ({why})") }
            }
            other => other,
        }
    }

    /// What the reader of TOML found in `text`.
    pub(super) fn of_toml(path: &Path, text: &str, error: &toml::de::Error) -> Self {
        let start = error.span().map_or(0, |span| span.start);
        ConfigError::Fault { at: at(path, text, start), what: words(error.message()) }
    }
}

/// The place of a byte of `text`, as editors and terminals take it.
pub(super) fn at(path: &Path, text: &str, byte: usize) -> String {
    let before = text.get(..byte).unwrap_or(text);
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    format!("{}:{}:{column}", path.display(), line(text, byte))
}

/// The line of a byte of `text`, from 1.
pub(super) fn line(text: &str, byte: usize) -> usize {
    text.get(..byte).unwrap_or(text).matches('\n').count() + 1
}

/// What serde says about a name it does not know, with the one that was probably meant.
fn words(message: &str) -> String {
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    for (begins, kind) in [("unknown field `", "key"), ("unknown variant `", "value")] {
        if let ([odd, known @ ..], true) = (quoted.as_slice(), message.starts_with(begins)) {
            let meant = nearest(odd, known.iter().copied()).map(|name| format!("; did you mean {name}?"));
            let meant = meant.unwrap_or_else(|| format!("; there may be {}", known.join(", ")));
            return format!("unknown {kind} {}{meant}", glimpse(odd));
        }
    }
    message.trim_end().to_owned()
}
