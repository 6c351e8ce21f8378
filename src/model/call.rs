//! A request to run a tool, and who makes it.

use serde_json::Value;

use crate::model::json::JsonFault;

/// One request to run a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Which tool.
    pub tool: String,
    /// With what, or why that could not be read. Anything but an object is for the validator to refuse.
    pub arguments: Result<Value, JsonFault>,
}

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Caller {
    /// A client of the MCP server.
    Mcp {
        /// Who that is; one person on their own machine is `local`.
        principal: String,
    },
    /// The one-shot dispatcher.
    OneShot,
    /// A person at the command line.
    CommandLine,
    /// A program that uses the library.
    Embedder,
}
