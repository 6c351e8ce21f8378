//! The pre-execute and post-execute waterfalls: rules, then hooks, the strictest word stands.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use futures_util::FutureExt;
use serde_json::{Map, Value};

use crate::gate::hook::{Before, Hook, HookFailure, OnFailure, OutcomeFacts};
use crate::gate::rules::Rules;
use crate::gate::{CallFacts, Ground, Verdict};
use crate::model::error::ToolError;
use crate::model::event::{Event, Phase};

mod rewrite;

/// Takes what happens, for the log.
pub type Record<'a> = &'a mut (dyn FnMut(Event) + Send);

/// So often may hooks rewrite one call before that is a contradiction.
const ROUNDS: usize = 4;

/// Everything that has a say on calls: rules, then hooks.
///
/// - Rules come first. What they deny, no hook is asked about.
/// - Hooks run in the order of the configuration, also when a rule allows; they can make a verdict stricter, never softer.
///   The first that denies ends it.
/// - The first rewrite of a round stands; the call is then judged anew from the top, so that the other hooks can say
///   what they think of it. Both forms of the call must pass.
#[derive(Clone, Default)]
pub struct Policy {
    /// The rules, with the built-in guards.
    pub rules: Rules,
    /// The hooks, in the order in which they run.
    pub hooks: Vec<Arc<dyn Hook>>,
}

/// What the rules and hooks say about one form of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// The strictest of their words.
    pub verdict: Verdict,
    /// What a hook wants it to be instead. That must be validated and judged again.
    pub rewrite: Option<Rewrite>,
    /// What hooks want the model to know: who, and what.
    pub context: Vec<(String, String)>,
}

/// Other arguments for a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Rewrite {
    /// The hook that wants them.
    pub hook: String,
    /// All of them.
    pub arguments: Map<String, Value>,
}

/// What the rules and hooks say about a call in the end.
#[derive(Debug, Clone, PartialEq)]
pub struct Settled {
    /// The call in its last form.
    pub call: CallFacts,
    /// The strictest word on any of its forms.
    pub verdict: Verdict,
    /// Whether a hook has changed its arguments.
    pub rewritten: bool,
    /// What hooks want the model to know: who, and what.
    pub context: Vec<(String, String)>,
}

/// What the hooks say about what a call came to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Aftermath {
    /// Why the model must not see the output. This beats a replacement.
    pub block: Option<Ground>,
    /// The last hook that changed the text, and the text that the model sees instead.
    pub replace: Option<(String, String)>,
    /// What hooks want the model to know: who, and what.
    pub context: Vec<(String, String)>,
}

impl Aftermath {
    /// What the model is told in place of an outcome that is blocked, which may have changed something.
    #[must_use]
    pub fn refusal(&self, change: Option<&str>) -> Option<ToolError> {
        let mut error = self.block.as_ref()?.refusal();
        if let Some(change) = change {
            error.message.push_str(&format!(
                " The change {change} has been made all the same; it stands until undo_change takes it back."
            ));
            error = error.with("change", change);
        }
        Some(error)
    }
}

impl Policy {
    /// Lets everything run.
    #[must_use]
    pub fn open() -> Self {
        Policy::default()
    }

    /// Whether anybody could have a word on a call that changes something, or on one that only looks.
    #[must_use]
    pub fn concerns(&self, changes: bool) -> bool {
        !self.hooks.is_empty() || self.rules.concern(changes)
    }

    /// Judges a call until no hook changes it any more. `prepare` validates other arguments, and says what the gate needs
    /// to know about the call with them. A rewrite that is no valid call is denied: it is not the model that can mend it.
    pub async fn settle(
        &self,
        call: CallFacts,
        mut prepare: impl FnMut(Map<String, Value>) -> Result<CallFacts, ToolError>,
        record: Record<'_>,
    ) -> Settled {
        let mut settled = Settled { call, verdict: Verdict::Allow, rewritten: false, context: Vec::new() };
        for _ in 0..ROUNDS {
            let judgement = self.before(&settled.call, record).await;
            settled.verdict = settled.verdict.and(judgement.verdict);
            for told in judgement.context {
                if !settled.context.contains(&told) {
                    settled.context.push(told);
                }
            }
            let Some(Rewrite { hook, arguments }) = judgement.rewrite else { return settled };
            match prepare(arguments) {
                Ok(call) => (settled.call, settled.rewritten) = (call, true),
                Err(fault) => {
                    let what = format!("the hook {hook} rewrote this call into one that cannot run: {}", fault.message);
                    settled.verdict = settled.verdict.and(denied_by_gate(what));
                    return settled;
                }
            }
        }
        let what = format!("the hooks rewrote this call {ROUNDS} times and would again, so they contradict each other");
        settled.verdict = settled.verdict.and(denied_by_gate(what));
        settled
    }

    /// What the rules and hooks say about one form of a call.
    pub async fn before(&self, call: &CallFacts, record: Record<'_>) -> Judgement {
        let mut judgement = Judgement { verdict: self.rules.judge(call), rewrite: None, context: Vec::new() };
        for hook in self.hooks.iter().filter(|hook| hook.wants(Phase::Pre, &call.tool)) {
            if matches!(judgement.verdict, Verdict::Deny(_)) {
                break;
            }
            self.ask_before(&**hook, call, &mut judgement, record).await;
        }
        if matches!(judgement.verdict, Verdict::Deny(_)) {
            judgement.rewrite = None;
        }
        judgement
    }

