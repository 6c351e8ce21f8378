//! The agent of the examples: with a scripted model in both modes, with a model behind each of the two APIs, and what it
//! measures.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Output};
use std::thread::{JoinHandle, spawn};

use expect_test::{ExpectFile, expect_file};
use serde_json::{Value, json};

use crate::suite::support::Temp;
use crate::suite::support::example::example;

fn agent(arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new(example("code_agent"));
    for key in ["ANTHROPIC_API_KEY", "ANTHROPIC_MODEL", "OPENAI_API_KEY", "OPENAI_MODEL", "HTTP_PROXY", "http_proxy"] {
        command.env_remove(key);
    }
    command.args(arguments).envs(environment.iter().copied()).output().expect("the agent")
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).expect("text")
}

/// The names of changes, which are others each time, as eight crosses.
fn without_names(text: &str) -> String {
    let mut masked = text.to_owned();
    for before in ["change ", "Run "] {
        let parts: Vec<_> = masked.split(before).map(str::to_owned).collect();
        masked = parts[..1]
            .iter()
            .cloned()
            .chain(parts[1..].iter().map(|part| match part.split_at_checked(8) {
                Some((name, rest)) if name.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {
                    format!("xxxxxxxx{rest}")
                }
                _ => part.clone(),
            }))
            .collect::<Vec<_>>()
            .join(before);
    }
    masked
}

#[test]
fn a_scripted_model_works_in_both_modes() {
    let snapshots: [(&str, ExpectFile); 2] =
        [("code", expect_file!["snapshots/code.txt"]), ("both", expect_file!["snapshots/both.txt"])];
    for (mode, snapshot) in snapshots {
        snapshot.assert_eq(&without_names(&stdout(&agent(&["--mode", mode], &[]))));
    }
}

/// A model's server that gives these answers, one a request, and keeps what it was asked.
struct FakeModel {
    url: String,
    asked: JoinHandle<Vec<Asked>>,
}

struct Asked {
    path: String,
    headers: BTreeMap<String, String>,
    body: Value,
}

impl FakeModel {
    fn answering(answers: Vec<(&'static str, Value)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let serve = move |(status, answer): (&str, Value)| {
            let (stream, _) = listener.accept().expect("a connection");
            answered(stream, status, &answer)
        };
        FakeModel { url, asked: spawn(move || answers.into_iter().map(serve).collect()) }
    }

    fn asked(self) -> Vec<Asked> {
        self.asked.join().expect("a server that ended well")
    }
}

fn answered(stream: TcpStream, status: &str, answer: &Value) -> Asked {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).expect("a request");
    let path = line.split(' ').nth(1).expect("a path").to_owned();
    let mut headers = BTreeMap::new();
    loop {
        line.clear();
        reader.read_line(&mut line).expect("a header");
        let Some((name, value)) = line.trim().split_once(": ") else { break };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    let mut body = vec![0; headers["content-length"].parse().expect("a length")];
    reader.read_exact(&mut body).expect("a body");
    let answer = answer.to_string();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        answer.len()
    );
    reader.into_inner().write_all((head + &answer).as_bytes()).expect("an answer");
    Asked { path, headers, body: serde_json::from_slice(&body).expect("JSON") }
}

const PROGRAM: &str = "const { content } = await tools.read_file({ path: 'a.txt' });\n\
                       await tools.write_file({ path: 'b.txt', content: content.toUpperCase() as string });\n\
                       return content.length;";

#[test]
fn a_model_behind_anthropics_api_writes_a_program() {
    let run = json!({"code": PROGRAM, "description": "Copy a file in capitals"});
    let model = FakeModel::answering(vec![
        (
            "200 OK",
            json!({"role": "assistant", "stop_reason": "tool_use", "content": [
                {"type": "text", "text": "I copy it."},
                {"type": "tool_use", "id": "toolu_1", "name": "run_code", "input": run},
            ]}),
        ),
        (
            "200 OK",
            json!({"role": "assistant", "stop_reason": "end_turn", "content": [{"type": "text", "text": "Copied."}]}),
        ),
    ]);
    let folder = Temp::with(&[("a.txt", "one\n")]);
    let arguments = ["--folder", &folder.path().display().to_string(), "--task", "Copy a.txt in capitals."];
    let output = agent(
        &arguments,
        &[("ANTHROPIC_API_KEY", "key"), ("ANTHROPIC_MODEL", "a-model"), ("ANTHROPIC_BASE_URL", &model.url)],
    );
    let shown = stdout(&output);
    for part in ["# a-model in code mode", "I copy it.", "code-dispatch 1:code:2 write_file", "## the model\nCopied."] {
        assert!(shown.contains(part), "no {part} in {shown}");
    }
    assert_eq!(folder.text("b.txt"), "ONE\n");
    let asked = model.asked();
    for request in &asked {
        assert_eq!(request.path, "/v1/messages");
        assert_eq!((&*request.headers["x-api-key"], &*request.headers["anthropic-version"]), ("key", "2023-06-01"));
        let names: Vec<_> = request.body["tools"].as_array().expect("tools").iter().map(|tool| &tool["name"]).collect();
        assert_eq!(names, ["run_code"]);
        assert_eq!(request.body["tools"][0]["input_schema"]["type"], "object");
        assert_eq!(request.body["model"], "a-model");
    }
    assert_eq!(asked[0].body["messages"], json!([{"role": "user", "content": "Copy a.txt in capitals."}]));
    let said = &asked[1].body["messages"];
    assert_eq!(said[1]["content"][1], json!({"type": "tool_use", "id": "toolu_1", "name": "run_code", "input": run}));
    assert_eq!(said[2]["content"][0]["tool_use_id"], "toolu_1");
    let result = said[2]["content"][0]["content"].as_str().expect("a text");
    assert!(result.starts_with("4\n[write_file b.txt: change "), "{result}");
    assert_eq!(said[2]["content"][0]["is_error"], Value::Null);
}

