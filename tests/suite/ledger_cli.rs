//! Looking back from a shell: what a served session recorded is shown, told apart, taken back and judged.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use serde_json::{Value, json};

use super::support::{Server, Temp};

/// Long, since a slow machine is no fault of the command.
const PATIENCE: Duration = Duration::from_secs(20);

/// A folder that is served, and where is recorded what happens to it.
struct Bed {
    root: Temp,
    state: Temp,
    config: Temp,
}

/// What a run of the command came to.
struct Ran {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Bed {
    fn with(files: &[(&str, &str)]) -> Self {
        Bed { root: Temp::with(files), state: Temp::new(), config: Temp::new() }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolgate"));
        command.args(arguments).arg("--state").arg(self.state.path());
        // The user's own configuration is not what is tested.
        command.current_dir(self.root.path()).env("XDG_CONFIG_HOME", self.config.path()).stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        let output = self.command(arguments).output().expect("the toolgate binary");
        Ran {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("text"),
            stderr: String::from_utf8(output.stderr).expect("text"),
        }
    }

    /// The output of a run that succeeds.
    fn ok(&self, arguments: &[&str]) -> String {
        let ran = self.run(arguments);
        assert_eq!(ran.code, Some(0), "{arguments:?}: {}{}", ran.stdout, ran.stderr);
        ran.stdout
    }

    fn serve(&self) -> Server {
        let state = self.state.path().display().to_string();
        let config = self.config.path().display().to_string();
        Server::spawn(self.root.path(), &["--state", &state], &[("XDG_CONFIG_HOME", &config)])
    }

