//! What is known of the client on the other end of a stream.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

use crate::rpc::approval::Asked;
use crate::rpc::capabilities::{Abilities, Capabilities};
use crate::rpc::connection::Outbox;
use crate::rpc::era::LegacyVersion;
use crate::rpc::id::RequestId;
use crate::rpc::news::Listening;
use crate::rpc::principal::Principal;
use crate::tool::log::LogLevel;

/// What is known of the client.
pub(crate) struct Client {
    /// Who it is.
    pub(crate) principal: Principal,
    /// Where frames for it go that belong to no request.
    pub(crate) outbox: Arc<dyn Outbox>,
    /// What it was asked.
    pub(crate) asked: Asked,
    legacy: AtomicU8,
    abilities: AtomicU8,
    log_level: AtomicU8,
    /// What it has subscribed to, and how long it listens.
    pub(crate) listening: Listening,
    under_way: Mutex<HashMap<RequestId, CancellationToken>>,
}

impl Client {
    pub(crate) fn new(principal: Principal, outbox: Arc<dyn Outbox>) -> Self {
        Client {
            principal,
            outbox,
            asked: Asked::default(),
            legacy: AtomicU8::new(LegacyVersion::LATEST as u8),
            abilities: AtomicU8::default(),
            log_level: AtomicU8::new(LogLevel::Info as u8),
            listening: Listening::default(),
            under_way: Mutex::default(),
        }
    }

    /// The legacy revision that was negotiated; until then the latest, since many clients ask before they shake hands.
    pub(crate) fn legacy_version(&self) -> LegacyVersion {
        LegacyVersion::from_index(self.legacy.load(Ordering::Relaxed))
    }

    /// What it has declared, when it shook hands, that it can be asked.
    pub(crate) fn abilities(&self) -> Abilities {
        Abilities::from_bits(self.abilities.load(Ordering::Relaxed))
    }

    /// The least that a legacy client wants to hear of a log; until it says so, all but what is for who looks for a fault.
    pub(crate) fn log_level(&self) -> LogLevel {
        let index = usize::from(self.log_level.load(Ordering::Relaxed));
        LogLevel::ALL.get(index).copied().unwrap_or(LogLevel::Info)
    }

    pub(crate) fn set_log_level(&self, level: LogLevel) {
        self.log_level.store(level as u8, Ordering::Relaxed);
    }

    pub(crate) fn negotiated(&self, version: LegacyVersion, declared: &Capabilities) {
        self.legacy.store(version as u8, Ordering::Relaxed);
        self.abilities.store(declared.abilities().bits(), Ordering::Relaxed);
    }

    /// Takes back a request: from now on nothing is sent for it. Unknown ids are ignored.
    pub(crate) fn cancel(&self, id: &RequestId) {
        if let Some(token) = self.under_way().remove(id) {
            token.cancel();
        }
    }

    pub(super) fn under_way(&self) -> MutexGuard<'_, HashMap<RequestId, CancellationToken>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a request is under way, unless one with its id is already.
    pub(super) fn begin(&self, id: &RequestId) -> Option<CancellationToken> {
        match self.under_way().entry(id.clone()) {
            Entry::Occupied(_) => None,
            Entry::Vacant(place) => Some(place.insert(CancellationToken::new()).clone()),
        }
    }

    /// Notes that a request is done, and says whether anyone still waits for its answer.
    pub(super) fn finish(&self, id: &RequestId, token: &CancellationToken) -> bool {
        !token.is_cancelled() && self.under_way().remove(id).is_some()
    }
}
