//! Several folders as one workspace: paths begin with their names, changes span them, and nothing leads from one into
//! another.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

use super::cases::kit::{Desk, Reply, files_of, says};
use super::support::{Server, TOOLGATE, Temp};

/// Two folders, and the user's own.
struct Pair {
    code: Temp,
    docs: Temp,
    home: Temp,
}

impl Pair {
    fn with(code: &[(&str, &str)], docs: &[(&str, &str)]) -> Self {
        Pair { code: Temp::with(code), docs: Temp::with(docs), home: Temp::new() }
    }

    fn options(&self) -> [String; 4] {
        let root = |name: &str, folder: &Temp| format!("{name}={}", folder.path().display());
        ["--root".to_owned(), root("code", &self.code), "--root".to_owned(), root("docs", &self.docs)]
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(TOOLGATE);
        command.args(words).args(self.options()).current_dir(self.home.path());
        command.env("XDG_STATE_HOME", self.home.path().join("state")).env("XDG_CONFIG_HOME", self.home.path());
        command
    }

    fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().expect("the toolgate binary")
    }

    fn serve(&self) -> Server {
        let mut command = Command::new(TOOLGATE);
        command.arg("serve").args(self.options());
        command.args(["--state", &self.home.path().join("state").display().to_string()]);
        command.args(["--config", &self.config()]);
        Server::launch(command)
    }

    fn config(&self) -> String {
        let path = self.home.path().join("toolgate.toml");
        if !path.exists() {
            fs::write(&path, "").expect("a configuration");
        }
        path.display().to_string()
    }

    /// A server, and calls of it.
    fn desk(&self) -> Desk {
        Desk { folder: Temp::new(), server: self.serve() }
    }
}

