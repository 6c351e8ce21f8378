//! The calls of one run on their way: they begin in the order in which the program made them. Those that only look overlap;
//! one that may change something waits for all before it, and all after it wait for it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::StreamExt;
use futures_util::future::{BoxFuture, FutureExt};
use futures_util::stream::FuturesUnordered;
use serde::Serialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::code::clock::Clock;
use crate::code::frames::{self, CallFrame, DESCRIBE, Hostile, RESULT, VALUE_BYTES, Window};
use crate::code::limits::Limits;
use crate::code::report::Note;
use crate::code::sdk::Sdk;
use crate::model::error::{ErrorCode, ToolError};
use crate::model::mode::RUN_CODE;
use crate::tool::Effect;
use crate::tool::calls::{Calls, InnerCall, Made};

/// So many calls that only look are under way at once.
const MOST_AT_ONCE: usize = 10;

/// The paths of one run's calls are told as far as so many bytes hold them, where each takes some besides.
const PATHS: usize = 1024 * 1024;

/// No path is longer.
const PATH: usize = 4096;

/// The calls of one run.
pub(super) struct Bridge<'a> {
    pub(super) calls: &'a dyn Calls,
    pub(super) clock: Arc<Clock>,
    pub(super) limits: Limits,
    /// What the run is for, in a few words.
    pub(super) description: String,
    /// Takes back all calls.
    pub(super) cancel: CancellationToken,
    waiting: VecDeque<CallFrame>,
    running: FuturesUnordered<BoxFuture<'a, Answered>>,
    /// Those that wait or are under way.
    window: Window,
    /// The one that is under way may change something.
    alone: bool,
    /// None begins, since the program has too much to read first.
    held_back: bool,
    /// The last call that the program has made.
    last: u64,
    /// So many bytes of paths are still kept.
    room: usize,
    /// What the calls have come to, in the order in which they began.
    notes: Vec<Option<Note>>,
}

/// What a call came to.
struct Answered {
    index: usize,
    note: Note,
    frame: Vec<u8>,
    /// What the call weighs.
    weight: usize,
}

impl<'a> Bridge<'a> {
    pub(super) fn new(calls: &'a dyn Calls, clock: Arc<Clock>, limits: Limits, description: String) -> Self {
        let cancel = calls.cancelled().child_token();
        Bridge {
            calls,
            clock,
            limits,
            description,
            cancel,
            waiting: VecDeque::new(),
            running: FuturesUnordered::new(),
            window: Window::default(),
            alone: false,
            held_back: false,
            last: 0,
            room: PATHS,
            notes: Vec::new(),
        }
    }

    /// Takes a call of the program.
    ///
    /// # Errors
    /// No program makes such a call: it is from a process that does not keep to the rules.
    pub(super) fn take(&mut self, call: CallFrame) -> Result<(), Hostile> {
        if call.id != self.last + 1 {
            return Err(Hostile(format!("call {} after call {}", call.id, self.last)));
        }
        if call.id > self.limits.calls {
            return Err(Hostile(format!("more calls than the {} that it may make", self.limits.calls)));
        }
        if !self.window.fits(call.weight, self.limits.call_bytes) {
            return Err(Hostile("more or larger calls than it may make at a time".to_owned()));
        }
        let tool = call.tool.as_str();
        if !tool.starts_with(DESCRIBE) && (tool == RUN_CODE || self.calls.tools().get(tool).is_none()) {
            return Err(Hostile("a call of a tool that it does not have".to_owned()));
        }
        self.last = call.id;
        self.window.open(call.weight);
        self.waiting.push_back(call);
        Ok(())
    }

    /// Lets calls begin that may, and go on that can; appends what those that are done have come to.
    pub(super) fn poll(&mut self, answers: &mut Vec<u8>, cx: &mut Context<'_>) {
        loop {
            self.begin(answers.len());
            match self.running.poll_next_unpin(cx) {
                Poll::Ready(Some(Answered { index, note, frame, weight })) => {
                    self.alone = false;
                    self.window.close(weight);
                    self.notes[index] = Some(note);
                    frames::push(answers, RESULT, &frame);
                }
                Poll::Ready(None) if self.waiting.is_empty() || self.held_back => return,
                Poll::Ready(None) => {}
                Poll::Pending => return,
            }
        }
    }

    /// Lets calls begin that may, where there is not more than a call's worth of `unread` answers.
    fn begin(&mut self, unread: usize) {
        self.held_back = unread > self.limits.call_bytes;
        if self.held_back {
            return;
        }
        while let Some(next) = self.waiting.front() {
            let looks = self.looks(&next.tool);
            let may = !self.alone && if looks { self.running.len() < MOST_AT_ONCE } else { self.running.is_empty() };
            if !may {
                return;
            }
            let Some(call) = self.waiting.pop_front() else { return };
            self.alone = !looks;
            let index = self.notes.len();
            self.notes.push(None);
            let made = self.make(index, call);
            self.running.push(made);
        }
    }

    fn looks(&self, tool: &str) -> bool {
        self.calls.tools().get(tool).is_none_or(|tool| tool.spec().effect == Effect::Reads)
    }

