//! Nothing outside the folder is read, listed, made or changed, whatever path or link is tried.

use serde_json::json;

use super::kit::{Desk, files_of};
use crate::suite::support::Temp;

#[test]
fn no_spelling_of_a_path_leads_outside() {
    let folder = Temp::with(&[("inside/a", "1"), ("secret", "s3cret")]);
    let inside = folder.path().join("inside");
    let mut server = crate::suite::support::Server::start(&inside);
    let sibling = format!("{}2", inside.display());
    let secret = folder.path().join("secret").to_str().expect("a path").to_owned();
    for path in [
        "../secret",
        "./../secret",
        "a/../../secret",
        "a/b/../../../secret",
        "..//secret",
        "x/../../secret",
        "/etc/passwd",
        "//etc/passwd",
        "/",
        "..",
        &secret,
        &sibling,
        "/proc/self/root/etc/passwd",
    ] {
        for (tool, arguments) in [
            ("read_file", json!({ "path": path })),
            ("write_file", json!({ "path": path, "content": "x" })),
            ("write_file", json!({ "path": path, "content": "x", "create_dirs": true })),
            ("patch_file", json!({ "path": path, "old_str": "s", "new_str": "x" })),
            ("list_dir", json!({ "path": path })),
        ] {
            let reply = server.call(tool, arguments);
            assert_eq!(reply["structuredContent"]["error"], "outside_workspace", "B085: {tool} {path}: {reply}");
            assert!(!reply.to_string().contains("s3cret"), "B085: {tool} {path}: {reply}");
        }
    }
    let files = files_of(folder.path());
    assert_eq!(files.into_keys().collect::<Vec<_>>(), ["inside/a", "secret"], "B085");
    assert_eq!(folder.text("secret"), "s3cret", "B085");
}

#[test]
fn what_only_looks_like_a_way_out_is_a_name() {
    let mut desk = Desk::with("other", "");
    for path in ["..a", "a..", "...", "~", "~root", "$HOME", "%2e%2e", "file:", "-rf"] {
        desk.write(path, path).ok();
        assert_eq!(desk.folder.text(path), path, "B085");
        assert_eq!(desk.read(path).ok(), format!("1: {path}"), "B085");
    }
}

#[cfg(unix)]
#[test]
fn no_link_leads_outside() {
    use std::os::unix::fs::symlink;
    let outside = Temp::with(&[("h", "s3cret"), ("d/h", "s3cret")]);
    let folder = Temp::with(&[("a", "1")]);
    let at = |path: &str| outside.path().join(path);
    symlink(outside.path(), folder.path().join("l")).expect("a link");
    symlink(at("h"), folder.path().join("f")).expect("a link");
    symlink("l/d", folder.path().join("l2")).expect("a link");
    symlink("..", folder.path().join("up")).expect("a link");
    let mut desk = Desk::serving(folder);
    for path in ["l/h", "l/new", "l/d/h", "l/d/new/x", "f", "l2/h", "l2/new", "up/x", "l", "l2", "up", "l/../a/../l/h"]
    {
        for reply in [
            desk.read(path),
            desk.write(path, "x"),
            desk.call("write_file", json!({ "path": path, "content": "x", "create_dirs": true })),
            desk.patch(path, "s", "x"),
            desk.list(path),
        ] {
            assert_eq!(reply.0["isError"], true, "B085: {path}: {reply:?}");
            assert!(!reply.0.to_string().contains("s3cret"), "B085: {path}: {reply:?}");
        }
    }
    let right = [("d/h".to_owned(), b"s3cret".to_vec()), ("h".to_owned(), b"s3cret".to_vec())];
    assert_eq!(files_of(outside.path()), right.into(), "B085");
    let listed = desk.call("list_dir", json!({ "depth": 9 })).ok();
    assert!(!listed.contains("d/h"), "B085: {listed}");
}

#[cfg(unix)]
#[test]
fn dots_are_resolved_in_the_text_and_not_through_links() {
    use std::os::unix::fs::symlink;
    let folder = Temp::with(&[("a", "root's"), ("x/y/a", "y's"), ("x/a", "x's")]);
    symlink("x/y", folder.path().join("l")).expect("a link");
    let mut desk = Desk::serving(folder);
    assert_eq!(desk.read("l/../a").ok(), "1: root's", "B092");
}

/// A folder that turns into a link to the outside and back while calls go through it.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_swapped_for_a_link_at_the_wrong_moment_leads_nowhere() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let outside = Temp::with(&[("x", "s3cret")]);
    let folder = Temp::with(&[("d/x", "inside")]);
    let root = folder.path().to_owned();
    std::os::unix::fs::symlink(outside.path(), root.join("link")).expect("a link");
    let mut desk = Desk::serving(folder);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let swapper = scope.spawn(|| {
            use rustix::fs::{CWD, RenameFlags, renameat_with};
            let mut swaps = 0_u32;
            while !stop.load(Ordering::Relaxed) {
                renameat_with(CWD, root.join("d"), CWD, root.join("link"), RenameFlags::EXCHANGE).expect("a swap");
                swaps += 1;
            }
            swaps
        });
        for n in 0..700 {
            let read = desk.read("d/x");
            assert!(!read.0.to_string().contains("s3cret"), "B089: {read:?}");
            desk.write("d/x", &format!("inside {n}"));
            desk.call("write_file", json!({ "path": "d/new/y", "content": "x", "create_dirs": true }));
            desk.list("d");
        }
        stop.store(true, Ordering::Relaxed);
        assert!(swapper.join().expect("a thread") > 100, "B089: hardly any swaps");
    });
    assert_eq!(files_of(outside.path()), [("x".to_owned(), b"s3cret".to_vec())].into(), "B089");
    assert!(std::fs::symlink_metadata(outside.path().join("new")).is_err(), "B089: a folder was made outside");
}
