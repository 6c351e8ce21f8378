//! A whole server on two streams: what it takes to answer a thousand reads that are all there at once.

use std::io::{self, Cursor};

use criterion::{BatchSize, Criterion, Throughput};
use serde_json::json;
use toolgate::{Local, Server};

use super::kit::{folder, lines};

const READS: u64 = 1000;

/// A client's greeting, and then `READS` reads without waiting for an answer.
fn session() -> Vec<u8> {
    let hello = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "0"},
    });
    let mut frames = vec![
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
    ];
    for id in 1..=READS {
        let params = json!({"name": "read_file", "arguments": {"path": "file.rs"}});
        frames.push(json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}));
    }
    frames.iter().map(|frame| format!("{frame}\n")).collect::<String>().into_bytes()
}

pub fn all(criterion: &mut Criterion) {
    let folder = folder(&[("file.rs", &lines(4096))]);
    let session = session();
    let mut group = criterion.benchmark_group("server");
    group.throughput(Throughput::Elements(READS));
    group.bench_function("1,000 reads of 4 KB, pipelined", |b| {
        b.iter_batched(
            || {
                let local = Local::open(folder.path()).expect("a workspace");
                (Server::new(local).builtin_tools().expect("the tools"), Cursor::new(session.clone()))
            },
            |(server, input)| server.serve_streams(input, io::sink()).expect("served to the end"),
            BatchSize::PerIteration,
        );
    });
    group.finish();
}
