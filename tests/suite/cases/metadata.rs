//! Mode, owner and attributes of a file outlive an edit.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use serde_json::json;

use super::kit::Desk;
use crate::suite::support::Temp;

fn mode(desk: &Desk, path: &str) -> u32 {
    fs::metadata(desk.folder.path().join(path)).expect("a file").mode() & 0o7777
}

fn set_mode(folder: &Temp, path: &str, mode: u32) {
    fs::set_permissions(folder.path().join(path), fs::Permissions::from_mode(mode)).expect("a mode");
}

#[test]
fn the_mode_outlives_every_tool_that_writes() {
    for before in [0o644, 0o600, 0o755, 0o640, 0o777, 0o666] {
        let mut desk = Desk::with("a", "1");
        set_mode(&desk.folder, "a", before);
        desk.patch("a", "1", "2").ok();
        assert_eq!(mode(&desk, "a"), before, "B065: patched");
        desk.read("a").ok();
        desk.write("a", "3").ok();
        assert_eq!(mode(&desk, "a"), before, "B065: written");
    }
}

/// Only root may give a file away, so elsewhere there is nothing to test.
#[cfg(target_os = "linux")]
#[test]
fn owner_group_special_bits_and_attributes_outlive_an_edit() {
    use rustix::fs::{XattrFlags, getxattr, setxattr};
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let mut desk = Desk::with("a", "1");
    let path = desk.folder.path().join("a");
    std::os::unix::fs::chown(&path, Some(1001), Some(1002)).expect("an owner");
    set_mode(&desk.folder, "a", 0o2640);
    setxattr(&path, "user.k", b"v", XattrFlags::empty()).expect("an attribute");
    desk.patch("a", "1", "2").ok();
    let after = fs::metadata(&path).expect("a file");
    assert_eq!((after.uid(), after.gid(), after.mode() & 0o7777), (1001, 1002, 0o2640), "B065");
    let mut value = [0; 8];
    assert_eq!(getxattr(&path, "user.k", &mut value[..]), Ok(1), "B065");
    assert_eq!(value[0], b'v', "B065");
    assert_eq!(desk.folder.text("a"), "2", "B065");
}

#[test]
fn new_files_and_folders_are_made_as_the_umask_says() {
    let mut desk = Desk::with("other", "");
    // What any other program makes here.
    fs::create_dir(desk.folder.path().join("plain")).expect("a folder");
    let (file, folder) = (mode(&desk, "other"), mode(&desk, "plain"));
    desk.call("write_file", json!({ "path": "x/y/new.txt", "content": "1", "create_dirs": true })).ok();
    assert_eq!(mode(&desk, "x/y/new.txt"), file, "B066");
    assert_eq!((mode(&desk, "x"), mode(&desk, "x/y")), (folder, folder), "B066");
}

#[test]
fn a_program_behind_a_link_can_still_be_run() {
    let folder = Temp::with(&[("bin/w", "#!/bin/sh\n")]);
    set_mode(&folder, "bin/w", 0o755);
    symlink("bin/w", folder.path().join("l")).expect("a link");
    let mut desk = Desk::serving(folder);
    desk.read("l").ok();
    desk.write("l", "#!/bin/sh\nexit 1\n").ok();
    assert!(fs::symlink_metadata(desk.folder.path().join("l")).expect("a link").is_symlink(), "B067");
    assert_eq!((desk.folder.text("bin/w").as_str(), mode(&desk, "bin/w")), ("#!/bin/sh\nexit 1\n", 0o755), "B067");
    desk.patch("l", "exit 1", "exit 2").ok();
    assert_eq!(mode(&desk, "bin/w"), 0o755, "B067");
}

#[test]
fn all_names_of_a_file_change_together() {
    let folder = Temp::with(&[("a", "old\n")]);
    fs::hard_link(folder.path().join("a"), folder.path().join("b")).expect("a second name");
    let mut desk = Desk::serving(folder);
    desk.patch("a", "old", "new").ok();
    assert_eq!((desk.folder.text("a").as_str(), desk.folder.text("b").as_str()), ("new\n", "new\n"), "B068");
}

/// Root may write everywhere, so there is nothing to test for it.
#[test]
fn what_the_system_forbids_is_told_and_not_forced() {
    if rustix::process::geteuid().is_root() {
        return;
    }
    let folder = Temp::with(&[("d/a", "1"), ("secret", "2")]);
    set_mode(&folder, "d", 0o555);
    set_mode(&folder, "secret", 0o000);
    let mut desk = Desk::serving(folder);
    desk.write("d/new", "x").error("permission_denied");
    desk.read("secret").error("permission_denied");
    set_mode(&desk.folder, "d", 0o755);
    assert_eq!(desk.folder.text("d/a"), "1", "B065");
}
