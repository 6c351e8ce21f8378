//! The MCP door: JSON-RPC frames in, JSON-RPC frames out, whatever carries them. Nothing below knows JSON-RPC.
//!
//! One [`RpcModule`] is the method table, one middleware (`middleware`) decides the era of each request, one leaf
//! (`leaf`) calls the method. A [`connection::Connection`] holds what one client's stream needs: which of its
//! requests are under way, what it was asked, and which legacy revision it negotiated.

mod approval;
mod blocks;
mod call_params;
mod call_result;
mod capabilities;
mod completion;
pub mod connection;
mod context;
mod era;
mod errand;
mod error;
pub mod frame;
pub mod headers;
mod id;
mod leaf;
mod lifecycle;
mod lists;
mod logging;
pub mod meter;
mod middleware;
pub mod news;
mod page;
mod params;
pub(crate) mod plain;
pub(crate) mod post;
pub mod principal;
mod prompts;
mod reply;
mod resources;
mod subscriptions;
mod tools;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use jsonrpsee::RpcModule;
use jsonrpsee::core::RegisterMethodError;
use jsonrpsee::core::middleware::RpcServiceBuilder;
use serde_json::Value;

pub use crate::rpc::approval::Approvals;
use crate::rpc::approval::Parked;
pub use crate::rpc::reply::Answer;

use crate::dispatch::{Control, Dispatcher, Served};
use crate::gate::policy::Policy;
use crate::model::mode::Mode;
use crate::offer::Offers;
use crate::rpc::context::Context;
use crate::rpc::error::RpcError;
use crate::rpc::lists::Lists;
use crate::rpc::meter::Meter;
use crate::rpc::news::{Files, News};
use crate::rpc::principal::Access;
use crate::tool::registry::{Entry, Output, Registry};
use crate::tool::view::Settings;
use crate::workspace::Watch;

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
    /// Which tools a client may call itself.
    pub mode: Mode,
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
            mode: Mode::Native,
            structured: false,
        }
    }
}

/// What a running server is to serve from now on.
#[derive(Debug)]
pub struct Serving {
    /// The tools, in the words that describe them now.
    pub registry: Registry,
    /// The resources and prompts.
    pub offers: Offers,
    /// Limits and text rules.
    pub settings: Settings,
    /// What judges calls.
    pub policy: Policy,
    /// Whether tools that change something are left out of the list.
    pub read_only: bool,
    /// Whether tools advertise an output schema and results carry the typed output as well.
    pub structured: bool,
}

/// An MCP server without a transport: methods and middleware around a [`Dispatcher`].
#[derive(Clone)]
pub struct Mcp {
    service: middleware::EraService<leaf::Leaf>,
    dispatcher: Arc<Dispatcher>,
    news: News,
    files: Arc<Files>,
    live: Arc<Live>,
    parked: Parked,
}

/// What of a server can be set while it runs.
#[derive(Default)]
struct Live {
    /// Who is told how calls go.
    meter: OnceLock<Arc<dyn Meter>>,
    /// Whether tools that change something are left out of the list.
    read_only: AtomicBool,
    /// Whether tools advertise an output schema and results carry the typed output as well.
    structured: AtomicBool,
    lists: Lists,
}

impl Live {
    fn structured(&self) -> bool {
        self.structured.load(Ordering::Relaxed)
    }
}

/// What the methods share.
struct Shared {
    dispatcher: Arc<Dispatcher>,
    profile: Profile,
    approvals: Approvals,
    news: News,
    files: Arc<Files>,
    live: Arc<Live>,
}

impl Shared {
    fn new(dispatcher: Dispatcher, profile: Profile, approvals: Approvals, news: News) -> Self {
        let files = Files::new(news.clone());
        let dispatcher = Arc::new(dispatcher.with_observer(Arc::clone(&files) as _));
        let (read_only, structured) = (profile.read_only.into(), profile.structured.into());
        let live = Live { read_only, structured, ..Live::default() };
        Shared { dispatcher, profile, approvals, news, files, live: Arc::new(live) }
    }

