//! One call on its way: the steps of [`Dispatcher::dispatch`](super::Dispatcher::dispatch), each a function.

use std::sync::PoisonError;
use std::time::Instant;

use serde_json::{Map, Value};

use crate::dispatch::approve::Approval;
use crate::dispatch::completed::{Completed, Context};
use crate::dispatch::history::CallerHistory;
use crate::dispatch::turns::{Turn, Use};
use crate::dispatch::{Control, Dispatcher};
use crate::gate::hook::OutcomeFacts;
use crate::gate::intent;
use crate::gate::{CallFacts, Verdict};
use crate::ledger::seen::{Coverage, Edited, Position};
use crate::ledger::{ChangeKind, LedgerError, Stamp};
use crate::model::call::Caller;
use crate::model::change::{Change, ChangeSet, Expect};
use crate::model::error::{ErrorCode, ToolError};
use crate::model::event::Event;
use crate::model::id::ChangeId;
use crate::model::json::JsonFault;
use crate::model::path::WsPath;
use crate::model::version::Version;
use crate::tool::registry::{Entry, ErasedPlan, Output};
use crate::tool::view::View;
use crate::tool::{Effect, Intent, Sight};
use crate::workspace::{FileError, FileErrorKind, Identity};

/// How often a change is planned because another program got in between.
const ATTEMPTS: u32 = 8;

