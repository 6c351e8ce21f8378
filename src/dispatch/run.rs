//! One call on its way: the steps of [`Dispatcher::dispatch`](super::Dispatcher::dispatch), each a function.

pub(in crate::dispatch) mod ahead;
mod files;
mod open;
mod patience;
mod records;
mod series;
mod sights;
mod undoing;

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use futures_util::FutureExt;
use serde_json::{Map, Value};

use crate::dispatch::approve::Approval;
use crate::dispatch::completed::{Completed, Context};
use crate::dispatch::history::CallerHistory;
use crate::dispatch::inner::InnerCalls;
use crate::dispatch::run::files::Gated;
use crate::dispatch::run::patience::Patience;
use crate::dispatch::sieve::RuleSieve;
use crate::dispatch::turns::{Place, Turn, Use};
use crate::dispatch::{Control, Dispatcher, Served, changes};
use crate::gate::hook::OutcomeFacts;
use crate::gate::policy::Policy;
use crate::gate::{CallFacts, Verdict};
use crate::ledger::redact::Secrets;
use crate::ledger::{Exclusive, Stamp};
use crate::model::call::Caller;
use crate::model::error::{ErrorCode, ToolError};
use crate::model::id::{CallId, ChangeId};
use crate::model::json::JsonFault;
use crate::model::path::WsPath;
use crate::tool::registry::{Entry, ErasedPlan, Output};
use crate::tool::view::{Door, View};

/// The tool that shows what is in a file.
const READ_FILE: &str = "read_file";

/// One call on its way.
pub(super) struct Run<'a> {
    pub(super) dispatcher: &'a Dispatcher,
    /// What is served, from its beginning to its end.
    pub(super) served: &'a Served,
    /// What judges it.
    pub(super) policy: &'a Arc<Policy>,
    tool: &'a Entry,
    pub(super) caller: &'a Caller,
    pub(super) control: Control,
    pub(super) id: CallId,
    stamp: Stamp,
    began: Instant,
    view: View,
    /// What is kept out of all that is recorded or shown of this call.
    secrets: Secrets,
    /// The same of the form that hooks have given it.
    rewritten: OnceLock<Secrets>,
    /// The change that it has made.
    made: OnceLock<ChangeId>,
    /// Where the links on the way to the paths of a call that looks lead, if that had to be found out.
    led: OnceLock<Vec<(WsPath, WsPath)>>,
}

/// A call that the gate has let through, or wants a person to decide about.
struct Admitted {
    facts: CallFacts,
    verdict: Verdict,
}

/// What was performed.
struct Performed {
    output: Output,
    change: Option<ChangeId>,
    notes: Vec<String>,
}

impl From<Output> for Performed {
    fn from(output: Output) -> Self {
        Performed { output, change: None, notes: Vec::new() }
    }
}

impl<'a> Run<'a> {
    pub(super) fn begin(
        dispatcher: &'a Dispatcher,
        (served, tool): (&'a Served, &'a Entry),
        caller: &'a Caller,
        control: Control,
    ) -> Self {
        let id = dispatcher.ledger.next_call();
        let stamp = Stamp::new(id, caller);
        let group = control.within.as_ref().and_then(|within| within.group);
        let history = CallerHistory::of(&dispatcher.ledger, &stamp.caller, group);
        let view = View::new(
            dispatcher.workspace.clone(),
            served.settings,
            control.cancel.clone(),
            control.progress.clone(),
            history,
            Door { caller: Arc::clone(&stamp.caller), asker: Arc::clone(&control.asker), log: control.log.clone() },
        );
        let (secrets, rewritten) = (Secrets::default(), OnceLock::new());
        Run {
            dispatcher,
            served,
            policy: &served.policy,
            tool,
            caller,
            control,
            id,
            stamp,
            began: Instant::now(),
            view,
            secrets,
            rewritten,
            made: OnceLock::new(),
            led: OnceLock::new(),
        }
    }

    /// The same with what is secret in `arguments`.
    pub(super) fn of(mut self, arguments: &Result<Value, JsonFault>) -> Self {
        if let Ok(arguments) = arguments {
            self.secrets = self.secrets_in(arguments);
        }
        self
    }

    /// Steps 3 to 8.
    pub(super) async fn carry_out(&self, arguments: Result<Value, JsonFault>) -> (Option<CallFacts>, Completed) {
        let mut context = Vec::new();
        let mut facts = None;
        let done = async {
            let arguments = self.validate(arguments)?; // 3
            let admitted = self.judge(arguments, &mut context).await?; // 4
            if tracing::enabled!(tracing::Level::INFO) {
                let card = self.tool.present(&admitted.facts.arguments).line;
                tracing::info!(tool = admitted.facts.tool, "{}", self.without_secrets(card));
            }
            // Only hooks ask for them afterwards.
            facts = (!self.policy.hooks.is_empty()).then(|| admitted.facts.clone());
            self.plan_and_perform(&admitted).await // 5 to 8
        };
        let mut completed = match done.await {
            Ok(Performed { output, change, notes }) => Completed { change, notes, ..Completed::new(Ok(output)) },
            Err(error) => Completed::new(Err(error)),
        };
        completed.context = context;
        (facts, completed)
    }

