//! What may run at all: rules, the guard of `.git`, `--read-only`, and files that came with the folder.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use super::kit::{Home, end, guarded};
use crate::suite::cases::kit::{Desk, Reply, says};
use crate::suite::support::{Server, Temp};

const SECRETS: &str = "[[rule]]\ndecision = \"deny\"\npaths = [\"secrets/**\"]\nreason = \"they are secret\"\n";

#[test]
fn what_git_runs_is_not_written() {
    let files = [(".git/config", "[core]\n"), ("vendor/s/.git/config", "[core]\n"), ("src/a", "1")];
    let (mut desk, _home) = guarded(&files, "");
    #[cfg(unix)]
    std::os::unix::fs::symlink(".git", desk.folder.path().join("l")).expect("a link");
    let before = desk.files();
    for path in [".git/hooks/pre-commit", ".git/config", "vendor/s/.git/config", ".GIT/config", "src/../.git/x"] {
        let arguments = json!({ "path": path, "content": "x", "create_dirs": true });
        says(desk.call("write_file", arguments).error("denied"), &[".git", "protect_git"]);
    }
    desk.patch(".git/config", "core", "x").error("denied");
    if cfg!(unix) {
        desk.write("l/config", "x").error("denied");
        desk.patch("l/config", "core", "x").error("denied");
    }
    assert_eq!(desk.files(), before, "B091");
    assert_eq!(desk.read(".git/config").ok(), "1: [core]\n", "B091: to look is no harm");
    desk.write(".gitignore", "x\n").ok();

    let (mut desk, _home) = guarded(&files, "protect_git = false");
    desk.patch(".git/config", "core", "x").ok();
}

#[test]
fn a_rule_sees_a_name_whatever_its_unicode_form() {
    let (composed, decomposed) = ("caf\u{e9}", "cafe\u{301}");
    for (rule, there) in [(composed, decomposed), (decomposed, composed), (composed, composed)] {
        let config = format!("[[rule]]\ndecision = \"deny\"\npaths = [\"{rule}/**\"]\n");
        let (mut desk, _home) = guarded(&[(&format!("{there}/k"), "key\n")], &config);
        for asked in [composed, decomposed] {
            let path = format!("{asked}/k");
            for reply in [desk.read(&path), desk.write(&path, "x"), desk.patch(&path, "key", "x")] {
                says(reply.error("denied"), &["the rule at line 1"]);
            }
        }
        assert_eq!(desk.folder.text(&format!("{there}/k")), "key\n", "B092");
    }
}

#[test]
fn a_rule_is_about_what_is_opened_however_it_is_spelled() {
    let (mut desk, _home) = guarded(&[("secrets/k", "key\n"), ("a", "1\n")], SECRETS);
    let root = desk.folder.path().canonicalize().expect("a folder");
    let mut spellings = vec![
        "secrets/k".to_owned(),
        "./secrets/../secrets/k".to_owned(),
        "secrets//k".to_owned(),
        root.join("secrets/k").display().to_string(),
    ];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("secrets", root.join("l")).expect("a link");
        std::os::unix::fs::symlink("secrets/k", root.join("k")).expect("a link");
        spellings.extend(["l/k".to_owned(), "k".to_owned()]);
    }
    for path in spellings {
        for reply in [desk.read(&path), desk.write(&path, "x"), desk.patch(&path, "key", "x")] {
            says(reply.error("denied"), &["the rule at line 1 of the user's configuration", "they are secret"]);
            assert!(!reply.texts()[0].contains("key"), "B092: {path}: {reply:?}");
        }
    }
    assert_eq!(desk.folder.text("secrets/k"), "key\n", "B092");
    desk.read("a").ok();
}

/// What `toolgate serve` says before it would serve.
fn start(folder: &Path, options: &[String]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_toolgate"))
        .arg("serve")
        .arg(folder)
        .args(options)
        .stdin(Stdio::null())
        .output()
        .expect("the toolgate binary");
    (output.status.code(), String::from_utf8(output.stderr).expect("text"))
}

#[test]
fn a_configuration_with_a_fault_refuses_to_start_and_names_the_line() {
    for (config, place, says_what) in [
        (
            "# No one.\n[[rule]]\ndecision = \"deny\"\npaths = [\"/**\"]\n",
            ":2:1: ",
            "relative to the workspace's folder",
        ),
        ("[[rule]]\ndecision = \"deny\"\ntools = [\"read_file(\"]\n", ":1:1: ", "tools"),
        ("[[rule]]\ndecision = \"deny\"\ntools = [\"read_fil\"]\n", ":1:1: ", "did you mean read_file?"),
        ("\nzebra = 1\n", ":2:1: ", "zebra"),
        ("[[hook]]\nname = \"h\"\nphase = \"pre\"\n", ":1:1: ", "a hook needs command"),
        ("read_only = yes\n", ":1:", ""),
    ] {
        let (home, folder) = (Home::configured(config), Temp::new());
        let (code, stderr) = start(folder.path(), &home.options());
        assert_eq!(code, Some(1), "B093: {config}: {stderr}");
        assert!(stderr.starts_with("toolgate: "), "B093: {config}: {stderr}");
        says(&stderr, &["toolgate.toml", place, says_what]);
    }
    let (home, folder) = (Home::configured(""), Temp::with(&[("toolgate.toml", "[[rule]]\ndecison = \"deny\"\n")]));
    let (code, stderr) = start(folder.path(), &home.options()[2..]);
    assert_eq!(code, Some(1), "B093: {stderr}");
    says(&stderr, &[":2:1: ", "did you mean decision?", "came with the folder"]);
}

