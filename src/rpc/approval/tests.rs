//! A connection whose writes are asked about, and what passes over it.

mod asking;
mod message;
mod retrying;
mod state;

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jsonrpsee::RpcModule;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

use crate::dispatch::{Completed, Control, Dispatcher};
use crate::gate::Ground;
use crate::gate::approval::{Answer, Question};
use crate::model::call::{Call, Caller};
use crate::model::error::{ErrorCode, ProtocolError, ToolError};
use crate::model::world::World;
use crate::rpc::approval::Approvals;
use crate::rpc::call_params::CallSlot;
use crate::rpc::connection::{Accepted, Connection, Order, Outbox};
use crate::rpc::news::News;
use crate::rpc::principal::{Access, Principal};
use crate::rpc::{Mcp, Parts, Profile, Shared, lifecycle, tools};
use crate::tool::registry::Registry;
use crate::tool::view::Settings;
use crate::workspace::memory::Memory;

/// Nothing here takes long; a slow machine may.
const SOON: Duration = Duration::from_secs(20);

/// A world that a test moves.
#[derive(Default)]
struct TestWorld {
    seconds: AtomicI64,
    drawn: AtomicU64,
}

impl World for TestWorld {
    fn now(&self) -> jiff::Timestamp {
        jiff::Timestamp::from_second(1_800_000_000 + self.seconds.load(Ordering::SeqCst)).expect("a time")
    }

    fn random(&self) -> u128 {
        u128::from(self.drawn.fetch_add(1, Ordering::SeqCst)) + 1
    }
}

struct Sent(Mutex<Sender<String>>);

impl Outbox for Sent {
    fn send(&self, frame: &str) {
        // The test may be over.
        let _ = self.0.lock().expect("a lock").send(frame.to_owned());
    }
}

/// A server that asks before each `write_file`.
struct Kit {
    mcp: Mcp,
    connection: Connection,
    frames: Receiver<String>,
    runtime: Runtime,
    world: Arc<TestWorld>,
    /// Another number, another effect of the same call.
    effect: Arc<AtomicU64>,
}

impl Kit {
    fn new(patience: Duration) -> Self {
        let world = Arc::new(TestWorld::default());
        let effect = Arc::new(AtomicU64::new(0));
        let mcp = mcp(Approvals::new(Arc::clone(&world) as _, patience), &effect);
        let (sender, frames) = channel();
        let connection =
            Connection::new(mcp.clone(), Principal::local(), Arc::new(Sent(Mutex::new(sender))), Order::Kept);
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        Kit { mcp, connection, frames, runtime, world, effect }
    }

    /// The same server, seen by somebody else.
    fn other_client(&self, principal: &str) -> Connection {
        let (sender, _) = channel();
        let principal = Principal { name: principal.to_owned(), access: Access::Write };
        Connection::new(self.mcp.clone(), principal, Arc::new(Sent(Mutex::new(sender))), Order::Kept)
    }

    /// Sends a message; what comes of it comes later.
    fn send(&self, message: &Value) -> JoinHandle<Option<String>> {
        self.send_over(&self.connection, message)
    }

    fn send_over(&self, connection: &Connection, message: &Value) -> JoinHandle<Option<String>> {
        match connection.accept(message.to_string()) {
            Accepted::Nothing => self.runtime.spawn(async { None }),
            Accepted::Answer(answer) => self.runtime.spawn(async { Some(answer.frame) }),
            Accepted::Pending(pending) => self.runtime.spawn(async { pending.await.map(|answer| answer.frame) }),
        }
    }

    /// What has come of a message, or nothing if nothing ever does.
    fn wait(&self, answer: JoinHandle<Option<String>>) -> Option<Value> {
        let answer = self.runtime.block_on(async { tokio::time::timeout(SOON, answer).await });
        let answer = answer.expect("an answer in time").expect("no panic");
        answer.map(|answer| serde_json::from_str(&answer).expect("JSON"))
    }

