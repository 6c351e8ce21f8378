//! What a tool tells the client's log while it runs.

use serde_json::Value;

use crate::tool::view::View;

/// How much a message matters (RFC 5424, as MCP names them). Later ones matter more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum LogLevel {
    /// For who looks for a fault.
    Debug,
    /// What is going on.
    Info,
    /// What is going on, and may be worth a look.
    Notice,
    /// Something may go wrong.
    Warning,
    /// Something went wrong.
    Error,
    /// Something went badly wrong.
    Critical,
    /// Somebody must act now.
    Alert,
    /// Nothing works any more.
    Emergency,
}

impl LogLevel {
    /// All of them, from the least to the most.
    pub const ALL: [LogLevel; 8] = [
        LogLevel::Debug,
        LogLevel::Info,
        LogLevel::Notice,
        LogLevel::Warning,
        LogLevel::Error,
        LogLevel::Critical,
        LogLevel::Alert,
        LogLevel::Emergency,
    ];

    /// As it stands on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            LogLevel::Debug => "debug",
            LogLevel::Info => "info",
            LogLevel::Notice => "notice",
            LogLevel::Warning => "warning",
            LogLevel::Error => "error",
            LogLevel::Critical => "critical",
            LogLevel::Alert => "alert",
            LogLevel::Emergency => "emergency",
        }
    }

    /// The level of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        LogLevel::ALL.into_iter().find(|level| level.as_str() == name)
    }
}

/// Where messages of a call go.
pub trait LogSink: Send + Sync {
    /// Takes one. It is sent only if the client wants to hear of that level.
    fn log(&self, level: LogLevel, data: &Value);
}

impl View {
    /// Tells the client's log something, if it wants to hear of that level: a text, or anything else that is JSON. A
    /// model does not see it, so nothing that matters to one may be said here alone.
    pub fn log(&self, level: LogLevel, data: impl Into<Value>) {
        if let Some(sink) = self.log_sink() {
            sink.log(level, &data.into());
        }
    }
}
