//! Patterns: globs for the names of tools and callers, and globs as in `.gitignore` for paths.

use std::borrow::Cow;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use unicode_normalization::UnicodeNormalization;

use super::fault::Wrong;
use crate::model::mode::RUN_CODE;
use crate::offer::prompt::GET_PROMPT;
use crate::offer::resource::{LIST_RESOURCES, READ_RESOURCE};
use crate::tool::registry::Registry;

/// Globs over names, where `*` stands for any text. One that begins with `!` takes names out again.
#[derive(Debug, Clone)]
pub(crate) struct Names {
    hit: GlobSet,
    spared: GlobSet,
}

impl Names {
    /// Reads the `patterns` of `key`.
    pub(crate) fn new(key: &'static str, patterns: &[String]) -> Result<Self, Wrong> {
        let (hit, spared) = compile(key, patterns, |pattern| Ok((pattern.to_owned(), false)))?;
        Ok(Names { hit, spared })
    }

    /// Whether `name` is one of them.
    pub(crate) fn hits(&self, name: &str) -> bool {
        self.hit.is_match(name) && !self.spared.is_match(name)
    }
}

/// Reads patterns over the names of tools. Each must match a tool of the `registry`, where that is known.
pub(crate) fn check_tools(key: &'static str, patterns: &[String], registry: Option<&Registry>) -> Result<Names, Wrong> {
    for pattern in patterns {
        let bare = pattern.strip_prefix('!').unwrap_or(pattern);
        let wrong = |why: String| Wrong::Pattern { key, pattern: pattern.clone(), why };
        if let Some(odd) = bare.chars().find(|c| !(c.is_ascii_alphanumeric() || "_.-*?[]{},!".contains(*c))) {
            return Err(wrong(format!("can match no tool: the name of a tool has no {odd:?}")));
        }
        let Some(registry) = registry else { continue };
        let alone = Names::new(key, std::slice::from_ref(&bare.to_owned()))?;
        // Whether programs are run is said when serving begins; a rule about it is right all the same.
        let others = [READ_RESOURCE, LIST_RESOURCES, GET_PROMPT, RUN_CODE];
        let mut names = registry.iter().map(|tool| tool.spec().name).chain(others);
        if !names.any(|name| alone.hits(name)) {
            let meant = registry.nearest(bare).map(|name| format!("; did you mean {name}?")).unwrap_or_default();
            return Err(wrong(format!("matches no tool{meant}")));
        }
    }
    Names::new(key, patterns)
}

/// The patterns that mean every path, the folder itself too.
pub(super) const EVERYTHING: [&str; 4] = ["*", "**", "**/*", "**/**"];

/// Globs over paths of the workspace, as in `.gitignore`: a pattern matches a file or folder and with it everything below;
/// one without a slash matches at any depth, one with a slash from the workspace's folder on; `*` and `?` do not match a
/// slash, `**` does. One that begins with `!` takes paths out again.
#[derive(Debug, Clone)]
pub(crate) struct Paths {
    hit: GlobSet,
    spared: GlobSet,
    /// Of each pattern the folders that it names in plain letters at its beginning.
    tops: Vec<String>,
    /// Whether a pattern stands for everything, the workspace's own folder too.
    everything: bool,
    folds_case: bool,
}

impl Paths {
    /// Reads the `patterns` of `key`.
    pub(crate) fn new(key: &'static str, patterns: &[String], folds_case: bool) -> Result<Self, Wrong> {
        let everything = patterns.iter().any(|pattern| EVERYTHING.contains(&pattern.as_str()));
        let (hit, spared) = compile(key, patterns, |pattern| {
            let glob = anchored(pattern)?;
            Ok((alike(&glob, folds_case).into_owned(), true))
        })?;
        let hitting = patterns.iter().filter(|pattern| !pattern.starts_with('!'));
        let globs = hitting.filter_map(|pattern| anchored(pattern).ok());
        let tops = globs.map(|glob| plain_top(&alike(&glob, folds_case)).to_owned()).collect();
        Ok(Paths { hit, spared, tops, everything, folds_case })
    }

    /// Whether something below `folder` could be hit.
    pub(crate) fn reach_into(&self, folder: &str) -> bool {
        let folder = alike(folder, self.folds_case);
        self.everything || self.tops.iter().any(|top| is_above(top, &folder) || is_above(&folder, top))
    }

    /// Whether `path` is hit, where everything above it is asked about by itself.
    pub(crate) fn hit_entry(&self, path: &str) -> bool {
        if self.everything {
            return self.hits(path);
        }
        self.hit.is_match(&*alike(path, self.folds_case)) && self.hits(path)
    }

