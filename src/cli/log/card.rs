//! Events as a person reads them: a line for the call, below it what was decided about it and what came of it.

use std::io::{self, Write};

use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde_json::Value;

use crate::cli::print::{Paint, Tone, local, span};
use crate::model::event::{Event, Line, Phase};
use crate::model::id::{CallId, SessionId};
use crate::text::harmless;
use crate::tool::registry::Registry;

/// So many characters of a line are shown.
const WIDTH: usize = 200;

/// So many of the arguments of a call that has no card.
const ARGUMENTS: usize = 100;

/// So wide is the column of callers.
const CALLER: usize = 9;

/// Where the text of a card begins: behind the time and the caller.
const INDENT: usize = 8 + 2 + CALLER + 2;

/// Prints cards one below the other.
pub(super) struct Cards {
    registry: Registry,
    paint: Paint,
    /// The day that the last line belongs to.
    day: Option<Date>,
    /// The session of the last line that a server recorded.
    session: Option<SessionId>,
    /// The call that the last line belongs to.
    call: Option<(SessionId, CallId)>,
}

/// A line below a call: a mark, and words in a tone.
struct Below {
    mark: (Tone, &'static str),
    tone: Tone,
    text: String,
    /// What stands behind it in small letters.
    behind: String,
}

impl Below {
    fn new(tone: Tone, mark: &'static str, text: impl AsRef<str>) -> Self {
        let text = harmless::line(text.as_ref(), WIDTH);
        Below { mark: (tone, mark), tone: Tone::Plain, text, behind: String::new() }
    }

    fn in_tone(mut self, tone: Tone) -> Self {
        self.tone = tone;
        self
    }

    fn behind(mut self, text: String) -> Self {
        self.behind = text;
        self
    }
}

impl Cards {
    pub(super) fn new(registry: Registry, paint: Paint) -> Self {
        Cards { registry, paint, day: None, session: None, call: None }
    }

    pub(super) fn print(&mut self, line: &Line, out: &mut impl Write) -> io::Result<()> {
        if let Event::ToolCall { tool, arguments, variant, method } = &line.event {
            let mut card = self.card(tool, arguments);
            if let Some(method) = method {
                card.push_str(&format!(" (through {})", harmless::line(method, WIDTH)));
            }
            if let Some(variant) = variant {
                card.push_str(&format!(" (as described in {})", harmless::line(variant, WIDTH)));
            }
            return self.head(line, &card, out);
        }
        let Some(below) = below(&line.event) else { return Ok(()) };
        let of = line.call.map(|call| (line.session.clone(), call));
        if of.is_none() || of != self.call {
            // Another call's lines stand in between.
            let whose = match (&line.event, line.call) {
                (Event::ToolResult { tool, .. }, _) => format!("{} …", harmless::line(tool, WIDTH)),
                (_, Some(CallId(call))) => format!("call {call} …"),
                (_, None) => "the log".to_owned(),
            };
            self.head(line, &whose, out)?;
        }
        self.below(&below, out)
    }

    /// Says that nothing came of the call above.
    pub(super) fn open(&self, out: &mut impl Write) -> io::Result<()> {
        let text = "no answer is recorded: it is still running, or its process ended first";
        self.below(&Below::new(Tone::Careful, "…", text).in_tone(Tone::Dim), out)
    }

    /// Says when another day or a server's session begins. Each command from a shell is a session, of which nobody wants
    /// to know.
    fn heading(&mut self, line: &Line, out: &mut impl Write) -> io::Result<()> {
        let day = line.time.to_zoned_datetime(TimeZone::system()).date();
        let session = (line.caller != "cli").then(|| line.session.clone());
        let is_new = self.day != Some(day) || (session.is_some() && session != self.session);
        if is_new {
            let gap = if self.day.is_some() { "\n" } else { "" };
            let mut title = local(line.time, "%a %Y-%m-%d");
            if let Some(session) = &session {
                title.push_str(&format!(" · session {}", harmless::line(session.as_str(), WIDTH)));
            }
            writeln!(out, "{gap}{}", self.paint.text(Tone::Dim, &title))?;
            self.day = Some(day);
        }
        self.session = session.or_else(|| self.session.take());
        Ok(())
    }

    fn head(&mut self, line: &Line, card: &str, out: &mut impl Write) -> io::Result<()> {
        self.heading(line, out)?;
        self.call = line.call.map(|call| (line.session.clone(), call));
        let time = self.paint.text(Tone::Dim, &local(line.time, "%H:%M:%S"));
        let caller = self.paint.text(Tone::Place, &format!("{:<CALLER$}", harmless::line(&line.caller, WIDTH)));
        writeln!(out, "{time}  {caller}  {}", self.paint.text(Tone::Strong, card))
    }