    /// Step 3: all faults at once.
    pub(super) fn validate(&self, arguments: Result<Value, JsonFault>) -> Result<Value, ToolError> {
        let arguments = arguments.map_err(|fault| {
            ToolError::new(
                ErrorCode::InvalidArguments,
                format!("The arguments cannot be read: {fault}. Send them again as one JSON object."),
            )
        })?;
        if self.served.settings.mend_slips {
            self.tool.validate(arguments)
        } else {
            self.tool.validate_exactly(arguments)
        }
    }

    /// Step 4: rules, then hooks; the strictest word stands, and what a hook rewrites is validated and judged again.
    async fn judge(&self, arguments: Value, context: &mut Vec<Context>) -> Result<Admitted, ToolError> {
        let policy = self.policy;
        let prepare =
            |arguments: Map<String, Value>| self.tool.validate(Value::Object(arguments)).map(|valid| self.facts(valid));
        let mut record = |event| self.record(event);
        let settled = policy.settle(self.facts(arguments), prepare, &mut record).await;
        context.extend(settled.context.into_iter().map(|(hook, text)| Context { hook, text }));
        if settled.rewritten {
            // Judged once.
            let _ = self.rewritten.set(self.secrets_in(&settled.call.arguments));
        }
        match settled.verdict {
            Verdict::Deny(ground) => Err(ground.refusal()),
            verdict => Ok(Admitted { facts: settled.call, verdict }),
        }
    }

    /// The call as the gate sees it. Paths are told as they are opened: without `..`, and where the links on the way lead.
    pub(super) fn facts(&self, arguments: Value) -> CallFacts {
        let changes = changes(self.tool.spec().effect);
        // Where links lead costs system calls, and most calls only look and have no rule to meet.
        let paths = if self.policy.concerns(changes) {
            self.tool.paths(&arguments).into_iter().flat_map(|text| self.spellings(text)).collect()
        } else {
            Vec::new()
        };
        CallFacts {
            tool: self.tool.spec().name.to_owned(),
            paths,
            changes,
            caller: self.stamp.caller.to_string(),
            arguments: Arc::new(arguments),
        }
    }

    fn spellings(&self, text: &str) -> Vec<String> {
        match self.view.path(text) {
            Ok(path) if self.tool.takes_links() => self.own_spellings(&path),
            Ok(path) => self.real_spellings(&path),
            // It names nothing here, and the tool will say so; a rule may still have a word on it.
            Err(_) => vec![text.to_owned()],
        }
    }

    fn real_spellings(&self, path: &WsPath) -> Vec<String> {
        let there = self.view.spelled(path.clone());
        let real = self.real(&there);
        let mut spellings = vec![path.to_string(), there.to_string(), real.to_string()];
        spellings.dedup();
        spellings
    }

    /// Steps 5 to 8. Where somebody else got in between, plans anew on what is there now; where the same plan comes of it,
    /// nobody got in between and the plan is wrong.
    async fn plan_and_perform(&self, admitted: &Admitted) -> Result<Performed, ToolError> {
        let mut turn = self.take_turn(&admitted.facts.arguments, self.control.place.clone()).await?;
        let mut approval = Approval::new(self.tool, &admitted.facts, self.control.approver.as_ref());
        let mut patience = Patience::new();
        let sieve = RuleSieve::of(self.policy, &admitted.facts);
        let view = sieve.map_or_else(|| self.view.clone(), |sieve| self.view.through(sieve));
        let mut before = None;
        let mut held = None;
        loop {
            self.view.check_cancelled()?;
            let plan = self.plan(&view, &admitted.facts.arguments, &mut held).await; // 5
            let (set, intent, output) = match plan {
                Ok(ErasedPlan::Change { set, intent, output }) => (set, intent, output),
                Ok(ErasedPlan::Answer(output)) => {
                    drop(held);
                    approval.obtain(self, &admitted.verdict, None).await?; // 7
                    return Ok(output.into());
                }
                Ok(ErasedPlan::Act(act)) => {
                    drop(held);
                    approval.obtain(self, &admitted.verdict, None).await?; // 7
                    let calls = InnerCalls::of(self, &turn);
                    return act.begin(&calls).await.map(Performed::from); // 8
                }
                Err(error) => {
                    drop(held);
                    if !self.may_read(admitted) {
                        approval.obtain(self, &admitted.verdict, None).await?; // 7
                    }
                    return Err(self.with_what_is_unread(error));
                }
            };
            let Gated { verdict, notes, set: judged } = self.file_gate(admitted, &set, &intent)?; // 6
            if approval.is_needed(self, &verdict, &set) {
                // Whoever else wants these files does not wait for a person.
                held = None;
                drop(turn);
                approval.obtain(self, &verdict, Some(&set)).await?; // 7
                turn = self.take_turn(&admitted.facts.arguments, None).await?;
                // What the person has seen must still be what would happen.
                continue;
            }
            self.view.check_cancelled()?;
            let error = match self.perform(&set, &judged, &intent, held.take()) {
                Ok(change) => {
                    if let Some(change) = change {
                        // Performed once.
                        let _ = self.made.set(change);
                    }
                    return Ok(Performed { output, change, notes }); // 8
                }
                Err(error) => error,
            };
            if !error.is_stale() || before.as_ref() == Some(&judged) || !patience.goes_on() {
                return Err(self.told(error, &set, &intent));
            }
            held = self.exclusively(&set);
            before = Some(judged);
        }
    }

