//! What the other suites stand on: a folder that goes away by itself, and the real binary behind pipes.

pub mod example;
pub mod oneshot;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{JoinHandle, spawn};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// How long an answer may take. Long, since a slow machine is no fault of the server.
const PATIENCE: Duration = Duration::from_secs(20);

/// The program.
pub const TOOLGATE: &str = env!("CARGO_BIN_EXE_toolgate");

pub const MODERN: &str = "2026-07-28";

/// A folder of files that is removed at the end of a test.
pub struct Temp(TempDir);

impl Temp {
    /// An empty folder.
    pub fn new() -> Self {
        Temp(tempfile::tempdir().expect("a temporary folder"))
    }

    /// A folder with these files.
    pub fn with(files: &[(&str, &str)]) -> Self {
        let temp = Temp::new();
        for (path, content) in files {
            temp.write(path, content);
        }
        temp
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Puts a file there, and the folders it lies in.
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let whole = self.path().join(path);
        fs::create_dir_all(whole.parent().expect("a path in a folder")).expect("folders");
        fs::write(whole, content).expect("a file");
    }

    /// The bytes of a file that is there.
    pub fn read(&self, path: &str) -> Vec<u8> {
        fs::read(self.path().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// The text of a file that is there.
    pub fn text(&self, path: &str) -> String {
        String::from_utf8(self.read(path)).expect("text")
    }
}

/// `toolgate serve` as a child process, spoken to line by line.
pub struct Server {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    stderr: Option<JoinHandle<String>>,
    requests: u64,
    _state: Temp,
}

impl Server {
    /// Serves `root`, with a state folder of its own.
    pub fn start(root: &Path) -> Self {
        Server::start_with(root, &[])
    }

    /// Serves `root` with more command-line options.
    pub fn start_with(root: &Path, options: &[&str]) -> Self {
        Server::spawn(root, options, &[])
    }

    /// Serves `root` with more command-line options and environment variables.
    pub fn spawn(root: &Path, options: &[&str], environment: &[(&str, &str)]) -> Self {
        let mut command = Command::new(TOOLGATE);
        command.arg("serve").arg(root).args(options);
        Server::launch_with(command, environment)
    }

    /// Starts the server by a command of the caller's, which may go through another program first.
    pub fn launch(command: Command) -> Self {
        Server::launch_with(command, &[])
    }

    fn launch_with(mut command: Command, environment: &[(&str, &str)]) -> Self {
        let state = Temp::new();
        let mut child = command
            .env("XDG_STATE_HOME", state.path())
            .env("XDG_CONFIG_HOME", state.path())
            .envs(environment.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the toolgate binary");
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut stderr = child.stderr.take().expect("a pipe");
        let (sender, lines) = channel();
        spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let stderr = spawn(move || {
            let mut text = Vec::new();
            let _ = stderr.read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        });
        Server { child, stdin, lines, stderr: Some(stderr), requests: 0, _state: state }
    }

    /// Sends one message.
    pub fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string());
    }

    /// Sends one line, whatever it is.
    pub fn send_line(&mut self, line: &str) {
        self.send_bytes(format!("{line}\n").as_bytes());
    }

    /// Sends bytes as they are.
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().expect("an open stdin");
        stdin.write_all(bytes).and_then(|()| stdin.flush()).expect("a server that reads");
    }

    /// The next message, which must come in time and be JSON.
    pub fn recv(&mut self) -> Value {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => parsed(&line),
            Err(error) => panic!("no message: {error}; stderr:\n{}", self.end_and_take_stderr()),
        }
    }

    /// Sends a request of the stateless era and returns the whole answer. Notifications in between are dropped.
    pub fn request(&mut self, method: &str, mut params: Value) -> Value {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        self.exchange(method, &params)
    }

    /// Sends a request as it is and returns the whole answer. Notifications in between are dropped.
    pub fn exchange(&mut self, method: &str, params: &Value) -> Value {
        self.requests += 1;
        let id = format!("request {}", self.requests);
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let message = self.recv();
            if message["id"] == *id {
                return message;
            }
            assert!(message.get("method").is_some(), "an answer to nothing that was asked: {message}");
        }
    }

    /// Calls a tool and returns its result, which may say that the tool failed.
    #[allow(clippy::needless_pass_by_value)] // reads better at the call: `call("read_file", json!({ … }))`
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.request("tools/call", json!({ "name": tool, "arguments": arguments }));
        answer.get("result").unwrap_or_else(|| panic!("no result: {answer}")).clone()
    }

    /// Ends the input, as clients do, and waits until the server has ended.
    pub fn close(self) -> ExitStatus {
        self.finish().status
    }

    /// Ends the input, and waits for all that still comes.
    pub fn finish(mut self) -> Ended {
        self.stdin = None;
        let deadline = Instant::now() + PATIENCE;
        let mut messages = Vec::new();
        loop {
            match self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(line) => messages.push(parsed(&line)),
                Err(RecvTimeoutError::Disconnected) => break, // it has let go of its stdout
                Err(RecvTimeoutError::Timeout) => panic!("still there; stderr:\n{}", self.end_and_take_stderr()),
            }
        }
        let stderr = self.stderr.take().and_then(|reader| reader.join().ok()).unwrap_or_default();
        let processor_time = processor_time(self.child.id());
        Ended { status: self.child.wait().expect("an exit status"), messages, stderr, processor_time }
    }

    /// Whether a message has come; it is taken.
    pub fn has_answered(&self) -> bool {
        self.lines.try_recv().is_ok()
    }

    /// The process, for who wants to send it a signal.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until the server has ended by itself, its input still open.
    pub fn wait(mut self) -> ExitStatus {
        while self.lines.recv_timeout(PATIENCE).is_ok() {}
        self.child.wait().expect("an exit status")
    }

    /// Kills the server as `kill -9` does, and waits until it is gone.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Kills the server as `kill -9` does, and returns what it had answered until then. An answer that it was in the
    /// middle of is none.
    pub fn killed(mut self) -> Vec<Value> {
        self.kill();
        // All that was in the pipe still comes; then the channel is closed.
        let lines = std::iter::from_fn(|| self.lines.recv_timeout(PATIENCE).ok());
        lines.filter_map(|line| serde_json::from_str(&line).ok()).collect()
    }

    fn end_and_take_stderr(&mut self) -> String {
        self.kill();
        self.stderr.take().and_then(|reader| reader.join().ok()).unwrap_or_default()
    }
}

/// What is left of a server that has ended.
pub struct Ended {
    pub status: ExitStatus,
    /// What came before it ended and was not received yet.
    pub messages: Vec<Value>,
    pub stderr: String,
    /// How long it has kept a processor busy, where the system tells.
    pub processor_time: Option<Duration>,
}

fn parsed(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in: {line}"))
}

/// Of a child that has ended, but that nobody has waited for.
fn processor_time(child: u32) -> Option<Duration> {
    const TICK: Duration = Duration::from_millis(10);
    let stat = fs::read_to_string(format!("/proc/{child}/stat")).ok()?;
    // Behind the name, which may hold anything, stand the state and ten numbers, then the time in user and system mode.
    let times = stat.rsplit_once(')')?.1.split_ascii_whitespace().skip(11).take(2);
    let ticks = times.map(|ticks| ticks.parse::<u32>().ok()).sum::<Option<u32>>()?;
    Some(TICK * ticks)
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}