    /// Fetches something that nobody is asked about and that may well not be there: what is refused is nothing.
    async fn fetch(
        &self,
        context: &Context,
        entry: &Entry,
        method: &'static str,
        arguments: Value,
    ) -> Result<Option<Output>, RpcError> {
        context.allow(Access::Read)?;
        let control = Control { cancel: context.arrival.cancel.clone(), ..Control::default() };
        let fetched = self.dispatcher.fetch(entry, method, arguments, &context.caller(), control).await?;
        match fetched.outcome {
            // What a hook has put in the place of a list is no list.
            Ok(output) => Ok(Some(output).filter(|_| fetched.replaced.is_none())),
            Err(error) => {
                tracing::info!(method, %error, "nothing is told");
                Ok(None)
            }
        }
    }

    /// Begins to see what happens to files.
    fn start_watching(&self) -> Option<Arc<dyn Watch>> {
        let files = Arc::downgrade(&self.files);
        self.dispatcher.watch(Box::new(move |sighting| {
            if let Some(files) = files.upgrade() {
                files.sighted(sighting);
            }
        }))
    }
}

/// What of [`Shared`] is needed outside of methods.
struct Parts {
    dispatcher: Arc<Dispatcher>,
    news: News,
    files: Arc<Files>,
    live: Arc<Live>,
    parked: Parked,
}

impl Parts {
    fn of(shared: &Shared) -> Self {
        Parts {
            dispatcher: Arc::clone(&shared.dispatcher),
            news: shared.news.clone(),
            files: Arc::clone(&shared.files),
            live: Arc::clone(&shared.live),
            parked: shared.approvals.parked(),
        }
    }
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
        Mcp::with_news(dispatcher, profile, approvals, News::default())
    }

    /// [`Mcp::with_approvals`] with news that others may tell as well.
    ///
    /// # Errors
    /// As there.
    pub fn with_news(
        dispatcher: Dispatcher,
        profile: Profile,
        approvals: Approvals,
        news: News,
    ) -> Result<Self, RegisterMethodError> {
        let shared = Shared::new(dispatcher, profile, approvals, news);
        let parts = Parts::of(&shared);
        let mut module = RpcModule::new(shared);
        completion::register(&mut module)?;
        lifecycle::register(&mut module)?;
        logging::register(&mut module)?;
        prompts::register(&mut module)?;
        resources::register(&mut module)?;
        subscriptions::register(&mut module)?;
        tools::register(&mut module)?;
        Ok(Mcp::serving(module, parts))
    }

    fn serving(module: RpcModule<Shared>, Parts { dispatcher, news, files, live, parked }: Parts) -> Self {
        let service = RpcServiceBuilder::new().layer(middleware::EraLayer).service(leaf::Leaf::new(module.into()));
        Mcp { service, dispatcher, news, files, live, parked }
    }

    /// What is served now.
    #[must_use]
    pub fn served(&self) -> Arc<Served> {
        self.dispatcher.served()
    }

    /// Lets something else hold for all calls that begin from now on, and tells clients that their lists may be others.
    pub fn renew(&self, serving: Serving) {
        let Serving { registry, offers, settings, policy, read_only, structured } = serving;
        self.live.read_only.store(read_only, Ordering::Relaxed);
        self.live.structured.store(structured, Ordering::Relaxed);
        self.dispatcher.shelf().put(|served| {
            (served.registry, served.offers) = (registry, offers);
            (served.settings, served.policy) = (settings, Arc::new(policy));
        });
        self.news.tools_changed();
        self.news.prompts_changed();
        self.news.resources_changed();
    }

    /// Tells `meter` how calls go, unless somebody is told already.
    pub(crate) fn tell(&self, meter: Arc<dyn Meter>) {
        // Whoever serves first is told.
        let _ = self.live.meter.set(meter);
    }

    /// What tells clients that something has changed.
    #[must_use]
    pub fn news(&self) -> &News {
        &self.news
    }

    /// Whether answering a request for `method` may wait for something outside of this process, or for time to pass.
    fn may_wait(&self, method: &str) -> bool {
        match method {
            "tools/call" | "resources/read" | "prompts/get" | "completion/complete" => true,
            "resources/list" => {
                self.dispatcher.asks_outside() || self.dispatcher.glance().offers.lists_more_than_files()
            }
            _ => false,
        }
    }

    /// Tells who listens that nothing more comes, lets no further change begin and waits for those that have; for the end
    /// of the process.
    pub fn close(&self) {
        self.news.end();
        self.parked.end();
        self.dispatcher.close();
    }
}

impl std::fmt::Debug for Mcp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mcp").finish_non_exhaustive()
    }
}