    /// Serves these calls, one after the other, and returns their results.
    fn calls(&self, calls: &[(&str, Value)]) -> Vec<Value> {
        let mut server = self.serve();
        let results = calls.iter().map(|(tool, arguments)| server.call(tool, arguments.clone())).collect();
        assert!(server.close().success());
        results
    }
}

fn change_of(result: &Value) -> String {
    let id = result["_meta"]["toolgate/change"].as_str();
    id.unwrap_or_else(|| panic!("no change: {result}")).to_owned()
}

fn has_lines(text: &str, lines: &[&str]) {
    for line in lines {
        assert!(text.lines().any(|shown| shown.contains(line)), "{line:?} is missing in:\n{text}");
    }
}

#[test]
fn where_nothing_is_recorded_that_is_said() {
    let bed = Bed::with(&[("a.txt", "")]);
    assert!(bed.ok(&["log"]).contains("Recording begins with the first call"));
    assert!(bed.ok(&["stats"]).contains("Recording begins with the first call"));
    assert_eq!(bed.ok(&["log", "--json"]), "");
    let undo = bed.run(&["undo"]);
    assert_eq!(undo.code, Some(1));
    assert!(undo.stderr.contains("there is nothing to undo"), "{}", undo.stderr);
    assert!(bed.run(&["diff", "abcdefgh"]).stderr.contains("nothing is recorded"));
    let entries = std::fs::read_dir(bed.state.path()).expect("a folder").count();
    assert_eq!(entries, 0, "looking makes nothing");
}

#[test]
fn the_log_shows_calls_and_what_came_of_them() {
    let bed = Bed::with(&[("a.txt", "one\ntwo\n")]);
    let results = bed.calls(&[
        ("read_file", json!({"path": "a.txt"})),
        ("patch_file", json!({"path": "a.txt", "old_str": "two", "new_str": "2"})),
        ("read_file", json!({"path": "b\u{1b}[2J\u{202e}.txt"})),
        ("write_file", json!({"path": "long.txt", "content": "x".repeat(5000)})),
    ]);
    let change = change_of(&results[1]);
    let log = bed.ok(&["log"]);
    has_lines(&log, &["mcp:local  Read a.txt", "Patch a.txt", "✗ file_not_found: ", "Write long.txt (5000 bytes)"]);
    has_lines(&log, &[&format!("change {change}"), "b<U+001B>[2J<U+202E>.txt"]);
    let did = [
        "✓ Read a.txt, lines 1-2 of 2 ·",
        "✓ Patched a.txt: 1 match, +1 -1 lines ·",
        "✓ Created long.txt, 5000 bytes ·",
    ];
    has_lines(&log, &did);
    assert!(!log.contains('\u{1b}') && !log.contains('\u{202e}'), "{log:?}");

    let changes = bed.ok(&["log", "--changes"]);
    assert!(changes.contains("Patch a.txt") && !changes.contains("Read a.txt"), "{changes}");
    let last = bed.ok(&["log", "--last", "1"]);
    assert!(last.contains("Write long.txt") && !last.contains("Patch"), "{last}");
    let tool = bed.ok(&["log", "--tool", "patch_file"]);
    assert!(tool.contains("Patch a.txt") && !tool.contains("Write"), "{tool}");
    assert!(bed.ok(&["log", "--caller", "cli"]).contains("leave out an option"));
    assert!(bed.ok(&["log", "--caller", "mcp"]).contains("Patch a.txt"));

    let events = bed.ok(&["log", "--json"]);
    let events: Vec<Value> = events.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(events.iter().filter(|event| event["type"] == "tool/call").count(), 4);
    let session = events[0]["session"].as_str().expect("a session");
    assert!(bed.ok(&["log", "--session", session]).contains("Patch a.txt"));
}

#[test]
fn a_change_is_shown_undone_and_redone() {
    let bed = Bed::with(&[("a.txt", "one\ntwo\n")]);
    let results = bed.calls(&[
        ("read_file", json!({"path": "a.txt"})),
        ("patch_file", json!({"path": "a.txt", "old_str": "two", "new_str": "2"})),
    ]);
    let change = change_of(&results[1]);
    let diff = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n";
    let shown = bed.ok(&["diff", &change]);
    assert_eq!(bed.ok(&["diff"]), shown, "the newest, where none is named");
    assert!(
        shown.ends_with(diff) && shown.starts_with(&format!("change {change} · patch_file by mcp:local")),
        "{shown}"
    );

    let undone = bed.ok(&["undo"]);
    has_lines(
        &undone,
        &[&format!("change {change} · patch_file"), "a.txt  +1 −1", "✓ undone; to redo it: toolgate undo"],
    );
    assert_eq!(bed.root.text("a.txt"), "one\ntwo\n");
    assert!(bed.ok(&["diff", &change]).contains("· undone by "));
    assert!(bed.run(&["undo"]).stderr.contains("no change stands"), "an undo is not undone without a name");
    let again = bed.run(&["undo", &change]);
    assert!(again.code == Some(1) && again.stderr.contains("was undone already"), "{}", again.stderr);

    let undo = undone.split("toolgate undo ").nth(1).and_then(|rest| rest.split(' ').next()).expect("the way back");
    bed.ok(&["undo", undo]);
    assert_eq!(bed.root.text("a.txt"), "one\n2\n");
    has_lines(&bed.ok(&["log", "--caller", "cli"]), &[&format!("Undo change {change}"), "✓ Undid"]);
}

#[test]
fn the_last_changes_are_undone_in_turn() {
    let bed = Bed::with(&[]);
    let write = |path: &str| ("write_file", json!({"path": path, "content": "new\n"}));
    bed.calls(&[write("a.txt"), write("b.txt"), write("c.txt")]);
    let undone = bed.ok(&["undo", "--last", "2"]);
    has_lines(&undone, &["c.txt  created  +1 −0", "b.txt  created  +1 −0"]);
    let there = |path: &str| bed.root.path().join(path).exists();
    assert_eq!((there("a.txt"), there("b.txt"), there("c.txt")), (true, false, false));
    has_lines(&bed.ok(&["undo", "--last", "9"]), &["a.txt  created", "No other change stands."]);
}

#[test]
fn a_file_that_has_moved_on_is_not_undone() {
    let bed = Bed::with(&[("a.txt", "one\n")]);
    let results = bed.calls(&[
        ("read_file", json!({"path": "a.txt"})),
        ("patch_file", json!({"path": "a.txt", "old_str": "one", "new_str": "two"})),
    ]);
    let change = change_of(&results[1]);
    bed.root.write("a.txt", "by hand\n");
    let undo = bed.run(&["undo"]);
    assert_eq!(undo.code, Some(1), "{}", undo.stdout);
    assert!(undo.stderr.contains("a.txt has changed since"), "{}", undo.stderr);
    assert!(undo.stderr.contains(&format!("toolgate diff --now {change}")), "{}", undo.stderr);
    assert_eq!(bed.root.text("a.txt"), "by hand\n");
    assert!(bed.ok(&["diff", "--now", &change]).ends_with("+by hand\n"));
    assert!(bed.ok(&["diff", &change]).contains("not kept"));
}

#[test]
fn the_undo_is_judged_like_every_other_call() {
    let bed = Bed::with(&[]);
    bed.calls(&[("write_file", json!({"path": "a.txt", "content": "new\n"}))]);
    bed.root.write("toolgate.toml", "[[rule]]\ndecision = \"deny\"\npaths = [\"a.txt\"]\nreason = \"hands off\"\n");
    let undo = bed.run(&["undo"]);
    assert!(undo.code == Some(1) && undo.stderr.contains("hands off"), "{}{}", undo.stdout, undo.stderr);
    assert_eq!(bed.root.text("a.txt"), "new\n");
}

#[test]
fn figures_and_sweeping() {
    let bed = Bed::with(&[("a.txt", "one\n")]);
    bed.calls(&[
        ("read_file", json!({"path": "a.txt"})),
        ("read_file", json!({"path": "b.txt"})),
        ("patch_file", json!({"path": "a.txt", "old_str": "one", "new_str": "two"})),
    ]);
    let stats: Value = serde_json::from_str(&bed.ok(&["stats", "--json"])).expect("JSON");
    assert_eq!((&stats["calls"], &stats["changes"]), (&json!(3), &json!(1)));
    assert_eq!(stats["errors"], json!({"file_not_found": 1}));
    has_lines(&bed.ok(&["stats"]), &["3 calls, 1 change, 1 error, 0 denials", "file_not_found", "patch_file"]);
    has_lines(&bed.ok(&["gc"]), &["0 kept versions (0 bytes), 0 changes and 0 session logs went; 1 kept version"]);
    bed.root.write("toolgate.toml", "[retention]\nmax_bytes = 0\n");
    bed.ok(&["trust", "--yes"]);
    has_lines(&bed.ok(&["gc", "--dry-run"]), &["1 kept version (4 bytes), 0 changes would go; 0 kept versions"]);
    has_lines(&bed.ok(&["gc"]), &["1 kept version (4 bytes), 0 changes and 0 session logs went"]);
    let undo = bed.run(&["undo"]);
    assert!(undo.code == Some(1) && undo.stderr.contains("no longer kept"), "{}", undo.stderr);
}

#[test]
fn what_would_be_decided_is_told_with_its_rule() {
    let bed = Bed::with(&[("a.txt", ""), ("src/b.txt", "")]);
    let rules = "[[rule]]\ndecision = \"deny\"\npaths = [\"a.txt\"]\nreason = \"hands off\"\n\
                 [[rule]]\ndecision = \"ask\"\npaths = [\"src/**\"]\n";
    bed.root.write("toolgate.toml", rules);
    for (call, code, says) in [
        (r#"{"path":"a.txt"}"#, 1, "deny: the rule at line 1 of toolgate.toml says: hands off"),
        (r#"{"path":"src/../a.txt"}"#, 1, "deny: "),
        (r#"{"path":"src/b.txt"}"#, 3, "ask: the rule at line 5 of toolgate.toml"),
        (r#"{"path":"c.txt"}"#, 0, "allow: no rule forbids it"),
        (r#"{"paht":"c.txt"}"#, 2, "invalid_arguments"),
    ] {
        let ran = bed.run(&["check", "read_file", call]);
        assert_eq!(ran.code, Some(code), "{call}: {}{}", ran.stdout, ran.stderr);
        assert!(format!("{}{}", ran.stdout, ran.stderr).contains(says), "{call}: {}{}", ran.stdout, ran.stderr);
    }
    assert_eq!(bed.run(&["check", "read_fil", "{}"]).code, Some(2));
    assert_eq!(std::fs::read_dir(bed.state.path()).expect("a folder").count(), 0, "nothing is recorded");
}

#[test]
fn trust_is_for_exactly_what_was_shown() {
    let bed = Bed::with(&[("a.txt", "")]);
    let hook = "[[hook]]\nname = \"strict\"\nphase = \"pre\"\nshell = \"exit 3\"\n";
    bed.root.write("toolgate.toml", hook);
    assert!(bed.run(&["check", "list_dir"]).stderr.contains("toolgate trust"), "what is left out is said");
    let asked = bed.run(&["trust"]);
    assert!(asked.code == Some(1) && asked.stderr.contains("--yes"), "{}", asked.stderr);
    has_lines(&asked.stdout, &["  shell = \"exit 3\"", "+ the hook \"strict\""]);
    has_lines(&bed.ok(&["trust", "--yes"]), &["Trusted as it is now."]);
    has_lines(&bed.ok(&["trust"]), &["This is trusted already"]);
    has_lines(&bed.ok(&["check", "list_dir"]), &["hook  strict would be asked"]);
    bed.root.write("toolgate.toml", format!("{hook}\n# changed\n"));
    assert!(bed.run(&["check", "list_dir"]).stderr.contains("has changed since it was trusted"));
}

#[test]
fn another_description_is_offered_and_counted() {
    let bed = Bed::with(&[("a.txt", "one\n")]);
    bed.config.write("toolgate/toolgate.toml", "[descriptions.read_file]\nvariant = \"terse\"\ntext = \"Reads.\"\n");
    let mut server = bed.serve();
    let tools = server.request("tools/list", json!({}));
    let tools = tools["result"]["tools"].as_array().expect("tools").clone();
    let read = tools.iter().find(|tool| tool["name"] == "read_file").expect("read_file");
    assert_eq!(read["description"], "Reads.");
    server.call("read_file", json!({"path": "a.txt"}));
    assert!(server.close().success());
    let stats: Value = serde_json::from_str(&bed.ok(&["stats", "--json"])).expect("JSON");
    assert_eq!(stats["variants"]["read_file"]["terse"]["calls"], 1);
    has_lines(&bed.ok(&["stats"]), &["read_file                terse"]);
}

#[test]
fn the_log_is_followed_while_calls_are_made() {
    let bed = Bed::with(&[("a.txt", "one\n")]);
    bed.calls(&[("list_dir", json!({}))]);
    let mut child = bed.command(&["log", "--follow"]).stdout(Stdio::piped()).spawn().expect("the toolgate binary");
    let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
    let (sender, lines) = channel();
    let reader = std::thread::spawn(move || {
        stdout.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)).ok();
    });
    let wait_for = |words: &str| loop {
        let line = lines.recv_timeout(PATIENCE).unwrap_or_else(|error| panic!("{words}: {error}"));
        if line.contains(words) {
            break;
        }
    };
    wait_for("List .");
    let mut server = bed.serve();
    server.call("read_file", json!({"path": "a.txt"}));
    wait_for("Read a.txt");
    wait_for("✓");
    server.close();
    child.kill().expect("a process");
    child.wait().expect("a process");
    reader.join().expect("a reader");
}

#[test]
fn nobody_who_listens_no_more_is_shouted_at() {
    let bed = Bed::with(&[("a.txt", "one\n")]);
    bed.calls(&[("read_file", json!({"path": "a.txt"}))]);
    for arguments in [&["log"][..], &["log", "--json"], &["stats"]] {
        let mut child =
            bed.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a process");
        drop(child.stdout.take());
        let ended = child.wait_with_output().expect("a process");
        assert_eq!((ended.status.code(), ended.stderr), (Some(0), Vec::new()), "{arguments:?}");
    }
}

/// A path from outside the folder is told where the folder is.
#[test]
fn a_folder_can_be_named() {
    let bed = Bed::with(&[("a.txt", "one\n")]);
    bed.calls(&[("read_file", json!({"path": "a.txt"}))]);
    let root = bed.root.path().display().to_string();
    let mut command = bed.command(&["log", &root]);
    let output = command.current_dir(Path::new("/")).output().expect("the toolgate binary");
    assert!(String::from_utf8_lossy(&output.stdout).contains("Read a.txt"));
}

#[cfg(unix)]
#[test]
fn what_was_decided_stands_below_the_call() {
    let bed = Bed::with(&[("a.txt", "one\n"), ("b.txt", "one\n")]);
    bed.config.write(
        "toolgate/toolgate.toml",
        "[[rule]]\ndecision = \"ask\"\npaths = [\"a.txt\"]\nreason = \"it is precious\"\n\
         [[hook]]\nname = \"strict\"\nphase = \"pre\"\ntools = [\"list_dir\"]\nshell = \"exit 3\"\n",
    );
    bed.calls(&[("read_file", json!({"path": "a.txt"})), ("list_dir", json!({}))]);
    let log = bed.ok(&["log"]);
    has_lines(
        &log,
        &[
            "? the rule at line 1 of the user's configuration wants a person to decide: Read a.txt",
            "? nobody was there to ask",
            "· hook strict failed",
            "✗ denied: ",
        ],
    );
    let indented = |line: &&str| line.starts_with("                     ");
    assert_eq!(log.lines().filter(indented).count(), 5, "{log}");
}

#[test]
fn what_moved_and_went_whole_is_shown_and_taken_back() {
    let bed = Bed::with(&[("d/a", "1\n"), ("b", "2\n")]);
    bed.calls(&[
        ("move_path", json!({"from": "b", "to": "c/b"})),
        ("delete_path", json!({"path": "d", "recursive": true})),
    ]);
    let log = bed.ok(&["log"]);
    has_lines(&log, &["Move b to c/b", "Delete d with all that is in it", "Deleted folder d (1 entry, 2 bytes)"]);
    let changes = bed.ok(&["log", "--json", "--changes"]);
    let ids: Vec<String> = changes
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"))
        .filter_map(|line| Some(line["change"].as_str()?.to_owned()))
        .collect();
    let mut ids = ids;
    ids.dedup();
    has_lines(&bed.ok(&["diff", &ids[0]]), &["folder made: c", "moved: b → c/b"]);
    has_lines(&bed.ok(&["diff", ids.last().expect("a change")]), &["deleted whole: d"]);
    has_lines(&bed.ok(&["undo", "--last", "2"]), &["d  deleted whole", "b → c/b"]);
    assert_eq!((bed.root.text("d/a").as_str(), bed.root.text("b").as_str()), ("1\n", "2\n"));
    assert!(!bed.root.path().join("c").exists());
}

#[test]
fn of_many_that_are_trusted_at_once_none_is_lost() {
    let state = Temp::new();
    let roots: Vec<Temp> = (0..12).map(|_| Temp::with(&[("toolgate.toml", "protect_git = false\n")])).collect();
    let trust = |root: &Temp, options: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolgate"));
        command.arg("trust").arg(root.path()).args(options).arg("--state").arg(state.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the toolgate binary")
    };
    let at_once: Vec<_> = roots.iter().map(|root| trust(root, &["--yes"])).collect();
    for child in at_once {
        let output = child.wait_with_output().expect("an end");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    for root in &roots {
        let output = trust(root, &[]).wait_with_output().expect("an end");
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(told.contains("This is trusted already"), "{told}{}", String::from_utf8_lossy(&output.stderr));
    }
}
