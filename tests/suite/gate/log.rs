//! The session log: what is in it, in which order, and what is not.

use serde_json::json;

use super::kit::{end, guarded};
use crate::suite::cases::kit::files_of;

#[test]
fn a_call_is_in_the_log_before_all_that_comes_of_it_and_its_result_is_the_last() {
    let (mut desk, home) = guarded(&[("a", "1\n")], "");
    desk.read("a").ok();
    desk.read("missing").error("file_not_found");
    let change = desk.patch("a", "1", "2").change();
    desk.write("a", "3\n").ok();
    desk.call("undo_change", json!({})).ok();
    desk.call("read_file", json!({})).error("invalid_arguments");
    end(desk);
    for (call, right) in [
        (1, &["tool/call", "fs/observed", "tool/result"][..]),
        (2, &["tool/call", "tool/result"]),
        (3, &["tool/call", "fs/edit", "tool/result"]),
        (4, &["tool/call", "fs/write", "tool/result"]),
        (5, &["tool/call", "fs/undo", "tool/result"]),
        (6, &["tool/call", "tool/result"]),
    ] {
        assert_eq!(home.events(call), right, "call {call}: {:#?}", home.log());
    }
    let log = home.log();
    let of = |kind: &'static str| log.iter().filter(move |line| line["type"] == kind);
    assert!(log.iter().all(|line| line["caller"] == "mcp:local" && line["time"].is_string()), "{log:#?}");
    assert_eq!(of("fs/edit").next().expect("an edit")["change"], *change);
    let errors: Vec<_> = of("tool/result").filter_map(|line| line["error"].as_str()).collect();
    assert_eq!(errors, ["file_not_found", "invalid_arguments"]);
    let changes = of("tool/result").filter(|line| line["change"].is_string()).count();
    assert_eq!(changes, 3, "{log:#?}");
}

