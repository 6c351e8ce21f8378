//! Notes of what was seen, one file a principal, added to and now and then written anew.

use std::collections::BTreeMap;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex};

use cap_std::fs::Dir;
use serde::{Deserialize, Serialize};

use crate::ledger::flusher::Flusher;
use crate::ledger::seen::eyes::Eyes;
use crate::ledger::seen::spans::Spans;
use crate::ledger::store::{self, Lock, hold};
use crate::model::version::Version;
use crate::model::world::World;
use crate::workspace::Identity;

/// A file of notes is not written anew before it has this many bytes.
const SMALL: u64 = 64 * 1024;

/// Nor before it has grown this many times.
const GROWN: u64 = 4;

/// How many bytes of notes of one principal may wait.
const MOST_WAITING: usize = 8 * 1024 * 1024;

/// A line: something was seen of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Note {
    #[serde(rename = "p")]
    pub(super) path: String,
    #[serde(rename = "i", with = "hex", skip_serializing_if = "Option::is_none", default)]
    pub(super) identity: Option<Identity>,
    #[serde(rename = "v", with = "text", skip_serializing_if = "Option::is_none", default)]
    pub(super) version: Option<Version>,
    #[serde(rename = "s")]
    pub(super) spans: Spans,
    /// This is all that is known; what was noted before does not count any more.
    #[serde(rename = "a", skip_serializing_if = "std::ops::Not::not", default)]
    pub(super) anew: bool,
}

/// Where notes are written.
pub(in crate::ledger) struct Notes {
    place: Option<Place>,
    waiting: Mutex<BTreeMap<String, Vec<u8>>>,
}

struct Place {
    dir: Dir,
    lock: Lock,
    flusher: Arc<Flusher>,
    world: Arc<dyn World>,
}

impl std::fmt::Debug for Notes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Notes").field("kept", &self.place.is_some()).finish_non_exhaustive()
    }
}

impl Notes {
    /// Nothing is written down.
    pub(in crate::ledger) const fn nowhere() -> Self {
        Notes { place: None, waiting: Mutex::new(BTreeMap::new()) }
    }

    pub(in crate::ledger) fn on_disk(state: &Dir, flusher: Arc<Flusher>, world: Arc<dyn World>) -> io::Result<Self> {
        let dir = store::folder(state, "seen")?;
        let lock = Lock::open(state, "seen.lock")?;
        Ok(Notes { place: Some(Place { dir, lock, flusher, world }), waiting: Mutex::default() })
    }

    /// Takes a note, to be written soon.
    pub(super) fn add(&self, principal: &str, note: &Note) {
        let Some(place) = &self.place else { return };
        let Ok(line) = serde_json::to_vec(note) else { return };
        {
            let mut waiting = hold(&self.waiting);
            let lines = match waiting.get_mut(principal) {
                Some(lines) => lines,
                None => waiting.entry(principal.to_owned()).or_default(),
            };
            lines.extend(line);
            lines.push(b'\n');
        }
        place.flusher.nudge();
    }

    /// Of whom notes wait.
    pub(super) fn waiting(&self) -> Vec<String> {
        hold(&self.waiting).keys().cloned().collect()
    }

    /// Writes what waits of `principal`.
    pub(super) fn write(&self, principal: &str, eyes: &mut Eyes) -> io::Result<()> {
        let Some(place) = &self.place else { return Ok(()) };
        let _held = place.lock.hold()?;
        let length = self.append(place, principal, eyes)?;
        if length > SMALL && length > eyes.base * GROWN {
            place.read_on(principal, eyes)?;
            if length > eyes.base * GROWN {
                place.write_anew(principal, eyes)?;
            }
        }
        Ok(())
    }

