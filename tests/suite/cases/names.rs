//! File names: Unicode forms, bytes that are no text, control characters, and names that Windows keeps for itself.

use serde_json::json;

use super::kit::{Desk, says};
use crate::suite::support::Temp;

/// On file systems that normalise names (macOS) there is but one file.
#[cfg(target_os = "linux")]
#[test]
fn two_unicode_forms_are_two_names_and_it_is_told() {
    let mut desk = Desk::with("cafe\u{301}.md", "1");
    let reply = desk.write("caf\u{e9}.md", "2");
    assert_eq!(
        (desk.folder.text("cafe\u{301}.md"), desk.folder.text("caf\u{e9}.md")),
        ("1".into(), "2".into()),
        "B021"
    );
    says(&reply.ok(), &["looks the same", r"\u{65}\u{301}"]);
}

/// What both forms of one name are called here.
const FORMS: [[&str; 2]; 2] = [["caf\u{e9}", "cafe\u{301}"], ["cafe\u{301}", "caf\u{e9}"]];

#[test]
fn a_name_in_another_unicode_form_finds_its_file() {
    for [there, asked] in FORMS {
        let mut desk = Desk::with(&format!("{there}/{there}.md"), "1\n");
        let path = format!("{asked}/{asked}.md");
        assert_eq!(desk.read(&path).ok(), "1: 1\n", "B021");
        says(&desk.list(asked).ok(), &[&format!("{there}.md")]);
        says(&desk.call("file_info", json!({ "path": path })).ok(), &["size: 2 bytes"]);
        let reply = desk.patch(&path, "1", "2");
        assert_eq!(reply.observations(), [format!("File patched: {path}")], "B021");
        desk.call("patch_files", json!({ "patches": [{ "path": path, "old_str": "2", "new_str": "3" }] })).ok();
        assert_eq!(desk.files(), [(format!("{there}/{there}.md"), b"3\n".to_vec())].into(), "B021");
        desk.call("undo_change", json!({ "change": reply.change() })).error("stale_version");
        // In a folder that is there, whatever it is called, a new file is called what it is asked to be called.
        desk.write(&format!("{asked}/new"), "n").ok();
        assert_eq!(desk.folder.text(&format!("{there}/new")), "n", "B021");
        let reply = desk.call("write_file", json!({ "path": format!("{asked}/new"), "content": "m" }));
        assert_eq!(
            reply.observations(),
            [format!("File written: {asked}/new")],
            "B021: what one has written, one knows"
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn of_two_forms_the_exact_one_is_meant() {
    let [composed, decomposed] = FORMS[0];
    let mut desk = Desk::serving(Temp::with(&[(composed, "c\n"), (decomposed, "d\n")]));
    assert_eq!(desk.read(composed).ok(), "1: c\n", "B021");
    desk.patch(decomposed, "d", "D").ok();
    assert_eq!((desk.folder.text(composed), desk.folder.text(decomposed)), ("c\n".into(), "D\n".into()), "B021");
    // Two that are not exact leave no one file that can be meant.
    let mut desk = Desk::serving(Temp::with(&[("e\u{323}\u{307}", "1"), ("e\u{307}\u{323}", "2")]));
    desk.read("\u{1eb9}\u{307}").error("file_not_found");
    assert_eq!(desk.files().len(), 2, "B021");
}

#[test]
fn a_name_in_another_case_is_suggested() {
    for (there, asked) in [("README.md", "readme.md"), ("main.rs", "mian.rs"), ("caf\u{e9}.md", "cafe.md")] {
        let mut desk = Desk::with(there, "1");
        let reply = desk.read(asked);
        if reply.0["isError"] == true {
            says(reply.error("file_not_found"), &["Did you mean"]);
            assert_eq!(reply.details()["did_you_mean"], there, "B021");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_name_that_is_no_text_hides_nothing_and_claims_nothing() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let folder = Temp::with(&[("ok.txt", "y"), ("bad-\\xff.txt", "another")]);
    std::fs::write(folder.path().join(OsStr::from_bytes(b"bad-\xff.txt")), "x").expect("a file");
    std::fs::create_dir(folder.path().join(OsStr::from_bytes(b"dir-\xff"))).expect("a folder");
    let mut desk = Desk::serving(folder);
    let listed = desk.call("list_dir", json!({ "depth": 3 })).ok();
    says(&listed, &["file 1 ok.txt\n", "file 1 bad-\\xff.txt (its name is not UTF-8", "dir - dir-\\xff/ (its name"]);
    assert!(!listed.contains('\u{fffd}'), "B022: {listed}");
    // The name as it is shown is another file's, or nobody's; that is why the entry says that no call can use it.
    assert_eq!(desk.read("bad-\\xff.txt").ok(), "1: another", "B023");
    desk.read("bad-\u{fffd}.txt").error("file_not_found");
    desk.list("dir-\\xff").error("file_not_found");
}

#[test]
fn a_nul_in_a_path_is_an_error_of_the_arguments() {
    let mut desk = Desk::with("a.txt", "1");
    for path in ["a.txt\0.png", "\0", "a.txt\0"] {
        for reply in [desk.read(path), desk.write(path, "x"), desk.patch(path, "1", "2"), desk.list(path)] {
            says(reply.error("invalid_arguments"), &["NUL"]);
        }
    }
    assert_eq!(desk.files(), [("a.txt".to_owned(), b"1".to_vec())].into(), "B088");
}

#[cfg(unix)]
#[test]
fn a_line_end_in_a_path_is_part_of_the_name_and_stays_on_its_line() {
    let mut desk = Desk::with("other", "");
    desk.write("a\nb.txt", "1").ok();
    assert_eq!(desk.folder.text("a\nb.txt"), "1", "B088");
    assert_eq!(desk.list(".").ok(), "file 1 \"a\\nb.txt\"\nfile 0 other\n", "B088");
    assert_eq!(desk.read("a\nb.txt").ok(), "1: 1", "B088");
}

#[test]
fn names_that_windows_keeps_for_itself_are_refused_there_and_told_elsewhere() {
    for name in ["nul", "aux.c", "COM1.txt", "a.txt:s", "trail. ", "trail.", "what?"] {
        let mut desk = Desk::with("a.txt", "1");
        let reply = desk.write(name, "x");
        if cfg!(windows) {
            assert_eq!(reply.0["isError"], true, "B098: {name}: {reply:?}");
        } else {
            says(&reply.ok(), &["Windows", name]);
        }
        assert_eq!(desk.folder.text("a.txt"), "1", "B098");
    }
    let mut desk = Desk::with("a.txt", "1");
    let reply = desk.write("null.c", "x");
    reply.ok();
    assert_eq!(reply.observations(), ["File written: null.c"], "B098: no false alarm");
}

#[test]
fn names_are_told_in_new_folders_too() {
    if cfg!(windows) {
        return;
    }
    let mut desk = Desk::with("other", "");
    let deep = json!({ "path": "aux/b/con.txt", "content": "x", "create_dirs": true });
    says(&desk.call("write_file", deep).ok(), &["The name aux cannot be used on Windows", "con.txt"]);
}

#[test]
fn a_name_that_is_too_long_is_told() {
    let mut desk = Desk::with("other", "");
    let long = "x".repeat(5000);
    for reply in [desk.write(&long, "x"), desk.read(&long), desk.list(&format!("{}y", "x/".repeat(3000)))] {
        assert_eq!(reply.0["isError"], true, "B088");
        assert!(reply.texts()[0].len() < 20_000, "B088: {} bytes", reply.texts()[0].len());
    }
    assert_eq!(desk.files().len(), 1, "B088");
}

#[cfg(windows)]
#[test]
fn drive_letters_and_separators_name_the_same_file() {
    let mut desk = Desk::with("a.txt", "1\n");
    let root = desk.folder.path().to_str().expect("a path").to_owned();
    let (drive, rest) = root.split_at(1);
    for path in [
        format!(r"{}{rest}\a.txt", drive.to_ascii_lowercase()),
        format!(r"{}{rest}\a.txt", drive.to_ascii_uppercase()),
        format!("{root}/a.txt").replace('\\', "/"),
        format!(r"\\?\{root}\a.txt"),
    ] {
        assert_eq!(desk.read(&path).ok(), "1: 1\n", "B095: {path}");
    }
}

/// Whatever makes a name says what is odd about it.
#[test]
fn every_tool_that_makes_a_name_tells_what_is_odd_about_it() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let twin = "looks the same";
    for (tool, arguments, wants) in [
        (
            "write_file",
            json!({ "path": "aux/COM\u{b9}", "content": "", "create_dirs": true }),
            &["aux", "COM\u{b9}"][..],
        ),
        ("make_dir", json!({ "path": "prn" }), &["The name prn cannot be used on Windows"]),
        ("make_dir", json!({ "path": "a/nul/c." }), &["The name nul", "The name c."]),
        ("make_dir", json!({ "path": "caf\u{e9}" }), &[twin]),
        ("move_path", json!({ "from": "x", "to": "conin$" }), &["The name conin$"]),
        ("move_path", json!({ "from": "x", "to": "d/lpt1/y:z" }), &["The name lpt1", "The name y:z"]),
        ("move_path", json!({ "from": "x", "to": "caf\u{e9}" }), &[twin]),
        ("move_path", json!({ "from": "f", "to": "nul" }), &["The name nul"]),
        ("write_file", json!({ "path": "bell\u{7}", "content": "" }), &["The name \"bell\\u0007\" cannot"]),
    ] {
        let folder = Temp::with(&[("x", "1"), ("f/in", "1"), ("cafe\u{301}", "")]);
        says(&Desk::serving(folder).call(tool, arguments).ok(), wants);
    }
    let mut desk = Desk::serving(Temp::with(&[("cafe\u{301}", "1")]));
    let reply = desk.call("move_path", json!({ "from": "cafe\u{301}", "to": "plain" }));
    assert_eq!(reply.observations(), ["File moved: cafe\u{301} to plain"], "B098: no false alarm");
}
