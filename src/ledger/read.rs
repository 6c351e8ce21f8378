//! What was recorded, read back: the lines of all sessions of a workspace in the order of time.

mod stats;

use crate::ledger::store;
use crate::model::event::Line;

/// The lines in `bytes`. One that cannot be understood, cut off by a crash or written by a later version, is read past.
pub(super) fn lines_of(bytes: &[u8]) -> Vec<Line> {
    bytes.split(|&byte| byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()
}
