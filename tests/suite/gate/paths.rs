//! Making, moving and deleting: what happens, what is refused, what rules say of it, and that all of it comes back.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::kit::guarded;
use crate::suite::cases::kit::{Desk, Reply, says};
use crate::suite::support::Temp;

fn make(desk: &mut Desk, path: &str) -> Reply {
    desk.call("make_dir", json!({ "path": path }))
}

fn shift(desk: &mut Desk, from: &str, to: &str) -> Reply {
    desk.call("move_path", json!({ "from": from, "to": to }))
}

fn over(desk: &mut Desk, from: &str, to: &str) -> Reply {
    desk.call("move_path", json!({ "from": from, "to": to, "overwrite": true }))
}

fn delete(desk: &mut Desk, path: &str) -> Reply {
    desk.call("delete_path", json!({ "path": path }))
}

fn delete_all(desk: &mut Desk, path: &str) -> Reply {
    desk.call("delete_path", json!({ "path": path, "recursive": true }))
}

fn undo(desk: &mut Desk) -> Reply {
    desk.call("undo_change", json!({}))
}

fn served(files: &[(&str, &str)]) -> Desk {
    Desk::serving(Temp::with(files))
}

/// Everything below `folder`: kind and mode, bytes or target; empty folders show.
fn whole(folder: &Path) -> Vec<String> {
    let mut told = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(inner) = folders.pop() {
        for entry in fs::read_dir(inner).expect("a folder") {
            let path = entry.expect("an entry").path();
            let metadata = fs::symlink_metadata(&path).expect("a file");
            let what = if metadata.is_dir() {
                folders.push(path.clone());
                String::new()
            } else if metadata.is_symlink() {
                fs::read_link(&path).expect("a link").display().to_string()
            } else {
                format!("{:?} {:?}", fs::read(&path).expect("a file"), metadata.modified().expect("a time"))
            };
            #[cfg(unix)]
            let mode = std::os::unix::fs::MetadataExt::mode(&metadata);
            #[cfg(not(unix))]
            let mode = metadata.permissions().readonly();
            told.push(format!("{} {mode:?} {what}", path.strip_prefix(folder).expect("below").display()));
        }
    }
    told.sort();
    told
}

#[test]
fn a_folder_is_made_with_those_above_it_and_twice_is_as_once() {
    let mut desk = served(&[("a", "1")]);
    let reply = make(&mut desk, "x/y/z");
    assert_eq!(reply.observations(), ["Folder made: x/y/z"]);
    assert!(desk.folder.path().join("x/y/z").is_dir());
    says(&make(&mut desk, "x/y").ok(), &["Folder there: x/y", "nothing was changed"]);
    says(&make(&mut desk, ".").ok(), &["nothing was changed"]);
    says(make(&mut desk, "a").error("already_exists"), &["a"]);
    says(make(&mut desk, "a/b").error("not_a_directory"), &["a"]);
    make(&mut desk, "../out").error("outside_workspace");
    undo(&mut desk).ok();
    assert!(!desk.folder.path().join("x").exists());
}

#[test]
fn files_and_folders_move_and_come_back() {
    let mut desk = served(&[("a", "1"), ("d/e/f", "2"), ("d/g", "3")]);
    let before = whole(desk.folder.path());
    assert_eq!(shift(&mut desk, "a", "new/deep/b").observations(), ["File moved: a to new/deep/b"]);
    assert_eq!(shift(&mut desk, "d", "new/d").observations(), ["Folder moved: d to new/d"]);
    assert_eq!(desk.folder.text("new/d/e/f"), "2");
    says(&shift(&mut desk, "new/d", "new/d").ok(), &["there already"]);
    undo(&mut desk).ok();
    undo(&mut desk).ok();
    assert_eq!(whole(desk.folder.path()), before);
}

