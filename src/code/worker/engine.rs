//! Runs a program in the engine until it has come to something.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;
use std::time::Duration;

use rquickjs::context::EvalOptions;
use rquickjs::promise::PromiseState;
use rquickjs::{Context, Ctx, Persistent, Promise, Runtime, Value};

use super::codec::{Refusal, encode};
use super::fault::{self, FILE, How};
use super::host::{Host, same};
use super::pipes::Pipes;
use crate::code::failure::{Failure, Kind};
use crate::code::frames::Begin;
use crate::code::limits::Limits;
use crate::code::strip::{SyntaxFault, erase};

/// Promises that were rejected and that nothing handles yet, with the reasons.
type Unhandled = Rc<RefCell<HashMap<u64, [Persistent<Value<'static>>; 2]>>>;

/// Runs the program and says what came of it.
pub(super) fn run(begin: Begin, mut pipes: Pipes) {
    let stop = Rc::new(Cell::new(false));
    let late = Rc::new(Cell::new(false));
    let unhandled = Unhandled::default();
    let Some((_runtime, context)) = engine(&begin.limits, &stop, &late, &unhandled) else {
        let what = "the engine has no room to start: the heap is too small";
        return pipes.failed(&Failure::limit(Kind::Memory, what, "code.heap_bytes"));
    };
    let limits = begin.limits;
    context.with(|ctx| {
        let host = match Host::install(&ctx, begin.tools, limits, pipes, stop) {
            Ok(host) => host,
            // Without the pipes there is nobody to tell; the server sees the process end.
            Err(_) => std::process::exit(1),
        };
        let run = Run { ctx: &ctx, host: &host, late: &late, unhandled: &unhandled };
        match run.program(&begin.source) {
            Ok(json) => host.returned(&json),
            Err(failure) => host.failed(&failure),
        }
        // What is left goes with the process.
        std::process::exit(0);
    });
}

fn engine(
    limits: &Limits,
    stop: &Rc<Cell<bool>>,
    late: &Rc<Cell<bool>>,
    unhandled: &Unhandled,
) -> Option<(Runtime, Context)> {
    let runtime = Runtime::new().ok()?;
    runtime.set_memory_limit(limits.heap_bytes);
    runtime.set_max_stack_size(limits.stack_bytes.min(Limits::MOST_STACK));
    let (stop, late, most) = (stop.clone(), late.clone(), limits.computing);
    runtime.set_interrupt_handler(Some(Box::new(move || {
        if computing() > most {
            late.set(true);
        }
        late.get() || stop.get()
    })));
    let unhandled = unhandled.clone();
    runtime.set_host_promise_rejection_tracker(Some(Box::new(move |ctx, promise, reason, handled| {
        let key = key(&promise);
        if handled {
            unhandled.borrow_mut().remove(&key);
        } else {
            // Kept alive, so that no other promise can have the same key meanwhile.
            let kept = [Persistent::save(&ctx, promise), Persistent::save(&ctx, reason)];
            unhandled.borrow_mut().insert(key, kept);
        }
    })));
    let context = Context::full(&runtime).ok()?;
    Some((runtime, context))
}

fn key(promise: &Value<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    promise.hash(&mut hasher);
    hasher.finish()
}

/// How long this process has kept a processor busy.
#[cfg(unix)]
pub(super) fn computing() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// How long this process has run; elsewhere nothing better is known.
#[cfg(not(unix))]
pub(super) fn computing() -> Duration {
    static BEGAN: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    BEGAN.elapsed()
}

struct Run<'a, 'js> {
    ctx: &'a Ctx<'js>,
    host: &'a Host<'js>,
    late: &'a Cell<bool>,
    unhandled: &'a Unhandled,
}

impl<'js> Run<'_, 'js> {
    /// What the program returns, as JSON; empty for `undefined`.
    fn program(&self, source: &str) -> Result<Vec<u8>, Failure> {
        let script = erase(source).map_err(|SyntaxFault { line, column, message }| {
            Failure::new(Kind::Syntax, message).at(Some((line, column)))
        })?;
        let script = self.host.script.get_or_init(|| script);
        let mut options = EvalOptions::default();
        options.filename = Some(FILE.to_owned());
        let main: Promise<'js> = self.ctx.eval_with_options(script.text(), options).map_err(|_| self.thrown())?;
        let value = loop {
            self.jobs()?;
            match main.state() {
                PromiseState::Resolved => break main.result::<Value<'js>>(),
                PromiseState::Rejected => {
                    // Reading it throws it.
                    let _ = main.result::<Value<'js>>();
                    return Err(self.thrown());
                }
                PromiseState::Pending if !self.host.expects() => return Err(self.stuck(&main)),
                PromiseState::Pending => self.host.settle_next(self.ctx).map_err(|_| self.thrown())?,
            }
        };
        let Some(Ok(value)) = value else { return Err(self.thrown()) };
        self.rejected(&main)?;
        if let Some(failure) = self.host.unawaited() {
            return Err(failure);
        }
        self.encode(&value)
    }

    /// Lets the program go on as far as it can.
    fn jobs(&self) -> Result<(), Failure> {
        while !self.ended() && self.ctx.execute_pending_job() {}
        if self.ended() { Err(self.thrown()) } else { Ok(()) }
    }

    fn ended(&self) -> bool {
        self.late.get() || self.host.fatal().is_some()
    }

    /// The failure that stands for what was just thrown, or for what stopped the engine.
    fn thrown(&self) -> Failure {
        let thrown = self.ctx.catch();
        self.stopped().unwrap_or_else(|| {
            let mut failure = self.failure(How::Thrown, &thrown);
            if let Some(hint) = self.host.hint(&failure.message) {
                failure.message.push_str(&format!("; {hint}"));
            }
            failure
        })
    }

    /// What has stopped the engine, if anything has.
    fn stopped(&self) -> Option<Failure> {
        let late = || {
            let what = format!("the program computed for more than {} ms", self.host.limits.computing.as_millis());
            Failure::limit(Kind::Timeout, what, "code.computing_ms")
        };
        self.host.fatal().or_else(|| self.late.get().then(late))
    }

    /// The failure that a value stands for. What the value says of itself may be what takes too long.
    fn failure(&self, how: How, value: &Value<'js>) -> Failure {
        let failure = fault::of(self.ctx, how, value, &self.host.limits, self.host.script.get());
        self.stopped().unwrap_or(failure)
    }

    fn stuck(&self, main: &Promise<'js>) -> Failure {
        if let Err(failure) = self.rejected(main) {
            return failure;
        }
        Failure::new(
            Kind::Unsettled,
            "the program waits for a promise that nothing can settle any more: no call is open and nothing is left to do. \
             There are no timers here; await only calls of tools and what follows from them",
        )
    }

    /// A promise that was rejected without anybody handling it.
    fn rejected(&self, main: &Promise<'js>) -> Result<(), Failure> {
        let left: Vec<_> = self.unhandled.borrow().values().cloned().collect();
        for [promise, reason] in left {
            let (Ok(promise), Ok(reason)) = (promise.restore(self.ctx), reason.restore(self.ctx)) else { continue };
            if same(main, &promise) {
                continue;
            }
            return Err(self.failure(How::Rejected, &reason));
        }
        Ok(())
    }

    fn encode(&self, value: &Value<'js>) -> Result<Vec<u8>, Failure> {
        if value.is_undefined() {
            return Ok(Vec::new());
        }
        let most = self.host.limits.result_bytes;
        let encoded = encode(self.ctx, value, most);
        if self.ended() {
            return Err(self.thrown());
        }
        encoded.map_err(|refusal| match refusal {
            Refusal::TooLong => {
                let what = format!("the program returned more than {most} bytes; return less, or write it to a file");
                Failure::limit(Kind::OutputLimit, what, "code.result_bytes")
            }
            refusal => Failure::new(Kind::Exception, refusal.message("what the program returned")),
        })
    }
}
