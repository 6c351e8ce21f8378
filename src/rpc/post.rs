//! A message that came as the body of an HTTP POST: the era it belongs to, and whether its headers say the same.
//!
//! The body decides and the headers are held against it (MCP 2026-07-28, basic/versioning and
//! basic/transports/streamable-http). What says that it is modern, but is not well formed, is refused and never taken
//! for a legacy message.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::rpc::Mcp;
use crate::rpc::era::{LegacyVersion, MODERN, Meta};
use crate::rpc::error::RpcError;
use crate::rpc::frame::Frame;
use crate::rpc::headers::{self, Headers};
use crate::rpc::id::RequestId;
use crate::rpc::principal::Access;
use crate::rpc::reply::{self, Answer};

/// What was posted.
#[derive(Debug)]
pub(crate) enum Posted<'a> {
    /// A request that is served by itself.
    Modern(Frame<'a>),
    /// A notification of the stateless era. It has no way to say anything there that matters here.
    ModernNotification,
    /// A message of a session.
    Legacy {
        /// The message, which may be a batch.
        frame: Frame<'a>,
        /// It is the one that opens the session.
        opens: bool,
    },
}

/// Reads a body and holds the headers against it.
///
/// # Errors
/// What to answer where that cannot be served.
pub(crate) fn read<'a>(mcp: &Mcp, body: &'a [u8], headers: &dyn Headers) -> Result<Posted<'a>, Answer> {
    let frame = Frame::read(body).map_err(|bad| reply::error(bad.id.as_ref(), bad.error))?;
    let header = headers::text(headers, headers::VERSION).map_err(|why| mismatch(frame.id(), why))?;
    let header = Header::read(header);
    match &frame {
        Frame::Batch(frames) => {
            batch(frames).map_err(|why| refuse(None, RpcError::invalid_request(why)))?;
            match header {
                Header::Modern(_) => Err(refuse(None, RpcError::invalid_request("this revision has no batches"))),
                _ => legacy(frame, header, false),
            }
        }
        Frame::Request { id, method, params } => {
            let fail = |error| refuse(Some(id), error);
            let meta = Meta::read(*params).map_err(fail)?;
            match meta.version().map_err(fail)? {
                Some(version) => {
                    let request = Request { id, method, params: *params };
                    request.check(mcp, headers, &meta, &version)?;
                    Ok(Posted::Modern(frame))
                }
                None if method == "initialize" => match header {
                    Header::Modern(version) => {
                        Err(mismatch(Some(id), format!("{version} has no initialize; it begins with server/discover")))
                    }
                    _ => legacy(frame, header, true),
                },
                None if matches!(header, Header::Modern(_)) || method == "server/discover" => {
                    // The era of the request is said where it must be, in its body.
                    Err(fail(meta.missing_version()))
                }
                None => legacy(frame, header, false),
            }
        }
        Frame::Notification { params, .. } => {
            let modern = Meta::read(*params).is_ok_and(|meta| meta.names_version());
            if modern || matches!(header, Header::Modern(_)) {
                return Ok(Posted::ModernNotification);
            }
            legacy(frame, header, false)
        }
        Frame::Response { .. } => match header {
            Header::Modern(_) => Err(refuse(None, RpcError::invalid_request("nothing was asked that this answers"))),
            _ => legacy(frame, header, false),
        },
    }
}

/// What somebody must be allowed to do to have `frame` served.
pub(crate) fn needed(mcp: &Mcp, frame: &Frame<'_>) -> Access {
    match frame {
        Frame::Request { method, params, .. } => match &**method {
            "tools/call" => member(*params, "name")
                .and_then(|name| mcp.dispatcher.glance().registry.get(&name).map(|tool| tool.spec().effect))
                .map_or(Access::Read, Access::needed),
            // Which tools there are, and that there is a server, is for everybody to know who may come in.
            "initialize" | "ping" | "server/discover" | "tools/list" => Access::Nothing,
            _ => Access::Read,
        },
        Frame::Batch(frames) => frames
            .iter()
            .filter_map(|frame| Frame::single(frame.get()).ok())
            .map(|frame| needed(mcp, &frame))
            .max()
            .unwrap_or(Access::Nothing),
        Frame::Notification { .. } | Frame::Response { .. } => Access::Nothing,
    }
}

/// What is answered to a message that cannot be served, for a reason that lies outside of it.
pub(crate) fn refusal(frame: &Frame<'_>, why: &str) -> Answer {
    refuse(frame.id(), RpcError::invalid_request(why))
}

/// How many calls of tools a frame makes.
pub(crate) fn calls(frame: &Frame<'_>) -> u32 {
    match frame {
        Frame::Request { method, .. } => u32::from(method == "tools/call"),
        Frame::Batch(frames) => {
            frames.iter().filter_map(|frame| Frame::single(frame.get()).ok()).map(|f| calls(&f)).sum()
        }
        Frame::Notification { .. } | Frame::Response { .. } => 0,
    }
}

/// Whether the header alone says that a request is of the stateless era, for requests that have no body.
pub(crate) fn says_modern(headers: &dyn Headers) -> bool {
    matches!(headers::text(headers, headers::VERSION).map(Header::read), Ok(Header::Modern(_)))
}

