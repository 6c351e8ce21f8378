//! `/mcp`: Streamable HTTP, both eras on one endpoint (MCP 2026-07-28 and 2025-11-25, basic/transports).

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::{ACCEPT, ALLOW, CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::{Method, Request, StatusCode};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::rpc::connection::{Accepted, Connection, Order, Outbox};
use crate::rpc::frame::Frame;
use crate::rpc::headers::{Headers, Sent};
use crate::rpc::post::{self, Posted};
use crate::rpc::principal::{Access, Principal};
use crate::rpc::{Answer, Mcp};
use crate::serve::http::answer::{self, Reply, SESSION_ID};
use crate::serve::http::body::{BodyLimits, Events};
use crate::serve::http::calls::{Begun, CallGuard, Calls};
use crate::serve::http::rates::Rates;
use crate::serve::http::sessions::{Full, Session, Sessions};
use crate::serve::http::stream::{Keeping, Overflow, Stream, StreamOutbox, parse_event_id};

/// How long a client should wait before it comes back to a stream, in milliseconds.
const RETRY_MS: u64 = 1000;

/// After so many seconds a request that found no room may be tried again.
const SOON: u64 = 1;

/// The endpoint, and all that it needs.
pub(super) struct Endpoint {
    pub(super) mcp: Mcp,
    pub(super) calls: Arc<Calls>,
    pub(super) sessions: Sessions,
    pub(super) bodies: BodyLimits,
    /// Requests that may be answered at the same time.
    pub(super) in_flight: Arc<Semaphore>,
    pub(super) rates: Rates,
    /// After so long without a word a client is shown that the server is alive.
    pub(super) beat: Duration,
    /// The server is about to end.
    pub(super) stopping: CancellationToken,
}

/// What comes of a request.
pub(super) enum Handled {
    Reply(Reply),
    /// The principal must be allowed more.
    Lacks(Access),
}

/// In which forms a client takes an answer.
#[derive(Debug, Clone, Copy)]
struct Accepts {
    json: bool,
    events: bool,
}

impl Accepts {
    fn read(headers: &HeaderMap) -> Self {
        let mut accepts = Accepts { json: false, events: false };
        let values = headers.get_all(ACCEPT);
        if values.iter().next().is_none() {
            return Accepts { json: true, events: true };
        }
        let ranges = values.iter().filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
        for range in ranges {
            let kind = range.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
            accepts.json |= matches!(kind.as_str(), "application/json" | "application/*" | "*/*");
            accepts.events |= matches!(kind.as_str(), "text/event-stream" | "text/*" | "*/*");
        }
        accepts
    }
}

/// The headers of a request as the JSON-RPC side wants them.
struct View<'a>(&'a HeaderMap);

impl Headers for View<'_> {
    fn sent(&self, name: &str) -> Sent<'_> {
        let mut values = self.0.get_all(name).iter();
        match (values.next(), values.next()) {
            (None, _) => Sent::Nothing,
            (Some(value), None) => Sent::Once(value.as_bytes().trim_ascii()),
            (Some(_), Some(_)) => Sent::Repeatedly,
        }
    }
}

impl Endpoint {
    pub(super) async fn handle(&self, request: Request<Incoming>, principal: &Principal) -> Handled {
        let method = request.method();
        if method == Method::POST {
            return self.post(request, principal).await;
        }
        if (method != Method::GET && method != Method::DELETE) || post::says_modern(&View(request.headers())) {
            let modern = post::says_modern(&View(request.headers()));
            let mut reply = answer::refusal(StatusCode::METHOD_NOT_ALLOWED, "a message is sent by POST");
            let allowed = if modern { "POST" } else { "POST, GET, DELETE" };
            reply.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
            return Handled::Reply(reply);
        }
        let session = match self.session(request.headers(), principal, None) {
            Ok(session) => session,
            Err(reply) => return Handled::Reply(reply),
        };
        Handled::Reply(if method == Method::GET {
            self.listen(request.headers(), &session)
        } else {
            self.sessions.close(&session);
            answer::empty(StatusCode::NO_CONTENT)
        })
    }

