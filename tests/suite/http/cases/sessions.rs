//! Who may come in, what becomes of sessions, and what keeps streams alive.

use std::collections::HashSet;
use std::net::{TcpStream, UdpSocket};

use serde_json::{Value, json};

use super::super::super::support::Temp;
use super::super::kit::{Ask, Site, initialize, modern, post, post_text, text};
use super::Way;

const ALICE: &str = "alice-0123456789abcdef0123456789";
const BOB: &str = "bob-0123456789abcdef0123456789ab";

fn files() -> Temp {
    Temp::with(&[("a.txt", "one\n")])
}

fn ping(session: &str) -> Ask {
    post(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping"})).session(session)
}

fn listen(session: &str) -> Ask {
    Ask::get("/mcp").session(session).headers(&[("accept", "text/event-stream")])
}

/// What is left to itself listens where only this machine can connect.
#[test]
fn nobody_else_can_connect_unless_that_is_asked_for() {
    let temp = files();
    let site = Site::start(temp.path());
    assert!(site.address.ip().is_loopback(), "B156: {}", site.address);
    // The address under which others would reach this machine; nothing is sent.
    let probe = UdpSocket::bind("0.0.0.0:0").expect("a socket");
    let outside = probe.connect("192.0.2.1:9").and_then(|()| probe.local_addr()).map(|address| address.ip());
    if let Ok(outside) = outside.map_err(drop).and_then(|ip| if ip.is_loopback() { Err(()) } else { Ok(ip) }) {
        assert!(TcpStream::connect((outside, site.address.port())).is_err(), "B156: {outside}");
    }
}

#[test]
fn a_session_that_has_ended_is_told_before_anything_is_streamed() {
    let temp = files();
    let site = Site::start(temp.path());
    let ended = site.session("2025-11-25", json!({}));
    assert_eq!(site.send(Ask::new("DELETE", "/mcp").session(&ended)).status, 204);
    let read = |session: &str| Way::Session(session.to_owned()).call(json!(1), "read_file", json!({"path": "a.txt"}));
    for session in [ended.as_str(), "0", "../../etc", &"f".repeat(32), &"f".repeat(5000), "\u{e4}"] {
        for ask in [read(session), listen(session), listen(session).headers(&[("last-event-id", "0-1")])] {
            let answer = site.send(ask);
            assert_eq!(answer.status, 404, "B157: {session:?}: {answer:?}");
            assert_eq!(answer.header("content-type"), Some("application/json"), "B157: {answer:?}");
        }
        assert_eq!(site.send(Ask::new("DELETE", "/mcp").session(session)).status, 404, "B157: {session:?}");
    }
    for ask in [read(""), listen("")].map(|ask| ask.without("mcp-session-id")) {
        assert_eq!(site.send(ask).status, 400, "B157: none at all");
    }
}

#[test]
fn sessions_cannot_be_guessed_and_are_of_use_to_nobody_else() {
    let temp = files();
    let state = Temp::with(&[("tokens", &format!("alice {ALICE}\nbob {BOB}\n"))]);
    let file = state.path().join("tokens").display().to_string();
    let site = Site::spawn(temp.path(), &["--token-file", &file], state, "127.0.0.1:0");
    let hello = post(&initialize("2025-11-25", json!({}))).token(ALICE);
    let mut wire = site.connect();
    let ids: Vec<u128> = (0..1000)
        .map(|_| {
            wire.send(hello.clone());
            let answer = wire.answer();
            let id = answer.header("mcp-session-id").expect("a session");
            assert_eq!(id.len(), 32, "B158: {id}");
            u128::from_str_radix(id, 16).expect("128 bits")
        })
        .collect();
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), 1000, "B158: each another one");
    for bit in 0..128 {
        let set = ids.iter().filter(|id| (*id >> bit) & 1 == 1).count();
        // Further off than this is one in 10^20.
        assert!((350..650).contains(&set), "B158: bit {bit} is set in {set} of 1000");
    }
    let of_alice = format!("{:032x}", ids[999]);
    for ask in [ping(&of_alice), listen(&of_alice), Ask::new("DELETE", "/mcp").session(&of_alice)] {
        assert_eq!(site.send(ask.clone().token(BOB)).status, 404, "B158: {ask:?}");
        assert_eq!(site.send(ask.clone()).status, 401, "B158: {ask:?}");
    }
    assert_eq!(site.send(ping(&of_alice).token(ALICE)).status, 200, "B158");
}

/// What the server holds, in KiB and open files.
#[cfg(target_os = "linux")]
fn holds(site: &Site) -> (u64, usize) {
    let status = std::fs::read_to_string(format!("/proc/{}/status", site.id())).expect("a process");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a size");
    let memory = line.trim().trim_end_matches(" kB").parse().expect("a number");
    (memory, std::fs::read_dir(format!("/proc/{}/fd", site.id())).expect("a process").count())
}

