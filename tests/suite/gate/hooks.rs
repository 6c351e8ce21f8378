//! Commands that have a word on calls: what they may say, and what happens when they say nothing clear.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::kit::guarded;
use crate::suite::cases::kit::{Reply, hello, says};

/// A hook that is a line for the shell.
fn hook(name: &str, phase: &str, shell: &str, more: &str) -> String {
    format!("[[hook]]\nname = \"{name}\"\nphase = \"{phase}\"\nshell = '''{shell}'''\n{more}\n\n")
}

/// A line that prints `answer`.
fn prints(answer: &Value) -> String {
    format!("cat >/dev/null; printf %s '{answer}'")
}

/// Such a hook before calls.
fn answers(name: &str, answer: &Value) -> String {
    hook(name, "pre", &prints(answer), "")
}

/// The last blocks of a reply: what hooks have added.
fn context<'a>(reply: &'a Reply, hook: &str) -> Vec<&'a str> {
    let mark = format!("[Context from the hook {hook}, not from the tool:]\n");
    reply.texts().into_iter().filter_map(|text| text.strip_prefix(&mark)).collect()
}

#[test]
fn a_no_is_told_with_its_reason() {
    for (what, shell) in [
        ("an answer", prints(&json!({ "decision": "deny", "reason": "not on Fridays" }))),
        ("the exit code 2", "cat >/dev/null; echo not on Fridays >&2; exit 2".to_owned()),
    ] {
        let (mut desk, _home) = guarded(&[], &hook("calendar", "pre", &shell, "tools = [\"write_file\"]"));
        let refused = desk.write("a", "1");
        says(refused.error("denied"), &["the hook calendar", "not on Fridays"]);
        assert_eq!(refused.details()["by"], "the hook calendar", "{what}");
        assert!(desk.files().is_empty(), "{what}");
        desk.list(".").ok();
    }
}

