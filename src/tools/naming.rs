//! What is odd about the names of what is made or moved, and paths that are spelled as folders.

use crate::model::path::{WsPath, is_separator};
use crate::text::names;
use crate::tool::view::{TextRules, View};

use super::shown;

/// What is odd about the names of what is made, from the outside in: another entry that looks the same, or a name that
/// Windows refuses.
pub(super) fn notes(view: &View, made: &[&WsPath]) -> Vec<String> {
    if view.text_rules() == TextRules::Exact {
        return Vec::new();
    }
    // Only the outermost has neighbours.
    let twin = made.first().and_then(|outermost| twin(view, outermost)).map(|twin| {
        format!(
            "There is another entry whose name looks the same but is spelled with other Unicode characters: \"{}\". Both \
             exist now.",
            twin.escape_unicode()
        )
    });
    let refused = made.iter().filter_map(|path| {
        let name = path.name();
        names::refused_by_windows(name).map(|why| format!("The name {} cannot be used on Windows: {why}.", shown(name)))
    });
    twin.into_iter().chain(refused).collect()
}

/// The entry beside `path` whose name is the same text in another Unicode form (B021).
fn twin(view: &View, path: &WsPath) -> Option<String> {
    let name = path.name();
    if name.is_ascii() {
        return None;
    }
    let entries = view.list(&path.parent()?, usize::MAX).ok()?.entries;
    entries.into_iter().map(|entry| entry.name).find(|other| other != name && names::look_alike(other, name))
}

/// Whether `text` can only be meant as a folder: `a/`, `a/.`.
pub(super) fn names_a_folder(text: &str) -> bool {
    matches!(text.rsplit(is_separator).next().unwrap_or_default(), "" | "." | "..")
}
