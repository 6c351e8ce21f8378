//! `[http]`: who may come in over HTTP, and how much is served.

use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;

/// Serving over HTTP. What is left out is as built in; what the command line says stands over it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct HttpSection {
    /// Names, beside those of this machine, under which the server may be asked for: those that clients have in their
    /// URL, if a proxy stands before it.
    pub allow_hosts: Option<Vec<String>>,
    /// Pages, beside those of this machine, that may ask, such as `https://example.com`.
    pub allow_origins: Option<Vec<String>>,
    /// A file of tokens, one of which must come with each request. A line is `NAME TOKEN`, with `read` behind it for who
    /// may only look.
    pub token_file: Option<PathBuf>,
    /// Tokens of an OAuth authorization server, one of which must come with each request.
    pub oauth: Option<OAuthSection>,
    /// A certificate, for TLS.
    pub tls: Option<TlsSection>,
    /// Bytes of the body of one request.
    pub max_body_bytes: Option<NonZeroUsize>,
    /// Bytes of the head of one request.
    pub max_head_bytes: Option<NonZeroUsize>,
    /// So long the head of a request may take to come in. A connection on which none comes for so long is closed.
    pub head_timeout_ms: Option<NonZeroU64>,
    /// So long a body may take to come in.
    pub body_timeout_ms: Option<NonZeroU64>,
    /// So long a client may take nothing of what it is sent.
    pub write_timeout_ms: Option<NonZeroU64>,
    /// Connections at once.
    pub max_connections: Option<NonZeroUsize>,
    /// Requests that are answered at once.
    pub max_requests: Option<NonZeroUsize>,
    /// Sessions of clients that speak a revision before 2026-07-28.
    pub max_sessions: Option<NonZeroUsize>,
    /// So long a session lasts in which nothing happens.
    pub session_idle_ms: Option<NonZeroU64>,
    /// Calls that one principal may make in a minute; all if this is left out.
    pub calls_per_minute: Option<NonZeroU32>,
    /// After so long without a word a client is shown that the server is alive.
    pub keep_alive_ms: Option<NonZeroU64>,
    /// So long calls that are under way may take when the server is asked to end.
    pub stop_timeout_ms: Option<NonZeroU64>,
}

/// Tokens of an OAuth authorization server (RFC 9068, MCP authorization).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct OAuthSection {
    /// Who issues the tokens: the URL that stands in them as `iss`.
    pub issuer: String,
    /// Whom they must be for: the URL of this server as its clients have it, such as `https://files.example.com/mcp`.
    pub resource: String,
    /// Where the issuer's keys are, as a JSON Web Key Set. If this and `jwks_file` are left out, the issuer's metadata
    /// say it.
    #[serde(default)]
    pub jwks_url: Option<String>,
    /// A file with the issuer's keys, instead of a place to fetch them from.
    #[serde(default)]
    pub jwks_file: Option<PathBuf>,
    /// The algorithms that are accepted; RS256, ES256 and EdDSA if this is left out.
    #[serde(default)]
    pub algorithms: Option<Vec<Algorithm>>,
}

/// An algorithm for signatures, by public keys only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[allow(missing_docs, reason = "the names of RFC 7518 and RFC 8037 say it")]
pub enum Algorithm {
    RS256,
    RS384,
    RS512,
    PS256,
    PS384,
    PS512,
    ES256,
    ES384,
    EdDSA,
}

/// A certificate and its key.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct TlsSection {
    /// The certificate and those that lead to its root, as PEM.
    pub certificate: PathBuf,
    /// Its private key, as PEM.
    pub key: PathBuf,
}

impl HttpSection {
    /// This section, and where something is left out, that of `other`.
    pub(super) fn or(self, other: Self) -> Self {
        HttpSection {
            allow_hosts: self.allow_hosts.or(other.allow_hosts),
            allow_origins: self.allow_origins.or(other.allow_origins),
            token_file: self.token_file.or(other.token_file),
            oauth: self.oauth.or(other.oauth),
            tls: self.tls.or(other.tls),
            max_body_bytes: self.max_body_bytes.or(other.max_body_bytes),
            max_head_bytes: self.max_head_bytes.or(other.max_head_bytes),
            head_timeout_ms: self.head_timeout_ms.or(other.head_timeout_ms),
            body_timeout_ms: self.body_timeout_ms.or(other.body_timeout_ms),
            write_timeout_ms: self.write_timeout_ms.or(other.write_timeout_ms),
            max_connections: self.max_connections.or(other.max_connections),
            max_requests: self.max_requests.or(other.max_requests),
            max_sessions: self.max_sessions.or(other.max_sessions),
            session_idle_ms: self.session_idle_ms.or(other.session_idle_ms),
            calls_per_minute: self.calls_per_minute.or(other.calls_per_minute),
            keep_alive_ms: self.keep_alive_ms.or(other.keep_alive_ms),
            stop_timeout_ms: self.stop_timeout_ms.or(other.stop_timeout_ms),
        }
    }

    /// Files that are named from the folder of the configuration.
    pub(super) fn in_folder(mut self, folder: &Path) -> Self {
        let place = |file: PathBuf| folder.join(file);
        self.token_file = self.token_file.map(place);
        if let Some(oauth) = &mut self.oauth {
            oauth.jwks_file = oauth.jwks_file.take().map(place);
        }
        if let Some(tls) = &mut self.tls {
            tls.certificate = folder.join(&tls.certificate);
            tls.key = folder.join(&tls.key);
        }
        self
    }
}
