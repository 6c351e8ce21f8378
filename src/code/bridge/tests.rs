//! Which calls of a program are under way at a time: held open one by one, so that nothing depends on how fast they are.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::task::Waker;
use std::time::Duration;

use tokio::sync::oneshot;

use super::*;
use crate::code::frames::{VALUE_BYTES, WINDOW, weight};
use crate::model::id::{CallId, ChangeId};
use crate::tool::registry::Registry;

/// Tools of which each call goes on until a test ends it, or it is taken back.
struct Held {
    registry: Registry,
    cancel: CancellationToken,
    under_way: Mutex<BTreeMap<u64, oneshot::Sender<()>>>,
    taken_back: Mutex<Vec<u64>>,
}

impl Held {
    fn new() -> Self {
        let mut registry = Registry::new();
        crate::tools::register(&mut registry).expect("fit tools");
        Held { registry, cancel: CancellationToken::new(), under_way: Mutex::default(), taken_back: Mutex::default() }
    }

    fn under_way(&self) -> Vec<u64> {
        self.under_way.lock().expect("a lock").keys().copied().collect()
    }

    fn end(&self, number: u64) {
        let ends = self.under_way.lock().expect("a lock").remove(&number).expect("a call that is under way");
        ends.send(()).expect("a call that waits");
    }
}

impl Calls for Held {
    fn tools(&self) -> &Registry {
        &self.registry
    }

    fn outer(&self) -> CallId {
        CallId(1)
    }

    fn group(&self) -> Option<ChangeId> {
        None
    }

    fn cancelled(&self) -> &CancellationToken {
        &self.cancel
    }

    fn call(&self, call: InnerCall) -> BoxFuture<'_, Made> {
        let (ends, ended) = oneshot::channel();
        self.under_way.lock().expect("a lock").insert(call.number, ends);
        let made = || Made { outcome: Err(ToolError::new(ErrorCode::IoError, "ended")), change: None, replaced: None };
        Box::pin(async move {
            if call.cancel.run_until_cancelled(ended).await.is_none() {
                self.taken_back.lock().expect("a lock").push(call.number);
            }
            made()
        })
    }
}

fn bridge(held: &Held, limits: Limits) -> Bridge<'_> {
    Bridge::new(held, Arc::new(Clock::new(Duration::from_secs(600))), limits, "a test".to_owned())
}

fn call(id: u64, tool: &str) -> CallFrame {
    weighing(id, tool, VALUE_BYTES)
}

fn weighing(id: u64, tool: &str, weight: usize) -> CallFrame {
    CallFrame { id, tool: tool.to_owned(), arguments: json!({}), weight }
}

/// Lets it do all it can; the program has read what it was answered before.
fn poll(bridge: &mut Bridge<'_>) {
    bridge.poll(&mut Vec::new(), &mut Context::from_waker(Waker::noop()));
}

#[test]
fn up_to_ten_that_look_overlap_and_one_that_changes_something_is_alone() {
    let held = Held::new();
    let mut bridge = bridge(&held, Limits::default());
    for id in 1..=12 {
        bridge.take(call(id, "read_file")).expect("a call");
    }
    for (id, tool) in [(13, "write_file"), (14, "list_dir"), (15, "read_file")] {
        bridge.take(call(id, tool)).expect("a call");
    }
    poll(&mut bridge);
    assert_eq!(held.under_way(), (1..=10).collect::<Vec<_>>());
    held.end(4);
    poll(&mut bridge);
    assert_eq!(held.under_way(), [1, 2, 3, 5, 6, 7, 8, 9, 10, 11], "the next begins, in order");
    for id in [1, 2, 3, 5, 6, 7, 8, 9, 10, 11] {
        held.end(id);
        poll(&mut bridge);
    }
    assert_eq!(held.under_way(), [12], "what changes something waits for all before it");
    held.end(12);
    poll(&mut bridge);
    assert_eq!(held.under_way(), [13], "and all after it wait for it");
    held.end(13);
    poll(&mut bridge);
    assert_eq!(held.under_way(), [14, 15]);
}

