//! Which events belong together, and which of them are asked for.

use std::collections::BTreeMap;

use crate::model::event::{Event, Line};
use crate::model::id::CallId;

/// What is asked for.
#[derive(Debug, Clone, Default)]
pub(super) struct Wanted {
    pub(super) session: Option<String>,
    pub(super) tool: Option<String>,
    pub(super) caller: Option<String>,
    pub(super) changes: bool,
}

impl Wanted {
    /// Whether a line may be asked for, whatever else its call is.
    fn takes(&self, line: &Line) -> bool {
        self.session.as_ref().is_none_or(|session| line.session.as_str().starts_with(session.as_str()))
            && self.caller.as_ref().is_none_or(|caller| is_caller(caller, &line.caller))
    }

    fn takes_call(&self, tool: &str) -> bool {
        self.tool.as_ref().is_none_or(|wanted| wanted == tool)
    }

    /// Whether all of a call must be known before it is known to be asked for.
    fn needs_the_end(&self) -> bool {
        self.changes
    }

    fn takes_all(&self, group: &[Line]) -> bool {
        let changed = |line: &Line| matches!(&line.event, Event::ToolResult { change: Some(_), .. });
        !self.changes || group.iter().any(changed)
    }
}

/// `mcp` stands for `mcp:local` and every other.
fn is_caller(wanted: &str, caller: &str) -> bool {
    caller.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
}

type Key = (String, CallId);

/// Puts the lines of a call together.
#[derive(Debug, Default)]
pub(super) struct Gather {
    wanted: Wanted,
    /// The lines of calls without a result, which wait for it.
    open: BTreeMap<Key, Vec<Line>>,
    /// Whether a call whose lines are not kept back is asked for.
    known: BTreeMap<Key, bool>,
}

impl Gather {
    pub(super) fn new(wanted: Wanted) -> Self {
        Gather { wanted, ..Gather::default() }
    }

    /// The lines of a call once its result is there; a line without a call at once.
    pub(super) fn whole(&mut self, line: Line) -> Option<Vec<Line>> {
        if !self.wanted.takes(&line) {
            return None;
        }
        let Some(key) = key(&line) else { return self.alone(line) };
        let (tool_fits, ended) = self.about(&line);
        if !tool_fits {
            return None;
        }
        let group = self.open.entry(key.clone()).or_default();
        group.push(line);
        if !ended {
            return None;
        }
        let group = self.open.remove(&key)?;
        self.wanted.takes_all(&group).then_some(group)
    }

    /// A line as soon as it is known to be asked for.
    pub(super) fn at_once(&mut self, line: Line) -> Option<Vec<Line>> {
        if self.wanted.needs_the_end() {
            return self.whole(line);
        }
        if !self.wanted.takes(&line) {
            return None;
        }
        let Some(key) = key(&line) else { return self.alone(line) };
        let (tool_fits, ended) = self.about(&line);
        let fits = *self.known.entry(key.clone()).or_insert(tool_fits);
        if ended {
            self.known.remove(&key);
        }
        fits.then(|| vec![line])
    }

    /// The calls whose result is not there, oldest first. What still comes of them is given at once.
    pub(super) fn unfinished(&mut self) -> Vec<Vec<Line>> {
        if self.wanted.needs_the_end() {
            return Vec::new();
        }
        let open = std::mem::take(&mut self.open);
        self.known.extend(open.keys().map(|key| (key.clone(), true)));
        let mut groups: Vec<Vec<Line>> = open.into_values().collect();
        groups.sort_by_key(|group| group.first().map(|line| line.time));
        groups
    }

    /// Whether a call is one of the tool that is asked for, as far as this line tells, and whether it ends with it.
    fn about(&self, line: &Line) -> (bool, bool) {
        let ended = matches!(line.event, Event::ToolResult { .. });
        match &line.event {
            Event::ToolCall { tool, .. } | Event::ToolResult { tool, .. } => (self.wanted.takes_call(tool), ended),
            // What a call of another tool is about was left out at its beginning.
            _ => (self.wanted.tool.is_none() || key(line).is_some_and(|key| self.open.contains_key(&key)), ended),
        }
    }

    fn alone(&self, line: Line) -> Option<Vec<Line>> {
        (self.wanted.tool.is_none() && !self.wanted.changes).then(|| vec![line])
    }
}

/// Whether the lines are of a call without its result.
pub(super) fn is_open(group: &[Line]) -> bool {
    let has = |wanted: fn(&Event) -> bool| group.iter().any(|line| wanted(&line.event));
    has(|event| matches!(event, Event::ToolCall { .. })) && !has(|event| matches!(event, Event::ToolResult { .. }))
}

fn key(line: &Line) -> Option<Key> {
    Some((line.session.as_str().to_owned(), line.call?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::id::SessionId;

    fn line(call: u64, event: Event) -> Line {
        let (time, session) = (jiff::Timestamp::UNIX_EPOCH, SessionId::named("s"));
        Line { time, session, call: Some(CallId(call)), caller: "mcp:local".into(), event }
    }

    fn called(call: u64, tool: &str) -> Line {
        line(
            call,
            Event::ToolCall { tool: tool.to_owned(), arguments: serde_json::json!({}), variant: None, method: None },
        )
    }

    fn answered(call: u64, tool: &str) -> Line {
        let (tool, card) = (tool.to_owned(), String::new());
        line(call, Event::ToolResult { tool, card, error: None, message: None, change: None, micros: 1 })
    }

    fn asked(call: u64) -> Line {
        line(call, Event::ApprovalAnswered { answer: "approved".into() })
    }

    #[test]
    fn a_call_is_told_as_a_whole_or_at_once() {
        let mut gather = Gather::new(Wanted { tool: Some("read".into()), ..Wanted::default() });
        let told: Vec<usize> =
            [called(1, "read"), called(2, "write"), called(3, "read"), asked(2), asked(1), answered(1, "read")]
                .into_iter()
                .filter_map(|line| gather.whole(line))
                .map(|group| group.len())
                .collect();
        assert_eq!(told, [3], "the other call of the tool has no result yet");
        let open = gather.unfinished();
        assert!(open.len() == 1 && is_open(&open[0]));
        assert!(gather.at_once(answered(2, "write")).is_none());
        assert!(gather.at_once(asked(3)).is_some() && gather.at_once(answered(3, "read")).is_some());
    }

    #[test]
    fn callers_are_told_apart() {
        assert!(is_caller("mcp", "mcp:local") && is_caller("mcp:local", "mcp:local"));
        assert!(!is_caller("mc", "mcp:local") && !is_caller("mcp:local", "mcp"));
    }
}
