//! The keys of an issuer: fetched when they are first needed, kept for a while, and fetched again when a token is signed
//! by one that nobody has seen.

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use jsonwebtoken::jwk::{AlgorithmParameters, Jwk, JwkSet, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use serde::Deserialize;
use tokio::sync::Mutex;

use crate::serve::auth::fetch::{FetchError, fetch};
use crate::serve::auth::oauth::{KeySource, secure};

/// After so long the keys are fetched again.
const FRESH: Duration = Duration::from_secs(600);

/// No sooner than this after the last time, whatever tokens come: else whoever makes them up could make us ask for ever.
const PAUSE: Duration = Duration::from_secs(5);

/// The keys of one issuer.
#[derive(Debug)]
pub(super) struct Keys {
    source: KeySource,
    issuer: String,
    known: RwLock<Known>,
    /// Held while keys are fetched: all who wait for them wait for one answer.
    fetching: Mutex<()>,
}

#[derive(Debug, Default)]
struct Known {
    set: Option<Arc<JwkSet>>,
    tried: Option<Instant>,
    fetched: Option<Instant>,
}

/// Keys cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeysError {
    /// They cannot be fetched.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// A file cannot be read.
    #[error("{path} cannot be read: {why}")]
    File {
        /// The file.
        path: String,
        /// Why.
        why: String,
    },
    /// What came is not a key set.
    #[error("{place} is not a JSON Web Key Set: {why}")]
    Malformed {
        /// Where it came from.
        place: String,
        /// What is wrong.
        why: String,
    },
    /// The issuer does not say where its keys are.
    #[error("{0} has no metadata that say where its keys are")]
    NoMetadata(String),
    /// They could not be had a moment ago.
    #[error("they could not be had a moment ago")]
    Unavailable,
}

impl Keys {
    /// Keys in a file are read now, all others when they are first needed.
    pub(super) fn new(source: KeySource, issuer: &str) -> Result<Self, KeysError> {
        let mut known = Known::default();
        if let KeySource::File(path) = &source {
            known.set = Some(Arc::new(read(path)?));
            known.fetched = Some(Instant::now());
        }
        Ok(Keys { source, issuer: issuer.to_owned(), known: RwLock::new(known), fetching: Mutex::new(()) })
    }

    /// The keys that may have signed a token.
    pub(super) async fn for_token(
        &self,
        id: Option<&str>,
        algorithm: Algorithm,
    ) -> Result<Vec<DecodingKey>, KeysError> {
        let (set, is_fresh) = self.known();
        if let Some(set) = &set {
            let found = candidates(set, id, algorithm);
            if is_fresh && !found.is_empty() {
                return Ok(found);
            }
        }
        let set = self.renew(set).await?;
        Ok(candidates(&set, id, algorithm))
    }

    fn known(&self) -> (Option<Arc<JwkSet>>, bool) {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        (known.set.clone(), known.fetched.is_some_and(|at| at.elapsed() < FRESH))
    }

    /// Fetches the keys, unless that was done a moment ago. If it fails the old ones are good for longer.
    async fn renew(&self, before: Option<Arc<JwkSet>>) -> Result<Arc<JwkSet>, KeysError> {
        let _one_at_a_time = self.fetching.lock().await;
        {
            let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
            let news = known.set.as_ref().filter(|set| before.as_ref().is_none_or(|before| !Arc::ptr_eq(before, set)));
            if let Some(news) = news {
                return Ok(Arc::clone(news));
            }
            if known.tried.is_some_and(|at| at.elapsed() < PAUSE) {
                return known.set.clone().ok_or(KeysError::Unavailable);
            }
        }
        let fetched = self.load().await;
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.tried = Some(Instant::now());
        match fetched {
            Ok(set) => {
                let set = Arc::new(set);
                known.set = Some(Arc::clone(&set));
                known.fetched = known.tried;
                Ok(set)
            }
            Err(error) => {
                tracing::warn!(%error, issuer = self.issuer, "the keys of the issuer could not be renewed");
                known.set.clone().ok_or(error)
            }
        }
    }

    async fn load(&self) -> Result<JwkSet, KeysError> {
        match &self.source {
            KeySource::File(path) => read(path),
            KeySource::Url(url) => parse(&fetch(url).await?, url),
            KeySource::Metadata => {
                let url = self.find().await?;
                parse(&fetch(&url).await?, &url)
            }
        }
    }

    /// Where the issuer's metadata say that its keys are.
    async fn find(&self) -> Result<String, KeysError> {
        #[derive(Deserialize)]
        struct Metadata {
            issuer: String,
            jwks_uri: String,
        }
        let mut last = KeysError::NoMetadata(self.issuer.clone());
        for url in metadata_urls(&self.issuer) {
            match fetch(&url).await {
                Ok(bytes) => {
                    let metadata: Option<Metadata> = serde_json::from_slice(&bytes).ok();
                    let sound =
                        metadata.filter(|found| found.issuer == self.issuer && secure(&found.jwks_uri).is_some());
                    if let Some(metadata) = sound {
                        return Ok(metadata.jwks_uri);
                    }
                }
                Err(error) => last = error.into(),
            }
        }
        Err(last)
    }
}

/// Where metadata may be (RFC 8414, and OpenID Connect Discovery).
fn metadata_urls(issuer: &str) -> Vec<String> {
    let Some(uri) = secure(issuer) else { return Vec::new() };
    let origin =
        format!("{}://{}", uri.scheme_str().unwrap_or("https"), uri.authority().map_or("", |name| name.as_str()));
    let path = uri.path().trim_end_matches('/');
    vec![
        format!("{origin}/.well-known/oauth-authorization-server{path}"),
        format!("{origin}/.well-known/openid-configuration{path}"),
        format!("{origin}{path}/.well-known/openid-configuration"),
    ]
}

#[expect(clippy::disallowed_methods, reason = "keys lie outside of workspaces")]
fn read(path: &Path) -> Result<JwkSet, KeysError> {
    let place = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| KeysError::File { path: place.clone(), why: error.to_string() })?;
    parse(&bytes, &place)
}

/// A set may hold keys that we do not know; they are no fault.
fn parse(bytes: &[u8], place: &str) -> Result<JwkSet, KeysError> {
    let malformed = |why: String| KeysError::Malformed { place: place.to_owned(), why };
    #[derive(Deserialize)]
    struct Loose {
        keys: Vec<serde_json::Value>,
    }
    let Loose { keys } = serde_json::from_slice(bytes).map_err(|error| malformed(error.to_string()))?;
    let keys: Vec<Jwk> = keys.into_iter().filter_map(|key| serde_json::from_value(key).ok()).collect();
    if keys.is_empty() { Err(malformed("there is no key in it".to_owned())) } else { Ok(JwkSet { keys }) }
}

/// The keys of a set that may have signed a token with this header.
fn candidates(set: &JwkSet, id: Option<&str>, algorithm: Algorithm) -> Vec<DecodingKey> {
    set.keys
        .iter()
        .filter(|key| id.is_none_or(|id| key.common.key_id.as_deref() == Some(id)))
        .filter(|key| key.common.public_key_use.as_ref().is_none_or(|used| *used == PublicKeyUse::Signature))
        .filter(|key| key.common.key_algorithm.is_none_or(|named| named.to_string() == format!("{algorithm:?}")))
        // Whoever knows the public keys must not be able to sign with them as if they were secrets.
        .filter(|key| !matches!(key.algorithm, AlgorithmParameters::OctetKey(_)))
        .filter_map(|key| DecodingKey::from_jwk(key).ok())
        .filter(|key| key.family() == algorithm.family())
        .collect()
}
