//! Which repositories' files the user trusts: exactly these bytes, in exactly this place.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::merge::Since;

/// What the user has trusted: a file with a line for each trusted configuration, its hash and its path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trust {
    file: PathBuf,
}

/// What the user has trusted cannot be told or remembered.
#[derive(Debug, thiserror::Error)]
#[error("{} cannot be {doing}: {source}", file.display())]
pub struct TrustError {
    file: PathBuf,
    doing: &'static str,
    source: std::io::Error,
}

impl Trust {
    /// Trust that is kept in `file`, which is made when there is something to remember. It belongs outside of every
    /// workspace.
    #[must_use]
    pub fn at(file: impl Into<PathBuf>) -> Self {
        Trust { file: file.into() }
    }

    /// Where it is kept.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Remembers a configuration as it is now, in place of what was remembered of it.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn remember(&self, path: &Path, content: &[u8]) -> Result<(), TrustError> {
        let name = name(path);
        let _alone = self.alone().map_err(|source| self.fault("locked", source))?;
        let mut lines: Vec<String> = self
            .lines()?
            .into_iter()
            .filter(|line| line.split_once(' ').map(|(_, rest)| rest) != Some(&*name))
            .collect();
        lines.push(format!("{} {name}", hash(path, content)));
        self.write(&(lines.join("\n") + "\n")).map_err(|source| self.fault("written", source))
    }

    /// Whether, and since when, a configuration is trusted.
    pub(super) fn since(&self, path: &Path, content: &[u8]) -> Result<Since, TrustError> {
        let (hash, name) = (hash(path, content), name(path));
        let lines = self.lines()?;
        let mut entries = lines.iter().filter_map(|line| line.split_once(' '));
        Ok(match entries.find(|(_, rest)| *rest == name) {
            Some((known, _)) if known == hash => Since::Now,
            Some(_) => Since::Before,
            None => Since::Never,
        })
    }

    #[expect(clippy::disallowed_methods, reason = "the user's own file, outside of workspaces")]
    fn lines(&self) -> Result<Vec<String>, TrustError> {
        match std::fs::read_to_string(&self.file) {
            Ok(text) => Ok(text.lines().map(str::to_owned).collect()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(self.fault("read", error)),
        }
    }

    /// Keeps other processes from remembering something meanwhile, until it is dropped: they would write over it.
    #[expect(clippy::disallowed_methods, reason = "the user's own file, outside of workspaces")]
    fn alone(&self) -> std::io::Result<std::fs::File> {
        std::fs::create_dir_all(self.folder())?;
        // The file itself is replaced, so it is none to hold on to.
        let lock = std::fs::File::create(self.file.with_extension("lock"))?;
        lock.lock()?;
        Ok(lock)
    }

    fn folder(&self) -> &Path {
        self.file.parent().unwrap_or(Path::new("."))
    }

    /// Old or new, never a half.
    #[expect(clippy::disallowed_methods, reason = "the user's own file, outside of workspaces")]
    fn write(&self, text: &str) -> std::io::Result<()> {
        let draft = self.file.with_extension(format!("{}.new", std::process::id()));
        let mut file = std::fs::File::create(&draft)?;
        let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
        written.and_then(|()| std::fs::rename(&draft, &self.file)).inspect_err(|_| {
            // The first error is the one that counts.
            let _ = std::fs::remove_file(&draft);
        })
    }

    fn fault(&self, doing: &'static str, source: std::io::Error) -> TrustError {
        TrustError { file: self.file.clone(), doing, source }
    }
}

/// The bytes and the place together: the same file elsewhere is another one.
fn hash(path: &Path, content: &[u8]) -> String {
    let mut hasher = blake3::Hasher::new();
    let place = path.as_os_str().as_encoded_bytes();
    hasher.update(&(place.len() as u64).to_le_bytes()).update(place).update(content);
    hasher.finalize().to_hex().to_string()
}

/// The path on one line.
fn name(path: &Path) -> String {
    format!("{path:?}")
}
