//! File names that Windows keeps for itself.

use crate::workspace::FileErrorKind;

/// Refuses a name that this system would take for something else than a file.
pub(in crate::workspace) fn allowed(name: &str) -> Result<(), FileErrorKind> {
    match reserved(name) {
        Some(why) if cfg!(windows) => Err(FileErrorKind::BadName(why.to_owned())),
        _ => Ok(()),
    }
}

/// What Windows would make of `name`, if not a file of that name.
fn reserved(name: &str) -> Option<&'static str> {
    if name.contains(|c: char| c < ' ' || "<>:\"|?*\\".contains(c)) {
        return Some("Windows takes no < > : \" | ? * \\ or control characters in names");
    }
    if name.ends_with(['.', ' ']) {
        return Some("Windows drops a full stop or space at the end of a name");
    }
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_ascii_uppercase();
    let numbered = |device: &str| {
        stem.strip_prefix(device).is_some_and(|rest| {
            matches!(rest, "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" | "\u{b9}" | "\u{b2}" | "\u{b3}")
        })
    };
    let device = matches!(stem.as_str(), "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$");
    (device || numbered("COM") || numbered("LPT")).then_some("it is the name of a device on Windows")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_streams_and_endings_are_known() {
        for name in ["nul", "aux.c", "COM1.txt", "lpt\u{b9}", "con .txt", "a.txt:s", "trail. ", "what?"] {
            assert!(reserved(name).is_some(), "{name:?}");
            assert_eq!(allowed(name).is_err(), cfg!(windows), "{name:?}");
        }
        for name in ["nully", "a.txt", "COM10", "communication", ".gitignore", "\u{e9}\u{4e16}"] {
            assert!(reserved(name).is_none(), "{name:?}");
        }
    }
}
