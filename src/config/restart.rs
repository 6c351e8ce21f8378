//! What holds only from the start on: a server that reads its configuration again goes on without it.

use super::Config;

impl Config {
    /// The settings that are others here than in `started`, and take a restart to hold. All else can be put in place while
    /// a server runs.
    #[must_use]
    pub fn restart_for(&self, started: &Config) -> Vec<&'static str> {
        let redact = |config: &Config| config.redact.iter().map(|rule| rule.value.clone()).collect::<Vec<_>>();
        let (now, then) = (&self.http, &started.http);
        let others = [
            ("mode", self.mode != started.mode),
            ("durability", self.durability != started.durability),
            ("log.redact", redact(self) != redact(started)),
            ("retention", self.retention != started.retention),
            ("approval.timeout_ms", self.approval != started.approval),
            ("http.allow_hosts", now.allow_hosts != then.allow_hosts),
            ("http.allow_origins", now.allow_origins != then.allow_origins),
            // Another certificate can be shown at any time, but a client does not expect TLS to come and go.
            ("http.tls", now.tls.is_some() != then.tls.is_some()),
            ("http.max_body_bytes", now.max_body_bytes != then.max_body_bytes),
            ("http.max_head_bytes", now.max_head_bytes != then.max_head_bytes),
            ("http.head_timeout_ms", now.head_timeout_ms != then.head_timeout_ms),
            ("http.body_timeout_ms", now.body_timeout_ms != then.body_timeout_ms),
            ("http.write_timeout_ms", now.write_timeout_ms != then.write_timeout_ms),
            ("http.max_connections", now.max_connections != then.max_connections),
            ("http.max_requests", now.max_requests != then.max_requests),
            ("http.max_sessions", now.max_sessions != then.max_sessions),
            ("http.session_idle_ms", now.session_idle_ms != then.session_idle_ms),
            ("http.calls_per_minute", now.calls_per_minute != then.calls_per_minute),
            ("http.keep_alive_ms", now.keep_alive_ms != then.keep_alive_ms),
            ("http.stop_timeout_ms", now.stop_timeout_ms != then.stop_timeout_ms),
        ];
        others.into_iter().filter(|(_, other)| *other).map(|(name, _)| name).collect()
    }
}
