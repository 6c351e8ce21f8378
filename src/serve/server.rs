//! Tools and a workspace put together and served: the front door of the library.

use std::io::{self, Read, Write};
use std::sync::Arc;

use crate::code;
use crate::dispatch::{Dispatcher, Served, Shelf};
use crate::gate::policy::Policy;
use crate::ledger::Ledger;
use crate::model::mode::Mode;
use crate::model::world::RealWorld;
use crate::offer::OfferError;
use crate::offer::prompt::Prompt;
use crate::offer::resource::{Resource, Template};
use crate::offers::files::Files;
use crate::rpc::news::News;
use crate::rpc::{Approvals, Mcp, Profile};
use crate::serve::http::{self, HttpOptions};
use crate::serve::offering::Offering;
use crate::serve::stdio;
use crate::tool::Tool;
use crate::tool::registry::RegisterError;
use crate::tool::view::Settings;
use crate::tools;
use crate::workspace::Workspace;

/// Builds an MCP server from a workspace and tools.
///
/// ```no_run
/// use toolgate::{Local, Server};
/// Server::new(Local::open(".")?).builtin_tools()?.serve_stdio()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Server<W> {
    workspace: W,
    shelf: Shelf,
    news: News,
    profile: Profile,
    ledger: Ledger,
    code: code::Options,
    mode: Option<Mode>,
}

impl<W: Workspace> Server<W> {
    /// A server without tools.
    pub fn new(workspace: W) -> Self {
        Server {
            workspace,
            shelf: Shelf::new(Served::new(Settings::served())),
            news: News::default(),
            profile: Profile::default(),
            ledger: Ledger::in_memory(Arc::new(RealWorld)),
            code: code::Options::default(),
            mode: None,
        }
    }

    /// Adds `read_file`, `write_file` and their kin.
    ///
    /// # Errors
    /// A tool of the same name is there already.
    pub fn builtin_tools(self) -> Result<Self, RegisterError> {
        self.shelf.change(|served| tools::register(&mut served.registry))?;
        Ok(self)
    }

    /// Adds only the tools that look at files and change nothing: `read_file`, `list_dir`, `find_files`, `search_files` and
    /// `file_info`.
    ///
    /// # Errors
    /// A tool of the same name is there already.
    pub fn reading_tools(self) -> Result<Self, RegisterError> {
        self.shelf.change(|served| tools::register_looking(&mut served.registry))?;
        Ok(self)
    }

    /// Adds a tool of one's own.
    ///
    /// # Errors
    /// Its name is taken or not one, a schema is one that clients refuse, or `paths` names no argument.
    pub fn tool(self, tool: impl Tool) -> Result<Self, RegisterError> {
        self.shelf.change(|served| {
            let name = tool.spec().name;
            served.registry.register(tool)?;
            served.registry.verify_tool(name)
        })?;
        Ok(self)
    }

    /// Offers the files of the workspace as resources, `workspace:///src/main.rs`. They are read through the gate, as the
    /// tool `read_file` reads them.
    ///
    /// # Errors
    /// They are offered already.
    pub fn file_resources(self) -> Result<Self, OfferError> {
        self.template(Files)
    }

    /// Offers a resource of one's own at a fixed address.
    ///
    /// # Errors
    /// The address is taken or none.
    pub fn resource(self, resource: impl Resource) -> Result<Self, OfferError> {
        self.shelf.change(|served| served.offers.resource(resource))?;
        Ok(self)
    }

    /// Offers resources of one's own whose addresses follow a template.
    ///
    /// # Errors
    /// The template is taken or none.
    pub fn template(self, template: impl Template) -> Result<Self, OfferError> {
        self.shelf.change(|served| served.offers.template(template))?;
        Ok(self)
    }

    /// Offers a prompt of one's own.
    ///
    /// # Errors
    /// The name is taken, or its arguments are no plain struct.
    pub fn prompt(self, prompt: impl Prompt) -> Result<Self, OfferError> {
        self.shelf.change(|served| served.offers.prompt(prompt))?;
        Ok(self)
    }