#[cfg(target_os = "linux")]
#[test]
fn sessions_that_nobody_ends_do_not_pile_up() {
    let temp = files();
    let site = Site::configured(temp.path(), "[http]\nmax_sessions = 50\n", &[]);
    let mut wire = site.connect();
    let mut open = |count: usize| -> Vec<String> {
        (0..count)
            .map(|_| {
                wire.send(post(&initialize("2025-11-25", json!({}))));
                let id = wire.answer().header("mcp-session-id").expect("a session").to_owned();
                let read = json!({"name": "read_file", "arguments": {"path": "a.txt"}});
                wire.send(
                    post(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": read})).session(&id),
                );
                assert_eq!(wire.answer().status, 200);
                id
            })
            .collect()
    };
    open(200);
    let before = holds(&site);
    let ids = open(1500);
    let after = holds(&site);
    assert!(after.0 < before.0 + 8 * 1024 && after.1 <= before.1 + 2, "B159: from {before:?} to {after:?}");
    let metrics = site.send(Ask::get("/metrics")).text();
    assert!(metrics.lines().any(|line| line == "toolgate_sessions 50"), "B159: {metrics}");
    assert_eq!(site.send(ping(&ids[0])).status, 404, "B159: the oldest have made room");
    let last = ids.last().expect("a session");
    assert_eq!(site.send(Ask::new("DELETE", "/mcp").session(last)).status, 204, "B159");
    assert_eq!(site.send(ping(last)).status, 404, "B159");
}

#[test]
fn silent_streams_show_that_they_are_alive() {
    let temp = files();
    let config = "[http]\nkeep_alive_ms = 50\n[[rule]]\ntools = [\"write_file\"]\ndecision = \"ask\"\nreason = \"?\"\n";
    let site = Site::configured(temp.path(), config, &[]);
    let session = site.session("2025-11-25", json!({"elicitation": {}}));
    let write = Way::Session(session.clone()).call(json!(1), "write_file", json!({"path": "w.txt", "content": "x"}));
    let news = json!({"notifications": {"toolsListChanged": true}});
    for (what, ask) in [
        ("a stream of a session", listen(&session)),
        ("a stream of news", modern(json!("l"), "subscriptions/listen", news)),
        ("a call that takes long", write),
    ] {
        let mut wire = site.connect();
        wire.send(ask);
        let head = wire.head();
        assert_eq!((head.status, head.header("x-accel-buffering")), (200, Some("no")), "B161: {what}");
        let caching = head.header("cache-control").unwrap_or_default();
        assert!(caching.contains("no-transform"), "B161: {what}: a proxy that packs it keeps it back: {caching}");
        let chunks = std::iter::from_fn(|| wire.chunk());
        let signs = chunks.filter(|chunk| chunk.starts_with(b":")).take(3).count();
        assert_eq!(signs, 3, "B161: {what}");
    }
    // The dead one is still open as far as the server knows.
    let mut dead = site.connect();
    dead.send(listen(&session));
    assert_eq!(dead.head().status, 200, "B161");
    let mut wire = site.connect();
    wire.send(listen(&session));
    assert_eq!(wire.head().status, 200, "B161: a new one takes its place");
}

#[test]
fn a_client_that_breaks_off_or_talks_nonsense_ends_nothing_for_others() {
    let temp = files();
    let site = Site::start(temp.path());
    for way in Way::all(&site) {
        for cut in [1, 20, 200, 300] {
            let whole = way.call(json!(1), "read_file", json!({"path": "a.txt"})).bytes();
            let mut wire = site.connect();
            wire.write(&[&whole, &whole[..cut.min(whole.len() - 1)]].concat());
            // What is closed before all is read that came ends with a reset.
            assert_eq!(wire.stream.get_ref().peek(&mut [0]).expect("an answer"), 1);
            drop(wire);
        }
        for body in [r#"{"jsonrpc":"2.0"}"#, "{}", ""] {
            assert_eq!(site.send(way.raw("x", body)).status, 400, "B163: {body}");
        }
        let read = way.result(&site, "read_file", json!({"path": "a.txt"}));
        assert_eq!(text(&read), "1: one\n", "B163: {way:?}");
    }
}

#[test]
fn no_part_of_an_address_leads_out() {
    let outside = Temp::with(&[("secret", "no\n")]);
    let temp = files();
    std::os::unix::fs::symlink(outside.path(), temp.path().join("link")).expect("a link");
    let site = Site::start(temp.path());
    let name = outside.path().file_name().expect("a name").to_string_lossy().into_owned();
    let (beside, absolute) = (format!("../{name}/secret"), outside.path().join("secret").display().to_string());
    for way in Way::all(&site) {
        for path in
            [&beside, &absolute, &format!("x/../{beside}"), "link/secret", "..%2fsecret", &format!("/{absolute}")]
        {
            let read = way.result(&site, "read_file", json!({"path": path}));
            assert_eq!(read["isError"], true, "B164: {path}: {read}");
            let escaped = path.replace('/', "%2F").replace("..", "%2e%2e");
            for uri in [
                format!("workspace:///{path}"),
                format!("workspace:///{escaped}"),
                format!("workspace://{path}"),
                format!("file://{path}"),
                format!("workspace:///a.txt/{path}?x#y"),
            ] {
                let answer = site.send(way.ask(json!(1), "resources/read", json!({"uri": uri}))).json();
                assert!(answer.get("error").is_some(), "B164: {uri}: {answer}");
            }
            let complete = json!({
                "ref": {"type": "ref/resource", "uri": "workspace:///{+path}"},
                "argument": {"name": "path", "value": path},
            });
            let answer = site.send(way.ask(json!(1), "completion/complete", complete)).json();
            let values = answer["result"]["completion"]["values"].as_array().cloned().unwrap_or_default();
            assert_eq!(values, Vec::<Value>::new(), "B164: {path}: {answer}");
        }
    }
    for path in
        ["/mcp/", "/mcp/../metrics", "//mcp", "/%6dcp", "/mcp%00", "/MCP", "/metrics/../mcp", "/.well-known/../mcp"]
    {
        let answer = site.send(Ask { path: path.to_owned(), ..post_text("{}") });
        assert_eq!(answer.status, 404, "B164: {path}: {answer:?}");
    }
}
