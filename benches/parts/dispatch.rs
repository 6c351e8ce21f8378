//! One call from end to end: looked up, recorded, validated, judged, planned, performed.

use criterion::{BatchSize, Criterion};
use serde_json::json;

use super::kit::{call, dispatcher, folder, lines, runtime};

pub fn all(criterion: &mut Criterion) {
    let (small, large) = (lines(4096), lines(1 << 20));
    let folder = folder(&[("small.rs", &small), ("large.rs", &large)]);
    let dispatcher = dispatcher(&folder);
    let runtime = runtime();
    let mut group = criterion.benchmark_group("dispatch");
    group.bench_function("read_file of 4 KB", |b| {
        b.iter(|| runtime.block_on(call(&dispatcher, "read_file", json!({"path": "small.rs"}))));
    });
    group.bench_function("list_dir", |b| {
        b.iter(|| runtime.block_on(call(&dispatcher, "list_dir", json!({"path": "."}))));
    });
    // There and back, so that each finds what it looks for.
    let mut turn = 0_u32;
    group.bench_function("patch_file of 1 MB", |b| {
        b.iter_batched(
            || {
                turn += 1;
                let names = ["value_00006000", "value_of_another"];
                let (old, new) = (names[(turn as usize + 1) % 2], names[turn as usize % 2]);
                json!({"path": "large.rs", "old_str": old, "new_str": new})
            },
            |arguments| runtime.block_on(call(&dispatcher, "patch_file", arguments)),
            BatchSize::PerIteration,
        );
    });
    group.finish();
}
