//! Measures toolgate, its peers and the floors side by side, and writes the tables and charts.
//!
//! `compare --toolgate BIN --floor BIN --peers DIR --work DIR --out DIR [--sdk BIN] [--quick] [--only PART]`; `run` beside this crate gives all
//! of them.

mod bench;
mod chart;
mod data;
mod http;
mod peers;
mod report;
mod rows;
mod score;
mod sdk;
mod server;

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use bench::Bench;
use peers::{FLOOR, OURS, RELAXED};
use report::{Growth, Line, Machine, Report};
use score::{Row, Unit};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let given =
        |name: &str| arguments.iter().position(|argument| argument == name).and_then(|at| arguments.get(at + 1));
    let path = |name: &str| given(name).map(PathBuf::from).ok_or_else(|| format!("{name} is missing"));
    let (work, out, peers) = (path("--work")?, path("--out")?, path("--peers")?);
    let quick = arguments.iter().any(|argument| argument == "--quick");
    let only = given("--only").cloned().unwrap_or_default();
    let (files, scratch) = (work.join("files"), work.join("scratch"));
    fs::create_dir_all(&files)?;
    bench::fresh(&scratch)?;
    fs::create_dir_all(&out)?;
    let (toolgate, floor) = (path("--toolgate")?, path("--floor")?);
    let bench = Bench {
        contestants: peers::all(&toolgate, &floor, &peers, &files, &scratch),
        ripgrep: peers::ripgrep(&peers),
        sdk: given("--sdk").map(PathBuf::from).filter(|sdk| sdk.exists()),
        root: files,
        toolgate,
        floor,
        rounds: if quick { 3 } else { 7 },
    };
    let before = load();
    let rows = rows_of(&bench, &only)?;
    let growth = growth_of(&bench, &rows, &only, quick)?;
    let report = Report { machine: machine(&bench, [before, load()]), rows, growth };
    if !only.is_empty() {
        print!("{}", report.markdown());
        return Ok(());
    }
    fs::write(out.join("results.json"), serde_json::to_string_pretty(&report)?)?;
    fs::write(out.join("results.md"), report.markdown())?;
    chart::ratios(&report, &out.join("ratios.svg"))?;
    chart::growth(&report, &out.join("growth.svg"))?;
    print!("{}", report.markdown());
    Ok(())
}

/// Everybody but ourselves with the other durability.
fn all(who: &str) -> bool {
    who != RELAXED
}

fn served(who: &str) -> bool {
    who != RELAXED && who != FLOOR
}

fn rows_of(bench: &Bench, only: &str) -> Result<Vec<Row>, Box<dyn Error>> {
    let wanted = |part: &str| only.is_empty() || only.split(',').any(|name| name == part);
    let mut rows = Vec::new();
    let rounds = bench.rounds;
    if wanted("start") {
        rows.push(said(rows::cold_start(bench)));
        rows.push(said(rows::idle_memory(bench)));
        rows.push(said(rows::list_size(bench)));
    }
    if wanted("read") {
        let (one, many) = rows::reads(bench, 4096, rounds, &all)?;
        rows.extend([said(one), said(many)]);
    }
    if wanted("patch") {
        rows.push(said(rows::patch(bench, 1 << 20, rounds, &|_| true)?));
    }
    if wanted("deep") {
        let (first, later) = rows::deep_range(bench, 100 << 20, rounds, &served)?;
        rows.extend([said(first), said(later)]);
    }
    if wanted("write") {
        rows.push(said(rows::write(bench, 10 << 20, rounds, &|who| who != FLOOR)?));
    }
    if wanted("list") {
        rows.push(said(rows::list(bench, 10_000, rounds, &served)?));
    }
    if wanted("search") {
        rows.push(said(rows::search(bench, 50_000, rounds, &served)?));
    }
    if wanted("find") {
        rows.push(said(rows::find(bench, 50_000, rounds, &served)?));
    }
    if wanted("oneshot") {
        rows.push(said(rows::one_shot(bench, 4096, rounds)?));
    }
    if wanted("sdk") {
        rows.extend(sdk::over_pipes(bench, rounds)?.into_iter().map(said));
        rows.extend(sdk::over_http(bench, rounds)?.into_iter().map(said));
    }
    Ok(rows)
}

/// Tells whoever waits what has been measured.
fn said(row: Row) -> Row {
    let ours = row
        .scores
        .iter()
        .find(|score| score.who == OURS)
        .and_then(score::Score::median)
        .map_or_else(String::new, score::short);
    let verdicts: Vec<_> = row
        .budgets
        .iter()
        .map(|verdict| format!("{}: {}{}", verdict.budget, verdict.measured, if verdict.kept { "" } else { " MISSED" }))
        .collect();
    eprintln!("{}: {ours} [{}]", row.title, verdicts.join("; "));
    row
}

