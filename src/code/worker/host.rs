//! What a program can reach: its calls go out in the order in which it makes them, and what comes back settles their promises.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use rquickjs::{Array, Ctx, Exception, Function, Object, Value};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::codec::{Refusal, encode_arguments};
use super::pipes::Pipes;
use super::{fault, names, print};
use crate::code::failure::{Failure, Kind};
use crate::code::frames::{CALL, DESCRIBE, LONGEST_NAME, VALUE_BYTES, Window};
use crate::code::limits::Limits;
use crate::code::strip::Script;

/// Makes a `ToolCallError` of what came back.
const PRELUDE: &str = include_str!("prelude.js");

/// The program's way out.
pub(super) struct Host<'js> {
    pub(super) limits: Limits,
    /// The program, once its types are erased.
    pub(super) script: OnceCell<Script>,
    tools: Vec<String>,
    pipes: RefCell<Pipes>,
    calls: RefCell<Calls<'js>>,
    printed: Cell<usize>,
    fatal: RefCell<Option<Failure>>,
    /// Stops the engine as soon as it looks.
    stop: Rc<Cell<bool>>,
    make_error: RefCell<Option<Function<'js>>>,
}

#[derive(Default)]
struct Calls<'js> {
    /// How many were made.
    made: u64,
    /// Made and not yet told to the server.
    waiting: VecDeque<Frame>,
    /// Not yet settled.
    open: BTreeMap<u64, Open<'js>>,
    /// Those of which nobody has wanted to know yet what came of them.
    unawaited: BTreeMap<u64, Rc<Origin>>,
    /// Told to the server and not yet answered.
    window: Window,
    /// How much those that are open hold, as they are told.
    bytes: usize,
}

/// A call as it is told.
struct Frame {
    bytes: Vec<u8>,
    weight: usize,
}

/// A call whose promise is not settled.
struct Open<'js> {
    origin: Rc<Origin>,
    bytes: usize,
    weight: usize,
    settle: Settle<'js>,
}

/// What a call is, and where it was made.
struct Origin {
    tool: String,
    stack: String,
}

/// The two functions that settle a promise.
struct Settle<'js> {
    resolve: Function<'js>,
    reject: Function<'js>,
}

