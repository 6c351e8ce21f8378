//! The probes that tools of this kind are measured with, each under its usual name. Where there is no one right answer,
//! this says which one is given here.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::cases::kit::{Desk, Reply, files_of, says};
use super::proofs::kit::{Site, answer, answers, post};
use super::support::{Server, Temp};

/// One edit of one file: what is there before, and after.
#[track_caller]
fn edit(before: impl AsRef<[u8]>, old: &str, new: &str, after: impl AsRef<[u8]>) {
    let mut desk = Desk::with("t.txt", before);
    desk.patch("t.txt", old, new).ok();
    let bytes = desk.folder.read("t.txt");
    assert_eq!(bytes.escape_ascii().to_string(), after.as_ref().escape_ascii().to_string());
}

/// One edit that is refused, and leaves the file.
#[track_caller]
fn refused(before: impl AsRef<[u8]>, old: &str, new: &str, code: &str) -> Reply {
    let mut desk = Desk::with("t.txt", &before);
    let reply = desk.patch("t.txt", old, new);
    reply.error(code);
    assert_eq!(desk.folder.read("t.txt"), before.as_ref());
    reply
}

/// A workspace `a`, and around it what nobody may reach: `out/secret.txt`, `ab/secret.txt`.
struct Fenced {
    whole: Temp,
    desk: Desk,
}

impl Fenced {
    fn new() -> Self {
        Fenced::with(|_| {})
    }

    /// With more in the workspace; it is told where that is.
    fn with(more: impl FnOnce(&Path)) -> Self {
        let files = [("a/ok.txt", "fine\n"), ("out/secret.txt", "TOPSECRET\n"), ("ab/secret.txt", "TOPSECRET\n")];
        let whole = Temp::with(&files);
        more(&whole.path().join("a"));
        let server = Server::start(&whole.path().join("a"));
        Fenced { desk: Desk { folder: Temp::new(), server }, whole }
    }

    /// With links in the workspace that lead out of it.
    fn linked() -> Self {
        Fenced::with(|root| {
            let out = root.parent().expect("a folder").join("out");
            symlink(out.join("secret.txt"), root.join("lf")).expect("a link");
            symlink(&out, root.join("ld")).expect("a link");
            symlink(out.join("not_there"), root.join("dg")).expect("a link");
        })
    }

    /// Refused, without a word of what is there; and nothing outside has changed.
    #[track_caller]
    fn refuses(&mut self, tool: &str, arguments: serde_json::Value) {
        let reply = self.desk.call(tool, arguments);
        reply.error("outside_workspace");
        assert!(!reply.0.to_string().contains("TOPSECRET"), "{reply:?}");
        let out = files_of(&self.whole.path().join("out"));
        assert_eq!(out, [("secret.txt".to_owned(), b"TOPSECRET\n".to_vec())].into());
        assert_eq!(self.whole.text("ab/secret.txt"), "TOPSECRET\n");
    }
}

#[test]
fn crlf_1line() {
    edit("a\r\nfoo\r\nb\r\n", "foo", "bar", "a\r\nbar\r\nb\r\n");
}

#[test]
fn crlf_multiline_lf_old() {
    edit("a\r\nfoo\r\nb\r\n", "a\nfoo", "a\nbar\nbaz", "a\r\nbar\r\nbaz\r\nb\r\n");
}

#[test]
fn mixed_eol() {
    edit("a\r\nfoo\nb\r\n", "foo", "bar", "a\r\nbar\nb\r\n");
}

#[test]
fn lone_cr_kept() {
    edit("a\rfoo\rb\n", "foo", "bar", "a\rbar\rb\n");
}

#[test]
fn bom() {
    edit("\u{feff}hello\nfoo\n", "foo", "bar", "\u{feff}hello\nbar\n");
}

#[test]
fn bom_first_line() {
    edit("\u{feff}foo\nx\n", "foo", "bar", "\u{feff}bar\nx\n");
}

#[test]
fn latin1() {
    refused(b"caf\xe9\nfoo\n", "foo", "bar", "unsupported_encoding");
}

#[test]
fn latin1_read() {
    says(Desk::with("l1.txt", b"caf\xe9\n").read("l1.txt").error("unsupported_encoding"), &["byte 3"]);
}

/// Others refuse; here the text is patched where it stands.
#[test]
fn utf16le() {
    let wide = |text: &str| -> Vec<u8> {
        [0xFF, 0xFE].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect()
    };
    edit(wide("a\r\nfoo\r\n"), "foo", "bar", wide("a\r\nbar\r\n"));
}

#[test]
fn dollar() {
    edit("x foo y\n", "foo", "$& $1 $$ $` $'", "x $& $1 $$ $` $' y\n");
}

