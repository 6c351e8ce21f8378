//! What an operator tells a server by signals, or a program by a token.

use tokio_util::sync::CancellationToken;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// How a server learns that it shall end.
pub(super) enum Ending {
    /// A program says so.
    Token(CancellationToken),
    /// SIGTERM or SIGINT.
    Signals(Signals),
}

impl Ending {
    /// From now on no signal ends the process by itself, if signals are to end the server.
    pub(super) fn new(stop: Option<CancellationToken>) -> Self {
        stop.map_or_else(|| Ending::Signals(Signals::ending()), Ending::Token)
    }

    /// Waits until it is asked to end.
    pub(super) async fn asked(&mut self) {
        match self {
            Ending::Token(stop) => stop.cancelled().await,
            Ending::Signals(signals) => signals.next().await,
        }
    }

    /// Waits until it is asked once more, by somebody who does not want to wait.
    pub(super) async fn asked_again(&mut self) {
        match self {
            Ending::Token(_) => std::future::pending().await,
            Ending::Signals(signals) => signals.next().await,
        }
    }
}

/// Signals that are waited for.
#[cfg(unix)]
pub(super) struct Signals(Vec<Signal>);

#[cfg(unix)]
impl Signals {
    fn ending() -> Self {
        Signals::of(&[SignalKind::terminate(), SignalKind::interrupt()])
    }

    /// The signal by which an operator has the configuration read again.
    pub(super) fn renewing() -> Self {
        Signals::of(&[SignalKind::hangup()])
    }

    fn of(kinds: &[SignalKind]) -> Self {
        Signals(kinds.iter().filter_map(|kind| signal(*kind).ok()).collect())
    }

    /// Waits for the next of them; for ever, if there can be none.
    pub(super) async fn next(&mut self) {
        if self.0.is_empty() {
            std::future::pending::<()>().await;
        }
        let arrivals = self.0.iter_mut().map(|signal| Box::pin(signal.recv()));
        futures_util::future::select_all(arrivals).await;
    }
}

/// Where there is nothing but an interrupt from the keyboard.
#[cfg(not(unix))]
pub(super) struct Signals {
    interrupt: bool,
}

#[cfg(not(unix))]
impl Signals {
    fn ending() -> Self {
        Signals { interrupt: true }
    }

    pub(super) fn renewing() -> Self {
        Signals { interrupt: false }
    }

    pub(super) async fn next(&mut self) {
        if !self.interrupt || tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
