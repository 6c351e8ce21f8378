//! How to serve over HTTP: where, to whom, and how much.

use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::rpc::Mcp;
use crate::serve::auth::Auth;
use crate::serve::tls::Tls;

/// How to serve over HTTP. By default on this machine alone, and to whoever is on it.
#[non_exhaustive]
pub struct HttpOptions {
    /// Where to listen; port 0 takes a free one.
    pub address: SocketAddr,
    /// Who requests are from.
    pub auth: Auth,
    /// What the server shows to prove who it is; without it there is no TLS.
    pub tls: Option<Tls>,
    /// Names, beside those of this machine, under which the server may be asked for.
    pub allow_hosts: Vec<String>,
    /// Pages, beside those of this machine, that may ask, such as `https://example.com`.
    pub allow_origins: Vec<String>,
    /// How much is served.
    pub limits: HttpLimits,
    /// Is told where the server listens, once it does.
    pub on_ready: Option<Box<dyn FnOnce(SocketAddr) + Send>>,
    /// Reads the configuration again while the server runs.
    pub reload: Option<Box<dyn Reload>>,
    /// Ends the server when it is cancelled. Without one, SIGTERM and SIGINT do; with one, they are left to the program.
    pub stop: Option<CancellationToken>,
}

/// Reads the configuration again: on SIGHUP, and when it has changed.
pub trait Reload: Send + Sync {
    /// Whether there is something new to read.
    fn has_changed(&self) -> bool;

    /// Lets what is configured now hold for `mcp`.
    ///
    /// # Errors
    /// Why it cannot be; then everything stays as it is.
    fn reload(&self, mcp: &Mcp) -> Result<Renewed, String>;
}

/// What holds for new requests and connections after the configuration was read again.
#[derive(Debug, Default)]
pub struct Renewed {
    /// Who requests are from.
    pub auth: Auth,
    /// What the server shows to prove who it is.
    pub tls: Option<Tls>,
}

/// How much is served, and how long anything may take.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpLimits {
    /// The largest body of a request, in bytes.
    pub body_bytes: usize,
    /// The largest head of a request, in bytes.
    pub head_bytes: usize,
    /// How long the head of a request may take to come in. A connection on which none comes for so long is closed.
    pub head_time: Duration,
    /// How long a body may take to come in.
    pub body_time: Duration,
    /// How long a client may take nothing of what it is sent.
    pub write_time: Duration,
    /// Connections at once. The one that has been doing nothing for the longest time makes room.
    pub connections: usize,
    /// Requests that are answered at once.
    pub requests: usize,
    /// Sessions of legacy clients.
    pub sessions: usize,
    /// How long a session lasts in which nothing happens.
    pub session_idle: Duration,
    /// Calls that one principal may make in a minute; all, if this is left out.
    pub calls_a_minute: Option<NonZeroU32>,
    /// After so long without a word a client is shown that the server is alive.
    pub keep_alive: Duration,
    /// How long calls that are under way may take when the server is asked to end.
    pub stop_time: Duration,
}

impl Default for HttpLimits {
    fn default() -> Self {
        HttpLimits {
            body_bytes: 32 * 1024 * 1024,
            head_bytes: 32 * 1024,
            head_time: Duration::from_secs(30),
            body_time: Duration::from_secs(60),
            write_time: Duration::from_secs(60),
            connections: 4096,
            requests: 1024,
            sessions: 4096,
            session_idle: Duration::from_secs(30 * 60),
            calls_a_minute: None,
            keep_alive: Duration::from_secs(15),
            stop_time: Duration::from_secs(10),
        }
    }
}

/// Options that do not go together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// Whoever can connect would be in.
    #[error(
        "{0} can be reached from other machines, and nothing would say who may come in. Serve on 127.0.0.1, or let \
         clients show a token: --token-file FILE"
    )]
    Open(SocketAddr),
    /// A limit of nothing.
    #[error("the limit {0} must be more than 0")]
    Zero(&'static str),
}

impl HttpOptions {
    /// Whether the options go together.
    ///
    /// # Errors
    /// They do not.
    pub fn check(&self) -> Result<(), Refusal> {
        if !self.address.ip().to_canonical().is_loopback() && !self.auth.is_on() {
            return Err(Refusal::Open(self.address));
        }
        let limits = &self.limits;
        for (name, limit) in [
            ("body_bytes", limits.body_bytes),
            ("connections", limits.connections),
            ("requests", limits.requests),
            ("sessions", limits.sessions),
        ] {
            if limit == 0 {
                return Err(Refusal::Zero(name));
            }
        }
        Ok(())
    }
}

impl Default for HttpOptions {
    fn default() -> Self {
        HttpOptions::from(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))
    }
}

/// Everything else as it is by default.
impl From<SocketAddr> for HttpOptions {
    fn from(address: SocketAddr) -> Self {
        HttpOptions {
            address,
            auth: Auth::default(),
            tls: None,
            allow_hosts: Vec::new(),
            allow_origins: Vec::new(),
            limits: HttpLimits::default(),
            on_ready: None,
            reload: None,
            stop: None,
        }
    }
}

impl std::fmt::Debug for HttpOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpOptions").field("address", &self.address).field("auth", &self.auth).finish_non_exhaustive()
    }
}
