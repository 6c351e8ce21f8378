//! Who a request is from: nobody has to say where only this machine can connect; else a bearer token says it, from a
//! file or from an OAuth authorization server.

mod fetch;
mod keys;
mod oauth;
mod tokens;

use hyper::StatusCode;
use hyper::header::{AUTHORIZATION, HeaderMap};

pub(crate) use oauth::is_metadata_path;
pub use oauth::{Issuer, KeySource, OAuth, OAuthError};
pub use tokens::{TokenError, Tokens};

use crate::rpc::principal::{Access, Principal};

/// The longest token that is looked at.
const LONGEST: usize = 16 * 1024;

/// How it is found out who a request is from. Without any means whoever can connect is the person whose machine this is.
#[derive(Debug, Default)]
pub struct Auth {
    tokens: Option<Tokens>,
    oauth: Option<OAuth>,
}

/// A request is not let in, or not this far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Challenge {
    pub(crate) status: StatusCode,
    /// The value of `WWW-Authenticate`.
    pub(crate) header: String,
    pub(crate) why: &'static str,
}

impl Auth {
    /// Takes these tokens.
    #[must_use]
    pub fn with_tokens(mut self, tokens: Tokens) -> Self {
        self.tokens = Some(tokens);
        self
    }

    /// Takes the tokens of an authorization server.
    #[must_use]
    pub fn with_oauth(mut self, oauth: OAuth) -> Self {
        self.oauth = Some(oauth);
        self
    }

    /// Whether a request has to say who it is from.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.tokens.is_some() || self.oauth.is_some()
    }

    /// Who a request is from.
    pub(crate) async fn principal(&self, headers: &HeaderMap) -> Result<Principal, Challenge> {
        if !self.is_on() {
            return Ok(Principal::local());
        }
        let token = bearer(headers).map_err(|why| self.unauthorized(why))?;
        if let Some(principal) = self.tokens.as_ref().and_then(|tokens| tokens.principal(token)) {
            return Ok(principal);
        }
        let Some(oauth) = &self.oauth else { return Err(self.unauthorized(Why::Invalid)) };
        oauth.principal(token).await.map_err(|error| {
            tracing::info!(%error, "a token is not accepted");
            self.unauthorized(Why::Invalid)
        })
    }

    /// What the server says about how to get a token (RFC 9728), where there is something to say.
    pub(crate) fn metadata(&self) -> Option<serde_json::Value> {
        self.oauth.as_ref().map(OAuth::metadata)
    }

    /// What a principal is told who must be allowed more: all that is needed, so that whoever asks for more does not lose
    /// what they had.
    pub(crate) fn lacks(&self, needed: Access) -> Challenge {
        let scope = if needed == Access::Write { ALL_SCOPES } else { needed.scope() };
        Challenge {
            status: StatusCode::FORBIDDEN,
            header: format!("Bearer error=\"insufficient_scope\", scope=\"{scope}\"{}", self.whereabouts(", ")),
            why: "the token does not allow this",
        }
    }

    fn unauthorized(&self, why: Why) -> Challenge {
        let (error, why) = match why {
            Why::Missing => (None, "a bearer token is needed"),
            Why::Malformed => (Some("invalid_request"), "the header authorization must be: Bearer TOKEN"),
            Why::Invalid => (Some("invalid_token"), "the token is not one that is accepted"),
        };
        let mut header = "Bearer".to_owned();
        let mut separator = " ";
        if let Some(error) = error {
            header.push_str(&format!(" error=\"{error}\""));
            separator = ", ";
        }
        header.push_str(&self.whereabouts(separator));
        if self.oauth.is_some() {
            header.push_str(&format!(", scope=\"{ALL_SCOPES}\""));
        }
        Challenge { status: StatusCode::UNAUTHORIZED, header, why }
    }

    /// Where it is said how to get a token.
    fn whereabouts(&self, separator: &str) -> String {
        self.oauth
            .as_ref()
            .map(|oauth| format!("{separator}resource_metadata=\"{}\"", oauth.metadata_url()))
            .unwrap_or_default()
    }
}

/// All that there is to be allowed.
const ALL_SCOPES: &str = "files:read files:write";

/// Why nobody is known by a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    Missing,
    Malformed,
    Invalid,
}

fn bearer(headers: &HeaderMap) -> Result<&str, Why> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let value = match (values.next(), values.next()) {
        (None, _) => return Err(Why::Missing),
        (Some(value), None) => value.to_str().map_err(|_| Why::Malformed)?,
        (Some(_), Some(_)) => return Err(Why::Malformed),
    };
    let (scheme, token) = value.trim().split_once(' ').ok_or(Why::Malformed)?;
    let token = token.trim();
    if scheme.eq_ignore_ascii_case("bearer") && !token.is_empty() && !token.contains(' ') && token.len() <= LONGEST {
        Ok(token)
    } else {
        Err(Why::Malformed)
    }
}
