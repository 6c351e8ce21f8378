//! Several patches in one call: all or none, in order, and told apart when one does not fit.

use serde_json::{Value, json};

use super::kit::{Desk, Reply, says};
use crate::suite::support::Temp;
use crate::suite::support::oneshot::{dispatch, document, done, failed};

/// Patches as `path`, `old_str`, `new_str`.
fn patches(list: &[(&str, &str, &str)]) -> Value {
    let patch = |(path, old, new): &(&str, &str, &str)| json!({ "path": path, "old_str": old, "new_str": new });
    json!({ "patches": list.iter().map(patch).collect::<Vec<_>>() })
}

fn edit(desk: &mut Desk, list: &[(&str, &str, &str)]) -> Reply {
    desk.call("patch_files", patches(list))
}

#[test]
fn all_patches_are_made_and_are_one_change() {
    let mut desk = Desk::serving(Temp::with(&[("a", "one\ntwo\n"), ("src/b", "one\r\ntwo\r\n"), ("c", "other\n")]));
    let reply = edit(&mut desk, &[("a", "one", "1"), ("src/b", "one\ntwo", "1\n2"), ("a", "two", "2")]);
    assert_eq!(reply.observations(), ["File patched: a\nFile patched: src/b", "[3 places were replaced.]"], "B032");
    let texts = |desk: &Desk| ["a", "src/b", "c"].map(|path| desk.folder.text(path));
    assert_eq!(texts(&desk), ["1\n2\n", "1\r\n2\r\n", "other\n"], "B032");
    desk.call("undo_change", json!({ "change": reply.change() })).ok();
    assert_eq!(texts(&desk), ["one\ntwo\n", "one\r\ntwo\r\n", "other\n"], "B032: undone as one");
}

#[test]
fn one_that_does_not_fit_stops_all_and_is_named() {
    let files = [("a", "1\n"), ("b", "2\n2\n"), ("bin", "\0\n")];
    for (what, second, code, words) in [
        (
            "B032: not there",
            ("b", "9", "Y"),
            "old_str_not_found",
            &["patches[1] (b), 2 of 2", "old_str is not in b"][..],
        ),
        ("B032: twice", ("b", "2", "Y"), "ambiguous_match", &["patches[1] (b)", "lines 1, 2", "replace_all"]),
        ("B032: no file", ("nope", "2", "Y"), "file_not_found", &["patches[1] (nope)"]),
        ("B032: outside", ("../x", "2", "Y"), "outside_workspace", &["patches[1] (../x)"]),
        ("B032: no text", ("bin", "2", "Y"), "binary_file", &["patches[1] (bin)"]),
        ("B032: no change", ("b", "2", "2"), "invalid_arguments", &["patches[1] (b)", "new_str"]),
    ] {
        let mut desk = Desk::serving(Temp::with(&files));
        let before = desk.files();
        let reply = edit(&mut desk, &[("a", "1", "X"), second]);
        says(reply.error(code), words);
        assert_eq!((&reply.details()["patch"], &reply.details()["path"]), (&json!(1), &json!(second.0)), "{what}");
        assert_eq!(desk.files(), before, "{what}");
        let undo = desk.call("undo_change", json!({}));
        says(undo.error("invalid_arguments"), &["undo"]);
    }
    let mut desk = Desk::serving(Temp::with(&files));
    let reply = edit(&mut desk, &[("a", "1", "X"), ("b", "2", "2")]);
    assert_eq!(reply.details()["faults"][0]["field"], "patches[1].new_str", "B032");
    for empty in [json!({ "patches": [] }), json!({ "patches": [{ "path": "a", "old_str": "", "new_str": "x" }] })] {
        desk.call("patch_files", empty).error("invalid_arguments");
    }
}

#[test]
fn patches_of_one_file_are_made_in_turn() {
    let mut desk = Desk::with("a", "foo bar");
    let reply = edit(&mut desk, &[("a", "foo", "bar"), ("a", "bar", "baz")]);
    says(reply.error("ambiguous_match"), &["patches[1]", "2 times", "after the patch before it"]);
    assert_eq!(desk.folder.text("a"), "foo bar", "B033: never silently `baz bar`");
    edit(&mut desk, &[("a", "foo", "qux"), ("a", "qux bar", "done")]).ok();
    assert_eq!(desk.folder.text("a"), "done", "B033: the second sees what the first has done");
    let reply = edit(&mut desk, &[("a", "done", "x"), ("./a", "x", "done")]);
    says(reply.error("invalid_arguments"), &["patches[1]", "takes back"]);
}

