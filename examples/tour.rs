//! What a model asks for, and what it gets to see: a small MCP client and the real server, in a temporary folder.
//!
//! Run it with `cargo run --example tour`.

#![allow(clippy::disallowed_methods, reason = "the tour looks at the folder from outside")]

use std::error::Error;
use std::fs;
use std::io::{self, BufRead, BufReader, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const BEFORE: &str = "\
function greet(name) {
  console.log('hi');
}

function leave() {
  console.log('hi');
}
";

fn main() -> Result<()> {
    let binary = built_server()?;
    let folder = std::env::temp_dir().join(format!("toolgate-tour-{}", std::process::id()));
    let workspace = folder.join("workspace");
    fs::create_dir_all(&workspace)?;
    fs::write(workspace.join("greet.js"), BEFORE)?;

    let outcome = tour(&binary, &folder, &workspace);
    fs::remove_dir_all(&folder)?;
    outcome
}

fn tour(binary: &Path, folder: &Path, workspace: &Path) -> Result<()> {
    let paint = Paint::for_stdout();
    let mut server = Server::start(binary, folder, workspace)?;
    let discovered = server.request("server/discover", json!({}))?;
    let listed = server.request("tools/list", json!({}))?;
    println!("{}\n", paint.bold("toolgate: what a model asks for, and what it gets to see"));
    println!("  server  {}", named(&discovered));
    println!("  tools   {}", tool_names(&listed).join("\n          "));

    let mut scene = Scene { server, paint };
    scene.says("It looks around, and reads.");
    scene.works("list_dir", json!({ "path": "." }))?;
    scene.works("read_file", json!({ "path": "greet.js", "start_line": 1, "end_line": 3 }))?;

    scene.says("It patches what stands there twice. Nothing is guessed: it is told where, and what to do.");
    scene.fails(
        "patch_file",
        json!({ "path": "greet.js", "old_str": "console.log('hi');", "new_str": "console.log(`hi, ${name}`);" }),
        "ambiguous_match",
    )?;

    scene.says("It says which one it means.");
    scene.works(
        "patch_file",
        json!({
            "path": "greet.js",
            "old_str": "greet(name) {\n  console.log('hi');",
            "new_str": "greet(name) {\n  console.log(`hi, ${name}`);",
        }),
    )?;
    scene.works("write_file", json!({ "path": "docs/greet.md", "content": "# Greeting\n", "create_dirs": true }))?;

    scene.says("It tries to leave the workspace.");
    scene.fails("read_file", json!({ "path": "../../etc/passwd" }), "outside_workspace")?;

    scene.says("And this is what became of greet.js.");
    scene.shows_difference(BEFORE, &fs::read_to_string(workspace.join("greet.js"))?);
    scene.server.close()?;
    println!("\neverything above happened in {}, which is removed again", folder.display());
    Ok(())
}

// What a person sees.

struct Scene {
    server: Server,
    paint: Paint,
}

impl Scene {
    fn says(&self, what: &str) {
        println!("\n{}", self.paint.dim(what));
    }

    /// A call that must work.
    fn works(&mut self, tool: &str, arguments: Value) -> Result<()> {
        let result = self.call(tool, arguments)?;
        match result["structuredContent"]["error"].as_str() {
            None => self.observes(&result, None),
            Some(code) => Err(format!("{tool} failed with {code}: {result}").into()),
        }
    }