    fn exchange(&self, message: &Value) -> Value {
        self.wait(self.send(message)).expect("an answer")
    }

    /// The next frame that was not the answer to one.
    fn frame(&self) -> Value {
        serde_json::from_str(&self.frames.recv_timeout(SOON).expect("a frame")).expect("JSON")
    }

    fn assert_silent(&self) {
        assert_eq!(self.frames.recv_timeout(Duration::from_millis(20)), Err(RecvTimeoutError::Timeout));
    }

    fn initialize(&self, version: &str, capabilities: Value) {
        let params = json!({"protocolVersion": version, "capabilities": capabilities});
        self.exchange(&json!({"jsonrpc": "2.0", "id": "init", "method": "initialize", "params": params}));
    }

    /// What the file holds that is written here, or nothing where there is none.
    fn written(&self) -> Option<String> {
        let params = json!({"name": "read_file", "arguments": {"path": "a.txt"}});
        let answer = self.exchange(&json!({"jsonrpc": "2.0", "id": "read", "method": "tools/call", "params": params}));
        let result = &answer["result"];
        result.get("isError").is_none().then(|| result["content"][0]["text"].as_str().expect("text").to_owned())
    }
}

fn mcp(approvals: Approvals, effect: &Arc<AtomicU64>) -> Mcp {
    let mut registry = Registry::new();
    crate::tools::register(&mut registry).expect("tools");
    let dispatcher = Dispatcher::new(registry, Memory::new(), Settings::served());
    let shared = Shared::new(dispatcher, Profile::default(), approvals, News::default());
    let parts = Parts::of(&shared);
    let mut module = RpcModule::new(shared);
    lifecycle::register(&mut module).expect("methods");
    let effect = Arc::clone(effect);
    let method = module.register_async_method("tools/call", move |params, shared, extensions| {
        let effect = effect.load(Ordering::SeqCst);
        async move {
            let dispatcher = Arc::clone(&shared.dispatcher);
            let gate = |call, caller, control| async move { gate(&dispatcher, call, caller, control, effect).await };
            tools::answer(CallSlot::take(&extensions, &params)?, &shared, &extensions, gate).await
        }
    });
    method.expect("a method");
    Mcp::serving(module, parts)
}

/// Asks before it lets a write pass.
async fn gate(
    dispatcher: &Dispatcher,
    call: Call,
    caller: Caller,
    mut control: Control,
    effect: u64,
) -> Result<Completed, ProtocolError> {
    if call.tool == "write_file" {
        // Its place in line is used up by a look: nobody needs to wait for a call that only asks.
        let look = Call { tool: "list_dir".to_owned(), arguments: Ok(json!({})) };
        let in_turn = Control { place: control.place.take(), ..Control::default() };
        dispatcher.dispatch(look, &caller, in_turn).await?.outcome.expect("a list");
        let asked = Question { digest: [u8::try_from(effect).expect("small"); 32], ..question("+one\n") };
        let answer = control.approver.ask(&asked).await;
        if answer != Answer::Approved {
            return Ok(Completed::new(Err(ToolError::new(ErrorCode::Denied, answer.as_str()))));
        }
    }
    dispatcher.dispatch(call, &caller, control).await
}

fn question(diff: &str) -> Question {
    Question {
        tool: "write_file".to_owned(),
        card: "Write a.txt".to_owned(),
        diff: diff.to_owned(),
        ground: Ground { by: "rule 2".to_owned(), reason: "writes are asked about".to_owned() },
        digest: [7; 32],
    }
}

/// The call that is asked about.
fn write() -> Value {
    json!({"name": "write_file", "arguments": {"path": "a.txt", "content": "one\n"}})
}

/// Why a call was denied.
fn denial(answer: &Value) -> &str {
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    answer["result"]["content"][0]["text"].as_str().expect("text")
}
