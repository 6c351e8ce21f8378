//! The stateless era over HTTP: the body decides, headers are held against it, and the status says what the error does.

use serde_json::{Value, json};

use super::super::support::{MODERN, Temp};
use super::kit::{Ask, Site, call, initialize, meta, modern, post, post_text, text};

/// A POST of the stateless era, and what headers it has instead of those it should have.
fn with_headers(body: &Value, headers: &[(&str, &str)]) -> Ask {
    post(body).headers(headers)
}

fn request(method: &str, mut params: Value) -> Value {
    if params["_meta"].is_null() {
        params["_meta"] = meta(MODERN);
    }
    json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
}

const VERSION: (&str, &str) = ("mcp-protocol-version", MODERN);

#[test]
fn a_request_is_served_by_itself() {
    let temp = Temp::with(&[("a.txt", "one\n")]);
    let site = Site::start(temp.path());
    let discovered = site.modern("server/discover", json!({}));
    assert_eq!(discovered.status, 200);
    assert_eq!(discovered.header("content-type"), Some("application/json"));
    assert_eq!(discovered.header("mcp-session-id"), None);
    assert_eq!(discovered.json()["result"]["supportedVersions"], json!([MODERN]));
    assert_eq!(text(&site.call("read_file", json!({"path": "a.txt"}))), "1: one\n");
    assert_eq!(text(&site.call("write_file", json!({"path": "b.txt", "content": "two\n"}))), "File written: b.txt");
    assert_eq!(temp.text("b.txt"), "two\n");
    let failed = site.call("read_file", json!({"path": "nowhere"}));
    assert_eq!(failed["structuredContent"]["error"], "file_not_found", "{failed}");
}

