//! The calls of a program take the way of every other call: rules, hooks, the ledger, and in the right order.

use serde_json::{Value, json};

use super::kit::{SMALL, both, events};
use crate::suite::cases::kit::says;
use crate::suite::gate::kit::{end, guarded};

/// B179: denied inside with the same error, and recorded one by one.
#[test]
fn a_denial_rejects_the_promise_and_the_tool_never_runs() {
    let rule =
        "[[rule]]\ndecision = \"deny\"\ntools = [\"write_file\"]\npaths = [\"secrets/**\"]\nreason = \"secret\"\n";
    let (mut desk, home) = guarded(&[], &format!("{SMALL}{rule}"));
    let reply = desk.run(
        "await tools.write_file({path: 'open', content: '1'});\n\
         try { await tools.write_file({path: 'secrets/k', content: 'x', create_dirs: true}) } catch (e) { return [e.code, e.tool, e.message] }",
    );
    let blocks = reply.texts();
    let denied: Value = serde_json::from_str(blocks[0]).expect("JSON");
    assert_eq!((&denied[0], &denied[1]), (&json!("denied"), &json!("write_file")));
    says(denied[2].as_str().expect("a message"), &["secret"]);
    assert!(!desk.folder.path().join("secrets").exists());
    assert_eq!(desk.folder.text("open"), "1");
    end(desk);
    let dispatched = events(&home, "tool/code-dispatch");
    let ids: Vec<_> = dispatched.iter().map(|event| event["id"].as_str().expect("an id")).collect();
    assert_eq!(ids, ["1:code:1", "1:code:2"]);
    assert_eq!(dispatched[1]["arguments"]["path"], "secrets/k");
    let results = events(&home, "tool/result");
    let errors: Vec<_> = results.iter().map(|event| (event["tool"].clone(), event["error"].clone())).collect();
    let right = [("write_file", json!(null)), ("write_file", json!("denied")), ("run_code", json!(null))];
    assert_eq!(errors, right.map(|(tool, error)| (json!(tool), error)));
}

#[test]
fn hooks_see_the_program_and_every_call_of_it() {
    let hook = |name: &str, phase: &str, answer: &str| {
        format!("[[hook]]\nname = \"{name}\"\nphase = \"{phase}\"\nshell = '''cat >/dev/null; echo '{answer}' '''\n")
    };
    // The one before rewrites; the one after adds what the model should read, which has no place within a program.
    let rewrite = format!(
        "{}tools = [\"write_file\"]\n",
        hook("capitals", "pre", "{\"decision\":\"allow\",\"arguments\":{\"path\":\"a\",\"content\":\"BIG\"}}")
    );
    let context = format!(
        "{}tools = [\"write_file\"]\n",
        hook("notes", "post", "{\"decision\":\"accept\",\"context\":\"never mid-run\"}")
    );
    let (mut desk, home) = guarded(&[], &format!("{SMALL}{rewrite}{context}"));
    let reply = desk.run("const w = await tools.write_file({path: 'a', content: 'small'}); return JSON.stringify(w)");
    let text = reply.ok();
    assert!(!text.contains("never mid-run"), "additional context of inner calls is not delivered: {text}");
    assert_eq!(desk.folder.text("a"), "BIG", "what a hook rewrites is what is written");
    end(desk);
    let contexts = events(&home, "context/message");
    assert_eq!(contexts.len(), 1, "but it stands in the log");
}