    /// Whether `path`, in its canonical spelling, is one of them or lies below one.
    pub(crate) fn hits(&self, path: &str) -> bool {
        let path = alike(path, self.folds_case);
        let path = match &*path {
            "." => "",
            path => path,
        };
        let reaches = |set: &GlobSet| !path.is_empty() && ancestors(path).any(|part| set.is_match(part));
        (self.everything || reaches(&self.hit)) && !reaches(&self.spared)
    }
}

/// The folders that a glob names before its first wildcard: nothing if it could match anywhere.
fn plain_top(glob: &str) -> &str {
    match glob.find(['*', '?', '[', '{', '\\']) {
        None => glob,
        Some(wild) => glob[..wild].rfind('/').map_or("", |end| &glob[..end]),
    }
}

/// Whether `path` is `folder` or lies below it.
fn is_above(folder: &str, path: &str) -> bool {
    folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// `a/b/c`, `a/b`, `a`.
fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |path| path.rfind('/').map(|at| &path[..at]))
}

/// Text such that names that look the same are the same: on no file system can a person tell their Unicode forms apart.
fn alike(text: &str, folds_case: bool) -> Cow<'_, str> {
    match (folds_case, text.is_ascii()) {
        (true, _) => folded(text).into(),
        (false, true) => text.into(),
        (false, false) => text.nfc().collect::<String>().into(),
    }
}

/// Text such that names that a careless file system takes for one are one.
pub(crate) fn folded(text: &str) -> String {
    text.nfc().flat_map(char::to_lowercase).collect()
}

/// The glob for the whole path that a pattern means.
fn anchored(pattern: &str) -> Result<String, String> {
    let here = pattern.strip_prefix("./");
    let rest = here.unwrap_or(pattern);
    check_path(rest)?;
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    let anywhere = here.is_none() && !rest.contains('/');
    // What matches a folder matches what is in it, so that `docs/**` also means `docs` itself.
    let mut top = rest;
    while let Some(folder) = top.strip_suffix("/**").filter(|folder| !folder.is_empty() && *folder != "**") {
        top = folder;
    }
    Ok(if anywhere { format!("**/{top}") } else { top.to_owned() })
}

/// Refuses what no path of a workspace can look like.
fn check_path(pattern: &str) -> Result<(), String> {
    let drive = matches!(pattern.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
    let relative = "write it relative to the workspace's folder, such as secrets/** or **/*.env";
    if pattern.starts_with('/') || pattern.starts_with('~') || drive {
        return Err(format!("is absolute, which no path of a workspace is; {relative}"));
    }
    let slips = |pair: &[u8]| pair[0] == b'\\' && pair[1].is_ascii_alphanumeric();
    if pattern.ends_with('\\') || pattern.as_bytes().windows(2).any(slips) {
        return Err("has a backslash between folders; write / instead".to_owned());
    }
    if pattern.contains('\0') || pattern.trim() != pattern {
        return Err("begins or ends with a space, or holds a NUL".to_owned());
    }
    let trimmed = pattern.strip_suffix('/').unwrap_or(pattern);
    if trimmed.split('/').any(str::is_empty) {
        return Err("has an empty part, which no path has".to_owned());
    }
    if trimmed.split(['/', '{', ',', '}']).any(|part| matches!(part, "." | "..")) {
        return Err(format!("has a part . or .., which no path that is opened has; {relative}"));
    }
    Ok(())
}

/// The sets of what `patterns` hit and of what they take out again. `glob` makes a glob of a pattern, and says whether `*`
/// stops at a slash.
fn compile(
    key: &'static str,
    patterns: &[String],
    glob: impl Fn(&str) -> Result<(String, bool), String>,
) -> Result<(GlobSet, GlobSet), Wrong> {
    let (mut hit, mut spared, mut hits) = (GlobSetBuilder::new(), GlobSetBuilder::new(), 0_usize);
    for pattern in patterns {
        let wrong = |why: String| Wrong::Pattern { key, pattern: pattern.clone(), why };
        let bare = pattern.strip_prefix('!');
        let text = bare.unwrap_or(pattern);
        if text.trim().is_empty() {
            return Err(wrong("is empty, so it matches nothing".to_owned()));
        }
        let (text, stops) = glob(text).map_err(wrong)?;
        let built = GlobBuilder::new(&text).literal_separator(stops).backslash_escape(true).build();
        let built = built.map_err(|error| wrong(format!("cannot be read: {}", error.kind())))?;
        if bare.is_some() {
            spared.add(built);
        } else {
            hit.add(built);
            hits += 1;
        }
    }
    match (hits, patterns) {
        (0, []) => Err(Wrong::Nothing { key, holds: "is empty" }),
        (0, _) => Err(Wrong::Nothing { key, holds: "only takes out" }),
        _ => {
            let built = |set: GlobSetBuilder| {
                let pattern = patterns.join(", ");
                set.build().map_err(|error| Wrong::Pattern { key, pattern, why: format!("is too large: {error}") })
            };
            Ok((built(hit)?, built(spared)?))
        }
    }
}
