//! All that a program changed is taken back at once, by the name of its run.

use serde_json::json;

use super::hostile::Session;
use super::kit::{SMALL, both};
use crate::suite::cases::kit::{Desk, says};
use crate::suite::gate::kit::{Home, end};
use crate::suite::support::{TOOLGATE, Temp};

/// Writes, overwrites, patches and undoes; what is left in the end is not what was there.
const BUSY: &str = "\
await tools.write_file({path: 'new', content: '1'});
await tools.patch_file({path: 'new', old_str: '1', new_str: '2'});
await tools.patch_file({path: 'old', old_str: 'one', new_str: 'two'});
await tools.patch_file({path: 'old', old_str: 'two', new_str: 'three'});
await tools.write_file({path: 'deep/er/file', content: 'x', create_dirs: true});
await tools.patch_file({path: 'back', old_str: 'a', new_str: 'b'});
await tools.undo_change({});
return 'done'";

fn run_of(desk: &mut Desk) -> String {
    let reply = desk.run(BUSY);
    reply.ok();
    assert_eq!(desk.folder.text("new"), "2");
    assert_eq!(desk.folder.text("old"), "three\n");
    assert_eq!(desk.folder.text("back"), "a\n", "an undo within a program takes back its last change alone");
    reply.fact("run").as_str().expect("a run").to_owned()
}

#[test]
fn a_run_is_undone_and_redone_as_one() {
    let (mut desk, _home) = both(&[("old", "one\n"), ("back", "a\n")]);
    let before = desk.files();
    let run = run_of(&mut desk);
    let after = desk.files();
    let undone = desk.call("undo_change", json!({ "change": run }));
    undone.ok();
    assert_eq!(desk.files(), before);
    assert!(!desk.folder.path().join("deep").exists(), "folders that it made are gone");
    desk.call("undo_change", json!({ "change": run })).error("invalid_arguments");
    desk.call("undo_change", json!({ "change": undone.change() })).ok();
    assert_eq!(desk.files(), after, "the undo of the undo");
    desk.call("undo_change", json!({})).ok();
    assert_eq!(desk.files(), before, "the newest is the run");
}

#[test]
fn what_was_changed_since_is_not_lost() {
    let (mut desk, _home) = both(&[("old", "one\n"), ("back", "a\n")]);
    let run = run_of(&mut desk);
    desk.folder.write("new", "somebody else's");
    let files = desk.files();
    desk.call("undo_change", json!({ "change": run })).error("stale_version");
    assert_eq!(desk.files(), files, "all or nothing");
}

#[test]
fn a_change_of_a_run_can_be_undone_by_itself_first() {
    let (mut desk, _home) = both(&[]);
    let reply = desk
        .run("await tools.write_file({path: 'a', content: '1'}); await tools.write_file({path: 'b', content: '1'});");
    let run = reply.fact("run").as_str().expect("a run").to_owned();
    let first = reply.fact("changes")[0]["change"].as_str().expect("a change").to_owned();
    desk.call("undo_change", json!({ "change": first })).ok();
    assert!(!desk.folder.path().join("a").exists() && desk.folder.path().join("b").exists());
    desk.call("undo_change", json!({ "change": run })).ok();
    assert!(!desk.folder.path().join("b").exists());
}

#[test]
fn the_command_line_takes_a_run_back_too() {
    let (mut desk, home) = both(&[("old", "one\n"), ("back", "a\n")]);
    let before = desk.files();
    let run = run_of(&mut desk);
    let (folder, _) = end(desk);
    let toolgate = |command: &str, name: &str| {
        let mut process = std::process::Command::new(TOOLGATE);
        process.args([command, name, "--root"]).arg(folder.path()).args(home.options());
        process.output().expect("the toolgate binary")
    };
    let shown = String::from_utf8(toolgate("diff", &run).stdout).expect("text");
    let places = ["created: new", "-1\n", "-one\n+two\n", "-two\n+three\n"].map(|part| shown.find(part));
    assert!(places.is_sorted() && places[0].is_some(), "its changes as they happened: {places:?} in {shown}");
    let undo = |name: &str| toolgate("undo", name);
    let output = undo(&run);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("new") && said.contains("old"), "{said}");
    assert_eq!(crate::suite::cases::kit::files_of(folder.path()), before);
    assert!(!undo(&run).status.success(), "only once");
}

#[test]
fn what_was_moved_and_removed_comes_back_with_the_rest() {
    let (mut desk, _home) = both(&[("old", "one\n"), ("back", "a\n"), ("tree/leaf", "x\n")]);
    let before = desk.files();
    let reply = desk.run(
        "await tools.make_dir({path: 'd'});\n\
         await tools.move_path({from: 'old', to: 'd/old'});\n\
         await tools.move_path({from: 'd/old', to: 'd/older'});\n\
         await tools.delete_path({path: 'back'});\n\
         await tools.delete_path({path: 'tree', recursive: true});\n\
         await tools.write_file({path: 'new', content: '1'});",
    );
    reply.ok();
    assert_eq!(desk.files().len(), 2);
    desk.call("undo_change", json!({ "change": reply.fact("run") })).ok();
    assert_eq!(desk.files(), before);
}

