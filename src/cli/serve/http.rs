//! What the command line says about serving over HTTP.

use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr, ToSocketAddrs as _};
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use crate::config::{Config, HttpSection};
use crate::serve::auth::{Auth, TokenError, Tokens};
use crate::serve::http::{HttpLimits, HttpOptions};

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Over HTTP")]
pub(super) struct HttpArguments {
    /// Serve clients over HTTP at this address, such as 127.0.0.1:8765, instead of one on standard input and output. A
    /// port alone is one of this machine.
    #[arg(long = "http", value_name = "ADDR", value_parser = address)]
    address: Option<SocketAddr>,
    /// Let in only who shows a token from this file: a line is NAME TOKEN, with `read` behind it for who may only look.
    #[arg(long, value_name = "FILE", requires = "address")]
    token_file: Option<PathBuf>,
    /// A name, beside those of this machine, under which the server may be asked for.
    #[arg(long, value_name = "HOST", requires = "address")]
    allow_host: Vec<String>,
    /// Pages, beside those of this machine, that may ask, such as <https://example.com>.
    #[arg(long, value_name = "ORIGIN", requires = "address")]
    allow_origin: Vec<String>,
}

/// Serving over HTTP is not set up.
#[derive(Debug, thiserror::Error)]
pub(super) enum HttpError {
    #[error(transparent)]
    Tokens(#[from] TokenError),
    #[error(transparent)]
    Refused(#[from] crate::serve::http::Refusal),
}

impl HttpArguments {
    /// How to serve over HTTP, if that is wanted. What is said here stands over the configuration.
    pub(super) fn options(&self, config: &Config) -> Result<Option<HttpOptions>, HttpError> {
        let Some(address) = self.address else { return Ok(None) };
        let http = &config.http;
        let mut options = HttpOptions::from(address);
        if let Some(file) = self.token_file.as_ref().or(http.token_file.as_ref()) {
            options.auth = Auth::Tokens(Tokens::read(file)?);
        }
        options.allow_hosts = [http.allow_hosts.clone().unwrap_or_default(), self.allow_host.clone()].concat();
        options.allow_origins = [http.allow_origins.clone().unwrap_or_default(), self.allow_origin.clone()].concat();
        options.limits = limits(http);
        options.on_ready = Some(Box::new(announce));
        options.check()?;
        Ok(Some(options))
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

/// Says where the server is; a port that the system has chosen is known only now.
fn announce(address: SocketAddr) {
    // If nobody can read it, nobody needs it.
    let _ = writeln!(std::io::stderr(), "toolgate serves MCP at http://{address}/mcp");
}

fn address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(port) = text.parse::<u16>() {
        return Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    }
    let advice = |error: &dyn std::fmt::Display| format!("{error}; an address is IP:PORT, such as 127.0.0.1:8765");
    let mut found = text.to_socket_addrs().map_err(|error| advice(&error))?;
    found.next().ok_or_else(|| advice(&"it names nothing"))
}
