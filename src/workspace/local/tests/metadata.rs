//! What a file is besides its bytes.
#![cfg(target_os = "linux")]

use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};

use rustix::fs::{XattrFlags, getxattr, removexattr, setxattr};

use super::*;

fn mode(bed: &Bed, path: &str) -> u32 {
    fs::metadata(bed.at(path)).expect("a file").mode() & 0o7777
}

fn set_mode(bed: &Bed, path: &str, mode: u32) {
    fs::set_permissions(bed.at(path), fs::Permissions::from_mode(mode)).expect("a mode");
}

fn attribute(bed: &Bed, path: &str, name: &str) -> Option<Vec<u8>> {
    let mut value = vec![0; 256];
    let len = getxattr(bed.at(path), name, &mut value[..]).ok()?;
    value.truncate(len);
    Some(value)
}

fn root() -> bool {
    rustix::process::geteuid().is_root()
}

/// `user::rw-,user:1001:r--,group::r--,mask::r--,other::---`, as the kernel keeps it.
fn access_list() -> Vec<u8> {
    let none = u32::MAX;
    let entries: [(u16, u16, u32); 5] = [(1, 6, none), (2, 4, 1001), (4, 4, none), (16, 4, none), (32, 0, none)];
    let mut bytes = 2u32.to_le_bytes().to_vec();
    for (tag, permissions, id) in entries {
        bytes.extend(tag.to_le_bytes());
        bytes.extend(permissions.to_le_bytes());
        bytes.extend(id.to_le_bytes());
    }
    bytes
}

#[test]
fn modes_are_kept_but_for_setuid() {
    let bed = Bed::with(&[("a", "0")]);
    for (n, (before, after)) in
        [(0o755, 0o755), (0o600, 0o600), (0o444, 0o444), (0o4755, 0o755), (0o1666, 0o1666), (0o2640, 0o2640)]
            .into_iter()
            .enumerate()
    {
        if before == 0o444 && !root() {
            continue;
        }
        set_mode(&bed, "a", before);
        bed.commit(vec![write("a", exactly(&n.to_string()), &(n + 1).to_string())]).expect("a commit");
        assert_eq!(mode(&bed, "a"), after, "{before:o}");
    }
    symlink("a", bed.at("l")).expect("a link");
    set_mode(&bed, "a", 0o755);
    bed.commit(vec![write("l", Expect::Any, "#!")]).expect("a commit");
    assert_eq!(mode(&bed, "a"), 0o755);
    bed.clean();
}

#[test]
fn owner_group_attributes_and_access_lists_are_kept() {
    if !root() {
        return;
    }
    let bed = Bed::with(&[("a", "old")]);
    chown(bed.at("a"), Some(1234), Some(2345)).expect("an owner");
    set_mode(&bed, "a", 0o2640);
    setxattr(bed.at("a"), "user.k", b"v", XattrFlags::empty()).expect("an attribute");
    let large = vec![7; 2000];
    setxattr(bed.at("a"), "user.large", &large, XattrFlags::empty()).expect("an attribute");
    let listed = setxattr(bed.at("a"), "system.posix_acl_access", &access_list(), XattrFlags::empty()).is_ok();
    let capability = [1, 0, 0, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let capable = setxattr(bed.at("a"), "security.capability", &capability, XattrFlags::empty()).is_ok();
    let before = mode(&bed, "a");
    bed.commit(vec![write("a", exactly("old"), "new")]).expect("a commit");
    let metadata = fs::metadata(bed.at("a")).expect("a file");
    assert_eq!((metadata.uid(), metadata.gid(), mode(&bed, "a")), (1234, 2345, before));
    assert_eq!(attribute(&bed, "a", "user.k").as_deref(), Some(&b"v"[..]));
    let mut value = vec![0; 4096];
    assert_eq!(getxattr(bed.at("a"), "user.large", &mut value[..]), Ok(2000));
    if listed {
        assert_eq!(attribute(&bed, "a", "system.posix_acl_access"), Some(access_list()));
    }
    assert!(capable, "the capability was set, else its loss proves nothing");
    assert_eq!(attribute(&bed, "a", "security.capability"), None);
    bed.clean();
}

#[test]
fn a_file_without_an_access_list_does_not_inherit_one() {
    let bed = Bed::with(&[("a", "old")]);
    let default = "system.posix_acl_default";
    if setxattr(bed.at(""), default, &access_list(), XattrFlags::empty()).is_err() {
        return;
    }
    bed.commit(vec![write("a", exactly("old"), "new"), write("b", Expect::Absent, "b")]).expect("a commit");
    assert_eq!(attribute(&bed, "a", "system.posix_acl_access"), None);
    assert_eq!(mode(&bed, "a"), mode(&bed, "a") & 0o666);
    assert!(attribute(&bed, "b", "system.posix_acl_access").is_some(), "a new file does");
    removexattr(bed.at(""), default).expect("an attribute");
}

#[test]
fn new_files_and_folders_follow_the_umask_and_the_folder() {
    let bed = Bed::new();
    // What this process's umask makes of it, as the system does it.
    fs::write(bed.at("usual"), "").expect("a file");
    fs::create_dir(bed.at("usual-dir")).expect("a folder");
    bed.commit(vec![Change::MakeDir { path: ws("dir") }, write("dir/new", Expect::Absent, "x")]).expect("a commit");
    assert_eq!(mode(&bed, "dir/new"), mode(&bed, "usual"));
    assert_eq!(mode(&bed, "dir"), mode(&bed, "usual-dir"));
    if root() {
        chown(bed.at("dir"), None, Some(2345)).expect("a group");
        set_mode(&bed, "dir", 0o2775);
        bed.commit(vec![write("dir/shared", Expect::Absent, "x")]).expect("a commit");
        assert_eq!(fs::metadata(bed.at("dir/shared")).expect("a file").gid(), 2345);
    }
    bed.clean();
}

#[test]
fn an_identity_is_of_one_state_of_one_file() {
    let bed = Bed::with(&[("a", "old"), ("b", "old")]);
    let identity = |path: &str| bed.local.stat(&ws(path)).expect("a file").identity;
    // Not before the clock has ticked: another write could look the same.
    assert_eq!(identity("a"), None);
    std::thread::sleep(std::time::Duration::from_millis(80));
    let seen = identity("a").expect("an identity");
    assert_eq!(bed.local.open(&ws("a")).expect("a file").stat.identity, Some(seen));
    assert_ne!(identity("b"), Some(seen));
    for text in ["new", "old"] {
        bed.commit(vec![write("a", Expect::Any, text)]).expect("a commit");
        std::thread::sleep(std::time::Duration::from_millis(80));
        assert_ne!(identity("a").expect("an identity"), seen, "{text}");
    }
}
