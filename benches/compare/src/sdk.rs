//! Beside the official Rust SDK: the same `read_file` behind its transports and behind ours.

use std::fs;
use std::io;

use serde_json::json;

use crate::bench::{Bench, pipelined, sequential};
use crate::data::{self, Words};
use crate::http::{Era, Site};
use crate::peers::{self, Call, OURS, SDK, SDK_JSON};
use crate::rows::size;
use crate::score::{Row, Score, Unit};
use crate::server::Server;

/// How large the file is that is read.
const BYTES: u64 = 4096;

/// A call that reads it, and what the answer must hold.
struct Task {
    call: Call,
    wanted: String,
}

impl Task {
    fn new(bench: &Bench) -> io::Result<Self> {
        let folder = bench.root.join(format!("read-{BYTES}"));
        data::once(&folder, |folder| fs::write(folder.join("file.rs"), Words::new(3).text(BYTES as usize)))?;
        let file = folder.join("file.rs");
        // The number of the last line.
        let wanted = format!("\\n{}: ", fs::read_to_string(&file)?.lines().count());
        Ok(Task { call: ("read_file", json!({"path": peers::text(&file)})), wanted })
    }
}

/// Who takes part, and the commands that start them. `over_http` has both ways in which the SDK answers.
fn taking_part(bench: &Bench, over_http: bool) -> Vec<(&'static str, Vec<String>)> {
    let mut ours = bench
        .contestants
        .iter()
        .find(|contestant| contestant.name == OURS)
        .map(|contestant| contestant.command.clone())
        .unwrap_or_default();
    let root = peers::text(&bench.root);
    let sdk = bench.sdk.as_ref().map(|sdk| peers::text(sdk));
    let with = |kind: &str| sdk.as_ref().map(|sdk| vec![sdk.clone(), root.clone(), kind.to_owned()]);
    let mut all = Vec::new();
    if over_http {
        ours.extend(["--http".to_owned(), "127.0.0.1:0".to_owned()]);
        all.push((OURS, ours));
        all.extend(with("sse").map(|command| (SDK, command)));
        all.extend(with("json").map(|command| (SDK_JSON, command)));
    } else {
        all.push((OURS, ours));
        all.extend(sdk.as_ref().map(|sdk| (SDK, vec![sdk.clone(), root.clone()])));
    }
    all
}

/// One call at a time and 64 in flight, over standard input and output.
pub fn over_pipes(bench: &Bench, rounds: usize) -> io::Result<Vec<Row>> {
    let Task { call, .. } = Task::new(bench)?;
    let all = taking_part(bench, false);
    let (mut one, mut many) = (scores(&all), scores(&all));
    let mut servers: Vec<_> = all.iter().map(|(_, command)| Server::start(command)).collect();
    for round in 0..=rounds {
        for (n, server) in servers.iter_mut().enumerate() {
            match server {
                Ok(server) => {
                    note(&mut one[n], round, sequential(server, &call).map_err(|error| error.to_string()));
                    note(&mut many[n], round, pipelined(server, &call).map_err(|error| error.to_string()));
                    many[n].peak_kib = Some(server.memory().1);
                }
                Err(error) => one[n].trouble = Some(format!("does not start: {error}")),
            }
        }
    }
    let size = size(BYTES);
    let one = Row::new(format!("Read of {size} beside the SDK, one at a time"), Unit::Millis, one);
    let mut many = Row::new(format!("Reads of {size} beside the SDK, 64 in flight"), Unit::PerSecond, many);
    judge(&mut many, 5.0);
    Ok(vec![one, many])
}

/// From one connection and from four, each with one call under way.
pub fn over_http(bench: &Bench, rounds: usize) -> io::Result<Vec<Row>> {
    let Task { call, wanted } = Task::new(bench)?;
    let all = taking_part(bench, true);
    let sites: Vec<_> = all.iter().map(|(_, command)| Site::start(command)).collect();
    let mut rows = Vec::new();
    for (era, kind) in [(Era::Stateless, "stateless"), (Era::Session, "in sessions")] {
        for clients in [1, 4] {
            let mut scores = scores(&all);
            for round in 0..=rounds {
                for (site, score) in sites.iter().zip(&mut scores) {
                    match site {
                        Ok(site) => {
                            note(score, round, site.load(clients, era, &call, &wanted));
                            score.peak_kib = Some(site.peak());
                        }
                        Err(error) => score.trouble = Some(format!("does not start: {error}")),
                    }
                }
            }
            let connections = if clients == 1 { "1 connection".to_owned() } else { format!("{clients} connections") };
            let title = format!("Reads of {} over HTTP, {kind}, {connections}", size(BYTES));
            let mut row = Row::new(title, Unit::PerSecond, scores);
            judge(&mut row, 1.5);
            rows.push(row);
        }
    }
    Ok(rows)
}

fn scores(all: &[(&'static str, Vec<String>)]) -> Vec<Score> {
    all.iter().map(|(who, _)| Score::new(who)).collect()
}

/// The first round does not count.
fn note(score: &mut Score, round: usize, sample: Result<f64, String>) {
    match sample {
        Ok(sample) if round > 0 => score.samples.push(sample),
        Ok(_) => {}
        Err(trouble) => score.trouble = Some(trouble),
    }
}

/// We are held against the faster of the SDK's ways.
fn judge(row: &mut Row, least: f64) {
    let theirs = [SDK, SDK_JSON].into_iter().filter(|who| row.of(who).and_then(Score::median).is_some());
    let fastest = theirs.min_by(|a, b| {
        let rate = |who: &str| row.of(who).and_then(Score::median).unwrap_or(0.0);
        rate(b).total_cmp(&rate(a))
    });
    let ratio = fastest.and_then(|who| row.ratio(OURS, who));
    row.judge(format!("at least {least} times the official SDK"), ratio, " times", |ratio| ratio >= least);
}
