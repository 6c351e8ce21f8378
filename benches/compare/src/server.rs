//! A server as a child process, spoken to over pipes, and what the system tells of it.

use std::fs;
use std::io::{self, BufReader, Read, Write};
use std::os::fd::AsRawFd;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server that has been greeted.
pub struct Server {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    next: u64,
    line: Vec<u8>,
}

impl Server {
    /// Starts a server and greets it.
    pub fn start(command: &[String]) -> io::Result<Self> {
        let mut child = Command::new(&command[0])
            .args(&command[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let stdin = child.stdin.take();
        let stdout = BufReader::with_capacity(256 * 1024, child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?);
        let mut server = Server { child, stdin, stdout, next: 0, line: Vec::new() };
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "compare", "version": "0"}});
        server.request("initialize", &hello)?;
        server.send(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n")?;
        Ok(server)
    }

    /// One request and the bytes of its answer.
    pub fn request(&mut self, method: &str, params: &Value) -> io::Result<&[u8]> {
        let id = self.post(method, params)?;
        self.answer(id)
    }

    /// Sends a request, and says under which id.
    pub fn post(&mut self, method: &str, params: &Value) -> io::Result<u64> {
        self.next += 1;
        let frame = frame(self.next, method, params);
        self.send(&frame)?;
        Ok(self.next)
    }

    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stdin.as_mut().ok_or(io::ErrorKind::BrokenPipe)?.write_all(bytes)
    }

    /// Waits for the answer with this id; what comes before is dropped.
    pub fn answer(&mut self, id: u64) -> io::Result<&[u8]> {
        loop {
            self.read_line()?;
            if id_of(&self.line) == Some(id) {
                return Ok(&self.line);
            }
        }
    }

    /// The next frame that answers anything.
    pub fn any_answer(&mut self) -> io::Result<&[u8]> {
        loop {
            self.read_line()?;
            if id_of(&self.line).is_some() {
                return Ok(&self.line);
            }
        }
    }

    fn read_line(&mut self) -> io::Result<()> {
        self.line.clear();
        let deadline = Instant::now() + PATIENCE;
        loop {
            let (used, done) = {
                if self.stdout.buffer().is_empty() {
                    wait(&self.stdout, deadline)?;
                }
                let mut buffer = self.stdout.buffer();
                if buffer.is_empty() {
                    buffer = io::BufRead::fill_buf(&mut self.stdout)?;
                }
                if buffer.is_empty() {
                    return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the server has ended"));
                }
                match memchr::memchr(b'\n', buffer) {
                    Some(end) => {
                        self.line.extend_from_slice(&buffer[..end]);
                        (end + 1, true)
                    }
                    None => {
                        self.line.extend_from_slice(buffer);
                        (buffer.len(), false)
                    }
                }
            };
            io::BufRead::consume(&mut self.stdout, used);
            if done {
                return Ok(());
            }
        }
    }

    /// Takes the memory that is in use now for the highest so far.
    pub fn reset_peak(&self) {
        let _ = fs::write(format!("/proc/{}/clear_refs", self.child.id()), "5");
    }

    /// The memory that is in use by this process alone, in KiB.
    pub fn private(&self) -> u64 {
        self.told("RssAnon:")
    }

    /// The memory that is in use, and the most that ever was, in KiB.
    pub fn memory(&self) -> (u64, u64) {
        (self.told("VmRSS:"), self.told("VmHWM:"))
    }

    fn told(&self, key: &str) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(key));
        line.and_then(|line| line.split_ascii_whitespace().next()?.parse().ok()).unwrap_or(0)
    }

    /// Whether the process is still there.
    pub fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stdin = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A request as a line.
pub fn frame(id: u64, method: &str, params: &Value) -> Vec<u8> {
    let mut frame = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":"#).into_bytes();
    // Writing to memory cannot fail.
    let _ = serde_json::to_writer(&mut frame, params);
    frame.extend_from_slice(b"}\n");
    frame
}

/// The id of an answer, told without reading all of it. Both ends are looked at, since servers differ in the order of members.
fn id_of(line: &[u8]) -> Option<u64> {
    let number = |part: &[u8]| {
        let at = memchr::memmem::find(part, b"\"id\":")? + 5;
        let digits: Vec<u8> =
            part[at..].iter().skip_while(|byte| **byte == b' ').copied().take_while(u8::is_ascii_digit).collect();
        String::from_utf8(digits).ok()?.parse().ok()
    };
    if memchr::memmem::find(&line[..line.len().min(100)], b"\"method\"").is_some() {
        return None;
    }
    let (head, tail) = (&line[..line.len().min(60)], &line[line.len().saturating_sub(60)..]);
    number(head).or_else(|| number(tail)).or_else(|| serde_json::from_slice::<Value>(line).ok()?["id"].as_u64())
}

/// Waits until something can be read. `poll` by way of a command would cost more than what is measured.
fn wait(stdout: &BufReader<ChildStdout>, deadline: Instant) -> io::Result<()> {
    #[repr(C)]
    struct PollFd {
        fd: i32,
        events: i16,
        revents: i16,
    }
    unsafe extern "C" {
        fn poll(fds: *mut PollFd, count: std::ffi::c_ulong, timeout: i32) -> i32;
    }
    let left = deadline.saturating_duration_since(Instant::now());
    let mut one = PollFd { fd: stdout.get_ref().as_raw_fd(), events: 1, revents: 0 };
    // SAFETY: one valid entry, and its count.
    let ready = unsafe { poll(&raw mut one, 1, i32::try_from(left.as_millis()).unwrap_or(i32::MAX)) };
    match ready {
        0 => Err(io::Error::new(io::ErrorKind::TimedOut, "no answer in time")),
        _ => Ok(()),
    }
}

/// Runs a program to its end, and tells how long it took and what it wrote.
pub fn run(command: &[String], input: Option<&[u8]>) -> io::Result<(Duration, Vec<u8>)> {
    let began = Instant::now();
    let mut child = Command::new(&command[0])
        .args(&command[1..])
        .stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() })
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    if let (Some(input), Some(mut stdin)) = (input, child.stdin.take()) {
        stdin.write_all(input)?;
    }
    let mut output = Vec::new();
    if let Some(mut stdout) = child.stdout.take() {
        stdout.read_to_end(&mut output)?;
    }
    child.wait()?;
    Ok((began.elapsed(), output))
}
