//! A log of JSON: one object a line, whatever is in the words.

use std::fmt::Debug;
use std::io::Write as _;

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

/// Writes each event to standard error.
pub(super) struct JsonLines;

/// What is known about a span.
struct Known(Map<String, Value>);

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for JsonLines {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut seen = Seen::default();
        attributes.record(&mut seen);
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(Known(seen.fields));
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let mut seen = Seen::default();
        values.record(&mut seen);
        if let Some(span) = context.span(id)
            && let Some(Known(fields)) = span.extensions_mut().get_mut()
        {
            fields.extend(seen.fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut seen = Seen::default();
        event.record(&mut seen);
        let within = context.event_scope(event).into_iter().flat_map(|scope| scope.from_root());
        let spans = within.map(|span| {
            let mut told = Map::from_iter([("name".to_owned(), json!(span.name()))]);
            if let Some(Known(fields)) = span.extensions().get() {
                told.extend(fields.clone());
            }
            Value::Object(told)
        });
        let metadata = event.metadata();
        let target = seen.target.as_deref().unwrap_or(metadata.target());
        let line = line(*metadata.level(), target, &seen.message, seen.fields, spans.collect());
        // In one piece, so that lines of other threads do not get in between.
        let _ = std::io::stderr().write_all(line.as_bytes());
    }
}

/// One line of the log.
pub(super) fn line(level: Level, target: &str, message: &str, fields: Map<String, Value>, spans: Vec<Value>) -> String {
    let time = format!("{:.6}", Timestamp::now());
    let mut line = json!({
        "time": time, "level": level.as_str(), "target": target, "message": message, "fields": fields,
    });
    if !spans.is_empty() {
        line["spans"] = Value::Array(spans);
    }
    format!("{line}\n")
}

/// What an event or a span says.
#[derive(Default)]
struct Seen {
    message: String,
    fields: Map<String, Value>,
    /// Where what comes from the `log` crate was said.
    target: Option<String>,
}

impl Seen {
    fn put(&mut self, field: &Field, value: Value) {
        match (field.name(), value) {
            ("message", Value::String(text)) => self.message = text,
            ("log.target", Value::String(target)) => self.target = Some(target),
            (name, _) if name.starts_with("log.") => {}
            (name, value) => {
                self.fields.insert(name.to_owned(), value);
            }
        }
    }
}

impl Visit for Seen {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.put(field, json!(format!("{value:?}")));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, json!(value));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, json!(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, json!(value));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field, json!(value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, json!(value));
    }

    fn record_error(&mut self, field: &Field, value: &(dyn std::error::Error + 'static)) {
        self.put(field, json!(value.to_string()));
    }
}
