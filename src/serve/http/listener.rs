//! Accepts connections, serves each until it ends, and ends them all when the process is asked to end.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, RwLock};
use std::time::Duration;

use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::rpc::Mcp;
use crate::rpc::plain::PlainLayer;
use crate::serve::guard::Guard;
use crate::serve::http::body::BodyLimits;
use crate::serve::http::calls::Calls;
use crate::serve::http::connections::{Connections, Seat};
use crate::serve::http::endpoint::Endpoint;
use crate::serve::http::io::{Traffic, Watched};
use crate::serve::http::metrics::Metrics;
use crate::serve::http::options::{HttpLimits, HttpOptions, Reload};
use crate::serve::http::plain::Plain;
use crate::serve::http::rates::Rates;
use crate::serve::http::route::Site;
use crate::serve::http::sessions::Sessions;

/// How long to wait after the system has refused a connection, as it does when there are too many open files.
const BREATH: Duration = Duration::from_millis(50);

/// How often it is looked whether the configuration has changed.
const LOOK: Duration = Duration::from_secs(1);

/// How often sessions are looked through.
const SWEEP: Duration = Duration::from_secs(10);

/// So many bytes the larger bodies of requests may have together, in the multiples of one.
const BODIES: usize = 8;

/// Listens until the server is asked to end.
pub(super) async fn run(listener: TcpListener, mcp: Mcp, options: HttpOptions, calls: Calls) -> io::Result<()> {
    let address = listener.local_addr()?;
    let HttpOptions { auth, tls, allow_hosts, allow_origins, limits, on_ready, reload, stop, .. } = options;
    let renewing = mcp.clone();
    let connections = Arc::new(Connections::new(limits.connections));
    let stopping = CancellationToken::new();
    let patient = calls.patient().clone();
    let endpoint = endpoint(&mcp, &limits, &stopping, calls);
    let metrics = Arc::new(Metrics::new());
    mcp.tell(Arc::clone(&metrics) as _);
    let site = Arc::new_cyclic(|site: &std::sync::Weak<Site>| {
        let rates = site.clone();
        let admission = Arc::new(move |principal: &_| {
            rates.upgrade().map_or(Ok(()), |site| site.endpoint.rates.take(principal, 1))
        });
        Site {
            guard: Guard::new(&allow_hosts, &allow_origins),
            auth: RwLock::new(Arc::new(auth)),
            tls: RwLock::new(tls),
            plain: Arc::new(Plain::new(PlainLayer { mcp, admission, patient }, limits.connections, limits.body_bytes)),
            endpoint,
            traffic: Arc::new(Traffic::default()),
            metrics,
            connections: Arc::clone(&connections),
            most_requests: limits.requests.min(Semaphore::MAX_PERMITS),
            ready: AtomicBool::new(true),
        }
    });
    if let Some(on_ready) = on_ready {
        on_ready(address);
    }
    tracing::info!(%address, "listening");
    let sweeper = tokio::spawn(sweep(Arc::clone(&site)));
    let renewer = reload.map(|reload| tokio::spawn(renew(Arc::clone(&site), renewing, Arc::from(reload))));
    accept(&listener, &site, &limits, stop).await;
    // Nobody new; those who only listen are sent home, and those who wait for an answer get it.
    drop(listener);
    site.stop();
    if timeout(limits.stop_time, connections.emptied()).await.is_err() {
        tracing::warn!(connections = connections.count(), "some calls took too long to end");
    }
    sweeper.abort();
    if let Some(renewer) = renewer {
        renewer.abort();
    }
    Ok(())
}

fn endpoint(mcp: &Mcp, limits: &HttpLimits, stopping: &CancellationToken, calls: Calls) -> Endpoint {
    let together = limits.body_bytes.saturating_mul(BODIES).min(Semaphore::MAX_PERMITS);
    Endpoint {
        mcp: mcp.clone(),
        calls: Arc::new(calls),
        sessions: Sessions::new(limits.sessions, limits.session_idle),
        bodies: BodyLimits {
            most: limits.body_bytes,
            time: limits.body_time,
            together: Arc::new(Semaphore::new(together)),
        },
        in_flight: Arc::new(Semaphore::new(limits.requests.min(Semaphore::MAX_PERMITS))),
        rates: Rates::new(limits.calls_a_minute.map(Into::into)),
        beat: limits.keep_alive,
        stopping: stopping.clone(),
    }
}

async fn sweep(site: Arc<Site>) {
    let mut ticks = interval(SWEEP);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        site.endpoint.sessions.sweep();
    }
}