    /// A call that must fail with `code`.
    fn fails(&mut self, tool: &str, arguments: Value, code: &str) -> Result<()> {
        let result = self.call(tool, arguments)?;
        if result["structuredContent"]["error"] != code {
            return Err(format!("{tool} did not fail with {code}: {result}").into());
        }
        self.observes(&result, Some(code))
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Result<Value> {
        println!("{} {} {}", self.paint.bold(">"), self.paint.bold(tool), arguments);
        self.server.request("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// Prints the observation, indented.
    fn observes(&self, result: &Value, code: Option<&str>) -> Result<()> {
        if let Some(code) = code {
            println!("    {}", self.paint.red(code));
        }
        for block in result["content"].as_array().ok_or("no content")? {
            for line in block["text"].as_str().unwrap_or_default().lines() {
                println!("    {line}");
            }
        }
        Ok(())
    }

    /// Line by line, for texts with equally many lines.
    fn shows_difference(&self, before: &str, after: &str) {
        for (old, new) in before.lines().zip(after.lines()) {
            if old == new {
                println!("{}", format!("      {old}").trim_end());
            } else {
                println!("    {}", self.paint.red(&format!("- {old}")));
                println!("    {}", self.paint.green(&format!("+ {new}")));
            }
        }
    }
}

/// Colours, where there is a terminal that wants them.
struct Paint {
    coloured: bool,
}

impl Paint {
    fn for_stdout() -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Paint { coloured: wanted && io::stdout().is_terminal() }
    }

    fn with(&self, code: u8, text: &str) -> String {
        if self.coloured { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    fn bold(&self, text: &str) -> String {
        self.with(1, text)
    }

    fn dim(&self, text: &str) -> String {
        self.with(2, text)
    }

    fn red(&self, text: &str) -> String {
        self.with(31, text)
    }

    fn green(&self, text: &str) -> String {
        self.with(32, text)
    }
}

fn named(discovered: &Value) -> String {
    let info = &discovered["_meta"]["io.modelcontextprotocol/serverInfo"];
    let word = |value: &Value| value.as_str().unwrap_or("?").to_owned();
    let version = word(&discovered["supportedVersions"][0]);
    format!("{} {}, MCP {version} over stdio", word(&info["name"]), word(&info["version"]))
}

/// The names of the tools, in lines that are not too long.
fn tool_names(listed: &Value) -> Vec<String> {
    let mut lines = vec![String::new()];
    for tool in listed["tools"].as_array().map(Vec::as_slice).unwrap_or_default() {
        let name = tool["name"].as_str().unwrap_or("?");
        match lines.last_mut() {
            Some(line) if line.len() + name.len() < 80 => *line = format!("{line}{name}  "),
            _ => lines.push(format!("{name}  ")),
        }
    }
    lines.iter().map(|line| line.trim_end().to_owned()).collect()
}

// What a client does: one JSON message a line, over the pipes of a child process.

struct Server {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    requests: u64,
}

impl Server {
    /// Starts `toolgate serve`. What it remembers goes to `folder` instead of the user's own state folder.
    fn start(binary: &Path, folder: &Path, workspace: &Path) -> Result<Self> {
        let mut child = Command::new(binary)
            .arg("serve")
            .arg(workspace)
            .env("XDG_STATE_HOME", folder.join("state"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let stdin = child.stdin.take().ok_or("no stdin")?;
        let stdout = BufReader::new(child.stdout.take().ok_or("no stdout")?);
        Ok(Server { child, stdin, stdout, requests: 0 })
    }

    /// Sends a request and waits for its result. MCP since 2026-07-28 has no handshake: each request says who asks.
    fn request(&mut self, method: &str, mut params: Value) -> Result<Value> {
        self.requests += 1;
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": { "name": "tour", "version": "1.0.0" },
        });
        let request = json!({ "jsonrpc": "2.0", "id": self.requests, "method": method, "params": params });
        writeln!(self.stdin, "{request}")?;
        loop {
            let mut line = String::new();
            if self.stdout.read_line(&mut line)? == 0 {
                return Err(format!("the server ended without an answer to {method}").into());
            }
            let mut message: Value = serde_json::from_str(&line)?;
            if message["id"] == self.requests {
                let result = message["result"].take();
                return if result.is_object() { Ok(result) } else { Err(format!("{method}: {message}").into()) };
            }
        }
    }

    /// Ends the input, at which a server ends itself.
    fn close(self) -> Result<()> {
        let Server { mut child, stdin, .. } = self;
        drop(stdin);
        let status = child.wait()?;
        if status.success() { Ok(()) } else { Err(format!("the server ended with {status}").into()) }
    }
}

/// What cargo tells the programs that it runs would make it build some dependencies again.
fn forget_package(cargo: &mut Command) {
    let told = |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(told)) {
        cargo.env_remove(name);
    }
}

/// The server beside this example, built now if it is missing or old: `cargo run --example` does not do that.
fn built_server() -> Result<PathBuf> {
    let example = std::env::current_exe()?;
    let profile = example.ancestors().nth(2).ok_or("this example lies in no target folder")?;
    let binary = profile.join(format!("toolgate{}", std::env::consts::EXE_SUFFIX));
    if let Some(cargo) = std::env::var_os("CARGO") {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let mut build = Command::new(cargo);
        // With this example, so that what both are made of is built alike, and once.
        build.args(["build", "--bin", "toolgate", "--example", "tour", "--manifest-path"]).arg(manifest);
        forget_package(&mut build);
        match profile.file_name().and_then(|name| name.to_str()) {
            Some("debug") | None => &mut build,
            Some(name) => build.args(["--profile", name]),
        };
        if binary.exists() {
            build.arg("--quiet");
        }
        if !build.status()?.success() {
            return Err("the server could not be built".into());
        }
    }
    if binary.exists() { Ok(binary) } else { Err("please build the server first: cargo build --release".into()) }
}
