//! A file is overwritten only by who has read all of it as it is now.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::kit::{Home, lines};
use crate::suite::cases::kit::{Desk, Reply, says};
use crate::suite::support::Temp;

const CHANGED: &str = "[The file had changed since you last read it; the patch was made on what it says now.]";

fn read(desk: &mut Desk, path: &str, from: u64, to: u64) -> Reply {
    desk.call("read_file", json!({ "path": path, "start_line": from, "end_line": to }))
}

fn mtime(desk: &Desk, path: &str) -> SystemTime {
    fs::metadata(desk.folder.path().join(path)).and_then(|file| file.modified()).expect("a time")
}

fn set_mtime(desk: &Desk, path: &str, time: SystemTime) {
    let file = File::options().write(true).open(desk.folder.path().join(path)).expect("a file");
    file.set_modified(time).expect("a time");
}

#[test]
fn what_was_never_read_is_not_overwritten() {
    let mut desk = Desk::with("a", "theirs\n");
    says(desk.write("a", "mine\n").error("read_required"), &["a exists, and you have not read it", "patch_file"]);
    assert_eq!(desk.folder.text("a"), "theirs\n");
    desk.read("a").ok();
    desk.write("a", "mine\n").ok();
    desk.write("a", "mine again\n").ok();
    desk.write("new", "made\n").ok();
    desk.write("new", "what one has written, one knows\n").ok();
    assert_eq!(desk.folder.text("a"), "mine again\n");
}

#[test]
fn another_time_on_the_same_bytes_is_no_change() {
    let mut desk = Desk::with("a", "one\ntwo\n");
    desk.read("a").ok();
    set_mtime(&desk, "a", SystemTime::now() + Duration::from_secs(3600));
    let reply = desk.patch("a", "one", "1");
    assert_eq!(reply.observations(), ["File patched: a"], "B108: no word of a change");
    set_mtime(&desk, "a", SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000));
    desk.write("a", "1\n2\n").ok();
    assert_eq!(desk.folder.text("a"), "1\n2\n", "B108");
}

#[test]
fn other_bytes_at_the_same_size_and_time_are_a_change() {
    for tool in ["patch_file", "write_file"] {
        let mut desk = Desk::with("a", "one\n");
        desk.read("a").ok();
        let time = mtime(&desk, "a");
        desk.folder.write("a", "two\n");
        set_mtime(&desk, "a", time);
        if tool == "patch_file" {
            desk.patch("a", "one", "1").error("old_str_not_found");
            let reply = desk.patch("a", "two", "2");
            assert_eq!(reply.observations(), ["File patched: a", CHANGED], "B109");
            assert_eq!(desk.folder.text("a"), "2\n", "B109: made on what is there");
        } else {
            says(desk.write("a", "lost\n").error("stale_version"), &["a has changed since you read it"]);
            assert_eq!(desk.folder.text("a"), "two\n", "B109");
            desk.read("a").ok();
            desk.write("a", "both\n").ok();
        }
    }
}

#[test]
fn a_long_file_can_be_read_in_parts_and_then_be_written() {
    let text = lines(3000);
    let mut desk = Desk::with("long", &text);
    desk.read("long").ok();
    let refused = desk.write("long", "short\n");
    says(refused.error("read_required"), &["You have not read all of long: lines from 2001 on still unseen"]);
    assert_eq!(refused.details()["unseen"], json!([[2001, null]]), "B110");
    read(&mut desk, "long", 2901, 3000).ok();
    assert_eq!(desk.write("long", "short\n").details()["unseen"], json!([[2001, 2900]]), "B110");

    desk.patch("long", "line 10\n", "LINE 10\n").ok();
    assert_eq!(desk.folder.text("long"), text.replace("line 10\n", "LINE 10\n"), "B110: the match proves itself");
    // A patch of one's own takes nothing away from what was seen; what lies behind it has moved.
    assert_eq!(desk.write("long", "short\n").details()["unseen"], json!([[2001, 2900]]), "B110");
    desk.patch("long", "line 20\n", "line 20\nand a half\nand more\n").ok();
    assert_eq!(desk.write("long", "short\n").details()["unseen"], json!([[2003, 2902]]), "B110");
    desk.patch("long", "line 2500\n", "").ok();
    desk.patch("long", "line 2950\n", "").ok();
    assert_eq!(desk.write("long", "short\n").details()["unseen"], json!([[2003, 2901]]), "B110");
    read(&mut desk, "long", 2003, 2901).ok();
    desk.write("long", "short\n").ok();
    assert_eq!(desk.folder.text("long"), "short\n", "B110");
}

