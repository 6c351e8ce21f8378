//! `/metrics`: how calls go and what the server holds, as Prometheus reads it.

use std::sync::atomic::{AtomicI64, AtomicU64};
use std::time::Duration;

use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use crate::rpc::meter::{Meter, Metered};

/// How the text is to be read.
pub(super) const KIND: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The bounds of the times that calls take, in seconds: from a small read to a person who is asked.
const TIMES: [f64; 12] = [0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.05, 0.25, 1.0, 10.0, 60.0];

type Total = Counter<u64, AtomicU64>;
type Level = Gauge<i64, AtomicI64>;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CallLabels {
    tool: &'static str,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ToolLabel {
    tool: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct DenialLabel {
    by: Denied,
}

/// What has turned somebody away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Denied {
    /// A rule, a hook or a person.
    Gate,
    /// The name of the server or the page that asks.
    Guard,
    /// There was no token, or it is not accepted.
    Token,
    /// The token does not allow it.
    Scope,
    /// There were too many calls.
    Rate,
    /// There was no room.
    Busy,
}

impl EncodeLabelValue for Denied {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> Result<(), std::fmt::Error> {
        let word = match self {
            Denied::Gate => "gate",
            Denied::Guard => "guard",
            Denied::Token => "token",
            Denied::Scope => "scope",
            Denied::Rate => "rate",
            Denied::Busy => "busy",
        };
        EncodeLabelValue::encode(&word, encoder)
    }
}

/// What is counted.
pub(super) struct Metrics {
    registry: Registry,
    calls: Family<CallLabels, Total>,
    times: Family<ToolLabel, Histogram, fn() -> Histogram>,
    denials: Family<DenialLabel, Total>,
    received: Total,
    sent: Total,
    sessions: Level,
    connections: Level,
    requests: Level,
}

/// What the server holds at the moment.
pub(super) struct Holds {
    pub(super) received: u64,
    pub(super) sent: u64,
    pub(super) sessions: usize,
    pub(super) connections: usize,
    pub(super) requests: usize,
}

impl Metrics {
    pub(super) fn new() -> Self {
        let mut registry = Registry::with_prefix("toolgate");
        let metrics = Metrics {
            calls: Family::default(),
            times: Family::new_with_constructor(|| Histogram::new(TIMES)),
            denials: Family::default(),
            received: Total::default(),
            sent: Total::default(),
            sessions: Level::default(),
            connections: Level::default(),
            requests: Level::default(),
            registry: Registry::default(),
        };
        registry.register("calls", "Calls, by tool and by what they came to", metrics.calls.clone());
        let help = "How long calls took";
        registry.register_with_unit("call_duration", help, Unit::Seconds, metrics.times.clone());
        registry.register("denials", "Requests and calls that were turned away, by what", metrics.denials.clone());
        registry.register_with_unit("received", "Bytes that came", Unit::Bytes, metrics.received.clone());
        registry.register_with_unit("sent", "Bytes that went", Unit::Bytes, metrics.sent.clone());
        registry.register("sessions", "Sessions that are open", metrics.sessions.clone());
        registry.register("connections", "Connections that are open", metrics.connections.clone());
        registry.register("requests", "Requests that are being answered", metrics.requests.clone());
        Metrics { registry, ..metrics }
    }

    pub(super) fn denied(&self, by: Denied) {
        self.denials.get_or_create(&DenialLabel { by }).inc();
    }

    /// All of it as text.
    pub(super) fn text(&self, holds: &Holds) -> Result<String, std::fmt::Error> {
        let level = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        self.received.inc_by(holds.received.saturating_sub(self.received.get()));
        self.sent.inc_by(holds.sent.saturating_sub(self.sent.get()));
        self.sessions.set(level(holds.sessions));
        self.connections.set(level(holds.connections));
        self.requests.set(level(holds.requests));
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }
}

impl Meter for Metrics {
    fn called(&self, tool: &'static str, came: Metered, took: Duration) {
        let outcome = match came {
            Metered::Output => "ok",
            Metered::Error(code) => code.as_str(),
            Metered::Panic => "panic",
        };
        if outcome == "denied" {
            self.denied(Denied::Gate);
        }
        self.calls.get_or_create(&CallLabels { tool, outcome }).inc();
        self.times.get_or_create(&ToolLabel { tool }).observe(took.as_secs_f64());
    }
}