    async fn post(&self, request: Request<Incoming>, principal: &Principal) -> Handled {
        let (parts, body) = request.into_parts();
        let accepts = Accepts::read(&parts.headers);
        if let Some(reply) = self.refuse_unread(&parts.headers, accepts) {
            return Handled::Reply(reply);
        }
        let Ok(permit) = Arc::clone(&self.in_flight).try_acquire_owned() else {
            let why = "too many requests at once; try again";
            return Handled::Reply(answer::later(StatusCode::SERVICE_UNAVAILABLE, SOON, why));
        };
        let read = match self.bodies.read(body).await {
            Ok(read) => read,
            Err((status @ StatusCode::SERVICE_UNAVAILABLE, why)) => {
                return Handled::Reply(answer::later(status, SOON, why));
            }
            Err((status, why)) => return Handled::Reply(answer::refusal(status, why)),
        };
        let bytes = read.bytes.clone();
        let posted = match post::read(&self.mcp, &bytes, &View(&parts.headers)) {
            Ok(posted) => posted,
            Err(refused) => return Handled::Reply(answer::json(answer::modern_status(&refused), refused)),
        };
        let (Posted::Modern(frame) | Posted::Legacy { frame, .. }) = &posted else {
            return Handled::Reply(answer::accepted());
        };
        let needed = post::needed(&self.mcp, frame);
        if needed > principal.access {
            return Handled::Lacks(needed);
        }
        if let Err(seconds) = self.rates.take(principal, post::calls(frame)) {
            let why = format!("{} makes too many calls; the next may come in {seconds} s", principal.name);
            return Handled::Reply(answer::later(StatusCode::TOO_MANY_REQUESTS, seconds, why));
        }
        Handled::Reply(match posted {
            Posted::ModernNotification => answer::accepted(),
            Posted::Modern(frame) => self.modern(frame, accepts, principal, (permit, read)).await,
            Posted::Legacy { frame, opens: true } => self.open(frame, principal),
            Posted::Legacy { frame, opens: false } => match self.session(&parts.headers, principal, Some(&frame)) {
                Ok(session) => self.legacy(frame, accepts, session, (permit, read)).await,
                Err(reply) => reply,
            },
        })
    }

