//! The file gate: whether a caller knows the bytes that a change replaces.

use serde_json::{Value, json};

use crate::ledger::seen::Coverage;
use crate::model::error::{ErrorCode, ToolError};
use crate::model::path::WsPath;
use crate::model::version::Version;
use crate::tool::Intent;

/// What the model should know although the change may be made.
pub const CHANGED_SINCE_READ: &str =
    "The file had changed since you last read it; the patch was made on what it says now.";

/// How many ranges of unseen lines a message names.
const RANGES_NAMED: usize = 5;

/// Judges the replacement of a file that is at version `now`, of which the caller has seen `coverage`. What is returned is
/// worth telling the model.
///
/// # Errors
/// `read_required` or `stale_version`.
pub fn check(
    path: &WsPath,
    now: Version,
    intent: &Intent,
    coverage: &Coverage,
) -> Result<Option<&'static str>, ToolError> {
    match (intent, coverage) {
        (Intent::Write, Coverage::Never) => Err(read_required(path, &[(1, None)])),
        (Intent::Write, Coverage::Partial { unseen }) => Err(read_required(path, unseen)),
        (Intent::Write, Coverage::Stale) => Err(stale(path, now)),
        (Intent::Edit { places }, Coverage::Partial { unseen }) => {
            let unproven = places.iter().filter(|edited| edited.path == *path).flat_map(|edited| &edited.unproven);
            let mut blind: Vec<_> =
                unproven.filter(|line| is_unseen(**line, unseen)).map(|line| (*line, Some(*line))).collect();
            blind.sort_unstable();
            blind.dedup();
            if blind.is_empty() { Ok(None) } else { Err(blind_edit(path, &blind)) }
        }
        (Intent::Edit { .. }, Coverage::Stale) => Ok(Some(CHANGED_SINCE_READ)),
        _ => Ok(None),
    }
}

/// An `ambiguous_match` that also tells which of the places its caller has not read: its advice must not lead to edits of what
/// nobody has looked at.
pub fn with_unread(error: ToolError, coverage: &Coverage) -> ToolError {
    let Coverage::Partial { unseen } = coverage else { return error };
    let lines = error.details.get("lines").and_then(Value::as_array).into_iter().flatten();
    let blind: Vec<_> = lines
        .filter_map(Value::as_u64)
        .filter(|line| is_unseen(*line, unseen))
        .map(|line| (line, Some(line)))
        .collect();
    if blind.is_empty() {
        return error;
    }
    let it = if blind.len() == 1 { "it" } else { "them" };
    let message =
        format!("{} You have not read {}: read {it} before you set replace_all.", error.message, ranges(&blind));
    ToolError { message, ..error }.with("unseen", json!(blind))
}

fn is_unseen(line: u64, unseen: &[(u64, Option<u64>)]) -> bool {
    unseen.iter().any(|(from, to)| line >= *from && to.is_none_or(|to| line <= to))
}

fn read_required(path: &WsPath, unseen: &[(u64, Option<u64>)]) -> ToolError {
    let what = if matches!(unseen, [(1, None)]) {
        format!("{path} exists, and you have not read it.")
    } else {
        format!("You have not read all of {path}: {} still unseen.", ranges(unseen))
    };
    ToolError::new(
        ErrorCode::ReadRequired,
        format!(
            "{what} write_file would replace what you have not seen, so nothing was changed. Read that first, or change \
             only a part with patch_file."
        ),
    )
    .with("path", path.to_string())
    .with("unseen", json!(unseen))
}

fn blind_edit(path: &WsPath, blind: &[(u64, Option<u64>)]) -> ToolError {
    ToolError::new(
        ErrorCode::ReadRequired,
        format!(
            "replace_all would change places of {path} that you have not read: {}. Nothing was changed. Read those lines \
             first.",
            ranges(blind)
        ),
    )
    .with("path", path.to_string())
    .with("unseen", json!(blind))
}

fn stale(path: &WsPath, now: Version) -> ToolError {
    ToolError::new(
        ErrorCode::StaleVersion,
        format!(
            "{path} has changed since you read it, and write_file would undo that. It is as it was left. Read it again, then \
             write what takes both into account, or change only a part with patch_file."
        ),
    )
    .with("path", path.to_string())
    .with("current_version", now.to_string())
}

/// `line 3`, `lines 3-7`, `lines 3-7, 9 and from 20 on`.
fn ranges(unseen: &[(u64, Option<u64>)]) -> String {
    let named: Vec<_> = unseen
        .iter()
        .take(RANGES_NAMED)
        .map(|(from, to)| match to {
            Some(to) if to == from => from.to_string(),
            Some(to) => format!("{from}-{to}"),
            None => format!("from {from} on"),
        })
        .collect();
    let more = unseen.len().saturating_sub(named.len());
    let more = if more == 0 { String::new() } else { format!(" and {more} more places") };
    let lines = if matches!(unseen, [(from, Some(to))] if from == to) { "line" } else { "lines" };
    format!("{lines} {}{more}", named.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(intent: &Intent, coverage: &Coverage) -> String {
        let path = WsPath::parse("a.txt").expect("a path");
        match check(&path, Version::of(b""), intent, coverage) {
            Ok(None) => "fine".to_owned(),
            Ok(Some(note)) => note.to_owned(),
            Err(error) => format!("{} {}", error.code, error.details.get("unseen").unwrap_or_default()),
        }
    }

    #[test]
    fn who_may_change_what() {
        let partial = Coverage::Partial { unseen: vec![(21, Some(40)), (50, None)] };
        let edit = |lines: &[u64]| Intent::edit(WsPath::parse("a.txt").expect("a path"), lines.to_vec());
        for (intent, coverage, want) in [
            (Intent::Write, Coverage::Whole, "fine"),
            (Intent::Write, Coverage::Never, "read_required [[1,null]]"),
            (Intent::Write, partial.clone(), "read_required [[21,40],[50,null]]"),
            (Intent::Write, Coverage::Stale, "stale_version null"),
            (edit(&[3]), Coverage::Never, "fine"),
            (edit(&[30]), partial.clone(), "fine"),
            (edit(&[3, 45]), partial.clone(), "fine"),
            (edit(&[3, 30]), partial, "read_required [[30,30]]"),
            (edit(&[3, 30]), Coverage::Never, "fine"),
            (edit(&[3]), Coverage::Stale, CHANGED_SINCE_READ),
        ] {
            assert_eq!(judged(&intent, &coverage), want, "{intent:?} {coverage:?}");
        }
    }
}