#[test]
fn backslash() {
    edit("x foo y\n", "foo", r"\1 \n \\", "x \\1 \\n \\\\ y\n");
}

#[test]
fn regex_in_old() {
    edit("a.c abc\n", "a.c", "Z", "Z abc\n");
}

#[test]
fn no_trailing_nl() {
    edit("a\nfoo", "foo", "bar", "a\nbar");
}

#[test]
fn unicode() {
    edit("héllo wörld 🚀\n", "wörld", "bär", "héllo bär 🚀\n");
}

#[test]
fn dup_match() {
    let reply = refused("foo\nfoo\n", "foo", "bar", "ambiguous_match");
    says(reply.error("ambiguous_match"), &["lines 1, 2"]);
}

#[test]
fn overlap_aa_in_aaa() {
    refused("aaa\n", "aa", "bar", "ambiguous_match");
}

#[test]
fn empty_old() {
    refused("abc\n", "", "X", "invalid_arguments");
}

/// An edit that changes nothing is told as none.
#[test]
fn noop_edit() {
    refused("abc\n", "abc", "abc", "invalid_arguments");
}

/// Nothing is matched approximately; what differs is told.
#[test]
fn fuzzy_whitespace() {
    let reply =
        refused("if x:\n        foo()\n        bar()\n", "if x:\n    foo()", "if x:\n    baz()", "old_str_not_found");
    says(reply.error("old_str_not_found"), &["nearest place", "indentation"]);
}

#[test]
fn batch_atomic() {
    let mut desk = Desk::with("t.txt", "one\ntwo\n");
    let patch = |old: &str| json!({ "path": "t.txt", "old_str": old, "new_str": "X" });
    let reply = desk.call("patch_files", json!({ "patches": [patch("one"), patch("NOPE")] }));
    says(reply.error("old_str_not_found"), &["patches[1]"]);
    assert_eq!(desk.folder.text("t.txt"), "one\ntwo\n");
}

/// An edit is made on what is there now, and it is told that this is not what was read.
#[test]
fn stale_detect() {
    let mut desk = Desk::with("t.txt", "alpha beta\n");
    desk.read("t.txt").ok();
    desk.folder.write("t.txt", "alpha gamma\n");
    says(&desk.patch("t.txt", "alpha", "A").ok(), &["had changed since you last read it"]);
    assert_eq!(desk.folder.text("t.txt"), "A gamma\n");
    desk.folder.write("t.txt", "theirs\n");
    desk.write("t.txt", "mine\n").error("stale_version");
    assert_eq!(desk.folder.text("t.txt"), "theirs\n");
}

/// An exact edit proves that it knows what it replaces; a write does not.
#[test]
fn edit_before_read() {
    edit("foo\n", "foo", "bar", "bar\n");
    Desk::with("t.txt", "foo\n").write("t.txt", "bar\n").error("read_required");
}

fn keeps_mode_and_owner(change: impl FnOnce(&mut Desk) -> Reply) {
    let mut desk = Desk::with("t.sh", "#!/bin/sh\nfoo\n");
    let path = desk.folder.path().join("t.sh");
    desk.read("t.sh").ok();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a mode");
    // Only root may give a file away.
    let is_root = fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    if is_root {
        std::os::unix::fs::chown(&path, Some(1234), None).expect("an owner");
    }
    let owner = fs::metadata(&path).expect("a file").uid();
    change(&mut desk).ok();
    let after = fs::metadata(&path).expect("a file");
    assert_eq!((after.mode() & 0o7777, after.uid()), (0o755, owner));
}

#[test]
fn mode_owner_edit() {
    keeps_mode_and_owner(|desk| desk.patch("t.sh", "foo", "bar"));
}

#[test]
fn mode_owner_write() {
    keeps_mode_and_owner(|desk| desk.write("t.sh", "new\n"));
}

#[test]
fn dotdot() {
    for path in ["../out/secret.txt", "x/../../out/secret.txt", "./../a/../out/secret.txt"] {
        Fenced::new().refuses("read_file", json!({ "path": path }));
    }
}

#[test]
fn prefix_sibling() {
    let mut fenced = Fenced::new();
    let path = fenced.whole.path().join("ab/secret.txt").display().to_string();
    fenced.refuses("read_file", json!({ "path": path }));
    fenced.refuses("read_file", json!({ "path": "../ab/secret.txt" }));
}

#[test]
fn abs_outside() {
    let mut fenced = Fenced::new();
    let path = fenced.whole.path().join("out/secret.txt").display().to_string();
    fenced.refuses("read_file", json!({ "path": path }));
}

#[test]
fn read_etc_hostname() {
    Fenced::new().refuses("read_file", json!({ "path": "/etc/hostname" }));
}

