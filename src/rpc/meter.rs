//! Who wants to know how calls go.

use std::time::Duration;

use crate::model::error::ErrorCode;

/// What a call came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metered {
    /// An output.
    Output,
    /// A tool error.
    Error(ErrorCode),
    /// The tool panicked.
    Panic,
}

/// Is told about every call of a tool that there is.
pub trait Meter: Send + Sync {
    /// A call is done.
    fn called(&self, tool: &'static str, came: Metered, took: Duration);
}
