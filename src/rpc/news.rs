//! News for clients: that a list has changed, or a resource. Who has asked for it is told, and nobody else.
//!
//! A modern client listens (`subscriptions/listen`), a legacy one is told of lists without asking and subscribes to
//! single resources.

mod files;
mod listener;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use serde_json::json;
use tokio_util::sync::CancellationToken;

pub(crate) use files::Files;
pub(crate) use listener::{Filter, Listener};

use crate::rpc::connection::Client;
use crate::rpc::context::notification;

/// Tells the clients of a server that something has changed. A clone tells the same clients.
///
/// ```
/// use toolgate::{Memory, Server};
/// let server = Server::new(Memory::new());
/// let news = server.news();
/// // Later, from wherever it happens:
/// news.resource_updated("notes://today");
/// news.prompts_changed();
/// ```
#[derive(Clone, Default)]
pub struct News {
    hub: Arc<Hub>,
}

#[derive(Default)]
struct Hub {
    listeners: Mutex<Listeners>,
    ended: CancellationToken,
}

#[derive(Default)]
struct Listeners {
    modern: Vec<Arc<Listener>>,
    legacy: Vec<Weak<Client>>,
}

/// A list that clients keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum List {
    Tools,
    Prompts,
    Resources,
}

impl List {
    const fn method(self) -> &'static str {
        match self {
            List::Tools => "notifications/tools/list_changed",
            List::Prompts => "notifications/prompts/list_changed",
            List::Resources => "notifications/resources/list_changed",
        }
    }
}

impl News {
    /// The list of tools is another one.
    pub fn tools_changed(&self) {
        self.list_changed(List::Tools);
    }

    /// The list of prompts is another one.
    pub fn prompts_changed(&self) {
        self.list_changed(List::Prompts);
    }

    /// The list of resources is another one.
    pub fn resources_changed(&self) {
        self.list_changed(List::Resources);
    }

    /// The resource at `uri` holds something else.
    pub fn resource_updated(&self, uri: &str) {
        let (modern, legacy) = self.listeners().all();
        let params = json!({"uri": uri});
        let method = "notifications/resources/updated";
        modern.iter().filter(|listener| listener.filter.wants_resource(uri)).for_each(|one| one.tell(method, &params));
        for client in legacy.iter().filter(|client| client.listening.wants(uri)) {
            client.outbox.send(&notification(method, &params));
        }
    }

    fn list_changed(&self, list: List) {
        let (modern, legacy) = self.listeners().all();
        modern
            .iter()
            .filter(|listener| listener.filter.wants(list))
            .for_each(|one| one.tell(list.method(), &json!({})));
        // Files come and go all the time: who has never looked at the list of them need not know.
        for client in legacy.iter().filter(|client| list != List::Resources || client.listening.knows_the_list()) {
            client.outbox.send(&notification(list.method(), &json!({})));
        }
    }

    /// A legacy client that has shaken hands.
    pub(crate) fn greet(&self, client: &Arc<Client>) {
        let mut listeners = self.listeners();
        listeners.legacy.retain(|known| known.upgrade().is_some_and(|known| !Arc::ptr_eq(&known, client)));
        listeners.legacy.push(Arc::downgrade(client));
    }

    /// Lets `listener` hear of what it wants until the guard goes.
    pub(crate) fn listen(&self, listener: Arc<Listener>) -> Listens {
        self.listeners().modern.push(Arc::clone(&listener));
        Listens { news: self.clone(), listener }
    }

    /// Resolves when nobody is told anything any more.
    pub(crate) async fn ended(&self) {
        self.hub.ended.cancelled().await;
    }

    /// Ends all listening.
    pub(crate) fn end(&self) {
        self.hub.ended.cancel();
    }

    fn listeners(&self) -> MutexGuard<'_, Listeners> {
        self.hub.listeners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listeners {
    /// Everybody, so that they are told without anyone else waiting for it.
    fn all(&mut self) -> (Vec<Arc<Listener>>, Vec<Arc<Client>>) {
        self.legacy.retain(|client| client.strong_count() > 0);
        (self.modern.clone(), self.legacy.iter().filter_map(Weak::upgrade).collect())
    }
}

impl std::fmt::Debug for News {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("News").finish_non_exhaustive()
    }
}

/// A listener is told news as long as this lives.
pub(crate) struct Listens {
    news: News,
    listener: Arc<Listener>,
}

impl Drop for Listens {
    fn drop(&mut self) {
        self.news.listeners().modern.retain(|other| !Arc::ptr_eq(other, &self.listener));
    }
}

/// What one client's stream wants to hear.
#[derive(Default)]
pub(crate) struct Listening {
    /// The resources that a legacy client has subscribed to.
    uris: Mutex<BTreeSet<String>>,
    /// Whether it has looked at the list of resources.
    listed: AtomicBool,
    ended: CancellationToken,
}

impl Listening {
    /// Whether it may subscribe to that as well, where it may to no more than `most`.
    pub(crate) fn has_room(&self, uri: &str, most: usize) -> bool {
        let uris = self.uris();
        uris.len() < most || uris.contains(uri)
    }

    /// Whether that was new.
    pub(crate) fn subscribe(&self, uri: &str) -> bool {
        self.uris().insert(uri.to_owned())
    }

    /// Whether it had subscribed.
    pub(crate) fn unsubscribe(&self, uri: &str) -> bool {
        self.uris().remove(uri)
    }

    /// All subscriptions, which are none any more.
    pub(crate) fn take_all(&self) -> BTreeSet<String> {
        std::mem::take(&mut *self.uris())
    }

    pub(crate) fn has_listed(&self) {
        self.listed.store(true, Ordering::Relaxed);
    }

    /// The stream ends.
    pub(crate) fn end(&self) {
        self.ended.cancel();
    }

    pub(crate) async fn ended(&self) {
        self.ended.cancelled().await;
    }

    fn knows_the_list(&self) -> bool {
        self.listed.load(Ordering::Relaxed)
    }

    fn wants(&self, uri: &str) -> bool {
        self.uris().contains(uri)
    }

    fn uris(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.uris.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
