//! What the command line says about serving over HTTP.

use std::net::{Ipv4Addr, SocketAddr, ToSocketAddrs as _};
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use tracing::Level;

use crate::cli::logs::say;
use crate::config::{Config, HttpSection, OAuthSection};
use crate::serve::auth::{Auth, Issuer, KeySource, OAuth, OAuthError, TokenError, Tokens};
use crate::serve::http::{HttpLimits, HttpOptions, Renewed};
use crate::serve::tls::{Tls, TlsError};

#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Over HTTP")]
pub(super) struct HttpArguments {
    /// Serve clients over HTTP at this address, such as 127.0.0.1:8765, instead of one on standard input and output. A
    /// port alone is one of this machine.
    #[arg(long = "http", value_name = "ADDR", value_parser = address)]
    address: Option<SocketAddr>,
    /// Let in only who shows a token from this file: a line is NAME TOKEN, with `read` behind it for who may only look.
    #[arg(long, value_name = "FILE", requires = "address")]
    token_file: Option<PathBuf>,
    /// A certificate, with those that lead to its root, as PEM: TLS is spoken then.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The private key of the certificate, as PEM.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// A name, beside those of this machine, under which the server may be asked for.
    #[arg(long, value_name = "HOST", requires = "address")]
    allow_host: Vec<String>,
    /// Pages, beside those of this machine, that may ask, such as `https://example.com`.
    #[arg(long, value_name = "ORIGIN", requires = "address")]
    allow_origin: Vec<String>,
}

/// Serving over HTTP is not set up.
#[derive(Debug, thiserror::Error)]
pub(super) enum HttpError {
    #[error(transparent)]
    Tokens(#[from] TokenError),
    #[error(transparent)]
    OAuth(#[from] OAuthError),
    #[error(transparent)]
    Tls(#[from] TlsError),
    #[error(transparent)]
    Refused(#[from] crate::serve::http::Refusal),
}

impl HttpArguments {
    /// How to serve over HTTP, if that is wanted. What is said here stands over the configuration.
    pub(super) fn options(&self, config: &Config) -> Result<Option<HttpOptions>, HttpError> {
        let Some(address) = self.address else { return Ok(None) };
        let http = &config.http;
        let mut options = HttpOptions::from(address);
        let Renewed { auth, tls } = self.renewed(http)?;
        (options.auth, options.tls) = (auth, tls);
        options.allow_hosts = [http.allow_hosts.clone().unwrap_or_default(), self.allow_host.clone()].concat();
        options.allow_origins = [http.allow_origins.clone().unwrap_or_default(), self.allow_origin.clone()].concat();
        options.limits = limits(http);
        let scheme = if options.tls.is_some() { "https" } else { "http" };
        options.on_ready = Some(Box::new(move |address| announce(scheme, address)));
        options.check()?;
        Ok(Some(options))
    }

    /// What is read again while the server runs.
    pub(super) fn renewed(&self, http: &HttpSection) -> Result<Renewed, HttpError> {
        let mut auth = Auth::default();
        if let Some(file) = self.token_file.as_ref().or(http.token_file.as_ref()) {
            auth = auth.with_tokens(Tokens::read(file)?);
        }
        if let Some(oauth) = &http.oauth {
            auth = auth.with_oauth(OAuth::new(&issuer(oauth))?);
        }
        Ok(Renewed { auth, tls: self.tls(http)? })
    }

    /// Whether whoever can connect is not only whoever is at this machine.
    pub(super) fn needs_auth(&self) -> bool {
        self.address.is_some_and(|address| !address.ip().to_canonical().is_loopback())
    }

    /// The files that say who may come in and who the server is.
    pub(super) fn files(&self, http: &HttpSection) -> Vec<PathBuf> {
        let token = self.token_file.clone().or_else(|| http.token_file.clone());
        let keys = http.oauth.as_ref().and_then(|oauth| oauth.jwks_file.clone());
        let tls = match (&self.tls_cert, &self.tls_key, &http.tls) {
            (Some(certificate), Some(key), _) => vec![certificate.clone(), key.clone()],
            (_, _, Some(files)) => vec![files.certificate.clone(), files.key.clone()],
            _ => Vec::new(),
        };
        token.into_iter().chain(keys).chain(tls).collect()
    }

    fn tls(&self, http: &HttpSection) -> Result<Option<Tls>, TlsError> {
        match (&self.tls_cert, &self.tls_key, &http.tls) {
            (Some(certificate), Some(key), _) => Tls::read(certificate, key).map(Some),
            (_, _, Some(files)) => Tls::read(&files.certificate, &files.key).map(Some),
            _ => Ok(None),
        }
    }
}

/// The limits that are given, in the place of those that are built in.
fn limits(http: &HttpSection) -> HttpLimits {
    fn put<T>(place: &mut T, value: Option<T>) {
        if let Some(value) = value {
            *place = value;
        }
    }
    let time = |ms: NonZeroU64| Duration::from_millis(ms.get());
    let mut limits = HttpLimits::default();
    put(&mut limits.body_bytes, http.max_body_bytes.map(NonZeroUsize::get));
    put(&mut limits.head_bytes, http.max_head_bytes.map(NonZeroUsize::get));
    put(&mut limits.head_time, http.head_timeout_ms.map(time));
    put(&mut limits.body_time, http.body_timeout_ms.map(time));
    put(&mut limits.write_time, http.write_timeout_ms.map(time));
    put(&mut limits.connections, http.max_connections.map(NonZeroUsize::get));
    put(&mut limits.requests, http.max_requests.map(NonZeroUsize::get));
    put(&mut limits.sessions, http.max_sessions.map(NonZeroUsize::get));
    put(&mut limits.session_idle, http.session_idle_ms.map(time));
    put(&mut limits.keep_alive, http.keep_alive_ms.map(time));
    put(&mut limits.stop_time, http.stop_timeout_ms.map(time));
    limits.calls_a_minute = http.calls_per_minute;
    limits
}

fn issuer(oauth: &OAuthSection) -> Issuer {
    let keys = match (&oauth.jwks_file, &oauth.jwks_url) {
        (Some(file), _) => KeySource::File(file.clone()),
        (None, Some(url)) => KeySource::Url(url.clone()),
        (None, None) => KeySource::Metadata,
    };
    let algorithms = oauth.algorithms.iter().flatten().map(|algorithm| format!("{algorithm:?}")).collect();
    Issuer { issuer: oauth.issuer.clone(), resource: oauth.resource.clone(), keys, algorithms }
}

/// Says where the server is; a port that the system has chosen is known only now.
fn announce(scheme: &str, address: SocketAddr) {
    let url = format!("{scheme}://{address}/mcp");
    say(Level::INFO, &format!("toolgate serves MCP at {url}"), &[("url", url.into())]);
}

fn address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(port) = text.parse::<u16>() {
        return Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    }
    let advice = |error: &dyn std::fmt::Display| format!("{error}; an address is IP:PORT, such as 127.0.0.1:8765");
    let mut found = text.to_socket_addrs().map_err(|error| advice(&error))?;
    found.next().ok_or_else(|| advice(&"it names nothing"))
}
