//! What somebody sends who means harm: requests that two readers would read differently, names and pages of strangers,
//! forms that nobody reads, streams of others, and connections that never say what they want.

use std::io::{Read as _, Write as _};
use std::net::Shutdown;

use serde_json::{Value, json};

use super::super::support::{MODERN, Temp};
use super::kit::{Ask, Site, Wire, call, modern, post, post_text, text};

fn files() -> Temp {
    Temp::with(&[("a.txt", "one\n")])
}

fn read() -> Ask {
    call(json!(1), "read_file", json!({"path": "a.txt"}))
}

#[track_caller]
fn assert_serves(site: &Site) {
    let answer = site.send(read());
    assert_eq!((answer.status, text(&answer.json()["result"])), (200, "1: one\n"));
}

/// The statuses of all that comes back, once nothing more is sent.
fn statuses(site: &Site, bytes: &[u8]) -> Vec<String> {
    let mut wire = site.connect();
    // It may have been closed before all is written.
    let _ = wire.stream.get_mut().write_all(bytes);
    let _ = wire.stream.get_ref().shutdown(Shutdown::Write);
    let mut all = Vec::new();
    let _ = wire.stream.read_to_end(&mut all);
    let all = String::from_utf8_lossy(&all).into_owned();
    let lines = all.split("HTTP/1.").skip(1);
    lines.map(|line| line.split(' ').nth(1).unwrap_or_default().to_owned()).collect()
}

/// A request behind another one, which must not be found where the other one is not over, or not to be trusted.
const SMUGGLED: &str = "GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n";