#[cfg(unix)]
#[test]
fn hooks_and_questions_stand_between_a_call_and_its_result() {
    let says = |phase: &str, answer: &str| {
        format!("[[hook]]\nname = \"h\"\nphase = \"{phase}\"\nshell = '''cat >/dev/null; echo '{answer}''''\n\n")
    };
    let config = says("pre", r#"{"decision":"ask","reason":"really"}"#)
        + &says("post", r#"{"decision":"accept","context":"well"}"#);
    let (mut desk, home) = guarded(&[], &config);
    desk.write("a", "1");
    assert!(desk.files().is_empty());
    end(desk);
    let events = home.events(1);
    let before = ["tool/call", "hook/invoked", "hook/result", "approval/asked", "approval/answered"];
    assert_eq!(events[..5], before, "{events:?}");
    assert_eq!(events[5..], ["hook/invoked", "hook/result", "context/message", "tool/result"], "{events:?}");
    let log = home.log();
    let answered = log.iter().find(|line| line["type"] == "approval/answered").expect("an answer");
    assert_eq!(answered["answer"], "nobody");
}

#[test]
fn what_is_secret_is_not_in_the_log() {
    let (mut desk, home) = guarded(&[("a", "old\n")], "[log]\nredact = [\"write_file.content\"]\n");
    desk.write("new", "hunter2\n").ok();
    desk.patch("a", "old", "plain").ok();
    end(desk);
    let text = home.log_text();
    assert!(!text.contains("hunter2"), "{text}");
    assert!(text.contains("plain"), "only what is named is hidden: {text}");
    let log = home.log();
    assert_eq!(log[0]["arguments"], json!({ "path": "new", "content": { "$secret": true } }));
}

/// Not in the arguments, whatever they came as, and not in what is said about the call.
#[cfg(unix)]
#[test]
fn what_is_secret_is_nowhere_in_the_log() {
    let repeats = r#"[[hook]]
name = "parrot"
phase = "post"
shell = '''cat >/dev/null; echo '{"decision":"block","reason":"hunter2 is no good, nor is swordf","context":"never hunter2"}''''
"#;
    let redact = "[log]\nredact = [\"*.content\", \"patch_file.*_str\", \"todo_write.text\"]\n";
    let (mut desk, home) = guarded(&[("a", "hunter2 swordfish1\n")], &format!("{redact}{repeats}"));
    let todos = json!([{ "text": "hunter2", "status": "done" }]);
    for (tool, arguments) in [
        ("write_file", json!({ "path": "new", "content": "hunter2\n" })),
        ("write_file", json!(r#"{"path":"text","content":"hunter2"}"#)),
        ("patch_file", json!({ "path": "a", "old_str": "hunter2\nswordfish2", "new_str": "swordfish3" })),
        ("todo_write", json!({ "todos": todos })),
        ("todo_write", json!({ "todos": todos.to_string() })),
        ("write_file", json!({ "path": "b", "content": ["hunter2"] })),
    ] {
        let reply = desk.call(tool, arguments);
        assert!(!reply.is_done(), "the hook blocks it: {}", reply.0);
    }
    end(desk);
    let text = home.log_text();
    assert!(!text.contains("hunter2") && !text.contains("swordfish"), "{text}");
    assert!(text.contains("[secret] is no good"), "{text}");
}

#[test]
fn a_long_text_is_kept_once_and_beside_the_log() {
    let long = "a long line\n".repeat(1000);
    let (mut desk, home) = guarded(&[], "");
    for path in ["a", "b", "a"] {
        desk.write(path, &long).ok();
    }
    end(desk);
    let text = home.log_text();
    assert!(text.len() < long.len() && !text.contains("a long line\\na long line"), "{} bytes", text.len());
    let calls = home.log();
    let contents: Vec<_> =
        calls.iter().filter(|line| line["type"] == "tool/call").map(|line| &line["arguments"]["content"]).collect();
    assert_eq!(contents.len(), 3);
    assert!(contents.iter().all(|content| content["$blob"].is_string() && content["bytes"] == long.len()));
    let kept = files_of(&home.state()).into_values().filter(|bytes| bytes == long.as_bytes()).count();
    assert_eq!(kept, 1, "once, however often it was written");
}

/// What each call did, in the words of its tool.
#[test]
fn the_result_says_in_one_line_what_was_done() {
    let (mut desk, home) = guarded(&[("a", "1\n2\n3\n1\n"), ("empty", ""), ("dir/b", "")], "");
    let patch = |old: &str, new: &str, more: &str| {
        let more: serde_json::Value = serde_json::from_str(more).expect("JSON");
        let mut arguments = json!({ "path": "a", "old_str": old, "new_str": new });
        arguments.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        ("patch_file", arguments)
    };
    let todo = |status: &str| json!({ "text": "x", "status": status });
    let table = [
        (("read_file", json!({ "path": "a" })), "Read a, lines 1-4 of 4"),
        (("read_file", json!({ "path": "a", "start_line": 2, "end_line": 2 })), "Read a, line 2 of 4"),
        (("read_file", json!({ "path": "a", "start_line": 9 })), "Read nothing of a: line 9 is past the end"),
        (("read_file", json!({ "path": "empty" })), "Read empty, which is empty"),
        (("list_dir", json!({ "path": "dir" })), "Listed dir: 1 entry"),
        (("list_dir", json!({})), "Listed .: 3 entries"),
        (
            patch("1", "one", r#"{"replace_all":true,"dry_run":true}"#),
            "Showed what a patch would change in a: 2 matches, +2 -2 lines",
        ),
        (patch("2\n", "2\n2.5\n2.7\n", "{}"), "Patched a: 1 match, +2 -0 lines"),
        (patch("2.7\n3\n", "", "{}"), "Patched a: 1 match, +0 -2 lines"),
        (("write_file", json!({ "path": "new", "content": "abc" })), "Created new, 3 bytes"),
        (("write_file", json!({ "path": "new", "content": "abcd" })), "Replaced new, 4 bytes now"),
        (("write_file", json!({ "path": "new", "content": "abcd" })), "Left new as it was: it held exactly this"),
        (("todo_write", json!({ "todos": [todo("done"), todo("pending")] })), "Wrote down 2 steps, 1 done"),
    ];
    for ((tool, arguments), _) in &table {
        desk.call(tool, arguments.clone()).ok();
    }
    end(desk);
    let log = home.log();
    let cards: Vec<_> = log.iter().filter(|line| line["type"] == "tool/result").map(|line| &line["card"]).collect();
    assert_eq!(cards, table.iter().map(|(_, card)| *card).collect::<Vec<_>>());
}
