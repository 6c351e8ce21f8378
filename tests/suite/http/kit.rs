//! The binary behind a socket, spoken to byte by byte, so that headers are exactly those of the test.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::channel;
use std::thread::{JoinHandle, spawn};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolgate::tokio_util::sync::CancellationToken;
use toolgate::{HttpOptions, Workspace};

use super::super::support::{MODERN, TOOLGATE, Temp};

/// How long an answer may take. Long, since a slow machine is no fault of the server.
const PATIENCE: Duration = Duration::from_secs(30);

/// `toolgate serve --http`, on a port that was free.
pub struct Site {
    child: Child,
    pub address: SocketAddr,
    state: Temp,
}

impl Site {
    pub fn start(root: &Path) -> Self {
        Site::start_with(root, &[])
    }

    pub fn start_with(root: &Path, options: &[&str]) -> Self {
        Site::spawn(root, options, Temp::new(), "127.0.0.1:0")
    }

    /// Serves with the configuration `toml`, which is the user's own.
    pub fn configured(root: &Path, toml: &str, options: &[&str]) -> Self {
        let state = Temp::with(&[("toolgate/toolgate.toml", toml)]);
        Site::spawn(root, options, state, "127.0.0.1:0")
    }

    pub fn spawn(root: &Path, options: &[&str], state: Temp, address: &str) -> Self {
        Site::of(command(root, options, &state, address).spawn().expect("the toolgate binary"), state)
    }