/// A hook's word on the outcome of a call: what it blocks or replaces, the program does not see either.
#[test]
fn what_hooks_do_after_a_call_of_a_program_is_told_to_the_program() {
    for (answer, said) in [
        (r#"{"decision":"block","reason":"it does not compile"}"#, &["it does not compile", "has been made"][..]),
        (r#"{"decision":"replace","observation":"[hidden]"}"#, &["The call was made", "[hidden]"]),
    ] {
        let hook = format!(
            "[[hook]]\nname = \"after\"\nphase = \"post\"\ntools = [\"write_file\"]\nshell = '''cat >/dev/null; echo '{answer}' '''\n"
        );
        let (mut desk, _home) = guarded(&[], &format!("{SMALL}{hook}"));
        let reply = desk.run(
            "try { return await tools.write_file({path: 'a', content: 'kept'}) }\n\
             catch (e) { return e.code + ' ' + e.details.change + ' ' + e.message }",
        );
        let text = reply.texts()[0].to_owned();
        let change = reply.fact("changes")[0]["change"].as_str().expect("a change").to_owned();
        says(&text, said);
        says(&text, &["denied", &change]);
        assert_eq!(desk.folder.text("a"), "kept", "it has happened, and is told");
    }
}

#[test]
fn a_program_has_to_read_before_it_overwrites_and_its_reads_count() {
    let (mut desk, _home) = both(&[("a", "1\n")]);
    let reply = desk.run(
        "let code; try { await tools.write_file({path: 'a', content: '2'}) } catch (e) { code = e.code }\n\
         await tools.read_file({path: 'a'});\n\
         await tools.write_file({path: 'a', content: '2'});\n\
         return code",
    );
    assert_eq!(reply.texts()[0], "read_required");
    assert_eq!(desk.folder.text("a"), "2");
}

#[test]
fn calls_begin_in_order_and_changes_happen_alone() {
    let (mut desk, home) = both(&[("a", "0")]);
    let reply = desk.run(
        "await tools.read_file({path: 'a'});\n\
         const steps = [];\n\
         for (let i = 1; i <= 20; i++) steps.push(tools.patch_file({path: 'a', old_str: String(i - 1), new_str: String(i)}));\n\
         steps.push(tools.read_file({path: 'a'}));\n\
         const all = await Promise.all(steps);\n\
         return all[20].content",
    );
    assert_eq!(reply.texts()[0], "20", "each change sees the one before, and the read all of them");
    end(desk);
    let ids: Vec<String> = events(&home, "tool/code-dispatch").iter().map(|event| event["id"].to_string()).collect();
    let right: Vec<String> = (1..=22).map(|n| format!("\"1:code:{n}\"")).collect();
    assert_eq!(ids, right);
}

#[test]
fn many_calls_at_once_are_all_answered() {
    let (mut desk, _home) = both(&[("a", "1\n")]);
    let reply = desk.run(
        "const many = Array.from({length: 1500}, (_, i) => tools.read_file({path: i % 3 ? 'a' : 'gone'}).then(() => 1, () => 0));\n\
         return (await Promise.all(many)).reduce((a, b) => a + b)",
    );
    assert_eq!(reply.ok(), "1000");
}

/// Neither its own call nor another program stands in a program's way, and calls from outside go on.
#[test]
fn programs_and_calls_side_by_side_do_not_wait_for_each_other_for_ever() {
    let (mut desk, _home) = both(&[("a", "0\n"), ("b", "0\n")]);
    let code = |mine: &str, other: &str| {
        format!(
            "for (let i = 0; i < 15; i++) {{ await tools.read_file({{path: '{other}'}}); \
             await tools.write_file({{path: '{mine}' + i, content: String(i)}}) }} return 'done'"
        )
    };
    for (id, code) in [(1, code("a", "b")), (2, code("b", "a"))] {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({ "name": "run_code", "arguments": { "code": code, "description": "x" }, "_meta": meta });
        desk.server.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }));
    }
    // Answered before the programs are, or after; never stuck.
    let mut answers = Vec::new();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "name": "write_file", "arguments": { "path": "c", "content": "" }, "_meta": meta });
    desk.server.send(&json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": params }));
    for _ in 0..3 {
        let answer = desk.server.recv();
        assert_ne!(answer["result"]["isError"], true, "{answer}");
        answers.push(answer["id"].as_u64().expect("an id"));
    }
    answers.sort_unstable();
    assert_eq!(answers, [1, 2, 3]);
    assert_eq!(desk.folder.text("b14"), "14");
}

#[test]
fn a_name_is_looked_up_in_the_documentation() {
    let (mut desk, _home) = both(&[]);
    let text = desk.run("return await tools.describe('read_file')").ok();
    assert!(text.len() > 50, "{text}");
    let reply = desk.run("return await tools.describe('nothing')");
    says(reply.code_failure().2, &["there is no tool \"nothing\""]);
    let reply = desk.run("return await tools.describe('x'.repeat(1e6))");
    let (_, _, message) = reply.code_failure();
    says(message, &["there is no tool \"xxx"]);
    assert!(message.len() < 3_000, "{} bytes", message.len());
}
