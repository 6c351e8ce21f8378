//! Messages that are odd, broken or cut off: each is answered by itself, and the next one is served.

use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

use super::super::super::support::{MODERN, Temp};
use super::super::kit::{Ask, Site, call, command, modern, text};
use super::{Way, code, message};

fn files() -> Temp {
    Temp::with(&[("a.txt", "one\n")])
}

#[track_caller]
fn assert_serves(site: &Site, way: &Way, case: &str) {
    assert_eq!(text(&way.result(site, "read_file", json!({"path": "a.txt"}))), "1: one\n", "{case}: {way:?}");
}

/// Whatever cap falls into a character, none is halved.
#[test]
fn text_that_is_cut_is_cut_between_characters() {
    let temp = Temp::new();
    let party = "\u{1f389}".repeat(400);
    for shift in 0..4 {
        temp.write(&format!("{shift}.txt"), format!("{}{party}needle{party}\n", "x".repeat(shift)));
    }
    let reason = "\u{1f389}".repeat(3000);
    let config = format!(
        "[limits]\nread_bytes = 1000\nfound_bytes = 1500\n[[rule]]\ntools = [\"make_dir\"]\ndecision = \"deny\"\nreason = \"{reason}\"\n"
    );
    let site = Site::configured(temp.path(), &config, &[]);
    for way in Way::all(&site) {
        for shift in 0..4 {
            let path = format!("{shift}.txt");
            for (tool, arguments) in [
                ("read_file", json!({"path": path})),
                ("search_files", json!({"pattern": "needle", "path": path})),
                ("read_file", json!({"path": format!("{}{party}", "x".repeat(shift))})),
                (
                    "patch_file",
                    json!({"path": path, "old_str": format!("{}{party}no", "x".repeat(shift)), "new_str": ""}),
                ),
                ("make_dir", json!({"path": "d"})),
            ] {
                let answer = site.send(way.call(json!(1), tool, arguments.clone()));
                let said = String::from_utf8(answer.body.clone());
                assert!(said.is_ok(), "B132: {tool}: not UTF-8");
                assert!(!answer.text().to_ascii_lowercase().contains("\\ud83"), "B132: {tool}: {}", answer.text());
                assert!(answer.json().get("result").is_some(), "B132: {tool} {arguments}");
            }
        }
    }
}

#[test]
fn half_a_surrogate_pair_fails_its_call_alone() {
    let temp = files();
    let site = Site::start(temp.path());
    for way in Way::all(&site) {
        for content in [r"x\ud83d y", r"\ude00", r"\ud83d", r"\ude00\ud83d"] {
            let ask =
                way.call_with("write_file", json!({"path": "n.txt", "content": "HERE"}), &format!("\"{content}\""));
            let answer = site.send(ask).json();
            assert_eq!((&answer["id"], code(&answer["result"])), (&json!(7), "invalid_arguments"), "B133: {answer}");
            assert!(message(&answer["result"]).contains("surrogate"), "B133: {answer}");
        }
        assert!(!temp.path().join("n.txt").exists(), "B133");
        assert_serves(&site, &way, "B133");
    }
}

#[test]
fn nesting_without_end_is_answered_with_its_id() {
    let temp = files();
    let site = Site::start(temp.path());
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    let objects = r#"{"a":"#.repeat(100_000) + "1" + &"}".repeat(100_000);
    for way in Way::all(&site) {
        for nested in [&deep, &objects] {
            for arguments in [json!({"path": "HERE"}), json!("HERE")] {
                let answer = site.send(way.call_with("read_file", arguments, nested)).json();
                assert_eq!(answer["id"], 7, "B135: {way:?}");
                assert!(answer.get("error").is_some() || answer["result"]["isError"] == true, "B135: {answer}");
            }
            let body = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{nested}}}"#);
            let answer = site.send(way.raw("tools/call", &body)).json();
            assert_eq!(answer["id"], 7, "B135: {way:?}: {answer}");
            assert!(answer.get("error").is_some(), "B135: {answer}");
        }
        assert_serves(&site, &way, "B135");
    }
}

#[test]
fn nothing_but_messages_is_sent_whatever_hooks_and_programs_print() {
    let temp = files();
    let hooks =
        "[[hook]]\nname = \"noisy\"\nphase = \"pre\"\ntools = [\"make_dir\"]\nshell = 'echo hello; echo there >&2'\n";
    let state = Temp::with(&[("toolgate/toolgate.toml", hooks)]);
    let mut command = command(temp.path(), &["--mode", "both"], &state, "127.0.0.1:0");
    let mut child = command.env("RUST_LOG", "trace").stdout(Stdio::piped()).spawn().expect("the toolgate binary");
    let mut stdout = child.stdout.take().expect("a pipe");
    let site = Site::of(child, state);
    for way in Way::all(&site) {
        let denied = way.result(&site, "make_dir", json!({"path": "d"}));
        assert_eq!(code(&denied), "denied", "B136: noise is no answer: {denied}");
        let logged = json!({"code": "console.log('\\n{}\\n'); console.error('x'); return 1", "description": "log"});
        assert_ne!(way.result(&site, "run_code", logged)["isError"], true, "B136");
        assert_serves(&site, &way, "B136");
    }
    drop(site);
    let mut said = String::new();
    stdout.read_to_string(&mut said).expect("text");
    assert_eq!(said, "", "B136: nothing is said where nobody listens");
}