#[test]
fn a_move_is_refused_clearly() {
    let mut desk = served(&[("a", "1"), ("b", "2"), ("d/e", "3"), ("full/x", "4")]);
    make(&mut desk, "empty").ok();
    let before = whole(desk.folder.path());
    says(shift(&mut desk, "a", "b").error("already_exists"), &["A file is at b", "overwrite"]);
    says(shift(&mut desk, "a", "d").error("already_exists"), &["d is a folder", "d/name"]);
    says(over(&mut desk, "a", "d").error("directory_not_empty"), &["1 entry", "never replaced"]);
    says(over(&mut desk, "d", "full").error("directory_not_empty"), &["full"]);
    says(over(&mut desk, "a", "empty").error("already_exists"), &["folder"]);
    says(over(&mut desk, "d", "a").error("already_exists"), &["file"]);
    says(shift(&mut desk, "d", "d/in/side").error("invalid_arguments"), &["outside of it"]);
    says(shift(&mut desk, ".", "x").error("invalid_arguments"), &["from"]);
    says(shift(&mut desk, "a", ".").error("invalid_arguments"), &["to"]);
    says(shift(&mut desk, "nope", "x").error("file_not_found"), &["nope"]);
    shift(&mut desk, "a", "b/c").error("not_a_directory");
    shift(&mut desk, "a", "../a").error("outside_workspace");
    assert_eq!(whole(desk.folder.path()), before);
    over(&mut desk, "d", "empty").ok();
    assert_eq!(desk.folder.text("empty/e"), "3");
    undo(&mut desk).ok();
    assert_eq!(whole(desk.folder.path()), before);
}

#[test]
fn what_a_move_replaces_comes_back() {
    let mut desk = served(&[("a", "new"), ("b", "old")]);
    let before = whole(desk.folder.path());
    let reply = over(&mut desk, "a", "b");
    assert_eq!(*reply.fact("replaced"), Value::from(true));
    assert_eq!(desk.folder.text("b"), "new");
    let undone = undo(&mut desk);
    undone.ok();
    assert_eq!(whole(desk.folder.path()), before);
    desk.call("undo_change", json!({ "change": undone.change() })).ok();
    assert_eq!(desk.folder.text("b"), "new");
    assert!(!desk.folder.path().join("a").exists());
}

#[test]
fn what_was_read_of_a_file_moves_with_it() {
    let mut desk = served(&[("a", "1\n"), ("d/b", "2\n"), ("c", "3\n")]);
    desk.read("a").ok();
    desk.read("d/b").ok();
    shift(&mut desk, "a", "moved").ok();
    shift(&mut desk, "d", "e").ok();
    shift(&mut desk, "c", "unread").ok();
    desk.write("moved", "x\n").ok();
    desk.write("e/b", "x\n").ok();
    desk.write("unread", "x\n").error("read_required");
}

#[test]
fn a_move_that_was_worked_on_since_is_not_undone() {
    let mut desk = served(&[("a", "1\n")]);
    shift(&mut desk, "a", "b").ok();
    desk.folder.write("b", "the user's own\n");
    says(undo(&mut desk).error("stale_version"), &["b"]);
    desk.folder.write("b", "1\n");
    desk.folder.write("a", "in the way\n");
    says(undo(&mut desk).error("stale_version"), &["a"]);
    fs::remove_file(desk.folder.path().join("a")).expect("a file");
    undo(&mut desk).ok();
    assert_eq!(desk.folder.text("a"), "1\n");
}

#[test]
fn what_is_deleted_comes_back_as_it_was() {
    let mut desk = served(&[("a", "1"), ("d/e/f", "\u{0}\u{1}bytes"), ("d/g", "3"), ("target", "t")]);
    let root = desk.folder.path().to_owned();
    fs::create_dir(root.join("d/empty")).expect("a folder");
    #[cfg(unix)]
    {
        use std::os::unix::fs::{PermissionsExt, symlink};
        fs::set_permissions(root.join("d/g"), fs::Permissions::from_mode(0o600)).expect("a mode");
        fs::set_permissions(root.join("d/e"), fs::Permissions::from_mode(0o711)).expect("a mode");
        symlink("/etc/passwd", root.join("d/link")).expect("a link");
        symlink("target", root.join("l")).expect("a link");
    }
    let before = whole(&root);
    let entries = if cfg!(unix) { 5 } else { 4 };
    says(delete(&mut desk, "d").error("directory_not_empty"), &[&format!("{entries} entries"), "recursive"]);
    assert_eq!(delete(&mut desk, "a").observations(), ["File deleted: a"]);
    assert_eq!(delete_all(&mut desk, "d").observations(), [format!("Folder deleted: d ({entries} entries)")]);
    let mut made = 2;
    if cfg!(unix) {
        assert_eq!(delete(&mut desk, "l").observations(), ["Link deleted: l"]);
        made += 1;
    }
    assert_eq!(desk.files().keys().collect::<Vec<_>>(), ["target"], "the target of a link stays");
    for _ in 0..made {
        undo(&mut desk).ok();
    }
    assert_eq!(whole(&root), before);
}

