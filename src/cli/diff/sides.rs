//! The bytes of a file before and after a change, from wherever they still are.

use std::io::{self, Read};

use bytes::Bytes;
use serde_json::Value;

use crate::ledger::state::StateFolder;
use crate::ledger::{ChangeRecord, ChangedStep, Ledger, LedgerError, read};
use crate::model::event::Event;
use crate::model::path::WsPath;
use crate::model::version::Version;
use crate::workspace::local::Local;
use crate::workspace::{FileErrorKind, Workspace};

/// A file on one side of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) enum Side {
    Absent,
    Bytes(Bytes),
    /// Why its bytes cannot be shown.
    Lost(String),
}

/// Where the bytes of a change are looked for: among the kept ones, in the arguments of the call that wrote them, and in
/// the file itself if nobody has changed it since.
pub(in crate::cli) struct Sides<'a> {
    local: &'a Local,
    ledger: &'a Ledger,
    /// The texts that the call was given.
    given: Vec<Bytes>,
}

impl<'a> Sides<'a> {
    pub(in crate::cli) fn of(
        record: &ChangeRecord,
        local: &'a Local,
        ledger: &'a Ledger,
        state: &StateFolder,
    ) -> io::Result<Self> {
        Ok(Sides { local, ledger, given: given(record, state)? })
    }

    /// A step's file before the change and after it.
    pub(in crate::cli) fn change(&self, step: &ChangedStep) -> Result<(Side, Side), LedgerError> {
        Ok((self.version(step, step.step.before.as_deref())?, self.version(step, step.step.after.as_deref())?))
    }

    /// A step's file as the change left it, or else as it found it, and as it is now.
    pub(in crate::cli) fn since(&self, step: &ChangedStep) -> Result<(Side, Side), LedgerError> {
        let (before, after) = self.change(step)?;
        let left = if matches!(after, Side::Lost(_)) { before } else { after };
        Ok((left, self.now(step)))
    }

    fn version(&self, step: &ChangedStep, version: Option<&str>) -> Result<Side, LedgerError> {
        let Some(text) = version else { return Ok(Side::Absent) };
        let lost = || {
            Side::Lost(format!(
                "its bytes {text} are not kept. Each change keeps what it displaces; compare with what is there now: \
                 toolgate diff --now CHANGE"
            ))
        };
        let Ok(version) = text.parse::<Version>() else { return Ok(lost()) };
        if let Some(bytes) = self.ledger.blob(version)? {
            return Ok(Side::Bytes(bytes));
        }
        if let Some(bytes) = self.given.iter().find(|bytes| Version::of(bytes) == version) {
            return Ok(Side::Bytes(bytes.clone()));
        }
        Ok(match self.now(step) {
            Side::Bytes(bytes) if Version::of(&bytes) == version => Side::Bytes(bytes),
            _ => lost(),
        })
    }

    fn now(&self, step: &ChangedStep) -> Side {
        let path = if step.step.real.is_empty() { &step.step.path } else { &step.step.real };
        let Ok(path) = WsPath::parse(path) else { return Side::Lost("its path names nothing here".to_owned()) };
        let mut file = match self.local.open(&path) {
            Ok(file) => file,
            Err(error) if matches!(error.kind, FileErrorKind::NotFound) => return Side::Absent,
            Err(error) => return Side::Lost(format!("it cannot be read: {}", error.kind)),
        };
        let mut bytes = Vec::new();
        match file.content.read_to_end(&mut bytes) {
            Ok(_) => Side::Bytes(bytes.into()),
            Err(error) => Side::Lost(format!("it cannot be read: {error}")),
        }
    }
}

/// The texts in the arguments of the call that made `record`; long ones are among the kept bytes.
fn given(record: &ChangeRecord, state: &StateFolder) -> io::Result<Vec<Bytes>> {
    let mut texts = Vec::new();
    for line in read::lines(state)? {
        let line = line?;
        if line.session == record.session
            && line.call == record.call
            && let Event::ToolCall { arguments, .. } = line.event
        {
            collect(arguments, &mut texts);
            break;
        }
    }
    Ok(texts)
}

fn collect(value: Value, texts: &mut Vec<Bytes>) {
    match value {
        Value::String(text) => texts.push(text.into()),
        Value::Array(items) => items.into_iter().for_each(|item| collect(item, texts)),
        Value::Object(members) => members.into_iter().for_each(|(_, member)| collect(member, texts)),
        _ => {}
    }
}
