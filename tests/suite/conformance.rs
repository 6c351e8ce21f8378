//! What the official suite checks over HTTP, over standard input and output: a table of requests in both eras, against the
//! example that offers everything and against the program itself. What every answer of an era must carry is checked for
//! each row.

use std::process::Command;

use serde_json::{Value, json};

use super::offers::kit::{Client, ERAS, Era, Request};
use super::support::example::example;
use super::support::{Server, Temp};

/// What must come of a request.
enum Want {
    /// At these places of the result stand these values.
    At(&'static [(&'static str, &'static str)]),
    /// An error with this code in the modern era, and with that in the legacy one.
    Error(i64, i64),
    /// It is of one era only: anything for the other, an unknown method here.
    Only(Era),
}

use Want::{At, Error, Only};

type Row = (&'static str, &'static str, Want);

fn everything() -> Server {
    Server::launch(Command::new(example("everything")))
}

/// Sends each row in both eras, and holds every answer to the rules of its era.
fn check(mut server: Server, rows: &[Row]) {
    let hands = Client::shake_hands(&mut server, "2025-11-25", json!({}));
    assert_eq!(hands["result"]["protocolVersion"], "2025-11-25", "{hands}");
    for (number, (method, params, want)) in rows.iter().enumerate() {
        for era in ERAS {
            let params: Value = serde_json::from_str(params).unwrap_or_else(|error| panic!("{params}: {error}"));
            let id = if number % 2 == 0 { json!(-(number as i64)) } else { json!(format!("row {number}")) };
            let request = Request { id: id.clone(), method, params, capabilities: json!({}) };
            let answer = server.ask(era, request, |_, other| {
                assert_eq!(other["method"], "notifications/message", "nothing else comes by itself: {other}");
                assert_eq!(era, Era::Legacy, "who has not asked for messages gets none: {other}");
            });
            let row = format!("{era:?} {method}: {answer}");
            assert_eq!(answer["id"], id, "{row}");
            match want {
                At(places) => {
                    let result = answer.get("result").unwrap_or_else(|| panic!("{row}"));
                    for (place, value) in *places {
                        let value: Value = serde_json::from_str(value).expect("JSON");
                        assert_eq!(result.pointer(place), Some(&value), "{place} in {row}");
                    }
                    rules_of_the_era(era, method, result, &row);
                }
                Error(modern, legacy) => {
                    let code = if era == Era::Modern { modern } else { legacy };
                    assert_eq!(answer["error"]["code"], *code, "{row}");
                }
                Only(of) if *of == era => assert!(answer.get("result").is_some(), "{row}"),
                Only(_) => assert_eq!(answer["error"]["code"], -32601, "{row}"),
            }
        }
    }
    assert!(server.close().success());
}

/// MCP 2026-07-28: every result says what it is and who made it, some say how long they may be kept. Earlier revisions
/// know none of that.
fn rules_of_the_era(era: Era, method: &str, result: &Value, row: &str) {
    let kept = matches!(
        method,
        "server/discover"
            | "tools/list"
            | "prompts/list"
            | "resources/list"
            | "resources/templates/list"
            | "resources/read"
    );
    let modern = era == Era::Modern;
    let info = "/_meta/io.modelcontextprotocol~1serverInfo/name";
    assert_eq!(result.get("resultType").and_then(Value::as_str), modern.then_some("complete"), "{row}");
    assert_eq!(result.pointer(info).is_some(), modern, "{row}");
    assert_eq!(result.get("ttlMs").is_some_and(Value::is_u64), modern && kept, "{row}");
    let scope = result.get("cacheScope").and_then(Value::as_str);
    assert_eq!(scope, (modern && kept).then_some("private"), "{row}");
}

const BOTH: &[Row] = &[
    ("unknown/method", "{}", Error(-32601, -32601)),
    ("tools/call", r#"{"name":"nobody"}"#, Error(-32602, -32602)),
    ("tools/call", r#"{"arguments":{}}"#, Error(-32602, -32602)),
    ("tools/list", r#"{"cursor":"nobody's"}"#, Error(-32602, -32602)),
    ("prompts/list", r#"{"cursor":"nobody's"}"#, Error(-32602, -32602)),
    ("resources/list", r#"{"cursor":"nobody's"}"#, Error(-32602, -32602)),
    ("prompts/list", "{}", At(&[])),
    ("resources/list", "{}", At(&[])),
    ("resources/templates/list", "{}", At(&[])),
    ("prompts/get", r#"{"name":"nobody"}"#, Error(-32602, -32602)),
    ("resources/read", r#"{"uri":"test://nonexistent-resource-for-conformance-testing"}"#, Error(-32602, -32002)),
    ("ping", "{}", Only(Era::Legacy)),
    ("logging/setLevel", r#"{"level":"warning"}"#, Only(Era::Legacy)),
];

const EVERYTHING: &[Row] = &[
    (
        "tools/call",
        r#"{"name":"test_simple_text"}"#,
        At(&[("/content", r#"[{"type":"text","text":"This is a simple text response for testing."}]"#)]),
    ),
    (
        "tools/call",
        r#"{"name":"test_image_content","arguments":{}}"#,
        At(&[("/content/0/type", r#""image""#), ("/content/0/mimeType", r#""image/png""#)]),
    ),
    (
        "tools/call",
        r#"{"name":"test_audio_content","arguments":{}}"#,
        At(&[("/content/0/type", r#""audio""#), ("/content/0/mimeType", r#""audio/wav""#)]),
    ),
    (
        "tools/call",
        r#"{"name":"test_embedded_resource"}"#,
        At(&[(
            "/content/0/resource",
            r#"{"uri":"test://embedded-resource","mimeType":"text/plain","text":"This is an embedded resource content."}"#,
        )]),
    ),
    (
        "tools/call",
        r#"{"name":"test_multiple_content_types"}"#,
        At(&[
            ("/content/0/text", r#""Multiple content types test:""#),
            ("/content/1/type", r#""image""#),
            ("/content/2/resource/uri", r#""test://mixed-content-resource""#),
        ]),
    ),
    (
        "tools/call",
        r#"{"name":"test_error_handling"}"#,
        At(&[("/isError", "true"), ("/content/0/text", r#""This tool intentionally returns an error for testing""#)]),
    ),
    ("tools/call", r#"{"name":"test_sampling","arguments":{}}"#, At(&[("/isError", "true")])),
    ("tools/call", r#"{"name":"test_tool_with_logging"}"#, At(&[("/content/0/text", r#""The work is done.""#)])),
    ("tools/call", r#"{"name":"test_tool_with_progress"}"#, At(&[("/content/0/text", r#""The work is done.""#)])),
    (
        "resources/list",
        "{}",
        At(&[("/resources/0/uri", r#""test://static-text""#), ("/resources/0/name", r#""Static text""#)]),
    ),
    ("resources/templates/list", "{}", At(&[("/resourceTemplates/0/uriTemplate", r#""test://template/{id}/data""#)])),
    (
        "resources/read",
        r#"{"uri":"test://static-text"}"#,
        At(&[(
            "/contents",
            r#"[{"uri":"test://static-text","mimeType":"text/plain","text":"This is the content of the static text resource."}]"#,
        )]),
    ),
    (
        "resources/read",
        r#"{"uri":"test://static-binary"}"#,
        At(&[("/contents/0/uri", r#""test://static-binary""#), ("/contents/0/mimeType", r#""image/png""#)]),
    ),
    (
        "resources/read",
        r#"{"uri":"test://template/123/data"}"#,
        At(&[("/contents/0/text", r#""{\"id\":\"123\",\"templateTest\":true,\"data\":\"Data for ID: 123\"}""#)]),
    ),
    (
        "prompts/get",
        r#"{"name":"test_simple_prompt"}"#,
        At(&[
            ("/messages/0/role", r#""user""#),
            ("/messages/0/content", r#"{"type":"text","text":"This is a simple prompt for testing."}"#),
        ]),
    ),
    (
        "prompts/get",
        r#"{"name":"test_prompt_with_arguments","arguments":{"arg1":"a","arg2":"b"}}"#,
        At(&[("/messages/0/content/text", r#""Prompt with arguments: arg1='a', arg2='b'""#)]),
    ),
    ("prompts/get", r#"{"name":"test_prompt_with_arguments","arguments":{"arg1":"a"}}"#, Error(-32602, -32602)),
    (
        "prompts/get",
        r#"{"name":"test_prompt_with_embedded_resource","arguments":{"resourceUri":"test://x"}}"#,
        At(&[("/messages/0/content/resource/uri", r#""test://x""#)]),
    ),
    ("prompts/get", r#"{"name":"test_prompt_with_image"}"#, At(&[("/messages/0/content/type", r#""image""#)])),
    (
        "completion/complete",
        r#"{"ref":{"type":"ref/prompt","name":"test_prompt_with_arguments"},"argument":{"name":"arg1","value":"test"}}"#,
        At(&[("/completion/values", r#"["test","testing"]"#)]),
    ),
    ("resources/subscribe", r#"{"uri":"test://watched-resource"}"#, Only(Era::Legacy)),
    ("resources/unsubscribe", r#"{"uri":"test://watched-resource"}"#, Only(Era::Legacy)),
];

const TOOLGATE: &[Row] = &[
    ("tools/call", r#"{"name":"read_file","arguments":{}}"#, At(&[("/isError", "true")])),
    (
        "tools/call",
        r#"{"name":"read_file","arguments":{"path":"a.md"}}"#,
        At(&[("/content/0/text", r##""1: # A\n""##)]),
    ),
    ("resources/list", "{}", At(&[("/resources/0/uri", r#""workspace:///a.md""#)])),
    ("resources/read", r#"{"uri":"workspace:///a.md"}"#, At(&[("/contents/0/mimeType", r#""text/markdown""#)])),
    ("prompts/list", "{}", At(&[("/prompts/0/name", r#""explain-denial""#)])),
    ("prompts/get", r#"{"name":"review-changes"}"#, At(&[("/messages/0/role", r#""user""#)])),
    ("resources/subscribe", r#"{"uri":"workspace:///a.md"}"#, Only(Era::Legacy)),
];

#[test]
fn the_example_that_offers_everything_keeps_to_the_protocol() {
    check(everything(), BOTH);
    check(everything(), EVERYTHING);
}

#[test]
fn the_program_itself_keeps_to_the_protocol() {
    let temp = Temp::with(&[("a.md", "# A\n"), ("b/c.rs", "")]);
    check(Server::start(temp.path()), BOTH);
    check(Server::start(temp.path()), TOOLGATE);
}

#[test]
fn a_modern_client_is_told_all_that_is_served_and_nothing_else() {
    let temp = Temp::with(&[("a.md", "# A\n")]);
    for mut server in [everything(), Server::start(temp.path())] {
        let answer = Client::request(&mut server, Era::Modern, "server/discover", json!({}));
        rules_of_the_era(Era::Modern, "server/discover", &answer["result"], &answer.to_string());
        let capabilities = answer["result"]["capabilities"].as_object().expect("capabilities").clone();
        let names: Vec<_> = capabilities.keys().map(String::as_str).collect();
        assert_eq!(names, ["logging", "tools", "prompts", "resources", "completions"]);
        for (capability, methods) in [
            ("tools", &["tools/list"][..]),
            ("prompts", &["prompts/list"]),
            ("resources", &["resources/list", "resources/templates/list"]),
        ] {
            assert_eq!(capabilities[capability]["listChanged"], true);
            for method in methods {
                let answer = Client::request(&mut server, Era::Modern, method, json!({}));
                assert!(answer.get("result").is_some(), "{method}: {answer}");
            }
        }
        let twice = [(); 2].map(|()| Client::request(&mut server, Era::Modern, "tools/list", json!({})));
        assert_eq!(twice[0]["result"]["tools"], twice[1]["result"]["tools"], "always in the same order");
    }
}