    /// The server that has been started so, once it listens.
    pub fn of(mut child: Child, state: Temp) -> Self {
        let mut stderr = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut said = String::new();
        let address = loop {
            let mut line = String::new();
            if stderr.read_line(&mut line).unwrap_or(0) == 0 {
                panic!("it does not serve: {said}");
            }
            if let Some(rest) = line.split("serves MCP at http").nth(1) {
                let authority = rest.trim_start_matches('s').trim_start_matches("://").split('/').next();
                break authority.and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("no address in: {line}"));
            }
            said.push_str(&line);
        };
        // A server whose words nobody reads must not come to wait for that.
        spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
        Site { child, address, state }
    }

    /// Serves with the configuration `toml` and these options, and keeps a log of what is worth the `level`, if one is
    /// asked for: what it says.
    pub fn logged(root: &Path, toml: &str, options: &[&str], level: &str) -> (Self, impl Fn() -> String + use<>) {
        let state = Temp::with(&[("toolgate/toolgate.toml", toml)]);
        let log = state.path().join("log");
        let file = std::fs::File::create(&log).expect("a file");
        let said = move || std::fs::read_to_string(&log).expect("a log");
        let mut command = command(root, options, &state, "127.0.0.1:0");
        let command = if level.is_empty() { command.env_remove("RUST_LOG") } else { command.env("RUST_LOG", level) };
        let mut child = command.stderr(file).spawn().expect("the toolgate binary");
        let address = loop {
            if let Some((_, rest)) = said().split_once("serves MCP at http://")
                && let Some((address, _)) = rest.split_once("/mcp")
            {
                break address.parse().expect("an address");
            }
            assert!(child.try_wait().expect("a process").is_none(), "it has ended: {}", said());
        };
        (Site { child, address, state }, said)
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The folder of the user's configuration and state.
    pub fn home(&self) -> &Temp {
        &self.state
    }

    /// What is recorded of the folder that it serves.
    pub fn log(&self, root: &Path) -> Vec<Value> {
        let mut log = Command::new(TOOLGATE);
        log.arg("log").arg(root).arg("--json").env("XDG_STATE_HOME", self.state.path());
        let said = log.output().expect("the toolgate binary");
        assert!(said.status.success(), "{said:?}");
        let lines = String::from_utf8(said.stdout).expect("text");
        lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    /// Waits until it has ended by itself.
    pub fn wait(mut self) -> ExitStatus {
        self.child.wait().expect("an exit status")
    }

    /// Asks it to end as an operator does.
    #[cfg(unix)]
    pub fn signal(&self, name: &str) {
        let status = Command::new("kill").args(["-s", name, &self.id().to_string()]).status();
        assert!(status.expect("kill").success());
    }

    pub fn connect(&self) -> Wire {
        connect(self.address)
    }

    /// Sends a request over a connection of its own.
    pub fn send(&self, request: Ask) -> Answer {
        send(self.address, request)
    }

    /// A request of the stateless era with all headers that belong to it.
    pub fn modern(&self, method: &str, params: Value) -> Answer {
        self.send(modern(json!(1), method, params))
    }

    /// Calls a tool and returns its result.
    pub fn call(&self, tool: &str, arguments: Value) -> Value {
        let answer = self.modern("tools/call", json!({"name": tool, "arguments": arguments}));
        answer.json()["result"].clone()
    }

    /// Opens a session and returns its id.
    pub fn session(&self, version: &str, capabilities: Value) -> String {
        let answer = self.send(post(&initialize(version, capabilities)));
        assert_eq!(answer.status, 200, "{answer:?}");
        assert_eq!(answer.json()["result"]["protocolVersion"], version, "{answer:?}");
        let id = answer.header("mcp-session-id").expect("a session").to_owned();
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(self.send(post(&ready).session(&id)).status, 202);
        id
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Asks until it is so, for a while that is longer than any look at the files takes.
pub fn becomes(what: &str, is: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(20);
    while !is() {
        assert!(Instant::now() < until, "{what}");
    }
}

pub fn connect(address: SocketAddr) -> Wire {
    let stream = TcpStream::connect(address).expect("a connection");
    stream.set_read_timeout(Some(PATIENCE)).expect("a time limit");
    stream.set_write_timeout(Some(PATIENCE)).expect("a time limit");
    Wire::new(stream)
}

/// Sends a request over a connection of its own.
pub fn send(address: SocketAddr, request: Ask) -> Answer {
    let mut wire = connect(address);
    wire.send(request.headers(&[("connection", "close")]));
    wire.answer()
}

/// A server of the library in this process.
pub struct Host {
    pub address: SocketAddr,
    stop: CancellationToken,
    serving: Option<JoinHandle<std::io::Result<()>>>,
}

impl Host {
    pub fn start<W: Workspace>(server: toolgate::Server<W>) -> Self {
        let (ready, addresses) = channel();
        let (stop, mut options) = (CancellationToken::new(), HttpOptions::default());
        options.on_ready = Some(Box::new(move |address| ready.send(address).expect("a test that waits")));
        options.stop = Some(stop.clone());
        let serving = spawn(move || server.serve_http(options));
        let address = addresses.recv().expect("a server");
        Host { address, stop, serving: Some(serving) }
    }

    /// Asks it to end, and waits until it has.
    pub fn end(mut self) {
        self.stop.cancel();
        self.serving.take().expect("a server").join().expect("no panic").expect("no error");
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// The command that serves.
pub fn command(root: &Path, options: &[&str], state: &Temp, address: &str) -> Command {
    let mut command = Command::new(TOOLGATE);
    command
        .arg("serve")
        .arg(root)
        .args(["--http", address])
        .args(options)
        .env("XDG_STATE_HOME", state.path())
        .env("XDG_CONFIG_HOME", state.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    command
}

pub fn initialize(version: &str, capabilities: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": version, "capabilities": capabilities, "clientInfo": {"name": "test", "version": "1"},
    }})
}

/// What every request of the stateless era carries.
pub fn meta(version: &str) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// A request of the stateless era with all headers that belong to it.
pub fn modern(id: Value, method: &str, mut params: Value) -> Ask {
    if params["_meta"].is_null() {
        params["_meta"] = meta(MODERN);
    }
    let name = params["name"].as_str().or(params["uri"].as_str()).map(str::to_owned);
    let body = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    let ask = post(&body).headers(&[("mcp-protocol-version", MODERN), ("mcp-method", method)]);
    match name {
        Some(name) if matches!(method, "tools/call" | "prompts/get" | "resources/read") => {
            ask.headers(&[("mcp-name", &name)])
        }
        _ => ask,
    }
}

pub fn call(id: Value, tool: &str, arguments: Value) -> Ask {
    modern(id, "tools/call", json!({"name": tool, "arguments": arguments}))
}

/// A POST to `/mcp` with what every client sends, and nothing that says an era.
pub fn post(body: &Value) -> Ask {
    post_text(&body.to_string())
}

pub fn post_text(body: &str) -> Ask {
    Ask::new("POST", "/mcp")
        .headers(&[("content-type", "application/json"), ("accept", "application/json, text/event-stream")])
        .body(body)
}

/// A request, before it is sent.
#[derive(Debug, Clone)]
pub struct Ask {
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Option<Vec<u8>>,
}

impl Ask {
    pub fn new(method: &str, path: &str) -> Self {
        Ask { method: method.to_owned(), path: path.to_owned(), headers: Vec::new(), body: None }
    }

    pub fn get(path: &str) -> Self {
        Ask::new("GET", path)
    }

    /// Adds headers.
    pub fn headers(mut self, headers: &[(&str, &str)]) -> Self {
        self.headers.extend(headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        self
    }

    /// Puts a header in the place of those of its name.
    pub fn instead(self, name: &str, value: &str) -> Self {
        self.without(name).headers(&[(name, value)])
    }

    pub fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(other, _)| other != name);
        self
    }

    pub fn session(self, id: &str) -> Self {
        self.headers(&[("mcp-session-id", id)])
    }

    pub fn token(self, token: &str) -> Self {
        self.headers(&[("authorization", &format!("Bearer {token}"))])
    }

    pub fn body(mut self, body: &str) -> Self {
        self.body = Some(body.as_bytes().to_vec());
        self
    }

    /// The bytes that go out.
    pub fn bytes(&self) -> Vec<u8> {
        let mut text = format!("{} {} HTTP/1.1\r\n", self.method, self.path);
        let has = |name: &str| self.headers.iter().any(|(other, _)| other == name);
        if !has("host") {
            text.push_str("host: 127.0.0.1\r\n");
        }
        for (name, value) in self.headers.iter().filter(|(name, value)| !(name == "host" && value.is_empty())) {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        if let Some(body) = self.body.as_ref().filter(|_| !has("content-length") && !has("transfer-encoding")) {
            text.push_str(&format!("content-length: {}\r\n", body.len()));
        }
        text.push_str("\r\n");
        let mut bytes = text.into_bytes();
        bytes.extend_from_slice(self.body.as_deref().unwrap_or_default());
        bytes
    }
}

/// One connection.
pub struct Wire<S = TcpStream> {
    pub stream: BufReader<S>,
    chunked: bool,
    rest: Vec<u8>,
}

/// What came back.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body, or the last message of its events.
    pub fn json(&self) -> Value {
        let text = self.text();
        let text = match self.header("content-type") {
            Some("text/event-stream") => text.lines().filter_map(|line| line.strip_prefix("data: ")).next_back(),
            _ => Some(text.as_str()),
        };
        let text = text.unwrap_or_default();
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }

    pub fn code(&self) -> i64 {
        self.json()["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {self:?}"))
    }
}

/// One event of a stream.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Event {
    pub id: Option<String>,
    pub data: String,
    pub retry: Option<String>,
}

