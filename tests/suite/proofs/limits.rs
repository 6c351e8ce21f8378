//! A full disk, folders that may not be written, and no more open files. What needs more rights than the tests have is
//! skipped, and says so. As long with `TOOLGATE_LONG=1` as without: nothing here is left to chance.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::kit::{Site, answers, post, utf8};
use crate::suite::cases::kit::{Reply, says};
use crate::suite::support::{Server, TOOLGATE, Temp};

/// A disk of one megabyte, mounted over a folder.
struct SmallDisk<'a>(&'a Path);

impl<'a> SmallDisk<'a> {
    fn over(folder: &'a Path) -> Option<Self> {
        let mut mount = Command::new("mount");
        let mounted = mount.args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"]).arg(folder).output();
        let mounted = mounted.is_ok_and(|output| output.status.success());
        if !mounted {
            eprintln!("skipped: no disk can be mounted here");
        }
        mounted.then_some(SmallDisk(folder))
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}

/// Fills the disk under `folder` to the last byte.
fn fill(folder: &Path) {
    let filler = folder.join("filler");
    assert!(fs::write(&filler, vec![b'x'; 4 << 20]).is_err(), "more than the disk holds");
    // A failed write keeps what fitted.
    assert!(fs::metadata(&filler).expect("a filler").len() > 0);
}

#[test]
fn what_does_not_fit_on_the_disk_changes_nothing() {
    let site = Site::new();
    let Some(_disk) = SmallDisk::over(site.folder.path()) else { return };
    site.folder.write("file", "old\n");
    let mut server = site.serve();
    Reply(server.call("read_file", json!({ "path": "file" }))).ok();
    let large = "new\n".repeat(500_000);
    for path in ["file", "other"] {
        Reply(server.call("write_file", json!({ "path": path, "content": large }))).error("no_space");
    }
    fill(site.folder.path());
    let patch = json!({ "path": "file", "old_str": "old", "new_str": "new".repeat(5000) });
    Reply(server.call("patch_file", patch)).error("no_space");
    assert_eq!(site.folder.text("file"), "old\n");
    assert!(!site.folder.path().join("other").exists());
    site.is_clean();
    fs::remove_file(site.folder.path().join("filler")).expect("room again");
    Reply(server.call("patch_file", json!({ "path": "file", "old_str": "old", "new_str": "new" }))).ok();
    assert!(server.close().success());
    assert_eq!(site.history().open(), [""; 0]);
    assert_eq!(site.history().done.len(), 1);
}

#[test]
fn nothing_is_changed_that_cannot_be_recorded() {
    let site = Site::new();
    let Some(_disk) = SmallDisk::over(site.state.path()) else { return };
    site.folder.write("file", "old\n");
    let mut server = site.serve();
    Reply(server.call("read_file", json!({ "path": "file" }))).ok();
    fill(site.state.path());
    Reply(server.call("patch_file", json!({ "path": "file", "old_str": "old", "new_str": "new" }))).error("no_space");
    Reply(server.call("write_file", json!({ "path": "other", "content": "new" }))).error("no_space");
    assert_eq!(site.folder.text("file"), "old\n");
    assert!(!site.folder.path().join("other").exists());
    site.is_clean();
    let read = Reply(server.call("read_file", json!({ "path": "file" }))).ok();
    assert!(read.contains("old"), "reading goes on: {read}");
    fs::remove_file(site.state.path().join("filler")).expect("room again");
    Reply(server.call("patch_file", json!({ "path": "file", "old_str": "old", "new_str": "new" }))).ok();
    assert!(server.close().success());
    assert_eq!(site.history().open(), [""; 0]);
}

/// The same program as a user who is nobody; nothing if that cannot be.
fn as_nobody(bin: &Temp) -> Option<Command> {
    let program = bin.path().join("toolgate");
    fs::set_permissions(bin.path(), Permissions::from_mode(0o755)).expect("a folder for all");
    fs::hard_link(TOOLGATE, &program).or_else(|_| fs::copy(TOOLGATE, &program).map(drop)).expect("the program");
    let nobody = ["--reuid", "65534", "--regid", "65534", "--clear-groups"];
    let mut command = Command::new("setpriv");
    // Nobody has no settings, and may not look into those of others.
    command.args(nobody).arg(program).env("XDG_CONFIG_HOME", bin.path().join("none"));
    let mut probe = Command::new("setpriv");
    let works = probe.args(nobody).arg("true").output().is_ok_and(|output| output.status.success());
    if !works {
        eprintln!("skipped: no other user can be become here");
    }
    works.then_some(command)
}

#[test]
fn who_may_only_read_reads_and_is_told_what_may_not_be_written() {
    let (site, bin) = (Site::new(), Temp::new());
    let Some(mut command) = as_nobody(&bin) else { return };
    site.folder.write("file", "old\n");
    fs::set_permissions(site.folder.path(), Permissions::from_mode(0o755)).expect("a folder to read");
    std::os::unix::fs::chown(site.state.path(), Some(65534), Some(65534)).expect("a state of its own");
    command.arg("serve").arg(site.folder.path()).args(["--state", utf8(site.state.path())]);
    let mut server = Server::launch(command);
    assert!(Reply(server.call("read_file", json!({ "path": "file" }))).ok().contains("old"));
    let of_the_folder = ["change nothing in the folder of the workspace itself", "the permissions of that folder"];
    for (tool, arguments) in [
        ("write_file", json!({ "path": "file", "content": "new" })),
        ("write_file", json!({ "path": "other", "content": "new" })),
        ("patch_file", json!({ "path": "file", "old_str": "old", "new_str": "new" })),
    ] {
        says(Reply(server.call(tool, arguments)).error("permission_denied"), &of_the_folder);
    }
    assert_eq!(site.folder.text("file"), "old\n");
    assert!(server.close().success());
    assert_eq!(site.history().open(), [""; 0]);
}

#[test]
fn a_folder_that_may_not_be_read_is_not_served() {
    for mode in [0o700, 0o711, 0o744] {
        let (site, bin) = (Site::new(), Temp::new());
        let Some(mut command) = as_nobody(&bin) else { return };
        fs::set_permissions(site.folder.path(), Permissions::from_mode(mode)).expect("a folder that is closed");
        std::os::unix::fs::chown(site.state.path(), Some(65534), Some(65534)).expect("a state of its own");
        command.arg("serve").arg(site.folder.path()).args(["--state", utf8(site.state.path())]);
        let ended = Server::launch(command).finish();
        assert!(!ended.status.success(), "{mode:o}");
        let folder = utf8(site.folder.path());
        says(&ended.stderr, &[&format!("does not let this process look into the folder {folder}")]);
    }
}

#[test]
fn a_state_that_cannot_be_written_is_told_at_once() {
    let (site, bin) = (Site::new(), Temp::new());
    let Some(mut command) = as_nobody(&bin) else { return };
    fs::set_permissions(site.folder.path(), Permissions::from_mode(0o777)).expect("a folder for all");
    command.arg("serve").arg(site.folder.path()).args(["--state", utf8(site.state.path())]);
    let ended = Server::launch(command).finish();
    assert!(!ended.status.success());
    assert!(ended.stderr.contains("cannot be used") && ended.stderr.contains("--state DIR"), "{}", ended.stderr);
}

#[test]
fn a_server_out_of_open_files_says_so_and_lives() {
    let site = Site::new();
    site.folder.write("file", "old\n");
    let mut command = Command::new("sh");
    // What runs the tests may have handed on open files of its own, which count too.
    let alone = "exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-";
    command.args(["-c", &format!("{alone}; ulimit -n 24; exec \"$0\" \"$@\""), TOOLGATE, "serve"]);
    command.arg(site.folder.path()).args(["--state", utf8(site.state.path())]);
    let mut server = Server::launch(command);
    let calls = 200;
    for call in 0..calls {
        if call % 2 == 0 {
            post(&mut server, call, "read_file", json!({ "path": "file" }));
        } else {
            post(&mut server, call, "write_file", json!({ "path": format!("new {call}"), "content": "new" }));
        }
    }
    let told = answers(&mut server, calls);
    assert!(told.values().any(|reply| !reply.is_done()), "the limit is met");
    for (call, reply) in told {
        assert!(reply.is_done() || reply.code() == "io_error", "{}", reply.0);
        let made = site.folder.path().join(format!("new {call}")).exists();
        assert_eq!(made, reply.is_done() && call % 2 == 1, "call {call}: {}", reply.0);
    }
    // An answer goes out before the last files of its call are closed.
    let lives = (0..1000).any(|_| Reply(server.call("read_file", json!({ "path": "file" }))).is_done());
    assert!(lives, "it reads again once files are free");
    assert!(server.close().success());
    site.is_clean();
    assert_eq!(site.history().open(), [""; 0]);
}

/// The system ends a process that goes on past the limit.
#[test]
fn a_file_that_may_not_grow_is_no_end_of_the_server() {
    let long = "new\n".repeat(3000);
    for before in ["old\n".to_owned(), format!("old\n{}", "x".repeat(12_000))] {
        let site = Site::new();
        site.folder.write("file", &before);
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -f 16; exec \"$0\" \"$@\"", TOOLGATE, "serve"]);
        command.arg(site.folder.path()).args(["--state", utf8(site.state.path())]);
        let mut server = Server::launch(command);
        let patch = |new: &str| json!({ "path": "file", "old_str": "old", "new_str": new });
        Reply(server.call("patch_file", patch(&long))).error("no_space");
        assert_eq!(site.folder.text("file"), before);
        // In the end the log itself may not grow any more. Then nothing is changed, but all can be read.
        let fails = (0..200).find(|n| {
            let write = json!({ "path": format!("new {n}"), "content": "x".repeat(100) });
            let reply = Reply(server.call("write_file", write));
            assert!(reply.is_done() || reply.code() == "no_space", "{}", reply.0);
            assert_eq!(site.folder.path().join(format!("new {n}")).exists(), reply.is_done(), "{}", reply.0);
            !reply.is_done()
        });
        assert!(fails.is_some(), "the limit is met");
        assert!(Reply(server.call("read_file", json!({ "path": "file" }))).ok().contains("old"));
        server.close();
        site.is_clean();
    }
}

#[test]
fn a_search_through_wide_and_deep_folders_opens_few_files() {
    let site = Site::new();
    let mut deep = String::new();
    for level in 0..60 {
        deep.push_str(&format!("d{level}/"));
        for n in 0..20 {
            site.folder.write(&format!("{deep}{n}.txt"), "needle\n");
        }
        site.folder.write(&format!("wide{level}/a/b/c.txt"), "needle\n");
    }
    for n in 0..2000 {
        site.folder.write(&format!("flat/{n}.txt"), "needle\n");
    }
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n 40; exec \"$0\" \"$@\"", TOOLGATE, "serve"]);
    command.arg(site.folder.path()).args(["--state", utf8(site.state.path())]);
    let mut server = Server::launch(command);
    for arguments in
        [json!({ "pattern": "needle", "output": "count" }), json!({ "pattern": "needle", "output": "files" })]
    {
        let reply = Reply(server.call("search_files", arguments));
        let text = reply.ok();
        assert!(text.contains("3260 files") && !text.contains("cannot be read"), "{text}");
    }
    let reply = Reply(server.call("find_files", json!({ "pattern": "*.txt" })));
    assert!(reply.ok().contains("of 3260 paths"), "{}", reply.0);
    assert!(server.close().success());
}