#[test]
fn deleting_is_redone_by_undoing_the_undo_unless_something_changed() {
    let mut desk = served(&[("d/a", "1"), ("d/b", "2")]);
    let before = whole(desk.folder.path());
    let first = delete_all(&mut desk, "d").change();
    let undone = undo(&mut desk).change();
    let redone = desk.call("undo_change", json!({ "change": undone })).change();
    assert!(desk.files().is_empty());
    desk.call("undo_change", json!({ "change": first })).ok();
    assert_eq!(whole(desk.folder.path()), before, "what was redone can be undone by its first name");
    says(desk.call("undo_change", json!({ "change": redone })).error("stale_version"), &["d"]);

    let first = delete_all(&mut desk, "d").change();
    let undone = desk.call("undo_change", json!({ "change": first })).change();
    desk.folder.write("d/a", "worked on");
    desk.call("undo_change", json!({ "change": undone })).error("stale_version");
    assert_eq!(desk.folder.text("d/a"), "worked on");
}

#[test]
fn nothing_comes_back_over_what_is_there() {
    let mut desk = served(&[("d/a", "1")]);
    delete_all(&mut desk, "d").ok();
    desk.folder.write("d/theirs", "2");
    says(undo(&mut desk).error("stale_version"), &["d"]);
    assert_eq!(desk.folder.text("d/theirs"), "2");
    fs::remove_dir_all(desk.folder.path().join("d")).expect("a folder");
    undo(&mut desk).ok();
    assert_eq!(desk.folder.text("d/a"), "1");
}

#[test]
fn a_deletion_is_refused_clearly() {
    let (mut desk, _home) = guarded(&[("d/a", "12345"), ("d/b", "1"), ("e/a", "1")], "[limits]\ndelete_bytes = 5\n");
    let before = whole(desk.folder.path());
    says(delete_all(&mut desk, "d").error("too_large"), &["6 bytes", "delete_bytes", "one by one"]);
    says(delete(&mut desk, ".").error("invalid_arguments"), &["own folder"]);
    says(delete(&mut desk, "nope").error("file_not_found"), &["nope"]);
    delete_all(&mut desk, "../x").error("outside_workspace");
    assert_eq!(whole(desk.folder.path()), before);
    let (mut desk, _home) = guarded(&[("d/a", "1"), ("d/b", "1")], "[limits]\ndelete_entries = 1\n");
    says(delete_all(&mut desk, "d").error("too_large"), &["2 entries", "delete_entries"]);
}

#[cfg(unix)]
#[test]
fn what_could_not_come_back_is_not_deleted() {
    let mut desk = served(&[("d/a", "1")]);
    let _socket = std::os::unix::net::UnixListener::bind(desk.folder.path().join("d/s")).expect("a socket");
    says(delete_all(&mut desk, "d").error("not_a_file"), &["d/s", "socket"]);
    delete(&mut desk, "d/s").error("not_a_file");
    shift(&mut desk, "d/s", "s").error("not_a_file");
    assert_eq!(desk.folder.text("d/a"), "1");
    shift(&mut desk, "d", "e").ok();
    assert!(desk.folder.path().join("e/s").exists(), "a folder moves whatever is in it");
}

#[cfg(unix)]
#[test]
fn a_link_moves_itself() {
    let mut desk = served(&[("a", "1"), ("d/x", "2")]);
    std::os::unix::fs::symlink("a", desk.folder.path().join("l")).expect("a link");
    std::os::unix::fs::symlink("/no/where", desk.folder.path().join("broken")).expect("a link");
    assert_eq!(shift(&mut desk, "l", "m").observations(), ["Link moved: l to m"]);
    assert_eq!(shift(&mut desk, "broken", "d/broken").observations(), ["Link moved: broken to d/broken"]);
    assert_eq!(fs::read_link(desk.folder.path().join("m")).expect("a link"), Path::new("a"));
    assert_eq!(desk.folder.text("a"), "1");
}