#[cfg(unix)]
#[test]
fn a_file_is_one_file_whatever_it_is_called() {
    let folder = Temp::with(&[("real", "one two\n")]);
    std::os::unix::fs::symlink("real", folder.path().join("link")).expect("a link");
    let mut desk = Desk::serving(folder);
    edit(&mut desk, &[("real", "one", "1"), ("link", "two", "2"), ("./x/../real", "1 2", "12")]).ok();
    assert_eq!(desk.folder.text("real"), "12\n", "B033");
    assert!(desk.folder.path().join("link").is_symlink(), "B033");
}

#[test]
fn a_dry_run_shows_all_and_changes_nothing() {
    let mut desk = Desk::serving(Temp::with(&[("a", "one\n"), ("b", "two\n")]));
    let before = desk.files();
    let mut arguments = patches(&[("a", "one", "1"), ("b", "two", "2")]);
    arguments["dry_run"] = true.into();
    let reply = desk.call("patch_files", arguments);
    says(&reply.ok(), &["nothing was changed", "--- a/a\n+++ b/a\n", "-one\n+1\n", "--- a/b\n+++ b/b\n", "-two\n+2\n"]);
    assert_eq!(reply.fact("dry_run"), true);
    assert_eq!(desk.files(), before);
}

#[test]
fn what_is_replaced_everywhere_must_have_been_seen() {
    let text: String = (1..=40).map(|n| if n % 20 == 5 { "key\n".to_owned() } else { format!("line {n}\n") }).collect();
    let mut desk = Desk::with("a", &text);
    desk.call("read_file", json!({ "path": "a", "start_line": 1, "end_line": 10 })).ok();
    // The first patch moves all lines; what was seen is told in those of before.
    let mut arguments = patches(&[("a", "line 1\n", "line 1\nnew\nnew\n"), ("a", "key", "KEY")]);
    arguments["patches"][1]["replace_all"] = true.into();
    let reply = desk.call("patch_files", arguments.clone());
    says(reply.error("read_required"), &["25"]);
    assert_eq!(reply.details()["unseen"], json!([[25, 25]]), "B031");
    desk.call("read_file", json!({ "path": "a", "start_line": 25, "end_line": 25 })).ok();
    desk.call("patch_files", arguments).ok();
    assert_eq!(desk.folder.text("a").matches("KEY").count(), 2, "B031");
}

#[test]
fn marks_encodings_and_ends_stay_in_each_file() {
    let utf16: Vec<u8> = [0xFF, 0xFE].into_iter().chain("a\r\nb".encode_utf16().flat_map(u16::to_le_bytes)).collect();
    let folder = Temp::new();
    folder.write("wide", &utf16);
    folder.write("bom", "\u{feff}a\nb");
    let mut desk = Desk::serving(folder);
    edit(&mut desk, &[("wide", "a\nb", "b\nc"), ("bom", "a", "x"), ("wide", "c", "d")]).ok();
    let want: Vec<u8> = [0xFF, 0xFE].into_iter().chain("b\r\nd".encode_utf16().flat_map(u16::to_le_bytes)).collect();
    assert_eq!(desk.folder.read("wide"), want);
    assert_eq!(desk.folder.text("bom"), "\u{feff}x\nb");
}

#[test]
fn the_one_shot_protocol_has_it_too() {
    let workspace = r#"{"a":"1","b":"2"}"#;
    let call = |list| dispatch(document(workspace, "patch_files", &patches(list).to_string()));
    let ran = call(&[("a", "1", "X"), ("b", "2", "Y")]);
    let right = done("patch_files", "File patched: a\nFile patched: b", r#"{"a":"X","b":"Y"}"#);
    assert_eq!(ran.answer("B032"), right);
    let ran = call(&[("a", "1", "X"), ("b", "9", "Y")]);
    assert_eq!(ran.answer("B032"), failed("patch_files", "old_str_not_found", workspace));
}