/// Who may take part in ten times more: who was right and quick enough before.
fn fit<'a>(rows: &'a [Row], part: &str, most_millis: f64) -> impl Fn(&str) -> bool + 'a {
    let row = rows.iter().find(|row| row.title.starts_with(part));
    move |who| {
        let peer = row.and_then(|row| row.of(who)).and_then(score::Score::median);
        who == OURS || peer.is_some_and(|millis| millis <= most_millis) && who != RELAXED
    }
}

fn growth_of(bench: &Bench, rows: &[Row], only: &str, quick: bool) -> Result<Vec<Growth>, Box<dyn Error>> {
    let wanted = |part: &str| only.is_empty() || only.split(',').any(|name| name == format!("{part}+"));
    let more = |steps: [u64; 3]| steps.into_iter().take(if quick { 2 } else { 3 });
    let mut growth = Vec::new();
    let mut grow = |part: &str,
                    title: &str,
                    unit: &str,
                    per: f64,
                    steps: [u64; 3],
                    measure: &dyn Fn(u64) -> std::io::Result<Row>|
     -> Result<(), Box<dyn Error>> {
        if wanted(part) {
            let mut lines: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
            for step in more(steps) {
                let row = said(measure(step)?);
                for score in &row.scores {
                    if let Some(median) = score.median() {
                        let millis = if row.unit == Unit::PerSecond { 1000.0 / median } else { median };
                        lines.entry(score.who.clone()).or_default().push((step as f64 / per, millis));
                    }
                }
            }
            let lines = lines.into_iter().map(|(who, points)| Line { who, points }).collect();
            growth.push(Growth { title: title.to_owned(), unit: unit.to_owned(), lines });
        }
        Ok(())
    };
    const MIB: u64 = 1 << 20;
    grow("read", "Read of a file", "KB", 1024.0, [410, 4096, 40_960], &|bytes| {
        Ok(rows::reads(bench, bytes, 2, &all)?.0)
    })?;
    grow("patch", "Patch in a file", "MB", MIB as f64, [MIB / 10, MIB, 10 * MIB], &|bytes| {
        rows::patch(bench, bytes, 3, &fit(rows, "Patch", 1000.0))
    })?;
    grow("deep", "Ten lines deep in a file", "MB", MIB as f64, [10 * MIB, 100 * MIB, 1000 * MIB], &|bytes| {
        Ok(rows::deep_range(bench, bytes, 2, &fit(rows, "Ten lines", 500.0))?.0)
    })?;
    grow("write", "Write of a file", "MB", MIB as f64, [MIB, 10 * MIB, 100 * MIB], &|bytes| {
        rows::write(bench, bytes, 2, &fit(rows, "Write", 1000.0))
    })?;
    grow("list", "List a folder", "entries", 1.0, [1000, 10_000, 100_000], &|count| {
        rows::list(bench, count as usize, 3, &fit(rows, "List", 500.0))
    })?;
    grow("search", "Search in files", "files", 1.0, [5000, 50_000, 500_000], &|count| {
        rows::search(bench, count as usize, 2, &fit(rows, "Search", 1500.0))
    })?;
    grow("find", "Find files", "files", 1.0, [5000, 50_000, 500_000], &|count| {
        rows::find(bench, count as usize, 2, &fit(rows, "Find", 1500.0))
    })?;
    grow("oneshot", "One-shot dispatch", "KB", 1024.0, [410, 4096, 40_960], &|bytes| rows::one_shot(bench, bytes, 3))?;
    Ok(growth)
}

fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_ascii_whitespace().next().unwrap_or("?").to_owned()
}

fn machine(bench: &Bench, load: [String; 2]) -> Machine {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let cpu = info
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": "))
        .map_or("?", |(_, name)| name)
        .to_owned();
    let system = fs::read_to_string("/proc/sys/kernel/osrelease")
        .map_or_else(|_| "?".to_owned(), |release| format!("Linux {}", release.trim()));
    let mut versions = BTreeMap::new();
    let mut version = |name: &str, program: &str| {
        let output = Command::new(program).arg("--version").output();
        let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
        let word = text
            .split_ascii_whitespace()
            .find(|word| word.trim_start_matches('v').starts_with(|c: char| c.is_ascii_digit()));
        if let Some(word) = word {
            versions.insert(name.to_owned(), word.to_owned());
        }
    };
    version("toolgate", &bench.toolgate.to_string_lossy());
    if let Some(rg) = &bench.ripgrep {
        version("ripgrep", rg);
    }
    for program in ["sed", "find", "ls", "dd"] {
        version(program, program);
    }
    version("node", "node");
    Machine { cpu, cores: std::thread::available_parallelism().map_or(1, usize::from), system, load, versions }
}