#[test]
fn a_hook_that_gives_no_clear_answer_denies_unless_it_only_advises() {
    let limit = "timeout_ms = 300";
    for (what, shell, more, why) in [
        ("it is missing", "/nowhere/check", "", "127"),
        ("it crashes", "exit 1", "", "exit code 1"),
        ("it is killed", "kill -9 $$", "", "signal 9"),
        ("it hangs", "sleep 60", limit, "still running after 300 ms"),
        ("it babbles", "echo yes", "", "not one JSON object"),
        ("another word", r#"echo '{"decision":"maybe"}'"#, "", "no answer"),
        ("two answers", r#"echo '{"decision":"allow"}{"decision":"allow"}'"#, "", "not one JSON object"),
        ("a contradiction", r#"echo '{"decision":"deny","arguments":{}}'"#, "", "contradiction"),
    ] {
        let (mut desk, _home) = guarded(&[], &hook("checker", "pre", shell, more));
        says(desk.write("a", "1").error("denied"), &["checker", why, "on_failure"]);
        assert!(desk.files().is_empty(), "B186: {what}");
        let advises = format!("{more}\non_failure = \"allow\"");
        let (mut desk, _home) = guarded(&[], &hook("checker", "pre", shell, &advises));
        desk.write("a", "1").ok();
        assert_eq!(desk.folder.text("a"), "1", "B186: {what}, but it only advises");
    }
}

#[test]
fn a_program_that_cannot_be_run_denies_too() {
    let place = crate::suite::support::Temp::new();
    for (what, script, mode, why) in [
        ("not there", None, 0, "there is no"),
        ("not executable", Some("#!/bin/sh\n"), 0o644, "not executable"),
        ("no interpreter", Some("#!/nowhere/sh\n"), 0o755, "interpreter"),
    ] {
        let program = place.path().join("check");
        if let Some(script) = script {
            place.write("check", script);
            fs::set_permissions(&program, fs::Permissions::from_mode(mode)).expect("a mode");
        }
        let config =
            format!("[[hook]]\nname = \"checker\"\nphase = \"pre\"\ncommand = [{:?}]\n", program.display().to_string());
        let (mut desk, _home) = guarded(&[], &config);
        says(desk.write("a", "1").error("denied"), &["checker", why]);
        assert!(desk.files().is_empty(), "B186: {what}");
    }
}

#[test]
fn the_strictest_word_stands_whatever_the_order() {
    let (allow, ask) = (answers("a", &json!({ "decision": "allow" })), answers("b", &json!({ "decision": "ask" })));
    let deny = answers("c", &json!({ "decision": "deny", "reason": "no" }));
    let rule = |word: &str| format!("[[rule]]\ndecision = \"{word}\"\ntools = [\"read_file\"]\n\n");
    for (case, config, by) in [
        ("B187: a rule denies, hooks do not", [rule("deny"), ask.clone(), allow.clone()], "the rule at"),
        ("B187: in the other order", [allow.clone(), ask.clone(), rule("deny")], "the rule at"),
        ("B187: a hook denies last", [allow.clone(), ask.clone(), deny.clone()], "the hook c"),
        ("B187: a hook denies first", [deny.clone(), ask.clone(), allow.clone()], "the hook c"),
        ("B188: a rule allows, a hook denies", [rule("allow"), allow.clone(), deny], "the hook c"),
        ("B189: a hook asks, and there is nobody", [rule("allow"), allow, ask], "the hook b"),
    ] {
        let (mut desk, _home) = guarded(&[("k", "key\n")], &config.concat());
        let refused = desk.read("k");
        says(refused.error("denied"), &[by]);
        assert!(!refused.texts()[0].contains("key"), "{case}");
    }
}

#[test]
fn what_a_hook_makes_of_a_call_is_judged_as_if_it_had_been_called_so() {
    let secrets = "[[rule]]\ndecision = \"deny\"\npaths = [\"secrets/**\"]\n\n";
    let files = [("a.txt", "a\n"), ("b.txt", "b\n"), ("secrets/k", "key\n")];
    for (arguments, code, why) in [
        (json!({ "path": "../x" }), "outside_workspace", ""),
        (json!({ "path": "secrets/k" }), "denied", "the rule at"),
        (json!({ "path": 7 }), "denied", "rewrote this call into one that cannot run"),
        (json!({ "end_line": 1 }), "denied", "left path out"),
        (json!({ "path": "b.txt", "odd": 1 }), "denied", "rewrote this call into one that cannot run"),
    ] {
        let rewrites = answers("mover", &json!({ "decision": "allow", "arguments": arguments }));
        let (mut desk, _home) = guarded(&files, &(secrets.to_owned() + &rewrites));
        says(desk.read("a.txt").error(code), &[why]);
    }
    let rewrites = answers("mover", &json!({ "decision": "allow", "arguments": { "path": "b.txt" } }));
    let (mut desk, _home) = guarded(&files, &(secrets.to_owned() + &rewrites));
    assert_eq!(desk.read("a.txt").texts()[0], "1: b\n", "B190: a rewrite that may run");
    desk.read("secrets/k").error("denied");
}

#[test]
fn a_block_after_a_change_says_that_it_was_made() {
    let config = hook("linter", "post", &prints(&json!({ "decision": "block", "reason": "it does not compile" })), "");
    let (mut desk, _home) = guarded(&[("a", "secret\n")], &config);
    let refused = desk.write("new", "1\n");
    let change = refused.change();
    says(refused.error("denied"), &["the hook linter", "it does not compile", &change, "has been made", "undo_change"]);
    assert_eq!(refused.details()["change"], *change);
    assert_eq!(desk.folder.text("new"), "1\n", "it is as it is told");
    let refused = desk.read("a");
    let message = refused.error("denied");
    assert!(!message.contains("has been made") && !refused.0.to_string().contains("secret"), "{message}");
}

#[test]
fn what_the_model_sees_can_be_replaced_wholly() {
    let config = hook("censor", "post", &prints(&json!({ "decision": "replace", "observation": "[hidden]" })), "");
    let (desk, home) = guarded(&[("a", "secret\n")], &config);
    let mut server = home.serve(&desk.folder, &["--structured"]);
    let reply = server.call("read_file", json!({ "path": "a" }));
    assert_eq!(reply["content"][0]["text"], "[hidden]");
    assert!(!reply.to_string().contains("secret"), "by no other way either: {reply}");
}

#[test]
fn what_hooks_add_stands_by_itself() {
    let adds = json!({ "decision": "allow", "context": "see CONTRIBUTING" });
    let later = json!({ "decision": "accept", "context": "line 1: unused" });
    let config = answers("guide", &adds) + &hook("linter", "post", &prints(&later), "");
    let (mut desk, _home) = guarded(&[("a", "1\n")], &config);
    let reply = desk.read("a");
    assert_eq!(reply.texts()[0], "1: 1\n");
    assert_eq!(
        (context(&reply, "guide"), context(&reply, "linter")),
        (vec!["see CONTRIBUTING"], vec!["line 1: unused"])
    );
    let failed = desk.read("missing");
    assert_eq!(failed.0["structuredContent"]["error"], "file_not_found");
    assert_eq!(context(&failed, "guide"), ["see CONTRIBUTING"]);
}

/// A call that was not let in stays refused in the words of who refused it; one that failed passes the hooks after it.
#[test]
fn what_failed_is_told_to_the_hooks_after_it_and_what_was_not_let_in_is_not() {
    let out = crate::suite::support::Temp::new();
    let shell = format!("cat >>'{}'", out.path().join("told").display());
    let rule = "[[rule]]\ndecision = \"deny\"\npaths = [\"secrets/**\"]\nreason = \"secret\"\n\n";
    let (mut desk, _home) = guarded(&[], &(rule.to_owned() + &hook("spy", "post", &shell, "")));
    says(desk.write("secrets/k", "x").error("denied"), &["secret"]);
    desk.read("missing").error("file_not_found");
    let told: Vec<Value> = out.text("told").lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let errors: Vec<_> = told.iter().map(|told| told["outcome"]["error"].as_str().expect("an error")).collect();
    assert_eq!(errors, ["file_not_found"]);
}

#[test]
fn a_hook_is_told_what_is_opened_and_what_was_typed() {
    let out = crate::suite::support::Temp::new();
    let shell = |phase: &str| format!("cat >'{}'", out.path().join(phase).display());
    let config = hook("spy", "pre", &shell("pre"), "") + &hook("spy", "post", &shell("post"), "");
    let (mut desk, _home) = guarded(&[("src/a", "1\n")], &config);
    let change = desk.patch("./src/../src/a", "1", "2").change();
    for phase in ["pre", "post"] {
        let told: Value = serde_json::from_str(&out.text(phase)).expect("JSON");
        let root = desk.folder.path().canonicalize().expect("a folder");
        assert_eq!((&told["version"], &told["phase"], &told["hook"]), (&json!(1), &json!(phase), &json!("spy")));
        assert_eq!(told["workspace"], root.display().to_string());
        let call = &told["call"];
        assert_eq!(
            (&call["tool"], &call["changes"], &call["caller"]),
            (&json!("patch_file"), &json!(true), &json!("mcp:local"))
        );
        assert_eq!(call["paths"], json!(["src/a"]), "B092: what is opened");
        assert_eq!(call["arguments"]["path"], "./src/../src/a", "B092: what was typed");
        let outcome = if phase == "pre" {
            Value::Null
        } else {
            json!({ "text": "File patched: ./src/../src/a", "change": change })
        };
        assert_eq!(told.get("outcome").cloned().unwrap_or_default(), outcome);
    }
}

#[test]
fn a_byte_order_mark_before_an_answer_is_no_part_of_it() {
    let shell = r#"cat >/dev/null; printf '\357\273\277{"decision":"deny","reason":"no"}'"#;
    let (mut desk, _home) = guarded(&[], &hook("editor", "pre", shell, ""));
    assert_eq!(desk.write("a", "1").details()["by"], "the hook editor", "B010: a no, and no failure");
}

#[test]
fn a_hook_need_not_read_what_it_is_told() {
    let big = "x".repeat(2 << 20);
    for (shell, runs) in [("exit 0", true), ("exit 2", false), (r#"echo '{"decision":"allow"}'"#, true)] {
        let (mut desk, _home) = guarded(&[], &hook("deaf", "pre", shell, ""));
        let reply = desk.write("a", &big);
        assert_eq!(reply.0["isError"] != true, runs, "B193: {shell}");
        if !runs {
            says(reply.error("denied"), &["deaf"]);
        }
        assert_eq!(desk.files().len(), usize::from(runs), "B193: {shell}");
        desk.list(".");
    }
}

#[test]
fn a_hook_that_lives_on_is_told_as_what_it_is() {
    let (mut desk, _home) = guarded(&[], &hook("deaf", "pre", "exec 0<&-; sleep 60", "timeout_ms = 300"));
    let refused = desk.write("a", &"x".repeat(2 << 20));
    says(refused.error("denied"), &["deaf", "still running after 300 ms", "closed its input"]);
    assert!(desk.files().is_empty(), "B194");

    let begun = Instant::now();
    let shell = r#"sleep 60 & echo '{"decision":"allow"}'"#;
    let (mut desk, _home) = guarded(&[], &hook("parent", "pre", shell, ""));
    desk.write("a", "1").ok();
    assert!(desk.server.close().success(), "B195");
    assert!(begun.elapsed() < Duration::from_secs(30), "B195: nobody waits for what a hook has left behind");
}

/// Over MCP one call is one answer: clients give each answer of a batch to the call it belongs to, in whatever order, so
/// what a hook adds stands behind all else in the answer to its own call. No answer of another call carries it.
#[test]
fn in_a_batch_context_stands_behind_the_result_of_its_own_call() {
    let shell = r#"grep -q '"path":"a"' && echo '{"decision":"accept","context":"about a"}' || true"#;
    let (mut desk, _home) = guarded(&[("a", "1\n"), ("b", "2\n")], &hook("notes", "post", shell, ""));
    desk.server.exchange("initialize", &hello("2025-03-26"));
    let read = |id: u64, path: &str| {
        let params = json!({ "name": "read_file", "arguments": { "path": path } });
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
    };
    desk.server.send(&json!([read(11, "a"), read(12, "b"), read(13, "a")]));
    let answers = desk.server.recv();
    let answers = answers.as_array().expect("one frame for the batch");
    for (answer, (id, text, added)) in answers.iter().zip([(11, "1: 1\n", 1), (12, "1: 2\n", 0), (13, "1: 1\n", 1)]) {
        let reply = Reply(answer["result"].clone());
        assert_eq!((&answer["id"], reply.texts()[0]), (&json!(id), text));
        assert_eq!(context(&reply, "notes"), vec!["about a"; added], "{answer}");
        assert_eq!(reply.texts().len(), 1 + added, "and it is the last: {answer}");
    }
    assert_eq!(answers.len(), 3);
}
