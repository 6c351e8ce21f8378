//! How work is measured: everybody in turn, round after round, and every answer looked at.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::peers::{Call, Contestant, Work};
use crate::score::Score;
use crate::server::{Server, frame, run};

/// Everything that is needed to measure.
pub struct Bench {
    pub contestants: Vec<Contestant>,
    /// The folder that everybody is given.
    pub root: PathBuf,
    pub ripgrep: Option<String>,
    /// The server that is made of the official SDK.
    pub sdk: Option<PathBuf>,
    pub toolgate: PathBuf,
    pub floor: PathBuf,
    pub rounds: usize,
}

/// A program that takes part without being a server.
pub struct Program {
    pub who: &'static str,
    pub command: Vec<String>,
}

impl Program {
    pub fn new(who: &'static str, command: &[&str]) -> Self {
        Program { who, command: command.iter().map(|part| (*part).to_owned()).collect() }
    }
}

/// Whether an answer is right; else what is wrong with it.
pub type Check<'a> = &'a dyn Fn(&Work, &[u8]) -> Result<(), String>;

impl Bench {
    /// Has everybody do the same `rounds + 1` times in turn; the first time does not count. `work` gives the work of a
    /// contestant in a round.
    pub fn served(
        &self,
        rounds: usize,
        only: &dyn Fn(&str) -> bool,
        work: &dyn Fn(&str, usize) -> Work,
        check: Check<'_>,
        programs: &[Program],
    ) -> Vec<Score> {
        let mut scores = Vec::new();
        let mut servers = Vec::new();
        for contestant in self.contestants.iter().filter(|contestant| only(contestant.name)) {
            let (score, server) = match (contestant.ask)(&work(contestant.name, 0)) {
                None => (Score::failed(contestant.name, "has no tool for it"), None),
                Some(_) => match Server::start(&contestant.command) {
                    Ok(server) => (Score::new(contestant.name), Some(server)),
                    Err(error) => (Score::failed(contestant.name, format!("does not start: {error}")), None),
                },
            };
            scores.push(score);
            servers.push((contestant, server));
        }
        let mut floors: Vec<Score> = programs.iter().map(|program| Score::new(program.who)).collect();
        for round in 0..=rounds {
            for ((contestant, place), score) in servers.iter_mut().zip(&mut scores) {
                let Some(server) = place else { continue };
                if round == 1 {
                    server.reset_peak();
                }
                let work = work(contestant.name, round);
                match perform(server, contestant, &work, check) {
                    Ok(took) if round > 0 => score.samples.push(millis(took)),
                    Ok(_) => {}
                    Err(trouble) => {
                        score.trouble = Some(trouble);
                        *place = None;
                        continue;
                    }
                }
                score.peak_kib = place.as_ref().map(|server| server.memory().1);
            }
            for (program, score) in programs.iter().zip(&mut floors) {
                match run(&program.command, None) {
                    Ok((took, _)) if round > 0 => score.samples.push(millis(took)),
                    Ok(_) => {}
                    Err(error) => score.trouble = Some(error.to_string()),
                }
            }
        }
        scores.extend(floors);
        scores
    }

    /// Has everybody start anew in each round, and measures with each server that is there.
    pub fn anew(
        &self,
        rounds: usize,
        only: &dyn Fn(&str) -> bool,
        measure: &dyn Fn(&Contestant) -> Result<f64, String>,
    ) -> Vec<Score> {
        let taking_part: Vec<_> = self.contestants.iter().filter(|contestant| only(contestant.name)).collect();
        let mut scores: Vec<_> = taking_part.iter().map(|contestant| Score::new(contestant.name)).collect();
        for round in 0..=rounds {
            for (contestant, score) in taking_part.iter().zip(&mut scores) {
                if score.trouble.is_some() {
                    continue;
                }
                match measure(contestant) {
                    Ok(sample) if round > 0 => score.samples.push(sample),
                    Ok(_) => {}
                    Err(trouble) => score.trouble = Some(trouble),
                }
            }
        }
        scores
    }
}