    /// Says how long the file is then, 0 where nothing waited.
    fn append(&self, place: &Place, principal: &str, eyes: &mut Eyes) -> io::Result<u64> {
        let Some(lines) = hold(&self.waiting).remove(principal) else { return Ok(0) };
        match store::append_lines(&place.dir, &file_of(principal), &lines, false) {
            Ok(written) => {
                // What was just written is known, and need not be read again.
                if eyes.loaded && written.start == eyes.read {
                    eyes.read = written.end;
                }
                Ok(written.end)
            }
            Err(error) => {
                let mut waiting = hold(&self.waiting);
                let later = waiting.remove(principal).unwrap_or_default();
                // Where nothing can be written for long the oldest are let go: at worst a file is to be read again.
                let all = if lines.len() + later.len() > MOST_WAITING { later } else { [lines, later].concat() };
                waiting.insert(principal.to_owned(), all);
                Err(error)
            }
        }
    }

    /// Reads what other processes have noted. Where that cannot be done, what is known here has to do: at worst a file
    /// is to be read again.
    pub(super) fn read_on(&self, principal: &str, eyes: &mut Eyes) {
        let Some(place) = &self.place else { return };
        let read = place.lock.hold().and_then(|_held| {
            // The order of the notes is that of the file, so what waits here comes first into it.
            self.append(place, principal, eyes)?;
            place.read_on(principal, eyes)
        });
        if let Err(error) = read {
            tracing::warn!(%error, "what was seen earlier cannot be read");
        }
    }
}

impl Place {
    fn read_on(&self, principal: &str, eyes: &mut Eyes) -> io::Result<()> {
        let Some(mut file) = store::existing(&self.dir, &file_of(principal))? else {
            eyes.loaded = true;
            return Ok(());
        };
        let length = file.metadata()?.len();
        if !eyes.loaded || length < eyes.read {
            // From the beginning: everything known here is in it.
            *eyes = Eyes { loaded: true, ..Eyes::default() };
        }
        if length == eyes.read {
            return Ok(());
        }
        file.seek(SeekFrom::Start(eyes.read))?;
        let mut added = Vec::new();
        file.read_to_end(&mut added)?;
        let whole = memchr::memrchr(b'\n', &added).map_or(0, |end| end + 1);
        let notes = added[..whole].split(|&byte| byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
        notes.for_each(|note| eyes.take(note));
        eyes.read += whole as u64;
        if eyes.base == 0 {
            eyes.base = size_of(eyes);
        }
        Ok(())
    }

    /// Writes all that is known as if it were noted for the first time.
    fn write_anew(&self, principal: &str, eyes: &mut Eyes) -> io::Result<()> {
        let lines = lines_of(eyes);
        store::replace(&self.dir, &file_of(principal), &lines, self.world.random(), false)?;
        eyes.read = lines.len() as u64;
        eyes.base = eyes.read;
        Ok(())
    }
}

fn lines_of(eyes: &Eyes) -> Vec<u8> {
    let mut lines = Vec::new();
    for line in eyes.all().filter_map(|note| serde_json::to_vec(&note).ok()) {
        lines.extend(line);
        lines.push(b'\n');
    }
    lines
}

fn size_of(eyes: &Eyes) -> u64 {
    lines_of(eyes).len() as u64
}

/// A principal's name may hold anything, so the file has another one.
fn file_of(principal: &str) -> String {
    format!("{}.jsonl", &blake3::hash(principal.as_bytes()).to_hex()[..16])
}

/// Identities as hexadecimal digits: readers of JSON differ on large numbers.
mod hex {
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::workspace::Identity;

    pub(super) fn serialize<S: Serializer>(identity: &Option<Identity>, serializer: S) -> Result<S::Ok, S::Error> {
        match identity {
            Some(Identity(bits)) => serializer.collect_str(&format_args!("{bits:x}")),
            None => serializer.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Identity>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        text.map(|text| u128::from_str_radix(&text, 16).map(Identity)).transpose().map_err(serde::de::Error::custom)
    }
}

/// Versions as text.
mod text {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::model::version::Version;

    pub(super) fn serialize<S: Serializer>(version: &Option<Version>, serializer: S) -> Result<S::Ok, S::Error> {
        version.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Version>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        text.map(|text| text.parse()).transpose().map_err(serde::de::Error::custom)
    }
}