#[test]
fn a_bad_message_ends_neither_its_connection_nor_anything_else() {
    let temp = files();
    let (site, said) = Site::logged(temp.path(), "", &[], "warn");
    let lines = || said().lines().count();
    for way in Way::all(&site) {
        let mut wire = site.connect();
        for body in [
            "not json",
            "{",
            "}",
            "[",
            "\"",
            "\u{0}",
            "GET / HTTP/1.1\r\n\r\n",
            r#"{"jsonrpc":"2.0","id":1,"method":"pi"#,
        ] {
            wire.send(way.raw("ping", body));
            let answer = wire.answer();
            assert_eq!((answer.status, answer.code()), (400, -32700), "B137: {way:?}: {body:?}: {answer:?}");
            assert_eq!(answer.json().get("id"), None, "B137: {answer:?}");
        }
        for body in [&b"\xff\xfe{\0}\0"[..], b"\x80", b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}"] {
            wire.send(Ask { body: Some(body.to_vec()), ..way.raw("ping", "") });
            assert_eq!(wire.answer().status, 400, "B137: {body:?}");
        }
        wire.send(way.call(json!(2), "read_file", json!({"path": "a.txt"})));
        assert_eq!(text(&wire.answer().json()["result"]), "1: one\n", "B137: the same connection goes on");
    }
    assert!(lines() <= 1 + 3 * 11, "B137: a line for each at most:\n{}", said());
}

/// Only a request has an answer; the rest has a status.
#[test]
fn nobody_answers_an_answer_or_a_notification() {
    let temp = files();
    let site = Site::start(temp.path());
    for way in Way::all(&site) {
        for body in [
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}"#,
            r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":"never sent","error":{"code":1,"message":""}}"#,
            r#"{"jsonrpc":"2.0","method":"no/such"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/no-such","params":null}"#,
            r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"list_dir"}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized","params":[1]}"#,
        ] {
            let answer = site.send(way.raw("x", body));
            assert!([202, 400].contains(&answer.status), "B138: {way:?}: {body}: {answer:?}");
            if answer.status == 202 {
                assert!(answer.body.is_empty(), "B138: {body}: {answer:?}");
            } else {
                assert_eq!(answer.json().get("id"), None, "B138: {body}: {answer:?}");
            }
        }
        assert_serves(&site, &way, "B138");
    }
}

