//! File names that look alike, and names that some systems refuse.

use unicode_normalization::UnicodeNormalization;

/// Whether two names are the same text in different Unicode forms (B021): `é` as one character or as two.
#[must_use]
pub fn look_alike(one: &str, other: &str) -> bool {
    one.nfc().eq(other.nfc())
}

/// Why Windows could not hold a file of this name, if it could not (B098).
#[must_use]
pub fn refused_by_windows(name: &str) -> Option<&'static str> {
    const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];
    // With a digit behind, of which some stand above the line as well.
    const PORTS: [&str; 2] = ["com", "lpt"];
    let stem = name.split('.').next().unwrap_or(name).trim_end().to_lowercase();
    let is_digit = |text: &str| matches!(text, "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" | "¹" | "²" | "³");
    let is_port = |port: &str| stem.strip_prefix(port).is_some_and(is_digit);
    if DEVICES.contains(&&*stem) || PORTS.into_iter().any(is_port) {
        return Some("it is the name of a device there");
    }
    if name.contains(|c: char| c.is_control() || r#"<>:"|?*\"#.contains(c)) {
        return Some("it holds a character that is not allowed in names there");
    }
    (name.ends_with('.') || name.ends_with(' ')).then_some("a name cannot end with a dot or a space there")
}

/// The one of `names` that `name` was most likely meant to be: the same but for Unicode form or case, else the most
/// similar if it is similar enough.
pub fn most_like<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    const SIMILAR_ENOUGH: f32 = 0.75;
    let lower = name.to_lowercase();
    let mut best: Option<(&str, f32)> = None;
    for other in names {
        let likeness = if look_alike(name, other) {
            3.0
        } else if other.to_lowercase() == lower {
            2.0
        } else if other.len().abs_diff(name.len()) > name.len() / 2 {
            continue;
        } else {
            similar::TextDiff::from_chars(name, other).ratio()
        };
        if best.is_none_or(|(_, so_far)| likeness > so_far) {
            best = Some((other, likeness));
        }
    }
    best.filter(|(_, likeness)| *likeness >= SIMILAR_ENOUGH).map(|(other, _)| other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn composed_and_decomposed_look_alike() {
        assert!(look_alike("caf\u{e9}.md", "cafe\u{301}.md"));
        assert!(!look_alike("cafe.md", "caf\u{e9}.md"));
    }

    #[test]
    fn what_was_meant() {
        let names = ["README.md", "main.rs", "caf\u{e9}.md", "LICENSE"];
        for (name, want) in [
            ("readme.md", Some("README.md")),
            ("cafe\u{301}.md", Some("caf\u{e9}.md")),
            ("mian.rs", Some("main.rs")),
            ("zebra", None),
        ] {
            assert_eq!(most_like(name, names.into_iter()), want, "{name:?}");
        }
    }

    #[test]
    fn names_windows_refuses() {
        for name in [
            "nul",
            "aux.c",
            "COM1.txt",
            "a.txt:s",
            "trail. ",
            "trail.",
            "a?b",
            "a\nb",
            "COM\u{b9}",
            "lpt\u{b3}.c",
            "CONIN$",
        ] {
            assert!(refused_by_windows(name).is_some(), "{name:?}");
        }
        for name in
            ["null", "auxiliary.c", "com10", "com0", "lpt\u{2074}", "con$", "a b.txt", ".gitignore", "caf\u{e9}"]
        {
            assert_eq!(refused_by_windows(name), None, "{name:?}");
        }
    }
}
