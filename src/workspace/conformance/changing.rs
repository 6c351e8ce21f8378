//! Changing one file.

use std::io::Read;

use super::{Bench, Case, assert_kind, exactly, make_dir, write};
use crate::model::change::Expect;
use crate::model::version::Version;
use crate::workspace::{FileError, FileErrorKind, Kind};

pub(super) const CASES: &[Case] = &[
    ("a file is made where nothing is", creates),
    ("a file is replaced by what was expected of it", replaces),
    ("whatever is there is replaced", replaces_any),
    ("a file that is not the expected one stays", stale),
    ("a file that was to be absent stays", not_absent),
    ("a file that was to be there is not made", not_there),
    ("a reader keeps the bytes that it opened", snapshot),
    ("a folder is not overwritten", over_folder),
    ("a file is no parent", below_file),
    ("a missing folder is told", missing_parent),
    ("a folder is made, and made again", makes_folders),
    ("a folder is not made over a file", folder_over_file),
    ("bytes are kept as they are", bytes),
    ("nothing to do is done", nothing),
];

fn creates(bench: &Bench<'_>) {
    bench.done(vec![write("new.txt", Expect::Absent, "new")]);
    bench.holds("new.txt", "new");
    bench.done(vec![write("src/any.txt", Expect::Any, "any")]);
    bench.holds("src/any.txt", "any");
    bench.done(vec![write("src/empty", Expect::Absent, "")]);
    bench.holds("src/empty", "");
}

fn replaces(bench: &Bench<'_>) {
    bench.done(vec![write("top.txt", exactly("top\n"), "longer than it was\n")]);
    bench.holds("top.txt", "longer than it was\n");
    bench.done(vec![write("top.txt", exactly("longer than it was\n"), "")]);
    bench.holds("top.txt", "");
    bench.done(vec![write("top.txt", exactly(""), "again")]);
    bench.holds("top.txt", "again");
    assert_eq!(bench.names("."), ["src", "src-2", "top.txt"], "{}: nothing is left over", bench.name);
}

fn replaces_any(bench: &Bench<'_>) {
    bench.done(vec![write("src/main.rs", Expect::Any, "x")]);
    bench.holds("src/main.rs", "x");
}

fn stale(bench: &Bench<'_>) {
    let error = bench.refused(vec![write("top.txt", exactly("Top\n"), "mine")]);
    is_stale(bench, &error, Some("top\n"));
    bench.untouched();
}

fn not_absent(bench: &Bench<'_>) {
    let error = bench.refused(vec![write("top.txt", Expect::Absent, "mine")]);
    is_stale(bench, &error, Some("top\n"));
    bench.untouched();
}

fn not_there(bench: &Bench<'_>) {
    let error = bench.refused(vec![write("new.txt", exactly("old"), "mine")]);
    is_stale(bench, &error, None);
    bench.untouched();
}

fn is_stale(bench: &Bench<'_>, error: &FileError, now: Option<&str>) {
    match error.kind {
        FileErrorKind::Stale { now: told } => {
            assert_eq!(told, now.map(|text| Version::of(text.as_bytes())), "{}: what is there now", bench.name);
        }
        ref other => panic!("{}: it is to be stale, not {other:?}", bench.name),
    }
}

fn snapshot(bench: &Bench<'_>) {
    let opened = bench.workspace.open(&super::at("src/main.rs"));
    let Ok(mut file) = opened else { panic!("{}: {opened:?}", bench.name) };
    bench.done(vec![write("src/main.rs", Expect::Any, "something else")]);
    let mut text = String::new();
    let read = file.content.read_to_string(&mut text);
    assert!(read.is_ok(), "{}: {read:?}", bench.name);
    assert_eq!(text, "fn main() {}\n", "{}", bench.name);
}

fn over_folder(bench: &Bench<'_>) {
    for expect in [Expect::Any, Expect::Absent, exactly("")] {
        for path in ["src", "src/deep", "."] {
            let error = bench.refused(vec![write(path, expect, "x")]);
            assert_kind::<()>(bench.name, path, Err(error.kind), "NotAFile");
        }
    }
    bench.untouched();
}

fn below_file(bench: &Bench<'_>) {
    for change in [write("top.txt/x", Expect::Absent, ""), write("top.txt/x/y", Expect::Any, ""), make_dir("top.txt/x")]
    {
        let path = change.path().to_string();
        let error = bench.refused(vec![change]);
        assert_kind::<()>(bench.name, &path, Err(error.kind), "NotADirectory");
    }
    bench.untouched();
}

fn missing_parent(bench: &Bench<'_>) {
    let change = write("src/no/such/file.txt", Expect::Absent, "x");
    if bench.workspace.promise().folders_implied {
        bench.done(vec![change]);
        bench.holds("src/no/such/file.txt", "x");
        return;
    }
    let error = bench.refused(vec![change]);
    assert_eq!(error.path.as_str(), "src/no/such", "{}: which folder is missing", bench.name);
    assert_kind::<()>(bench.name, "src/no/such", Err(error.kind), "NotFound");
    let error = bench.refused(vec![make_dir("src/no/such")]);
    assert_eq!(error.path.as_str(), "src/no", "{}: which folder is missing", bench.name);
    assert_kind::<()>(bench.name, "src/no", Err(error.kind), "NotFound");
    bench.untouched();
}

fn makes_folders(bench: &Bench<'_>) {
    bench.done(vec![make_dir("."), make_dir("src"), make_dir("made")]);
    bench.done(vec![make_dir("made")]);
    if !bench.workspace.promise().folders_implied {
        assert!(matches!(bench.stat("made"), Ok(stat) if stat.kind == Kind::Dir), "{}", bench.name);
        assert!(bench.names("made").is_empty(), "{}", bench.name);
    }
}

fn folder_over_file(bench: &Bench<'_>) {
    let error = bench.refused(vec![make_dir("src/main.rs")]);
    assert_kind::<()>(bench.name, "src/main.rs", Err(error.kind), "AlreadyExists");
    bench.untouched();
}

fn bytes(bench: &Bench<'_>) {
    let text = "\u{feff}a\r\nb\0\r\r\n\u{e9}";
    bench.done(vec![write("odd", Expect::Absent, text)]);
    bench.holds("odd", text);
    let large = "0123456789abcdef".repeat(64 * 1024);
    bench.done(vec![write("large", Expect::Absent, &large)]);
    bench.done(vec![write("large", exactly(&large), &large[1..])]);
    assert!(bench.read("large").is_ok_and(|bytes| bytes == large.as_bytes()[1..]), "{}: a large file", bench.name);
}

fn nothing(bench: &Bench<'_>) {
    bench.done(Vec::new());
    bench.untouched();
}
