//! Many clients at once: all are answered, and what the server holds does not grow.
//!
//! A short run by default; `TOOLGATE_LONG=1` makes it 1,000 clients for five minutes.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tokio::sync::Notify;
use tokio::time::timeout;

use super::super::support::Temp;
use super::kit::{Site, call, post};

/// How many clients, and for how long.
fn size() -> (usize, Duration) {
    if std::env::var_os("TOOLGATE_LONG").is_some() {
        (1000, Duration::from_secs(300))
    } else {
        (100, Duration::from_secs(3))
    }
}

/// What the process holds in memory, in KiB.
fn memory(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("a process");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a size");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

/// What the clients have in common.
struct Run {
    /// How long each answer took, in microseconds.
    times: Mutex<Vec<u32>>,
    done: AtomicU64,
    /// After so many answers all that is needed is there.
    warm: u64,
    is_warm: Notify,
}

/// Sends `request` again and again over one connection, until `until`.
async fn client(site: SocketAddr, request: Vec<u8>, until: Instant, run: Arc<Run>) {
    let mut stream = BufReader::new(TcpStream::connect(site).await.expect("a connection"));
    let mut mine = Vec::new();
    while Instant::now() < until {
        let began = Instant::now();
        stream.get_mut().write_all(&request).await.expect("a server that reads");
        let mut line = String::new();
        stream.read_line(&mut line).await.expect("an answer");
        assert!(line.starts_with("HTTP/1.1 200"), "{line:?}");
        let mut length = 0;
        loop {
            line.clear();
            stream.read_line(&mut line).await.expect("a header");
            if line == "\r\n" {
                break;
            }
            if let Some(value) = line.strip_prefix("content-length: ") {
                length = value.trim().parse().expect("a length");
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await.expect("a body");
        let body = String::from_utf8(body).expect("UTF-8");
        assert!(body.contains("1: one"), "{body}");
        mine.push(u32::try_from(began.elapsed().as_micros()).unwrap_or(u32::MAX));
        if run.done.fetch_add(1, Ordering::Relaxed) + 1 == run.warm {
            run.is_warm.notify_one();
        }
    }
    run.times.lock().expect("a lock").extend(mine);
}

#[cfg(target_os = "linux")]
#[test]
fn many_clients_at_once_are_all_answered_and_memory_stays_as_it_is() {
    let temp = Temp::with(&[("a.txt", "one\n")]);
    let site = Site::start(temp.path());
    let (clients, time) = size();
    let modern = call(json!(1), "read_file", json!({"path": "a.txt"})).bytes();
    let params = json!({"name": "read_file", "arguments": {"path": "a.txt"}});
    let legacy: Vec<Vec<u8>> = (0..clients / 2)
        .map(|_| {
            let id = site.session("2025-11-25", json!({}));
            post(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})).session(&id).bytes()
        })
        .collect();
    let warm = 5 * clients as u64;
    let run = Arc::new(Run { times: Mutex::default(), done: AtomicU64::new(0), warm, is_warm: Notify::new() });
    let until = Instant::now() + time;
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    let requests = legacy.into_iter().chain(std::iter::repeat(modern)).take(clients);
    let running: Vec<_> =
        requests.map(|request| runtime.spawn(client(site.address, request, until, Arc::clone(&run)))).collect();
    // On a slow machine what there is at the end of the time has to do.
    let _ = runtime.block_on(async { timeout(time, run.is_warm.notified()).await });
    let early = memory(site.id());
    for client in running {
        runtime.block_on(client).expect("no error");
    }
    let late = memory(site.id());
    let mut times = std::mem::take(&mut *run.times.lock().expect("a lock"));
    times.sort_unstable();
    let at = |share: f64| {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
        let index = ((times.len() - 1) as f64 * share) as usize;
        times[index]
    };
    let told = BTreeMap::from([
        ("calls", times.len() as u64),
        ("p50 µs", at(0.5).into()),
        ("p99 µs", at(0.99).into()),
        ("early KiB", early),
        ("late KiB", late),
    ]);
    println!("{clients} clients, {time:?}: {told:?}");
    assert!(times.len() >= clients, "{told:?}");
    assert!(late < early + early / 4 + 8 * 1024, "memory grows: {told:?}");
}
