#![doc = include_str!("ARCHITECTURE.md")]

pub mod cli;
pub mod config;
pub mod dispatch;
pub mod gate;
pub mod ledger;
pub mod model;
pub mod oneshot;
pub mod rpc;
pub mod serve;
pub mod text;
pub mod tool;
pub mod tools;
pub mod workspace;

pub use dispatch::{Control, Dispatcher, Outcome, Place};
pub use model::call::{Call, Caller};
pub use model::change::{Change, ChangeSet, Expect};
pub use model::error::{ErrorCode, ProtocolError, ToolError};
pub use model::path::{PathError, WsPath};
pub use model::version::Version;
pub use rpc::Profile;
pub use serve::server::Server;
pub use tool::registry::{Output, Registry};
pub use tool::view::{Limits, Settings, TextRules, View};
pub use tool::{Act, Card, Effect, Image, Plan, Spec, Tool};
pub use workspace::Workspace;
pub use workspace::local::Local;
pub use workspace::memory::Memory;
