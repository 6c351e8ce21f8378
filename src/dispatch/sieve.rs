//! Which files a call may be shown that it did not name: the rules' word on each, as if it were read by itself.

use std::sync::Arc;

use crate::gate::policy::Policy;
use crate::gate::{CallFacts, Verdict};
use crate::tool::view::Sieve;

/// The tool that reads a file that is named. Whoever may not read a file is not shown its lines, or its name, by others.
const READS: &str = "read_file";

/// Holds back what the rules would not let the caller name.
pub(super) struct RuleSieve {
    policy: Arc<Policy>,
    tool: String,
    caller: String,
    /// Who has asked a person about the call as it is; another question was not put.
    asked: Vec<String>,
}

impl RuleSieve {
    /// The sieve for a call; nothing where no rule could have a word on any file.
    pub(super) fn of(policy: &Arc<Policy>, call: &CallFacts) -> Option<Arc<dyn Sieve>> {
        if call.changes || !policy.rules.concern(false) {
            return None;
        }
        let (policy, asked) = (Arc::clone(policy), policy.rules.askers(call));
        Some(Arc::new(RuleSieve { policy, tool: call.tool.clone(), caller: call.caller.clone(), asked }))
    }
}

impl RuleSieve {
    fn lets(&self, tool: &str, path: &str) -> bool {
        let call = CallFacts {
            tool: tool.to_owned(),
            arguments: Arc::default(),
            paths: vec![path.to_owned()],
            changes: false,
            caller: self.caller.clone(),
        };
        match self.policy.rules.judge(&call) {
            Verdict::Allow => true,
            Verdict::Deny(_) => false,
            Verdict::Ask(_) => self.policy.rules.askers(&call).iter().all(|asker| self.asked.contains(asker)),
        }
    }
}

impl Sieve for RuleSieve {
    fn shows(&self, path: &str) -> bool {
        self.lets(&self.tool, path) && (self.tool == READS || self.lets(READS, path))
    }

    fn enters(&self, path: &str) -> bool {
        self.lets(&self.tool, path)
    }
}