fn text(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn paths_begin_with_the_name_of_a_folder() {
    let pair = Pair::with(&[("a", "1\n"), ("src/b", "2\n")], &[("a", "other\n")]);
    let mut desk = pair.desk();
    assert_eq!(desk.list(".").ok(), "dir - code/\ndir - docs/\n");
    says(&desk.call("list_dir", json!({ "depth": 3 })).ok(), &["file 2 code/src/b\n", "file 6 docs/a\n"]);
    says(&desk.call("file_info", json!({ "path": "." })).ok(), &["type: dir\nentries: 2"]);
    assert_eq!(desk.read("code/a").ok(), "1: 1\n");
    assert_eq!(desk.read("docs/../code/./src/b").ok(), "1: 2\n");
    let absolute = pair.docs.path().canonicalize().expect("a path").join("a");
    assert_eq!(desk.read(&absolute.display().to_string()).ok(), "1: other\n");
    says(&desk.list("code/src").ok(), &["file 2 b\n"]);
    desk.write("docs/new", "n").ok();
    assert_eq!(pair.docs.text("new"), "n");
    for path in ["a", "cod/a", "other/a", "codes/a"] {
        for reply in [desk.read(path), desk.write(path, "x"), desk.patch(path, "1", "x"), desk.list(path)] {
            says(reply.error("outside_workspace"), &["code, docs"]);
        }
    }
    desk.write(".", "x").error("not_a_file");
    desk.write("code", "x").error("not_a_file");
    desk.read("code").error("not_a_file");
    desk.read("code/../../etc/passwd").error("outside_workspace");
    let hello =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    let told = desk.server.exchange("initialize", &hello)["result"]["instructions"].to_string();
    says(&told, &["begins with the name of one: code, docs"]);
}

#[test]
fn one_change_spans_folders_and_is_undone_as_one() {
    let pair = Pair::with(&[("a", "one\n")], &[("b", "one\n")]);
    let mut desk = pair.desk();
    let patch = |path: &str, old: &str| json!({ "path": path, "old_str": old, "new_str": "two" });
    let reply = desk.call("patch_files", json!({ "patches": [patch("code/a", "one"), patch("docs/b", "nope")] }));
    reply.error("old_str_not_found");
    assert_eq!((pair.code.text("a"), pair.docs.text("b")), ("one\n".into(), "one\n".into()), "all or none");
    let reply = desk.call("patch_files", json!({ "patches": [patch("code/a", "one"), patch("docs/b", "one")] }));
    assert_eq!(reply.observations(), ["File patched: code/a\nFile patched: docs/b"]);
    assert_eq!((pair.code.text("a"), pair.docs.text("b")), ("two\n".into(), "two\n".into()));
    desk.call("undo_change", json!({ "change": reply.change() })).ok();
    assert_eq!((pair.code.text("a"), pair.docs.text("b")), ("one\n".into(), "one\n".into()));
}

#[test]
fn a_kill_leaves_both_folders_old_or_new() {
    let pair = Pair::with(&[("a", "step 0.\n")], &[("b", "step 0.\n")]);
    let mut step = 0;
    for round in 0..6 {
        let mut server = pair.serve();
        for call in 0..20 {
            let (old, new) = (format!("step {}.", step + call), format!("step {}.", step + call + 1));
            let patch = |path: &str| json!({ "path": path, "old_str": old, "new_str": new });
            let arguments = json!({ "patches": [patch("code/a"), patch("docs/b")] });
            server.send(&super::cases::kit::frame(call.into(), "patch_files", arguments));
        }
        for _ in 0..round * 3 {
            server.recv();
        }
        let told = round * 3 + server.killed().len();
        let mut server = pair.serve();
        Reply(server.call("list_dir", json!({}))).ok();
        let (a, b) = (pair.code.text("a"), pair.docs.text("b"));
        assert_eq!(a, b, "round {round}");
        let reached: usize = a.trim_start_matches("step ").trim_end_matches(".\n").parse().expect("a step");
        assert!(
            reached >= step + told,
            "round {round}: {told} were told as done after {step}, and {reached} are there"
        );
        step = reached;
        for folder in [&pair.code, &pair.docs] {
            assert_eq!(files_of(folder.path()).len(), 1, "nothing is left over");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_link_from_one_folder_into_another_leads_outside() {
    use std::os::unix::fs::symlink;
    let pair = Pair::with(&[("a", "1\n")], &[("b", "2\n")]);
    let link = |to: &Path, name: &str| symlink(to, pair.code.path().join(name)).expect("a link");
    link(&pair.docs.path().join("b"), "absolute");
    let docs = pair.docs.path().file_name().expect("a name").to_owned();
    link(&Path::new("..").join(&docs).join("b"), "relative");
    link(&Path::new("..").join(&docs), "folder");
    let mut desk = pair.desk();
    for path in ["code/absolute", "code/relative", "code/folder/b"] {
        for reply in [desk.read(path), desk.write(path, "x"), desk.patch(path, "2", "x")] {
            reply.error("outside_workspace");
        }
    }
    assert_eq!(pair.docs.text("b"), "2\n");
}

#[test]
fn rules_see_names_and_each_folders_own_file_is_about_that_folder() {
    let pair = Pair::with(
        &[("secrets/k", "key\n"), ("a.env", "x\n")],
        &[("secrets/k", "key\n"), ("a.env", "x\n"), ("sub/a.env", "x\n")],
    );
    fs::write(pair.config(), "[[rule]]\ndecision = \"deny\"\npaths = [\"code/secrets/**\"]\n").expect("a file");
    let own = "[[rule]]\ndecision = \"deny\"\npaths = [\"*.env\", \"!sub/*.env\"]\nmatches = [{ path = \"a.env\" }]\n";
    pair.docs.write("toolgate.toml", own);
    let mut desk = pair.desk();
    says(desk.read("code/secrets/k").error("denied"), &["line 1 of the user's configuration"]);
    says(desk.read("docs/a.env").error("denied"), &["line 1 of docs/toolgate.toml"]);
    for free in ["docs/secrets/k", "code/a.env", "docs/sub/a.env"] {
        desk.read(free).ok();
    }
    says(desk.patch("docs/toolgate.toml", "deny", "allow").error("denied"), &["the guard of toolgate.toml"]);
}

#[cfg(unix)]
#[test]
fn a_hook_is_told_where_each_folder_is() {
    let pair = Pair::with(&[("a", "1\n")], &[("a", "2\n")]);
    let told = pair.home.path().join("told");
    let shell = format!(r#"cat > {}; printf %s "{{\"decision\":\"allow\"}}""#, told.display());
    let hook = format!("[[hook]]\nname = \"tell\"\nphase = \"pre\"\nshell = '''{shell}'''\n");
    fs::write(pair.config(), hook).expect("a file");
    pair.desk().read("docs/a").ok();
    let event: Value = serde_json::from_slice(&fs::read(told).expect("an event")).expect("JSON");
    let at = |folder: &Temp| folder.path().canonicalize().expect("a path").display().to_string();
    assert_eq!(event["folders"], json!({ "code": at(&pair.code), "docs": at(&pair.docs) }));
    assert_eq!((&event["workspace"], &event["call"]["paths"]), (&json!(at(&pair.code)), &json!(["docs/a"])));
}

#[test]
fn every_command_knows_the_set_and_its_one_state() {
    let pair = Pair::with(&[("a", "one\n")], &[("b", "one\n")]);
    says(&text(&pair.run(&["log"])).0, &["nothing is recorded for code (", "--root code="]);
    let output = pair.run(&["call", "patch_file", r#"{"path":"docs/b","old_str":"one","new_str":"two"}"#]);
    assert!(output.status.success(), "{:?}", text(&output));
    assert_eq!(pair.docs.text("b"), "two\n");
    let check = pair.run(&["check", "write_file", r#"{"path":"docs/.git/x","content":""}"#]);
    assert_eq!(check.status.code(), Some(1), "{:?}", text(&check));
    says(&text(&pair.run(&["log"])).0, &["docs/b"]);
    says(&text(&pair.run(&["stats"])).0, &["1 call"]);
    let undone = pair.run(&["undo"]);
    assert!(undone.status.success(), "{:?}", text(&undone));
    says(&text(&undone).0, &["docs/b", "--root code="]);
    assert_eq!(pair.docs.text("b"), "one\n");
    let states = fs::read_dir(pair.home.path().join("state/toolgate")).expect("a state folder");
    let names: Vec<_> = states.map(|entry| entry.expect("an entry").file_name().into_string().expect("text")).collect();
    let folders: Vec<_> = names.iter().filter(|name| !name.ends_with(".toml")).collect();
    assert!(matches!(folders[..], [only] if only.starts_with("code+docs-")), "{names:?}");
}

#[test]
fn what_cannot_stand_side_by_side_is_said_at_the_start() {
    let folder = Temp::with(&[("in/a", "1"), ("other/a", "1")]);
    let at = |path: &str| folder.path().join(path).display().to_string();
    let (one, two, whole) = (at("in"), at("other"), at("."));
    for (roots, why) in [
        (vec![format!("a={one}"), format!("a={two}")], "two folders are called"),
        (vec![format!("Docs={one}"), format!("docs={two}")], "two folders are called"),
        (vec![format!("a={one}"), format!("b={one}")], "lies in"),
        (vec![format!("a={whole}"), format!("b={one}")], "lies in"),
        (vec![format!("b={one}"), format!("a={whole}")], "lies in"),
        (vec![one.clone(), format!("b={two}")], "needs a name"),
        (vec![one.clone(), two.clone()], "needs a name"),
        (vec![format!("={one}"), format!("b={two}")], "cannot be the name"),
        (vec![format!("a b={one}"), format!("b={two}")], "cannot be the name"),
        (vec![format!("caf\u{e9}={one}")], "cannot be the name"),
        (vec![format!("a={}", at("nope")), format!("b={two}")], "does not exist"),
        (vec![format!("a={}", at("in/a")), format!("b={two}")], "is not a folder"),
    ] {
        let mut command = Command::new(TOOLGATE);
        command.args(["call", "list_dir"]).env("XDG_STATE_HOME", folder.path().join("state"));
        for root in &roots {
            command.args(["--root", root]);
        }
        let output = command.output().expect("the toolgate binary");
        assert_eq!(output.status.code(), Some(2), "{roots:?}");
        says(&text(&output).1, &[why]);
    }
}

#[test]
fn one_folder_needs_no_name_and_may_have_one() {
    let folder = Temp::with(&[("a", "1\n")]);
    let path = folder.path().display().to_string();
    for (root, name) in [(path.clone(), "a"), (format!("code={path}"), "code/a")] {
        let state = Temp::new();
        let arguments = json!({ "path": name }).to_string();
        let output = Command::new(TOOLGATE)
            .args(["call", "read_file", &arguments, "--root", &root])
            .env("XDG_STATE_HOME", state.path())
            .output()
            .expect("the toolgate binary");
        assert_eq!(text(&output).0, "1: 1\n", "{root}: {}", text(&output).1);
    }
    let both = Command::new(TOOLGATE).args(["log", &path, "--root", &path]).output().expect("the toolgate binary");
    assert_eq!(both.status.code(), Some(2));
}

#[test]
fn what_moves_from_one_folder_into_another_and_what_goes_comes_back() {
    let pair = Pair::with(&[("a", "1\n"), ("src/b", "2\n")], &[("c", "3\n")]);
    let before = [files_of(pair.code.path()), files_of(pair.docs.path())];
    let mut desk = pair.desk();
    let moved = desk.call("move_path", json!({ "from": "code/src", "to": "docs/deep/src" }));
    assert_eq!(moved.observations(), ["Folder moved: code/src to docs/deep/src"]);
    assert_eq!(pair.docs.text("deep/src/b"), "2\n");
    desk.call("delete_path", json!({ "path": "docs/deep", "recursive": true })).ok();
    desk.call("undo_change", json!({})).ok();
    desk.call("undo_change", json!({})).ok();
    assert_eq!([files_of(pair.code.path()), files_of(pair.docs.path())], before);
    for path in [".", "code"] {
        let reply = desk.call("delete_path", json!({ "path": path, "recursive": true }));
        says(reply.error("invalid_arguments"), &["own folder"]);
        says(desk.call("move_path", json!({ "from": path, "to": "docs/x" })).error("invalid_arguments"), &["from"]);
    }
    desk.call("move_path", json!({ "from": "code/a", "to": "elsewhere/a" })).error("outside_workspace");
    desk.call("make_dir", json!({ "path": "elsewhere" })).error("outside_workspace");
}
