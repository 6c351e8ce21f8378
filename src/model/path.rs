//! A path inside a workspace, in the one spelling that everything below uses.

use std::borrow::Borrow;
use std::fmt;

/// A file or folder of a workspace: relative, `/`-separated, without `.`, `..`, empty parts or NUL.
///
/// `..` is resolved in the path's own text, never by the system, so a path that leaves the workspace
/// cannot be written down. The workspace's own folder is [`WsPath::root`], shown as `.`.
///
/// ```
/// use toolgate::WsPath;
/// assert_eq!(WsPath::parse("./src//a/../b.rs")?.as_str(), "src/b.rs");
/// assert!(WsPath::parse("../secret").is_err());
/// # Ok::<(), toolgate::PathError>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WsPath(String);

/// Why a text is not the path of anything in a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathError {
    /// The text is empty.
    #[error("the path is empty")]
    Empty,
    /// The text holds a NUL, which no file name can.
    #[error("the path holds a NUL character")]
    Nul,
    /// The path is absolute or climbs above the workspace.
    #[error("the path leads outside the workspace")]
    Outside,
}

impl WsPath {
    /// The workspace's own folder.
    #[must_use]
    pub const fn root() -> Self {
        WsPath(String::new())
    }

    /// Reads a relative path as a person or model writes it.
    ///
    /// # Errors
    /// See [`PathError`].
    pub fn parse(text: &str) -> Result<Self, PathError> {
        if text.is_empty() {
            return Err(PathError::Empty);
        }
        if text.contains('\0') {
            return Err(PathError::Nul);
        }
        if is_absolute(text) {
            return Err(PathError::Outside);
        }
        if is_canonical(text) {
            return Ok(WsPath(text.to_owned()));
        }
        let mut parts = Vec::new();
        for part in text.split(is_separator) {
            match part {
                "" | "." => {}
                ".." => {
                    parts.pop().ok_or(PathError::Outside)?;
                }
                name => parts.push(name),
            }
        }
        Ok(WsPath(parts.join("/")))
    }

    /// The path as text, empty for the root.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is the workspace's own folder.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The parts from the outside in; none for the root.
    pub fn components(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/').filter(|part| !part.is_empty())
    }

    /// The last part, empty for the root.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or_default()
    }

    /// The folder that holds this, or nothing for the root.
    #[must_use]
    pub fn parent(&self) -> Option<WsPath> {
        if self.is_root() {
            return None;
        }
        Some(match self.0.rfind('/') {
            Some(at) => WsPath(self.0[..at].to_owned()),
            None => WsPath::root(),
        })
    }

    /// `name` inside this folder. `name` is one part, as a directory listing gives it.
    #[must_use]
    pub fn join(&self, name: &str) -> WsPath {
        debug_assert!(!name.is_empty() && name != "." && name != ".." && !name.contains('/'));
        if self.is_root() { WsPath(name.to_owned()) } else { WsPath(format!("{}/{name}", self.0)) }
    }

    /// What of this path lies below `folder`: the root where it is `folder`, nothing where it is not within.
    #[must_use]
    pub fn below(&self, folder: &WsPath) -> Option<WsPath> {
        if folder.is_root() {
            return Some(self.clone());
        }
        let rest = self.0.strip_prefix(&folder.0)?;
        if rest.is_empty() { Some(WsPath::root()) } else { rest.strip_prefix('/').map(|rest| WsPath(rest.to_owned())) }
    }

    /// This path as it is called from where `folder` is.
    #[must_use]
    pub fn under(&self, folder: &WsPath) -> WsPath {
        match (folder.is_root(), self.is_root()) {
            (true, _) => self.clone(),
            (_, true) => folder.clone(),
            _ => WsPath(format!("{}/{}", folder.0, self.0)),
        }
    }

    /// Whether `self` is `folder` or lies below it.
    #[must_use]
    pub fn is_within(&self, folder: &WsPath) -> bool {
        folder.is_root() || self.0.strip_prefix(&folder.0).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

/// Whether `text` names a place from the top of the file system rather than from the workspace.
pub(crate) fn is_absolute(text: &str) -> bool {
    text.starts_with(is_separator) || (cfg!(windows) && text.as_bytes().get(1) == Some(&b':'))
}

/// Whether `c` parts a path: `/`, and `\` where the system says so.
pub(crate) fn is_separator(c: char) -> bool {
    c == '/' || (cfg!(windows) && c == '\\')
}

/// The common case, told without allocating: nothing to resolve.
fn is_canonical(text: &str) -> bool {
    text.split('/').all(|part| !matches!(part, "" | "." | "..")) && !(cfg!(windows) && text.contains('\\'))
}

impl fmt::Display for WsPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_root() { "." } else { &self.0 })
    }
}

impl fmt::Debug for WsPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string())
    }
}

impl Borrow<str> for WsPath {
    fn borrow(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_path() {
        for (text, want) in [
            ("a.txt", Ok("a.txt")),
            ("./a.txt", Ok("a.txt")),
            ("a//b/./c", Ok("a/b/c")),
            ("a/../b", Ok("b")),
            ("a/b/", Ok("a/b")),
            (".", Ok("")),
            ("a/..", Ok("")),
            ("..", Err(PathError::Outside)),
            ("a/../../b", Err(PathError::Outside)),
            ("/etc/passwd", Err(PathError::Outside)),
            ("", Err(PathError::Empty)),
            ("a\0.png", Err(PathError::Nul)),
            ("...", Ok("...")),
        ] {
            assert_eq!(WsPath::parse(text).as_ref().map(WsPath::as_str), want.as_ref().map(|w| *w), "{text:?}");
        }
    }

    #[test]
    fn parents_end_at_the_root() {
        let path = WsPath::parse("a/b").expect("a path");
        let parent = path.parent().expect("a parent");
        assert_eq!((parent.as_str(), path.name()), ("a", "b"));
        assert_eq!(parent.parent(), Some(WsPath::root()));
        assert_eq!(WsPath::root().parent(), None);
        let other = WsPath::parse("ab").expect("a path");
        assert!(path.is_within(&parent) && !other.is_within(&parent));
        assert_eq!(path.below(&parent), WsPath::parse("b").ok());
        assert_eq!((path.below(&path), path.below(&WsPath::root())), (Some(WsPath::root()), Some(path.clone())));
        assert_eq!((other.below(&parent), parent.below(&path)), (None, None));
        for (below, folder) in [("b", "a"), (".", "a/b"), ("a/b", ".")] {
            let path_of = |text: &str| WsPath::parse(text).expect("a path");
            assert_eq!(path_of(below).under(&path_of(folder)), path, "{below} under {folder}");
        }
    }
}
