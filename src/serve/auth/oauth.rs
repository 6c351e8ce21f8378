//! Access tokens of an OAuth authorization server, as its resource server takes them: signed by its keys, meant for this
//! server, and not out of date (MCP authorization, RFC 9068, RFC 8707, RFC 9728).

use std::path::PathBuf;

use hyper::Uri;
use jsonwebtoken::{Algorithm, Validation, decode, decode_header};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::rpc::principal::{Access, Principal};
use crate::serve::auth::keys::{Keys, KeysError};

/// Where RFC 9728 puts what a server says about itself.
const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// What is accepted if nothing else is said: signatures by public keys only.
const ALGORITHMS: [Algorithm; 3] = [Algorithm::RS256, Algorithm::ES256, Algorithm::EdDSA];

/// How far the clocks may be apart, in seconds.
const LEEWAY: u64 = 60;

/// The longest name of a principal.
const LONGEST_NAME: usize = 200;

/// An authorization server, as a resource server sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issuer {
    /// Who issues the tokens: the URL that stands in them as `iss`.
    pub issuer: String,
    /// Whom they must be for: the URL of this server as its clients have it.
    pub resource: String,
    /// Where its keys are.
    pub keys: KeySource,
    /// The algorithms that are accepted, by their names in RFC 7518; some that are good if there are none.
    pub algorithms: Vec<String>,
}

/// Where an issuer's keys are, as a JSON Web Key Set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// In a file.
    File(PathBuf),
    /// At a URL.
    Url(String),
    /// Where the issuer's metadata say (RFC 8414).
    Metadata,
}

/// Takes an issuer's tokens.
#[derive(Debug)]
pub struct OAuth {
    issuer: String,
    resource: String,
    metadata_url: String,
    algorithms: Vec<Algorithm>,
    keys: Keys,
}