    fn below(
        &self,
        Below { mark: (tone, mark), tone: of_text, text, behind }: &Below,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let mark = self.paint.text(*tone, mark);
        write!(out, "{:INDENT$}{mark} {}", "", self.paint.text(*of_text, text))?;
        if !behind.is_empty() {
            let gap = if text.is_empty() { "" } else { " · " };
            write!(out, "{}", self.paint.text(Tone::Dim, &format!("{gap}{behind}")))?;
        }
        writeln!(out)
    }

    /// One line about a call, as its tool puts it where that can be.
    fn card(&self, tool: &str, arguments: &Value) -> String {
        let known = self.registry.get(tool).and_then(|entry| {
            let valid = entry.validate(filled_in(arguments)?).ok()?;
            Some(entry.present(&valid).line)
        });
        let card = known.unwrap_or_else(|| {
            let told = harmless::line(&arguments.to_string(), ARGUMENTS);
            format!("{tool} {told}")
        });
        harmless::line(&card, WIDTH)
    }
}

/// The arguments with texts in place of what stands for long ones; nothing if something in them is secret.
fn filled_in(arguments: &Value) -> Option<Value> {
    /// A card tells how long a text is, and no more of it.
    const LONGEST: u64 = 1 << 28;
    Some(match arguments {
        Value::Object(members) if members.contains_key("$secret") => return None,
        Value::Object(members) if members.contains_key("$blob") => {
            let bytes = members.get("bytes").and_then(Value::as_u64).filter(|bytes| *bytes <= LONGEST)?;
            Value::String(" ".repeat(usize::try_from(bytes).ok()?))
        }
        Value::Object(members) => {
            let filled = members.iter().map(|(name, value)| Some((name.clone(), filled_in(value)?)));
            Value::Object(filled.collect::<Option<_>>()?)
        }
        Value::Array(items) => Value::Array(items.iter().map(filled_in).collect::<Option<_>>()?),
        other => other.clone(),
    })
}

/// What stands below the call for an event; nothing for what its card says anyway.
fn below(event: &Event) -> Option<Below> {
    Some(match event {
        Event::ToolResult { card, error, message, change, micros, .. } => {
            let change = change.map(|change| format!("change {change} · ")).unwrap_or_default();
            let behind = format!("{change}{}", span(*micros));
            match error {
                None => Below::new(Tone::Good, "✓", card).behind(behind),
                Some(code) => {
                    let first = message.as_deref().unwrap_or_default().lines().next().unwrap_or_default();
                    let first = first.strip_prefix(&format!("{code}: ")).unwrap_or(first);
                    Below::new(Tone::Bad, "✗", format!("{code}: {first}")).in_tone(Tone::Bad).behind(behind)
                }
            }
        }
        Event::HookResult { hook, phase, decision, reason, micros } => {
            let when = if *phase == Phase::Pre { "" } else { " (after)" };
            let reason = reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
            let tone = decision_tone(decision);
            Below::new(tone, "·", format!("hook {hook}{when} {}{reason}", said(decision)))
                .in_tone(tone)
                .behind(span(*micros))
        }
        Event::ApprovalAsked { by, question } => {
            let first = question.lines().next().unwrap_or_default();
            Below::new(Tone::Careful, "?", format!("{by} wants a person to decide: {first}"))
        }
        Event::ApprovalAnswered { answer } => {
            let (tone, words) = match answer.as_str() {
                "approved" => (Tone::Good, "they said yes"),
                "declined" => (Tone::Bad, "they said no"),
                "cancelled" => (Tone::Careful, "they would not say"),
                "timed_out" => (Tone::Careful, "they did not answer in time"),
                "crowded" => (Tone::Careful, "too many calls waited for an answer already"),
                "nobody" => (Tone::Careful, "nobody was there to ask"),
                "deferred" => (Tone::Careful, "they have not answered yet"),
                other => (Tone::Careful, other),
            };
            Below::new(tone, "?", words).in_tone(tone)
        }
        Event::ContextMessage { hook, text } => {
            Below::new(Tone::Dim, "·", format!("hook {hook} told the model: {text}"))
        }
        // What it calls stands in the line above.
        Event::CodeDispatch { id, .. } => {
            Below::new(Tone::Dim, "→", format!("made by a program: {}", harmless::line(id, WIDTH)))
        }
        Event::LogGap { events } => {
            Below::new(Tone::Bad, "!", format!("{events} events are missing: the log could not be written"))
                .in_tone(Tone::Bad)
        }
        // The result tells of the change, and of what was seen and noted down.
        _ => return None,
    })
}

fn decision_tone(decision: &str) -> Tone {
    match decision {
        "deny" | "block" | "failed" => Tone::Bad,
        "ask" | "rewrite" | "replace" => Tone::Careful,
        _ => Tone::Dim,
    }
}

/// A decision as a verb.
fn said(decision: &str) -> &str {
    match decision {
        "allow" => "allows",
        "deny" => "denies",
        "ask" => "wants a person asked",
        "rewrite" => "rewrites the call",
        "accept" => "accepts the outcome",
        "block" => "blocks the outcome",
        "replace" => "replaces the outcome",
        other => other,
    }
}
