//! The frame parser, behind a whole server: any bytes on its input.

use std::io::{Cursor, Write};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use toolgate::{Memory, Server, WsPath};

/// What a server writes.
#[derive(Clone, Default)]
struct Output(Arc<Mutex<Vec<u8>>>);

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("nobody panics with it").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Serves `data`. Whatever it is, the server ends when it does, and what it has said is JSON-RPC, a line a message.
pub fn frame(data: &[u8]) {
    let memory = Memory::from_files([(WsPath::parse("a.txt").expect("a path"), "one\ntwo\n".into())]);
    let output = Output::default();
    let server = Server::new(memory).reading_tools().expect("tools");
    server.serve_streams(Cursor::new(data.to_vec()), output.clone()).expect("an input that can be read");
    let written = output.0.lock().expect("nobody panics with it");
    let text = std::str::from_utf8(&written).expect("UTF-8");
    assert!(text.is_empty() || text.ends_with('\n'), "the last line is whole");
    for line in text.lines() {
        let message: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line}"));
        let messages = message.as_array().cloned().unwrap_or_else(|| vec![message]);
        assert!(!messages.is_empty(), "an empty batch is no answer");
        for message in messages {
            assert_eq!(message["jsonrpc"], "2.0", "{message}");
            let kinds = ["result", "error", "method"].iter().filter(|kind| message.get(kind).is_some()).count();
            assert_eq!(kinds, 1, "{message}");
            assert!(message["error"]["code"] != -32603, "nothing fails inside: {message}");
        }
    }
}
