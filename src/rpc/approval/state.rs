//! `requestState`: what was asked, carried by the client, which can neither change it nor use it twice.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use blake3::Hash;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::model::world::World;

/// How long a person may take, if nothing else is said.
pub(super) const LIFETIME: Duration = Duration::from_secs(600);

/// So many states may have been used and not yet be out of date. Beyond that none is taken: to forget one is to let it
/// be used again.
const MOST_SPENT: usize = 65_536;

/// Longer ones are not ours.
const LONGEST: usize = 4 * 1024 * 1024;

/// The form of [`Payload`].
const VERSION: u8 = 2;

/// What a state speaks for.
pub(super) struct Claim<'a> {
    pub(super) principal: &'a str,
    pub(super) call: [u8; 32],
    pub(super) pending: &'a Pending,
}

/// How far a call has come with what it has to ask.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Pending {
    /// The question that a person has yet to answer before it may run.
    pub(super) question: Option<Digest>,
    /// The one that they have said yes to.
    pub(super) approved: Option<Digest>,
    /// What the tool itself has asked, answered.
    #[serde(default)]
    pub(super) answers: Map<String, Value>,
    /// Whether the call has begun to act, and waits in the middle for the answer.
    #[serde(default)]
    pub(super) midway: bool,
}

/// Stands for a question, as in [`crate::gate::approval::Question::digest`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(super) struct Digest(pub(super) [u8; 32]);

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        hex(digest.0)
    }
}

impl TryFrom<String> for Digest {
    type Error = blake3::HexError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Hash::from_hex(text).map(|hash| Digest(*hash.as_bytes()))
    }
}

/// What a state must speak for to be taken.
pub(super) struct Expected<'a> {
    pub(super) principal: &'a str,
    pub(super) call: [u8; 32],
}

/// A state that is ours and fits; not yet spent.
pub(super) struct Open {
    /// How far its call had come.
    pub(super) pending: Pending,
    expires: i64,
    /// The name that the state is known by here.
    pub(super) nonce: String,
}

/// A state cannot be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadState {
    /// It was changed, made by another process, or never one.
    #[error("requestState is not one that this server gave to this client")]
    NotOurs,
    /// Its question was about something else.
    #[error("requestState belongs to another call; what is asked for must stay as it was")]
    OtherCall,
    /// The person took too long.
    #[error("requestState is out of date; ask anew, without it")]
    Expired,
    /// The call that has asked is over: it was not waited for any longer.
    #[error(
        "the call that asked this is over: nobody answered in time, or too many calls were waiting for an answer and it had to give \
         way; look at what it has done, and ask anew if it is still needed"
    )]
    Over,
    /// It has been used.
    #[error("requestState has been used already; ask anew, without it")]
    Spent,
    /// See [`MOST_SPENT`].
    #[error("too many questions were answered a short while ago; try again later")]
    TooMany,
}

#[derive(Serialize, Deserialize)]
struct Payload {
    v: u8,
    principal: String,
    call: String,
    pending: Pending,
    expires: i64,
    nonce: String,
}

/// Makes states and takes them back.
pub(super) struct States {
    world: Arc<dyn World>,
    /// Dies with the process, and every state with it.
    key: [u8; 32],
    /// How long a state is good.
    pub(super) lifetime: Duration,
    spent: Mutex<Spent>,
}

#[derive(Default)]
struct Spent {
    /// Until when each used state would have been good.
    nonces: HashMap<String, i64>,
    /// The latest time that was seen: a clock that is set back must not revive what was forgotten.
    latest: i64,
}

impl States {
    pub(super) fn new(world: Arc<dyn World>) -> Self {
        let mut secret = [0; 32];
        secret[..16].copy_from_slice(&world.random().to_le_bytes());
        secret[16..].copy_from_slice(&world.random().to_le_bytes());
        let key = blake3::derive_key("toolgate requestState v1", &secret);
        States { world, key, lifetime: LIFETIME, spent: Mutex::default() }
    }

    /// The state that goes out with a question, and the name that it is known by here.
    pub(super) fn seal(&self, claim: Claim<'_>) -> (String, String) {
        let nonce = format!("{:032x}", self.world.random());
        let payload = Payload {
            v: VERSION,
            principal: claim.principal.to_owned(),
            call: hex(claim.call),
            pending: claim.pending.clone(),
            expires: self.now().saturating_add(i64::try_from(self.lifetime.as_millis()).unwrap_or(i64::MAX)),
            nonce: nonce.clone(),
        };
        // Numbers and texts: writing them cannot fail, and an empty payload would open nothing.
        let payload = serde_json::to_vec(&payload).unwrap_or_default();
        let mut sealed = self.mac(&payload).as_bytes().to_vec();
        sealed.extend_from_slice(&payload);
        (BASE64.encode(sealed), nonce)
    }

    /// Reads a state that has come back; it is not used up by that.
    ///
    /// # Errors
    /// See [`BadState`].
    pub(super) fn open(&self, state: &str, expected: &Expected<'_>) -> Result<Open, BadState> {
        let sealed = Some(state).filter(|state| state.len() <= LONGEST).and_then(|state| BASE64.decode(state).ok());
        let sealed = sealed.ok_or(BadState::NotOurs)?;
        let (mac, payload) = sealed.split_first_chunk::<32>().ok_or(BadState::NotOurs)?;
        // `Hash` compares in constant time.
        if Hash::from_bytes(*mac) != self.mac(payload) {
            return Err(BadState::NotOurs);
        }
        let payload: Payload = serde_json::from_slice(payload).map_err(|_| BadState::NotOurs)?;
        if payload.v != VERSION || payload.principal != expected.principal {
            return Err(BadState::NotOurs);
        }
        if payload.call != hex(expected.call) {
            return Err(BadState::OtherCall);
        }
        if payload.expires <= self.now() {
            return Err(BadState::Expired);
        }
        Ok(Open { pending: payload.pending, expires: payload.expires, nonce: payload.nonce })
    }

    /// Uses up a state.
    ///
    /// # Errors
    /// It was used before, or cannot be remembered.
    pub(super) fn spend(&self, open: &Open) -> Result<(), BadState> {
        let now = self.now();
        let mut spent = self.spent();
        if open.expires <= now {
            return Err(BadState::Expired);
        }
        spent.nonces.retain(|_, expires| *expires > now);
        if spent.nonces.contains_key(&open.nonce) {
            return Err(BadState::Spent);
        }
        if spent.nonces.len() >= MOST_SPENT {
            return Err(BadState::TooMany);
        }
        spent.nonces.insert(open.nonce.clone(), open.expires);
        Ok(())
    }

    fn mac(&self, payload: &[u8]) -> Hash {
        blake3::keyed_hash(&self.key, payload)
    }

    /// The time in milliseconds; never earlier than it was.
    fn now(&self) -> i64 {
        let mut spent = self.spent();
        spent.latest = spent.latest.max(self.world.now().as_millisecond());
        spent.latest
    }

    fn spent(&self) -> MutexGuard<'_, Spent> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn hex(digest: [u8; 32]) -> String {
    Hash::from_bytes(digest).to_hex().to_string()
}