#[test]
fn a_rule_on_what_is_inside_stops_the_folder_above_it() {
    let rule = "[[rule]]\ndecision = \"deny\"\npaths = [\"secrets\"]\nreason = \"they are secret\"\n";
    let files = [("top/secrets/k", "key"), ("top/a", "1"), ("b", "2"), ("repo/.git/config", "x"), ("in/c", "3")];
    let (mut desk, _home) = guarded(&files, rule);
    let before = whole(desk.folder.path());
    for reply in [
        delete_all(&mut desk, "top"),
        delete_all(&mut desk, "top/secrets"),
        delete(&mut desk, "top/secrets/k"),
        shift(&mut desk, "top", "other"),
        shift(&mut desk, "b", "top/secrets/b"),
        shift(&mut desk, "in", "secrets"),
        over(&mut desk, "b", "top/secrets/k"),
        make(&mut desk, "secrets/new"),
    ] {
        says(reply.error("denied"), &["they are secret"]);
    }
    for reply in [
        delete_all(&mut desk, "repo"),
        delete_all(&mut desk, "repo/.git"),
        shift(&mut desk, "repo", "elsewhere"),
        shift(&mut desk, "b", "repo/.git/hooks"),
        shift(&mut desk, "in", ".git"),
    ] {
        says(reply.error("denied"), &[".git", "protect_git"]);
    }
    assert_eq!(whole(desk.folder.path()), before);
    delete(&mut desk, "top/a").ok();
}

#[test]
fn where_nothing_may_change_nothing_moves_or_goes() {
    let (mut desk, _home) = guarded(&[("a", "1")], "read_only = true");
    for reply in [make(&mut desk, "d"), shift(&mut desk, "a", "b"), delete(&mut desk, "a")] {
        reply.error("denied");
    }
}

#[test]
fn what_is_deleted_comes_back_from_the_next_server() {
    let (mut desk, home) = guarded(&[("d/a", "1"), ("d/b/c", "2")], "");
    let before = whole(desk.folder.path());
    delete_all(&mut desk, "d").ok();
    let Desk { folder, mut server } = desk;
    server.kill();
    let mut desk = home.desk(folder);
    undo(&mut desk).ok();
    assert_eq!(whole(desk.folder.path()), before);
}

/// The ledger lies on another file system, so what goes is copied.
#[cfg(target_os = "linux")]
#[test]
fn what_is_deleted_comes_back_over_file_systems() {
    use std::os::unix::fs::{MetadataExt, symlink};
    use std::path::PathBuf;

    use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, XattrFlags, getxattr, setxattr, utimensat};
    let Ok(folder) = tempfile::tempdir_in("/dev/shm") else { return };
    let home = super::kit::Home::configured("");
    let device = |path: &Path| fs::metadata(path).expect("a folder").dev();
    if device(folder.path()) == device(&std::env::temp_dir()) {
        return;
    }
    fs::create_dir_all(folder.path().join("d/empty")).expect("a folder");
    for file in ["d/a", "d/vouched"] {
        fs::write(folder.path().join(file), "1").expect("a file");
    }
    symlink("/no/where", folder.path().join("d/l")).expect("a link");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o4711);
    fs::set_permissions(folder.path().join("d/vouched"), mode).expect("a mode");
    for path in ["d/a", "d/l", "d/empty", "d"] {
        let long_ago = Timespec { tv_sec: 1_000_000_000, tv_nsec: 123_456_789 };
        let times = Timestamps { last_access: long_ago, last_modification: long_ago };
        utimensat(CWD, folder.path().join(path), &times, AtFlags::SYMLINK_NOFOLLOW).expect("times");
    }
    let with_attributes = ["d/a", "d/empty", "d"].map(|path| folder.path().join(path));
    // Not every file system takes them.
    let takes = with_attributes.iter().all(|path| setxattr(path, "user.k", b"v", XattrFlags::empty()).is_ok());
    let whole = |folder: &Path| {
        let mut told = whole(folder);
        for path in ["d", "d/a", "d/l", "d/empty"] {
            let metadata = fs::symlink_metadata(folder.join(path)).expect("something");
            told.push(format!("{path} {:?}", metadata.modified().expect("a time")));
        }
        let attribute = |path: &PathBuf| getxattr(path, "user.k", &mut [0_u8; 8][..]).ok();
        told.extend(with_attributes.iter().map(|path| format!("{:?}", attribute(path))));
        told
    };
    let before = whole(folder.path());
    assert!(!takes || before.iter().filter(|told| *told == "Some(1)").count() == 3);
    let options = home.options();
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let mut server = crate::suite::support::Server::start_with(folder.path(), &options);
    for _ in 0..2 {
        Reply(server.call("delete_path", json!({ "path": "d", "recursive": true }))).ok();
        assert!(!folder.path().join("d").exists());
        let undone = Reply(server.call("undo_change", json!({}))).change();
        assert_eq!(whole(folder.path()), before);
        let redone = Reply(server.call("undo_change", json!({ "change": undone }))).change();
        assert!(!folder.path().join("d").exists());
        Reply(server.call("undo_change", json!({ "change": redone }))).ok();
        assert_eq!(whole(folder.path()), before);
    }
}