#[test]
fn what_breaks_the_contract_is_refused_with_the_status_of_its_code() {
    let temp = Temp::with(&[("a.txt", "one\n")]);
    let site = Site::start(temp.path());
    let full = [VERSION, ("mcp-method", "tools/list")];
    let list = |params: Value| request("tools/list", params);
    let only = |key: &str| json!({"_meta": {key: meta(MODERN)[key]}});
    let version_key = "io.modelcontextprotocol/protocolVersion";
    let read = json!({"name": "read_file", "arguments": {"path": "a.txt"}});
    let called = [VERSION, ("mcp-method", "tools/call")];
    for (what, ask, status, code) in [
        ("no JSON", post_text("{").headers(&full), 400, -32700),
        ("no UTF-8 escapes", post_text("\"\\ud83d").headers(&full), 400, -32700),
        ("not an object", post_text("7").headers(&full), 400, -32600),
        ("an empty body", post_text("").headers(&full), 400, -32700),
        ("a batch", post(&json!([list(json!({}))])).headers(&full), 400, -32600),
        ("a batch without a header", post(&json!([list(json!({}))])), 400, -32600),
        ("an empty batch", post(&json!([])), 400, -32600),
        ("id null", with_headers(&json!({"jsonrpc": "2.0", "id": null, "method": "tools/list"}), &full), 400, -32600),
        ("a response", with_headers(&json!({"jsonrpc": "2.0", "id": 1, "result": {}}), &full), 400, -32600),
        ("no headers", post(&list(json!({}))), 400, -32020),
        ("no method header", post(&list(json!({}))).headers(&[VERSION]), 400, -32020),
        ("another method", post(&list(json!({}))).headers(&[VERSION, ("mcp-method", "tools/call")]), 400, -32020),
        (
            "the method in capitals",
            post(&list(json!({}))).headers(&[VERSION, ("mcp-method", "Tools/List")]),
            400,
            -32020,
        ),
        ("two methods", post(&list(json!({}))).headers(&full).headers(&[("mcp-method", "tools/list")]), 400, -32020),
        (
            "another version in the header",
            post(&list(json!({}))).headers(&[("mcp-protocol-version", "2025-11-25"), ("mcp-method", "tools/list")]),
            400,
            -32020,
        ),
        ("no _meta", with_headers(&json!({"jsonrpc": "2.0", "id": 7, "method": "tools/list"}), &full), 400, -32602),
        ("no version", with_headers(&list(only("io.modelcontextprotocol/clientCapabilities")), &full), 400, -32602),
        ("no capabilities", with_headers(&list(only(version_key)), &full), 400, -32602),
        ("no capabilities, no headers", post(&list(only(version_key))), 400, -32602),
        ("a version that is none", with_headers(&list(json!({"_meta": {version_key: 7}})), &full), 400, -32602),
        (
            "a version of later",
            post(&list(json!({"_meta": meta("2099-01-01")})))
                .headers(&[("mcp-protocol-version", "2099-01-01"), ("mcp-method", "tools/list")]),
            400,
            -32022,
        ),
        (
            "a version that is no date",
            post(&list(json!({"_meta": meta("v999.0.0")})))
                .headers(&[("mcp-protocol-version", "v999.0.0"), ("mcp-method", "tools/list")]),
            400,
            -32022,
        ),
        (
            "an older version",
            post(&list(json!({"_meta": meta("2025-11-25")})))
                .headers(&[("mcp-protocol-version", "2025-11-25"), ("mcp-method", "tools/list")]),
            400,
            -32022,
        ),
        ("initialize", modern(json!(7), "initialize", json!({})), 404, -32601),
        ("initialize without _meta", post(&initialize("2025-11-25", json!({}))).headers(&[VERSION]), 400, -32020),
        ("ping", modern(json!(7), "ping", json!({})), 404, -32601),
        ("a method that is none", modern(json!(7), "unknown/method", json!({})), 404, -32601),
        ("discover without _meta", post(&json!({"jsonrpc": "2.0", "id": 7, "method": "server/discover"})), 400, -32602),
        ("no name header", with_headers(&request("tools/call", read.clone()), &called), 400, -32020),
        (
            "another name",
            with_headers(&request("tools/call", read.clone()), &called).headers(&[("mcp-name", "write_file")]),
            400,
            -32020,
        ),
        (
            "a name that is no base64",
            with_headers(&request("tools/call", read.clone()), &called).headers(&[("mcp-name", "=?base64?%%?=")]),
            400,
            -32020,
        ),
        ("an unknown tool", call(json!(7), "no_such_tool", json!({})), 400, -32602),
        ("arguments that are none", call(json!(7), "read_file", json!([])), 400, -32602),
        ("a cursor that is none", modern(json!(7), "tools/list", json!({"cursor": "x"})), 400, -32602),
    ] {
        let answer = site.send(ask);
        assert_eq!((answer.status, answer.code()), (status, code), "{what}: {answer:?}");
        let answered = answer.json();
        assert!(answered.get("id").is_none_or(|id| [json!(0), json!(7)].contains(id)), "{what}: {answered}");
        assert_ne!(answered.get("id"), Some(&Value::Null), "{what}: {answered}");
    }
    let encoded =
        with_headers(&request("tools/call", read), &called).headers(&[("mcp-name", "=?base64?cmVhZF9maWxl?=")]);
    assert_eq!(text(&site.send(encoded).json()["result"]), "1: one\n");
    let blanks =
        post(&list(json!({}))).headers(&[("MCP-Protocol-Version", "  2026-07-28\t"), ("MCP-METHOD", "tools/list ")]);
    assert_eq!(site.send(blanks).status, 200, "names have no case, and blanks around values do not count");
}

#[test]
fn a_refused_version_comes_with_those_that_are_served() {
    let temp = Temp::new();
    let site = Site::start(temp.path());
    let ask = post(&request("tools/list", json!({"_meta": meta("2099-01-01")})))
        .headers(&[("mcp-protocol-version", "2099-01-01"), ("mcp-method", "tools/list")]);
    let answer = site.send(ask).json();
    assert_eq!(answer["error"]["data"], json!({"supported": [MODERN], "requested": "2099-01-01"}), "{answer}");
}

#[test]
fn notifications_are_taken_without_an_answer() {
    let temp = Temp::new();
    let site = Site::start(temp.path());
    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    for headers in [&[VERSION][..], &[VERSION, ("mcp-method", "notifications/cancelled")]] {
        let answer = site.send(post(&cancelled).headers(headers));
        assert_eq!((answer.status, answer.body.len()), (202, 0), "{answer:?}");
    }
}

