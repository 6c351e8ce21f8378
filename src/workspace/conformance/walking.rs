//! Walking: everything once, what ignore files leave out, and where it ends.

use std::io::Read;
use std::sync::Mutex;

use super::{Bench, Case, assert_kind, at, write};
use crate::model::change::Expect;
use crate::workspace::{FileErrorKind, Flow, Found, Kind, Walk, Walked};

pub(super) const CASES: &[Case] = &[
    ("a walk shows everything below a folder once", shows_all),
    ("a walk begins at a folder or file below the root", begins_below),
    ("a walk of what is not there fails", missing),
    ("what a walk shows can be read", reads),
    ("ignored and hidden files are left out of a walk", leaves_out),
    ("the nearest ignore file has the last word", nearest_wins),
    ("what git ignores outside of a repository does not count in it", repositories),
    ("the ignore files above the start count", above_the_start),
    ("a walk does not enter what it is told to pass, and ends when told", obeys),
];

/// The paths of what a walk shows, sorted, folders with a slash; and what came of it.
fn walk(bench: &Bench<'_>, start: &str, include_ignored: bool) -> Result<(Vec<String>, Walked), FileErrorKind> {
    let shown = Mutex::new(Vec::new());
    let visit = |found: &Found<'_>| {
        let slash = if found.kind == Kind::Dir { "/" } else { "" };
        let start = if start == "." { "" } else { start };
        let whole = [start, found.below].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/");
        let is_start = found.path == start;
        assert!(is_start || found.path == whole, "{}: {} is not {whole}", bench.name, found.path);
        assert_eq!(Some(found.name()), found.path.rsplit('/').next(), "{}: the last part", bench.name);
        lock(&shown).push(format!("{}{slash}", found.path));
        Flow::On
    };
    let walked =
        bench.workspace.walk(&at(start), &Walk { include_ignored, visit: &visit }).map_err(|error| error.kind)?;
    let mut shown = lock(&shown).clone();
    shown.sort();
    Ok((shown, walked))
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// A walk from `start` must show exactly `want`, and leave out so many.
fn shows(bench: &Bench<'_>, start: &str, include_ignored: bool, want: &[&str], ignored: u64) {
    match walk(bench, start, include_ignored) {
        Ok((shown, walked)) => {
            assert_eq!(shown, want, "{}: what {start} shows", bench.name);
            let right = Walked { ignored, ..Walked::default() };
            assert_eq!(walked, right, "{}: what came of {start}", bench.name);
        }
        Err(kind) => panic!("{}: {start} cannot be walked: {kind}", bench.name),
    }
}

/// The files must be written, with the folders that they are in.
fn put(bench: &Bench<'_>, files: &[(&str, &str)]) {
    let mut changes = Vec::new();
    for (path, text) in files {
        let folders = path.match_indices('/').map(|(end, _)| &path[..end]);
        if !bench.workspace.promise().folders_implied {
            changes.extend(folders.map(super::make_dir));
        }
        changes.push(write(path, Expect::Any, text));
    }
    bench.done(changes);
}

fn shows_all(bench: &Bench<'_>) {
    shows(bench, ".", false, &["src-2", "src/", "src/deep/", "src/deep/er.txt", "src/main.rs", "top.txt"], 0);
}

fn begins_below(bench: &Bench<'_>) {
    shows(bench, "src", false, &["src/deep/", "src/deep/er.txt", "src/main.rs"], 0);
    shows(bench, "src/deep", false, &["src/deep/er.txt"], 0);
    shows(bench, "src/main.rs", false, &["src/main.rs"], 0);
    shows(bench, "top.txt", false, &["top.txt"], 0);
}

fn missing(bench: &Bench<'_>) {
    for path in ["no", "src/no", "sr"] {
        assert_kind(bench.name, path, walk(bench, path, false), "NotFound");
    }
}

fn reads(bench: &Bench<'_>) {
    let read = Mutex::new(Vec::new());
    let visit = |found: &Found<'_>| {
        match found.open() {
            Ok(mut body) => {
                let mut text = String::new();
                assert!(body.content.read_to_string(&mut text).is_ok(), "{}: {}", bench.name, found.path);
                assert_eq!(body.size, text.len() as u64, "{}: the size of {}", bench.name, found.path);
                lock(&read).push((found.path.to_owned(), text));
            }
            Err(kind) => {
                assert_eq!(found.kind, Kind::Dir, "{}: {}: {kind}", bench.name, found.path);
                assert!(matches!(kind, FileErrorKind::NotAFile), "{}: {}: {kind}", bench.name, found.path);
            }
        }
        Flow::On
    };
    let walked = bench.workspace.walk(&at("."), &Walk { include_ignored: false, visit: &visit });
    assert!(walked.is_ok(), "{}: {walked:?}", bench.name);
    let mut read = lock(&read).clone();
    read.sort();
    let seed = bench.seed.iter().map(|(path, text)| (path.to_string(), String::from_utf8_lossy(text).into_owned()));
    assert_eq!(read, seed.collect::<Vec<_>>(), "{}", bench.name);
}

