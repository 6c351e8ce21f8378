//! What code mode costs: `cargo bench --bench code` measures it and says which budgets are kept, `cargo bench --bench code -- runs`
//! makes 10,000 runs and tells what they leave behind.
//!
//! Everything goes through the binary and the protocol. What is compared is measured in turns, so that a busy machine is busy
//! for both.

#![allow(clippy::disallowed_methods, reason = "it makes the folder that is served")]

use std::error::Error;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// So many calls does the program make that is held against as many calls from outside.
const CALLS: usize = 1000;

type Fallible<T> = Result<T, Box<dyn Error>>;

fn main() -> Fallible<()> {
    if std::env::args().any(|argument| argument == "runs") { runs(10_000) } else { figures() }
}

fn figures() -> Fallible<()> {
    let mut served = Served::start()?;
    let smallest = served.times(300, |served| served.run("return 1"))?;
    tell("return 1, p50", smallest.at(50), "ms", Some(5.0));
    tell("return 1, p95", smallest.at(95), "ms", None);

    let program = format!("for (let i = 0; i < {CALLS}; i++) await tools.read_file({{path: 'file'}}); return 'read'");
    let overlapping = format!(
        "await Promise.all(Array.from({{length: {CALLS}}}, () => tools.read_file({{path: 'file'}}))); return 'read'"
    );
    let (mut awaited, mut at_once, mut pipelined) = (Times::default(), Times::default(), Times::default());
    for round in 0..=10 {
        for (times, took) in [
            (&mut awaited, served.timed(|served| served.run(&program))?),
            (&mut at_once, served.timed(|served| served.run(&overlapping))?),
            (&mut pipelined, served.timed(|served| served.pipelined(CALLS))?),
        ] {
            if round > 0 {
                times.0.push(took);
            }
        }
    }
    tell(&format!("{CALLS} calls from outside, pipelined"), pipelined.at(50), "ms", None);
    tell(&format!("{CALLS} calls of a program, awaited"), awaited.at(50), "ms", None);
    tell(&format!("{CALLS} calls of a program, at once"), at_once.at(50), "ms", None);
    tell("awaited, times the pipelined", awaited.at(50) / pipelined.at(50), "", Some(1.5));

    let crowd = served.times(5, |served| served.crowd(64))?;
    tell("64 runs at once, until the last is answered", crowd.at(50), "ms", None);
    tell("64 runs at once, each", crowd.at(50) / 64.0, "ms", Some(5.0));

    for (what, source) in worst_sources() {
        let took = served.timed(|served| served.answer_to("run_code", &program_of(&source)).map(drop))?;
        tell(&format!("reading 256 KiB of {what}"), took, "ms", Some(1000.0));
    }
    Ok(())
}

/// As long as a program may be, and as bad for a parser as anybody knows.
fn worst_sources() -> Vec<(&'static str, String)> {
    const MOST: usize = 256 * 1024;
    let filled = |head: &str, piece: &str, tail: &str| {
        let pieces = (MOST - head.len() - tail.len()) / piece.len();
        format!("{head}{}{tail}", piece.repeat(pieces))
    };
    vec![
        ("a<a<a…", filled("return ", "a<", "a")),
        ("a<(a<(…", filled("return ", "a<(", "a")),
        ("(a?(b):c=>…", filled("return ", "a?(b):c=>", "d")),
        ("((((…", filled("return ", "(", "")),
        ("async(async(…", filled("return ", "async(", "")),
        ("f<T>(f<T>(…", filled("return ", "f<T>(", "")),
        ("<T>(x: <T>(…", filled("return ", "<T>(x: ", "")),
        ("a as b as c…", filled("return a", " as b", "")),
        ("[[[…", filled("return ", "[", "")),
        ("`${`${…", filled("return ", "`${", "")),
        ("a+a+a…", filled("return ", "a+", "a")),
        ("type T = A extends B ? …", filled("type T = ", "A extends B ? C : ", "D")),
    ]
}

/// Many runs, one after the other: neither memory nor open files grow with them.
fn runs(count: usize) -> Fallible<()> {
    let mut served = Served::start()?;
    served.times(200, |served| served.run("return (await tools.read_file({path: 'file'})).content"))?;
    let (memory, files) = served.holds()?;
    println!("after 200 runs: {memory} KiB, {files} open files");
    let began = Instant::now();
    for n in 1..=count {
        served.run(if n % 10 == 0 {
            "await tools.write_file({path: 'out', content: String(Math.random())})"
        } else {
            "return (await tools.read_file({path: 'file'})).content"
        })?;
        if n % (count / 5) == 0 {
            let (memory, files) = served.holds()?;
            println!("after {} runs: {memory} KiB, {files} open files", n + 200);
        }
    }
    let (after, files_after) = served.holds()?;
    tell("a run", began.elapsed().as_secs_f64() * 1000.0 / count as f64, "ms", None);
    tell("growth of memory", after.saturating_sub(memory) as f64, "KiB", Some(4096.0));
    tell("growth of open files", files_after.saturating_sub(files) as f64, "", Some(1.0));
    Ok(())
}

