//! Which folders can stand side by side in one workspace.

use std::path::{Path, PathBuf};

use crate::model::path::WsPath;
use crate::workspace::Root;
use crate::workspace::local::OpenError;
use crate::workspace::local::names::allowed;

/// No longer than this, since every path begins with it.
const LONGEST: usize = 64;

/// A folder's name as the start of paths: letters, digits, `-`, `_` and `.`, though not first.
pub(super) fn name(text: &str) -> Result<WsPath, OpenError> {
    let bad = || OpenError::BadName { name: text.to_owned() };
    let plain = text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    let begins = text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    if !plain || !begins || text.len() > LONGEST || allowed(text).is_err() {
        return Err(bad());
    }
    WsPath::parse(text).map_err(|_| bad())
}

/// Refuses two that cannot be told apart, or of which one lies in the other.
pub(super) fn check(one: &Root, other: &Root) -> Result<(), OpenError> {
    if one.at.as_str().eq_ignore_ascii_case(other.at.as_str()) {
        return Err(OpenError::SameName { name: other.at.to_string() });
    }
    let (Some(first), Some(second)) = (one.spellings.last(), other.spellings.last()) else { return Ok(()) };
    let nested = |inner: &str, outer: &str| {
        let (inner, outer) = (PathBuf::from(inner), PathBuf::from(outer));
        if Path::starts_with(&inner, &outer) { Err(OpenError::Nested { inner, outer }) } else { Ok(()) }
    };
    nested(second, first).and(nested(first, second))
}
