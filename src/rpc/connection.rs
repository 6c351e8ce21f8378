//! One client's stream of frames: which of its requests are under way, what it was asked, what it has negotiated.

mod client;

use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use bytestring::ByteString;
use futures_util::FutureExt;
use futures_util::future::join_all;
use jsonrpsee::core::middleware::{Notification, Request, RpcServiceT};
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use crate::rpc::call_params::{CallParams, CallSlot};
pub(crate) use crate::rpc::connection::client::Client;
use crate::rpc::context::{Arrival, ResultSlot};
use crate::rpc::era::LegacyVersion;
use crate::rpc::error::RpcError;
use crate::rpc::frame::{BadFrame, Frame, Wants};
use crate::rpc::id::RequestId;
use crate::rpc::principal::Principal;
use crate::rpc::reply::{self, Answer};
use crate::rpc::{Mcp, subscriptions};
use crate::tool::Effect;

/// How many lines in a row that are no message are answered. Two programs that answer each other's noise would go on for ever
/// (B138).
const JUNK_ANSWERED: u32 = 8;

/// Where frames go that are not the answer to a line: progress, questions, and answers that come later.
pub trait Outbox: Send + Sync {
    /// Sends one frame, without a line end.
    fn send(&self, frame: &str);

    /// Sends a frame that the client can do without, such as progress, unless too much waits already for a client that
    /// does not read.
    fn offer(&self, frame: &str) {
        self.send(frame);
    }

    /// Whether anything that is sent can arrive.
    fn reaches(&self) -> bool {
        true
    }
}

/// What became of a line.
pub enum Accepted {
    /// There is nothing to answer.
    Nothing,
    /// This is the answer.
    Answer(Answer),
    /// It is answered when this is done.
    Pending(Pending),
}

/// A request, or several, on the way; nothing comes of it if its caller takes it back. It may wait for a person, so it
/// must run in a Tokio runtime that has timers.
#[must_use = "nothing happens until it is awaited"]
pub struct Pending {
    answer: Pin<Box<dyn Future<Output = Option<Answer>> + Send>>,
    work: Work,
}

/// What is done for a message that is not answered at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// A tool runs.
    Tool {
        /// Its name.
        name: &'static str,
        /// It only looks: unless there is much to see, that is quick.
        light: bool,
    },
    /// Tools run: several, or one that is not quick to find out.
    Tools,
    /// No tool runs.
    NoTool,
}

impl Pending {
    /// What is done.
    pub fn work(&self) -> Work {
        self.work
    }
}

impl Future for Pending {
    type Output = Option<Answer>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Answer>> {
        self.answer.as_mut().poll(context)
    }
}

/// Whether calls that come one after the other on this connection are run in that order where they touch the same
/// files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// They are; the connection is one stream.
    Kept,
    /// They are not: whoever wants one call after the other waits for the answer.
    Free,
}

/// The server's end of one client's stream.
pub struct Connection {
    mcp: Mcp,
    client: Arc<Client>,
    order: Order,
    junk: AtomicU32,
}

impl Connection {
    /// A stream from `principal`, whose frames go to `outbox`.
    pub fn new(mcp: Mcp, principal: Principal, outbox: Arc<dyn Outbox>, order: Order) -> Self {
        let client = Client::new(principal, outbox);
        Connection { mcp, client: Arc::new(client), order, junk: AtomicU32::new(0) }
    }

    /// Takes one line, without its line end. No line can fail the connection.
    pub fn accept(&self, line: impl Into<Bytes>) -> Accepted {
        let line = line.into();
        if line.trim_ascii().is_empty() {
            return Accepted::Nothing;
        }
        let line = match ByteString::try_from(line) {
            Ok(line) => line,
            Err(error) => return self.refuse(BadFrame::not_utf8(error)),
        };
        match Frame::of(&line) {
            Ok(frame) => self.take(frame, Some(&line), &self.client.outbox),
            Err(bad) => self.refuse(bad),
        }
    }

    /// Takes one frame; what its requests send before they are answered goes to `outbox`.
    pub(crate) fn accept_frame(&self, frame: Frame<'_>, outbox: &Arc<dyn Outbox>) -> Accepted {
        self.take(frame, None, outbox)
    }