/// A file that was changed a moment ago cannot be told apart by its clock, so it is told apart by its bytes.
#[test]
fn parts_of_a_file_that_was_changed_a_moment_ago_add_up() {
    let text = lines(40_000);
    for _ in 0..3 {
        let mut desk = Desk::with("long", "");
        // Both parts are read at once, or one of them somewhat later: it must not matter.
        desk.folder.write("long", &text);
        for from in (1..40_000).step_by(2000) {
            read(&mut desk, "long", from, from + 1999).ok();
        }
        desk.write("long", "short\n").ok();
        assert_eq!(desk.folder.text("long"), "short\n");
    }
}

#[test]
fn a_file_changed_between_two_parts_is_stale_however_fast_that_was() {
    let text = lines(40_000);
    let mut desk = Desk::with("long", "");
    desk.folder.write("long", &text);
    read(&mut desk, "long", 1, 2000).ok();
    desk.folder.write("long", text.replace("line 3\n", "LINE 3\n"));
    for from in (2001..40_000).step_by(2000) {
        read(&mut desk, "long", from, from + 1999).ok();
    }
    let refused = desk.write("long", "short\n");
    assert!(!refused.is_done(), "line 3 was never seen as it is");
    assert!(desk.folder.text("long").contains("LINE 3\n"));
}

#[cfg(unix)]
#[test]
fn a_file_is_one_file_under_all_its_names() {
    let mut desk = Desk::with("dir/real", "one\n");
    std::os::unix::fs::symlink("dir/real", desk.folder.path().join("link")).expect("a link");
    std::os::unix::fs::symlink("dir", desk.folder.path().join("way")).expect("a link");
    desk.read("link").ok();
    desk.write("dir/real", "two\n").ok();
    desk.write("way/real", "three\n").ok();
    desk.write("link", "four\n").ok();
    desk.folder.write("dir/real", "theirs\n");
    desk.write("way/real", "lost\n").error("stale_version");
    desk.read("way/real").ok();
    desk.write("link", "five\n").ok();
    assert_eq!(desk.folder.text("dir/real"), "five\n");
    // The link leads elsewhere now: that file was never read.
    desk.folder.write("other", "other\n");
    std::fs::remove_file(desk.folder.path().join("link")).expect("the link");
    std::os::unix::fs::symlink("other", desk.folder.path().join("link")).expect("a link");
    desk.write("link", "lost\n").error("read_required");
}

#[test]
fn a_part_is_not_written_back_as_the_whole() {
    let text = lines(60);
    let mut desk = Desk::with("a", &text);
    read(&mut desk, "a", 1, 20).ok();
    for (what, content) in [("the lines", lines(20)), ("and a notice", lines(20) + "[Lines 21-60 are not shown.]\n")] {
        let refused = desk.write("a", &content);
        refused.error("read_required");
        assert_eq!(refused.details()["unseen"], json!([[21, null]]), "B111, B054: {what}");
        assert_eq!(desk.folder.text("a"), text, "B111, B054: {what}");
    }
    read(&mut desk, "a", 41, 60).ok();
    let refused = desk.write("a", &lines(20));
    says(refused.error("read_required"), &["lines 21-40 still unseen"]);
}

