//! A call that its caller takes back ends in the log as well, and with the change that it has made by then.

use crate::dispatch::run::Run;
use crate::model::error::ErrorCode;
use crate::model::event::Event;

/// A recorded call that has no recorded result yet. If it goes so, the call was taken back: that is its result.
pub(in crate::dispatch) struct Open<'r, 'a> {
    run: &'r Run<'a>,
    ended: bool,
}

impl<'a> Run<'a> {
    /// The call is recorded; its result is to follow.
    pub(in crate::dispatch) fn open(&self) -> Open<'_, 'a> {
        Open { run: self, ended: false }
    }
}

impl Open<'_, '_> {
    /// Its result is recorded.
    pub(in crate::dispatch) fn end(mut self) {
        self.ended = true;
    }
}

impl Drop for Open<'_, '_> {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        let Run { dispatcher, stamp, tool, made, .. } = self.run;
        let change = made.get().copied();
        let what = if change.is_some() { "The change had been made by then." } else { "Nothing was changed." };
        dispatcher.ledger.record_with(stamp, || Event::ToolResult {
            tool: tool.spec().name.to_owned(),
            card: String::new(),
            error: Some(ErrorCode::Cancelled.to_string()),
            message: Some(format!("The call was taken back before it was answered. {what}")),
            change,
            micros: self.run.micros(),
        });
    }
}