    /// Takes a frame, which may be a part of `line`.
    fn take(&self, frame: Frame<'_>, line: Option<&ByteString>, outbox: &Arc<dyn Outbox>) -> Accepted {
        match frame {
            Frame::Batch(frames) => self.batch(&frames, outbox),
            frame => {
                self.junk.store(0, Ordering::Relaxed);
                self.single(frame, line, outbox, self.order)
            }
        }
    }

    /// Whether its revision has batches; only 2025-03-26 does.
    pub fn takes_batches(&self) -> bool {
        self.client.legacy_version() == LegacyVersion::V2025_03_26
    }

    /// Whether its revision begins a stream of server-sent events with one that holds nothing (MCP 2025-11-25,
    /// basic/transports). Clients of earlier ones would try to read it.
    pub fn primes_streams(&self) -> bool {
        self.client.legacy_version() >= LegacyVersion::V2025_11_25
    }

    /// Who is on the other end.
    pub fn principal(&self) -> &Principal {
        &self.client.principal
    }

    /// Answers a line that was too long to be read.
    pub fn too_long(&self, limit: usize) -> Accepted {
        self.refuse(BadFrame::stray(format_args!("the line is longer than the {limit} bytes that are read")))
    }

    /// How many requests are under way.
    pub fn under_way(&self) -> usize {
        self.client.under_way().len()
    }

    /// Takes back everything that is under way.
    pub fn cancel_all(&self) {
        for (_, token) in self.client.under_way().drain() {
            token.cancel();
        }
    }

    /// The client says nothing more: what it was asked and has not answered counts as cancelled, and it is told no more
    /// news.
    pub fn hang_up(&self) {
        self.client.asked.close();
        self.client.listening.end();
        subscriptions::end(&self.mcp, &self.client);
    }

    fn single(&self, frame: Frame<'_>, line: Option<&ByteString>, outbox: &Arc<dyn Outbox>, order: Order) -> Accepted {
        match frame {
            Frame::Request { id, method, params } => {
                let call = params.filter(|_| method == "tools/call").and_then(|params| cut(params, line));
                match call {
                    Some(call) => self.request(id, &method, None, Some(call), outbox, order),
                    None => self.request(id, &method, params, None, outbox, order),
                }
            }
            Frame::Notification { method, params } => self.notification(&method, params),
            Frame::Response { id, result } => {
                if let Some(id) = id {
                    self.client.asked.answer(&id, result);
                }
                Accepted::Nothing
            }
            Frame::Batch(_) => Accepted::Nothing,
        }
    }

    fn request(
        &self,
        id: RequestId,
        method: &str,
        params: Option<&RawValue>,
        call: Option<CallParams>,
        outbox: &Arc<dyn Outbox>,
        order: Order,
    ) -> Accepted {
        let Some(cancel) = self.client.begin(&id) else {
            let error = RpcError::invalid_request("a request with this id is under way");
            return Accepted::Answer(reply::error(Some(&id), error));
        };
        let client = Arc::clone(&self.client);
        let mut request = Request::owned(method.to_owned(), params.map(ToOwned::to_owned), reply::PLACEHOLDER);
        let slot = ResultSlot::new(reply::head(&id));
        let waits = self.mcp.may_wait(method);
        let tool = call.as_ref().and_then(|call| call.name.clone());
        let ordered = order == Order::Kept;
        let place = match method {
            "tools/call" if ordered => Some(self.mcp.dispatcher.queue(tool.as_deref())),
            // It sees what the calls before it have done.
            "resources/read" if ordered => Some(self.mcp.dispatcher.queue_look()),
            _ => None,
        };
        let work = if waits { self.work(tool.as_deref()) } else { Work::NoTool };
        let (outbox, cancelled) = (Arc::clone(outbox), cancel.clone());
        let arrival = Arrival { client: Arc::clone(&client), outbox, id: Some(id.clone()), cancel: cancelled, place };
        request.extensions_mut().insert(arrival);
        request.extensions_mut().insert(slot.clone());
        if let Some(call) = call {
            request.extensions_mut().insert(CallSlot::new(call));
        }
        let answer = self.mcp.service.call(request);
        let mut pending = Box::pin(async move {
            let answer = cancel.run_until_cancelled(answer).await;
            let wanted = client.finish(&id, &cancel);
            answer.filter(|_| wanted).map(|answer| reply::frame(answer, &id, &slot))
        });
        // Only calls can take long. The others are answered here, so that a client which only looks around never
        // starts what is needed to run calls.
        match if waits { None } else { (&mut pending).now_or_never() } {
            Some(answer) => answer.map_or(Accepted::Nothing, Accepted::Answer),
            None => Accepted::Pending(Pending { answer: pending, work }),
        }
    }