#[test]
fn a_line_that_is_longer_than_an_answer_is_read_in_pieces() {
    let mut desk = Desk::with("wide", format!("first\n{}\nlast\n", "x".repeat(300_000)));
    // What was changed a moment ago cannot be told apart from what is changed now, unless all of it is read.
    while mtime(&desk, "wide").elapsed().is_ok_and(|age| age < Duration::from_millis(100)) {
        std::thread::yield_now();
    }
    let mut next = json!({ "path": "wide" });
    let mut answers = 0;
    loop {
        let reply = desk.call("read_file", next.clone());
        reply.ok();
        let Some(from) = reply.fact("next").as_object() else { break };
        desk.write("wide", "short\n").error("read_required");
        next["start_line"] = from["start_line"].clone();
        next["line_offset"] = from["line_offset"].clone();
        answers += 1;
        assert!(answers < 100, "it never ends");
    }
    assert!(answers > 0, "it was read in one piece");
    desk.write("wide", "short\n").ok();
}

/// Each run is a process of its own; what the one has read, the other may write.
#[test]
fn calls_from_a_shell_are_one_callers() {
    let (home, folder) = (Home::configured(""), Temp::with(&[("a", "one\n")]));
    let call = |tool: &str, arguments: Value| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_toolgate"));
        command.args(["call", tool, &arguments.to_string(), "--root"]).arg(folder.path()).args(home.options());
        let output = command.output().expect("the toolgate binary");
        (output.status.code(), String::from_utf8(output.stderr).expect("text"))
    };
    let write = || call("write_file", json!({ "path": "a", "content": "two\n" }));
    let (code, stderr) = write();
    assert_eq!(code, Some(1));
    says(&stderr, &["read_required: "]);
    assert_eq!(call("read_file", json!({ "path": "a" })).0, Some(0));
    let (code, stderr) = write();
    assert_eq!(code, Some(0), "{stderr}");
    says(&stderr, &["[Change "]);
    assert_eq!(call("undo_change", json!({})).0, Some(0));
    assert_eq!(folder.text("a"), "one\n");
}

#[test]
fn every_match_is_replaced_only_where_every_match_was_read() {
    let text: String =
        (1..=3000).map(|n| if n == 10 || n == 2900 { "K\n".into() } else { format!("line {n}\n") }).collect();
    let mut desk = Desk::with("long", &text);
    read(&mut desk, "long", 1, 2000).ok();
    let everywhere = json!({ "path": "long", "old_str": "K", "new_str": "X", "replace_all": true });
    let ambiguous = desk.patch("long", "K", "X");
    says(
        ambiguous.error("ambiguous_match"),
        &["lines 10, 2900", "You have not read line 2900", "before you set replace_all"],
    );
    assert_eq!(ambiguous.details()["unseen"], json!([[2900, 2900]]), "B031");
    let listed = json!([{ "path": "long", "old_str": "K", "new_str": "X" }]);
    says(
        desk.call("patch_files", json!({ "patches": listed })).error("ambiguous_match"),
        &["You have not read line 2900"],
    );
    let refused = desk.call("patch_file", everywhere.clone());
    says(refused.error("read_required"), &["that you have not read", "line 2900"]);
    assert_eq!(refused.details()["unseen"], json!([[2900, 2900]]), "B031");
    assert_eq!(desk.folder.text("long"), text, "B031");
    read(&mut desk, "long", 2900, 2900).ok();
    assert!(!desk.patch("long", "K", "X").error("ambiguous_match").contains("have not read"), "B031");
    desk.call("patch_file", everywhere).ok();
    assert_eq!(desk.folder.text("long"), text.replace('K', "X"), "B031");
}

#[test]
fn what_was_read_is_remembered_when_the_server_starts_anew() {
    let home = Home::configured("");
    let folder = Temp::with(&[("a", "one\n"), ("b", "one\n")]);
    let mut desk = home.desk(folder);
    desk.read("a").ok();
    let Desk { folder, server } = desk;
    assert!(server.close().success());
    let mut desk = home.desk(folder);
    desk.write("a", "two\n").ok();
    desk.write("b", "two\n").error("read_required");
}
