#![doc = include_str!("ARCHITECTURE.md")]

pub mod cli;
pub mod code;
pub mod config;
pub mod dispatch;
pub mod gate;
pub mod ledger;
pub mod model;
pub mod offer;
pub mod offers;
pub mod oneshot;
pub mod rpc;
pub mod serve;
pub mod text;
pub mod tool;
pub mod tools;
pub mod workspace;

// What the public API is made of, in the versions that it is made with.
pub use bytes;
pub use schemars;
pub use serde_json;
pub use tokio_util;

pub use dispatch::{Completed, Control, Dispatcher, Outcome, Place};
pub use gate::hook::Hook;
pub use gate::policy::Policy;
pub use gate::rules::{Rule, Rules};
pub use ledger::Ledger;
pub use model::call::{Call, Caller};
pub use model::change::{Change, ChangeSet, Expect};
pub use model::error::{ErrorCode, ProtocolError, ToolError};
pub use model::mode::Mode;
pub use model::path::{PathError, WsPath};
pub use model::version::Version;
pub use offer::prompt::{Message, Prompt, PromptSpec};
pub use offer::resource::{
    Item, LIST_RESOURCES, Page, READ_RESOURCE, Resource, ResourceSpec, Template, TemplateSpec, Typing,
};
pub use offer::{OfferError, Offers};
pub use rpc::news::News;
pub use rpc::{Approvals, Profile};
pub use serve::auth::{Auth, Issuer, KeySource, OAuth, Tokens};
pub use serve::http::{HttpLimits, HttpOptions};
pub use serve::server::Server;
pub use serve::tls::Tls;
pub use tool::ask::{Capability, Reply, Role, Root, Sampled, Sampling};
pub use tool::content::{Body, Content, Contents, Link, Media};
pub use tool::log::{LogLevel, LogSink};
pub use tool::registry::{Output, RegisterError, Registry};
pub use tool::view::{FileBytes, Limits, ProgressSink, Settings, TextRules, View};
pub use tool::{Act, Card, Edited, Effect, Facts, Intent, Plan, Sight, Spec, Tool};
pub use workspace::local::Local;
pub use workspace::memory::Memory;
pub use workspace::{FileError, FileErrorKind, Workspace};
