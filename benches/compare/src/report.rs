//! The results as Markdown, for people, and as JSON.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use crate::score::{Row, Score, Unit, short};

/// Everything that was measured, and where.
#[derive(Debug, Serialize)]
pub struct Report {
    pub machine: Machine,
    pub rows: Vec<Row>,
    pub growth: Vec<Growth>,
}

/// Where it was measured.
#[derive(Debug, Serialize)]
pub struct Machine {
    pub cpu: String,
    pub cores: usize,
    pub system: String,
    /// How many processes wanted to run in the last minute, before and after.
    pub load: [String; 2],
    pub versions: BTreeMap<String, String>,
}

/// The same work for less and for more.
#[derive(Debug, Serialize)]
pub struct Growth {
    pub title: String,
    /// What grows.
    pub unit: String,
    pub lines: Vec<Line>,
}

/// How one of them grows.
#[derive(Debug, Serialize)]
pub struct Line {
    pub who: String,
    /// How much of it, and how long it takes in milliseconds.
    pub points: Vec<(f64, f64)>,
}

/// The programs that are no servers.
pub const PROGRAMS: [&str; 7] = ["floor", "a bare program", "rg", "sed -n", "find", "ls -l", "dd conv=fsync"];

impl Report {
    /// The tables, as the README shows them.
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut text);
        text
    }

    fn write(&self, text: &mut String) -> std::fmt::Result {
        let Machine { cpu, cores, system, load, versions } = &self.machine;
        writeln!(text, "# Side by side\n")?;
        writeln!(
            text,
            "The same work on the same files, everybody in turn, round after round; shown is the middle of all rounds, and ratios are the \
             middle of the ratios of each round. Every answer is looked at: who answers wrongly has no figure.\n"
        )?;
        writeln!(
            text,
            "Measured on {cpu}, {cores} cores, {system}; load average {} before and {} after.",
            load[0], load[1]
        )?;
        let versions: Vec<_> = versions.iter().map(|(name, version)| format!("{name} {version}")).collect();
        writeln!(text, "With {}.\n", versions.join(", "))?;
        self.verdicts(text)?;
        self.figures(text)?;
        self.memory(text)?;
        self.growth(text)
    }

    fn verdicts(&self, text: &mut String) -> std::fmt::Result {
        writeln!(text, "## Budgets\n\n| work | budget | measured | |\n| --- | --- | --- | --- |")?;
        for row in &self.rows {
            for verdict in &row.budgets {
                let mark = if verdict.kept { "kept" } else { "**missed**" };
                writeln!(text, "| {} | {} | {} | {mark} |", row.title, verdict.budget, verdict.measured)?;
            }
        }
        let remarks: Vec<_> = self
            .rows
            .iter()
            .filter(|row| row.budgets.iter().any(|budget| !budget.kept))
            .flat_map(|row| &row.remarks)
            .collect();
        if !remarks.is_empty() {
            writeln!(text)?;
            remarks.iter().try_for_each(|remark| writeln!(text, "- {remark}"))?;
        }
        writeln!(text)
    }

    fn figures(&self, text: &mut String) -> std::fmt::Result {
        writeln!(text, "## Figures\n\n| work | toolgate | floor | peers |\n| --- | --- | --- | --- |")?;
        for row in &self.rows {
            let ours: Vec<_> = row.scores.iter().filter(|score| score.who.starts_with("toolgate")).collect();
            let ours = ours.iter().map(|score| named(score, row.unit, ours.len() > 1)).collect::<Vec<_>>().join("<br>");
            let floor = row.scores.iter().filter(|score| PROGRAMS.contains(&score.who.as_str()));
            let floor = floor.map(|score| named(score, row.unit, true)).collect::<Vec<_>>().join("<br>");
            let mut peers: Vec<_> = row.scores.iter().filter(|score| is_peer(&score.who)).collect();
            let better = |score: &Score| {
                score.median().map_or(f64::MAX, |value| if row.unit == Unit::PerSecond { -value } else { value })
            };
            peers.sort_by(|a, b| better(a).total_cmp(&better(b)));
            let peers = peers.iter().map(|score| named(score, row.unit, true)).collect::<Vec<_>>().join("<br>");
            writeln!(text, "| {} | {ours} | {floor} | {peers} |", row.title)?;
        }
        writeln!(text)
    }

    fn memory(&self, text: &mut String) -> std::fmt::Result {
        writeln!(text, "## Most memory in use meanwhile\n\n| work | toolgate | peers |\n| --- | --- | --- |")?;
        for row in self.rows.iter().filter(|row| row.scores.iter().any(|score| score.peak_kib.is_some())) {
            let mib = |score: &Score| score.peak_kib.map(|kib| format!("{} MiB", short(kib as f64 / 1024.0)));
            let ours = row.of("toolgate").and_then(mib).unwrap_or_default();
            let peers = row.scores.iter().filter(|score| is_peer(&score.who));
            let peers: Vec<_> = peers.filter_map(|score| Some(format!("{}: {}", score.who, mib(score)?))).collect();
            writeln!(text, "| {} | {ours} | {} |", row.title, peers.join("<br>"))?;
        }
        writeln!(text)
    }

    fn growth(&self, text: &mut String) -> std::fmt::Result {
        writeln!(text, "## Growth\n\nThe same for less and for more, in milliseconds.\n")?;
        for Growth { title, unit, lines } in &self.growth {
            let mut sizes: Vec<f64> = lines.iter().flat_map(|line| line.points.iter().map(|point| point.0)).collect();
            sizes.sort_by(f64::total_cmp);
            sizes.dedup();
            let head: Vec<_> = sizes.iter().map(|size| format!("{} {unit}", size_of(*size))).collect();
            writeln!(text, "| {title} | {} |\n| --- |{}", head.join(" | "), " --- |".repeat(sizes.len()))?;
            for line in lines {
                let value = |size: &f64| {
                    line.points
                        .iter()
                        .find(|point| point.0 == *size)
                        .map_or_else(|| "-".to_owned(), |point| short(point.1))
                };
                writeln!(text, "| {} | {} |", line.who, sizes.iter().map(value).collect::<Vec<_>>().join(" | "))?;
            }
            writeln!(text)?;
        }
        Ok(())
    }
}

/// Whether this is neither ours nor a floor.
pub fn is_peer(who: &str) -> bool {
    !who.starts_with("toolgate") && !PROGRAMS.contains(&who)
}

fn named(score: &Score, unit: Unit, with_name: bool) -> String {
    let value = match (&score.trouble, score.median()) {
        (Some(trouble), _) => format!("*{trouble}*"),
        (None, Some(value)) => shown(value, unit),
        (None, None) => "*not measured*".to_owned(),
    };
    if with_name { format!("{}: {value}", score.who) } else { value }
}

/// How much there is of it: 0.1, 4, 50000.
fn size_of(value: f64) -> String {
    let digits = short(value);
    if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.').to_owned() } else { digits }
}

fn shown(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Millis => format!("{} ms", short(value)),
        Unit::PerSecond => format!("{}/s", crate::rows::thousands(value as usize)),
        Unit::Kib => format!("{} MiB", short(value / 1024.0)),
        Unit::Bytes => format!("{} KB", short(value / 1000.0)),
    }
}
