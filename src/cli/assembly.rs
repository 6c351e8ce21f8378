//! Puts a workspace, its configuration, the gate and the ledger together, for every command that needs them.

use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tracing::Level;

use super::logs::complain;
use super::root::{self, RootError, Roots};
use crate::code::{self, CodeError};
use crate::config::{
    CodeSection, Config, ConfigError, Description, Durability as Wanted, Loaded, Placed, Setup, Sources, Trust,
    user_file,
};
use crate::dispatch::Dispatcher;
use crate::gate::policy::Policy;
use crate::gate::rules::Guard;
use crate::ledger::redact::{BadRule, Redact};
use crate::ledger::state::{StateError, StateFolder};
use crate::ledger::{Ledger, Limits, Options};
use crate::model::folder::Folder;
use crate::model::mode::{Mode, RUN_CODE};
use crate::model::path::WsPath;
use crate::model::world::RealWorld;
use crate::offer::{OfferError, Offers};
use crate::offers;
use crate::tool::registry::{RegisterError, Registry};
use crate::tool::view::Settings;
use crate::tools;
use crate::workspace::local::Local;
use crate::workspace::{Durability, Workspace};

/// Where files, settings and state are; the same for every command.
#[derive(Debug, Clone, Default, clap::Args)]
pub(super) struct Places {
    /// A configuration file instead of the usual one.
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// A folder for what is recorded and kept, instead of the user's state folder.
    #[arg(long, value_name = "DIR")]
    pub(super) state: Option<PathBuf>,
}