#[test]
fn what_is_unanswered_is_bounded_in_number_and_in_weight() {
    let held = Held::new();
    let limits = Limits { call_bytes: 1000, ..Limits::default() };
    let mut many = bridge(&held, Limits::default());
    for id in 1..=WINDOW as u64 {
        many.take(call(id, "write_file")).expect("a call");
    }
    assert!(many.take(call(WINDOW as u64 + 1, "write_file")).is_err());
    let mut heavy = bridge(&held, limits);
    heavy.take(weighing(1, "write_file", 600)).expect("a call");
    heavy.take(weighing(2, "write_file", 400)).expect("as much as one may be");
    assert!(heavy.take(weighing(3, "write_file", 64)).is_err());
    let mut one = bridge(&held, limits);
    one.take(weighing(1, "write_file", 1000)).expect("a call");
    poll(&mut one);
    held.end(1);
    poll(&mut one);
    one.take(weighing(2, "write_file", 1000)).expect("the one before is answered");
    assert_eq!((weight(10, 1), weight(1000, 1), weight(10, 20)), (VALUE_BYTES, 1000, 20 * VALUE_BYTES));
}

/// A process that makes calls and never reads what comes of them.
#[test]
fn nothing_begins_while_too_much_is_unread() {
    let held = Held::new();
    let limits = Limits { call_bytes: 1000, ..Limits::default() };
    let mut bridge = bridge(&held, limits);
    for id in 1..=2 {
        bridge.take(call(id, "write_file")).expect("a call");
    }
    let mut unread = vec![0; 990];
    let mut cx = Context::from_waker(Waker::noop());
    bridge.poll(&mut unread, &mut cx);
    held.end(1);
    bridge.poll(&mut unread, &mut cx);
    assert!(unread.len() > 1000, "what was under way is answered");
    assert!(held.under_way().is_empty() && bridge.is_held_back());
    bridge.poll(&mut Vec::new(), &mut cx);
    assert_eq!(held.under_way(), [2]);
    assert!(!bridge.is_held_back());
}

/// What is under way is taken back and waited for; what has not begun never does.
#[test]
fn a_run_is_over_only_when_nothing_of_it_can_happen() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let held = Held::new();
    let mut bridge = bridge(&held, Limits::default());
    for id in 1..=3 {
        bridge.take(call(id, "read_file")).expect("a call");
    }
    bridge.take(call(4, "write_file")).expect("a call");
    poll(&mut bridge);
    held.end(2);
    let notes = runtime.block_on(bridge.drain());
    let told: Vec<_> = notes.iter().map(|note| note.id.as_str()).collect();
    assert_eq!(told, ["1:code:1", "1:code:2", "1:code:3"]);
    assert_eq!(*held.taken_back.lock().expect("a lock"), [1, 3]);
    assert!(!held.under_way().contains(&4));
}

#[test]
fn of_what_calls_name_only_so_much_is_kept() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let held = Held::new();
    let mut bridge = bridge(&held, Limits::default());
    let named = ["a".to_owned(), "b".repeat(PATH), "c".repeat(PATH + 1), "d".repeat(2 * PATHS)];
    for (id, path) in (1..).zip(&named) {
        bridge.take(CallFrame { arguments: json!({ "path": path }), ..call(id, "read_file") }).expect("a call");
    }
    poll(&mut bridge);
    let cut = |path: &str| format!("{}… (cut)", &path[..PATH]);
    let many: Vec<Value> = (0..PATHS / 32).map(|_| json!({ "path": "e" })).collect();
    bridge.take(CallFrame { arguments: json!({ "patches": many }), ..call(5, "patch_files") }).expect("a call");
    for id in 1..=4 {
        held.end(id);
    }
    poll(&mut bridge);
    let notes = runtime.block_on(bridge.drain());
    let kept: Vec<_> = notes[..4].iter().map(|note| note.paths.concat()).collect();
    assert_eq!(kept, [named[0].clone(), named[1].clone(), cut(&named[2]), cut(&named[3])]);
    let sum: usize = notes.iter().flat_map(|note| &note.paths).map(|path| path.len() + VALUE_BYTES).sum();
    assert!(sum <= PATHS && notes[4].paths.len() > PATHS / 100, "{sum} bytes");
}

#[test]
fn the_calls_of_a_run_are_taken_back_with_it() {
    let held = Held::new();
    let bridge = bridge(&held, Limits::default());
    held.cancel.cancel();
    assert!(bridge.cancel.is_cancelled());
}
