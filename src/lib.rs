//! File tools for language models, with a person's hand on the gate.
//!
//! A model reads, writes and patches the files of a folder. Every call is validated, judged by rules and hooks, asked about
//! where a person should decide, and recorded; every change can be undone.
//!
//! - [`Server`] serves tools, resources and prompts to MCP clients: over standard input and output, any two streams or HTTP.
//! - [`Dispatcher`] runs calls without MCP, for an agent of your own.
//! - [`Tool`], [`Resource`] and [`Prompt`] are what you can add; [`View`] is what they may look at.
//! - [`Workspace`] is where files live: [`Local`] folders, [`Memory`], or a home of your own.
//! - [`Policy`] holds the [`Rules`] and [`Hook`]s that decide what may run; [`Ledger`] remembers what has happened.
//!
//! # A tool of one's own
//!
//! A tool never changes anything. It looks, and returns a [`Plan`]: an answer, or the changes that should be made. What comes
//! of that (whether it may be, who is asked, how it is undone) is the same for every tool.
//!
//! ```
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//! use toolgate::{
//!     Call, Caller, Card, Change, ChangeSet, Control, Dispatcher, Effect, ErrorCode, Expect, Intent, Memory, Plan, Registry,
//!     Settings, Spec, Tool, ToolError, View,
//! };
//!
//! struct AddNote;
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Args {
//!     /// The file of notes, such as notes.md.
//!     path: String,
//!     /// What to write down: one line.
//!     note: String,
//! }
//!
//! #[derive(Serialize, JsonSchema)]
//! struct Added {
//!     notes: usize,
//! }
//!
//! impl Tool for AddNote {
//!     type Args = Args;
//!     type Output = Added;
//!
//!     fn spec(&self) -> Spec {
//!         let description = "Add a line to a file of notes. It is made if it is not there.";
//!         Spec { name: "add_note", title: "Add a note", description, effect: Effect::Adds, paths: &["path"] }
//!     }
//!
//!     async fn plan(&self, view: &View, args: Args) -> Result<Plan<Added>, ToolError> {
//!         let path = view.path(&args.path)?;
//!         let (mut notes, expect) = match view.read_whole(&path) {
//!             Ok(file) => (file.to_vec(), Expect::Exactly(file.version())),
//!             Err(error) if error.code == ErrorCode::FileNotFound => (Vec::new(), Expect::Absent),
//!             Err(error) => return Err(error),
//!         };
//!         notes.extend_from_slice(format!("- {}\n", args.note).as_bytes());
//!         let output = Added { notes: notes.iter().filter(|byte| **byte == b'\n').count() };
//!         // It takes nothing away, so nobody needs to have read the file before.
//!         let intent = Intent::edit(path.clone(), Vec::new());
//!         let set = ChangeSet::new(vec![Change::Write { path, expect, content: notes.into() }]);
//!         Ok(Plan::Change { set, intent, output })
//!     }
//!
//!     fn observe(output: &Added) -> String {
//!         format!("Noted; there are {} notes.", output.notes)
//!     }
//!
//!     fn present(args: &Args) -> Card {
//!         Card::new(format!("Note in {}: {}", args.path, args.note))
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! let mut registry = Registry::new();
//! registry.register(AddNote)?;
//! toolgate::tools::register(&mut registry)?;
//! let dispatcher = Dispatcher::new(registry, Memory::new(), Settings::served());
//! let arguments = serde_json::json!({"path": "notes.md", "note": "water the plants"});
//! let call = Call { tool: "add_note".to_owned(), arguments: Ok(arguments) };
//! let done = dispatcher.dispatch(call, &Caller::Embedder, Control::default()).await?;
//! assert_eq!(done.outcome?.observation(), "Noted; there are 1 notes.");
//! # Ok(())
//! # })
//! # }
//! ```
//!
//! To serve it to clients: `Server::new(Local::open(".")?).builtin_tools()?.tool(AddNote)?.serve_stdio()`. The examples of
//! the repository show more: `custom_tool`, `everything` (all that MCP knows) and `code_agent` (programs that call tools).
//!
//! What follows says how it is built.

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
pub use model::file_bytes::FileBytes;
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
pub use serve::offering::Offering;
pub use serve::server::Server;
pub use serve::tls::Tls;
pub use tool::ask::{Capability, Reply, Role, Root, Sampled, Sampling};
pub use tool::content::{Body, Content, Contents, Link, Media};
pub use tool::log::{LogLevel, LogSink};
pub use tool::registry::{Output, RegisterError, Registry};
pub use tool::view::{Limits, ProgressSink, Settings, TextRules, View};
pub use tool::{Act, Card, Edited, Effect, Facts, Intent, Plan, Sight, Spec, Tool};
pub use workspace::local::Local;
pub use workspace::memory::Memory;
pub use workspace::{FileError, FileErrorKind, Workspace};