/// Why a command cannot begin.
#[derive(Debug, thiserror::Error)]
pub(super) enum AssemblyError {
    #[error(transparent)]
    Root(#[from] RootError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    State(#[from] StateError),
    #[error("{at}: {fault}")]
    Redact { at: String, fault: BadRule },
    #[error(transparent)]
    Tools(#[from] RegisterError),
    #[error(transparent)]
    Offers(#[from] OfferError),
    #[error(transparent)]
    Code(#[from] CodeError),
}

/// A workspace with everything that decides about it and remembers it.
pub(super) struct Assembly {
    pub(super) config: Config,
    pub(super) ledger: Ledger,
    pub(super) dispatcher: Dispatcher,
    /// The folders of the workspace.
    pub(super) folders: Vec<Folder>,
}

impl Assembly {
    /// Opens `roots`, or the current folder, to run calls in them.
    pub(super) fn open(roots: &Roots, places: &Places, read_only: bool) -> Result<Self, AssemblyError> {
        Assembly::assemble(roots, places, read_only, |config| {
            // One call at a time by hand: nothing runs programs.
            config.mode = Mode::Native;
        })
    }

    /// Opens them to serve a client, in the `mode` that the command line or else the configuration names.
    pub(super) fn serving(
        roots: &Roots,
        places: &Places,
        read_only: bool,
        mode: Option<Mode>,
    ) -> Result<Self, AssemblyError> {
        Assembly::assemble(roots, places, read_only, |config| config.mode = mode.unwrap_or(config.mode))
    }

    fn assemble(
        roots: &Roots,
        places: &Places,
        read_only: bool,
        settle: impl FnOnce(&mut Config),
    ) -> Result<Self, AssemblyError> {
        let local = roots.open()?;
        let folders = local.folders();
        let mut config = load(&folders, places)?;
        config.read_only |= read_only;
        settle(&mut config);
        let durability = match config.durability {
            Wanted::Full => Durability::Full,
            Wanted::Process => Durability::Process,
        };
        let local = local.with_durability(durability);
        let state = StateFolder::open(&folders, places.state.as_deref())?;
        let inside = inside(&folders, state.path());
        let options = options(&config, durability)?;
        let registry = registry(&config)?;
        let ledger = Ledger::open(state, options, Arc::new(RealWorld))?;
        recover(&local, &ledger);
        let offers = offers(&config, &registry, &ledger)?;
        let dispatcher = dispatcher(registry, local, &config, &folders, inside)?;
        let dispatcher = dispatcher.with_ledger(ledger.clone()).with_offers(offers);
        take_back(&dispatcher);
        Ok(Assembly { config, ledger, dispatcher, folders })
    }
}

/// A workspace's tools and everything that decides about calls, for who only wants to know: nothing is recorded.
pub(super) fn judging(roots: &Roots, places: &Places) -> Result<Dispatcher, AssemblyError> {
    let local = roots.open()?;
    let folders = local.folders();
    let mut config = load(&folders, places)?;
    config.mode = Mode::Native;
    let state = StateFolder::find(&folders, places.state.as_deref())?;
    let inside = state.and_then(|state| inside(&folders, state.path()));
    dispatcher(registry(&config)?, local, &config, &folders, inside)
}

/// What is served by the configuration as it is now.
pub(super) struct Anew {
    pub(super) config: Config,
    pub(super) registry: Registry,
    pub(super) offers: Offers,
    pub(super) settings: Settings,
    pub(super) policy: Policy,
}

impl Anew {
    /// Reads the configuration again, for a server in that `mode` that records in `ledger`.
    pub(super) fn read(roots: &Roots, places: &Places, mode: Mode, ledger: &Ledger) -> Result<Self, AssemblyError> {
        let folders = roots.open()?.folders();
        let config = load(&folders, places)?;
        let state = StateFolder::find(&folders, places.state.as_deref())?;
        let inside = state.and_then(|state| inside(&folders, state.path()));
        let served = Config { mode, ..config.clone() };
        let registry = registry(&served)?;
        let policy = policy(&registry, &served, &folders, inside)?;
        let offers = offers(&served, &registry, ledger)?;
        Ok(Anew { settings: served.settings(Settings::served()), config, registry, offers, policy })
    }
}

/// The resources and prompts.
fn offers(config: &Config, registry: &Registry, ledger: &Ledger) -> Result<Offers, AssemblyError> {
    let mut offers = Offers::new();
    offers::register(&mut offers, ledger)?;
    if config.mode.runs_code() {
        code::sdk::register(&mut offers, registry)?;
    }
    Ok(offers)
}

/// The tools, in the words of the configuration.
fn registry(config: &Config) -> Result<Registry, AssemblyError> {
    let mut registry = Registry::new();
    tools::register(&mut registry)?;
    let (programs, others): (Vec<_>, Vec<_>) =
        config.descriptions.iter().partition(|described| described.value.0 == RUN_CODE);
    describe(&mut registry, &others);
    if config.mode.runs_code() {
        // After the other tools: what it says of itself is made of what they say.
        code::register(&mut registry, code_options(config))?;
        describe(&mut registry, &programs);
    }
    Ok(registry)
}

fn describe(registry: &mut Registry, descriptions: &[&Placed<(String, Description)>]) {
    for Placed { value: (tool, Description { variant, text }), .. } in descriptions {
        registry.describe(tool, variant, text);
    }
}

fn code_options(config: &Config) -> code::Options {
    let CodeSection {
        wall_ms,
        computing_ms,
        heap_bytes,
        stack_bytes,
        source_bytes,
        log_bytes,
        result_bytes,
        call_bytes,
        calls,
        require_sandbox,
    } = config.code;
    let mut options = code::Options { require_sandbox: require_sandbox.unwrap_or(false), ..code::Options::default() };
    let limits = &mut options.limits;
    let time = |ms: NonZeroU64| Duration::from_millis(ms.get());
    limits.wall = wall_ms.map_or(limits.wall, time);
    limits.computing = computing_ms.map_or(limits.computing, time);
    limits.calls = calls.map_or(limits.calls, NonZeroU64::get);
    for (place, value) in [
        (&mut limits.heap_bytes, heap_bytes),
        (&mut limits.stack_bytes, stack_bytes),
        (&mut limits.source_bytes, source_bytes),
        (&mut limits.log_bytes, log_bytes),
        (&mut limits.result_bytes, result_bytes),
        (&mut limits.call_bytes, call_bytes),
    ] {
        *place = value.map_or(*place, NonZeroUsize::get);
    }
    options
}

/// `state` is the state folder, where it lies in the workspace.
fn dispatcher(
    registry: Registry,
    local: Local,
    config: &Config,
    folders: &[Folder],
    state: Option<WsPath>,
) -> Result<Dispatcher, AssemblyError> {
    let policy = policy(&registry, config, folders, state)?;
    Ok(Dispatcher::new(registry, local, config.settings(Settings::served())).with_policy(policy))
}

/// What decides about calls. `state` is the state folder, where it lies in the workspace.
fn policy(
    registry: &Registry,
    config: &Config,
    folders: &[Folder],
    state: Option<WsPath>,
) -> Result<Policy, ConfigError> {
    let mut policy = config.policy(Setup { registry, folders, folds_case: false })?;
    if let Some(inside) = state {
        policy.rules.guard(Guard::below(&inside, "toolgate", "its own records are there"));
    }
    Ok(policy)
}

/// What was recorded of a workspace; looking at it makes and changes nothing.
pub(super) struct Recorded {
    pub(super) local: Local,
    pub(super) folders: Vec<Folder>,
    /// Nothing, where nothing was ever recorded.
    pub(super) state: Option<StateFolder>,
}

impl Recorded {
    pub(super) fn find(roots: &Roots, places: &Places) -> Result<Self, AssemblyError> {
        let local = roots.open()?;
        let folders = local.folders();
        let state = StateFolder::find(&folders, places.state.as_deref())?;
        Ok(Recorded { local, folders, state })
    }

    /// How recording begins, for a person who finds nothing.
    pub(super) fn nothing(&self) -> String {
        let (folders, options) = (root::shown(&self.folders), root::options(&self.folders));
        format!(
            "nothing is recorded for {folders} yet. Recording begins with the first call: from a client through `toolgate \
             serve{options}`, or by hand with `toolgate call list_dir{options}`"
        )
    }
}

/// The configuration of the workspace in `folders`; what it leaves out is said on standard error.
pub(super) fn load(folders: &[Folder], places: &Places) -> Result<Config, AssemblyError> {
    let sources = Sources {
        named: places.config.clone(),
        usual: user_file(|name| std::env::var_os(name)),
        folders: folders.to_vec(),
        trust: trust_file(places),
    };
    let Loaded { config, left_out } = Config::load(&sources)?;
    for line in left_out {
        complain(Level::WARN, line);
    }
    Ok(config)
}

/// What the user has trusted, kept beside the states of all workspaces.
pub(super) fn trust_file(places: &Places) -> Option<Trust> {
    let home = places.state.clone().or_else(|| StateFolder::home().ok())?;
    Some(Trust::at(home.join("trust.toml")))
}

fn options(config: &Config, durability: Durability) -> Result<Options, AssemblyError> {
    let rules: Vec<_> = config.redact.iter().map(|rule| rule.value.as_str()).collect();
    let at = config.redact.first().map(|rule| rule.at.clone()).unwrap_or_default();
    let redact = Redact::new(&rules).map_err(|fault| AssemblyError::Redact { at, fault })?;
    let mut options = Options { durability, redact, ..Options::default() };
    options.retention = retention(config);
    Ok(options)
}

/// How long what is kept stays, and how much of it.
pub(super) fn retention(config: &Config) -> Limits {
    let mut limits = Options::default().retention;
    if let Some(days) = config.retention.days {
        limits.older_than = Duration::from_secs(days.saturating_mul(24 * 60 * 60));
    }
    if let Some(bytes) = config.retention.max_bytes {
        limits.max_bytes = bytes;
    }
    limits
}

/// Finishes or clears away what a crash has left; a change that cannot be is tried again with the next start.
fn recover(local: &Local, ledger: &Ledger) {
    match ledger.recover(&mut |steps, journal| local.recover(steps, journal)) {
        Ok(changes) => {
            for (change, recovered) in changes {
                tracing::warn!(%change, ?recovered, "a change that was interrupted");
            }
        }
        Err(error) => {
            complain(Level::ERROR, format_args!("what an earlier run left cannot be looked at: {error}"));
        }
    }
}

/// Takes back what a crash has left of changes that belong together.
fn take_back(dispatcher: &Dispatcher) {
    if let Err(error) = dispatcher.settle() {
        complain(Level::ERROR, format_args!("what an earlier run left cannot be looked at: {error}"));
    }
}

/// The state folder, if it lies in the workspace.
fn inside(folders: &[Folder], state: &Path) -> Option<WsPath> {
    folders.iter().find_map(|folder| folder.inside(state))
}