/// What the header says about the revision.
#[derive(Debug, Clone, Copy)]
enum Header<'a> {
    Absent,
    Legacy,
    /// The stateless revision, or a later one.
    Modern(&'a str),
    Unknown(&'a str),
}

impl<'a> Header<'a> {
    fn read(value: Option<&'a str>) -> Self {
        match value {
            None => Header::Absent,
            Some(value) if LegacyVersion::knows(value) => Header::Legacy,
            Some(value) if is_date(value) && value >= MODERN => Header::Modern(value),
            Some(value) => Header::Unknown(value),
        }
    }
}

fn is_date(text: &str) -> bool {
    text.len() == MODERN.len()
        && text
            .bytes()
            .enumerate()
            .all(|(at, byte)| if matches!(at, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() })
}

fn legacy<'a>(frame: Frame<'a>, header: Header<'_>, opens: bool) -> Result<Posted<'a>, Answer> {
    match header {
        Header::Unknown(version) => {
            let why = format!("the header {} names a revision that is not served: {version:?}", headers::VERSION);
            Err(refuse(frame.id(), RpcError::invalid_request(why)))
        }
        _ => Ok(Posted::Legacy { frame, opens }),
    }
}

/// Whether all of a batch may be part of one: valid, of the legacy era, and not the handshake.
fn batch(frames: &[&RawValue]) -> Result<(), &'static str> {
    if frames.is_empty() {
        return Err("the batch is empty");
    }
    for frame in frames {
        match Frame::single(frame.get()) {
            Ok(Frame::Request { method, .. }) if method == "initialize" => {
                return Err("initialize must come alone");
            }
            Ok(Frame::Request { params, .. } | Frame::Notification { params, .. })
                if Meta::read(params).is_ok_and(|meta| meta.names_version()) =>
            {
                return Err("this revision has no batches");
            }
            Ok(_) => {}
            Err(_) => return Err("the batch holds what is no message"),
        }
    }
    Ok(())
}

/// A request that says that it is modern.
struct Request<'a> {
    id: &'a RequestId,
    method: &'a str,
    params: Option<&'a RawValue>,
}

impl Request<'_> {
    fn check(&self, mcp: &Mcp, headers: &dyn Headers, meta: &Meta<'_>, version: &str) -> Result<(), Answer> {
        let (fail, mismatch) = (|error| refuse(Some(self.id), error), |why| mismatch(Some(self.id), why));
        let complete = if version == MODERN { meta.era(self.method, LegacyVersion::LATEST).map(drop) } else { Ok(()) };
        complete.map_err(fail)?;
        headers::check_plain(headers, headers::VERSION, version).map_err(mismatch)?;
        if version != MODERN {
            return Err(fail(RpcError::unsupported_version(version)));
        }
        headers::check_plain(headers, headers::METHOD, self.method).map_err(mismatch)?;
        self.check_name(headers).map_err(mismatch)?;
        self.check_arguments(mcp, headers).map_err(mismatch)
    }

    /// A body without the name is for the method to refuse.
    fn check_name(&self, headers: &dyn Headers) -> Result<(), String> {
        let member_name = match self.method {
            "tools/call" | "prompts/get" => "name",
            "resources/read" => "uri",
            "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
            _ => return Ok(()),
        };
        match member(self.params, member_name) {
            Some(name) => headers::check_encoded(headers, headers::NAME, &name),
            None => Ok(()),
        }
    }

    fn check_arguments(&self, mcp: &Mcp, headers: &dyn Headers) -> Result<(), String> {
        #[derive(Deserialize)]
        struct Arguments {
            #[serde(default)]
            arguments: Value,
        }
        if self.method != "tools/call" {
            return Ok(());
        }
        let Some(name) = member(self.params, "name") else { return Ok(()) };
        let served = mcp.dispatcher.glance();
        let lists = mcp.live.lists.of(&served);
        let mirrored = lists.mirrored(&served, &name);
        if mirrored.is_empty() {
            return Ok(());
        }
        let arguments = self.params.and_then(|params| serde_json::from_str(params.get()).ok());
        let arguments = arguments.map_or(Value::Null, |Arguments { arguments }| arguments);
        mirrored.iter().try_for_each(|param| param.check(headers, &arguments))
    }
}

/// A member of `params` that is a string.
fn member<'a>(params: Option<&'a RawValue>, name: &str) -> Option<Cow<'a, str>> {
    #[derive(Deserialize)]
    struct Members<'a> {
        #[serde(borrow, default)]
        name: Option<&'a RawValue>,
        #[serde(borrow, default)]
        uri: Option<&'a RawValue>,
        #[serde(borrow, default, rename = "taskId")]
        task: Option<&'a RawValue>,
    }
    let Members { name: tool, uri, task } =
        serde_json::from_str(params?.get()).ok().filter(|_| params.is_some_and(|p| p.get().starts_with('{')))?;
    let raw = match name {
        "uri" => uri,
        "taskId" => task,
        _ => tool,
    };
    let text = raw?.get();
    let plain = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).filter(|text| !text.contains('\\'));
    plain.map(Cow::Borrowed).or_else(|| serde_json::from_str(text).ok().map(Cow::Owned))
}

fn refuse(id: Option<&RequestId>, error: RpcError) -> Answer {
    reply::error(id, error)
}

fn mismatch(id: Option<&RequestId>, why: String) -> Answer {
    refuse(id, RpcError::header_mismatch(why))
}