/// An authorization server is not set up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OAuthError {
    /// A URL is not one.
    #[error("oauth.{0} must be a URL that begins with https:// (or http:// on this machine): {1}")]
    Url(&'static str, String),
    /// An algorithm that nobody should use for this, or that there is not.
    #[error("oauth.algorithms: {0:?} is no algorithm for signatures by public keys")]
    Algorithm(String),
    /// The keys cannot be had.
    #[error("the keys of the issuer: {0}")]
    Keys(#[from] KeysError),
}

/// Why a token is not accepted.
#[derive(Debug, thiserror::Error)]
pub(super) enum BadToken {
    #[error(transparent)]
    Jwt(#[from] jsonwebtoken::errors::Error),
    #[error("the algorithm {0:?} is not accepted")]
    Algorithm(Algorithm),
    #[error("the token is a {0:?}, and not an access token")]
    Kind(String),
    #[error("no key of the issuer fits it")]
    NoKey,
    #[error("the subject is not a name")]
    Subject,
    #[error(transparent)]
    Keys(#[from] KeysError),
}

/// What matters of a token, beside what is checked for all.
#[derive(Deserialize)]
struct Claims {
    sub: String,
    #[serde(default)]
    scope: Option<String>,
    /// How some issuers write scopes.
    #[serde(default)]
    scp: Option<Value>,
}

impl OAuth {
    /// Takes the tokens of `issuer`.
    ///
    /// # Errors
    /// See [`OAuthError`].
    pub fn new(issuer: &Issuer) -> Result<Self, OAuthError> {
        let Issuer { issuer, resource, keys, algorithms } = issuer;
        let checked = |name, url: &str| secure(url).ok_or_else(|| OAuthError::Url(name, url.to_owned()));
        checked("issuer", issuer)?;
        let place = checked("resource", resource)?;
        if let KeySource::Url(url) = keys {
            checked("jwks_url", url)?;
        }
        let algorithms = if algorithms.is_empty() {
            ALGORITHMS.to_vec()
        } else {
            algorithms.iter().map(|name| algorithm(name)).collect::<Result<_, _>>()?
        };
        Ok(OAuth {
            issuer: issuer.clone(),
            resource: resource.clone(),
            metadata_url: metadata_url(&place),
            algorithms,
            keys: Keys::new(keys.clone(), issuer)?,
        })
    }

    /// Who a token is for.
    pub(super) async fn principal(&self, token: &str) -> Result<Principal, BadToken> {
        let header = decode_header(token)?;
        if !self.algorithms.contains(&header.alg) {
            return Err(BadToken::Algorithm(header.alg));
        }
        if let Some(kind) = header.typ.filter(|kind| !is_access_token(kind)) {
            return Err(BadToken::Kind(kind));
        }
        let validation = self.validation(header.alg);
        let mut failed = BadToken::NoKey;
        for key in self.keys.for_token(header.kid.as_deref(), header.alg).await? {
            match decode::<Claims>(token, &key, &validation) {
                Ok(token) => return principal(token.claims),
                Err(error) => failed = error.into(),
            }
        }
        Err(failed)
    }

    fn validation(&self, algorithm: Algorithm) -> Validation {
        let mut validation = Validation::new(algorithm);
        validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        validation.set_issuer(&[&self.issuer]);
        validation.set_audience(&[&self.resource]);
        validation.validate_nbf = true;
        validation.leeway = LEEWAY;
        validation
    }

    /// What the server says about itself (RFC 9728).
    pub(super) fn metadata(&self) -> Value {
        json!({
            "resource": self.resource,
            "authorization_servers": [self.issuer],
            "scopes_supported": [Access::Read.scope(), Access::Write.scope()],
            "bearer_methods_supported": ["header"],
            "resource_name": "toolgate",
        })
    }

    /// Where it says so.
    pub(super) fn metadata_url(&self) -> &str {
        &self.metadata_url
    }
}

fn principal(claims: Claims) -> Result<Principal, BadToken> {
    let Claims { sub: name, scope, scp } = claims;
    // `local` is the person at this machine.
    if name.is_empty() || name == "local" || name.len() > LONGEST_NAME || name.contains(char::is_control) {
        return Err(BadToken::Subject);
    }
    let mut scopes = scope.unwrap_or_default();
    match scp {
        Some(Value::String(more)) => scopes = format!("{scopes} {more}"),
        Some(Value::Array(more)) => more.iter().filter_map(Value::as_str).for_each(|scope| {
            scopes.push(' ');
            scopes.push_str(scope);
        }),
        _ => {}
    }
    Ok(Principal { name, access: Access::of_scopes(&scopes) })
}

/// An ID token says who somebody is, and lets nobody do anything.
fn is_access_token(kind: &str) -> bool {
    let kind = kind.to_ascii_lowercase();
    matches!(kind.strip_prefix("application/").unwrap_or(&kind), "at+jwt" | "jwt")
}

fn algorithm(name: &str) -> Result<Algorithm, OAuthError> {
    let known: Option<Algorithm> = name.parse().ok();
    known
        .filter(|known| !matches!(known, Algorithm::HS256 | Algorithm::HS384 | Algorithm::HS512))
        .ok_or_else(|| OAuthError::Algorithm(name.to_owned()))
}

/// A URL on whose way nobody can put in anything.
pub(super) fn secure(url: &str) -> Option<Uri> {
    let uri: Uri = url.parse().ok()?;
    let host = uri.host()?;
    let here =
        host == "localhost" || host.trim_matches(['[', ']']).parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback());
    match uri.scheme_str() {
        Some("https") => Some(uri),
        Some("http") if here => Some(uri),
        _ => None,
    }
}

/// The well-known name goes between the host and the path.
fn metadata_url(resource: &Uri) -> String {
    let scheme = resource.scheme_str().unwrap_or("https");
    let authority = resource.authority().map(ToString::to_string).unwrap_or_default();
    let path = resource.path().trim_end_matches('/');
    format!("{scheme}://{authority}{WELL_KNOWN}{path}")
}

/// Whether a path is one at which the server says something about itself.
pub(crate) fn is_metadata_path(path: &str) -> bool {
    path.strip_prefix(WELL_KNOWN).is_some_and(|rest| rest.is_empty() || rest == "/mcp" || rest == "/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_authorization_server_must_look_like() {
        let issuer = |issuer: &str, resource: &str, algorithms: &[&str]| Issuer {
            issuer: issuer.to_owned(),
            resource: resource.to_owned(),
            keys: KeySource::Metadata,
            algorithms: algorithms.iter().map(|name| (*name).to_owned()).collect(),
        };
        for (what, works) in [
            (issuer("https://id.example", "https://files.example/mcp", &[]), true),
            (issuer("http://127.0.0.1:9/", "http://localhost:8765/mcp", &["ES256", "PS512"]), true),
            (issuer("http://id.example", "https://files.example/mcp", &[]), false),
            (issuer("https://id.example", "files.example", &[]), false),
            (issuer("https://id.example", "https://files.example/mcp", &["HS256"]), false),
            (issuer("https://id.example", "https://files.example/mcp", &["none"]), false),
        ] {
            assert_eq!(OAuth::new(&what).is_ok(), works, "{what:?}");
        }
        let oauth = OAuth::new(&issuer("https://id.example", "https://files.example/a/mcp", &[])).expect("it works");
        assert_eq!(oauth.metadata_url(), "https://files.example/.well-known/oauth-protected-resource/a/mcp");
    }
}