/// What a program does to `x`, `y` and the folder `d`, where one set of steps cannot say what takes it back: things move or go as
/// a whole, and change besides.
pub const TANGLED: &[(&str, &str)] = &[
    (
        "moved into a new folder, then written",
        "await tools.make_dir({path: 'a'});
         await tools.move_path({from: 'x', to: 'a/x'});
         await tools.read_file({path: 'a/x'});
         await tools.write_file({path: 'a/x', content: 'new'});",
    ),
    (
        "patched, then moved",
        "await tools.patch_file({path: 'x', old_str: 'one', new_str: 'two'});
         await tools.move_path({from: 'x', to: 'z'});",
    ),
    (
        "moved out of the way, and written anew",
        "await tools.move_path({from: 'x', to: 'x.bak'});
         await tools.write_file({path: 'x', content: 'new'});",
    ),
    (
        "a folder renamed, and patched before and after",
        "await tools.patch_file({path: 'd/leaf', old_str: 'leaf', new_str: 'twig'});
         await tools.move_path({from: 'd', to: 'e'});
         await tools.patch_file({path: 'e/deep/er', old_str: 'er', new_str: 'est'});
         await tools.write_file({path: 'e/fresh', content: '1'});
         await tools.move_path({from: 'e/leaf', to: 'leaf'});",
    ),
    (
        "patched, then deleted with its folder",
        "await tools.patch_file({path: 'd/leaf', old_str: 'leaf', new_str: 'twig'});
         await tools.delete_path({path: 'd', recursive: true});",
    ),
    (
        "deleted, and written anew",
        "await tools.delete_path({path: 'x'});
         await tools.write_file({path: 'x', content: 'new'});
         await tools.patch_file({path: 'x', old_str: 'new', new_str: 'newer'});",
    ),
    (
        "made only for the run",
        "await tools.write_file({path: 'scratch', content: '1'});
         await tools.patch_file({path: 'scratch', old_str: '1', new_str: '2'});
         await tools.delete_path({path: 'scratch'});
         await tools.patch_file({path: 'y', old_str: 'y', new_str: 'why'});",
    ),
    (
        "two files in each other's place",
        "await tools.move_path({from: 'x', to: 't'});
         await tools.move_path({from: 'y', to: 'x'});
         await tools.move_path({from: 't', to: 'y'});
         await tools.patch_file({path: 'x', old_str: 'y', new_str: 'z'});",
    ),
    (
        "moved over another, then patched",
        "await tools.move_path({from: 'x', to: 'y', overwrite: true});
         await tools.patch_file({path: 'y', old_str: 'one', new_str: 'two'});",
    ),
    (
        "taken back in the middle, then changed",
        "await tools.delete_path({path: 'd', recursive: true});
         await tools.undo_change({});
         await tools.patch_file({path: 'd/leaf', old_str: 'leaf', new_str: 'twig'});
         await tools.move_path({from: 'd', to: 'e'});",
    ),
];

pub const FOREST: &[(&str, &str)] = &[("x", "one\n"), ("y", "y\n"), ("d/leaf", "leaf\n"), ("d/deep/er", "er\n")];

#[test]
fn what_moved_or_went_and_changed_besides_is_undone_and_redone_as_one() {
    for (what, code) in TANGLED {
        let (mut desk, _home) = both(FOREST);
        let before = desk.files();
        let reply = desk.run(code);
        reply.ok();
        let after = desk.files();
        let run = reply.fact("run").as_str().expect("a run").to_owned();
        for round in 0..2 {
            let undone = desk.call("undo_change", json!({ "change": run }));
            undone.ok();
            assert_eq!(desk.files(), before, "{what}, round {round}");
            let refused = desk.call("undo_change", json!({ "change": run }));
            says(refused.error("invalid_arguments"), &["undone already", &undone.change()]);
            desk.call("undo_change", json!({ "change": undone.change() })).ok();
            assert_eq!(desk.files(), after, "{what}, redone, round {round}");
        }
        // And still one by one, the newest first.
        let changes = reply.fact("changes").as_array().expect("changes").clone();
        let took_back = changes.iter().any(|change| change["tool"] == "undo_change");
        for change in changes.iter().rev().filter(|change| change["tool"] != "undo_change") {
            let undone = desk.call("undo_change", json!({ "change": change["change"] }));
            // What the program took back itself is nothing to take back.
            if !(took_back && change["tool"] == "delete_path") {
                undone.ok();
            }
        }
        assert_eq!(desk.files(), before, "{what}, one by one");
    }
}

