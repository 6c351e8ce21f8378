//! What goes through the two pipes between the server and the process that runs a program: one kind, one length, that many
//! bytes. The server believes nothing that arrives.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::code::failure::Failure;
use crate::code::limits::Limits;
use crate::model::json::{parse_strict, parse_within};

/// Kind and length.
const HEADER: usize = 5;

/// So many calls of a program may be unanswered; it keeps the others to itself.
pub(super) const WINDOW: usize = 16;

/// For so many bytes each value in a call's arguments counts at least: so much room it takes once it is read, however few bytes
/// it is written with.
pub(super) const VALUE_BYTES: usize = 64;

/// The name under which a call asks for the documentation of a tool begins with this.
pub(super) const DESCRIBE: &str = "describe ";

/// So many characters has the name of a tool at most that a call is about.
pub(super) const LONGEST_NAME: usize = 1024;

/// What both sides say first; a process of another build is not talked to.
pub(super) const VERSION: &str = concat!("toolgate worker ", env!("CARGO_PKG_VERSION"));

/// More than a failure or a greeting can be.
const SMALL: usize = 256 * 1024;

/// To the worker: the program.
pub(super) const BEGIN: u8 = b'B';
/// To the worker: what a call came to.
pub(super) const RESULT: u8 = b'R';
/// From the worker: it is confined and begins.
pub(super) const HELLO: u8 = b'H';
/// From the worker: a line that the program has printed.
pub(super) const LOG: u8 = b'L';
/// From the worker: a call.
pub(super) const CALL: u8 = b'C';
/// From the worker: the program has returned this.
pub(super) const VALUE: u8 = b'V';
/// From the worker: the program has failed.
pub(super) const FAILED: u8 = b'F';

/// The program, and what it may use.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Begin {
    pub(super) version: String,
    pub(super) source: String,
    /// The names of the tools.
    pub(super) tools: Vec<String>,
    pub(super) limits: Limits,
}

/// The first thing that a worker says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Hello {
    pub(super) version: String,
    pub(super) sandbox: Sandbox,
}

/// How the system confines the process that runs a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sandbox {
    /// Files, network and signals are out of reach.
    pub landlock: Landlock,
    /// Whatever else the kernel offers is out of reach, but for a short list.
    pub seccomp: bool,
    /// Memory, time and open files are bounded.
    pub limits: bool,
}

/// How far Landlock confines a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Landlock {
    /// In every way that is known here.
    Full,
    /// As far as this kernel can.
    Partial,
    /// Not at all.
    None,
}

impl Sandbox {
    /// Whether the process is confined in every way that is known here.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.landlock == Landlock::Full && self.seccomp && self.limits
    }
}

impl fmt::Display for Sandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let landlock = match self.landlock {
            Landlock::Full => "full",
            Landlock::Partial => "partial",
            Landlock::None => "none",
        };
        let has = |has: bool| if has { "on" } else { "off" };
        write!(f, "landlock {landlock}, seccomp {}, resource limits {}", has(self.seccomp), has(self.limits))
    }
}

/// What a worker says.
#[derive(Debug)]
pub(super) enum FromWorker {
    Hello(Hello),
    Log(String),
    Call(CallFrame),
    /// Nothing for `undefined`.
    Value(Option<Value>),
    Failed(Failure),
}

/// A call that the program makes.
#[derive(Debug)]
pub(super) struct CallFrame {
    pub(super) id: u64,
    pub(super) tool: String,
    pub(super) arguments: Value,
    /// See [`weight`].
    pub(super) weight: usize,
}

/// What a call's arguments count for that are so long and hold so many values.
pub(super) fn weight(bytes: usize, values: usize) -> usize {
    bytes.max(values.saturating_mul(VALUE_BYTES))
}

/// The calls that are sent and not answered: so many, and together no heavier than one alone may be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Window {
    calls: usize,
    weight: usize,
}

impl Window {
    /// Whether one more fits in; `most` is what one may weigh.
    pub(super) fn fits(&self, weight: usize, most: usize) -> bool {
        self.calls == 0 || (self.calls < WINDOW && self.weight.saturating_add(weight) <= most)
    }

    pub(super) fn open(&mut self, weight: usize) {
        self.calls += 1;
        self.weight = self.weight.saturating_add(weight);
    }