impl Event {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.data).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }
}

impl<S: Read + Write> Wire<S> {
    pub fn new(stream: S) -> Self {
        Wire { stream: BufReader::new(stream), chunked: false, rest: Vec::new() }
    }

    pub fn send(&mut self, ask: Ask) {
        self.write(&ask.bytes());
    }

    pub fn write(&mut self, bytes: &[u8]) {
        self.try_write(bytes).expect("a server that reads");
    }

    pub fn try_write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.stream.get_mut().write_all(bytes)?;
        self.stream.get_mut().flush()
    }

    /// The whole answer.
    pub fn answer(&mut self) -> Answer {
        let mut answer = self.head();
        let length = answer.header("content-length").and_then(|length| length.parse::<usize>().ok());
        if self.chunked {
            while let Some(chunk) = self.chunk() {
                answer.body.extend(chunk);
            }
        } else if let Some(length) = length {
            answer.body = vec![0; length];
            self.stream.read_exact(&mut answer.body).expect("the body");
        }
        answer
    }

    /// Everything before the body.
    pub fn head(&mut self) -> Answer {
        let line = self.line().unwrap_or_else(|| panic!("the connection has ended without an answer"));
        let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.unwrap_or_else(|| panic!("no status in {line:?}"));
        let mut headers = Vec::new();
        while let Some(line) = self.line().filter(|line| !line.is_empty()) {
            let (name, value) = line.split_once(':').unwrap_or_else(|| panic!("no header: {line}"));
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        self.chunked = headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked");
        Answer { status, headers, body: Vec::new() }
    }

    /// The next event of a stream, or nothing at its end. Comments are passed over.
    pub fn event(&mut self) -> Option<Event> {
        loop {
            if let Some(end) = self.rest.windows(2).position(|two| two == b"\n\n") {
                let text: Vec<u8> = self.rest.drain(..end + 2).collect();
                let mut event = Event::default();
                let mut is_event = false;
                for line in String::from_utf8(text).expect("UTF-8").lines() {
                    let (name, value) = line.split_once(':').unwrap_or((line, ""));
                    let value = value.strip_prefix(' ').unwrap_or(value).to_owned();
                    match name {
                        "id" => event.id = Some(value),
                        "data" => {
                            is_event = true;
                            event.data = value;
                        }
                        "retry" => event.retry = Some(value),
                        _ => {}
                    }
                }
                if is_event {
                    return Some(event);
                }
                continue;
            }
            let chunk = self.chunk()?;
            self.rest.extend(chunk);
        }
    }

    /// The next bytes of a chunked body as they come, or nothing at its end.
    pub fn chunk(&mut self) -> Option<Vec<u8>> {
        let line = self.line()?;
        let length = usize::from_str_radix(line.trim(), 16).unwrap_or_else(|_| panic!("no chunk: {line:?}"));
        let mut bytes = vec![0; length];
        self.stream.read_exact(&mut bytes).ok()?;
        self.line();
        (length > 0).then_some(bytes)
    }

    /// Whether the server has closed the connection, once all that still comes is read.
    pub fn ends(&mut self) -> bool {
        let mut rest = Vec::new();
        match self.stream.read_to_end(&mut rest) {
            Ok(_) => true,
            Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
        }
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        match self.stream.read_line(&mut line) {
            Ok(0) => None,
            Ok(_) => Some(line.trim_end_matches(['\r', '\n']).to_owned()),
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => None,
            Err(error) => panic!("no line: {error}"),
        }
    }
}

/// The text of a tool's result.
pub fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {result}"))
}