#[test]
fn a_model_behind_openais_api_mends_its_program() {
    let call = |id: &str, code: &str| {
        let arguments = json!({"code": code, "description": "Copy a file in capitals"}).to_string();
        let function = json!({"name": "run_code", "arguments": arguments});
        let message = json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "type": "function", "function": function}]});
        ("200 OK", json!({"choices": [{"finish_reason": "tool_calls", "message": message}]}))
    };
    let model = FakeModel::answering(vec![
        call("call_1", "const a = 1;\nenum Bad { A }"),
        call("call_2", PROGRAM),
        (
            "200 OK",
            json!({"choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": "Copied."}}]}),
        ),
    ]);
    let folder = Temp::with(&[("a.txt", "one\n")]);
    let arguments = ["--folder", &folder.path().display().to_string(), "--mode", "both", "--task", "Copy it."];
    let output = agent(
        &arguments,
        &[("OPENAI_API_KEY", "key"), ("OPENAI_MODEL", "a-model"), ("OPENAI_BASE_URL", &format!("{}/v1", model.url))],
    );
    let shown = stdout(&output);
    assert!(
        shown.contains("## it failed\nThe program failed (syntax) at line 2, column 1: an enum is code"),
        "{shown}"
    );
    assert_eq!(folder.text("b.txt"), "ONE\n");
    let asked = model.asked();
    for request in &asked {
        assert_eq!(request.path, "/v1/chat/completions");
        assert_eq!(request.headers["authorization"], "Bearer key");
        let names: Vec<_> = request.body["tools"]
            .as_array()
            .expect("tools")
            .iter()
            .map(|tool| tool["function"]["name"].as_str())
            .collect();
        assert!(names.contains(&Some("run_code")) && names.contains(&Some("read_file")), "{names:?}");
        assert_eq!(request.body["tools"][0]["function"]["parameters"]["type"], "object");
    }
    let said = &asked[2].body["messages"];
    assert_eq!(said[1]["tool_calls"][0]["id"], "call_1");
    assert_eq!((&said[2]["role"], &said[2]["tool_call_id"]), (&json!("tool"), &json!("call_1")));
    assert!(said[2]["content"].as_str().is_some_and(|text| text.contains("Nothing of it was run")), "{said}");
    assert!(said[4]["content"].as_str().is_some_and(|text| text.starts_with("4\n")), "{said}");
}

#[test]
fn what_a_models_server_refuses_is_told() {
    let model = FakeModel::answering(vec![("401 Unauthorized", json!({"error": {"message": "invalid x-api-key"}}))]);
    let output = agent(&["--task", "x"], &[("ANTHROPIC_API_KEY", "wrong"), ("ANTHROPIC_BASE_URL", &model.url)]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("401") && said.contains("invalid x-api-key"), "{said}");
    let output = agent(&["--task", "x"], &[]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("ANTHROPIC_API_KEY"), "a task needs a model");
}

/// The rows of the table: name, turns, bytes sent, tokens read, tokens written.
#[test]
fn fifty_edits_by_a_program_cost_a_fraction() {
    let table = stdout(&agent(&["--measure"], &[]));
    let rows: BTreeMap<String, Vec<f64>> = table
        .lines()
        .skip(2)
        .map(|row| {
            let mut cells = row.trim_matches('|').split('|').map(str::trim);
            let name = cells.next().expect("a name").to_owned();
            (name, cells.map(|cell| cell.parse().expect("a number")).collect())
        })
        .collect();
    // At least so many times as much as a program: turns, bytes, tokens read, tokens written.
    for (way, times) in [
        ("native, a call a turn", [40.0, 100.0, 100.0, 10.0]),
        ("native, calls at once", [2.0, 4.0, 4.0, 10.0]),
        ("native, patch_files", [2.0, 4.0, 4.0, 10.0]),
    ] {
        for column in 0..times.len() {
            let (cost, least) = (rows[way][column], rows["code"][column] * times[column]);
            assert!(cost >= least, "{way}, column {column}: {cost} is less than {least}\n{table}");
        }
    }
}