/// One call, how long it took, and whether the answer is right.
pub fn perform(
    server: &mut Server,
    contestant: &Contestant,
    work: &Work,
    check: Check<'_>,
) -> Result<Duration, String> {
    let (tool, arguments) = (contestant.ask)(work).ok_or("has no tool for it")?;
    let params = json!({"name": tool, "arguments": arguments});
    // The frame is made before the clock runs: it is the client's work.
    let id = 10_000_000 + next_id();
    let bytes = frame(id, "tools/call", &params);
    let began = Instant::now();
    let sent = server.send(&bytes).map_err(|error| error.kind());
    let answer = sent.and_then(|()| server.answer(id).map(<[u8]>::to_vec).map_err(|error| error.kind()));
    let answer = match answer {
        Ok(answer) if tool == "start_search" => follow_search(server, &answer)?,
        Ok(answer) => answer,
        Err(io::ErrorKind::TimedOut) => return Err("no answer in time".to_owned()),
        Err(_) if !server.is_alive() => return Err("the server ends".to_owned()),
        Err(error) => return Err(format!("no answer: {error}")),
    };
    let took = began.elapsed();
    if memchr::memmem::find(&answer, b"\"isError\":true").is_some()
        || memchr::memmem::find(&answer[..answer.len().min(200)], b"\"error\":{").is_some()
    {
        return Err(format!("refuses: {}", glimpse(&answer)));
    }
    check(work, &answer)?;
    Ok(took)
}

/// Small enough to be exact everywhere.
fn next_id() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Desktop Commander searches beside the call: it is asked until it says that it is done.
fn follow_search(server: &mut Server, started: &[u8]) -> Result<Vec<u8>, String> {
    let text = String::from_utf8_lossy(started).into_owned();
    let Some(at) = text.find("search_") else {
        return Err(format!("no search begins: {}", glimpse(started)));
    };
    let session: String = text[at..].chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    for _ in 0..20_000 {
        let params = json!({"name": "get_more_search_results", "arguments": {"sessionId": session, "offset": 0, "length": 10_000}});
        let answer = server.request("tools/call", &params).map_err(|error| error.to_string())?.to_vec();
        let told = String::from_utf8_lossy(&answer);
        if told.contains("COMPLETED") || told.contains("Search completed") || told.contains("isComplete\\\":true") {
            return Ok(answer);
        }
        if told.contains("isError\":true") {
            return Err(format!("refuses: {}", glimpse(&answer)));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    Err("no answer in time".to_owned())
}

/// The text of an error, short.
fn glimpse(answer: &[u8]) -> String {
    let value: Value = serde_json::from_slice(answer).unwrap_or_default();
    let text =
        value.pointer("/result/content/0/text").or_else(|| value.pointer("/error/message")).and_then(Value::as_str);
    text.unwrap_or("?").chars().take(60).map(|c| if c.is_control() || c == '|' { ' ' } else { c }).collect()
}

/// Calls one after the other for about a quarter of a second: the middle of how long one takes, in milliseconds.
pub fn sequential(server: &mut Server, call: &Call) -> io::Result<f64> {
    let params = json!({"name": call.0, "arguments": call.1});
    let mut took = Vec::new();
    let began = Instant::now();
    while took.len() < 2000 && (took.len() < 10 || began.elapsed() < Duration::from_millis(250)) {
        let id = 1_000_000 + next_id();
        let bytes = frame(id, "tools/call", &params);
        let before = Instant::now();
        server.send(&bytes)?;
        server.answer(id)?;
        took.push(millis(before.elapsed()));
    }
    crate::score::median(took).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Keeps 64 calls in flight for about half a second: how many are answered in a second.
pub fn pipelined(server: &mut Server, call: &Call) -> io::Result<f64> {
    const IN_FLIGHT: u64 = 64;
    let params = json!({"name": call.0, "arguments": call.1});
    let first = 2_000_000_000;
    let batch: Vec<u8> = (0..IN_FLIGHT).flat_map(|n| frame(first + n, "tools/call", &params)).collect();
    let one = |n| frame(n, "tools/call", &params);
    let (mut sent, mut answered) = (first + IN_FLIGHT, 0_u64);
    let began = Instant::now();
    server.send(&batch)?;
    let mut more = Vec::new();
    while answered < 40_000 && began.elapsed() < Duration::from_millis(500) {
        // A client that sees several answers at once asks anew for as many.
        more.clear();
        for _ in 0..16 {
            server.any_answer()?;
            answered += 1;
            more.extend(one(sent));
            sent += 1;
        }
        server.send(&more)?;
    }
    let rate = answered as f64 / began.elapsed().as_secs_f64();
    for _ in 0..IN_FLIGHT {
        server.any_answer()?;
    }
    Ok(rate)
}

pub fn millis(took: Duration) -> f64 {
    took.as_secs_f64() * 1000.0
}

/// An answer must name all of these.
pub fn names_all<'a>(answer: &[u8], names: impl IntoIterator<Item = &'a str>) -> Result<(), String> {
    let (mut there, mut all) = (0, 0);
    for name in names {
        all += 1;
        there += usize::from(memchr::memmem::find(answer, name.as_bytes()).is_some());
    }
    if there == all { Ok(()) } else { Err(format!("wrong: {there} of {all} in the answer")) }
}

/// A fresh folder for what is written.
pub fn fresh(folder: &Path) -> io::Result<()> {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder)
}
