//! One glob as in `.gitignore`, held against paths: which files a search or a find is about.

use ignore::Match;
use ignore::overrides::{Override, OverrideBuilder};

/// A glob as in `.gitignore`, relative to a folder.
///
/// Without a slash it is matched against names at any depth, with one against the whole path from the folder on. `*` and `?`
/// stop at a slash, `**` does not; `{a,b}` stands for either. One that ends with a slash is about folders only, one that
/// begins with `!` about everything else.
///
/// ```
/// use toolgate::text::glob::Glob;
/// let glob = Glob::new("src/**/*.{rs,toml}")?;
/// assert!(glob.hits("src/a/b.rs", false) && !glob.hits("tests/a.rs", false));
/// assert!(Glob::new("!*.rs")?.hits("a.c", false));
/// # Ok::<(), toolgate::text::glob::GlobFault>(())
/// ```
#[derive(Debug, Clone)]
pub struct Glob {
    wanted: Override,
    /// It says what is not wanted.
    inverse: bool,
    folders: bool,
}

/// Why a text is no glob.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct GlobFault(String);

/// No file system has longer paths.
const MOST_BYTES: usize = 4096;

impl Glob {
    /// Reads a glob.
    ///
    /// # Errors
    /// It can match nothing, or cannot be read.
    pub fn new(text: &str) -> Result<Self, GlobFault> {
        let fault = |what: &str| Err(GlobFault(what.to_owned()));
        let inverse = text.starts_with('!');
        let bare = text.strip_prefix('!').unwrap_or(text);
        let bare = bare.strip_prefix("./").unwrap_or(bare);
        if bare.trim_matches('/').is_empty() {
            return fault("names nothing. Write what to match, such as **/*.rs");
        }
        if bare.len() > MOST_BYTES {
            return fault("is longer than any path. Write a shorter one");
        }
        if bare.contains('\0') {
            return fault("holds a NUL, which no path does. Leave it out");
        }
        if bare.split('/').any(|part| matches!(part, "." | "..")) {
            return fault("has a part . or .., which no path has. Give the folder as path, and a glob relative to it");
        }
        let mut builder = OverrideBuilder::new("");
        // What git reads as a comment is a name here.
        let sign = if inverse { "!" } else { "" };
        let escape = if !inverse && bare.starts_with(['#', '!']) { "\\" } else { "" };
        let built = builder.add(&format!("{sign}{escape}{bare}")).and_then(|builder| builder.build());
        let wanted = built.map_err(|error| match error {
            ignore::Error::Glob { err, .. } => GlobFault(format!("cannot be read: {err}")),
            other => GlobFault(format!("cannot be read: {other}")),
        })?;
        Ok(Glob { wanted, inverse, folders: bare.ends_with('/') })
    }

    /// Whether it is about what is at `path`, relative to the glob's folder.
    #[must_use]
    pub fn hits(&self, path: &str, is_dir: bool) -> bool {
        match self.wanted.matched(path, is_dir) {
            Match::Whitelist(_) => true,
            Match::Ignore(_) => false,
            Match::None => self.inverse,
        }
    }

    /// Whether it takes out the folder at `path` with all that is in it.
    #[must_use]
    pub fn takes_out(&self, path: &str) -> bool {
        self.inverse && self.wanted.matched(path, true).is_ignore()
    }

    /// Whether it is about folders only.
    #[must_use]
    pub fn is_about_folders(&self) -> bool {
        self.folders && !self.inverse
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_hit_what_git_would() {
        for (glob, hit, spared) in [
            ("*.rs", &["a.rs", "x/y/a.rs", ".rs"][..], &["a.rsx", "rs", "a.RS"][..]),
            ("src/*.rs", &["src/a.rs"], &["src/x/a.rs", "x/src/a.rs", "a.rs"]),
            ("src/**/*.rs", &["src/a.rs", "src/x/y/a.rs"], &["lib/a.rs"]),
            ("/a", &["a"], &["x/a"]),
            ("./a", &["a", "x/a"], &["b"]),
            ("**/x/**", &["x/a", "y/x/a/b"], &["x", "y/a"]),
            ("*.{js,ts}", &["a.js", "d/a.ts"], &["a.css"]),
            ("[ab]?.txt", &["a1.txt", "bx.txt"], &["c1.txt", "a.txt"]),
            ("#todo", &["#todo"], &["todo"]),
            ("!*.rs", &["a.c", "x/a.c"], &["a.rs", "x/a.rs"]),
            ("\u{4e16}*", &["\u{4e16}\u{754c}"], &["a"]),
            ("a b", &["a b"], &["a", "b"]),
            ("\\*", &["*"], &["a"]),
        ] {
            let made = Glob::new(glob).unwrap_or_else(|fault| panic!("{glob}: {fault}"));
            assert!(hit.iter().all(|path| made.hits(path, false)), "{glob} hits {hit:?}");
            assert!(!spared.iter().any(|path| made.hits(path, false)), "{glob} spares {spared:?}");
        }
    }

    #[test]
    fn a_slash_at_the_end_is_about_folders() {
        let glob = Glob::new("src/").expect("a glob");
        assert!(glob.is_about_folders() && glob.hits("x/src", true) && !glob.hits("x/src", false));
        let glob = Glob::new("!target/").expect("a glob");
        assert!(!glob.is_about_folders() && glob.takes_out("target") && glob.takes_out("x/target"));
        assert!(glob.hits("target", false) && !glob.takes_out("src"));
    }

    #[test]
    fn what_can_match_nothing_is_refused() {
        for text in ["", "!", "/", "./", "a/../b", "../a", "a\0b", "[a", "{a", "a{b"] {
            assert!(Glob::new(text).is_err(), "{text:?}");
        }
        assert!(Glob::new(&"a".repeat(5000)).is_err());
    }
}
