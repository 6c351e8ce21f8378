//! Which tools a client is offered, and that no mode is offered that does not work.

use std::process::{Command, Stdio};

use serde_json::json;

use crate::suite::cases::kit::says;
use crate::suite::gate::kit::{Home, guarded};
use crate::suite::support::{Server, TOOLGATE, Temp};

fn names(server: &mut Server) -> Vec<String> {
    let list = server.request("tools/list", json!({}));
    let tools = list["result"]["tools"].as_array().expect("a list").clone();
    tools.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn each_mode_lists_what_a_client_calls_itself() {
    let folder = Temp::new();
    let native = names(&mut Server::start(folder.path()));
    assert!(native.len() > 5 && !native.contains(&"run_code".to_owned()), "{native:?}");
    assert_eq!(names(&mut Server::start_with(folder.path(), &["--mode", "native"])), native);
    assert_eq!(names(&mut Server::start_with(folder.path(), &["--mode", "code"])), ["run_code"]);
    let both = names(&mut Server::start_with(folder.path(), &["--mode", "both"]));
    assert_eq!(both.len(), native.len() + 1);
    assert!(native.iter().all(|tool| both.contains(tool)) && both.contains(&"run_code".to_owned()), "{both:?}");
}

#[test]
fn native_mode_is_byte_for_byte_what_it_is_without_one() {
    let folder = Temp::with(&[("a", "1\n")]);
    let mut plain = Server::start(folder.path());
    let mut native = Server::start_with(folder.path(), &["--mode", "native"]);
    for (method, params) in [
        ("tools/list", json!({})),
        ("tools/call", json!({ "name": "read_file", "arguments": { "path": "a" } })),
        ("tools/call", json!({ "name": "run_code", "arguments": { "code": "return 1", "description": "x" } })),
    ] {
        let answers = [&mut plain, &mut native].map(|server| server.request(method, params.clone()).to_string());
        assert_eq!(answers[0], answers[1], "{method}");
    }
}

#[test]
fn in_code_mode_a_tool_called_by_itself_is_refused_with_the_way() {
    let folder = Temp::with(&[("a", "1\n")]);
    let mut server = Server::start_with(folder.path(), &["--mode", "code"]);
    let answer = server.request("tools/call", json!({ "name": "read_file", "arguments": { "path": "a" } }));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    says(answer["error"]["message"].as_str().expect("a message"), &["run_code", "tools.read_file"]);
    let answer = server.request("tools/call", json!({ "name": "nothing", "arguments": {} }));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
}

#[test]
fn the_configuration_names_a_mode_and_the_command_line_stands_over_it() {
    let home = Home::configured("mode = \"code\"\n");
    let folder = Temp::new();
    assert_eq!(names(&mut home.serve(&folder, &[])), ["run_code"]);
    assert!(!names(&mut home.serve(&folder, &["--mode", "native"])).contains(&"run_code".to_owned()));
}

#[test]
fn a_repository_that_nobody_trusts_cannot_turn_it_on() {
    let folder = Temp::with(&[("toolgate.toml", "mode = \"both\"\n[code]\ncalls = 1\nrequire_sandbox = true\n")]);
    let mut server = Server::start(folder.path());
    assert!(!names(&mut server).contains(&"run_code".to_owned()));
    let ended = server.finish();
    says(&ended.stderr, &["left out: mode = both", "left out: [code]"]);
}

#[test]
fn rules_about_programs_hold_in_every_mode() {
    let rule = "[[rule]]\ndecision = \"deny\"\ntools = [\"run_code\"]\nreason = \"no programs\"\n";
    let (mut desk, _home) = guarded(&[], &format!("mode = \"both\"\n{rule}"));
    says(desk.run("return 1").error("denied"), &["no programs"]);
    let (mut native, _home) = guarded(&[("a", "1\n")], rule);
    native.read("a").ok();
}

#[test]
fn a_read_only_server_runs_programs_that_change_nothing() {
    let folder = Temp::with(&[("a", "1\n")]);
    let mut server = Server::start_with(folder.path(), &["--mode", "both", "--read-only"]);
    assert!(names(&mut server).contains(&"run_code".to_owned()));
    let code = "const one = await tools.read_file({path: 'a'}); \
                try { await tools.write_file({path: 'b', content: ''}) } catch (e) { return one.content + e.code }";
    let reply = server.call("run_code", json!({ "code": code, "description": "a test" }));
    assert_eq!(reply["content"][0]["text"], "1\ndenied", "{reply}");
    assert!(!folder.path().join("b").exists());
}

/// Without a way to start a process there is no code mode, and that is said before a client is there.
#[test]
fn no_working_runtime_is_a_loud_failure_at_the_start() {
    let folder = Temp::new();
    let state = Temp::new();
    // Too few processes for one more, and as a user to whom that applies; root is let through by the system.
    let heap = "[code]\nheap_bytes = 1\n";
    let config = Temp::with(&[("toolgate.toml", heap)]);
    let serve = |mode: &str| {
        let mut command = Command::new(TOOLGATE);
        command.args(["serve", "--mode", mode]).arg(folder.path()).arg("--state").arg(state.path());
        command.arg("--config").arg(config.path().join("toolgate.toml"));
        command.stdin(Stdio::null()).output().expect("the toolgate binary")
    };
    for mode in ["code", "both"] {
        let output = serve(mode);
        assert_eq!(output.status.code(), Some(1), "{mode}");
        assert!(output.stdout.is_empty());
        says(&String::from_utf8_lossy(&output.stderr), &["code mode has no working runtime", "code.heap_bytes"]);
    }
    assert!(serve("native").status.success());
    let output = serve("neither");
    says(&String::from_utf8_lossy(&output.stderr), &["native, code or both"]);
}