#[test]
fn heads_that_two_readers_would_read_differently_are_refused() {
    let temp = files();
    let site = Site::start(temp.path());
    let post = "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n";
    for (what, rest) in [
        ("two lengths", "content-length: 2\r\ncontent-length: 3\r\n\r\n{}"),
        ("two lengths in one", "content-length: 2, 3\r\n\r\n{}"),
        ("a length with a sign", "content-length: +2\r\n\r\n{}"),
        ("a negative length", "content-length: -2\r\n\r\n{}"),
        ("a length in hexadecimal", "content-length: 0x2\r\n\r\n{}"),
        ("a length beyond counting", "content-length: 99999999999999999999999\r\n\r\n{}"),
        ("a blank before the colon", "content-length : 2\r\n\r\n{}"),
        ("a blank before another colon", "transfer-encoding : chunked\r\n\r\n0\r\n\r\n"),
        ("a coding that is none", "transfer-encoding: xchunked\r\n\r\n0\r\n\r\n"),
        ("chunked, but not at last", "transfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n"),
        ("chunked, but packed before", "transfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
        ("chunked twice", "transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n"),
        (
            "another coding in a line of its own",
            "transfer-encoding: identity\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        ),
        ("a header that goes on in the next line", "x: 1\r\n content-length: 2\r\n\r\n{}"),
        ("a return within a value", "x: 1\rtransfer-encoding: chunked\r\n\r\n0\r\n\r\n"),
        ("a zero in a value", "x: \0\r\ncontent-length: 2\r\n\r\n{}"),
        ("a header without a name", ": chunked\r\ncontent-length: 2\r\n\r\n{}"),
        ("a chunk's length in words", "transfer-encoding: chunked\r\n\r\ntwo\r\n{}\r\n0\r\n\r\n"),
        ("a chunk's length with a sign", "transfer-encoding: chunked\r\n\r\n-2\r\n{}\r\n0\r\n\r\n"),
        ("a chunk's length beyond counting", "transfer-encoding: chunked\r\n\r\nfffffffffffffffff2\r\n{}\r\n0\r\n\r\n"),
        ("a chunk that is longer than it says", "transfer-encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n"),
    ] {
        let statuses = statuses(&site, format!("{post}{rest}{SMUGGLED}").as_bytes());
        let [status] = &statuses[..] else { panic!("{what}: {statuses:?}") };
        assert!(["400", "413", "501"].contains(&status.as_str()), "{what}: {status}");
    }
    let old = "POST /mcp HTTP/1.0\r\nhost: 127.0.0.1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n";
    assert_eq!(statuses(&site, format!("{old}{SMUGGLED}").as_bytes()), ["400"], "chunked in HTTP/1.0");
    assert_serves(&site);
}

/// The connection ends with such a request, so whatever stands behind it is not a request.
#[test]
fn what_follows_a_body_with_two_ends_is_not_read() {
    let temp = files();
    let site = Site::start(temp.path());
    let body = String::from_utf8(read().body.expect("a body")).expect("text");
    let head = String::from_utf8(read().without("connection").bytes()).expect("text");
    let head = head.split("content-length").next().expect("a head").to_owned();
    let chunks = format!("{:x}\r\n{body}\r\n0\r\n\r\n{SMUGGLED}", body.len());
    for both in [
        format!("content-length: {}\r\ntransfer-encoding: chunked\r\n\r\n{chunks}", chunks.len()),
        format!("transfer-encoding: chunked\r\ncontent-length: 4\r\n\r\n{chunks}"),
        format!("transfer-encoding: chunked\r\nContent-Length: 0\r\n\r\n{chunks}"),
    ] {
        let statuses = statuses(&site, format!("{head}{both}").as_bytes());
        assert!(statuses == ["200"] || statuses == ["400"], "{both:?}: {statuses:?}");
    }
    // A body that nobody wants is no request either.
    for unread in ["GET /healthz", "GET /mcp", "POST /nothing", "POST /mcp", "OPTIONS /mcp", "DELETE /mcp"] {
        let ask =
            format!("{unread} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: {}\r\n\r\n{SMUGGLED}", SMUGGLED.len());
        assert!(statuses(&site, ask.as_bytes()).len() <= 1, "{unread}");
    }
    assert!(statuses(&site, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").len() <= 1, "another version of HTTP");
    assert_serves(&site);
}

#[test]
fn trailers_say_nothing_about_the_request() {
    let temp = files();
    let token = "alice-0123456789abcdef0123456789";
    let state = Temp::with(&[("tokens", token)]);
    let file = state.path().join("tokens").display().to_string();
    let site = Site::spawn(temp.path(), &["--token-file", &file], state, "127.0.0.1:0");
    let body = String::from_utf8(read().body.expect("a body")).expect("text");
    let head = String::from_utf8(read().bytes()).expect("text");
    let head = head.split("content-length").next().expect("a head").to_owned();
    let sent = format!(
        "{head}transfer-encoding: chunked\r\ntrailer: authorization\r\n\r\n{:x}\r\n{body}\r\n0\r\nauthorization: Bearer {token}\r\n\r\n",
        body.len()
    );
    assert_eq!(statuses(&site, sent.as_bytes()), ["401"]);
}

#[test]
fn hosts_and_pages_are_known_by_the_whole_of_their_names() {
    let temp = files();
    for address in ["127.0.0.1:0", "[::1]:0"] {
        if std::net::TcpListener::bind(address).is_err() {
            continue;
        }
        let site = Site::spawn(temp.path(), &["--allow-host", "files.example:8443"], Temp::new(), address);
        let port = site.address.port();
        for (host, want) in [
            (site.address.to_string(), 200),
            (format!("localhost:{port}"), 200),
            ("[::1]".to_owned(), 200),
            ("[::ffff:127.0.0.1]".to_owned(), 200),
            ("files.example:8443".to_owned(), 200),
            ("files.example:8444".to_owned(), 403),
            ("files.example".to_owned(), 403),
            ("[::2]".to_owned(), 403),
            ("0.0.0.0".to_owned(), 403),
            (format!("127.1:{port}"), 403),
            ("2130706433".to_owned(), 403),
            (format!("rebound.evil.example:{port}"), 403),
            ("localhost.evil.example".to_owned(), 403),
            ("evil.example@localhost".to_owned(), 400),
            ("localhost:99999".to_owned(), 400),
            ("localhost:80, evil.example".to_owned(), 400),
            ("http://localhost".to_owned(), 400),
        ] {
            assert_eq!(site.send(Ask::get("/healthz").headers(&[("host", &host)])).status, want, "{address}: {host}");
        }
        let twice = Ask::get("/healthz").headers(&[("host", "localhost"), ("host", "evil.example")]);
        assert_eq!(site.send(twice).status, 400);
        let elsewhere = Ask::get("http://evil.example/healthz").headers(&[("host", "localhost")]);
        assert_eq!(site.send(elsewhere).status, 403, "the first line says another name");
        let tunnel = Ask::new("CONNECT", "evil.example:443").headers(&[("host", "evil.example:443")]);
        assert_eq!(site.send(tunnel).status, 403);
        for (origin, want) in [
            ("http://[::1]:3000", 200),
            ("http://localhost:99999", 403),
            ("http://localhost@evil.example", 403),
            ("https://files.example:8443", 403),
            ("chrome-extension://abc", 403),
        ] {
            assert_eq!(site.send(read().headers(&[("origin", origin)])).status, want, "{address}: {origin}");
        }
        let two = read().headers(&[("origin", "http://localhost"), ("origin", "http://evil.example")]);
        assert_eq!(site.send(two).status, 400);
    }
}

/// What a page may send without asking first does nothing, whatever the page is called.
#[test]
fn what_a_page_may_send_unasked_is_of_no_effect() {
    let temp = files();
    let site = Site::start(temp.path());
    let write = call(json!(1), "write_file", json!({"path": "w.txt", "content": "x"}));
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "text/plain; application/json",
    ] {
        assert_eq!(site.send(write.clone().instead("content-type", kind)).status, 415, "{kind}");
    }
    assert_eq!(site.send(write.clone().headers(&[("content-type", "text/plain")])).status, 415, "two kinds");
    assert_eq!(site.send(write.clone().headers(&[("content-encoding", "gzip")])).status, 415, "packed");
    assert!(!temp.path().join("w.txt").exists());
    let preflight = |origin: &str| {
        let asks = [("origin", origin), ("access-control-request-method", "POST")];
        site.send(Ask::new("OPTIONS", "/mcp").headers(&asks))
    };
    let refused = preflight("https://evil.example");
    assert_eq!((refused.status, refused.header("access-control-allow-origin")), (403, None));
    let allowed = preflight("http://localhost:6274");
    assert_eq!(allowed.header("access-control-allow-origin"), Some("http://localhost:6274"));
    assert_eq!(allowed.header("access-control-allow-credentials"), None, "no cookies are looked at, so none are sent");
    assert_eq!(allowed.header("vary"), Some("origin"), "no cache gives it to another page");
}

#[test]
fn methods_that_are_not_served_say_which_are() {
    let temp = files();
    let site = Site::start(temp.path());
    for (method, path, allow) in [
        ("PUT", "/mcp", "POST, GET, DELETE"),
        ("PATCH", "/mcp", "POST, GET, DELETE"),
        ("TRACE", "/mcp", "POST, GET, DELETE"),
        ("OPTIONS", "/mcp", "POST, GET, DELETE"),
        ("HEAD", "/mcp", "POST, GET, DELETE"),
        ("MADEUP", "/mcp", "POST, GET, DELETE"),
        ("POST", "/healthz", "GET, HEAD"),
        ("DELETE", "/metrics", "GET, HEAD"),
        ("PUT", "/readyz", "GET, HEAD"),
    ] {
        let mut wire = site.connect();
        wire.send(Ask::new(method, path).headers(&[("connection", "close")]));
        let head = wire.head();
        assert_eq!((head.status, head.header("allow")), (405, Some(allow)), "{method} {path}");
        assert_eq!(method == "HEAD", !has_more(&mut wire), "{method} {path}");
    }
    let mut wire = site.connect();
    wire.send(Ask::new("HEAD", "/healthz").headers(&[("connection", "close")]));
    assert_eq!(wire.head().status, 200);
    assert!(!has_more(&mut wire), "a head alone");
}

fn has_more(wire: &mut Wire) -> bool {
    let mut rest = Vec::new();
    wire.stream.read_to_end(&mut rest).is_ok_and(|read| read > 0)
}

#[test]
fn forms_that_are_not_wanted_are_not_sent() {
    let temp = files();
    let site = Site::start(temp.path());
    for (accept, want) in [
        ("application/json;q=0, text/event-stream", Some("text/event-stream")),
        ("text/event-stream;q=0, application/json", Some("application/json")),
        ("*/*;q=0.1", Some("application/json")),
        ("*/*, application/json;q=0", Some("text/event-stream")),
        ("*/*;q=0", None),
        ("text/html", None),
    ] {
        let answer = site.send(read().instead("accept", accept));
        let kind = answer.header("content-type").filter(|_| answer.status == 200);
        assert_eq!((kind, answer.status == 406), (want, want.is_none()), "{accept}: {answer:?}");
    }
}

#[test]
fn headers_that_count_must_come_once() {
    let temp = files();
    let site = Site::start(temp.path());
    let session = site.session("2025-11-25", json!({}));
    let ping = post(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}));
    for (what, ask) in [
        ("two versions", read().headers(&[("mcp-protocol-version", MODERN)])),
        ("two methods", read().headers(&[("mcp-method", "tools/call")])),
        ("two names", read().headers(&[("mcp-name", "write_file")])),
        ("two names in one", read().instead("mcp-name", "read_file, write_file")),
        ("two sessions", ping.clone().session(&session).session(&session)),
        ("two sessions in one", ping.clone().session(&format!("{session}, {session}"))),
    ] {
        let answer = site.send(ask);
        assert!([400, 404].contains(&answer.status), "{what}: {answer:?}");
    }
    assert_eq!(site.send(ping.session(&session)).status, 200);
}

/// A name that stands twice in the body is nobody's: whoever looks at the first or the last would see another call.
#[test]
fn names_that_come_twice_in_a_body_are_refused() {
    let temp = files();
    let reader = "reads-0123456789abcdef0123456789";
    let state = Temp::with(&[("tokens", &format!("reader {reader} read\n"))]);
    let file = state.path().join("tokens").display().to_string();
    let site = Site::spawn(temp.path(), &["--token-file", &file], state, "127.0.0.1:0");
    let arguments = r#""arguments":{"path":"w.txt","content":"x"}"#;
    let meta = super::kit::meta(MODERN);
    for (what, params, method) in [
        ("a name", format!(r#""params":{{"name":"read_file","name":"write_file",{arguments},"_meta":{meta}}}"#), ""),
        (
            "an escaped name",
            format!(r#""params":{{"name":"read_file","\u006eame":"write_file",{arguments},"_meta":{meta}}}"#),
            "",
        ),
        (
            "another name first",
            format!(r#""params":{{"name":"write_file","name":"read_file",{arguments},"_meta":{meta}}}"#),
            "",
        ),
        (
            "parameters",
            format!(
                r#""params":{{"name":"read_file","_meta":{meta}}},"params":{{"name":"write_file",{arguments},"_meta":{meta}}}"#
            ),
            "",
        ),
        (
            "a method",
            format!(r#""params":{{"name":"write_file",{arguments},"_meta":{meta}}}"#),
            r#""method":"tools/list","#,
        ),
        (
            "what is known of the request",
            format!(r#""params":{{"name":"write_file",{arguments},"_meta":{{}},"_meta":{meta}}}"#),
            "",
        ),
    ] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,{method}"method":"tools/call",{params}}}"#);
        for name in ["read_file", "write_file"] {
            let headers = [("mcp-protocol-version", MODERN), ("mcp-method", "tools/call"), ("mcp-name", name)];
            let answer = site.send(post_text(&body).headers(&headers).token(reader));
            assert!([400, 403].contains(&answer.status), "{what}: {answer:?}");
        }
        let plain = Ask { path: "/rpc".to_owned(), ..post_text(&body).token(reader) };
        assert!(site.send(plain).json().get("error").is_some(), "{what}");
        assert!(!temp.path().join("w.txt").exists(), "{what}");
    }
}

/// Where a stream goes on is said by numbers that mean something in one session only.
#[test]
fn the_events_of_another_session_cannot_be_had() {
    let temp = Temp::with(&[("a.txt", "one\n"), ("secret.txt", "of the first\n")]);
    let site = Site::start(temp.path());
    let [first, second] = [(); 2].map(|()| site.session("2025-11-25", json!({})));
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "read_file", "arguments": {"path": "secret.txt"}}});
    let stream = site.send(post(&body).session(&first).instead("accept", "text/event-stream"));
    assert!(stream.text().contains("of the first"), "{stream:?}");
    let ids: Vec<String> =
        stream.text().lines().filter_map(|line| line.strip_prefix("id: ")).map(str::to_owned).collect();
    let (number, _) = ids[0].split_once('-').expect("a stream and a number");
    let resume = |session: &str, last: &str| {
        let mut wire = site.connect();
        wire.send(
            Ask::get("/mcp").session(session).headers(&[("accept", "text/event-stream"), ("last-event-id", last)]),
        );
        let head = wire.head();
        let rest = if head.status == 200 && last.starts_with(number) {
            std::iter::from_fn(|| wire.event()).map(|event| event.data).collect::<String>()
        } else {
            String::new()
        };
        (head.status, rest)
    };
    for id in ids.iter().map(String::as_str).chain([&*format!("{number}-0")]) {
        let (status, rest) = resume(&second, id);
        assert!(status == 400 && rest.is_empty(), "{id}: {status} {rest}");
    }
    assert!(resume(&first, &format!("{number}-0")).1.contains("of the first"), "whose it is has it");
    for odd in
        ["x", "-", "1", "1-", "-1", "1--1", "1-1-1", "99999999999999999999-1", "1-99999999999999999999", " 1 - 1"]
    {
        assert_eq!(resume(&first, odd).0, 400, "{odd}");
    }
    for far in ["0-18446744073709551615", "0-0", "0-1000000"] {
        assert_eq!(resume(&first, far).0, 200, "{far}");
    }
    assert_serves(&site);
}

/// As many as may listen do; one more is turned away at once, and comes in when another one has left.
#[test]
fn streams_beyond_the_limit_are_turned_away_at_once() {
    let temp = files();
    let site = Site::configured(temp.path(), "[http]\nmax_connections = 4\n", &[]);
    let listen = || {
        let mut wire = site.connect();
        wire.send(modern(json!("l"), "subscriptions/listen", json!({"notifications": {"toolsListChanged": true}})));
        assert_eq!(wire.head().status, 200);
        wire
    };
    let mut listening: Vec<Wire> = (0..4).map(|_| listen()).collect();
    for _ in 0..10 {
        assert!(site.connect().ends(), "no room");
    }
    listening.pop();
    super::kit::becomes("there is room again", || {
        let mut wire = site.connect();
        let asked = wire.try_write(&Ask::get("/healthz").headers(&[("connection", "close")]).bytes());
        let mut all = Vec::new();
        asked.is_ok() && wire.stream.read_to_end(&mut all).is_ok() && all.starts_with(b"HTTP/1.1 200")
    });
}

#[cfg(target_os = "linux")]
#[test]
fn a_thousand_connections_that_never_say_what_they_want_hold_up_nobody() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).expect("more open files");
    let temp = files();
    let site = Site::configured(temp.path(), "[http]\nmax_connections = 200\n", &[]);
    let request = read().bytes();
    let halves: Vec<Wire> = (0..1000)
        .map(|n| {
            let mut wire = site.connect();
            // Nothing, a part of a head, a head, and a head with a part of a body.
            let part = [0, 10, request.len() - 100, request.len() - 10][n % 4];
            // It may have made room already.
            let _ = wire.try_write(&request[..part]);
            if n % 100 == 0 {
                assert_serves(&site);
            }
            wire
        })
        .collect();
    for _ in 0..20 {
        assert_serves(&site);
    }
    let open = std::fs::read_dir(format!("/proc/{}/fd", site.id())).expect("a process").count();
    assert!(open < 300, "{open} files are open");
    drop(halves);
    super::kit::becomes("they are gone", || {
        let metrics = site.send(Ask::get("/metrics")).text();
        metrics.lines().any(|line| line == "toolgate_connections 1")
    });
}

#[test]
fn nothing_that_is_refused_tells_what_is_behind() {
    let temp = files();
    let site = Site::start(temp.path());
    let path = temp.path().display().to_string();
    for ask in [
        Ask::get("/"),
        Ask::get("/%00"),
        Ask::get(&format!("/{}", "x".repeat(8000))),
        post_text("{"),
        post(&json!({"jsonrpc": "2.0", "id": "<script>", "method": "x"})),
        read().instead("mcp-name", "<script>"),
    ] {
        let answer = site.send(ask.clone());
        assert!(answer.status >= 400, "{ask:?}: {answer:?}");
        assert_eq!(
            answer.header("content-type"),
            Some("application/json"),
            "no browser shows it as a page: {answer:?}"
        );
        assert_eq!(answer.header("server"), None);
        let said = answer.text();
        assert!(!said.contains(&path) && said.len() < 20_000, "{said}");
        let _: Value = answer.json();
    }
}
