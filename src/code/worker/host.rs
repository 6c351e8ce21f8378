//! What a program can reach: its calls go out in the order in which it makes them, and what comes back settles their promises.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use rquickjs::{Array, Ctx, Exception, Function, Object, Promise, Value};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::codec::{Refusal, encode};
use super::pipes::Pipes;
use super::{fault, print};
use crate::code::failure::{Failure, Kind};
use crate::code::frames::{CALL, WINDOW};
use crate::code::limits::Limits;
use crate::code::strip::Script;
use crate::model::mode::RUN_CODE;
use crate::tool::near::nearest;

/// Makes a `ToolCallError` of what came back.
const PRELUDE: &str = include_str!("prelude.js");

/// The name under which a call asks for the documentation of a tool.
pub(in crate::code) const DESCRIBE: &str = "describe ";

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
    waiting: VecDeque<(u64, Vec<u8>)>,
    /// Not yet settled.
    open: BTreeMap<u64, Open<'js>>,
    /// Told to the server and not yet answered.
    sent: usize,
}

/// A call whose promise is not settled.
struct Open<'js> {
    tool: String,
    resolve: Function<'js>,
    reject: Function<'js>,
    /// Where it was made.
    stack: String,
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
        let (invoking, describing, printing, missing) = (host.clone(), host.clone(), host.clone(), host.clone());
        let invoke = Function::new(
            ctx.clone(),
            move |ctx: Ctx<'js>, tool: String, given: Vec<Value<'js>>, stack: Value<'js>| {
                invoking.invoke(&ctx, tool, &given, &stack)
            },
        )?;
        let describe = Function::new(ctx.clone(), move |ctx: Ctx<'js>, tool: Value<'js>| {
            let name = tool.as_string().and_then(super::codec::text).unwrap_or_default();
            describing.submit(&ctx, format!("{DESCRIBE}{name}"), b"{}".to_vec(), String::new())
        })?;
        let print = Function::new(ctx.clone(), move |ctx: Ctx<'js>, level: String, values: Vec<Value<'js>>| {
            printing.print(&ctx, &level, &values)
        })?;
        let unknown = Function::new(ctx.clone(), move |name: String| missing.unknown(&name))?;
        let prelude: Function<'js> = ctx.eval(PRELUDE)?;
        let make_error = prelude.call((invoke, describe, print, unknown, names))?;
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

    /// What is wrong with a name that no tool has.
    fn unknown(&self, name: &str) -> String {
        if name == RUN_CODE {
            return format!(
                "tools.{RUN_CODE} is not there: a program cannot start another one; put it all into this one"
            );
        }
        let shown: String = name.chars().take(64).collect();
        let meant = nearest(name, self.tools.iter().map(String::as_str));
        let meant = meant.map(|name| format!("did you mean tools.{name}? ")).unwrap_or_default();
        format!("there is no tools.{shown}; {meant}The tools are {}", self.tools.join(", "))
    }

    fn invoke(
        &self,
        ctx: &Ctx<'js>,
        tool: String,
        given: &[Value<'js>],
        stack: &Value<'js>,
    ) -> rquickjs::Result<Value<'js>> {
        let refuse = |message: String| {
            let (promise, _, reject) = Promise::new(ctx)?;
            let error = Exception::from_message(ctx.clone(), &message)?;
            error.as_object().set("name", "TypeError")?;
            reject.call::<_, ()>((error,))?;
            Ok(promise.into_value())
        };
        let json = match given {
            [] => Ok(b"{}".to_vec()),
            [arguments] => encode(ctx, arguments, self.limits.call_bytes),
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
                self.submit(ctx, tool, json, stack)
            }
            Err(Refusal::TooLong) => refuse(format!(
                "the arguments of tools.{tool} are longer than {} bytes (setting code.call_bytes)",
                self.limits.call_bytes
            )),
            Err(refusal) => refuse(refusal.message(&format!("the arguments of tools.{tool}"))),
        }
    }

    fn submit(&self, ctx: &Ctx<'js>, tool: String, arguments: Vec<u8>, stack: String) -> rquickjs::Result<Value<'js>> {
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
        let (promise, resolve, reject) = Promise::new(ctx)?;
        calls.open.insert(id, Open { tool, resolve, reject, stack });
        calls.waiting.push_back((id, frame));
        drop(calls);
        self.send();
        Ok(promise.into_value())
    }

    /// Tells the server of calls, as many as it takes at a time.
    fn send(&self) {
        let mut calls = self.calls.borrow_mut();
        while calls.sent < WINDOW
            && let Some((_, frame)) = calls.waiting.pop_front()
        {
            calls.sent += 1;
            self.pipes.borrow_mut().push(CALL, &frame);
        }
    }

    /// Whether a call is open that can settle something.
    pub(super) fn expects(&self) -> bool {
        self.calls.borrow().sent > 0
    }

    /// The calls that nobody has waited for, and where the first was made.
    pub(super) fn unawaited(&self) -> Option<Failure> {
        let calls = self.calls.borrow();
        let (_, first) = calls.open.first_key_value()?;
        let others = match calls.open.len() - 1 {
            0 => String::new(),
            1 => " and 1 other call".to_owned(),
            more => format!(" and {more} other calls"),
        };
        let tool = &first.tool;
        let message = format!(
            "the program ended before tools.{tool}{others} had: nothing awaited it, so whether it was done is not known to the \
             program. Put await before each call, many at once with await Promise.all([...])"
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
            calls.sent = calls.sent.saturating_sub(1);
            calls.open.remove(&id)
        };
        self.send();
        let Some(open) = open else { return Ok(()) };
        if let Some(error) = error {
            let fault = ctx.json_parse(error.get())?;
            let make_error = self.make_error.borrow().clone();
            let Some(make_error) = make_error else { return Ok(()) };
            let error: Value<'js> = make_error.call((fault, open.stack))?;
            return open.reject.call((error,));
        }
        let value = ctx.json_parse(ok.map_or("null", RawValue::get))?;
        open.resolve.call((value,))
    }

    fn print(&self, ctx: &Ctx<'js>, level: &str, values: &[Value<'js>]) -> rquickjs::Result<()> {
        let mut line = print::line(ctx, values);
        if matches!(level, "warn" | "error") {
            line.insert_str(0, &format!("[{level}] "));
        }
        line.push('\n');
        let room = self.limits.log_bytes.saturating_sub(self.printed.get());
        self.printed.set(self.printed.get() + line.len());
        if line.len() > room {
            let end = (0..=room).rev().find(|&end| line.is_char_boundary(end)).unwrap_or(0);
            self.pipes.borrow_mut().log(&line[..end]);
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

/// Whether an object is the same as another.
pub(super) fn same<'js>(one: &Object<'js>, other: &Value<'js>) -> bool {
    one.as_value() == other
}