    /// What tells the clients of this server that a list or a resource has changed. Keep it, and tell it when it happens.
    #[must_use]
    pub fn news(&self) -> News {
        self.news.clone()
    }

    /// What adds tools, prompts and resources while the server runs, and takes them back. Clients are told of prompts and
    /// resources from the beginning then, though there may be none yet.
    #[must_use]
    pub fn offering(&self) -> Offering {
        self.shelf.put(|served| served.offers.expect_more());
        Offering::new(self.shelf.clone(), self.news.clone())
    }

    /// Says who the server is. By default it is toolgate.
    #[must_use]
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = profile;
        self
    }

    /// Judges calls by `policy`: rules and hooks. By default everything may run.
    #[must_use]
    pub fn policy(self, policy: Policy) -> Self {
        self.shelf.put(|served| served.policy = Arc::new(policy));
        self
    }

    /// Records calls and changes in `ledger`. By default they are kept in memory, the newest of them, so that changes can be
    /// undone while the server runs.
    #[must_use]
    pub fn ledger(mut self, ledger: Ledger) -> Self {
        self.ledger = ledger;
        self
    }

    /// Says how the tools reach a model. By default each is called by itself; in the other modes programs call them, each run
    /// in a process of its own, so `main` has to begin with [`code::be_worker_if_asked`], or [`Server::code`] has to name
    /// another executable.
    #[must_use]
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = Some(mode);
        self
    }

    /// Says how programs are run in code mode.
    #[must_use]
    pub fn code(mut self, options: code::Options) -> Self {
        self.code = options;
        self
    }

    /// Sets limits and text rules. By default [`Settings::served`].
    #[must_use]
    pub fn settings(self, settings: Settings) -> Self {
        self.shelf.put(|served| served.settings = settings);
        self
    }

    /// Serves one client on the process's standard input and output until it closes them. Blocks.
    ///
    /// # Errors
    /// The runtime cannot be started or the input cannot be read.
    pub fn serve_stdio(self) -> io::Result<()> {
        stdio::serve_process(self.into_mcp()?)
    }

    /// Serves one client on any two streams, one frame a line. Blocks until `input` ends.
    ///
    /// # Errors
    /// The runtime cannot be started or the input cannot be read.
    pub fn serve_streams(
        self,
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
    ) -> io::Result<()> {
        stdio::serve(self.into_mcp()?, input, output)
    }

    /// Serves clients over HTTP, at `/mcp`, until the process is asked to end, or [`HttpOptions::stop`] says so. Blocks.
    ///
    /// ```no_run
    /// use std::net::SocketAddr;
    /// use toolgate::{Local, Server};
    /// let address: SocketAddr = ([127, 0, 0, 1], 8765).into();
    /// Server::new(Local::open(".")?).builtin_tools()?.serve_http(address)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The options do not go together, the address cannot be had, or the runtime cannot be started.
    pub fn serve_http(self, options: impl Into<HttpOptions>) -> io::Result<()> {
        http::serve(self.into_mcp()?, options.into())
    }

    fn into_mcp(mut self) -> io::Result<Mcp> {
        // Whichever was said first, the profile or the mode.
        self.profile.mode = self.mode.unwrap_or(self.profile.mode);
        if self.profile.mode.runs_code() {
            self.shelf.change(|served| {
                code::register(&mut served.registry, self.code).map_err(io::Error::other)?;
                code::sdk::register(&mut served.offers, &served.registry).map_err(io::Error::other)
            })?;
        }
        let dispatcher = Dispatcher::serving(self.shelf, self.workspace).with_ledger(self.ledger);
        Mcp::with_news(dispatcher, self.profile, Approvals::default(), self.news).map_err(io::Error::other)
    }
}

impl<W> std::fmt::Debug for Server<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("tools", &self.shelf.now().registry).finish_non_exhaustive()
    }
}
