//! The published contract: `schemas/` is what the code generates, and a change that breaks callers is found.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use super::support::Temp;

fn toolgate(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_toolgate")).args(arguments).output().expect("the toolgate binary")
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).expect("text")
}

fn files(folder: &Path) -> Vec<(String, String)> {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .map(|path| (path.file_name().expect("a name").to_string_lossy().into_owned(), read(&path)))
        .collect();
    files.sort();
    files
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("a text")
}

#[test]
fn the_committed_schemas_are_what_the_code_generates() {
    let temp = Temp::new();
    let folder = temp.path().join("schemas");
    assert!(toolgate(&["schemas", &folder.display().to_string()]).status.success());
    let committed = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas"));
    assert!(files(&folder) == committed, "schemas/ is stale: run `cargo run -- schemas schemas` and commit the result");
}

#[test]
fn every_format_has_every_tool_and_is_the_same_at_each_run() {
    for (format, name) in [("mcp", "/name"), ("anthropic", "/name"), ("openai", "/function/name")] {
        let first = toolgate(&["tools", "--format", format]);
        let tools: Vec<Value> = serde_json::from_slice(&first.stdout).expect("a list");
        let names: Vec<_> = tools.iter().map(|tool| tool.pointer(name).and_then(Value::as_str)).collect();
        assert_eq!(
            names,
            [
                "delete_path",
                "file_info",
                "find_files",
                "list_dir",
                "make_dir",
                "move_path",
                "patch_file",
                "patch_files",
                "read_file",
                "search_files",
                "todo_write",
                "undo_change",
                "write_file"
            ]
            .map(Some),
            "{format}"
        );
        assert_eq!(first.stdout, toolgate(&["tools", "--format", format]).stdout, "{format}");
    }
}

#[test]
fn a_published_list_is_held_against_todays() {
    let list = stdout(&toolgate(&["tools"])).to_owned();
    let temp = Temp::new();
    let published = temp.path().join("published.json");
    let check = |list: &str| {
        std::fs::write(&published, list).expect("a file");
        let output = toolgate(&["tools", "--check", &published.display().to_string()]);
        (output.status.code(), stdout(&output).to_owned())
    };
    assert_eq!(check(&list), (Some(0), "no difference\n".to_owned()));
    for (was, is, breaks, says) in [
        (r#""old_str""#, r#""find""#, true, "old_str"),
        (r#""name": "list_dir""#, r#""name": "ls""#, true, "ls"),
        (r#""dry_run""#, r#""try_run""#, true, "try_run"),
        ("USE THIS BEFORE", "Use this before", false, "description"),
    ] {
        assert!(list.contains(was), "{was}");
        let (code, lines) = check(&list.replace(was, is));
        assert_eq!(code, Some(i32::from(breaks)), "{was} was {is}: {lines}");
        assert!(lines.contains(says), "{was} was {is}: {lines}");
    }
    assert_eq!(check("{}").0, Some(2), "no list of tools");
    assert_eq!(check("no JSON").0, Some(2), "not JSON");
}

#[test]
fn the_list_fits_a_small_context() {
    let tools: Value = serde_json::from_str(stdout(&toolgate(&["tools"]))).expect("JSON");
    let size = tools.to_string().len();
    assert!(size < 10_000, "{size} bytes");
}
