//! The same request in both eras, and servers of the library behind two pipes.

use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Read, Write, pipe};
use std::thread::{JoinHandle, spawn};

use serde_json::{Value, json};
use toolgate::Workspace;

use crate::suite::support::MODERN;

/// Which kind of client asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    Modern,
    Legacy,
}

pub const ERAS: [Era; 2] = [Era::Modern, Era::Legacy];

/// A client of a server, however it is reached.
pub trait Client {
    fn send(&mut self, message: &Value);
    fn recv(&mut self) -> Value;

    /// Sends a request of that era, whose client can be asked what `capabilities` say, and waits for its answer; what else
    /// comes on the way is given to `meanwhile`.
    fn ask(&mut self, era: Era, request: Request<'_>, mut meanwhile: impl FnMut(&mut Self, Value)) -> Value {
        let Request { id, method, mut params, capabilities } = request;
        if era == Era::Modern {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = MODERN.into();
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = capabilities;
        }
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let message = self.recv();
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
            meanwhile(self, message);
        }
    }

    /// The same, where nothing else may come.
    fn request(&mut self, era: Era, method: &str, params: Value) -> Value {
        let request = Request { id: "r".into(), method, params, capabilities: json!({}) };
        self.ask(era, request, |_, other| panic!("nobody asked for {other}"))
    }

    /// Shakes hands as a legacy client of that revision does.
    fn shake_hands(&mut self, version: &str, capabilities: Value) -> Value {
        let params = json!({"protocolVersion": version, "capabilities": capabilities, "clientInfo": {"name": "t", "version": "1"}});
        let answer = self.request(Era::Legacy, "initialize", params);
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        answer
    }
}

/// What is asked.
pub struct Request<'a> {
    pub id: Value,
    pub method: &'a str,
    pub params: Value,
    pub capabilities: Value,
}

impl Client for crate::suite::support::Server {
    fn send(&mut self, message: &Value) {
        crate::suite::support::Server::send(self, message);
    }

    fn recv(&mut self) -> Value {
        crate::suite::support::Server::recv(self)
    }
}

/// A server of the library in this process.
pub struct Session {
    to: Option<PipeWriter>,
    from: BufReader<PipeReader>,
    server: Option<JoinHandle<std::io::Result<()>>>,
}

impl Session {
    pub fn start<W: Workspace>(server: toolgate::Server<W>) -> Self {
        let (input, to) = pipe().expect("a pipe");
        let (from, output) = pipe().expect("a pipe");
        let server = spawn(move || server.serve_streams(input, output));
        Session { to: Some(to), from: BufReader::new(from), server: Some(server) }
    }

    /// Ends the input; what still came is returned.
    pub fn end(mut self) -> Vec<Value> {
        self.to = None;
        let rest = self.from.by_ref().lines().map(|line| serde_json::from_str(&line.expect("a line")).expect("JSON"));
        let rest = rest.collect();
        self.server.take().expect("a server").join().expect("no panic").expect("no error");
        rest
    }
}

impl Client for Session {
    fn send(&mut self, message: &Value) {
        let to = self.to.as_mut().expect("an open stream");
        to.write_all(format!("{message}\n").as_bytes()).expect("a server that reads");
    }

    fn recv(&mut self) -> Value {
        let mut line = String::new();
        self.from.read_line(&mut line).expect("a line");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }
}

/// What every modern result carries; `keep` is whether it says how long it may be kept.
pub fn assert_modern(result: &Value, keep: Option<u64>) {
    assert_eq!(result["resultType"], "complete", "{result}");
    assert_eq!(result["ttlMs"].as_u64(), keep, "{result}");
    assert_eq!(result["cacheScope"].as_str(), keep.map(|_| "private"), "{result}");
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "toolgate", "{result}");
}