    /// What the call of a tool is.
    fn work(&self, tool: Option<&str>) -> Work {
        let served = self.mcp.dispatcher.glance();
        tool.and_then(|name| served.registry.get(name)).map_or(Work::Tools, |tool| Work::Tool {
            name: tool.spec().name,
            light: tool.spec().effect == Effect::Reads,
        })
    }

    fn notification(&self, method: &str, params: Option<&RawValue>) -> Accepted {
        let mut notification = Notification::new(method.into(), params.map(Cow::Borrowed));
        let (client, outbox) = (Arc::clone(&self.client), Arc::clone(&self.client.outbox));
        let arrival = Arrival { client, outbox, id: None, cancel: CancellationToken::new(), place: None };
        notification.extensions_mut().insert(arrival);
        let handled = self.mcp.service.notification(notification);
        // Handlers of notifications never wait.
        handled.now_or_never();
        Accepted::Nothing
    }

    /// Only 2025-03-26 has batches; their answers come as one frame.
    fn batch(&self, frames: &[&RawValue], outbox: &Arc<dyn Outbox>) -> Accepted {
        if !self.takes_batches() || frames.is_empty() {
            return self.refuse(match frames {
                [] => BadFrame::stray("the batch is empty"),
                _ => BadFrame::request(None, "this protocol revision has no batches"),
            });
        }
        let accepted: Vec<_> = frames
            .iter()
            .map(|frame| match Frame::single(frame.get()) {
                Ok(frame) => self.single(frame, None, outbox, Order::Kept),
                Err(bad) if bad.wants == Wants::Nothing => Accepted::Nothing,
                Err(bad) => Accepted::Answer(reply::error(bad.id.as_ref(), bad.error)),
            })
            .collect();
        self.junk.store(0, Ordering::Relaxed);
        let answer = Box::pin(async move {
            let answers = join_all(accepted.into_iter().map(Accepted::settle)).await;
            let answers: Vec<_> = answers.into_iter().flatten().map(|answer| answer.frame).collect();
            (!answers.is_empty()).then(|| Answer { frame: format!("[{}]", answers.join(",")), error: None })
        });
        Accepted::Pending(Pending { answer, work: Work::Tools })
    }

    fn refuse(&self, bad: BadFrame) -> Accepted {
        tracing::warn!(error = %bad.error.message, "a message was refused");
        let answered = match bad.wants {
            Wants::Answer => true,
            Wants::Perhaps => self.junk.fetch_add(1, Ordering::Relaxed) < JUNK_ANSWERED,
            Wants::Nothing => false,
        };
        if answered { Accepted::Answer(reply::error(bad.id.as_ref(), bad.error)) } else { Accepted::Nothing }
    }
}

/// What a call is asked with, which is a part of `line` if there is one. What cannot be read so is refused later.
fn cut(params: &RawValue, line: Option<&ByteString>) -> Option<CallParams> {
    let text = params.get();
    let params = line.map_or_else(|| ByteString::from(text), |line| line.slice_ref(text));
    CallParams::read(&params).ok().filter(|_| text.starts_with('{'))
}

impl Accepted {
    async fn settle(self) -> Option<Answer> {
        match self {
            Accepted::Nothing => None,
            Accepted::Answer(answer) => Some(answer),
            Accepted::Pending(pending) => pending.await,
        }
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").field("under_way", &self.under_way()).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Pending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pending").field("work", &self.work).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Accepted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Accepted::Nothing => "Nothing",
            Accepted::Answer(_) => "Answer(..)",
            Accepted::Pending(_) => "Pending(..)",
        })
    }
}
