//! How much one run may use.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How much one run may use. A run that uses more fails, and is told which limit that was and where it is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Limits {
    /// From the start to the end, without the time in which a person is asked (`code.wall_ms`).
    pub wall: Duration,
    /// How long it may keep a processor busy (`code.computing_ms`).
    pub computing: Duration,
    /// Bytes of values (`code.heap_bytes`).
    pub heap_bytes: usize,
    /// Bytes of calls within calls (`code.stack_bytes`), at most [`Limits::MOST_STACK`].
    pub stack_bytes: usize,
    /// Bytes of the program (`code.source_bytes`).
    pub source_bytes: usize,
    /// Bytes of what it prints (`code.log_bytes`).
    pub log_bytes: usize,
    /// Bytes of its result as JSON (`code.result_bytes`).
    pub result_bytes: usize,
    /// Bytes of the arguments of one call as JSON, and of what comes back (`code.call_bytes`).
    pub call_bytes: usize,
    /// How many calls it may make (`code.calls`).
    pub calls: u64,
}

impl Limits {
    /// More stack than this is not there to be had.
    pub const MOST_STACK: usize = 4 * 1024 * 1024;
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            wall: Duration::from_secs(600),
            computing: Duration::from_secs(60),
            heap_bytes: 64 * 1024 * 1024,
            stack_bytes: 1024 * 1024,
            source_bytes: 256 * 1024,
            log_bytes: 64 * 1024,
            result_bytes: 256 * 1024,
            call_bytes: 16 * 1024 * 1024,
            calls: 2_000,
        }
    }
}
