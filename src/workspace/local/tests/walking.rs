//! Walks of what only a disk can hold.

use std::collections::HashSet;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::sync::Mutex;

use super::*;
use crate::workspace::{Flow, Found, Kind, Walk, Walked};

/// What is shown, with its kind, and what came of it.
fn walk(bed: &Bed, start: &str) -> (HashSet<(String, Kind)>, Walked) {
    let shown = Mutex::new(HashSet::new());
    let visit = |found: &Found<'_>| {
        assert!(shown.lock().expect("a set").insert((found.path.to_owned(), found.kind)), "{} twice", found.path);
        Flow::On
    };
    let walked = bed.local.walk(&ws(start), &Walk { include_ignored: false, visit: &visit }).expect("a walk");
    (shown.into_inner().expect("a set"), walked)
}

fn set(entries: &[(&str, Kind)]) -> HashSet<(String, Kind)> {
    entries.iter().map(|(path, kind)| ((*path).to_owned(), *kind)).collect()
}

#[test]
fn no_link_is_followed() {
    let bed = Bed::with(&[("a/file", "1")]);
    for (link, to) in
        [("a/loop", ".."), ("out", "../out"), ("secret", "../out/secret"), ("file", "a/file"), ("gone", "no")]
    {
        symlink(to, bed.at(link)).expect("a link");
    }
    let (shown, walked) = walk(&bed, ".");
    let links = [
        ("a/loop", Kind::Link),
        ("out", Kind::Link),
        ("secret", Kind::Link),
        ("file", Kind::Link),
        ("gone", Kind::Link),
    ];
    assert_eq!(shown, &set(&[("a", Kind::Dir), ("a/file", Kind::File)]) | &set(&links));
    assert_eq!(walked, Walked::default());
    let opened = Mutex::new(Vec::new());
    let visit = |found: &Found<'_>| {
        opened.lock().expect("a list").push((found.path.to_owned(), found.open().is_ok()));
        Flow::On
    };
    bed.local.walk(&ws("."), &Walk { include_ignored: true, visit: &visit }).expect("a walk");
    for (path, opens) in opened.into_inner().expect("a list") {
        assert_eq!(opens, path == "a/file", "{path}");
    }
    for start in ["out", "a/loop", "a/loop/a"] {
        let walked = bed.local.walk(&ws(start), &Walk { include_ignored: true, visit: &|_| Flow::On });
        assert!(walked.is_err() || start == "out" || start == "a/loop", "{start}");
    }
}

#[test]
fn an_ignore_file_that_is_a_link_says_nothing() {
    let bed = Bed::with(&[("a", ""), ("all", "*\n")]);
    symlink("all", bed.at(".gitignore")).expect("a link");
    symlink("../out/secret", bed.at(".ignore")).expect("a link");
    assert_eq!(walk(&bed, ".").0, set(&[("a", Kind::File), ("all", Kind::File)]));
}

#[test]
fn special_files_are_shown_and_do_not_open() {
    let bed = Bed::new();
    let made = std::process::Command::new("mkfifo").arg(bed.at("pipe")).status().expect("mkfifo");
    assert!(made.success());
    let visit = |found: &Found<'_>| {
        assert_eq!((found.path, found.kind), ("pipe", Kind::Other));
        assert!(matches!(found.open(), Err(FileErrorKind::NotAFile)));
        Flow::On
    };
    bed.local.walk(&ws("."), &Walk { include_ignored: false, visit: &visit }).expect("a walk");
}

#[test]
fn names_that_are_not_text_are_counted() {
    let bed = Bed::with(&[("a", "")]);
    let odd = std::ffi::OsStr::from_bytes(b"odd\xff");
    if fs::create_dir(bed.at(".").join(odd)).is_err() {
        return; // not on this file system
    }
    fs::write(bed.at(".").join(odd).join("inside"), "").expect("a file");
    let (shown, walked) = walk(&bed, ".");
    assert_eq!((shown, walked.unnamed), (set(&[("a", Kind::File)]), 1));
}

#[test]
fn wide_and_deep_folders_are_shown_whole_by_all_threads() {
    let bed = Bed::quick();
    let mut want = HashSet::new();
    let mut deep = String::new();
    for level in 0..200 {
        deep.push_str(if level == 0 { "d" } else { "/d" });
        want.insert((deep.clone(), Kind::Dir));
        for file in 0..if level % 50 == 7 { 1500 } else { 3 } {
            want.insert((format!("{deep}/{file}"), Kind::File));
        }
    }
    let mut in_order: Vec<_> = want.iter().collect();
    in_order.sort_by_key(|(path, _)| path);
    for (path, kind) in in_order {
        match kind {
            Kind::Dir => fs::create_dir(bed.at(path)).expect("a folder"),
            _ => fs::write(bed.at(path), path).expect("a file"),
        }
    }
    let (shown, walked) = walk(&bed, ".");
    assert!(shown == want, "{} of {}", shown.len(), want.len());
    assert_eq!(walked, Walked::default());
}

#[test]
fn a_visit_that_panics_ends_the_walk() {
    let bed = Bed::quick();
    for n in 0..3000 {
        fs::write(bed.at(&n.to_string()), "").expect("a file");
    }
    let visit = |found: &Found<'_>| if found.path == "777" { panic!("so it goes") } else { Flow::On };
    let walk = || bed.local.walk(&ws("."), &Walk { include_ignored: false, visit: &visit });
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(walk)).is_err());
}

#[test]
fn several_folders_are_walked_as_one() {
    let (one, two) =
        (Bed::with(&[(".gitignore", "*.log"), ("a", ""), ("a.log", "")]), Bed::with(&[("in/b", ""), ("in/b.log", "")]));
    let local = Local::open_all([("one", one.at(".").as_path()), ("two", two.at(".").as_path())]).expect("a workspace");
    let both = Bed { local, ..Bed::new() };
    let all = [
        ("one", Kind::Dir),
        ("one/a", Kind::File),
        ("two", Kind::Dir),
        ("two/in", Kind::Dir),
        ("two/in/b", Kind::File),
        ("two/in/b.log", Kind::File),
    ];
    let (shown, walked) = walk(&both, ".");
    assert_eq!((shown, walked.ignored), (set(&all), 2));
    assert_eq!(walk(&both, "one").0, set(&all[1..2]));
    assert_eq!(walk(&both, "two/in").0, set(&all[4..]));
    assert_eq!(walk(&both, "two/in/b").0, set(&all[4..5]));
    assert!(both.local.walk(&ws("three"), &Walk { include_ignored: false, visit: &|_| Flow::On }).is_err());
}

#[test]
fn the_portable_way_opens_the_same() {
    let bed = Bed::with(&[("a/b/file", "1"), (".gitignore", "x")]);
    symlink("a", bed.at("l")).expect("a link");
    for (path, opens) in
        [("", true), ("a", true), ("a/b", true), ("l", false), ("l/b", false), ("a/b/file", false), ("no", false)]
    {
        assert_eq!(
            walk::both_ways(bed.local.base.find(&WsPath::root()).expect("a root").dir, path),
            (opens, opens),
            "{path}"
        );
    }
}