/// Reads the configuration again when somebody asks for that, and when it has changed.
async fn renew(site: Arc<Site>, mcp: Mcp, reload: Arc<dyn Reload>) {
    let mut ticks = interval(LOOK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut hangups = Hangups::new();
    loop {
        let asked = tokio::select! {
            () = hangups.next() => true,
            _ = ticks.tick() => false,
        };
        let (mcp, again) = (mcp.clone(), Arc::clone(&reload));
        let renewed = tokio::task::spawn_blocking(move || (asked || again.has_changed()).then(|| again.reload(&mcp)));
        match renewed.await {
            Ok(Some(Ok(renewed))) => {
                site.renew(renewed);
                tracing::info!("the configuration was read again");
            }
            Ok(Some(Err(error))) => {
                tracing::error!(%error, "the configuration cannot be read again; all stays as it is")
            }
            Ok(None) | Err(_) => {}
        }
    }
}

/// The signals by which an operator asks for that.
struct Hangups {
    #[cfg(unix)]
    signal: Option<tokio::signal::unix::Signal>,
}

impl Hangups {
    fn new() -> Self {
        Hangups {
            #[cfg(unix)]
            signal: tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup()).ok(),
        }
    }

    #[cfg(unix)]
    async fn next(&mut self) {
        let came = match &mut self.signal {
            Some(signal) => signal.recv().await,
            None => None,
        };
        if came.is_none() {
            std::future::pending().await
        }
    }

    #[cfg(not(unix))]
    async fn next(&mut self) {
        std::future::pending().await
    }
}

/// Accepts until the server is asked to end.
async fn accept(listener: &TcpListener, site: &Arc<Site>, limits: &HttpLimits, stop: Option<CancellationToken>) {
    let mut asked_to_end = pin!(async {
        match stop {
            Some(stop) => stop.cancelled().await,
            None => signalled().await,
        }
    });
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut asked_to_end => return,
        };
        match accepted {
            Ok((socket, peer)) => match site.connections.admit() {
                Some(seat) => {
                    tokio::spawn(serve(socket, peer, Arc::clone(site), seat, limits.clone()));
                }
                None => tracing::warn!(%peer, "all connections are busy; one more is refused"),
            },
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                sleep(BREATH).await;
            }
        }
    }
}

/// Serves one connection until it ends.
async fn serve(socket: TcpStream, peer: SocketAddr, site: Arc<Site>, seat: Seat, limits: HttpLimits) {
    // Answers are small and must not wait for more.
    if let Err(error) = socket.set_nodelay(true) {
        tracing::debug!(%error, %peer, "a connection has ended before it began");
        return;
    }
    let Ok(local) = socket.local_addr() else { return };
    let socket = Watched::new(socket, Arc::clone(&site.traffic), limits.write_time);
    let Some(tls) = site.tls() else { return converse(socket, peer, local, site, seat, limits).await };
    let secured = tokio::select! {
        secured = timeout(limits.head_time, tls.acceptor().accept(socket)) => secured,
        () = seat.evicted() => return,
        () = site.endpoint.stopping.cancelled() => return,
    };
    match secured {
        Ok(Ok(secured)) => converse(secured, peer, local, site, seat, limits).await,
        Ok(Err(error)) => tracing::debug!(%error, %peer, "no TLS was agreed on"),
        Err(_) => tracing::debug!(%peer, "it took too long to agree on TLS"),
    }
}

/// Answers the requests of a connection.
async fn converse(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    peer: SocketAddr,
    local: SocketAddr,
    site: Arc<Site>,
    seat: Seat,
    limits: HttpLimits,
) {
    let stopping = site.endpoint.stopping.clone();
    let io = TokioIo::new(stream);
    let seat = Arc::new(seat);
    let service = {
        let seat = Arc::clone(&seat);
        service_fn(move |request: Request<Incoming>| {
            let (site, busy) = (Arc::clone(&site), seat.busy());
            async move {
                let mut reply = site.answer(request, local).await;
                reply.body_mut().busy = Some(busy);
                Ok::<_, Infallible>(reply)
            }
        })
    };
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits.head_time).max_header_size(limits.head_bytes);
    let mut connection = pin!(http.serve_connection(io, service).with_upgrades());
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = seat.evicted() => return,
        () = stopping.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, %peer, "a connection has ended");
    }
}

#[cfg(unix)]
async fn signalled() {
    use tokio::signal::unix::{SignalKind, signal};

    let kinds = [SignalKind::terminate(), SignalKind::interrupt()];
    let signals: Vec<_> = kinds.into_iter().filter_map(|kind| signal(kind).ok()).collect();
    let arrivals = signals.into_iter().map(|mut signal| Box::pin(async move { signal.recv().await }));
    futures_util::future::select_all(arrivals).await;
}

#[cfg(not(unix))]
async fn signalled() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