    /// What is refused before the body is read.
    fn refuse_unread(&self, headers: &HeaderMap, accepts: Accepts) -> Option<Reply> {
        let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        if !kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json") {
            let why = "the body must be application/json";
            return Some(answer::refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, why));
        }
        if !accepts.json && !accepts.events {
            let why = "the header accept must allow application/json and text/event-stream";
            return Some(answer::refusal(StatusCode::NOT_ACCEPTABLE, why));
        }
        self.stopping
            .is_cancelled()
            .then(|| answer::later(StatusCode::SERVICE_UNAVAILABLE, SOON, "the server is about to end"))
    }

    /// A request of the stateless era: all that belongs to it ends with it, and it with its connection.
    async fn modern(
        &self,
        frame: Frame<'_>,
        accepts: Accepts,
        principal: &Principal,
        held: impl Send + 'static,
    ) -> Reply {
        let stream = Arc::new(Stream::new(Keeping::Once, Overflow::Ends));
        let outbox: Arc<dyn Outbox> = Arc::new(StreamOutbox { stream: Arc::clone(&stream), reaches: accepts.events });
        // Who only listens is no work; there may be as many of them as there are connections.
        let held = if is_listening(&frame) { None } else { Some(held) };
        let connection = Connection::new(self.mcp.clone(), principal.clone(), Arc::clone(&outbox), Order::Free);
        let guard = match connection.accept_frame(frame, &outbox) {
            Accepted::Nothing => return answer::accepted(),
            Accepted::Answer(answer) => {
                stream.finish(Some(answer));
                None
            }
            Accepted::Pending(pending) => match self.calls.run(pending, &stream, held) {
                Begun::Done(answer) => {
                    stream.finish(answer);
                    None
                }
                Begun::Running(task) => Some(CallGuard::new(connection, task)),
            },
        };
        match self.lone_answer(&stream, accepts).await {
            Some(answer) => answer::json(answer::modern_status(&answer), answer),
            None if stream.is_silent() => answer::accepted(),
            None => answer::events(Events::new(stream.read(None), self.beat, None).guarded(guard)),
        }
    }

    /// A message of a session. What it asks for is done whether or not its connection lasts.
    async fn legacy(
        &self,
        frame: Frame<'_>,
        accepts: Accepts,
        session: Arc<Session>,
        held: impl Send + 'static,
    ) -> Reply {
        if matches!(frame, Frame::Batch(_)) && !session.connection.takes_batches() {
            return answer::refusal(StatusCode::BAD_REQUEST, "this protocol revision has no batches");
        }
        let (number, stream) = session.stream();
        let outbox: Arc<dyn Outbox> = Arc::new(StreamOutbox { stream: Arc::clone(&stream), reaches: accepts.events });
        match session.connection.accept_frame(frame, &outbox) {
            Accepted::Nothing => return answer::accepted(),
            Accepted::Answer(answer) => stream.finish(Some(answer)),
            Accepted::Pending(pending) => match self.calls.run(pending, &stream, (held, session.active())) {
                Begun::Done(answer) => stream.finish(answer),
                Begun::Running(_) => {}
            },
        }
        match self.lone_answer(&stream, accepts).await {
            Some(answer) => answer::json(legacy_status(&answer), answer),
            None if stream.is_silent() => answer::accepted(),
            None => {
                session.keep(number, &stream);
                let first = session.connection.primes_streams().then(|| stream.beginning(RETRY_MS)).flatten();
                let events = Events::new(stream.read(None), self.beat, first);
                answer::events(events.watched(Box::new(session.active())))
            }
        }
    }

    /// The answer, if that is all that the client gets; nothing if it must be events, since more came or it takes so
    /// long that the client should see that something is going on.
    async fn lone_answer(&self, stream: &Stream, accepts: Accepts) -> Option<Answer> {
        let something = poll_fn(|context| stream.poll_something(context));
        if accepts.events {
            // That the time is up is as good as an event.
            let _ = tokio::time::timeout(self.beat, something).await;
        } else {
            something.await;
        }
        if accepts.json { stream.take_lone_answer() } else { None }
    }

    /// The handshake of a legacy client.
    fn open(&self, frame: Frame<'_>, principal: &Principal) -> Reply {
        let session = match self.sessions.prepare(&self.mcp, principal) {
            Ok(session) => session,
            Err(error) => return answer::refusal(StatusCode::INTERNAL_SERVER_ERROR, error),
        };
        let outbox: Arc<dyn Outbox> = Arc::new(StreamOutbox { stream: session.stream().1, reaches: false });
        let Accepted::Answer(hello) = session.connection.accept_frame(frame, &outbox) else {
            return answer::refusal(StatusCode::INTERNAL_SERVER_ERROR, "initialize was not answered");
        };
        let id = HeaderValue::from_str(&session.id);
        let mut reply = answer::json(legacy_status(&hello), hello.clone());
        if hello.error.is_none()
            && let Ok(id) = id
        {
            if let Err(Full) = self.sessions.open(session) {
                return answer::later(StatusCode::SERVICE_UNAVAILABLE, SOON, "there are too many sessions");
            }
            reply.headers_mut().insert(SESSION_ID, id);
        }
        reply
    }

    /// The session that a request names.
    fn session(
        &self,
        headers: &HeaderMap,
        principal: &Principal,
        frame: Option<&Frame<'_>>,
    ) -> Result<Arc<Session>, Reply> {
        let refuse = |status, why: &str| match frame {
            Some(frame) => Err(answer::json(status, post::refusal(frame, why))),
            None => Err(answer::refusal(status, why)),
        };
        match View(headers).sent(SESSION_ID.as_str()) {
            Sent::Nothing => refuse(
                StatusCode::BAD_REQUEST,
                "the header mcp-session-id is missing; a session begins with initialize (MCP until 2025-11-25)",
            ),
            Sent::Repeatedly => refuse(StatusCode::BAD_REQUEST, "the header mcp-session-id is there more than once"),
            Sent::Once(id) => {
                let session = std::str::from_utf8(id).ok().and_then(|id| self.sessions.find(id, principal));
                let ended = "there is no such session any more; begin one with initialize";
                session.map_or_else(|| refuse(StatusCode::NOT_FOUND, ended), Ok)
            }
        }
    }

    /// The stream of what belongs to no request, or one whose connection broke.
    fn listen(&self, headers: &HeaderMap, session: &Arc<Session>) -> Reply {
        if !Accepts::read(headers).events {
            return answer::refusal(StatusCode::NOT_ACCEPTABLE, "a stream is text/event-stream");
        }
        if self.stopping.is_cancelled() {
            return answer::later(StatusCode::SERVICE_UNAVAILABLE, SOON, "the server is about to end");
        }
        let last = headers.get("last-event-id").and_then(|id| id.to_str().ok()).filter(|id| !id.is_empty());
        let (reader, first) = match last {
            None => {
                let beginning = session.connection.primes_streams().then(|| session.general().beginning(RETRY_MS));
                (session.listen(), beginning.flatten())
            }
            Some(last) => match parse_event_id(last).and_then(|(stream, number)| session.resume(stream, number)) {
                Some(reader) => (reader, None),
                None => {
                    return answer::refusal(
                        StatusCode::BAD_REQUEST,
                        "the stream of that event is not kept any more; make the request anew",
                    );
                }
            },
        };
        let events = Events::new(reader, self.beat, first);
        answer::events(events.watched(Box::new(session.active())))
    }
}

fn is_listening(frame: &Frame<'_>) -> bool {
    matches!(frame, Frame::Request { method, .. } if method == "subscriptions/listen")
}

/// In sessions the status is about the transport: only what is no message at all is a bad request.
fn legacy_status(answer: &Answer) -> StatusCode {
    match answer.error {
        Some(-32700 | -32600) => StatusCode::BAD_REQUEST,
        Some(_) | None => StatusCode::OK,
    }
}
