//! Commands as hooks, with small shell scripts.

mod kit;
mod processes;

use serde_json::{Value, json};

use super::*;
use kit::{Script, after, before, call, failed, shell};

#[test]
fn what_a_hook_may_answer_before_a_call() {
    let arguments = json!({"path": "b"}).as_object().cloned();
    let by = |reason: &str| Ground { by: "the hook guard".into(), reason: reason.into() };
    for (script, verdict, rewrite, context) in [
        ("exit 0", Verdict::Allow, None, None),
        ("echo; exit 0", Verdict::Allow, None, None),
        (r#"echo '{"decision":"allow"}'"#, Verdict::Allow, None, None),
        (r#"printf '  \n{"decision" : "allow", "reason": "fine"}\r\n\n'"#, Verdict::Allow, None, None),
        (r#"echo '{"decision":"allow","arguments":{"path":"b"}}'"#, Verdict::Allow, arguments.clone(), None),
        (r#"echo '{"decision":"ask","reason":"sure?"}'"#, Verdict::Ask(by("sure?")), None, None),
        (r#"echo '{"decision":"ask","arguments":{"path":"b"}}'"#, Verdict::Ask(by("no reason given")), arguments, None),
        (r#"echo '{"decision":"deny","reason":"no"}'; echo noise >&2"#, Verdict::Deny(by("no")), None, None),
        (
            r#"echo '{"decision":"deny","reason":null,"context":"c"}'"#,
            Verdict::Deny(by("no reason given")),
            None,
            Some("c"),
        ),
        ("echo ' not this one ' >&2; exit 2", Verdict::Deny(by("not this one")), None, None),
        ("echo noise; exit 2", Verdict::Deny(by("no reason given")), None, None),
        // B010: a byte order mark before the answer.
        (r#"printf '\357\273\277{"decision":"deny"}'"#, Verdict::Deny(by("no reason given")), None, None),
    ] {
        let want = Before { verdict, rewrite, context: context.map(str::to_owned) };
        assert_eq!(before(&shell(script)), Ok(want), "{script}");
    }
}

#[test]
fn what_a_hook_may_answer_after_a_call() {
    let own = |text: &str| Some(text.to_owned());
    for (script, want) in [
        ("exit 0", After::default()),
        (r#"echo '{"decision":"accept","context":"c"}'"#, After { context: own("c"), ..After::default() }),
        (r#"echo '{"decision":"block","reason":"secret"}'"#, After { block: own("secret"), ..After::default() }),
        (r#"echo '{"decision":"replace","observation":""}'"#, After { replace: own(""), ..After::default() }),
        ("echo secret >&2; exit 2", After { block: own("secret"), ..After::default() }),
        ("exit 2", After { block: own("no reason given"), ..After::default() }),
    ] {
        assert_eq!(after(&shell(script)), Ok(want), "{script}");
    }
}

#[test]
fn whatever_is_no_clear_answer_is_a_failure_that_says_what_and_how_to_mend_it() {
    let cure = "Let it print one JSON object as schemas/ describes it and log to standard error, or set on_failure = \
                \"allow\" for it if it only advises.";
    for (script, what) in [
        (
            "echo hello",
            "printed something that is not one JSON object: hello; not JSON: expected value (line 1, column 1)",
        ),
        (
            r#"echo '{"decision":"allow"} x'"#,
            "printed something that is not one JSON object: {\"decision\":\"allow\"} x; the JSON document is complete, but more text follows it (line 1, column 22)",
        ),
        (
            r#"echo '{"decision":"deny","decision":"allow"}'"#,
            "printed something that is not one JSON object: {\"decision\":\"deny\",\"decision\":\"allow\"}; the key \"decision\" occurs twice in one object; readers differ on which one counts, so neither does (line 1, column 29)",
        ),
        (r#"printf '\377\376'"#, "printed something that is not UTF-8"),
        ("echo '{}'", "printed JSON that is no answer: missing field `decision`"),
        (r#"echo '"allow"'"#, "printed JSON that is no object: \"allow\""),
        (
            r#"echo '{"decision":"yes"}'"#,
            "printed JSON that is no answer: unknown variant `yes`, expected one of `allow`, `deny`, `ask`",
        ),
        (
            r#"echo '{"decision":"allow","why":1}'"#,
            "printed JSON that is no answer: unknown field `why`, expected one of `decision`, `reason`, `arguments`, `context`",
        ),
        (
            r#"echo '{"decision":"allow","arguments":[]}'"#,
            "printed JSON that is no answer: invalid type: sequence, expected a map",
        ),
        (r#"echo '{"decision":"deny","arguments":{}}'"#, "denied the call and rewrote it, which is a contradiction"),
    ] {
        let failure = before(&shell(script)).expect_err(script);
        assert_eq!((failure.what.as_str(), failure.cure.as_str()), (what, cure), "{script}");
    }
    for (script, what) in [
        (r#"echo '{"decision":"block"}'"#, "blocked the outcome without a reason"),
        (r#"echo '{"decision":"block","reason":" "}'"#, "blocked the outcome without a reason"),
        (
            r#"echo '{"decision":"accept","observation":"x"}'"#,
            "accepted the outcome and replaced it, which is a contradiction",
        ),
        (
            r#"echo '{"decision":"block","reason":"r","observation":"x"}'"#,
            "blocked the outcome and replaced it, which is a contradiction",
        ),
        (r#"echo '{"decision":"replace"}'"#, "replaced the outcome with nothing; an observation is missing"),
    ] {
        assert_eq!(after(&shell(script)).expect_err(script).what, what, "{script}");
    }
}

#[test]
fn b186_a_hook_that_cannot_answer_fails_whatever_the_cause() {
    let file = Script::new("#!/bin/sh\nexit 0\n");
    let named = |script: &Script| vec![script.path.display().to_string()];
    let path = file.path.display();
    file.executable(false);
    assert_eq!(failed(named(&file)), format!("could not be started: {path} is not executable"));
    file.executable(true);
    file.write("#!/no/such/interpreter\n");
    assert_eq!(
        failed(named(&file)),
        format!("could not be started: the interpreter in the first line of {path} is missing")
    );
    file.write("exit 0\n");
    assert_eq!(failed(named(&file)), format!("could not be started: {path} is no program"));
    assert_eq!(failed(vec!["/no/such/hook".into()]), "could not be started: there is no /no/such/hook");
    assert_eq!(failed(vec!["no-such-hook".into()]), "could not be started: there is no no-such-hook");
    for (script, what) in [
        ("exit 1", "ended with exit code 1"),
        ("echo a >&2; echo 'b c' >&2; exit 3", "ended with exit code 3; it said: b c"),
        ("kill -9 $$", "was killed by signal 9"),
        (r#"echo '{"decision":"allow"}'; exit 1"#, "ended with exit code 1"),
        ("yes", "printed more than 1 MiB"),
    ] {
        assert_eq!(before(&shell(script)).expect_err(script).what, what, "{script}");
    }
    // Both halves of a command fail alike, whatever exit code the interpreter has for it.
    for script in ["sh /no/such/script", "if then", "echo \"python3: can't open file 'x.py'\" >&2; exit 2"] {
        let failure = before(&shell(script)).expect_err(script);
        assert!(failure.what.starts_with("ended with exit code "), "{script}: {failure}");
    }
    let missing = before(&shell("/no/such/hook")).expect_err("a failure").what;
    assert!(
        missing.starts_with("ended with exit code 127, as a shell does that does not find a command; it said: "),
        "{missing}"
    );
}

#[test]
fn the_event_is_complete_json_without_a_byte_order_mark_and_then_the_end() {
    let kept = Script::new("");
    let keep = format!("cat > '{}'", kept.path.display());
    assert_eq!(before(&shell(&keep)), Ok(Verdict::Allow.into()));
    let text = kept.read();
    assert!(text.starts_with('{') && text.ends_with("}\n"), "{text}");
    let call = call();
    let told = json!({
        "tool": "write_file",
        "arguments": *call.arguments,
        "paths": ["secrets/k"],
        "changes": true,
        "caller": "mcp:local",
    });
    let event = |phase: &str| json!({"version": 1, "phase": phase, "hook": "guard", "workspace": "/", "call": told});
    assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), event("pre"));
    assert_eq!(after(&shell(&keep)), Ok(After::default()));
    let mut with_outcome = event("post");
    with_outcome["outcome"] = json!({"text": "File written: secrets/k", "change": "c1"});
    assert_eq!(serde_json::from_str::<Value>(&kept.read()).expect("JSON"), with_outcome);
}

#[test]
fn a_hook_runs_in_the_workspace_but_is_found_beside_its_configuration() {
    let script = Script::new("#!/bin/sh\n[ \"$(pwd)\" = / ] && [ \"$1\" = 'a b' ] || exit 1\n");
    script.executable(true);
    let spec = HookSpec { command: Some(vec!["./hook".into(), "a b".into()]), shell: None, ..kit::spec() };
    let hook = CommandHook::new(&spec, script.folder(), Some(Path::new("/")), None).expect("a hook");
    assert_eq!(before(&hook), Ok(Verdict::Allow.into()));
}

#[test]
fn a_hook_that_cannot_be_what_it_says_is_refused() {
    let lists = |items: &[&str]| Some(items.iter().map(|item| (*item).to_owned()).collect::<Vec<_>>());
    let none = HookSpec { shell: None, ..kit::spec() };
    for (spec, want) in [
        (none.clone(), "a hook needs command = [\"program\", \"argument\"] or shell = \"a line\""),
        (HookSpec { command: lists(&[]), ..none.clone() }, "command: the list begins with the program to run"),
        (HookSpec { command: lists(&[""]), ..none.clone() }, "command: the list begins with the program to run"),
        (HookSpec { shell: Some(" ".into()), ..none.clone() }, "shell: the line is empty"),
        (HookSpec { command: lists(&["a"]), ..kit::spec() }, "command and shell: a hook has one of them, not both"),
        (HookSpec { timeout_ms: 0, ..kit::spec() }, "timeout_ms: a hook needs some time; leave the key out for 10000"),
        (HookSpec { name: String::new(), ..kit::spec() }, "name: a hook needs a name of one line"),
        (
            HookSpec { tools: lists(&["read_file("]), ..kit::spec() },
            "tools: the pattern \"read_file(\" can match no tool: the name of a tool has no '('",
        ),
    ] {
        let fault = CommandHook::new(&spec, Path::new("/"), None, None).expect_err(want);
        assert_eq!(fault.to_string(), want);
    }
    let hook = CommandHook::new(&HookSpec { tools: lists(&["write_*"]), ..kit::spec() }, Path::new("/"), None, None);
    let hook = hook.expect("a hook");
    assert!(
        hook.wants(Phase::Pre, "write_file")
            && !hook.wants(Phase::Pre, "read_file")
            && !hook.wants(Phase::Post, "write_file")
    );
}

#[test]
fn the_messages_have_schemas() {
    for phase in [Phase::Pre, Phase::Post] {
        let check = jsonschema::validator_for(&answer_schema(phase)).expect("a schema");
        assert!(!check.is_valid(&json!({"decision": "allow", "odd": 1})));
    }
    let check =
        |schema: &Value, message: &Value| jsonschema::validator_for(schema).expect("a schema").is_valid(message);
    let event = message::event("guard", Phase::Pre, (None, &[]), &call(), None);
    assert!(check(&input_schema(), &serde_json::from_slice(&event).expect("JSON")));
    assert!(check(&answer_schema(Phase::Pre), &json!({"decision": "ask", "reason": "r", "arguments": {}})));
    assert!(check(&answer_schema(Phase::Post), &json!({"decision": "replace", "observation": "r"})));
}
