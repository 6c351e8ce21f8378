//! The worker's end of the two pipes.

use std::io::{self, Read, Write};

use serde::Serialize;

use crate::code::failure::Failure;
use crate::code::frames::{self, BEGIN, Begin, FAILED, HELLO, Hello, LOG, RESULT, VALUE};

/// Standard input and output as frames. Without the server at the other end there is nothing to live for.
pub(super) struct Pipes {
    input: io::StdinLock<'static>,
    output: io::StdoutLock<'static>,
    /// What is to be written with the next frame that cannot wait.
    waiting: Vec<u8>,
}

impl Pipes {
    pub(super) fn new() -> Self {
        Pipes { input: io::stdin().lock(), output: io::stdout().lock(), waiting: Vec::new() }
    }

    pub(super) fn begin(&mut self) -> Option<Begin> {
        let (kind, payload) = self.read()?;
        if kind == BEGIN { serde_json::from_slice(&payload).ok() } else { None }
    }

    pub(super) fn hello(&mut self, hello: &Hello) -> Option<()> {
        self.json(HELLO, hello)
    }

    /// Written at once: a program that is killed has printed what it has printed.
    pub(super) fn log(&mut self, text: &str) {
        self.push(LOG, text.as_bytes());
        self.flush();
    }

    /// The value as JSON; nothing for `undefined`.
    pub(super) fn value(&mut self, json: &[u8]) {
        self.push(VALUE, json);
        self.flush();
    }

    pub(super) fn failed(&mut self, failure: &Failure) {
        let _ = self.json(FAILED, failure);
    }

    /// Written with the next frame that cannot wait.
    pub(super) fn push(&mut self, kind: u8, payload: &[u8]) {
        frames::push(&mut self.waiting, kind, payload);
    }

    /// What a call came to, as JSON. Waits for it.
    pub(super) fn result(&mut self) -> Option<Vec<u8>> {
        self.flush();
        let (kind, payload) = self.read()?;
        (kind == RESULT).then_some(payload)
    }

    fn json(&mut self, kind: u8, value: &impl Serialize) -> Option<()> {
        let payload = serde_json::to_vec(value).ok()?;
        self.push(kind, &payload);
        self.flush();
        Some(())
    }

    fn read(&mut self) -> Option<(u8, Vec<u8>)> {
        let mut head = [0; 5];
        self.input.read_exact(&mut head).ok()?;
        let (kind, length) = frames::header(head);
        let mut payload = vec![0; length];
        self.input.read_exact(&mut payload).ok()?;
        Some((kind, payload))
    }

    fn flush(&mut self) {
        if self.output.write_all(&self.waiting).and_then(|()| self.output.flush()).is_err() {
            std::process::exit(1);
        }
        self.waiting.clear();
    }
}
