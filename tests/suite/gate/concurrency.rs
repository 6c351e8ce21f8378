//! Several calls, several callers, several servers on the same files.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use super::kit::{Home, lines};
use crate::suite::cases::kit::{Desk, Reply, frame, says};
use crate::suite::support::{Server, Temp};

/// Sends all of these without waiting, then takes all of their answers.
fn at_once(server: &mut Server, calls: &[(&str, Value)]) -> Vec<Value> {
    for (id, (tool, arguments)) in calls.iter().enumerate() {
        server.send(&frame(json!(id), tool, arguments.clone()));
    }
    calls.iter().map(|_| server.recv()["result"].clone()).collect()
}

#[test]
fn two_edits_that_nobody_waited_for_are_both_there() {
    let mut desk = Desk::with("n.txt", "");
    for round in 0..100 {
        desk.folder.write("n.txt", lines(100));
        let edit = |old: &str, new: &str| {
            (
                "patch_file",
                json!({ "path": "n.txt", "old_str": format!("line {old}\n"), "new_str": format!("{new}\n") }),
            )
        };
        for result in at_once(&mut desk.server, &[edit("50", "FIFTY"), edit("75", "75b")]) {
            Reply(result).ok();
        }
        let right = lines(100).replace("line 50\n", "FIFTY\n").replace("line 75\n", "75b\n");
        assert_eq!(desk.folder.text("n.txt"), right, "B099: round {round}");
    }
}

#[test]
fn who_looks_while_many_write_sees_one_whole_version() {
    let versions: Vec<String> = (0..10).map(|n| format!("{n}\n").repeat(1 + 2000 * n)).collect();
    let mut desk = Desk::with("other", "");
    desk.write("a", &versions[0]).ok();
    let path = desk.folder.path().join("a");
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let looks = scope.spawn(|| {
            let mut looks = 0;
            while !done.load(Ordering::Relaxed) || looks == 0 {
                let seen = fs::read_to_string(&path).expect("the file is there at every moment");
                assert!(versions.contains(&seen), "B101: {} bytes that nobody wrote", seen.len());
                looks += 1;
            }
        });
        let writes: Vec<_> =
            versions.iter().map(|text| ("write_file", json!({ "path": "a", "content": text }))).collect();
        for result in at_once(&mut desk.server, &writes) {
            Reply(result).ok();
        }
        done.store(true, Ordering::Relaxed);
        looks.join().expect("whole versions");
    });
    assert!(versions.contains(&desk.folder.text("a")), "B101");
    assert_eq!(desk.files().len(), 2, "B101: nothing is left beside it");
}

/// Two users, each with a server of their own, and two servers of one user.
#[test]
fn what_somebody_else_has_changed_is_not_overwritten_from_an_old_view() {
    let (ann, bob) = (Home::configured(""), Home::configured(""));
    for (who, other) in [("another user", &bob), ("the same user elsewhere", &ann)] {
        let folder = Temp::with(&[("a", "one\ntwo\n")]);
        let mut theirs = other.serve(&folder, &[]);
        let mut desk = ann.desk(folder);
        desk.read("a").ok();
        let patch = json!({ "path": "a", "old_str": "two", "new_str": "TWO" });
        Reply(theirs.call("patch_file", patch)).ok();
        says(desk.write("a", "one\n").error("stale_version"), &["a has changed since you read it"]);
        assert_eq!(desk.folder.text("a"), "one\nTWO\n", "B102: {who}");
        desk.read("a").ok();
        desk.write("a", "one\nTWO\nthree\n").ok();
        assert_eq!(desk.folder.text("a"), "one\nTWO\nthree\n", "B102: {who}");
    }
}
