//! Steps 2 and 10: what is recorded of a call, without what is secret.

use std::borrow::Cow;

use serde_json::Value;

use crate::dispatch::completed::{Completed, Context};
use crate::dispatch::run::Run;
use crate::dispatch::run::sights::{observed, seen};
use crate::ledger::redact::{Secrets, Written};
use crate::model::event::Event;
use crate::model::json::JsonFault;
use crate::tool::registry::Output;

impl Run<'_> {
    pub(super) fn secrets_in(&self, arguments: &Value) -> Secrets {
        self.dispatcher.ledger.secrets(self.tool.spec().name, arguments)
    }

    /// Step 2: the call is in the log before anything is done about it.
    pub(in crate::dispatch) fn record_call(
        &mut self,
        arguments: &Result<Value, JsonFault>,
        method: Option<&'static str>,
    ) {
        let (ledger, tool) = (&self.dispatcher.ledger, self.tool.spec().name);
        let told = match arguments {
            Ok(arguments) => Cow::Borrowed(arguments),
            Err(fault) => Cow::Owned(Value::from(fault.to_string())),
        };
        let Some(Written { arguments, texts }) = ledger.written(tool, &told) else { return };
        let dispatched = self.control.within.as_ref().map(|within| Event::CodeDispatch {
            id: within.id(),
            tool: tool.to_owned(),
            arguments: arguments.clone(),
        });
        let call = Event::ToolCall {
            tool: tool.to_owned(),
            arguments,
            variant: self.tool.variant().map(str::to_owned),
            method: method.map(str::to_owned),
        };
        for event in [Some(call), dispatched].iter().flatten() {
            ledger.record_written(&self.stamp, event, &texts);
        }
        self.view.share(texts);
    }

    /// Step 10: the single outcome that the model sees.
    pub(in crate::dispatch) fn record_result(&self, completed: &Completed) {
        let ledger = &self.dispatcher.ledger;
        if ledger.is_none() {
            return;
        }
        if let Ok(output) = &completed.outcome {
            for sight in output.sights() {
                self.record(observed(&sight));
                let real = self.real_of_seen(&sight.path);
                ledger.seen().observe(&self.stamp.caller, &real, seen(&sight));
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
            message: error.map(|error| self.worth_recording(&error.message)),
            change: completed.change,
            micros: self.micros(),
        });
    }

    /// Step 10 for a tool that has panicked.
    pub(in crate::dispatch) fn record_panic(&self) {
        self.dispatcher.ledger.record_with(&self.stamp, || Event::ToolResult {
            tool: self.tool.spec().name.to_owned(),
            card: String::new(),
            error: Some("internal".to_owned()),
            message: Some("The tool failed internally.".to_owned()),
            change: None,
            micros: self.micros(),
        });
    }

    pub(super) fn micros(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    pub(in crate::dispatch) fn record(&self, mut event: Event) {
        if self.has_secrets() {
            for words in event.words_mut() {
                *words = self.without_secrets(std::mem::take(words));
            }
        }
        self.dispatcher.ledger.record(&self.stamp, event);
    }

    /// Whether something of this call is to be told to nobody but its tool and the hooks.
    pub(in crate::dispatch) fn has_secrets(&self) -> bool {
        self.secrets.any() || self.rewritten.get().is_some_and(Secrets::any)
    }

    /// `text` without what is secret.
    pub(in crate::dispatch) fn without_secrets(&self, text: String) -> String {
        if !self.has_secrets() {
            return text;
        }
        let hidden = self.secrets.hidden_in(&text);
        self.rewritten.get().map_or_else(|| hidden.to_string(), |more| more.hidden_in(&hidden).into_owned())
    }

    /// What the log says of a message. Behind its first line some show what is in the file, which may be as secret as what
    /// should have come there.
    fn worth_recording(&self, message: &str) -> String {
        let told = if self.has_secrets() { message.lines().next().unwrap_or_default() } else { message };
        told.to_owned()
    }
}
