//! The MCP door: JSON-RPC frames in, JSON-RPC frames out, whatever carries them. Nothing below knows JSON-RPC.
//!
//! One [`RpcModule`] is the method table, one middleware (`middleware`) decides the era of each request, one leaf
//! (`leaf`) calls the method. A [`connection::Connection`] holds what one client's stream needs: which of its
//! requests are under way, what it was asked, and which legacy revision it negotiated.

mod approval;
mod call_result;
mod capabilities;
pub mod connection;
mod context;
mod era;
mod error;
pub mod frame;
pub mod headers;
mod id;
mod leaf;
mod lifecycle;
mod middleware;
pub(crate) mod plain;
pub(crate) mod post;
pub mod principal;
mod reply;
mod tools;

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use jsonrpsee::RpcModule;
use jsonrpsee::core::RegisterMethodError;
use jsonrpsee::core::middleware::RpcServiceBuilder;
use serde_json::Value;

pub use crate::rpc::approval::Approvals;
pub use crate::rpc::reply::Answer;

use crate::dispatch::Dispatcher;
use crate::rpc::headers::MirroredParam;

/// What a client is told about the server, and how results look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// The server's name.
    pub name: String,
    /// The server's version.
    pub version: String,
    /// What a model should know about the server as a whole.
    pub instructions: Option<String>,
    /// Whether tools that change something are left out of the list.
    pub read_only: bool,
    /// Whether tools advertise an output schema and results carry the typed output as well.
    pub structured: bool,
}

impl Default for Profile {
    fn default() -> Self {
        Profile {
            name: "toolgate".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            instructions: None,
            read_only: false,
            structured: false,
        }
    }
}

/// An MCP server without a transport: methods and middleware around a [`Dispatcher`].
#[derive(Clone)]
pub struct Mcp {
    service: middleware::EraService<leaf::Leaf>,
    dispatcher: Arc<Dispatcher>,
    /// What clients repeat in headers of each tool's arguments; found out when it is first needed.
    mirrored: Arc<OnceLock<HashMap<&'static str, Vec<MirroredParam>>>>,
}

/// What the methods share.
struct Shared {
    dispatcher: Arc<Dispatcher>,
    profile: Profile,
    approvals: Approvals,
    /// The tools as they are listed, made when they are first asked for.
    tools: OnceLock<Vec<Value>>,
}

impl Mcp {
    /// A server that answers with `dispatcher`'s tools.
    ///
    /// # Errors
    /// Two methods have one name; a fault of this crate.
    pub fn new(dispatcher: Dispatcher, profile: Profile) -> Result<Self, RegisterMethodError> {
        Mcp::with_approvals(dispatcher, profile, Approvals::default())
    }

    /// [`Mcp::new`] with a say in how people are asked.
    ///
    /// # Errors
    /// As there.
    pub fn with_approvals(
        dispatcher: Dispatcher,
        profile: Profile,
        approvals: Approvals,
    ) -> Result<Self, RegisterMethodError> {
        let shared = Shared { dispatcher: Arc::new(dispatcher), profile, approvals, tools: OnceLock::new() };
        let dispatcher = Arc::clone(&shared.dispatcher);
        let mut module = RpcModule::new(shared);
        lifecycle::register(&mut module)?;
        tools::register(&mut module)?;
        Ok(Mcp::serving(module, dispatcher))
    }

    fn serving(module: RpcModule<Shared>, dispatcher: Arc<Dispatcher>) -> Self {
        let service = RpcServiceBuilder::new().layer(middleware::EraLayer).service(leaf::Leaf::new(module.into()));
        Mcp { service, dispatcher, mirrored: Arc::default() }
    }

    /// The arguments of a tool that its clients repeat in headers.
    fn mirrored(&self, tool: &str) -> Option<&[MirroredParam]> {
        let tools = self.dispatcher.tools();
        let all = || tools.iter().map(|tool| (tool.spec().name, MirroredParam::all(tool.input_schema()))).collect();
        self.mirrored.get_or_init(all).get(tool).map(Vec::as_slice)
    }

    /// Lets no further change begin and waits for those that have; for the end of the process.
    pub fn close(&self) {
        self.dispatcher.close();
    }
}

impl std::fmt::Debug for Mcp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mcp").finish_non_exhaustive()
    }
}