#[test]
fn read_only_hides_what_changes_files_and_denies_it_all_the_same() {
    let folder = Temp::with(&[("a", "1\n")]);
    let by_option = (Home::configured(""), &["--read-only"][..]);
    let by_configuration = (Home::configured("read_only = true"), &[][..]);
    for (home, options) in [by_option, by_configuration] {
        let mut server = home.serve(&folder, options);
        let list = server.request("tools/list", json!({}));
        let tools = list["result"]["tools"].as_array().expect("a list");
        let names: Vec<_> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
        assert!(names.contains(&"read_file") && names.contains(&"list_dir"), "{names:?}");
        for hidden in ["write_file", "patch_file", "undo_change"] {
            assert!(!names.contains(&hidden), "{hidden}");
        }
        Reply(server.call("read_file", json!({ "path": "a" }))).ok();
        for (tool, arguments) in [
            ("write_file", json!({ "path": "a", "content": "2\n" })),
            ("write_file", json!({ "path": "new", "content": "2\n" })),
            ("patch_file", json!({ "path": "a", "old_str": "1", "new_str": "2" })),
            ("undo_change", json!({})),
        ] {
            says(Reply(server.call(tool, arguments)).error("denied"), &["nothing may be changed"]);
        }
    }
    assert_eq!(folder.text("a"), "1\n");
    assert!(!folder.path().join("new").exists());
}

#[test]
fn a_file_that_came_with_the_folder_can_forbid_but_not_allow() {
    let config = format!(
        "{SECRETS}\n[[rule]]\ndecision = \"allow\"\npaths = [\"docs/**\"]\n\n[[hook]]\nname = \"run me\"\nphase = \"pre\"\n\
         shell = \"touch ran\"\n"
    );
    let folder = Temp::with(&[("toolgate.toml", config.as_str()), ("secrets/k", "key\n"), ("docs/a", "1\n")]);
    let users = Temp::with(&[("toolgate/toolgate.toml", "[[rule]]\ndecision = \"deny\"\npaths = [\"docs/a\"]\n")]);
    let users_folder = users.path().display().to_string();
    let server = Server::spawn(folder.path(), &[], &[("XDG_CONFIG_HOME", &users_folder)]);
    let mut desk = Desk { folder, server };
    desk.read("secrets/k").error("denied");
    desk.read("docs/a").error("denied");
    desk.read("toolgate.toml").ok();
    let (folder, ended) = end(desk);
    assert!(!folder.path().join("ran").exists(), "a stranger's command has run");
    says(&ended.stderr, &["left out: the rule that allows", "left out: the hook \"run me\"", "toolgate trust"]);
    assert!(!ended.stderr.contains("SECRETS"), "{}", ended.stderr);
}

/// A link is a thing of its own: what it leads to is not touched by moving or deleting it, and is asked about by whatever
/// follows it.
#[cfg(unix)]
#[test]
fn a_link_to_what_is_denied_may_move_and_go_and_leads_nobody_there() {
    use std::os::unix::fs::symlink;
    let (mut desk, _home) = guarded(&[("secrets/k", "key\n"), ("d/a", "1\n")], SECRETS);
    let root = desk.folder.path().to_owned();
    for (link, to) in [("l", "secrets"), ("k", "secrets/k"), ("d/up", "../secrets/k"), ("secrets/out", "../d/a")] {
        symlink(to, root.join(link)).expect("a link");
    }
    let shift = |desk: &mut Desk, from: &str, to: &str| desk.call("move_path", json!({ "from": from, "to": to }));
    let delete = |desk: &mut Desk, path: &str| desk.call("delete_path", json!({ "path": path, "recursive": true }));
    // What lies behind a link on the way is where it is.
    for path in ["l/k", "l/out", "secrets/out", "secrets"] {
        delete(&mut desk, path).error("denied");
        shift(&mut desk, path, "free").error("denied");
    }
    shift(&mut desk, "k", "l/k2").error("denied");
    shift(&mut desk, "d/a", "l/a").error("denied");
    // The links themselves.
    shift(&mut desk, "l", "m").ok();
    desk.read("m/k").error("denied");
    desk.call("list_dir", json!({ "path": "m" })).error("denied");
    delete(&mut desk, "k").ok();
    desk.call("undo_change", json!({})).ok();
    desk.read("k").error("denied");
    desk.patch("k", "key", "x").error("denied");
    shift(&mut desk, "d", "e").ok();
    desk.read("e/up").error("denied");
    delete(&mut desk, "e").ok();
    assert_eq!(desk.folder.text("secrets/k"), "key\n", "B092");
}

