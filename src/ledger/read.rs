//! What was recorded, read back: the lines of all sessions of a workspace in the order of time.

mod merge;
mod stats;

use std::collections::HashMap;
use std::io::{self, Read, Seek, SeekFrom};

use cap_std::fs::Dir;

use crate::ledger::read::merge::Merged;
pub use crate::ledger::read::stats::{Stats, ToolStats, VariantStats, stats};
use crate::ledger::state::StateFolder;
use crate::ledger::store;
use crate::model::event::Line;
use crate::model::id::SessionId;

/// The lines of all sessions in the order of time, read as they are asked for.
///
/// A line that cannot be understood, cut off by a crash or written by a later version, is read past.
///
/// # Errors
/// The state folder cannot be read.
pub fn lines(state: &StateFolder) -> io::Result<impl Iterator<Item = io::Result<Line>>> {
    Ok(match sessions(&state.dir)? {
        Some(dir) => {
            let names = logs(&dir)?;
            Merged::new(dir, names)
        }
        None => Merged::default(),
    })
}

/// The sessions that have recorded something, oldest first.
///
/// # Errors
/// The state folder cannot be read.
pub fn session_names(state: &StateFolder) -> io::Result<Vec<String>> {
    let Some(dir) = sessions(&state.dir)? else { return Ok(Vec::new()) };
    Ok(logs(&dir)?.iter().map(|name| name.trim_end_matches(EXTENSION).to_owned()).collect())
}

/// Follows what is recorded, in all sessions, those that begin later among them.
#[derive(Debug, Default)]
pub struct Follow {
    read: HashMap<String, u64>,
}

impl Follow {
    /// From now on: what was recorded before is not told.
    ///
    /// # Errors
    /// The state folder cannot be read.
    pub fn from_now(state: &StateFolder) -> io::Result<Self> {
        let mut read = HashMap::new();
        if let Some(dir) = sessions(&state.dir)? {
            for name in logs(&dir)? {
                let length = dir.metadata(&name)?.len();
                read.insert(name, length);
            }
        }
        Ok(Follow { read })
    }

    /// From the beginning: the first look tells everything.
    #[must_use]
    pub fn from_the_beginning() -> Self {
        Follow::default()
    }

    /// What was recorded since the last look, in the order of time. Nothing if nothing was; never waits.
    ///
    /// # Errors
    /// The state folder cannot be read.
    pub fn look(&mut self, state: &StateFolder) -> io::Result<Vec<Line>> {
        let mut lines = Vec::new();
        let Some(dir) = sessions(&state.dir)? else { return Ok(lines) };
        for name in logs(&dir)? {
            let read = self.read.entry(name.clone()).or_default();
            let Some(mut file) = store::existing(&dir, &name)? else { continue };
            let length = file.metadata()?.len();
            if length <= *read {
                continue;
            }
            file.seek(SeekFrom::Start(*read))?;
            let mut added = Vec::new();
            file.read_to_end(&mut added)?;
            // A line without its end is still being written.
            let whole = memchr::memrchr(b'\n', &added).map_or(0, |end| end + 1);
            lines.extend(lines_of(&added[..whole]));
            *read += whole as u64;
        }
        lines.sort_by_key(|line| line.time);
        Ok(lines)
    }
}

const EXTENSION: &str = ".jsonl";

fn sessions(state: &Dir) -> io::Result<Option<Dir>> {
    match state.open_dir("sessions") {
        Ok(dir) => Ok(Some(dir)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The files of the sessions, oldest first.
fn logs(sessions: &Dir) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in sessions.entries()? {
        if let Ok(name) = entry?.file_name().into_string()
            && name.ends_with(EXTENSION)
        {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// The last lines that `session` has recorded.
pub(super) fn last_lines(sessions: &Dir, session: &SessionId) -> io::Result<Vec<Line>> {
    /// More than this is not looked back.
    const MOST: u64 = 4 * 1024 * 1024;
    let name = format!("{}{EXTENSION}", session.as_str());
    let Some(mut file) = store::existing(sessions, &name)? else { return Ok(Vec::new()) };
    let from = file.metadata()?.len().saturating_sub(MOST);
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(MOST).read_to_end(&mut bytes)?;
    Ok(lines_of(&bytes))
}

/// The lines in `bytes`.
pub(super) fn lines_of(bytes: &[u8]) -> Vec<Line> {
    bytes.split(|&byte| byte == b'\n').filter_map(line_of).collect()
}

fn line_of(bytes: &[u8]) -> Option<Line> {
    serde_json::from_slice(bytes).ok()
}
