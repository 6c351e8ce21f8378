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

/// However somebody got in between, it is told as that, with the change in between if a call made it; nothing is touched.
#[test]
fn what_stands_in_the_way_of_an_undo_is_told() {
    type Meddle = fn(&mut Desk) -> Option<String>;
    let meddling: [(&str, Meddle); 9] = [
        ("patched since", |desk| Some(desk.patch("d/a", "2", "3").change())),
        ("written since", |desk| {
            desk.read("d/a").ok();
            Some(desk.write("d/a", "new").change())
        }),
        ("moved since", |desk| Some(desk.call("move_path", json!({ "from": "d/a", "to": "b" })).change())),
        ("its folder moved", |desk| Some(desk.call("move_path", json!({ "from": "d", "to": "e" })).change())),
        ("deleted since", |desk| Some(desk.call("delete_path", json!({ "path": "d/a" })).change())),
        ("its folder deleted", |desk| {
            Some(desk.call("delete_path", json!({ "path": "d", "recursive": true })).change())
        }),
        ("changed by somebody", |desk| {
            desk.folder.write("d/a", "theirs");
            None
        }),
        ("deleted by somebody", |desk| {
            std::fs::remove_file(desk.folder.path().join("d/a")).expect("a file");
            None
        }),
        ("a folder in its place", |desk| {
            std::fs::remove_file(desk.folder.path().join("d/a")).expect("a file");
            desk.folder.write("d/a/in", "");
            None
        }),
    ];
    for (case, meddle) in meddling {
        let mut desk = Desk::with("d/a", "1");
        let change = desk.patch("d/a", "1", "2").change();
        let later = meddle(&mut desk);
        let before = desk.files();
        let reply = undo(&mut desk, Some(&change));
        let message = reply.error("stale_version");
        says(message, &[&format!("is not as change {change} left it"), "nothing was undone"]);
        match &later {
            Some(later) => {
                says(message, &[later, "undo that first"]);
                assert_eq!(reply.details()["later"], json!([later]), "B116: {case}");
                // And that is the way to go.
                undo(&mut desk, Some(later)).ok();
                undo(&mut desk, Some(&change)).ok();
                assert_eq!(desk.folder.text("d/a"), "1", "B116: {case}");
            }
            None => {
                says(message, &["Look at what is there now"]);
                assert_eq!(desk.files(), before, "B116: {case}");
            }
        }
    }
}

#[test]
fn what_lay_in_a_folder_that_is_gone_comes_back_once_it_is_made_again() {
    let mut desk = Desk::with("d/e/a", "1");
    let change = desk.call("delete_path", json!({ "path": "d/e/a" })).change();
    std::fs::remove_dir_all(desk.folder.path().join("d")).expect("a folder");
    let reply = undo(&mut desk, Some(&change));
    says(reply.error("stale_version"), &["d/e is not as change", "make it with make_dir, then undo"]);
    desk.call("make_dir", json!({ "path": "d/e" })).ok();
    undo(&mut desk, Some(&change)).ok();
    assert_eq!(desk.folder.text("d/e/a"), "1");
}

#[test]
fn the_changes_in_between_are_named_in_the_order_to_undo_them_in() {
    let mut desk = Desk::with("a", "0");
    let changes: Vec<_> = (0..8).map(|n| desk.patch("a", &n.to_string(), &(n + 1).to_string()).change()).collect();
    let reply = undo(&mut desk, Some(&changes[5]));
    let order = format!("{} (patch_file), {} (patch_file). Undo them first, in this order", changes[7], changes[6]);
    says(reply.error("stale_version"), &[&order]);
    says(undo(&mut desk, Some(&changes[0])).error("stale_version"), &[&changes[7], "and 2 more"]);
    desk.patch("a", "8", "9").ok();
    undo(&mut desk, None).ok();
    undo(&mut desk, Some(&changes[7])).ok();
    // What was taken back is in nobody's way.
    says(undo(&mut desk, Some(&changes[5])).error("stale_version"), &[&changes[6], "undo that first"]);
}

/// A folder that was made for a change goes with it only if nothing else is in it, and if it stays that is said.
#[test]
fn folders_that_stay_are_told() {
    let mut desk = Desk::with("a", "1");
    let deep = json!({ "path": "d/e/f", "content": "1", "create_dirs": true });
    desk.call("write_file", deep.clone()).ok();
    desk.folder.write("d/theirs", "by hand");
    let reply = undo(&mut desk, None);
    says(&reply.ok(), &["(d/e/f, d/e)", "[The folder d stays: something else is in it by now.]"]);
    assert!(!desk.folder.path().join("d/e").exists(), "B115");
    desk.call("write_file", deep).ok();
    desk.folder.write("d/e/theirs", "by hand");
    says(&undo(&mut desk, None).ok(), &["(d/e/f)", "The folder d/e stays"]);
    desk.call("move_path", json!({ "from": "a", "to": "x/y/a" })).ok();
    desk.folder.write("x/y/theirs", "by hand");
    says(&undo(&mut desk, None).ok(), &["The folders x/y, x stay: something else is in them"]);
    // Where nothing would be undone at all, it is no success.
    let made = desk.call("make_dir", json!({ "path": "k/l" })).change();
    desk.folder.write("k/l/theirs", "by hand");
    says(undo(&mut desk, Some(&made)).error("stale_version"), &["k/l is not as change", "delete_path"]);
    std::fs::remove_file(desk.folder.path().join("k/l/theirs")).expect("a file");
    undo(&mut desk, Some(&made)).ok();
    assert!(!desk.folder.path().join("k").exists(), "B114");
}
