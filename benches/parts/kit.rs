//! What the measurements share: texts, folders, dispatchers and a runtime.

use std::fs;
use std::sync::Arc;

use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};
use toolgate::model::world::RealWorld;
use toolgate::{Call, Caller, Control, Dispatcher, Ledger, Local, Registry, Settings, tools};

/// Lines of code, so many bytes of them.
pub fn lines(bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 100);
    for number in 0.. {
        if text.len() >= bytes {
            break;
        }
        text.push_str(&format!("let value_{number:08} = compute({number}, \"some words\"); // and a remark\n"));
    }
    text.truncate(bytes);
    text
}

/// A folder with these files.
pub fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, content) in files {
        fs::write(folder.path().join(name), content).expect("a file");
    }
    folder
}

/// The tools on the files of a folder, recorded in memory.
pub fn dispatcher(folder: &TempDir) -> Dispatcher {
    let mut registry = Registry::new();
    tools::register(&mut registry).expect("the tools");
    let local = Local::open(folder.path()).expect("a workspace");
    let ledger = Ledger::in_memory(Arc::new(RealWorld));
    Dispatcher::new(registry, local, Settings::served()).with_ledger(ledger)
}

/// Makes one call, which has to be answered.
pub async fn call(dispatcher: &Dispatcher, tool: &str, arguments: Value) -> String {
    let call = Call { tool: tool.to_owned(), arguments: Ok(arguments) };
    let done = dispatcher.dispatch(call, &Caller::Embedder, Control::default()).await.expect("a tool of that name");
    done.outcome.expect("an output").observation()
}

/// What a server runs on.
pub fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime")
}
