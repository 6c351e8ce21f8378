//! A connection's bytes: counted, and given up on where a client takes none of what is written for too long.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// Bytes that have come and gone.
#[derive(Debug, Default)]
pub(super) struct Traffic {
    pub(super) received: AtomicU64,
    pub(super) sent: AtomicU64,
}

/// A connection that is watched.
pub(super) struct Watched<S> {
    inner: S,
    traffic: Arc<Traffic>,
    patience: Duration,
    /// Runs as long as the client takes nothing.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl<S> Watched<S> {
    /// Gives up when nothing of what is written goes out for `patience`.
    pub(super) fn new(inner: S, traffic: Arc<Traffic>, patience: Duration) -> Self {
        Watched { inner, traffic, patience, stalled: None }
    }

    fn note(&mut self, context: &mut Context<'_>, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match written {
            Poll::Ready(written) => {
                self.stalled = None;
                if let Ok(count) = &written {
                    self.traffic.sent.fetch_add(*count as u64, Ordering::Relaxed);
                }
                Poll::Ready(written)
            }
            Poll::Pending => {
                let patience = self.patience;
                let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(patience)));
                match stalled.as_mut().poll(context) {
                    Poll::Ready(()) if stalled.deadline() <= Instant::now() => {
                        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client does not read")))
                    }
                    _ => Poll::Pending,
                }
            }
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.inner).poll_read(context, buffer);
        self.traffic.received.fetch_add((buffer.filled().len() - before) as u64, Ordering::Relaxed);
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write(context, bytes);
        self.note(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write_vectored(context, bytes);
        self.note(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}
