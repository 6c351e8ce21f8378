//! The name that was probably meant.

/// The candidate closest to `word`, if any is close enough to be worth naming.
pub(crate) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Longer names are no slips of the pen, and comparing them is dear.
    const LONGEST: usize = 64;
    if word.len() > LONGEST {
        return None;
    }
    let word = plain(word);
    candidates
        .into_iter()
        .filter(|candidate| candidate.len() <= LONGEST)
        .filter_map(|candidate| {
            let other = plain(candidate);
            let apart = distance(&word, &other);
            let longer = word.len().max(other.len());
            let contained = word.len().min(other.len()) >= 4
                && (word.windows(other.len().max(1)).any(|part| part == other)
                    || other.windows(word.len().max(1)).any(|part| part == word));
            (apart * 5 <= longer * 2 || contained).then_some((apart, candidate))
        })
        .min_by_key(|(apart, _)| *apart)
        .map(|(_, candidate)| candidate)
}

/// What counts when names are compared: letters and digits, whatever their case.
fn plain(name: &str) -> Vec<char> {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// How many letters are to be added, taken away, replaced or swapped with their neighbour.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = Vec::with_capacity(b.len() + 1);
        row.push(i + 1);
        for (j, y) in b.iter().enumerate() {
            let mut best = (last[j] + usize::from(x != y)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_guessed_and_strangers_are_not() {
        let known = ["path", "old_str", "new_str", "replace_all", "start_line", "end_line", "read_file"];
        for (word, want) in [
            ("pth", Some("path")),
            ("paht", Some("path")),
            ("Path", Some("path")),
            ("file_path", Some("path")),
            ("oldStr", Some("old_str")),
            ("old_string", Some("old_str")),
            ("replaceAll", Some("replace_all")),
            ("startline", Some("start_line")),
            ("readfile", Some("read_file")),
            ("zebra", None),
            ("", None),
            ("limit", None),
        ] {
            assert_eq!(nearest(word, known), want, "{word}");
        }
        assert_eq!(nearest(&"p".repeat(1_000_000), known), None);
        assert_eq!(nearest("x", []), None);
    }
}
