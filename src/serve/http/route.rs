//! Which part of the server answers a request, once it is clear that it may come in and who it is from.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use hyper::body::Incoming;
use hyper::header::{ALLOW, HeaderName, HeaderValue, ORIGIN, VARY, WWW_AUTHENTICATE};
use hyper::{Method, Request, StatusCode};
use tracing::Instrument as _;

use crate::rpc::principal::Principal;
use crate::serve::auth::{Auth, Challenge, is_metadata_path};
use crate::serve::guard::Guard;
use crate::serve::http::answer::{self, Reply};
use crate::serve::http::connections::Connections;
use crate::serve::http::endpoint::{Endpoint, Handled};
use crate::serve::http::io::Traffic;
use crate::serve::http::metrics::{self, Denied, Holds, Metrics};
use crate::serve::http::options::Renewed;
use crate::serve::http::plain::Plain;
use crate::serve::tls::Tls;

const PLAIN_TEXT: &str = "text/plain; charset=utf-8";

/// All that there is on this server.
pub(super) struct Site {
    pub(super) guard: Guard,
    pub(super) auth: RwLock<Arc<Auth>>,
    pub(super) tls: RwLock<Option<Tls>>,
    pub(super) endpoint: Endpoint,
    pub(super) plain: Arc<Plain>,
    pub(super) traffic: Arc<Traffic>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) connections: Arc<Connections>,
    /// So many requests may be answered at once.
    pub(super) most_requests: usize,
    /// Whether new work is welcome.
    pub(super) ready: AtomicBool,
}