#[test]
fn odd_requests_are_answered_each_with_its_own_error() {
    let temp = files();
    let site = Site::start(temp.path());
    for way in Way::all(&site) {
        let stateless = matches!(way, Way::Stateless);
        let meta = way.meta();
        let params = |more: &str| {
            let comma = if more.is_empty() { "" } else { "," };
            format!("{{\"_meta\":{meta}{comma}{more}}}")
        };
        for (method, params, code, status) in [
            ("no/such", params(""), -32601, 404),
            ("", params(""), -32601, 404),
            ("tools/call", params(""), -32602, 400),
            ("tools/call", params("\"name\":7"), -32602, 400),
            ("tools/call", params("\"name\":null"), -32602, 400),
            ("tools/call", params("\"arguments\":{}"), -32602, 400),
            ("tools/call", "[]".to_owned(), -32602, 400),
            ("tools/call", "null".to_owned(), -32602, 400),
            ("tools/call", "\"read_file\"".to_owned(), -32602, 400),
            ("tools/list", params("\"cursor\":7"), -32602, 400),
        ] {
            let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
            let answer = site.send(way.raw(method, &body));
            // What is no object at all is found out before the session is looked for.
            let status = if stateless || !params.starts_with(['{', 'n']) { status } else { 200 };
            assert_eq!((answer.status, answer.code()), (status, code), "B139: {way:?}: {body}: {answer:?}");
            assert_eq!(answer.json()["id"], 1, "B139: {body}: {answer:?}");
        }
        for body in [
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":7,"params":{}}}"#, params("")),
            format!(r#"{{"id":1,"method":"tools/list","params":{}}}"#, params("")),
            r#"{"jsonrpc":"2.0","id":1}"#.to_owned(),
            r#"{"jsonrpc":"2.0"}"#.to_owned(),
            "{}".to_owned(),
            "7".to_owned(),
            "null".to_owned(),
            "[]".to_owned(),
            r#"[[{"jsonrpc":"2.0","id":1,"method":"ping"}]]"#.to_owned(),
        ] {
            let answer = site.send(way.raw("tools/list", &body));
            assert_eq!((answer.status, answer.code()), (400, -32600), "B139: {way:?}: {body}: {answer:?}");
        }
        assert_eq!(site.send(way.ask(json!(2), "tools/list", json!({}))).status, 200, "B139: {way:?}");
    }
}

#[test]
fn a_client_that_leaves_in_the_middle_of_an_answer_is_no_reason_to_panic() {
    let temp = Temp::with(&[("a.txt", "one\n"), ("big.txt", &"0123456789abcdef\n".repeat(50_000))]);
    let limits = "[limits]\nread_lines = 50000\nread_bytes = 10000000\n";
    let (site, said) = Site::logged(temp.path(), limits, &[], "warn");
    for way in Way::all(&site) {
        for n in 0..30 {
            let mut wire = site.connect();
            wire.send(way.call(json!(n), "read_file", json!({"path": "big.txt"})));
            if n % 3 == 0 {
                wire.head();
            } else if n % 3 == 1 {
                let _ = wire.stream.get_ref().shutdown(Shutdown::Both);
            }
            let mut wire = site.connect();
            let old = temp.text("a.txt");
            let new = if old == "one\n" { "two\n" } else { "one\n" };
            wire.send(way.call(json!(n + 100), "patch_file", json!({"path": "a.txt", "old_str": old, "new_str": new})));
            drop(wire);
            assert!(["one\n", "two\n"].contains(&temp.text("a.txt").as_str()), "B143");
        }
        assert_eq!(site.send(way.call(json!(1), "list_dir", json!({}))).status, 200, "B143: {way:?}");
    }
    assert!(!said().contains("panicked"), "B143: {}", said());
}

/// Processor time that the server has used, in clock ticks.
#[cfg(target_os = "linux")]
fn ticks(site: &Site) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", site.id())).expect("a process");
    let fields: Vec<&str> = stat.rsplit(')').next().expect("fields").split_ascii_whitespace().collect();
    fields[11].parse::<u64>().expect("a number") + fields[12].parse::<u64>().expect("a number")
}

/// Whoever says nothing more, but stays, costs nothing.
#[cfg(target_os = "linux")]
#[test]
fn a_half_that_is_closed_costs_nothing() {
    let temp = files();
    let site = Site::start(temp.path());
    let id = site.session("2025-11-25", json!({}));
    let listen = Ask::get("/mcp").session(&id).headers(&[("accept", "text/event-stream")]);
    let asks = [
        Some(listen),
        Some(modern(json!(1), "subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}))),
        None,
    ];
    let mut wires: Vec<_> = asks
        .into_iter()
        .map(|ask| {
            let mut wire = site.connect();
            let streams = ask.is_some();
            if let Some(ask) = ask {
                wire.send(ask);
                assert_eq!(wire.head().status, 200);
            }
            wire.stream.get_ref().shutdown(Shutdown::Write).expect("a socket");
            (wire, streams)
        })
        .collect();
    let before = ticks(&site);
    for (wire, _) in &mut wires {
        // The time that passes is the time limit of a read.
        wire.stream.get_ref().set_read_timeout(Some(Duration::from_millis(500))).expect("a time limit");
        let _ = wire.stream.read_to_end(&mut Vec::new());
    }
    let busy = ticks(&site) - before;
    assert!(busy < 50, "B145: {busy} ticks of processor time");
    assert_serves(&site, &Way::Stateless, "B145");
}

#[test]
fn the_last_request_of_a_connection_is_answered_though_nothing_follows() {
    let temp = files();
    let site = Site::start(temp.path());
    for way in Way::all(&site) {
        for end in ["", "\n", "\r\n \t"] {
            let ask = way.call(json!(1), "read_file", json!({"path": "a.txt"}));
            let body = String::from_utf8(ask.body.clone().expect("a body")).expect("text") + end;
            let mut wire = site.connect();
            wire.send(ask.body(&body).headers(&[("connection", "close")]));
            assert_eq!(text(&wire.answer().json()["result"]), "1: one\n", "B146: {end:?}");
            assert!(wire.ends(), "B146");
        }
    }
    let mut wire = site.connect();
    let old = String::from_utf8(call(json!(1), "read_file", json!({"path": "a.txt"})).bytes()).expect("text");
    wire.stream.get_mut().write_all(old.replacen("HTTP/1.1", "HTTP/1.0", 1).as_bytes()).expect("a server that reads");
    let answer = wire.answer();
    assert_eq!(answer.status, 200, "B146: {MODERN} over HTTP/1.0: {answer:?}");
    assert_eq!(answer.json()["result"]["isError"], Value::Null);
}