/// A workspace in memory, with the ledger in memory, takes the same way.
#[test]
fn it_is_so_in_memory_as_well() {
    for (what, code) in TANGLED {
        let mut session = Session::start(TOOLGATE.into());
        for (path, text) in FOREST {
            let write = json!({ "path": path, "content": text, "create_dirs": true });
            assert_ne!(session.call("write_file", write)["isError"], true);
        }
        let everything = |session: &mut Session| {
            let search = json!({ "pattern": ".", "include_ignored": true });
            session.call("search_files", search)["content"][0]["text"].clone()
        };
        let before = everything(&mut session);
        let reply = session.run(code);
        assert_ne!(reply["isError"], true, "{what}: {reply}");
        let after = everything(&mut session);
        assert_ne!(before, after, "{what}");
        let undone = session.call("undo_change", json!({ "change": reply["_meta"]["toolgate/run"] }));
        assert_ne!(undone["isError"], true, "{what}: {undone}");
        assert_eq!(everything(&mut session), before, "{what}");
        let redone = session.call("undo_change", json!({ "change": undone["_meta"]["toolgate/change"] }));
        assert_ne!(redone["isError"], true, "{what}: {redone}");
        assert_eq!(everything(&mut session), after, "{what}, redone");
        session.end().expect("a server that ends well");
    }
}

/// Somebody has changed one file since, wherever in the series that is: nothing is touched, and the file is named where it is.
#[test]
fn one_file_that_was_changed_since_keeps_all_of_a_tangled_run() {
    let (_, renamed) = TANGLED[3];
    let (_, deleted) = TANGLED[4];
    let (_, anew) = TANGLED[2];
    for (code, changed) in [
        (renamed, "e/deep/er"),
        (renamed, "leaf"),
        (renamed, "e/fresh"),
        (renamed, "d"),
        (deleted, "d"),
        (anew, "x"),
        (anew, "x.bak"),
    ] {
        let (mut desk, home) = both(FOREST);
        let reply = desk.run(code);
        reply.ok();
        desk.folder.write(changed, "somebody else's\n");
        let files = desk.files();
        let refused = desk.call("undo_change", json!({ "change": reply.fact("run") }));
        says(refused.error("stale_version"), &[changed]);
        assert_eq!(desk.files(), files, "{changed}: all or nothing");
        end(desk);
        let undone = home.log().iter().filter(|line| line["type"] == "fs/undo").count();
        assert_eq!(undone, 0, "{changed}: found out before anything was done");
    }
}

/// A rule about a file that moves back under another name holds.
#[test]
fn a_rule_about_a_name_in_the_middle_holds() {
    let home = Home::configured(SMALL);
    let mut desk = home.desk(Temp::with(FOREST));
    let (_, code) = TANGLED[3];
    let run = desk.run(code).fact("run").clone();
    let (folder, _) = end(desk);
    home.configure(&format!("{SMALL}[[rule]]\ndecision = \"deny\"\npaths = [\"d/deep/**\"]\nreason = \"deep\"\n"));
    let mut desk = home.desk(folder);
    let files = desk.files();
    says(desk.call("undo_change", json!({ "change": run })).error("denied"), &["deep"]);
    assert_eq!(desk.files(), files);
}

/// What nobody can see beforehand stops it in the middle: what was done is taken back at once, and can be undone once the way is
/// free.
#[test]
fn what_fails_in_the_middle_is_taken_back_at_once() {
    let (mut desk, home) = both(FOREST);
    let before = desk.files();
    let reply = desk.run(
        "await tools.move_path({from: 'd/leaf', to: 'leaf'});
         await tools.patch_file({path: 'x', old_str: 'one', new_str: 'two'});
         await tools.move_path({from: 'x', to: 'z'});",
    );
    let run = reply.fact("run").clone();
    let folder = desk.folder.path().join("d");
    let aside = desk.folder.path().join("aside");
    std::fs::rename(&folder, &aside).expect("a folder");
    std::fs::write(&folder, "a file where the first thing was").expect("a file");
    let files = desk.files();
    let refused = desk.call("undo_change", json!({ "change": run }));
    assert!(!refused.is_done(), "{refused:?}");
    assert_eq!(desk.files(), files, "nothing of it stays");
    assert!(home.state().join("changes.jsonl").exists());
    std::fs::remove_file(&folder).expect("a file");
    std::fs::rename(&aside, &folder).expect("a folder");
    desk.call("undo_change", json!({ "change": run })).ok();
    assert_eq!(desk.files(), before);
    end(desk);
    let undone = home.log().iter().filter(|line| line["type"] == "fs/undo").count();
    assert_eq!(undone, 2 + 2 + 3, "two parts, their being taken back, and all three");
}