    async fn ask_before(&self, hook: &dyn Hook, call: &CallFacts, judgement: &mut Judgement, record: Record<'_>) {
        let invoked = Invoked::record(hook, Phase::Pre, record);
        let answer =
            caught(hook, || hook.before(call)).await.and_then(|said| rewrite::checked(hook.name(), said, call));
        match answer {
            Ok(said) => {
                let (decision, reason) = words(&said);
                invoked.result(decision, reason, record);
                judgement.verdict = std::mem::replace(&mut judgement.verdict, Verdict::Allow).and(said.verdict);
                judgement.context.extend(said.context.map(|text| (hook.name().to_owned(), text)));
                let rewrite = said.rewrite.map(|arguments| Rewrite { hook: hook.name().to_owned(), arguments });
                judgement.rewrite = judgement.rewrite.take().or(rewrite);
            }
            Err(failure) => {
                invoked.result("failed", Some(failure.to_string()), record);
                if hook.on_failure() == OnFailure::Deny {
                    judgement.verdict = denied_by_gate(failure.to_string());
                }
            }
        }
    }

    /// What the hooks say about what a call came to. All of them are asked; each sees the text as those before it left it.
    pub async fn after(&self, call: &CallFacts, outcome: &OutcomeFacts, record: Record<'_>) -> Aftermath {
        let mut seen = outcome.clone();
        let mut aftermath = Aftermath::default();
        for hook in self.hooks.iter().filter(|hook| hook.wants(Phase::Post, &call.tool)) {
            let invoked = Invoked::record(&**hook, Phase::Post, record);
            let name = || hook.name().to_owned();
            let said = match caught(&**hook, || hook.after(call, &seen)).await {
                Ok(said) => said,
                Err(failure) => {
                    invoked.result("failed", Some(failure.to_string()), record);
                    if hook.on_failure() == OnFailure::Deny {
                        aftermath.block.get_or_insert(by_gate(failure.to_string()));
                    }
                    continue;
                }
            };
            let decision = match (&said.block, &said.replace) {
                (Some(_), _) => "block",
                (None, Some(_)) => "replace",
                (None, None) => "accept",
            };
            invoked.result(decision, said.block.clone(), record);
            if let Some(reason) = said.block {
                aftermath.block.get_or_insert(Ground { by: format!("the hook {}", hook.name()), reason });
            } else if let Some(text) = said.replace {
                seen.text.clone_from(&text);
                aftermath.replace = Some((name(), text));
            }
            aftermath.context.extend(said.context.map(|text| (name(), text)));
        }
        aftermath
    }
}

/// A hook that is at work.
struct Invoked {
    hook: String,
    phase: Phase,
    since: Instant,
}

impl Invoked {
    fn record(hook: &dyn Hook, phase: Phase, record: Record<'_>) -> Self {
        record(Event::HookInvoked { hook: hook.name().to_owned(), phase });
        Invoked { hook: hook.name().to_owned(), phase, since: Instant::now() }
    }

    fn result(self, decision: &str, reason: Option<String>, record: Record<'_>) {
        let micros = u64::try_from(self.since.elapsed().as_micros()).unwrap_or(u64::MAX);
        record(Event::HookResult { hook: self.hook, phase: self.phase, decision: decision.to_owned(), reason, micros });
    }
}

/// What a hook says. One that panics has failed.
async fn caught<'a, T>(
    hook: &dyn Hook,
    ask: impl FnOnce() -> crate::gate::hook::HookFuture<'a, T>,
) -> Result<T, HookFailure> {
    let panicked = |_| HookFailure {
        hook: hook.name().to_owned(),
        what: "panicked".to_owned(),
        cure: "That is a fault in the hook; its panic message is on standard error.".to_owned(),
    };
    // `ask` itself may panic before there is a future.
    AssertUnwindSafe(async { ask().await }).catch_unwind().await.unwrap_or_else(|panic| Err(panicked(panic)))
}

/// What no hook said, such as that one failed, is the gate's own word.
fn by_gate(reason: String) -> Ground {
    Ground { by: "the gate".to_owned(), reason }
}

fn denied_by_gate(reason: String) -> Verdict {
    Verdict::Deny(by_gate(reason))
}

/// The log's words for what a hook said.
fn words(said: &Before) -> (&'static str, Option<String>) {
    match (&said.verdict, &said.rewrite) {
        (Verdict::Deny(ground), _) => ("deny", Some(ground.reason.clone())),
        (Verdict::Ask(ground), _) => ("ask", Some(ground.reason.clone())),
        (Verdict::Allow, Some(_)) => ("rewrite", None),
        (Verdict::Allow, None) => ("allow", None),
    }
}

impl std::fmt::Debug for Policy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let hooks: Vec<&str> = self.hooks.iter().map(|hook| hook.name()).collect();
        f.debug_struct("Policy").field("rules", &self.rules).field("hooks", &hooks).finish()
    }
}

#[cfg(test)]
mod tests;
