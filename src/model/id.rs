//! Names of sessions, calls and changes.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// One run of a process that makes calls.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct SessionId(String);

impl SessionId {
    /// A session that began at `time`; sorted by name, sessions are sorted by time.
    #[must_use]
    pub fn new(time: jiff::Timestamp, random: u128) -> Self {
        SessionId(format!("{}-{:06x}", time.strftime("%Y%m%dT%H%M%S"), random & 0xff_ffff))
    }

    /// The session of that name.
    #[must_use]
    pub fn named(name: &str) -> Self {
        SessionId(name.to_owned())
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// One call of a session: 1, 2, 3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct CallId(pub u64);

/// One recorded change: eight letters and digits that a person can type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChangeId([u8; 8]);

/// Without letters that look like digits or each other.
const ALPHABET: &[u8; 32] = b"abcdefghjkmnpqrstuvwxyz023456789";

impl ChangeId {
    /// The id that `random` stands for.
    #[must_use]
    pub fn new(random: u128) -> Self {
        let mut id = [0; 8];
        for (place, letter) in id.iter_mut().enumerate() {
            *letter = ALPHABET[(random >> (5 * place)) as usize & 31];
        }
        ChangeId(id)
    }
}

/// The text is not the id of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a change is named by eight letters and digits, none of them i, l, o or 1, as results and `toolgate log` show them"
)]
pub struct NotAChangeId;

impl FromStr for ChangeId {
    type Err = NotAChangeId;

    fn from_str(text: &str) -> Result<Self, NotAChangeId> {
        let id: [u8; 8] = text.as_bytes().try_into().map_err(|_| NotAChangeId)?;
        if id.iter().all(|letter| ALPHABET.contains(letter)) { Ok(ChangeId(id)) } else { Err(NotAChangeId) }
    }
}

impl fmt::Display for ChangeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|letter| write!(f, "{}", char::from(*letter)))
    }
}

impl fmt::Debug for ChangeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ChangeId({self})")
    }
}

impl Serialize for ChangeId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ChangeId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl schemars::JsonSchema for ChangeId {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ChangeId".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string", "pattern": "^[a-z0-9]{8}$"})
    }
}

/// Something that was taken out of a workspace whole, and is kept under this name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeptId(u64);

impl KeptId {
    /// The id that `random` stands for.
    #[must_use]
    pub const fn new(random: u64) -> Self {
        KeptId(random)
    }
}

/// The text is not the name of anything that is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("what is kept is named by sixteen hexadecimal digits")]
pub struct NotAKeptId;

impl FromStr for KeptId {
    type Err = NotAKeptId;

    fn from_str(text: &str) -> Result<Self, NotAKeptId> {
        let is_hex = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let parsed = u64::from_str_radix(text, 16).ok().filter(|_| text.len() == 16 && is_hex);
        parsed.map(KeptId).ok_or(NotAKeptId)
    }
}

impl fmt::Display for KeptId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl fmt::Debug for KeptId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeptId({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_named_and_found_again() {
        let id = ChangeId::new(0x1234_5678_9abc_def0_1234);
        assert_eq!(id.to_string().parse(), Ok(id));
        assert_eq!("l1o".parse::<ChangeId>(), Err(NotAChangeId));
    }

    #[test]
    fn only_names_that_were_given_name_what_is_kept() {
        let id = KeptId::new(0xab);
        assert_eq!((id.to_string().as_str(), id.to_string().parse()), ("00000000000000ab", Ok(id)));
        for odd in ["", "ab", "+0000000000000ab", "00000000000000AB", "../../0123456789", "00000000000000abc"] {
            assert_eq!(odd.parse::<KeptId>(), Err(NotAKeptId), "{odd}");
        }
    }
}