    pub(super) fn close(&mut self, weight: usize) {
        self.calls = self.calls.saturating_sub(1);
        self.weight = self.weight.saturating_sub(weight);
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.calls == 0
    }
}

/// The other side does not keep to the order of frames.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the process that ran the program said something that is none of its words: {0}")]
pub(super) struct Hostile(pub(super) String);

fn hostile<T>(what: impl fmt::Display) -> Result<T, Hostile> {
    Err(Hostile(what.to_string()))
}

/// Appends a frame.
pub(super) fn push(buffer: &mut Vec<u8>, kind: u8, payload: &[u8]) {
    // Payloads are bounded far below four gigabytes before they are framed.
    let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
    buffer.push(kind);
    buffer.extend_from_slice(&length.to_le_bytes());
    buffer.extend_from_slice(payload);
}

/// The kind of a frame and the length of what follows.
pub(super) fn header(bytes: [u8; HEADER]) -> (u8, usize) {
    let [kind, length @ ..] = bytes;
    (kind, u32::from_le_bytes(length) as usize)
}

/// Bytes from a worker, cut into frames.
#[derive(Debug)]
pub(super) struct Frames {
    buffer: Vec<u8>,
    /// So much of it has been read.
    read: usize,
    limits: Limits,
}

impl Frames {
    pub(super) fn new(limits: Limits) -> Self {
        Frames { buffer: Vec::new(), read: 0, limits }
    }

    pub(super) fn add(&mut self, bytes: &[u8]) {
        // What is read is let go of where that is most of it, so that moving the rest costs little.
        if self.read >= self.buffer.len() - self.read {
            self.buffer.drain(..self.read);
            self.read = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// The next whole frame.
    ///
    /// # Errors
    /// There can be no such frame.
    pub(super) fn next(&mut self) -> Result<Option<FromWorker>, Hostile> {
        let unread = &self.buffer[self.read..];
        let Some((head, rest)) = unread.split_first_chunk::<HEADER>() else { return Ok(None) };
        let (kind, length) = header(*head);
        let most = match kind {
            HELLO | FAILED => SMALL,
            LOG => self.limits.log_bytes,
            CALL => self.limits.call_bytes.saturating_add(SMALL),
            VALUE => self.limits.result_bytes,
            other => return hostile(format_args!("a frame of the kind {other}")),
        };
        if length > most {
            return hostile(format_args!("a frame of {length} bytes where {most} are the most"));
        }
        let Some(payload) = rest.get(..length) else { return Ok(None) };
        let frame = read(kind, payload, &self.limits)?;
        self.read += HEADER + length;
        Ok(Some(frame))
    }
}

fn read(kind: u8, payload: &[u8], limits: &Limits) -> Result<FromWorker, Hostile> {
    let Ok(text) = std::str::from_utf8(payload) else { return hostile("bytes that are no text") };
    match kind {
        HELLO => serde_json::from_str(text).map(FromWorker::Hello).or_else(hostile),
        LOG => Ok(FromWorker::Log(text.to_owned())),
        CALL => read_call(text, limits.call_bytes),
        VALUE if text.is_empty() => Ok(FromWorker::Value(None)),
        VALUE => match parse_strict(text) {
            Ok(value) => Ok(FromWorker::Value(Some(value))),
            Err(fault) => hostile(fault),
        },
        _ => serde_json::from_str(text).map(FromWorker::Failed).or_else(hostile),
    }
}

fn read_call(text: &str, most: usize) -> Result<FromWorker, Hostile> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Parts<'a> {
        id: u64,
        tool: String,
        #[serde(borrow)]
        arguments: &'a RawValue,
    }
    let Parts { id, tool, arguments } = serde_json::from_str(text).or_else(hostile)?;
    if tool.chars().nth(DESCRIBE.len() + LONGEST_NAME).is_some() {
        return hostile("a name that is too long");
    }
    let arguments = arguments.get();
    if arguments.len() > most {
        return hostile(format_args!("arguments of {} bytes where {most} are the most", arguments.len()));
    }
    match parse_within(arguments, (most / VALUE_BYTES).max(1)) {
        Ok((value, values)) => {
            let weight = weight(arguments.len(), values);
            Ok(FromWorker::Call(CallFrame { id, tool, arguments: value, weight }))
        }
        Err(fault) => hostile(fault),
    }
}

#[cfg(test)]
mod tests;