/// One call on its way.
pub(super) struct Run<'a> {
    dispatcher: &'a Dispatcher,
    tool: &'a Entry,
    control: Control,
    stamp: Stamp,
    began: Instant,
    view: View,
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
    pub(super) fn begin(dispatcher: &'a Dispatcher, tool: &'a Entry, caller: &'a Caller, control: Control) -> Self {
        let stamp = Stamp::new(dispatcher.ledger.next_call(), caller);
        let history = CallerHistory::of(&dispatcher.ledger, &stamp.caller);
        let view = View::new(
            dispatcher.workspace.clone(),
            dispatcher.settings,
            control.cancel.clone(),
            control.progress.clone(),
            history,
        );
        Run { dispatcher, tool, control, stamp, began: Instant::now(), view }
    }

    /// Step 2: the call is in the log before anything is done about it.
    pub(super) fn record_call(&self, arguments: &Result<Value, JsonFault>) {
        self.dispatcher.ledger.record_with(&self.stamp, || Event::ToolCall {
            tool: self.tool.spec().name.to_owned(),
            arguments: match arguments {
                Ok(arguments) => arguments.clone(),
                Err(fault) => Value::from(fault.to_string()),
            },
            variant: None,
        });
    }

    /// Steps 3 to 8.
    pub(super) async fn carry_out(&self, arguments: Result<Value, JsonFault>) -> (Option<CallFacts>, Completed) {
        let mut context = Vec::new();
        let mut facts = None;
        let done = async {
            let arguments = self.validate(arguments)?; // 3
            let admitted = self.judge(arguments, &mut context).await?; // 4
            tracing::info!(tool = admitted.facts.tool, "{}", self.tool.present(&admitted.facts.arguments).line);
            facts = Some(admitted.facts.clone());
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
    fn validate(&self, arguments: Result<Value, JsonFault>) -> Result<Value, ToolError> {
        let arguments = arguments.map_err(|fault| {
            ToolError::new(
                ErrorCode::InvalidArguments,
                format!("The arguments cannot be read: {fault}. Send them again as one JSON object."),
            )
        })?;
        if self.dispatcher.settings.mend_slips {
            self.tool.validate(arguments)
        } else {
            self.tool.validate_exactly(arguments)
        }
    }

    /// Step 4: rules, then hooks; the strictest word stands, and what a hook rewrites is validated and judged again.
    async fn judge(&self, arguments: Value, context: &mut Vec<Context>) -> Result<Admitted, ToolError> {
        let policy = &self.dispatcher.policy;
        let prepare =
            |arguments: Map<String, Value>| self.tool.validate(Value::Object(arguments)).map(|valid| self.facts(valid));
        let mut record = |event| self.record(event);
        let settled = policy.settle(self.facts(arguments), prepare, &mut record).await;
        context.extend(settled.context.into_iter().map(|(hook, text)| Context { hook, text }));
        match settled.verdict {
            Verdict::Deny(ground) => Err(ground.refusal()),
            verdict => Ok(Admitted { facts: settled.call, verdict }),
        }
    }

    /// The call as the gate sees it. Paths are told as they are opened: without `..`, and where the links on the way lead.
    fn facts(&self, arguments: Value) -> CallFacts {
        let changes = self.tool.spec().effect != Effect::Reads;
        // Where links lead costs system calls, and most calls only look and have no rule to meet.
        let paths = if self.dispatcher.policy.concerns(changes) {
            self.tool.paths(&arguments).into_iter().flat_map(|text| self.spellings(text)).collect()
        } else {
            Vec::new()
        };
        CallFacts {
            tool: self.tool.spec().name.to_owned(),
            paths,
            changes,
            caller: self.stamp.caller.to_string(),
            arguments,
        }
    }

    fn spellings(&self, text: &str) -> Vec<String> {
        match self.view.path(text) {
            Ok(path) => self.real_spellings(&path),
            // It names nothing here, and the tool will say so; a rule may still have a word on it.
            Err(_) => vec![text.to_owned()],
        }
    }

    fn real_spellings(&self, path: &WsPath) -> Vec<String> {
        let real = self.dispatcher.workspace.real(path);
        let mut spellings = vec![path.to_string(), real.to_string()];
        spellings.dedup();
        spellings
    }

    /// Steps 5 to 8. Where another program got in between, plans anew on what is there now; where the same plan comes of it,
    /// nobody got in between and the plan is wrong.
    async fn plan_and_perform(&self, admitted: &Admitted) -> Result<Performed, ToolError> {
        let mut turn = self.take_turn(&admitted.facts.arguments, self.control.place.clone()).await;
        let mut approval = Approval::new(self.tool, &admitted.facts, self.control.approver.as_ref());
        let mut before = None;
        let mut attempt = 0;
        loop {
            attempt += 1;
            self.view.check_cancelled()?;
            let plan = self.tool.plan(&self.view, &admitted.facts.arguments).await?; // 5
            let (set, intent, output) = match plan {
                ErasedPlan::Change { set, intent, output } => (set, intent, output),
                ErasedPlan::Answer(output) => {
                    approval.obtain(self, &admitted.verdict, None).await?; // 7
                    return Ok(output.into());
                }
                ErasedPlan::Act(act) => {
                    approval.obtain(self, &admitted.verdict, None).await?; // 7
                    return act.begin().await.map(Performed::from); // 8
                }
            };
            let (verdict, notes) = self.file_gate(admitted, &set, &intent)?; // 6
            if approval.is_needed(&verdict, &set) {
                // Whoever else wants these files does not wait for a person.
                drop(turn);
                approval.obtain(self, &verdict, Some(&set)).await?; // 7
                turn = self.take_turn(&admitted.facts.arguments, None).await;
                // What the person has seen must still be what would happen.
                continue;
            }
            self.view.check_cancelled()?;
            let error = match self.perform(&set, &intent) {
                Ok(change) => return Ok(Performed { output, change, notes }), // 8
                Err(error) => error,
            };
            if !error.is_stale() || attempt >= ATTEMPTS || before.as_ref() == Some(&set) {
                return Err(error.of(&set));
            }
            before = Some(set);
        }
    }

    /// Waits for the calls before this one that are changing the same files.
    async fn take_turn(&self, arguments: &Value, place: Option<crate::dispatch::Place>) -> Turn {
        // What is not a path in this workspace is nobody else's either; the tool will say what is wrong with it.
        let paths = self.tool.paths(arguments).iter().filter_map(|text| self.view.path(text).ok()).collect();
        let usage = if self.tool.spec().effect == Effect::Reads { Use::Looks } else { Use::Changes };
        let place = place.unwrap_or_else(|| self.dispatcher.queue());
        self.dispatcher.turns.take(place, paths, usage).await
    }

    /// Step 6: rules on the paths that really change, and whether the caller knows what it replaces.
    fn file_gate(
        &self,
        admitted: &Admitted,
        set: &ChangeSet,
        intent: &Intent,
    ) -> Result<(Verdict, Vec<String>), ToolError> {
        let paths = set.iter().flat_map(|change| self.real_spellings(change.path())).collect();
        let facts = CallFacts { paths, changes: true, ..admitted.facts.clone() };
        let verdict = admitted.verdict.clone().and(self.dispatcher.policy.rules.judge(&facts));
        if let Verdict::Deny(ground) = verdict {
            return Err(ground.refusal());
        }
        let mut notes = Vec::new();
        if !self.dispatcher.ledger.is_none() {
            for change in set {
                if let Change::Write { path, expect: Expect::Exactly(now), .. } = change {
                    let coverage = self.coverage(path, *now);
                    notes.extend(intent::check(path, *now, intent, &coverage)?.map(str::to_owned));
                }
            }
        }
        Ok((verdict, notes))
    }

    fn coverage(&self, path: &WsPath, now: Version) -> Coverage {
        let identity = self.view.stat(path).ok().and_then(|stat| stat.identity);
        self.dispatcher.ledger.seen().coverage(&self.stamp.caller, path, identity, Some(now))
    }

    /// Step 8: the only place from which files change. The intent is in the log before they do.
    fn perform(&self, set: &ChangeSet, intent: &Intent) -> Result<Option<ChangeId>, CommitError> {
        let Dispatcher { closed, ledger, workspace, .. } = self.dispatcher;
        let closed = closed.read().unwrap_or_else(PoisonError::into_inner);
        if *closed {
            return Err(CommitError::Closed);
        }
        let kind = match intent {
            Intent::Write => ChangeKind::Write,
            Intent::Edit { .. } => ChangeKind::Edit,
            Intent::Undo { change } => ChangeKind::Undo(*change),
        };
        ledger.ready().map_err(CommitError::Ledger)?;
        let before = self.identities(set);
        let change = ledger.begin(&self.stamp, self.tool.spec().name, kind);
        workspace.commit(set, &change).map_err(CommitError::File)?;
        let id = change.done();
        self.remember(set, intent, &before);
        Ok(id)
    }

    fn identities(&self, set: &ChangeSet) -> Vec<Option<Identity>> {
        set.iter().map(|change| self.identity(change.path())).collect()
    }

    fn identity(&self, path: &WsPath) -> Option<Identity> {
        if self.dispatcher.ledger.is_none() {
            return None;
        }
        self.view.stat(path).ok().and_then(|stat| stat.identity)
    }

    /// What the caller has written, it has seen.
    fn remember(&self, set: &ChangeSet, intent: &Intent, before: &[Option<Identity>]) {
        let seen = self.dispatcher.ledger.seen();
        let caller = &*self.stamp.caller;
        for (change, identity_before) in set.iter().zip(before) {
            match (change, intent) {
                (Change::Write { path, expect: Expect::Exactly(before), content }, Intent::Edit { lines }) => {
                    let first = Position { line: lines.first().copied().unwrap_or(1), offset: 0 };
                    let edited = Edited {
                        identity_before: *identity_before,
                        before: *before,
                        identity: self.identity(path),
                        after: Version::of(content),
                        first,
                    };
                    seen.edited(caller, path, &edited);
                }
                (Change::Write { path, content, .. }, Intent::Write) => {
                    seen.wrote(caller, path, self.identity(path), Version::of(content));
                }
                (Change::Write { path, .. } | Change::Delete { path, .. }, _) => seen.removed(caller, path),
                _ => {}
            }
        }
    }

    /// Step 9: hooks have the last word on what the model sees; a change that was made has happened all the same.
    pub(super) async fn review(&self, facts: &Option<CallFacts>, mut completed: Completed) -> Completed {
        let Some(facts) = facts.as_ref().filter(|_| !self.dispatcher.policy.hooks.is_empty()) else {
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
        let after = self.dispatcher.policy.after(facts, &outcome, &mut record).await;
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

    /// Step 10: the single outcome that the model sees.
    pub(super) fn record_result(&self, completed: &Completed) {
        let ledger = &self.dispatcher.ledger;
        if ledger.is_none() {
            return;
        }
        if let Ok(output) = &completed.outcome {
            for sight in output.sights() {
                self.record(observed(&sight));
                ledger.seen().observe(&self.stamp.caller, &sight.path, seen(&sight));
            }
            output.events().into_iter().for_each(|event| self.record(event));
        }
        for Context { hook, text } in &completed.context {
            self.record(Event::ContextMessage { hook: hook.clone(), text: text.clone() });
        }
        let card = completed.outcome.as_ref().ok().and_then(Output::card).map(|card| card.line);
        let error = completed.outcome.as_ref().err();
        self.record(Event::ToolResult {
            tool: self.tool.spec().name.to_owned(),
            card: card.unwrap_or_default(),
            error: error.map(|error| error.code.to_string()),
            message: error.map(|error| error.message.clone()),
            change: completed.change,
            micros: u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX),
        });
    }

    pub(super) fn record(&self, event: Event) {
        self.dispatcher.ledger.record(&self.stamp, event);
    }

    pub(super) fn view(&self) -> &View {
        &self.view
    }
}

fn seen(sight: &Sight) -> crate::ledger::seen::Sight {
    let position = |(line, offset)| Position { line, offset };
    crate::ledger::seen::Sight {
        identity: sight.identity,
        version: sight.version,
        from: position(sight.from),
        to: sight.to.map(position),
    }
}

fn observed(sight: &Sight) -> Event {
    Event::FsObserved {
        path: sight.path.to_string(),
        version: sight.version.map(|version| version.to_string()),
        from: sight.from.0,
        to: sight.to.map(|(line, offset)| if offset == 0 { line - 1 } else { line }),
    }
}

/// Why a change was not made.
pub(super) enum CommitError {
    Closed,
    File(FileError),
    Ledger(LedgerError),
}

impl CommitError {
    /// Whether the workspace is not what the plan rests on.
    fn is_stale(&self) -> bool {
        matches!(self, CommitError::File(FileError { kind: FileErrorKind::Stale { .. }, .. }))
    }

    /// What the model is told about the failure of `set`.
    fn of(self, set: &ChangeSet) -> ToolError {
        match self {
            CommitError::Closed => {
                ToolError::new(ErrorCode::Cancelled, "The server is shutting down. Nothing was changed.")
            }
            CommitError::File(FileError { path, kind: FileErrorKind::Stale { now: Some(_) } })
                if creates(set, &path) =>
            {
                FileErrorKind::AlreadyExists.at(&path).into()
            }
            CommitError::File(error) => error.into(),
            CommitError::Ledger(error) => error.into(),
        }
    }
}

/// Whether `set` wants nothing to be at `path`.
fn creates(set: &ChangeSet, path: &WsPath) -> bool {
    set.iter()
        .any(|change| matches!(change, Change::Write { path: there, expect: Expect::Absent, .. } if there == path))
}
