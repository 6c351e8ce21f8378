//! Links inside the folder are followed and stay links; no link leads outside.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use super::kit::{Desk, says};
use crate::suite::support::Temp;

/// A folder with these files and links (`from`, `to`).
fn linked(files: &[(&str, &str)], links: &[(&str, &str)]) -> Desk {
    let folder = Temp::with(files);
    for (from, to) in links {
        symlink(to, folder.path().join(from)).expect("a link");
    }
    Desk::serving(folder)
}

fn target(desk: &Desk, link: &str) -> String {
    fs::read_link(desk.folder.path().join(link)).expect("a link").to_string_lossy().into_owned()
}

#[test]
fn a_write_goes_through_a_link_and_leaves_it() {
    let mut desk = linked(&[("AGENTS.md", "old\n")], &[("CLAUDE.md", "AGENTS.md"), ("again", "./CLAUDE.md")]);
    desk.patch("CLAUDE.md", "old", "new").ok();
    assert_eq!(
        (target(&desk, "CLAUDE.md"), desk.folder.text("AGENTS.md")),
        ("AGENTS.md".into(), "new\n".into()),
        "B068"
    );
    desk.read("again").ok();
    desk.write("again", "newer\n").ok();
    assert_eq!(
        (target(&desk, "again"), desk.folder.text("AGENTS.md")),
        ("./CLAUDE.md".into(), "newer\n".into()),
        "B068"
    );
}

#[test]
fn a_dangling_link_to_the_inside_makes_its_target() {
    let mut desk = linked(&[("d/other", "")], &[("out", "d/new.txt"), ("up", "d/../new2.txt")]);
    desk.write("out", "x").ok();
    assert_eq!((target(&desk, "out"), desk.folder.text("d/new.txt")), ("d/new.txt".into(), "x".into()), "B069");
    desk.write("up", "y").ok();
    assert_eq!(desk.folder.text("new2.txt"), "y", "B069");
    desk.read("out").ok();
}

#[test]
fn a_dangling_link_to_the_outside_makes_nothing() {
    let outside = Temp::new();
    let missing = outside.path().join("new.txt");
    let mut desk =
        linked(&[("a", "")], &[("out", missing.to_str().expect("a path")), ("rel", "../../nowhere/new.txt")]);
    for path in ["out", "rel"] {
        desk.write(path, "x").error("outside_workspace");
        desk.patch(path, "x", "y");
        desk.call("write_file", json!({ "path": path, "content": "x", "create_dirs": true }))
            .error("outside_workspace");
    }
    assert!(fs::symlink_metadata(&missing).is_err(), "B069: made outside");
    assert_eq!(desk.files().into_keys().collect::<Vec<_>>(), ["a"], "B069");
}

#[test]
fn links_in_a_circle_are_an_error_and_stay() {
    let mut desk = linked(&[("other", "")], &[("a", "b"), ("b", "a"), ("self", "self"), ("d", "d/e")]);
    for path in ["a", "b", "self", "d", "a/x"] {
        for reply in [desk.read(path), desk.write(path, "x"), desk.patch(path, "x", "y"), desk.list(path)] {
            assert_eq!(reply.0["isError"], true, "B070: {path}: {reply:?}");
        }
    }
    assert_eq!((target(&desk, "a"), target(&desk, "b")), ("b".into(), "a".into()), "B070");
    says(&desk.list(".").ok(), &["link - a -> b"]);
}

#[test]
fn a_long_chain_of_links_ends() {
    let mut desk = linked(&[("f", "1")], &[]);
    for n in 0..100 {
        let to = if n == 0 { "f".to_owned() } else { format!("l{}", n - 1) };
        symlink(to, desk.folder.path().join(format!("l{n}"))).expect("a link");
    }
    desk.read("l10").ok();
    assert_eq!(desk.read("l99").0["isError"], true, "B070");
}

#[test]
fn a_linked_folder_can_be_walked_into() {
    let mut desk = linked(&[("real/sub/f", "1\n")], &[("link", "real"), ("deep", "real/sub")]);
    assert_eq!(desk.read("link/sub/f").ok(), "1: 1\n", "B075");
    assert_eq!(desk.list("link/sub").ok(), "file 2 f\n", "B075");
    desk.patch("deep/f", "1", "2").ok();
    desk.write("link/new", "3").ok();
    assert_eq!((desk.folder.text("real/sub/f"), desk.folder.text("real/new")), ("2\n".into(), "3".into()), "B075");
    // An absolute link to the inside leads inside too, or is refused; it is never followed elsewhere.
    let inside = desk.folder.path().join("real/sub/f");
    symlink(&inside, desk.folder.path().join("abs")).expect("a link");
    let reply = desk.read("abs");
    assert!(
        reply.0["isError"] != true || reply.0["structuredContent"]["error"] == "outside_workspace",
        "B075: {reply:?}"
    );
}

