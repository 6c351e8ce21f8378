//! What the parts cost: `cargo bench --bench parts`, or `cargo bench --bench parts -- dispatch` for some of them.
//!
//! What code mode costs is measured by `benches/code.rs`, through the binary; how toolgate compares to others, and to bare
//! programs, by `benches/compare/run`.

#![allow(clippy::disallowed_methods, reason = "files are laid out from outside")]

mod parts {
    pub mod dispatch;
    pub mod kit;
    pub mod serve;
    pub mod text;
}

use std::time::Duration;

use criterion::Criterion;

fn main() {
    let spent = Criterion::default().warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(3));
    let mut criterion = spent.sample_size(20).configure_from_args();
    parts::text::all(&mut criterion);
    parts::dispatch::all(&mut criterion);
    parts::serve::all(&mut criterion);
    criterion.final_summary();
}