#[test]
fn symlink_file_out() {
    Fenced::linked().refuses("read_file", json!({ "path": "lf" }));
}

#[test]
fn symlink_dir_out() {
    let mut fenced = Fenced::linked();
    fenced.refuses("read_file", json!({ "path": "ld/secret.txt" }));
    fenced.refuses("list_dir", json!({ "path": "ld" }));
}

#[test]
fn symlink_dir_write_new() {
    Fenced::linked().refuses("write_file", json!({ "path": "ld/new.txt", "content": "x" }));
}

#[test]
fn symlink_dir_write_sub() {
    let arguments = json!({ "path": "ld/sub/new.txt", "content": "x", "create_dirs": true });
    Fenced::linked().refuses("write_file", arguments);
}

#[test]
fn dangling_symlink_write() {
    let mut fenced = Fenced::linked();
    fenced.refuses("write_file", json!({ "path": "dg", "content": "x" }));
    assert!(fenced.whole.path().join("a/dg").is_symlink());
}

#[test]
fn symlink_edit_out() {
    Fenced::linked().refuses("patch_file", json!({ "path": "lf", "old_str": "TOP", "new_str": "x" }));
}

fn through_a_link(change: impl FnOnce(&mut Desk), after: &str) {
    let folder = Temp::with(&[("tgt.txt", "foo\n")]);
    symlink("tgt.txt", folder.path().join("li")).expect("a link");
    let mut desk = Desk::serving(folder);
    change(&mut desk);
    assert_eq!(desk.folder.text("tgt.txt"), after);
    assert!(desk.folder.path().join("li").is_symlink());
}

#[test]
fn symlink_inside_edit() {
    through_a_link(|desk| drop(desk.patch("li", "foo", "bar").ok()), "bar\n");
}

#[test]
fn symlink_inside_write() {
    through_a_link(
        |desk| {
            desk.read("li").ok();
            desk.write("li", "new\n").ok();
        },
        "new\n",
    );
}

/// All names of a file are one file, and stay so.
#[test]
fn hardlink_edit() {
    let folder = Temp::with(&[("h1", "foo\n")]);
    fs::hard_link(folder.path().join("h1"), folder.path().join("h2")).expect("a second name");
    let mut desk = Desk::serving(folder);
    desk.patch("h1", "foo", "bar").ok();
    assert_eq!(desk.folder.text("h2"), "bar\n");
    assert_eq!(fs::metadata(desk.folder.path().join("h1")).expect("a file").nlink(), 2);
}

#[test]
fn read_0byte() {
    says(&Desk::with("zero.txt", "").read("zero.txt").ok(), &["0 lines"]);
}

#[test]
fn read_directory() {
    Desk::with("d/a", "1").read("d").error("not_a_file");
}

#[test]
fn read_binary() {
    let bytes: Vec<u8> = (0..=255).collect();
    let reply = Desk::with("bin.dat", bytes).read("bin.dat");
    says(reply.error("binary_file"), &["NUL at byte 0"]);
}

#[test]
fn name_newline() {
    assert_eq!(Desk::with("a\nb.txt", "x\n").read("a\nb.txt").ok(), "1: x\n");
}

#[test]
fn name_emoji() {
    assert_eq!(Desk::with("🚀.txt", "x\n").read("🚀.txt").ok(), "1: x\n");
}

#[test]
fn name_nfd() {
    assert_eq!(Desk::with("cafe\u{301}.txt", "x\n").read("cafe\u{301}.txt").ok(), "1: x\n");
}

#[test]
fn name_nfc() {
    assert_eq!(Desk::with("caf\u{e9}.txt", "x\n").read("caf\u{e9}.txt").ok(), "1: x\n");
}

#[test]
fn name_space() {
    assert_eq!(Desk::with(" a b .txt", "x\n").read(" a b .txt").ok(), "1: x\n");
}

/// No folder is made unasked.
#[test]
fn write_missing_parent() {
    let mut desk = Desk::with("ok.txt", "");
    says(desk.write("nodir/x/new.txt", "x").error("file_not_found"), &["create_dirs"]);
    assert_eq!(desk.files().len(), 1);
    let arguments = json!({ "path": "nodir/x/new.txt", "content": "x", "create_dirs": true });
    desk.call("write_file", arguments).ok();
    assert_eq!(desk.folder.text("nodir/x/new.txt"), "x");
}

/// `line 0\n` to `line 199\n`.
fn numbered() -> String {
    (0..200).map(|n| format!("line {n}\n")).collect()
}

fn edit_of(n: usize) -> serde_json::Value {
    json!({ "path": "n.txt", "old_str": format!("line {n}\n"), "new_str": format!("LINE {n}\n") })
}

