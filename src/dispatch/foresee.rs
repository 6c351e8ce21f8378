//! What would be decided about a call, without running it or asking anybody.

use serde_json::Value;

use crate::dispatch::run::Run;
use crate::dispatch::{Control, Dispatcher, look_up};
use crate::gate::Verdict;
use crate::gate::rules::Decision;
use crate::model::call::{Call, Caller};
use crate::model::error::{ProtocolError, ToolError};
use crate::model::event::Phase;
use crate::tool::registry::Entry;

/// What the rules say about a call, and who would be asked besides.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Foreseen {
    /// The strictest word of the rules and guards.
    pub verdict: Verdict,
    /// Every rule that the call hits: where it is written, and what it decides.
    pub rules: Vec<(String, Decision)>,
    /// The hooks that would be asked before it runs. Each can still make the verdict stricter.
    pub hooks: Vec<String>,
    /// The paths that were held against the rules.
    pub paths: Vec<String>,
}

impl Dispatcher {
    /// What the rules would say about `call`. Nothing is run, asked or recorded.
    ///
    /// # Errors
    /// There is no such tool; within, the arguments are not the tool's.
    pub fn foresee(&self, call: Call, caller: &Caller) -> Result<Result<Foreseen, ToolError>, ProtocolError> {
        let served = self.served();
        let tool = look_up(&served.registry, &call.tool)?;
        let run = Run::begin(self, (&served, tool), caller, Control::default());
        let arguments = match run.validate(call.arguments) {
            Ok(arguments) => arguments,
            Err(error) => return Ok(Err(error)),
        };
        let facts = run.facts(arguments);
        let asked = run.policy.hooks.iter().filter(|hook| hook.wants(Phase::Pre, &facts.tool));
        Ok(Ok(Foreseen {
            verdict: run.policy.rules.judge(&facts),
            rules: run.policy.rules.hit_by(&facts),
            hooks: asked.map(|hook| hook.name().to_owned()).collect(),
            paths: facts.paths,
        }))
    }

    /// Whether the rules let nobody like `caller` have what `entry` gives for `arguments`, so that it is better not spoken
    /// of. Nothing is run, asked or recorded.
    pub(crate) fn hides(&self, entry: &Entry, arguments: Value, caller: &Caller) -> bool {
        let served = self.glance();
        if !served.policy.rules.concern(false) {
            return false;
        }
        let run = Run::begin(self, (&served, entry), caller, Control::default());
        matches!(served.policy.rules.judge(&run.facts(arguments)), Verdict::Deny(_))
    }
}
