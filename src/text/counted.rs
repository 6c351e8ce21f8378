//! Numbers of things in words, for people and models.

/// `1 file`, `2 files`.
///
/// ```
/// use toolgate::text::counted::counted;
/// assert_eq!(counted(1_u64, "entry", "entries"), "1 entry");
/// assert_eq!(counted(0_u64, "entry", "entries"), "0 entries");
/// ```
#[must_use]
pub fn counted(count: impl TryInto<u64>, one: &str, many: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    format!("{count} {}", if count == 1 { one } else { many })
}
