//! The command line: tools from a shell, folders that may be served, and how a session ends.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::support::{Server, Temp};

/// What a run of the command came to.
struct Ran {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

fn run(folder: &Path, arguments: &[&str]) -> Ran {
    let state = Temp::new();
    let output = Command::new(env!("CARGO_BIN_EXE_toolgate"))
        .args(arguments)
        .env("XDG_STATE_HOME", state.path())
        .env("XDG_CONFIG_HOME", state.path())
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("the toolgate binary");
    Ran {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("text"),
        stderr: String::from_utf8(output.stderr).expect("text"),
    }
}

#[test]
fn a_tool_from_a_shell() {
    let temp = Temp::with(&[("a.txt", "one\ntwo\n")]);
    for (arguments, code, stdout, stderr) in [
        (&["call", "read_file", r#"{"path":"a.txt"}"#][..], 0, "1: one\n2: two\n", ""),
        (&["call", "read_file", r#"{"path":"a.txt","end_line":1}"#], 0, "1: one\n", ""),
        (&["call", "list_dir"], 0, "file 8 a.txt\n", ""),
        (&["call", "read_file", "{}"], 1, "", "invalid_arguments: missing required field: path"),
        (&["call", "read_file", r#"{"path":"b.txt"}"#], 1, "", "file_not_found: "),
        (&["call", "read_fil", "{}"], 2, "", "toolgate: unknown tool: read_fil (did you mean read_file?)"),
        (&["call", "read_file", "{"], 2, "", "toolgate: "),
        (&["call", "patch_file", r#"{"path":"a.txt","old_str":"two","new_str":"2"}"#], 0, "File patched: a.txt", ""),
    ] {
        let ran = run(temp.path(), arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(code), stdout), "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.starts_with(stderr), "{arguments:?}: {}", ran.stderr);
    }
    assert_eq!(temp.text("a.txt"), "one\n2\n");
}

#[test]
fn a_tool_from_a_shell_as_json() {
    let temp = Temp::with(&[("a.txt", "one\n")]);
    let outcome = |arguments: &str| -> Value {
        serde_json::from_str(&run(temp.path(), &["call", "read_file", arguments, "--json"]).stdout).expect("JSON")
    };
    let read = outcome(r#"{"path":"a.txt"}"#);
    assert_eq!((&read["status"], &read["output"]["content"]), (&json!("ok"), &json!("one\n")));
    assert_eq!(outcome("{}")["error"], "invalid_arguments");
}

#[test]
fn a_folder_must_be_one_and_the_whole_disk_must_be_named() {
    let temp = Temp::with(&[("a.txt", "")]);
    let file = temp.path().join("a.txt").display().to_string();
    for (folder, arguments, says) in [
        (temp.path(), &["serve", "missing"][..], "missing does not exist"),
        (temp.path(), &["serve", &file], "is not a folder"),
        (Path::new("/"), &["serve"], "name it if you mean it"),
        (Path::new("/"), &["call", "list_dir"], "name it if you mean it"),
    ] {
        let ran = run(folder, arguments);
        assert!(matches!(ran.code, Some(1 | 2)), "{arguments:?}: {:?}", ran.code);
        assert_eq!(ran.stdout, "", "{arguments:?}");
        assert!(ran.stderr.contains(says), "{arguments:?}: {}", ran.stderr);
    }
    assert_eq!(run(temp.path(), &["serve"]).code, Some(0), "the current folder is served");
    assert_eq!(run(temp.path(), &["serve", "/"]).code, Some(0), "who names the whole disk means it");
}

#[cfg(unix)]
#[test]
fn the_home_folder_must_be_named() {
    let temp = Temp::new();
    let output = Command::new(env!("CARGO_BIN_EXE_toolgate"))
        .arg("serve")
        .current_dir(temp.path())
        .env("HOME", temp.path())
        .stdin(Stdio::null())
        .output()
        .expect("the toolgate binary");
    assert_eq!(output.status.code(), Some(1));
}

#[cfg(unix)]
#[test]
fn a_signal_ends_the_session_as_the_end_of_its_input_does() {
    for signal in ["TERM", "INT", "HUP"] {
        let temp = Temp::new();
        let mut server = Server::start(temp.path());
        server.call("write_file", json!({"path": "a.txt", "content": "whole\n"}));
        let sent = Command::new("kill").args([&format!("-{signal}"), &server.id().to_string()]).status();
        assert!(sent.expect("kill").success());
        let ended = server.wait();
        assert_eq!(ended.code(), Some(0), "{signal}");
        assert_eq!(temp.text("a.txt"), "whole\n");
    }
}
