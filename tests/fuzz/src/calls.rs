//! The dispatcher: any calls of any tools, one after the other, and any document of the one-shot protocol.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use toolgate::bytes::Bytes;
use toolgate::model::world::RealWorld;
use toolgate::{Dispatcher, Ledger, Memory, Registry, Settings, WsPath, oneshot, tools};

use super::edits::call;

/// Takes `data` for a document of the one-shot protocol, and for the choices of a caller that knows the tools.
pub fn dispatch(data: &[u8]) {
    document(data);
    let mut source = Source(data);
    let exact = source.one_of(2) == 1;
    let memory = Memory::from_files(files());
    let mut registry = Registry::new();
    tools::register(&mut registry).expect("tools");
    let names: Vec<String> = registry.iter().map(|tool| tool.spec().name.to_owned()).collect();
    let schemas: Vec<Value> = registry.iter().map(|tool| tool.input_schema().clone()).collect();
    let settings = if exact { Settings::exact() } else { Settings::served() };
    let dispatcher =
        Dispatcher::new(registry, memory.clone(), settings).with_ledger(Ledger::in_memory(Arc::new(RealWorld)));
    for _ in 0..16 {
        if source.0.is_empty() {
            break;
        }
        let tool = source.one_of(names.len());
        let arguments = source.arguments(&schemas[tool]);
        let before = memory.snapshot();
        let done = call(&dispatcher, &names[tool], arguments.clone());
        let after = memory.snapshot();
        let told = format!("{} with {arguments}", names[tool]);
        match (&done.outcome, done.change) {
            (Err(error), _) => {
                assert_eq!(before, after, "a failure changes nothing: {told}");
                assert!(!error.message.is_empty(), "{told}");
            }
            (Ok(output), change) => {
                output.structured().unwrap_or_else(|error| panic!("{error}: {told}"));
                assert_eq!(before != after, change.is_some(), "what changes is recorded: {told}");
            }
        }
        if let (Some(change), true) = (done.change, source.one_of(2) == 1) {
            let undone = call(&dispatcher, "undo_change", json!({ "change": change.to_string() }));
            assert!(undone.outcome.is_ok(), "{undone:?} after {told}");
            assert_eq!(memory.snapshot(), before, "undone: {told}");
        }
    }
}

fn files() -> Vec<(WsPath, Bytes)> {
    let file = |(path, bytes): (&str, &'static [u8])| (WsPath::parse(path).expect("a path"), Bytes::from_static(bytes));
    [
        ("a.txt", &b"one\ntwo\nthree\n"[..]),
        ("dir/b.txt", b"one\r\ntwo\r\none"),
        ("dir/deep/wide", b"\xFF\xFEo\0n\0e\0\n\0"),
        ("caf\u{e9}", b"\xEF\xBB\xBFone\n"),
        ("binary", b"\0\x01\x02"),
        ("empty", b""),
    ]
    .map(file)
    .to_vec()
}

/// A document of the one-shot protocol is refused or answered, and a failed call leaves its workspace.
fn document(data: &[u8]) {
    let Ok(answer) = oneshot::answer(data) else { return };
    let said: Value = serde_json::from_str(&answer.to_json()).expect("an answer is JSON");
    if said["status"] == "error" {
        // Arguments may hold what no text can, such as half a surrogate pair; that is the model's to mend.
        let Ok(asked) = serde_json::from_slice::<Value>(data) else { return };
        assert_eq!(said["workspace"], asked["workspace"], "a failure changes nothing");
    }
}

/// Bytes as a row of choices; when they run out, the first is chosen.
struct Source<'a>(&'a [u8]);

const PATHS: &[&str] = &[
    "a.txt",
    "dir/b.txt",
    "dir",
    "dir/deep/wide",
    "caf\u{e9}",
    "cafe\u{301}",
    "binary",
    "empty",
    ".",
    "",
    "new",
    "dir/new",
    "no/new",
    "../a.txt",
    "/etc/passwd",
    "a.txt/x",
    "./dir//b.txt",
    "a\0b",
    "a.txt/",
    "dir/../a.txt",
    "x\ny",
];

const TEXTS: &[&str] = &[
    "one",
    "two",
    "\n",
    "one\n",
    "",
    "\r\n",
    "ONE",
    "three",
    "\u{feff}",
    "\0",
    "o",
    "one\r\n",
    "e\u{301}",
    "\r",
    "1: one",
    "todo",
    "pending",
    "done",
    "in_progress",
    "*",
    "**/*.txt",
    "[",
    "(",
    "\\",
    "a{1000000}",
    "e.*",
];

impl Source<'_> {
    fn byte(&mut self) -> usize {
        let Some((&byte, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        usize::from(byte)
    }

    fn one_of(&mut self, count: usize) -> usize {
        self.byte() % count
    }

    /// Arguments for a schema: most of what it names, each mostly of the sort that it asks for.
    fn arguments(&mut self, schema: &Value) -> Value {
        if self.one_of(32) == 31 {
            return self.anything(2);
        }
        let mut arguments = Map::new();
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            let required = schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
            if self.one_of(8) < if required { 7 } else { 3 } {
                let value = self.value(name, field);
                arguments.insert(name.clone(), value);
            }
        }
        if self.one_of(32) == 31 {
            arguments.insert("extra".to_owned(), self.anything(1));
        }
        Value::Object(arguments)
    }

    fn value(&mut self, name: &str, schema: &Value) -> Value {
        match schema["type"].as_str() {
            _ if self.one_of(16) == 15 => self.anything(2),
            Some("string") if name.contains("path") || name == "from" || name == "to" => {
                PATHS[self.one_of(PATHS.len())].into()
            }
            Some("string") => TEXTS[self.one_of(TEXTS.len())].into(),
            Some("boolean") => (self.one_of(2) == 1).into(),
            Some("integer") => [1, 2, 3, 0, 7, 1_000_000, -1][self.one_of(7)].into(),
            Some("array") => {
                let count = self.one_of(4);
                (0..count).map(|_| self.value(name, &schema["items"])).collect()
            }
            Some("object") => self.arguments(schema),
            _ => self.anything(2),
        }
    }

    fn anything(&mut self, depth: usize) -> Value {
        match self.one_of(8) {
            0 => Value::Null,
            1 => true.into(),
            2 => (-1).into(),
            3 => json!(1.5),
            4 => u64::MAX.into(),
            5 => TEXTS[self.one_of(TEXTS.len())].into(),
            6 if depth > 0 => Value::Array(vec![self.anything(depth - 1)]),
            7 if depth > 0 => json!({ "path": self.anything(depth - 1) }),
            _ => "5".into(),
        }
    }
}
