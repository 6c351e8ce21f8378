//! The engines on text, and the tools that are little more than one of them.

use std::hint::black_box;

use criterion::{Criterion, Throughput};
use serde_json::json;
use toolgate::text::find::{Eol, find_all};
use toolgate::text::lines::{count, line_of};
use toolgate::text::splice::{replacement_for, splice};

use super::kit::{call, dispatcher, folder, lines, runtime};

const MIB: usize = 1 << 20;

pub fn all(criterion: &mut Criterion) {
    engines(criterion);
    ranges(criterion);
}

fn engines(criterion: &mut Criterion) {
    let text = lines(MIB);
    let bytes = text.as_bytes();
    let at = text.find("value_00006000").expect("a line");
    let mut group = criterion.benchmark_group("text of 1 MB");
    group.throughput(Throughput::Bytes(MIB as u64));
    group.bench_function("patch", |b| {
        b.iter(|| {
            let found = find_all(bytes, b"value_00006000", Eol::Bridged);
            let edits = found.into_iter().map(|span| {
                let new = replacement_for(bytes, &span, b"value_of_another_kind", Eol::Bridged);
                (span, new)
            });
            splice(bytes, &edits.collect::<Vec<_>>())
        });
    });
    group.bench_function("count of lines", |b| b.iter(|| count(black_box(bytes))));
    group.bench_function("line of a place", |b| b.iter(|| line_of(black_box(bytes), at)));
    group.finish();
}

fn ranges(criterion: &mut Criterion) {
    let text = lines(32 * MIB);
    let last = count(text.as_bytes());
    let folder = folder(&[("long.txt", &text)]);
    let runtime = runtime();
    let range = json!({"path": "long.txt", "start_line": last - 20, "end_line": last - 11});
    let mut group = criterion.benchmark_group("ten lines deep in 32 MB");
    group.bench_function("first visit", |b| {
        b.iter_batched(
            || dispatcher(&folder),
            |fresh| runtime.block_on(call(&fresh, "read_file", range.clone())),
            criterion::BatchSize::PerIteration,
        );
    });
    let known = dispatcher(&folder);
    group.bench_function("later visits", |b| b.iter(|| runtime.block_on(call(&known, "read_file", range.clone()))));
    group.finish();
}
