//! Changes are taken back, and nothing else is.

use serde_json::{Value, json};

use super::kit::guarded;
use crate::suite::cases::kit::{Desk, Reply, says};

fn undo(desk: &mut Desk, change: Option<&str>) -> Reply {
    let arguments = change.map_or_else(|| json!({}), |change| json!({ "change": change }));
    desk.call("undo_change", arguments)
}

#[test]
fn the_newest_change_goes_first_and_then_there_is_nothing_left() {
    let mut desk = Desk::with("a", "1");
    desk.patch("a", "1", "2").ok();
    desk.patch("a", "2", "3").ok();
    for right in ["2", "1"] {
        undo(&mut desk, None).ok();
        assert_eq!(desk.folder.text("a"), right, "B114");
    }
    says(undo(&mut desk, None).error("invalid_arguments"), &["nothing to undo"]);
    assert_eq!(desk.folder.text("a"), "1", "B114");
}

#[test]
fn every_byte_comes_back_and_what_was_made_goes() {
    let bytes = b"\xef\xbb\xbfone\r\ntwo\r\nno end".to_vec();
    let mut desk = Desk::with("a", &bytes);
    let before = desk.files();
    desk.patch("a", "two", "2").ok();
    undo(&mut desk, None).ok();
    desk.read("a").ok();
    desk.write("a", "all new\n").ok();
    undo(&mut desk, None).ok();
    desk.call("write_file", json!({ "path": "x/y/new", "content": "1", "create_dirs": true })).ok();
    undo(&mut desk, None).ok();
    assert_eq!(desk.files(), before, "B114");
    assert!(!desk.folder.path().join("x").exists(), "B114: the folders were made for it");
}

#[test]
fn what_others_made_stays() {
    let mut desk = Desk::with("a", "1");
    desk.folder.write("u.txt", "by hand");
    desk.folder.write("d/u.txt", "by hand");
    desk.call("write_file", json!({ "path": "d/e/new", "content": "1", "create_dirs": true })).ok();
    desk.folder.write("d/e/theirs", "by hand");
    desk.patch("a", "1", "2").ok();
    undo(&mut desk, None).ok();
    undo(&mut desk, None);
    for path in ["u.txt", "d/u.txt", "d/e/theirs"] {
        assert_eq!(desk.folder.text(path), "by hand", "B115");
    }
    assert_eq!(desk.folder.text("a"), "1", "B115");
}

#[test]
fn later_work_of_others_is_not_undone() {
    let mut desk = Desk::with("a", "1");
    desk.patch("a", "1", "2").ok();
    desk.folder.write("a", "the user's own");
    says(undo(&mut desk, None).error("stale_version"), &["a"]);
    assert_eq!(desk.folder.text("a"), "the user's own", "B116");
    desk.folder.write("a", "2");
    undo(&mut desk, None).ok();
    assert_eq!(desk.folder.text("a"), "1", "B116: as the change left it, it can be undone");
}

#[test]
fn a_change_is_undone_by_its_name_and_an_undo_too() {
    let mut desk = Desk::with("a", "1");
    desk.folder.write("b", "1");
    let first = desk.patch("a", "1", "2").change();
    desk.patch("b", "1", "2").ok();
    let reply = undo(&mut desk, Some(&first));
    assert_eq!(reply.observations(), [format!("Change undone: {first} (a)")]);
    assert_eq!(*reply.fact("undone"), Value::from(first.as_str()));
    assert_eq!((desk.folder.text("a").as_str(), desk.folder.text("b").as_str()), ("1", "2"));

    let again = undo(&mut desk, Some(&first));
    says(again.error("invalid_arguments"), &["was undone already", &reply.change()]);
    undo(&mut desk, Some(&reply.change())).ok();
    assert_eq!(desk.folder.text("a"), "2", "to undo the undo is to redo");
    says(undo(&mut desk, Some("zzzzzzzz")).error("invalid_arguments"), &["zzzzzzzz"]);
    undo(&mut desk, Some("no id at all")).error("invalid_arguments");
}

#[test]
fn what_an_undo_brought_back_has_to_be_read_before_it_is_overwritten() {
    let mut desk = Desk::with("a", "never read\n");
    desk.patch("a", "never", "once").ok();
    undo(&mut desk, None).ok();
    desk.write("a", "lost\n").error("read_required");
}

#[test]
fn a_change_can_be_undone_by_the_next_server() {
    for killed in [false, true] {
        let (mut desk, home) = guarded(&[("a", "1")], "");
        desk.patch("a", "1", "2").ok();
        let Desk { folder, mut server } = desk;
        if killed {
            server.kill();
        } else {
            assert!(server.close().success());
        }
        let mut desk = home.desk(folder);
        undo(&mut desk, None).ok();
        assert_eq!(desk.folder.text("a"), "1", "killed: {killed}");
    }
}
