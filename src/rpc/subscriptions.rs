//! `subscriptions/listen` (modern), `resources/subscribe` and `resources/unsubscribe` (legacy).

use std::sync::Arc;

use jsonrpsee::core::RegisterMethodError;
use jsonrpsee::types::Params;
use jsonrpsee::{Extensions, RpcModule};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::dispatch::Dispatcher;
use crate::model::error::glimpse;
use crate::model::path::WsPath;
use crate::rpc::connection::Client;
use crate::rpc::context::Context;
use crate::rpc::error::RpcError;
use crate::rpc::lifecycle::no_context;
use crate::rpc::news::{Filter, Listener};
use crate::rpc::params;
use crate::rpc::principal::Access;
use crate::rpc::reply::{self, MethodResult};
use crate::rpc::resources::LONGEST;
use crate::rpc::{Mcp, Shared};

/// So many resources one stream may subscribe to.
const MOST: usize = 1_000;

pub(super) fn register(module: &mut RpcModule<Shared>) -> Result<(), RegisterMethodError> {
    module.register_async_method("subscriptions/listen", |params, shared, extensions| async move {
        listen(&params, &shared, &extensions).await
    })?;
    module
        .register_method("resources/subscribe", |params, shared, extensions| subscribe(&params, shared, extensions))?;
    module.register_method("resources/unsubscribe", |params, shared, extensions| {
        unsubscribe(&params, shared, extensions)
    })?;
    Ok(())
}

async fn listen(params: &Params<'_>, shared: &Arc<Shared>, extensions: &Extensions) -> MethodResult {
    #[derive(Deserialize)]
    struct Listen {
        notifications: Filter,
    }
    let context = Context::of(extensions).ok_or_else(no_context)?;
    context.allow(Access::Read)?;
    let id = context.arrival.id.clone().ok_or_else(no_context)?;
    let Listen { notifications } = params::of(params)?;
    let filter = honoured(notifications, shared, &context);
    let files = Subscribed::new(shared, &filter);
    let (outbox, cancel) = (Arc::clone(&context.arrival.outbox), context.arrival.cancel.clone());
    let listener = Arc::new(Listener::new(id, filter, outbox, cancel));
    let listens = shared.news.listen(Arc::clone(&listener));
    listener.acknowledge();
    let client = Arc::clone(&context.arrival.client);
    let ended = std::pin::pin!(client.listening.ended());
    let all_ended = std::pin::pin!(shared.news.ended());
    futures_util::future::select(ended, all_ended).await;
    drop((listens, files));
    let mut meta = listener.meta();
    meta[reply::SERVER_INFO] = reply::server_info(&shared.profile);
    reply::raw(&json!({"resultType": "complete", "_meta": meta}))
}

/// What can be told of what is wanted.
fn honoured(mut wanted: Filter, shared: &Shared, context: &Context) -> Filter {
    let served = shared.dispatcher.glance();
    let offers = &served.offers;
    wanted.prompts_list_changed &= offers.has_prompts();
    wanted.resources_list_changed &= offers.has_resources();
    wanted.resource_subscriptions.retain(|uri| may_hear(uri, shared, context));
    wanted.resource_subscriptions.sort();
    wanted.resource_subscriptions.dedup();
    wanted.resource_subscriptions.truncate(MOST);
    wanted
}

/// Whether something is offered at `uri` that the client may have.
fn may_hear(uri: &str, shared: &Shared, context: &Context) -> bool {
    let served = shared.dispatcher.glance();
    let found = Some(uri).filter(|uri| uri.len() <= LONGEST).and_then(|uri| served.offers.find(uri));
    found.is_some_and(|found| !shared.dispatcher.hides(found.read, Value::Object(found.arguments), &context.caller()))
}

/// The files of a stream's subscriptions, watched as long as this lives.
struct Subscribed<'a> {
    shared: &'a Shared,
    files: Vec<(WsPath, String)>,
    tree: bool,
}

impl<'a> Subscribed<'a> {
    fn new(shared: &'a Shared, filter: &Filter) -> Self {
        let files = filter
            .resource_subscriptions
            .iter()
            .filter_map(|uri| Some((path_of(uri, &shared.dispatcher)?, uri.clone())));
        let files: Vec<_> = files.collect();
        for (path, uri) in &files {
            shared.files.subscribe(path, uri, || shared.start_watching());
        }
        if filter.resources_list_changed {
            shared.files.watch_tree(|| shared.start_watching());
        }
        Subscribed { shared, files, tree: filter.resources_list_changed }
    }
}

impl Drop for Subscribed<'_> {
    fn drop(&mut self) {
        self.files.iter().for_each(|(path, uri)| self.shared.files.unsubscribe(path, uri));
        if self.tree {
            self.shared.files.forget_tree();
        }
    }
}

/// The file that the resource at `uri` is, if it is one.
fn path_of(uri: &str, dispatcher: &Dispatcher) -> Option<WsPath> {
    let served = dispatcher.glance();
    let found = served.offers.find(uri)?;
    let [variable] = found.read.spec().paths else { return None };
    WsPath::parse(found.arguments.get(*variable)?.as_str()?).ok()
}

/// A legacy client is gone, and with it its subscriptions.
pub(super) fn end(mcp: &Mcp, client: &Client) {
    for uri in client.listening.take_all() {
        if let Some(path) = path_of(&uri, &mcp.dispatcher) {
            mcp.files.unsubscribe(&path, &uri);
        }
    }
}

#[derive(Deserialize)]
struct Uri {
    uri: String,
}

fn subscribe(params: &Params<'_>, shared: &Shared, extensions: &Extensions) -> MethodResult {
    let context = Context::of(extensions).ok_or_else(no_context)?;
    context.allow(Access::Read)?;
    let Uri { uri } = params::of(params)?;
    if !may_hear(&uri, shared, &context) {
        let why = format!("nothing is offered at {}", glimpse(&uri));
        return Err(RpcError::resource_not_found(&uri, why, context.scope.era).into());
    }
    let client = &context.arrival.client;
    if !client.listening.has_room(&uri, MOST) {
        let why = format_args!("{MOST} resources are subscribed to already; unsubscribe from one first");
        return Err(RpcError::invalid_request(why).into());
    }
    if client.listening.subscribe(&uri)
        && let Some(path) = path_of(&uri, &shared.dispatcher)
    {
        shared.files.subscribe(&path, &uri, || shared.start_watching());
    }
    reply::raw(&json!({}))
}

fn unsubscribe(params: &Params<'_>, shared: &Shared, extensions: &Extensions) -> MethodResult {
    let context = Context::of(extensions).ok_or_else(no_context)?;
    context.allow(Access::Read)?;
    let Uri { uri } = params::of(params)?;
    if context.arrival.client.listening.unsubscribe(&uri)
        && let Some(path) = path_of(&uri, &shared.dispatcher)
    {
        shared.files.unsubscribe(&path, &uri);
    }
    reply::raw(&json!({}))
}
