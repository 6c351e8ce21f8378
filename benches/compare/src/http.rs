//! A server behind a socket, and clients that each keep one call under way over a connection of their own.

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::peers::Call;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// For how long calls are counted.
const WINDOW: Duration = Duration::from_millis(500);

const MODERN: &str = "2026-07-28";
const LEGACY: &str = "2025-06-18";

/// How requests say what they belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// Each by itself.
    Stateless,
    /// Each to a session that was opened before, if the server has sessions.
    Session,
}

/// A server that says where it is on standard error.
pub struct Site {
    child: Child,
    address: SocketAddr,
}

impl Site {
    pub fn start(command: &[String]) -> io::Result<Self> {
        let mut child = Command::new(&command[0])
            .args(&command[1..])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let mut said = BufReader::new(child.stderr.take().ok_or(io::ErrorKind::BrokenPipe)?);
        let mut line = String::new();
        let address = loop {
            line.clear();
            if said.read_line(&mut line)? == 0 {
                return Err(io::Error::other("it does not say where it is"));
            }
            let place = line.split("http://").nth(1).and_then(|rest| rest.split('/').next());
            if let Some(address) = place.and_then(|place| place.parse().ok()) {
                break address;
            }
        };
        thread::spawn(move || io::copy(&mut said, &mut io::sink()));
        Ok(Site { child, address })
    }

    /// Has so many clients call at the same time: how many calls are answered in a second. Every answer must hold `wanted`.
    pub fn load(&self, clients: usize, era: Era, call: &Call, wanted: &str) -> Result<f64, String> {
        let together = Barrier::new(clients);
        let rates: Vec<Result<f64, String>> = thread::scope(|scope| {
            let work = || {
                let client = Client::open(self.address, era).map_err(|error| error.to_string());
                together.wait();
                client?.call_for(WINDOW, call, wanted)
            };
            let all: Vec<_> = (0..clients).map(|_| scope.spawn(work)).collect();
            all.into_iter()
                .map(|client| client.join().unwrap_or_else(|_| Err("a client panicked".to_owned())))
                .collect()
        });
        rates.into_iter().sum()
    }

    /// The most memory that ever was in use, in KiB.
    pub fn peak(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        line.and_then(|line| line.split_ascii_whitespace().next()?.parse().ok()).unwrap_or(0)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One connection.
struct Client {
    stream: BufReader<TcpStream>,
    era: Era,
    /// The headers that every request has.
    head: String,
    next: u64,
    line: String,
    body: Vec<u8>,
}

impl Client {
    fn open(address: SocketAddr, era: Era) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let head = format!(
            "POST /mcp HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\n"
        );
        let stream = BufReader::with_capacity(64 * 1024, stream);
        let mut client = Client { stream, era, head, next: 0, line: String::new(), body: Vec::new() };
        if era == Era::Session {
            client.greet()?;
        }
        Ok(client)
    }

    fn greet(&mut self) -> io::Result<()> {
        let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "compare", "version": "0"},
        }});
        self.send(&hello.to_string(), "")?;
        let (status, session) = self.receive()?;
        if status != 200 {
            return Err(io::Error::other(format!("initialize is answered with {status}")));
        }
        if let Some(session) = session {
            self.head.push_str(&format!("mcp-session-id: {session}\r\n"));
        }
        self.head.push_str(&format!("mcp-protocol-version: {LEGACY}\r\n"));
        self.send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}", "")?;
        self.receive().map(|_| ())
    }

    /// How many calls are answered in a second, one after the other.
    fn call_for(&mut self, window: Duration, call: &Call, wanted: &str) -> Result<f64, String> {
        let mut params = json!({"name": call.0, "arguments": call.1});
        let mut headers = String::new();
        if self.era == Era::Stateless {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": {"name": "compare", "version": "0"},
            });
            headers = format!("mcp-protocol-version: {MODERN}\r\nmcp-method: tools/call\r\nmcp-name: {}\r\n", call.0);
        }
        let params = params.to_string();
        let began = Instant::now();
        let mut answered = 0_u32;
        while began.elapsed() < window {
            self.next += 1;
            let body = format!(r#"{{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{params}}}"#, self.next);
            self.send(&body, &headers).map_err(|error| error.to_string())?;
            let (status, _) = self.receive().map_err(|error| format!("no answer: {error}"))?;
            if status != 200 || !self.is_right(wanted) {
                let said: String = String::from_utf8_lossy(&self.body).chars().take(80).collect();
                return Err(format!("wrong: {status} {}", said.replace(['\n', '|'], " ")));
            }
            answered += 1;
        }
        Ok(f64::from(answered) / began.elapsed().as_secs_f64())
    }

    /// Whether the last answer is one to the last request and holds what it should.
    fn is_right(&self, wanted: &str) -> bool {
        let has = |part: &str| memchr::memmem::find(&self.body, part.as_bytes()).is_some();
        has(wanted) && has(&format!("\"id\":{}", self.next)) && !has("\"isError\":true")
    }

    fn send(&mut self, body: &str, headers: &str) -> io::Result<()> {
        let request = format!("{}{headers}content-length: {}\r\n\r\n{body}", self.head, body.len());
        self.stream.get_mut().write_all(request.as_bytes())
    }

    /// Reads an answer to its end: its status, and the session that it names.
    fn receive(&mut self) -> io::Result<(u16, Option<String>)> {
        self.read_line()?;
        let status = self.line.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.ok_or(io::ErrorKind::InvalidData)?;
        let (mut length, mut chunked, mut session) = (0, false, None);
        loop {
            self.read_line()?;
            if self.line.is_empty() {
                break;
            }
            let Some((name, value)) = self.line.split_once(':') else { continue };
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.trim().parse().map_err(|_| io::ErrorKind::InvalidData)?,
                "transfer-encoding" => chunked = true,
                "mcp-session-id" => session = Some(value.trim().to_owned()),
                _ => {}
            }
        }
        self.body.clear();
        if !chunked {
            self.take(length)?;
            return Ok((status, session));
        }
        loop {
            self.read_line()?;
            let length = usize::from_str_radix(&self.line, 16).map_err(|_| io::ErrorKind::InvalidData)?;
            self.take(length)?;
            self.read_line()?;
            if length == 0 {
                return Ok((status, session));
            }
        }
    }

    fn take(&mut self, length: usize) -> io::Result<()> {
        let before = self.body.len();
        self.body.resize(before + length, 0);
        self.stream.read_exact(&mut self.body[before..])
    }

    fn read_line(&mut self) -> io::Result<()> {
        self.line.clear();
        if self.stream.read_line(&mut self.line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.line.truncate(self.line.trim_end().len());
        Ok(())
    }
}