#[test]
fn sessions_and_streams_of_the_other_era_are_nothing_to_it() {
    let temp = Temp::with(&[("a.txt", "one\n")]);
    let site = Site::start(temp.path());
    for method in ["GET", "DELETE", "PUT"] {
        let answer = site.send(Ask::new(method, "/mcp").headers(&[VERSION, ("accept", "text/event-stream")]));
        assert_eq!((answer.status, answer.header("allow")), (405, Some("POST")), "{method}");
    }
    let read =
        call(json!(1), "read_file", json!({"path": "a.txt"})).session("nobody's").headers(&[("last-event-id", "1-1")]);
    let answer = site.send(read);
    assert_eq!((answer.status, answer.header("mcp-session-id")), (200, None), "{answer:?}");
}

#[test]
fn ids_come_back_as_they_were() {
    let temp = Temp::new();
    let site = Site::start(temp.path());
    for id in [json!(0), json!(-7), json!(9_007_199_254_740_993_u64), json!(""), json!("1"), json!("ä\n\"")] {
        let answer = site.send(modern(id.clone(), "server/discover", json!({}))).json();
        assert_eq!(answer["id"], id, "{answer}");
    }
}

#[test]
fn an_answer_comes_in_the_form_that_the_client_takes() {
    let temp = Temp::with(&[("a.txt", "one\n")]);
    let site = Site::start(temp.path());
    let read = || call(json!(1), "read_file", json!({"path": "a.txt"}));
    for (accept, kind) in [
        ("application/json, text/event-stream", "application/json"),
        ("application/json", "application/json"),
        ("*/*", "application/json"),
        ("text/event-stream;q=1", "text/event-stream"),
    ] {
        let answer = site.send(read().instead("accept", accept));
        assert_eq!((answer.status, answer.header("content-type")), (200, Some(kind)), "{accept}");
        assert_eq!(text(&answer.json()["result"]), "1: one\n", "{accept}");
        if kind == "text/event-stream" {
            assert_eq!(answer.header("x-accel-buffering"), Some("no"), "{answer:?}");
        }
    }
    assert_eq!(site.send(read().without("accept")).header("content-type"), Some("application/json"));
    assert_eq!(site.send(read().instead("accept", "text/html")).status, 406);
    assert_eq!(site.send(read().instead("content-type", "text/plain")).status, 415);
    assert_eq!(site.send(read().instead("content-type", "application/json; charset=utf-8")).status, 200);
    assert_eq!(site.send(read().without("content-type")).status, 415);
}

/// A call that a person has to be asked about is answered with the question, and comes again with the answer.
#[test]
fn a_question_goes_out_as_an_answer_and_comes_back_with_the_next_request() {
    let temp = Temp::new();
    let site = Site::configured(
        temp.path(),
        "[[rule]]\ntools = [\"write_file\"]\ndecision = \"ask\"\nreason = \"writing is asked about\"\n",
        &[],
    );
    let asked = |extra: Value| {
        let mut params =
            json!({"name": "write_file", "arguments": {"path": "a.txt", "content": "x"}, "_meta": meta(MODERN)});
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({"elicitation": {}});
        for (name, value) in extra.as_object().expect("an object") {
            params[name] = value.clone();
        }
        site.send(modern(json!(1), "tools/call", params)).json()
    };
    let question = asked(json!({}));
    assert_eq!(question["result"]["resultType"], "input_required", "{question}");
    let state = &question["result"]["requestState"];
    let yes = json!({"approval": {"action": "accept", "content": {"approve": true}}});
    let done = asked(json!({"requestState": state, "inputResponses": yes}));
    assert_eq!(done["result"]["resultType"], "complete", "{done}");
    assert_eq!(temp.text("a.txt"), "x");
    let again = asked(json!({"requestState": state, "inputResponses": yes}));
    assert_eq!(again["error"]["code"], -32602, "a state is good once: {again}");
}