fn tell(what: &str, figure: f64, unit: &str, budget: Option<f64>) {
    let verdict = match budget {
        Some(most) if figure <= most => format!(" (budget {most}: kept)"),
        Some(most) => format!(" (budget {most}: MISSED)"),
        None => String::new(),
    };
    println!("{what}: {figure:.2} {unit}{verdict}");
}

#[derive(Default)]
struct Times(Vec<f64>);

impl Times {
    fn at(&self, percent: usize) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() * percent / 100).copied().unwrap_or(f64::NAN)
    }
}

/// A server on a folder with one file.
struct Served {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    _folder: tempfile::TempDir,
    _state: tempfile::TempDir,
}

fn program_of(code: &str) -> Value {
    json!({ "code": code, "description": "measured" })
}

impl Served {
    fn start() -> Fallible<Self> {
        let (folder, state) = (tempfile::tempdir()?, tempfile::tempdir()?);
        fs::write(folder.path().join("file"), "one line\n".repeat(40))?;
        fs::write(folder.path().join("toolgate.toml"), "")?;
        let config = state.path().join("config.toml");
        fs::write(&config, "mode = \"both\"\n[code]\ncalls = 10000\n")?;
        let mut child = Command::new(env!("CARGO_BIN_EXE_toolgate"))
            .args(["serve", "--config"])
            .arg(&config)
            .arg("--state")
            .arg(state.path())
            .arg(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let to = child.stdin.take().ok_or("no pipe")?;
        let from = BufReader::with_capacity(256 * 1024, child.stdout.take().ok_or("no pipe")?);
        let mut served = Served { child, to, from, _folder: folder, _state: state };
        served.run("return 1")?;
        Ok(served)
    }

    fn frame(id: usize, tool: &str, arguments: &Value) -> String {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
        format!("{}\n", json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }))
    }

    fn read(&mut self) -> Fallible<Value> {
        let mut line = String::new();
        self.from.read_line(&mut line)?;
        Ok(serde_json::from_str(&line)?)
    }

    fn answer_to(&mut self, tool: &str, arguments: &Value) -> Fallible<Value> {
        self.to.write_all(Self::frame(0, tool, arguments).as_bytes())?;
        self.read()
    }

    fn run(&mut self, code: &str) -> Fallible<()> {
        let answer = self.answer_to("run_code", &program_of(code))?;
        if answer["result"]["isError"] == true { Err(answer.to_string().into()) } else { Ok(()) }
    }

    /// As many calls as a client can send without waiting for answers.
    fn pipelined(&mut self, count: usize) -> Fallible<()> {
        let frames: String = (0..count).map(|id| Self::frame(id, "read_file", &json!({ "path": "file" }))).collect();
        let (mut sent, mut answered) = (0, 0);
        let lines: Vec<&str> = frames.split_inclusive('\n').collect();
        while answered < count {
            // So many that neither side ever waits for a full pipe.
            let more = lines.len().min(answered + 64);
            if sent < more {
                self.to.write_all(lines[sent..more].concat().as_bytes())?;
                sent = more;
            }
            let answer = self.read()?;
            if answer["result"]["isError"] == true {
                return Err(answer.to_string().into());
            }
            answered += 1;
        }
        Ok(())
    }

    fn crowd(&mut self, count: usize) -> Fallible<()> {
        let code = program_of("return (await tools.read_file({path: 'file'})).content");
        let frames: String = (0..count).map(|id| Self::frame(id, "run_code", &code)).collect();
        self.to.write_all(frames.as_bytes())?;
        for _ in 0..count {
            let answer = self.read()?;
            if answer["result"]["isError"] == true {
                return Err(answer.to_string().into());
            }
        }
        Ok(())
    }

    fn timed(&mut self, work: impl FnOnce(&mut Self) -> Fallible<()>) -> Fallible<f64> {
        let began = Instant::now();
        work(self)?;
        Ok(millis(began.elapsed()))
    }

    fn times(&mut self, count: usize, work: impl Fn(&mut Self) -> Fallible<()>) -> Fallible<Times> {
        let mut times = Times::default();
        for _ in 0..count {
            times.0.push(self.timed(&work)?);
        }
        Ok(times)
    }

    /// Its memory in KiB, and how many files it has open.
    fn holds(&self) -> Fallible<(u64, usize)> {
        let of = format!("/proc/{}", self.child.id());
        let status = fs::read_to_string(format!("{of}/status"))?;
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).ok_or("no memory is told")?;
        let memory = line.split_ascii_whitespace().next().ok_or("no number")?.parse()?;
        Ok((memory, fs::read_dir(format!("{of}/fd"))?.count()))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
