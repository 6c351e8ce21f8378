//! The bodies of HTTP messages: what is read is bounded in size and time, what is sent is whole or a stream of events.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt, Full};
use hyper::StatusCode;
use hyper::body::{Body as _, Frame, Incoming, SizeHint};
use jsonrpsee::server::HttpBody;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep, sleep_until, timeout};

use crate::serve::http::calls::CallGuard;
use crate::serve::http::connections::Busy;
use crate::serve::http::stream::Reader;

/// What may go wrong while a body is sent.
pub(super) type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The body of an answer, and what is in use as long as it is being sent.
pub(super) struct Body {
    content: Content,
    pub(super) busy: Option<Busy>,
}

enum Content {
    Whole(Full<Bytes>),
    Events(Box<Events>),
    Rpc(HttpBody),
}

impl Body {
    pub(super) fn whole(bytes: impl Into<Bytes>) -> Self {
        Body { content: Content::Whole(Full::new(bytes.into())), busy: None }
    }

    pub(super) fn events(events: Events) -> Self {
        Body { content: Content::Events(Box::new(events)), busy: None }
    }

    pub(super) fn rpc(body: HttpBody) -> Self {
        Body { content: Content::Rpc(body), busy: None }
    }
}

impl hyper::body::Body for Body {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match &mut self.content {
            Content::Whole(whole) => Pin::new(whole).poll_frame(context).map_err(|never| match never {}),
            Content::Events(events) => events.poll(context).map(|piece| piece.map(|piece| Ok(Frame::data(piece)))),
            Content::Rpc(body) => Pin::new(body).poll_frame(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.content {
            Content::Whole(whole) => whole.is_end_stream(),
            Content::Events(_) => false,
            Content::Rpc(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            Content::Whole(whole) => whole.size_hint(),
            Content::Events(_) => SizeHint::default(),
            Content::Rpc(body) => body.size_hint(),
        }
    }
}

/// A stream of events with signs of life in between.
pub(super) struct Events {
    first: Option<Bytes>,
    reader: Reader,
    every: Duration,
    next: Pin<Box<Sleep>>,
    /// Takes the call back when nobody reads any more.
    _guard: Option<CallGuard>,
    /// Tells the session when nobody reads any more.
    _reading: Option<Box<dyn Send>>,
}

impl Events {
    /// Reads from `reader`, with a comment after each `every` in which nothing came. `first` comes before all.
    pub(super) fn new(reader: Reader, every: Duration, first: Option<Bytes>) -> Self {
        let next = Box::pin(sleep_until(Instant::now() + every));
        Events { first, reader, every, next, _guard: None, _reading: None }
    }

    pub(super) fn guarded(mut self, guard: Option<CallGuard>) -> Self {
        self._guard = guard;
        self
    }

    pub(super) fn watched(mut self, reading: Box<dyn Send>) -> Self {
        self._reading = Some(reading);
        self
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(first));
        }
        if let Poll::Ready(piece) = self.reader.poll_next(context) {
            self.next.as_mut().reset(Instant::now() + self.every);
            return Poll::Ready(piece);
        }
        if self.next.as_mut().poll(context).is_ready() {
            self.next.as_mut().reset(Instant::now() + self.every);
            // The timer must know whom to wake the next time.
            let _ = self.next.as_mut().poll(context);
            return Poll::Ready(Some(Bytes::from_static(b":\n\n")));
        }
        Poll::Pending
    }
}

/// How much of a body is read, and how long that may take.
#[derive(Debug)]
pub(super) struct BodyLimits {
    /// The largest body, in bytes.
    pub(super) most: usize,
    /// How long it may take to come in.
    pub(super) time: Duration,
    /// How many bytes the bodies may have together that are being read or answered.
    pub(super) together: Arc<Semaphore>,
}

/// A body that was read, and its share of the memory for bodies.
pub(super) struct Read {
    pub(super) bytes: Bytes,
    /// Given back when the request has been answered.
    pub(super) _share: Vec<OwnedSemaphorePermit>,
}

/// Why a body is not read: the status, and what to tell the client.
pub(super) type Refused = (StatusCode, String);

impl BodyLimits {
    /// Reads a body to its end.
    pub(super) async fn read(&self, body: Incoming) -> Result<Read, Refused> {
        let too_large = || (StatusCode::PAYLOAD_TOO_LARGE, format!("a body may have at most {} bytes", self.most));
        if body.size_hint().lower() > self.most as u64 {
            return Err(too_large());
        }
        match timeout(self.time, self.gather(body)).await {
            Ok(Ok(Some(read))) => Ok(read),
            Ok(Ok(None)) => Err(too_large()),
            Ok(Err(refused)) => Err(refused),
            Err(_) => {
                let why = format!("the body did not come in within {} s", self.time.as_secs());
                Err((StatusCode::REQUEST_TIMEOUT, why))
            }
        }
    }

    async fn gather(&self, mut body: Incoming) -> Result<Option<Read>, Refused> {
        let mut share = Vec::new();
        let mut whole = Bytes::new();
        let mut pieces = BytesMut::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| (StatusCode::BAD_REQUEST, format!("the body broke off: {error}")))?;
            let Ok(piece) = frame.into_data() else { continue };
            let length = whole.len() + pieces.len() + piece.len();
            if length > self.most {
                return Ok(None);
            }
            if length > FREE && !piece.is_empty() {
                share.push(self.claim(piece.len())?);
            }
            if whole.is_empty() && pieces.is_empty() {
                whole = piece;
                continue;
            }
            if pieces.is_empty() {
                pieces.reserve(body.size_hint().lower().try_into().unwrap_or(0));
                pieces.extend_from_slice(&whole);
                whole = Bytes::new();
            }
            pieces.extend_from_slice(&piece);
        }
        Ok(Some(Read { bytes: if pieces.is_empty() { whole } else { pieces.freeze() }, _share: share }))
    }

    fn claim(&self, bytes: usize) -> Result<OwnedSemaphorePermit, Refused> {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        Arc::clone(&self.together)
            .try_acquire_many_owned(bytes)
            .map_err(|_| (StatusCode::SERVICE_UNAVAILABLE, "too many large requests at once; try again".to_owned()))
    }
}

/// Up to here nobody counts.
const FREE: usize = 64 * 1024;
