//! All that a program changed is taken back at once, by the name of its run.

use serde_json::json;

use super::kit::both;
use crate::suite::cases::kit::Desk;
use crate::suite::gate::kit::end;
use crate::suite::support::TOOLGATE;

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

/// One step cannot say it, so nothing is half undone, and the way is told.
#[test]
fn what_one_step_cannot_take_back_is_refused_with_the_way() {
    let (mut desk, _home) = both(&[("old", "one\n")]);
    let before = desk.files();
    let reply = desk.run(
        "await tools.patch_file({path: 'old', old_str: 'one', new_str: 'two'});\n\
         await tools.move_path({from: 'old', to: 'new'});",
    );
    let refused = desk.call("undo_change", json!({ "change": reply.fact("run") }));
    let message = refused.error("invalid_arguments").to_owned();
    let changes = reply.fact("changes").as_array().expect("changes").clone();
    for change in changes.iter().rev() {
        let change = change["change"].as_str().expect("a change");
        assert!(message.contains(change), "{message}");
        desk.call("undo_change", json!({ "change": change })).ok();
    }
    assert_eq!(desk.files(), before);
}