/// Also where folders are to be made behind the link, or a file is in the way of them.
#[cfg(unix)]
#[test]
fn what_is_made_behind_a_link_is_judged_where_it_comes_to_lie() {
    const RULE: &str = "[[rule]]\ndecision = \"deny\"\npaths = [\"secrets/*/*.env\", \"secrets/in/deep/**\"]\n";
    let (mut desk, _home) = guarded(&[("secrets/f", "1"), ("a", "1"), ("d/k.env", "1"), ("e/x", "1")], RULE);
    let root = desk.folder.path().to_owned();
    for (link, to) in [("l", "secrets"), ("e/up", "../l"), ("new", "secrets/f")] {
        std::os::unix::fs::symlink(to, root.join(link)).expect("a link");
    }
    let before = desk.files();
    for path in ["secrets/in/k.env", "l/in/k.env", "e/up/in/k.env", "l/in/deep/er/k", "l/f/k.env", "new/k.env"] {
        let written = json!({ "path": path, "content": "x", "create_dirs": true });
        desk.call("write_file", written).error("denied");
        desk.call("move_path", json!({ "from": "a", "to": path })).error("denied");
        desk.call("make_dir", json!({ "path": path })).error("denied");
        desk.read(path).error("denied");
    }
    desk.call("move_path", json!({ "from": "d", "to": "l/in" })).error("denied");
    desk.call("move_path", json!({ "from": "e", "to": "l/in/deep" })).error("denied");
    assert_eq!(desk.files(), before, "B092");
    desk.call("write_file", json!({ "path": "l/in/k", "content": "x", "create_dirs": true })).ok();
    assert_eq!(desk.folder.text("secrets/in/k"), "x");
}

/// What was deleted before a rule was written does not come back past it.
#[test]
fn what_comes_back_is_judged_with_all_that_is_in_it() {
    let folder = Temp::with(&[("d/in/secrets/k", "key"), ("d/a", "1"), ("e/.env", "x"), ("e/a", "1")]);
    let home = Home::configured("");
    let mut server = home.serve(&folder, &[]);
    let gone: Vec<_> = ["d", "e"]
        .map(|path| Reply(server.call("delete_path", json!({ "path": path, "recursive": true }))).change())
        .into();
    server.close();
    for (rule, stopped) in [
        ("[[rule]]\ndecision = \"deny\"\npaths = [\"secrets\"]\nreason = \"they are secret\"\n", [true, false]),
        ("[[rule]]\ndecision = \"ask\"\npaths = [\"*.env\"]\nreason = \"they are secret\"\n", [false, true]),
        ("[[rule]]\ndecision = \"deny\"\npaths = [\"d/in/**\"]\nreason = \"they are secret\"\n", [true, false]),
        ("[[rule]]\ndecision = \"deny\"\npaths = [\"f/**\", \"d/in/x\"]\n", [false, false]),
        (
            "otherwise = \"deny\"\n[[rule]]\ndecision = \"allow\"\npaths = [\"d\", \"e/a\"]\n[[rule]]\ndecision = \"allow\"\ntools = [\"undo_change\"]\npaths = [\"e\"]\n[[rule]]\ndecision = \"allow\"\ntools = [\"undo_change\", \"delete_path\"]\n",
            [false, false],
        ),
    ] {
        home.configure(rule);
        let mut server = home.serve(&folder, &[]);
        for (change, stopped) in gone.iter().zip(stopped) {
            let reply = Reply(server.call("undo_change", json!({ "change": change })));
            if stopped {
                says(reply.error("denied"), &["they are secret"]);
                continue;
            }
            let back = reply.change();
            Reply(server.call("undo_change", json!({ "change": back }))).ok();
        }
        server.close();
    }
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
}

/// A folder that may not be listed is not listed by way of the one above it.
#[test]
fn a_tree_stops_at_what_may_not_be_listed() {
    for (rule, listed, kept) in [
        (
            "decision = \"deny\"\npaths = [\"secrets/**\"]",
            &["secrets/ (a rule keeps it from being listed)", "d/in/x"][..],
            &["k1"][..],
        ),
        ("decision = \"ask\"\npaths = [\"secrets\"]", &["secrets/ (a rule", "d/secrets/ (a rule"], &["k1", "k2"]),
        (
            "decision = \"deny\"\ntools = [\"list_dir\"]\npaths = [\"./d/in\"]",
            &["d/in/ (a rule", "k1", "k2"],
            &["d/in/x"],
        ),
        // Where only reading is denied, looking is not.
        (
            "decision = \"deny\"\ntools = [\"read_file\"]\npaths = [\"secrets/**\"]",
            &["k1", "k2", "d/in/x"],
            &["a rule"],
        ),
    ] {
        let files = [("secrets/k1", "1"), ("d/secrets/k2", "2"), ("d/in/x", "3")];
        let (mut desk, _home) = guarded(&files, &format!("[[rule]]\n{rule}\n"));
        let all = desk.call("list_dir", json!({ "depth": 9 })).ok();
        says(&all, listed);
        for hidden in kept {
            assert!(!all.contains(hidden), "B092: {rule}: {all}");
        }
    }
}