#[test]
fn a_circle_of_folders_is_listed_once() {
    let mut desk = linked(&[("a/f", "1")], &[("a/loop", ".."), ("a/self", "."), ("b", "a")]);
    let listed = desk.call("list_dir", json!({ "path": ".", "depth": 64 })).ok();
    assert_eq!(listed.lines().filter(|line| line.starts_with("file ")).count(), 1, "B076: {listed}");
    assert_eq!(
        listed,
        "dir - a/\nfile 1 a/f\nlink - a/loop -> .. (a folder)\nlink - a/self -> . (a folder)\nlink - b -> a (a folder)\n",
        "B076"
    );
}

/// Every tool that looks for what a link leads to says that it leads nowhere, and where that is.
#[test]
fn a_link_that_leads_to_nothing_is_told_as_one() {
    let links = [("gone", "nothing"), ("far", "no/where"), ("chain", "gone")];
    let mut desk = linked(&[("other", "1\n")], &links);
    let calls = |path: &str| {
        [
            ("read_file", json!({ "path": path })),
            ("list_dir", json!({ "path": path })),
            ("find_files", json!({ "path": path, "pattern": "*" })),
            ("search_files", json!({ "path": path, "pattern": "x" })),
            ("patch_file", json!({ "path": path, "old_str": "1", "new_str": "2" })),
            ("patch_files", json!({ "patches": [{ "path": path, "old_str": "1", "new_str": "2" }] })),
        ]
    };
    for (link, to) in links {
        for path in [link.to_owned(), format!("{link}/below"), format!("{link}/far/below")] {
            for (tool, arguments) in calls(&path) {
                let reply = desk.call(tool, arguments);
                says(reply.error("file_not_found"), &[&format!("{link} is a link to {to}, and nothing is there")]);
                assert!(reply.details().get("did_you_mean").is_none(), "B070: {tool} {path}: {reply:?}");
            }
        }
        for create_dirs in [false, true] {
            let below = json!({ "path": format!("{link}/new"), "content": "x", "create_dirs": create_dirs });
            says(desk.call("write_file", below).error("file_not_found"), &[&format!("{link} is a link to {to}")]);
        }
        says(desk.call("make_dir", json!({ "path": format!("{link}/d") })).error("file_not_found"), &["is a link"]);
    }
    for create_dirs in [false, true] {
        let through = json!({ "path": "far", "content": "x", "create_dirs": create_dirs });
        says(desk.call("write_file", through).error("file_not_found"), &["The folder no is not there", "make_dir"]);
    }
    desk.call("make_dir", json!({ "path": "no" })).ok();
    desk.write("far", "x").ok();
    assert_eq!(desk.folder.text("no/where"), "x", "B069");
}

#[test]
fn links_in_a_circle_are_told_as_that() {
    let mut desk = linked(&[("other", "")], &[("a", "b"), ("b", "a"), ("self", "self")]);
    for path in ["a", "b", "self", "a/x", "self/x/y"] {
        for (tool, arguments) in [
            ("read_file", json!({ "path": path })),
            ("write_file", json!({ "path": path, "content": "x", "create_dirs": true })),
            ("patch_file", json!({ "path": path, "old_str": "1", "new_str": "2" })),
            ("list_dir", json!({ "path": path })),
            ("find_files", json!({ "path": path, "pattern": "*" })),
            ("search_files", json!({ "path": path, "pattern": "x" })),
            ("make_dir", json!({ "path": path })),
        ] {
            says(desk.call(tool, arguments).error("not_a_file"), &["go round in a circle", "list_dir"]);
        }
    }
    // The links themselves can be moved and taken away.
    desk.call("move_path", json!({ "from": "self", "to": "own" })).ok();
    desk.call("delete_path", json!({ "path": "b" })).ok();
    says(desk.read("a").error("file_not_found"), &["a is a link to b, and nothing is there"]);
}
