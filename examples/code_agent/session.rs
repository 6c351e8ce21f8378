//! A session with toolgate in the same process: the library serves one end of two pipes, and this is the client at the other.

use std::error::Error;
use std::io::{self, BufRead, BufReader, PipeReader, PipeWriter, Write, pipe};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use serde_json::{Value, json};
use toolgate::model::event::Event;
use toolgate::model::world::RealWorld;
use toolgate::{Ledger, Mode, Server, Workspace};

use crate::conversation::{Call, CallResult, Offer};

pub struct Session {
    to: PipeWriter,
    from: BufReader<PipeReader>,
    server: JoinHandle<io::Result<()>>,
    ledger: Ledger,
    asked: u64,
    offers: Vec<Offer>,
}

impl Session {
    /// Serves `workspace` in `mode`, and asks what there is to call.
    pub fn start(workspace: impl Workspace + 'static, mode: Mode) -> Result<Self, Box<dyn Error>> {
        let ledger = Ledger::in_memory(Arc::new(RealWorld));
        let server = Server::new(workspace).builtin_tools()?.ledger(ledger.clone()).mode(mode);
        let (input, to) = pipe()?;
        let (from, output) = pipe()?;
        let server = thread::spawn(move || server.serve_streams(input, output));
        let mut session = Session { to, from: BufReader::new(from), server, ledger, asked: 0, offers: Vec::new() };
        session.ask(
            "initialize",
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "code_agent", "version": "1"}}),
        )?;
        session.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        let list = session.ask("tools/list", json!({}))?;
        let text = |tool: &Value, member: &str| tool[member].as_str().unwrap_or_default().to_owned();
        session.offers = list["tools"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|tool| Offer {
                name: text(tool, "name"),
                description: text(tool, "description"),
                schema: tool["inputSchema"].clone(),
            })
            .collect();
        Ok(session)
    }

    pub fn offers(&self) -> &[Offer] {
        &self.offers
    }

    /// Makes a call for the model. What goes wrong with it is for the model to read.
    pub fn call(&mut self, call: &Call) -> Result<CallResult, Box<dyn Error>> {
        let params = json!({"name": call.name, "arguments": call.arguments});
        let (text, is_error) = match self.ask("tools/call", params) {
            Ok(result) => (texts(&result), result["isError"] == true),
            Err(refused) => (refused.to_string(), true),
        };
        Ok(CallResult { id: call.id.clone(), text, is_error })
    }

    fn ask(&mut self, method: &str, params: Value) -> Result<Value, Box<dyn Error>> {
        self.asked += 1;
        let id = self.asked;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        let mut line = String::new();
        while self.from.read_line(&mut line)? > 0 {
            let mut answer: Value = serde_json::from_str(&line)?;
            if answer["id"] == id {
                return match answer["error"]["message"].as_str() {
                    Some(message) => Err(message.into()),
                    None => Ok(answer["result"].take()),
                };
            }
            line.clear();
        }
        Err("the server has ended".into())
    }

    fn send(&mut self, frame: &Value) -> io::Result<()> {
        writeln!(self.to, "{frame}")?;
        self.to.flush()
    }

    /// Ends the session. What was recorded of it, a line an event.
    pub fn end(self) -> Result<Vec<String>, Box<dyn Error>> {
        drop(self.to);
        drop(self.from);
        self.server.join().map_err(|_| "the server has panicked")??;
        Ok(self.ledger.lines().iter().filter_map(|line| told(&line.event)).collect())
    }
}

fn texts(result: &Value) -> String {
    let blocks = result["content"].as_array().into_iter().flatten();
    blocks.filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
}

fn told(event: &Event) -> Option<String> {
    match event {
        Event::ToolCall { tool, .. } => Some(format!("tool/call {tool}")),
        Event::CodeDispatch { id, tool, arguments } => Some(format!("tool/code-dispatch {id} {tool} {arguments}")),
        Event::ToolResult { tool, card, error: None, .. } => Some(format!("tool/result {tool}: {card}")),
        Event::ToolResult { tool, error: Some(error), .. } => Some(format!("tool/result {tool}: {error}")),
        _ => None,
    }
}
