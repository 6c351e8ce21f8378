#![doc = include_str!("ARCHITECTURE.md")]

pub mod model;
pub mod text;
pub mod tool;
pub mod workspace;

pub use model::change::{Change, ChangeSet, Expect};
pub use model::error::{ErrorCode, ProtocolError, ToolError};
pub use model::path::{PathError, WsPath};
pub use model::version::Version;
