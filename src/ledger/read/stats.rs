//! Figures about what was recorded: how often, how fast, how well.

use std::collections::{BTreeMap, HashMap};
use std::io;

use serde::Serialize;

use crate::model::event::{Event, Line};
use crate::model::id::{CallId, SessionId};

/// Figures about calls.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Stats {
    /// Calls that came in.
    pub calls: u64,
    /// Calls that were answered.
    pub answered: u64,
    /// How often each code of a tool error was the answer.
    pub errors: BTreeMap<String, u64>,
    /// Calls that a rule, a hook or a person has stopped.
    pub denials: u64,
    /// Changes that were made.
    pub changes: u64,
    /// Each tool's.
    pub tools: BTreeMap<String, ToolStats>,
    /// Each wording's of a tool's description; the built-in one is `built-in`.
    pub variants: BTreeMap<String, BTreeMap<String, VariantStats>>,
}

/// Figures about a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ToolStats {
    /// Calls that were answered.
    pub calls: u64,
    /// Those whose answer was an error.
    pub errors: u64,
    /// How long they took in all, in microseconds.
    pub micros: u64,
    /// Half of them took no longer than this, in microseconds.
    pub p50: u64,
    /// All but a twentieth of them took no longer than this, in microseconds.
    pub p95: u64,
}

/// Figures about a wording of a tool's description.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct VariantStats {
    /// Calls that were answered.
    pub calls: u64,
    /// How often each code of a tool error was the answer.
    pub errors: BTreeMap<String, u64>,
}

const BUILT_IN: &str = "built-in";

/// The figures of `lines`, which come in the order of time. They are not held.
///
/// # Errors
/// A line cannot be read.
pub fn stats(lines: impl IntoIterator<Item = io::Result<Line>>) -> io::Result<Stats> {
    let mut count = Count::default();
    for line in lines {
        count.take(line?);
    }
    Ok(count.finish())
}

#[derive(Default)]
struct Count {
    stats: Stats,
    /// The wording that the model of a call had, while the answer is awaited.
    variants: HashMap<(SessionId, Option<CallId>), String>,
    times: HashMap<String, Vec<u64>>,
}

impl Count {
    fn take(&mut self, line: Line) {
        let call = (line.session, line.call);
        match line.event {
            Event::ToolCall { variant, .. } => {
                self.stats.calls += 1;
                if let Some(variant) = variant {
                    self.variants.insert(call, variant);
                }
            }
            Event::ToolResult { tool, error, change, micros, .. } => {
                let variant = self.variants.remove(&call).unwrap_or_else(|| BUILT_IN.to_owned());
                self.answer(tool, variant, error, micros);
                self.stats.changes += u64::from(change.is_some());
            }
            _ => {}
        }
    }

    fn answer(&mut self, tool: String, variant: String, error: Option<String>, micros: u64) {
        self.stats.answered += 1;
        let of_tool = self.stats.tools.entry(tool.clone()).or_default();
        of_tool.calls += 1;
        of_tool.micros += micros;
        let of_variant = self.stats.variants.entry(tool.clone()).or_default().entry(variant).or_default();
        of_variant.calls += 1;
        if let Some(code) = error {
            of_tool.errors += 1;
            self.stats.denials += u64::from(code == "denied");
            *of_variant.errors.entry(code.clone()).or_default() += 1;
            *self.stats.errors.entry(code).or_default() += 1;
        }
        self.times.entry(tool).or_default().push(micros);
    }

    fn finish(mut self) -> Stats {
        for (tool, mut times) in self.times {
            times.sort_unstable();
            if let Some(stats) = self.stats.tools.get_mut(&tool) {
                stats.p50 = percentile(&times, 50);
                stats.p95 = percentile(&times, 95);
            }
        }
        self.stats
    }
}

/// The least of `sorted` that `percent` of them do not exceed.
fn percentile(sorted: &[u64], percent: usize) -> u64 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(call: u64, event: Event) -> Line {
        let (time, session) = (jiff::Timestamp::UNIX_EPOCH, SessionId::named("s"));
        Line { time, session, call: Some(CallId(call)), caller: "cli".into(), event }
    }

    fn called(call: u64, variant: Option<&str>) -> Line {
        let (tool, arguments) = ("read_file".to_owned(), serde_json::json!({}));
        line(call, Event::ToolCall { tool, arguments, variant: variant.map(str::to_owned), method: None })
    }

    fn answered(call: u64, error: Option<&str>, micros: u64) -> Line {
        let (tool, card, error) = ("read_file".to_owned(), String::new(), error.map(str::to_owned));
        line(call, Event::ToolResult { tool, card, error, message: None, change: None, micros })
    }

    #[test]
    fn calls_are_counted_by_tool_error_and_wording() {
        let mut lines = vec![called(1, Some("terse")), called(2, None), called(3, None)];
        lines.extend([answered(2, Some("denied"), 30), answered(1, None, 10)]);
        let stats = stats(lines.into_iter().map(Ok)).expect("lines that can be read");
        assert_eq!((stats.calls, stats.answered, stats.denials, stats.changes), (3, 2, 1, 0));
        let tool = ToolStats { calls: 2, errors: 1, micros: 40, p50: 10, p95: 30 };
        assert_eq!(stats.tools["read_file"], tool);
        assert_eq!(stats.variants["read_file"]["terse"], VariantStats { calls: 1, errors: BTreeMap::new() });
        assert_eq!(stats.variants["read_file"]["built-in"].errors["denied"], 1);
    }

    #[test]
    fn percentiles() {
        let hundred: Vec<u64> = (1..=100).collect();
        assert_eq!((percentile(&hundred, 50), percentile(&hundred, 95)), (50, 95));
        assert_eq!((percentile(&[7], 95), percentile(&[], 50)), (7, 0));
    }
}