#[test]
fn a_folder_of_very_many_files_moves_goes_and_comes_back() {
    let folder = Temp::new();
    for name in 0..5_000 {
        folder.write(&format!("d/{}/{name}", name % 50), "");
    }
    let mut desk = Desk::serving(folder);
    shift(&mut desk, "d", "e").ok();
    delete_all(&mut desk, "e").ok();
    assert!(desk.files().is_empty());
    undo(&mut desk).ok();
    undo(&mut desk).ok();
    assert_eq!(desk.files().len(), 5_000);
}

#[test]
fn a_name_in_another_unicode_form_moves_and_goes() {
    let mut desk = served(&[("cafe\u{301}", "1"), ("the\u{301}", "2")]);
    shift(&mut desk, "caf\u{e9}", "b").ok();
    delete(&mut desk, "th\u{e9}").ok();
    assert_eq!(desk.files().keys().collect::<Vec<_>>(), ["b"]);
    undo(&mut desk).ok();
    undo(&mut desk).ok();
    assert_eq!(desk.files().keys().collect::<Vec<_>>(), ["cafe\u{301}", "the\u{301}"]);
}

#[test]
fn a_path_that_is_spelled_as_a_folder_is_none_for_a_file() {
    let mut desk = served(&[("a", "1"), ("d/b", "2"), ("e/f/g", "3")]);
    for (from, to, instead) in [("a", "new/", "new/a"), ("a", "d/", "d/a"), ("d/b", "e/.", "e/b")] {
        says(shift(&mut desk, from, to).error("not_a_file"), &["names a folder", &format!("such as {instead}.")]);
        says(over(&mut desk, from, to).error("not_a_file"), &["names a folder"]);
    }
    shift(&mut desk, "e/f/", "new/").ok();
    assert_eq!(desk.folder.text("new/g"), "3");
}

#[test]
fn what_is_in_the_way_is_told_with_what_to_do_about_it() {
    let mut desk = served(&[("a", "1"), ("b", "2"), ("full/c", "3")]);
    make(&mut desk, "empty").ok();
    for (from, to, plain, with_overwrite) in [
        ("a", "b", "set overwrite", ""),
        ("a", "empty", "a file does not replace it", "delete it first"),
        ("empty", "a", "a folder does not replace it", "delete it first"),
        ("a", "full", "never replaced", "never replaced"),
    ] {
        says(shift(&mut desk, from, to).0["structuredContent"]["message"].as_str().unwrap_or_default(), &[plain]);
        let reply = over(&mut desk, from, to);
        if with_overwrite.is_empty() {
            reply.ok();
            undo(&mut desk).ok();
        } else {
            says(reply.0["structuredContent"]["message"].as_str().unwrap_or_default(), &[with_overwrite]);
        }
    }
    #[cfg(unix)]
    {
        let fifo = desk.folder.path().join("fifo");
        assert!(std::process::Command::new("mkfifo").arg(fifo).status().expect("mkfifo").success());
        for reply in [shift(&mut desk, "a", "fifo"), over(&mut desk, "a", "fifo")] {
            says(reply.error("already_exists"), &["a file does not replace it", "ask the user to remove it"]);
        }
    }
}