    fn make(&mut self, index: usize, call: CallFrame) -> BoxFuture<'a, Answered> {
        let CallFrame { id, tool, arguments, weight } = call;
        let calls = self.calls;
        let note_id = format!("{}:code:{id}", calls.outer().0);
        if let Some(name) = tool.strip_prefix(DESCRIBE) {
            let text = Sdk::of(calls.tools()).describe(name);
            let error = text.is_none().then_some(ErrorCode::InvalidArguments);
            let frame = result(id, &text.map_or_else(|| failed(&unknown(name), name), |text| json!({"ok": text})));
            let note = Note { id: note_id, tool: "describe".to_owned(), paths: Vec::new(), error, change: None };
            return std::future::ready(Answered { index, note, frame, weight }).boxed();
        }
        let paths = self.paths(&tool, &arguments);
        let inner = InnerCall {
            number: id,
            tool: tool.clone(),
            arguments,
            cancel: self.cancel.clone(),
            on_behalf_of: format!("in a program: {}", self.description),
            waiting: Arc::clone(&self.clock) as _,
        };
        let most = self.limits.call_bytes;
        async move {
            let made = calls.call(inner).await;
            let frame = frame_of(id, &tool, &made, most);
            let error = made.outcome.as_ref().err().map(|error| error.code);
            let note = Note { id: note_id, tool, paths, error, change: made.change };
            Answered { index, note, frame, weight }
        }
        .boxed()
    }

    /// What a call names, as far as there is room to keep it: a program may name what it likes.
    fn paths(&mut self, tool: &str, arguments: &Value) -> Vec<String> {
        let calls = self.calls;
        let Some(entry) = calls.tools().get(tool) else { return Vec::new() };
        let named = entry.paths(arguments).into_iter().map(|path| match path.char_indices().nth(PATH) {
            Some((end, _)) => format!("{}… (cut)", &path[..end]),
            None => path.to_owned(),
        });
        let kept = named.take_while(|path| {
            let left = self.room.checked_sub(path.len() + VALUE_BYTES);
            self.room = left.unwrap_or(0);
            left.is_some()
        });
        kept.collect()
    }

    /// Whether calls wait for the program to read.
    pub(super) fn is_held_back(&self) -> bool {
        self.held_back && !self.waiting.is_empty()
    }

    /// How many calls have not begun.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Takes back what is under way, lets go of what has not begun, and waits until nothing of the run can happen any more.
    pub(super) async fn drain(mut self) -> Vec<Note> {
        self.cancel.cancel();
        self.waiting.clear();
        while let Some(Answered { index, note, .. }) = self.running.next().await {
            self.notes[index] = Some(note);
        }
        self.notes.into_iter().flatten().collect()
    }
}

fn unknown(name: &str) -> ToolError {
    ToolError::bad_argument("name", format_args!("there is no tool {name:?}; tools.describe takes the name of one"))
}

/// What the program is told of a call.
fn frame_of(id: u64, tool: &str, made: &Made, most: usize) -> Vec<u8> {
    let output = match (&made.outcome, &made.replaced) {
        (Err(error), _) => return result(id, &failed(error, tool)),
        (Ok(_), Some(text)) => return result(id, &failed(&replaced(made, text), tool)),
        (Ok(output), None) => output,
    };
    let mut frame = format!("{{\"id\":{id},\"ok\":").into_bytes();
    let head = frame.len();
    let broken = match output.write_json(&mut frame) {
        Ok(()) if frame.len() - head <= most => {
            frame.push(b'}');
            return frame;
        }
        Ok(()) => ToolError::new(
            ErrorCode::TooLarge,
            format!(
                "The call was made, but what it came to is longer than the {most} bytes that a program is given (setting \
                 code.call_bytes). Ask for less at a time."
            ),
        ),
        Err(error) => {
            ToolError::new(ErrorCode::IoError, format!("The call was made, but its output is no JSON: {error}."))
        }
    };
    result(id, &failed(&with_change(broken, made), tool))
}

/// A hook has put a text in the place of the output, so the program must not see that; and a text is not what the tool's type
/// says.
fn replaced(made: &Made, text: &str) -> ToolError {
    let error = ToolError::new(
        ErrorCode::Denied,
        format!("The call was made, but a hook does not let its output be seen. It says instead: {text}"),
    );
    with_change(error.with("replaced_by", text), made)
}

fn with_change(error: ToolError, made: &Made) -> ToolError {
    error.with("change", made.change.map(|change| change.to_string()))
}

fn failed(error: &ToolError, tool: &str) -> serde_json::Value {
    let ToolError { code, message, details, .. } = error;
    json!({"error": {"code": code, "tool": tool, "message": message, "details": details}})
}

/// `{"id": …, "ok": …}` or `{"id": …, "error": …}`.
fn result(id: u64, what: &serde_json::Value) -> Vec<u8> {
    #[derive(Serialize)]
    struct Answer<'a> {
        id: u64,
        #[serde(flatten)]
        what: &'a serde_json::Value,
    }
    // Plain values: writing them cannot fail.
    serde_json::to_vec(&Answer { id, what }).unwrap_or_default()
}

#[cfg(test)]
mod tests;
