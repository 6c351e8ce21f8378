//! What the system does not let us have. Each runs in a process of its own that is held to less.
#![cfg(target_os = "linux")]

use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::process::Command;

use super::*;

/// Runs the test `name` of this file again, behind `prefix`, with `workspace` told to it.
/// False if the system has no such prefix.
fn again(name: &str, prefix: &[&str], workspace: &Path) -> bool {
    let this = std::env::current_exe().expect("this program");
    let output = Command::new(prefix[0])
        .args(&prefix[1..])
        .arg(this)
        .args(["--exact", "--ignored", "--test-threads=1", &format!("workspace::local::tests::limits::{name}")])
        .env("TOOLGATE_TEST_WORKSPACE", workspace)
        .output();
    let Ok(output) = output else {
        println!("skipped, since there is no {}", prefix[0]);
        return false;
    };
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && told.contains("1 passed"), "{told}{}", String::from_utf8_lossy(&output.stderr));
    true
}

fn given() -> Local {
    let path = std::env::var_os("TOOLGATE_TEST_WORKSPACE").expect("only run by another test");
    Local::open(path).expect("a workspace")
}

/// Lets everyone reach the workspace, then runs as nobody.
fn as_nobody(name: &str, bed: &Bed) {
    let root = rustix::process::geteuid().is_root();
    for path in [bed.at("..").as_path(), &bed.at("")] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a mode");
    }
    let prefix: &[&str] =
        if root { &["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] } else { &["env"] };
    again(name, prefix, &bed.at(""));
}

#[test]
fn a_file_size_limit_is_no_space() {
    let bed = Bed::with(&[("a", "old"), ("two", "old")]);
    fs::hard_link(bed.at("two"), bed.at("names")).expect("a name");
    again("limited", &["sh", "-c", "ulimit -f 8; exec \"$0\" \"$@\""], &bed.at(""));
    for path in ["a", "two"] {
        assert_eq!(bed.text(path), "old");
    }
    bed.clean();
}

#[test]
#[ignore = "run by a_file_size_limit_is_no_space"]
fn limited() {
    let local = given();
    let large = "x".repeat(64 * 1024);
    for (path, expect) in [("a", exactly("old")), ("two", exactly("old")), ("new", Expect::Absent)] {
        assert_eq!(
            kind(local.commit(&ChangeSet::new(vec![write(path, expect, &large)]), &NoJournal)),
            "NoSpace",
            "{path}"
        );
    }
}

#[test]
fn a_full_disk_is_no_space() {
    let bed = Bed::new();
    let script =
        "mount -t tmpfs -o size=1m none \"$TOOLGATE_TEST_WORKSPACE\" 2>/dev/null || exit 9; exec \"$0\" \"$@\"";
    let able = Command::new("unshare").args(["-m", "sh", "-c", "mount -t tmpfs none /mnt"]).output();
    if able.is_ok_and(|output| output.status.success()) {
        again("full", &["unshare", "-m", "sh", "-c", script], &bed.at(""));
    }
}

#[test]
#[ignore = "run by a_full_disk_is_no_space"]
fn full() {
    let local = given();
    let root = PathBuf::from(std::env::var_os("TOOLGATE_TEST_WORKSPACE").expect("a folder"));
    let old = "o".repeat(600 * 1024);
    let commit = |changes| local.commit(&ChangeSet::new(changes), &NoJournal);
    commit(vec![write("a", Expect::Absent, &old), write("two", Expect::Absent, "small")]).expect("a commit");
    fs::hard_link(root.join("two"), root.join("names")).expect("a name");
    let large = "n".repeat(900 * 1024);
    for (path, expect) in [("a", exactly(&old)), ("two", exactly("small")), ("new", Expect::Absent)] {
        let set = vec![write("made", Expect::Absent, "x"), write(path, expect, &large)];
        assert_eq!(kind(commit(set)), "NoSpace", "{path}");
        assert_eq!(fs::read_to_string(root.join("a")).expect("a file"), old);
        assert_eq!(fs::read_to_string(root.join("two")).expect("a file"), "small");
        assert_eq!(fs::read_dir(&root).expect("a folder").count(), 3, "nothing is left");
    }
}

#[test]
fn what_may_not_be_written_is_refused() {
    let bed = Bed::with(&[("locked/a", "old"), ("open/read-only", "old"), ("open/hidden", "old"), ("shut/a", "old")]);
    fs::set_permissions(bed.at("open"), fs::Permissions::from_mode(0o777)).expect("a mode");
    fs::set_permissions(bed.at("open/hidden"), fs::Permissions::from_mode(0o200)).expect("a mode");
    fs::set_permissions(bed.at("locked/a"), fs::Permissions::from_mode(0o666)).expect("a mode");
    fs::set_permissions(bed.at("shut"), fs::Permissions::from_mode(0o744)).expect("a mode");
    if rustix::process::geteuid().is_root() {
        as_nobody("forbidden", &bed);
    }
    assert_eq!(bed.text("locked/a"), "old");
    bed.clean();
}

#[test]
#[ignore = "run by what_may_not_be_written_is_refused"]
fn forbidden() {
    let local = given();
    for (path, why) in [
        ("locked/a", "ClosedFolder"),
        ("locked/new", "ClosedFolder"),
        ("open/read-only", "PermissionDenied"),
        ("open/hidden", "PermissionDenied"),
    ] {
        let refused = local.commit(&ChangeSet::new(vec![write(path, Expect::Any, "new")]), &NoJournal);
        assert_eq!(kind(refused), why, "{path}");
    }
    let refused = local.commit(&ChangeSet::new(vec![write("shut/a", Expect::Any, "new")]), &NoJournal);
    assert!(["PermissionDenied", "ClosedFolder"].contains(&kind(refused).as_str()));
    let refused = local.commit(&ChangeSet::new(vec![Change::MakeDir { path: ws("locked/dir") }]), &NoJournal);
    assert_eq!(kind(refused), "ClosedFolder");
    // A folder that tells names but lets nobody look gives rows all the same.
    let listing = local.list(&ws("shut"), 9).expect("a listing");
    assert_eq!((listing.entries[0].name.as_str(), listing.entries[0].kind), ("a", None));
}

#[test]
fn what_a_new_file_could_not_be_is_written_in_place() {
    let bed = Bed::with(&[("theirs", "old")]);
    if !rustix::process::geteuid().is_root() {
        return;
    }
    fs::set_permissions(bed.at("theirs"), fs::Permissions::from_mode(0o666)).expect("a mode");
    chown(bed.at("theirs"), Some(1234), Some(2345)).expect("an owner");
    chown(bed.at(""), Some(65534), None).expect("an owner");
    let inode = fs::metadata(bed.at("theirs")).expect("a file").ino();
    as_nobody("owned_by_another", &bed);
    let metadata = fs::metadata(bed.at("theirs")).expect("a file");
    if bed.text("theirs") != "old" {
        assert_eq!((metadata.uid(), metadata.gid(), metadata.ino()), (1234, 2345, inode));
        assert_eq!(bed.text("theirs"), "new");
    }
    bed.clean();
}

#[test]
#[ignore = "run by what_a_new_file_could_not_be_is_written_in_place"]
fn owned_by_another() {
    given().commit(&ChangeSet::new(vec![write("theirs", exactly("old"), "new")]), &NoJournal).expect("a commit");
}

#[test]
fn a_file_that_is_a_mount_point_is_written_in_place() {
    let bed = Bed::with(&[("mounted", "old"), ("source", "old")]);
    let script = "mount --bind \"$TOOLGATE_TEST_WORKSPACE/source\" \"$TOOLGATE_TEST_WORKSPACE/mounted\" || exit 9; exec \"$0\" \"$@\"";
    let able = Command::new("unshare").args(["-m", "sh", "-c", "mount -t tmpfs none /mnt"]).output();
    if able.is_ok_and(|output| output.status.success()) {
        again("mounted", &["unshare", "-m", "sh", "-c", script], &bed.at(""));
        assert_eq!(bed.text("source"), "new");
    }
    bed.clean();
}

#[test]
#[ignore = "run by a_file_that_is_a_mount_point_is_written_in_place"]
fn mounted() {
    given().commit(&ChangeSet::new(vec![write("mounted", exactly("old"), "new")]), &NoJournal).expect("a commit");
}
