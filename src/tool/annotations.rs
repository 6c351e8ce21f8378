//! What a tool does to the world, as MCP puts it.

use serde::Serialize;

use crate::tool::{Effect, Spec};

/// MCP's hints about a tool. They tell a client what to expect; nothing here rests on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Annotations {
    /// For people.
    pub title: &'static str,
    /// It changes nothing.
    pub read_only_hint: bool,
    /// It may replace or remove what is there.
    pub destructive_hint: bool,
    /// The same call again changes nothing more.
    pub idempotent_hint: bool,
    /// It reaches beyond the workspace.
    pub open_world_hint: bool,
}

impl Annotations {
    /// The hints that follow from what `spec` says.
    #[must_use]
    pub fn of(spec: &Spec) -> Self {
        let (read_only_hint, destructive_hint, idempotent_hint, open_world_hint) = match spec.effect {
            Effect::Reads => (true, false, true, false),
            Effect::Adds => (false, false, false, false),
            Effect::Replaces { idempotent } => (false, true, idempotent, false),
            Effect::Reaches => (false, true, false, true),
            Effect::Calls => (false, true, false, false),
        };
        Annotations { title: spec.title, read_only_hint, destructive_hint, idempotent_hint, open_world_hint }
    }
}