    /// Whether the caller could read what this call is about. A patch that fails shows what is there instead, so if that is
    /// for a person to decide, they are asked before it is told.
    fn may_read(&self, Admitted { facts, verdict }: &Admitted) -> bool {
        let reading = CallFacts { tool: READ_FILE.to_owned(), changes: false, ..facts.clone() };
        let rules = &self.policy.rules;
        // Where no rule asks, a hook does, and nobody knows what it would say about reading.
        let a_rule_asks = || rules.judge(facts) != Verdict::Allow;
        *verdict == Verdict::Allow || (a_rule_asks() && rules.judge(&reading) == Verdict::Allow)
    }

    /// Step 5. The files that are `held` are let go of if the tool waits for anything: others wait for them.
    async fn plan(
        &self,
        view: &View,
        arguments: &Value,
        held: &mut Option<Exclusive>,
    ) -> Result<ErasedPlan, ToolError> {
        let mut plan = self.tool.plan(view, arguments);
        if held.is_some() {
            if let Some(at_once) = (&mut plan).now_or_never() {
                return at_once;
            }
            *held = None;
        }
        plan.await
    }

    /// Waits for the calls before this one that are changing the same files.
    ///
    /// # Errors
    /// `cancelled`: the call was taken back meanwhile.
    async fn take_turn(&self, arguments: &Value, place: Option<Place>) -> Result<Turn, ToolError> {
        // What is not a path in this workspace is nobody else's either; the tool will say what is wrong with it.
        let named = self.tool.paths(arguments).into_iter().filter_map(|text| self.view.path(text).ok());
        let mut paths: Vec<_> = named.flat_map(|path| [self.view.spelled(path.clone()), path]).collect();
        paths.dedup();
        let mut led = Vec::new();
        let usage = if changes(self.tool.spec().effect) { Use::Changes } else { Use::Looks };
        let place = place.unwrap_or_else(|| self.dispatcher.queue(Some(self.tool.spec().name)));
        // A file may be named through a link. To find out costs system calls, so who is alone need not know.
        if usage == Use::Changes || !self.dispatcher.turns.is_alone(&place) {
            let real: Vec<_> = paths.iter().map(|path| self.real(path)).collect();
            if usage == Use::Looks {
                led = paths.iter().cloned().zip(real.iter().cloned()).collect();
            }
            paths.extend(real);
            paths.sort();
            paths.dedup();
        }
        let outer = self.control.within.as_ref().map_or(&[][..], |within| &within.turns);
        let turn = self.dispatcher.turns.take(place, paths, usage, outer);
        let turn = self.control.cancel.run_until_cancelled(turn).await.ok_or_else(View::taken_back)?;
        if !turn.came_late {
            // Who looks takes one turn.
            let _ = self.led.set(led);
        }
        Ok(turn)
    }

    /// Where the links on the way to what was looked at lead. If that was found out a moment ago, the system is not asked
    /// again.
    fn real_of_seen(&self, path: &WsPath) -> WsPath {
        let known = self.led.get().and_then(|led| led.iter().find(|(from, _)| from == path));
        known.map_or_else(|| self.real(path), |(_, real)| real.clone())
    }

    /// Step 9: hooks have the last word on what the model sees; a change that was made has happened all the same.
    pub(super) async fn review(&self, facts: &Option<CallFacts>, mut completed: Completed) -> Completed {
        let Some(facts) = facts.as_ref().filter(|_| !self.policy.hooks.is_empty()) else {
            return completed;
        };
        let outcome = OutcomeFacts {
            error: completed.outcome.as_ref().err().map(|error| error.code.to_string()),
            text: match &completed.outcome {
                Ok(output) => output.observation(),
                Err(error) => error.message.clone(),
            },
            change: completed.change.map(|change| change.to_string()),
        };
        let mut record = |event| self.record(event);
        let after = self.policy.after(facts, &outcome, &mut record).await;
        completed.context.extend(after.context.clone().into_iter().map(|(hook, text)| Context { hook, text }));
        if let Some(refusal) = after.refusal(completed.change.map(|change| change.to_string()).as_deref()) {
            completed.outcome = Err(refusal);
        } else if let Some((_, text)) = after.replace {
            match &mut completed.outcome {
                Ok(_) => completed.replaced = Some(text),
                Err(error) => error.message = text,
            }
        }
        completed
    }

    /// Where the links on the way to `path` lead now.
    pub(super) fn real(&self, path: &WsPath) -> WsPath {
        self.dispatcher.workspace.real(path)
    }

    pub(super) fn view(&self) -> &View {
        &self.view
    }
}
