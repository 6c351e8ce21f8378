//! What is made of the tools for clients, once for as long as the same ones are served.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwapOption;
use serde_json::Value;

use crate::dispatch::Served;
use crate::rpc::headers::MirroredParam;
use crate::tool::export;

/// What was made last.
#[derive(Default)]
pub(super) struct Lists {
    made: ArcSwapOption<Made>,
}

/// What is made of the tools of one revision, each when it is first needed.
#[derive(Default)]
pub(super) struct Made {
    revision: u64,
    plain: OnceLock<Vec<Value>>,
    structured: OnceLock<Vec<Value>>,
    mirrored: OnceLock<HashMap<&'static str, Vec<MirroredParam>>>,
}

impl Lists {
    /// What is made of what is `served`.
    pub(super) fn of(&self, served: &Served) -> Arc<Made> {
        let revision = served.revision();
        if let Some(made) = self.made.load_full().filter(|made| made.revision == revision) {
            return made;
        }
        let made = Arc::new(Made { revision, ..Made::default() });
        self.made.store(Some(Arc::clone(&made)));
        made
    }
}

impl Made {
    /// The tools as they are listed; with `structured`, each says what it answers with.
    pub(super) fn tools(&self, served: &Served, structured: bool) -> &[Value] {
        let place = if structured { &self.structured } else { &self.plain };
        place.get_or_init(|| match export::mcp(&served.registry, structured) {
            Value::Array(tools) => tools,
            other => vec![other],
        })
    }

    /// The arguments of a tool that its clients repeat in headers.
    pub(super) fn mirrored(&self, served: &Served, tool: &str) -> &[MirroredParam] {
        let tools = || served.registry.iter();
        let all = || tools().map(|tool| (tool.spec().name, MirroredParam::all(tool.input_schema()))).collect();
        self.mirrored.get_or_init(all).get(tool).map_or(&[], Vec::as_slice)
    }
}