fn leaves_out(bench: &Bench<'_>) {
    put(
        bench,
        &[
            (".gitignore", "\u{feff}# a comment\n*.log\n/out/\nsrc/deep\n\n[broken\n"),
            (".hidden/file", ""),
            ("a.log", ""),
            ("out/x", ""),
            ("src/out", ""),
            ("src/b.log", ""),
        ],
    );
    // Ignored or hidden: .gitignore, .hidden/, a.log, out/, src/deep/, src/b.log
    shows(bench, ".", false, &["src-2", "src/", "src/main.rs", "src/out", "top.txt"], 6);
    let all = [
        ".gitignore",
        ".hidden/",
        ".hidden/file",
        "a.log",
        "out/",
        "out/x",
        "src-2",
        "src/",
        "src/b.log",
        "src/deep/",
        "src/deep/er.txt",
        "src/main.rs",
        "src/out",
        "top.txt",
    ];
    shows(bench, ".", true, &all, 0);
    // What is named is walked, ignored or not.
    shows(bench, "out", false, &["out/x"], 0);
    shows(bench, ".hidden", false, &[".hidden/file"], 0);
    shows(bench, "a.log", false, &["a.log"], 0);
}

fn nearest_wins(bench: &Bench<'_>) {
    put(
        bench,
        &[
            (".gitignore", "*.log\n*.tmp\n"),
            (".ignore", "!a.tmp\n!.env\n"),
            (".env", ""),
            ("a.tmp", ""),
            ("sub/.gitignore", "!keep.log\na.tmp\n"),
            ("sub/keep.log", ""),
            ("sub/other.log", ""),
            ("sub/a.tmp", ""),
            ("all/.gitignore", "*\n!*.*\n!*/\n"),
            ("all/plain", ""),
            ("all/in/m.c", ""),
            ("all/in/plain", ""),
        ],
    );
    // Left out: .gitignore, .ignore, all/plain, all/in/plain, sub/other.log, and .gitignore in sub. In all that file is
    // taken in again by what it says itself, as in git.
    let want = [
        ".env",
        "a.tmp",
        "all/",
        "all/.gitignore",
        "all/in/",
        "all/in/m.c",
        "src-2",
        "src/",
        "src/deep/",
        "src/deep/er.txt",
        "src/main.rs",
        "sub/",
        "sub/a.tmp",
        "sub/keep.log",
        "top.txt",
    ];
    shows(bench, ".", false, &want, 6);
}

fn repositories(bench: &Bench<'_>) {
    put(
        bench,
        &[
            (".gitignore", "*.txt\n"),
            (".git/info/exclude", "src-2\n"),
            ("inner/.git/config", ""),
            ("inner/.gitignore", "*.log\n"),
            ("inner/a.txt", ""),
            ("inner/a.log", ""),
        ],
    );
    // Left out: .git/, .gitignore, src-2, top.txt, src/deep/er.txt, and in inner .git/, .gitignore, a.log.
    shows(bench, ".", false, &["inner/", "inner/a.txt", "src/", "src/deep/", "src/main.rs"], 8);
}

fn above_the_start(bench: &Bench<'_>) {
    put(bench, &[(".gitignore", "/src/deep/*.txt\n"), ("src/.ignore", "main.*\n"), ("src/deep/b.md", "")]);
    shows(bench, "src/deep", false, &["src/deep/b.md"], 1);
    shows(bench, "src", false, &["src/deep/", "src/deep/b.md"], 3);
}

fn obeys(bench: &Bench<'_>) {
    let count = |flow: Flow, of: &str| {
        let shown = Mutex::new(0);
        let visit = |found: &Found<'_>| {
            *lock(&shown) += 1;
            if found.path == of { flow } else { Flow::On }
        };
        let walked = bench.workspace.walk(&at("."), &Walk { include_ignored: false, visit: &visit });
        let ended = walked.is_ok_and(|walked| walked.ended);
        let shown = *lock(&shown);
        (shown, ended)
    };
    assert_eq!(count(Flow::Past, "src"), (3, false), "{}: what is passed", bench.name);
    assert_eq!(count(Flow::On, "src"), (6, false), "{}: what is not", bench.name);
    assert!(count(Flow::End, "top.txt").1, "{}: the end", bench.name);
}