#[test]
fn concurrent_20_edits() {
    let mut desk = Desk::with("n.txt", numbered());
    for n in 0..20 {
        post(&mut desk.server, n, "patch_file", edit_of(n * 10));
    }
    answers(&mut desk.server, 20).values().for_each(|reply| drop(reply.ok()));
    assert_eq!(desk.folder.text("n.txt").matches("LINE").count(), 20);
}

/// Two servers that know nothing of each other. Every edit that is told as done is there, and none is refused.
#[test]
fn two_procs_200_edits() {
    let folder = Temp::with(&[("n.txt", &numbered())]);
    let mut servers = [Server::start(folder.path()), Server::start(folder.path())];
    for batch in 0..10 {
        for (which, server) in servers.iter_mut().enumerate() {
            for n in 0..10 {
                post(server, n, "patch_file", edit_of(which * 100 + batch * 10 + n));
            }
        }
        for server in &mut servers {
            answers(server, 10).values().for_each(|reply| drop(reply.ok()));
        }
    }
    let text = folder.text("n.txt");
    assert_eq!((text.matches("LINE").count(), text.lines().count()), (200, 200));
}

/// After a kill the file is old or new, and once the server is started again nothing is left beside it.
#[test]
fn kill_mid_write_9mb() {
    let site = Site::new();
    let body = |line: &str| line.repeat(9 * 1024 * 1024 / line.len());
    let (old, new) = (format!("head\n{}", body("old\n")), format!("{}{}", body("new\n"), body("old\n")));
    for round in 0..6 {
        site.folder.write("k.txt", &old);
        let mut server = site.serve();
        post(&mut server, 0, "patch_file", json!({ "path": "k.txt", "old_str": "head\n", "new_str": body("new\n") }));
        // The more others are answered first, the later the kill.
        for call in 1..=round {
            post(&mut server, call, "list_dir", json!({}));
        }
        for _ in 0..round {
            answer(server.recv());
        }
        server.kill();
        let text = site.folder.text("k.txt");
        assert!(text == old || text == new, "round {round}: torn");
        let mut server = site.serve();
        Reply(server.call("list_dir", json!({}))).ok();
        site.is_clean();
    }
}

fn pipe_in(folder: &Temp, name: &str) {
    assert!(Command::new("mkfifo").arg(folder.path().join(name)).status().expect("mkfifo").success());
}

#[test]
fn fifo_read() {
    let folder = Temp::new();
    pipe_in(&folder, "fifo");
    Desk::serving(folder).read("fifo").error("not_a_file");
}

#[test]
fn server_alive_after_fifos() {
    let folder = Temp::with(&[("ok.txt", "fine\n")]);
    pipe_in(&folder, "fifo");
    let mut desk = Desk::serving(folder);
    for _ in 0..12 {
        desk.read("fifo").error("not_a_file");
    }
    assert_eq!(desk.read("ok.txt").ok(), "1: fine\n");
}

#[test]
fn zero_by_symlink() {
    let folder = Temp::new();
    symlink("/dev/zero", folder.path().join("z1")).expect("a link");
    Desk::serving(folder).read("z1").error("outside_workspace");
}

/// Only root may make a device, so elsewhere there is nothing to test.
#[test]
fn zero_device_in_root() {
    let folder = Temp::with(&[("ok.txt", "fine\n")]);
    let made = Command::new("mknod").arg(folder.path().join("zero")).args(["c", "1", "5"]).output();
    if !made.is_ok_and(|made| made.status.success()) {
        return;
    }
    let mut desk = Desk::serving(folder);
    desk.read("zero").error("not_a_file");
    desk.patch("zero", "a", "b").error("not_a_file");
    desk.write("zero", "b").error("not_a_file");
    assert_eq!(desk.read("ok.txt").ok(), "1: fine\n");
}

#[test]
fn malformed_json_line() {
    let mut desk = Desk::with("ok.txt", "fine\n");
    desk.server.send_line("{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\"");
    assert_eq!(desk.server.recv()["error"]["code"], -32700);
    assert_eq!(desk.read("ok.txt").ok(), "1: fine\n");
}

/// A request for what is not there breaks the contract.
#[test]
fn unknown_tool() {
    let mut desk = Desk::with("ok.txt", "");
    let answer = desk.server.request("tools/call", json!({ "name": "no_such_tool", "arguments": {} }));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
}

/// Wrong arguments are the model's to mend, all of them at once.
#[test]
fn bad_args() {
    let reply = Desk::with("ok.txt", "").call("read_file", json!({ "bogus": 1, "start_line": "x" }));
    says(reply.error("invalid_arguments"), &["path", "bogus", "start_line"]);
}