impl<'js> Host<'js> {
    /// Gives the program what it can reach.
    pub(super) fn install(
        ctx: &Ctx<'js>,
        tools: Vec<String>,
        limits: Limits,
        pipes: Pipes,
        stop: Rc<Cell<bool>>,
    ) -> rquickjs::Result<Rc<Self>> {
        let host = Rc::new(Host {
            limits,
            script: OnceCell::new(),
            tools,
            pipes: RefCell::new(pipes),
            calls: RefCell::default(),
            printed: Cell::new(0),
            fatal: RefCell::default(),
            stop,
            make_error: RefCell::default(),
        });
        let names = Array::new(ctx.clone())?;
        for (index, name) in host.tools.iter().enumerate() {
            names.set(index, name.as_str())?;
        }
        let (invoking, describing, awaiting) = (host.clone(), host.clone(), host.clone());
        let (printing, missing) = (host.clone(), host.clone());
        let invoke = Function::new(
            ctx.clone(),
            move |ctx: Ctx<'js>,
                  tool: String,
                  given: Vec<Value<'js>>,
                  stack: Value<'js>,
                  resolve: Function<'js>,
                  reject: Function<'js>| {
                invoking.invoke(&ctx, tool, &given, &stack, Settle { resolve, reject })
            },
        )?;
        let describe = Function::new(
            ctx.clone(),
            move |ctx: Ctx<'js>, tool: Value<'js>, stack: Value<'js>, resolve: Function<'js>, reject: Function<'js>| {
                let text = |value: &Value<'js>| value.as_string().and_then(super::codec::text).unwrap_or_default();
                // No tool has a longer name.
                let tool: String = DESCRIBE.chars().chain(text(&tool).chars().take(LONGEST_NAME)).collect();
                describing.submit(&ctx, tool, nothing(), text(&stack), Settle { resolve, reject })
            },
        )?;
        let awaited = Function::new(ctx.clone(), move |id: f64| awaiting.awaited(id))?;
        let print = Function::new(ctx.clone(), move |ctx: Ctx<'js>, level: String, values: Vec<Value<'js>>| {
            printing.print(&ctx, &level, &values)
        })?;
        let unknown = Function::new(ctx.clone(), move |name: String| names::unknown(&name, &missing.tools))?;
        let prelude: Function<'js> = ctx.eval(PRELUDE)?;
        let make_error = prelude.call((invoke, describe, awaited, print, unknown, names))?;
        host.make_error.replace(Some(make_error));
        Ok(host)
    }

    /// What ends the run whatever the program does.
    pub(super) fn fatal(&self) -> Option<Failure> {
        self.fatal.borrow().clone()
    }

    fn end(&self, ctx: &Ctx<'js>, failure: Failure) -> rquickjs::Error {
        let message = failure.message.clone();
        self.fatal.borrow_mut().get_or_insert(failure);
        self.stop.set(true);
        Exception::throw_internal(ctx, &message)
    }

    /// What to say besides of what was thrown.
    pub(super) fn hint(&self, message: &str) -> Option<String> {
        names::hint(message, &self.tools)
    }

    /// Makes a call and says its number; nought for one that is refused.
    fn invoke(
        &self,
        ctx: &Ctx<'js>,
        tool: String,
        given: &[Value<'js>],
        stack: &Value<'js>,
        settle: Settle<'js>,
    ) -> rquickjs::Result<f64> {
        let refuse = |message: String| {
            let error = Exception::from_message(ctx.clone(), &message)?;
            error.as_object().set("name", "TypeError")?;
            settle.reject.call::<_, ()>((error,))?;
            Ok(0.0)
        };
        let json = match given {
            [] => Ok(nothing()),
            [arguments] => encode_arguments(ctx, arguments, self.limits.call_bytes),
            _ => {
                return refuse(format!(
                    "tools.{tool} takes one object with all arguments, and was given {}",
                    given.len()
                ));
            }
        };
        match json {
            Ok(json) => {
                let stack = stack.as_string().and_then(super::codec::text).unwrap_or_default();
                self.submit(ctx, tool, json, stack, settle)
            }
            Err(Refusal::TooLong) => refuse(format!(
                "the arguments of tools.{tool} are longer than {} bytes, where each value in them counts as {VALUE_BYTES} at \
                 least (setting code.call_bytes)",
                self.limits.call_bytes
            )),
            Err(refusal) => refuse(refusal.message(&format!("the arguments of tools.{tool}"))),
        }
    }

    fn submit(
        &self,
        ctx: &Ctx<'js>,
        tool: String,
        (arguments, weight): (Vec<u8>, usize),
        stack: String,
        settle: Settle<'js>,
    ) -> rquickjs::Result<f64> {
        let mut calls = self.calls.borrow_mut();
        if calls.made >= self.limits.calls {
            drop(calls);
            let what = format!("the program made more than {} calls", self.limits.calls);
            return Err(self.end(
                ctx,
                Failure::limit(Kind::Exception, what, "code.calls").at(fault::place(&stack, self.script.get())),
            ));
        }
        calls.made += 1;
        let id = calls.made;
        let mut frame = format!("{{\"id\":{id},\"tool\":").into_bytes();
        // Writing to memory does not fail.
        let _ = serde_json::to_writer(&mut frame, &tool);
        frame.extend_from_slice(b",\"arguments\":");
        frame.extend_from_slice(&arguments);
        frame.push(b'}');
        // They are values of the program, though not the engine's to count.
        if calls.bytes.saturating_add(frame.len()) > self.limits.heap_bytes {
            drop(calls);
            let what = format!("calls that are open at a time hold more than {} bytes", self.limits.heap_bytes);
            let failure = Failure::limit(Kind::Memory, what, "code.heap_bytes");
            return Err(self.end(ctx, failure.at(fault::place(&stack, self.script.get()))));
        }
        calls.bytes += frame.len();
        let origin = Rc::new(Origin { tool, stack });
        calls.unawaited.insert(id, Rc::clone(&origin));
        calls.open.insert(id, Open { origin, bytes: frame.len(), weight, settle });
        calls.waiting.push_back(Frame { bytes: frame, weight });
        drop(calls);
        self.send();
        // Far fewer calls than a number can count.
        Ok(id as f64)
    }

    /// Somebody wants to know what comes of a call.
    fn awaited(&self, id: f64) {
        self.calls.borrow_mut().unawaited.remove(&(id as u64));
    }

    /// Tells the server of calls, as many as it takes at a time.
    fn send(&self) {
        let mut calls = self.calls.borrow_mut();
        while let Some(next) = calls.waiting.front()
            && calls.window.fits(next.weight, self.limits.call_bytes)
            && let Some(Frame { bytes, weight }) = calls.waiting.pop_front()
        {
            calls.window.open(weight);
            self.pipes.borrow_mut().push(CALL, &bytes);
        }
    }

    /// Whether a call is open that can settle something.
    pub(super) fn expects(&self) -> bool {
        !self.calls.borrow().window.is_empty()
    }

    /// The calls that nobody has waited for: those that are still open, and those that came to something nobody wanted to
    /// know. Where the first was made.
    pub(super) fn unawaited(&self) -> Option<Failure> {
        let calls = self.calls.borrow();
        let open = calls.open.iter().map(|(id, open)| (*id, &open.origin));
        let left: BTreeMap<u64, &Rc<Origin>> =
            open.chain(calls.unawaited.iter().map(|(id, origin)| (*id, origin))).collect();
        let (id, first) = left.first_key_value()?;
        let others = match left.len() - 1 {
            0 => String::new(),
            1 => " and 1 other call".to_owned(),
            more => format!(" and {more} other calls"),
        };
        let tool = first.tool.strip_prefix(DESCRIBE).map_or(first.tool.as_str(), |_| "describe");
        let what = match calls.open.contains_key(id) {
            true => format!("the program ended before tools.{tool}{others} had: nothing awaited it to its end"),
            false => format!("nothing awaited tools.{tool}{others}"),
        };
        let message = format!(
            "{what}, so what came of it is not known to the program. Put await before each call, many at once with \
             await Promise.all([...])"
        );
        Some(Failure::new(Kind::Unsettled, message).at(fault::place(&first.stack, self.script.get())))
    }

    /// Waits for what a call came to, and settles its promise.
    ///
    /// # Errors
    /// The engine fails.
    pub(super) fn settle_next(&self, ctx: &Ctx<'js>) -> rquickjs::Result<()> {
        #[derive(Deserialize)]
        struct Answer<'a> {
            id: u64,
            #[serde(borrow, default)]
            ok: Option<&'a RawValue>,
            #[serde(borrow, default)]
            error: Option<&'a RawValue>,
        }
        // Bound to a name, so that the pipes are free again before the program goes on.
        let answer = self.pipes.borrow_mut().result();
        let Some(answer) = answer else { std::process::exit(1) };
        let Ok(Answer { id, ok, error }) = serde_json::from_slice(&answer) else { std::process::exit(1) };
        let open = {
            let mut calls = self.calls.borrow_mut();
            let open = calls.open.remove(&id);
            let (bytes, weight) = open.as_ref().map_or((0, 0), |open| (open.bytes, open.weight));
            calls.bytes = calls.bytes.saturating_sub(bytes);
            calls.window.close(weight);
            open
        };
        self.send();
        let Some(open) = open else { return Ok(()) };
        if let Some(error) = error {
            let fault = ctx.json_parse(error.get())?;
            let make_error = self.make_error.borrow().clone();
            let Some(make_error) = make_error else { return Ok(()) };
            let error: Value<'js> = make_error.call((fault, open.origin.stack.as_str()))?;
            return open.settle.reject.call((error,));
        }
        let value = ctx.json_parse(ok.map_or("null", RawValue::get))?;
        open.settle.resolve.call((value,))
    }

    fn print(&self, ctx: &Ctx<'js>, level: &str, values: &[Value<'js>]) -> rquickjs::Result<()> {
        let mut line = print::line(ctx, values);
        match level {
            "warn" | "error" => line.insert_str(0, &format!("[{level}] ")),
            "assert" => line.insert_str(0, "[assertion failed] "),
            _ => {}
        }
        line.push('\n');
        let room = self.limits.log_bytes.saturating_sub(self.printed.get());
        self.printed.set(self.printed.get() + line.len());
        if line.len() > room {
            let end = (0..=room).rev().find(|&end| line.is_char_boundary(end)).unwrap_or(0);
            if end > 0 {
                self.pipes.borrow_mut().log(&line[..end]);
            }
            let what = format!("the program printed more than {} bytes", self.limits.log_bytes);
            return Err(self.end(ctx, Failure::limit(Kind::OutputLimit, what, "code.log_bytes")));
        }
        self.pipes.borrow_mut().log(&line);
        Ok(())
    }

    /// Says what the program has returned.
    pub(super) fn returned(&self, json: &[u8]) {
        self.pipes.borrow_mut().value(json);
    }

    /// Says how it has failed.
    pub(super) fn failed(&self, failure: &Failure) {
        self.pipes.borrow_mut().failed(failure);
    }
}

/// `{}`, and what it weighs.
fn nothing() -> (Vec<u8>, usize) {
    (b"{}".to_vec(), VALUE_BYTES)
}

/// Whether an object is the same as another.
pub(super) fn same<'js>(one: &Object<'js>, other: &Value<'js>) -> bool {
    one.as_value() == other
}