impl Site {
    fn auth(&self) -> Arc<Auth> {
        Arc::clone(&self.auth.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// What new connections are shown, if they are to speak TLS.
    pub(super) fn tls(&self) -> Option<Tls> {
        self.tls.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Lets something else hold from now on. What was served in the clear stays so, and what was not too: clients would
    /// not find it any more.
    pub(super) fn renew(&self, Renewed { auth, tls }: Renewed) {
        *self.auth.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(auth);
        let mut shown = self.tls.write().unwrap_or_else(PoisonError::into_inner);
        if shown.is_some() && tls.is_some() {
            *shown = tls;
        }
    }

    /// Answers a request that came to the address `local`.
    pub(super) async fn answer(&self, request: Request<Incoming>, local: SocketAddr) -> Reply {
        let origin = match self.guard.admit(request.uri(), request.headers(), local.ip()) {
            Ok(origin) => origin.and_then(|origin| HeaderValue::from_str(origin).ok()),
            Err(refused) => {
                tracing::warn!(%refused, "a request was not let in");
                self.metrics.denied(Denied::Guard);
                return answer::refusal(refused.status(), refused);
            }
        };
        let preflight = origin.is_some() && request.method() == Method::OPTIONS;
        let mut reply = if preflight { allowed(&request) } else { self.admitted(request).await };
        // A page that may ask may also see what comes of it.
        if let Some(origin) = origin {
            let headers = reply.headers_mut();
            headers.insert("access-control-allow-origin", origin);
            headers.insert(
                "access-control-expose-headers",
                HeaderValue::from_static("mcp-session-id, www-authenticate, retry-after"),
            );
            headers.append(VARY, HeaderValue::from(ORIGIN));
        }
        reply
    }

    async fn admitted(&self, request: Request<Incoming>) -> Reply {
        let traceparent = request.headers().get("traceparent").and_then(|value| value.to_str().ok());
        let span = tracing::info_span!("request", method = %request.method(), path = request.uri().path(), traceparent);
        self.routed(request).instrument(span).await
    }

    async fn routed(&self, request: Request<Incoming>) -> Reply {
        match request.uri().path() {
            "/healthz" => only_get(&request, || answer::text(StatusCode::OK, PLAIN_TEXT, "ok\n")),
            "/readyz" => only_get(&request, || self.readiness()),
            path if is_metadata_path(path) && self.auth().metadata().is_some() => {
                only_get(&request, || self.metadata())
            }
            "/mcp" | "/rpc" | "/metrics" => match self.auth().principal(request.headers()).await {
                Ok(principal) => self.known(request, principal).await,
                Err(challenge) => {
                    self.metrics.denied(Denied::Token);
                    challenged(&challenge)
                }
            },
            path => answer::refusal(
                StatusCode::NOT_FOUND,
                format_args!("there is nothing at {path}; MCP is at /mcp, plain JSON-RPC at /rpc"),
            ),
        }
    }

    /// A request of somebody who may come in.
    async fn known(&self, request: Request<Incoming>, principal: Principal) -> Reply {
        let reply = match request.uri().path() {
            "/mcp" => match self.endpoint.handle(request, &principal).await {
                Handled::Reply(reply) => reply,
                Handled::Lacks(needed) => {
                    self.metrics.denied(Denied::Scope);
                    challenged(&self.auth().lacks(needed))
                }
            },
            "/rpc" => self.plain(request, principal).await,
            _ => only_get(&request, || self.measures()),
        };
        match reply.status() {
            StatusCode::TOO_MANY_REQUESTS => self.metrics.denied(Denied::Rate),
            StatusCode::SERVICE_UNAVAILABLE => self.metrics.denied(Denied::Busy),
            _ => {}
        }
        reply
    }

    fn measures(&self) -> Reply {
        let holds = Holds {
            received: self.traffic.received.load(Ordering::Relaxed),
            sent: self.traffic.sent.load(Ordering::Relaxed),
            sessions: self.endpoint.sessions.count(),
            connections: self.connections.count(),
            requests: self.most_requests.saturating_sub(self.endpoint.in_flight.available_permits()),
        };
        match self.metrics.text(&holds) {
            Ok(text) => answer::text(StatusCode::OK, metrics::KIND, text),
            Err(error) => answer::refusal(StatusCode::INTERNAL_SERVER_ERROR, error),
        }
    }

    fn metadata(&self) -> Reply {
        let metadata = self.auth().metadata().unwrap_or_default();
        answer::text(StatusCode::OK, "application/json", metadata.to_string())
    }

    async fn plain(&self, request: Request<Incoming>, principal: Principal) -> Reply {
        if self.endpoint.stopping.is_cancelled() {
            return answer::later(StatusCode::SERVICE_UNAVAILABLE, 1, "the server is about to end");
        }
        let Ok(_permit) = Arc::clone(&self.endpoint.in_flight).try_acquire_owned() else {
            return answer::later(StatusCode::SERVICE_UNAVAILABLE, 1, "too many requests at once; try again");
        };
        self.plain.handle(request, principal, &self.endpoint.bodies).await
    }

    fn readiness(&self) -> Reply {
        if self.ready.load(Ordering::Relaxed) && !self.endpoint.stopping.is_cancelled() {
            answer::text(StatusCode::OK, PLAIN_TEXT, "ready\n")
        } else {
            answer::text(StatusCode::SERVICE_UNAVAILABLE, PLAIN_TEXT, "about to end\n")
        }
    }

    /// No new work, and nobody listens any more.
    pub(super) fn stop(&self) {
        self.ready.store(false, Ordering::Relaxed);
        self.endpoint.stopping.cancel();
        // Who listens for news is told that no more come.
        self.endpoint.mcp.news().end();
        self.endpoint.sessions.end_listening();
        self.plain.stop();
    }
}

fn only_get(request: &Request<Incoming>, reply: impl FnOnce() -> Reply) -> Reply {
    if matches!(*request.method(), Method::GET | Method::HEAD) {
        return reply();
    }
    let mut reply = answer::refusal(StatusCode::METHOD_NOT_ALLOWED, "this is read by GET");
    reply.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
    reply
}

fn challenged(challenge: &Challenge) -> Reply {
    let mut reply = answer::refusal(challenge.status, challenge.why);
    if let Ok(header) = HeaderValue::from_str(&challenge.header) {
        reply.headers_mut().insert(WWW_AUTHENTICATE, header);
    }
    reply
}

/// What a browser asks before it lets a page ask.
fn allowed(request: &Request<Incoming>) -> Reply {
    const WANTED: HeaderName = HeaderName::from_static("access-control-request-headers");
    let mut reply = answer::empty(StatusCode::NO_CONTENT);
    let headers = reply.headers_mut();
    headers.insert("access-control-allow-methods", HeaderValue::from_static("GET, POST, DELETE"));
    if let Some(wanted) = request.headers().get(WANTED) {
        headers.insert("access-control-allow-headers", wanted.clone());
    }
    headers.insert("access-control-max-age", HeaderValue::from_static("600"));
    reply
}
