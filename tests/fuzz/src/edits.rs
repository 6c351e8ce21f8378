//! The patch engine: one edit of one file, held against the plainest account of what an edit is.

use std::collections::BTreeMap;

use futures_util::FutureExt;
use serde_json::{Value, json};
use toolgate::bytes::Bytes;
use toolgate::model::world::RealWorld;
use toolgate::tools::patch_file::PatchFile;
use toolgate::tools::undo_change::UndoChange;
use toolgate::{Call, Caller, Completed, Control, Dispatcher, Ledger, Memory, Registry, Settings, TextRules, WsPath};

/// An edit of a file.
#[derive(Debug, Clone)]
pub struct Edit {
    pub file: Vec<u8>,
    pub old: String,
    pub new: String,
    pub everywhere: bool,
    pub rules: TextRules,
}

/// Makes an edit of `data`: how, the lengths of both texts, the texts, the file.
pub fn patch(data: &[u8]) {
    let [how, old, new, rest @ ..] = data else { return };
    let (old, rest) = rest.split_at(rest.len().min(usize::from(*old)));
    let (new, file) = rest.split_at(rest.len().min(usize::from(*new)));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (old, new) = (text(old), text(new));
    let (everywhere, exact, wide) = (how & 1 != 0, how & 2 != 0, how & 4 != 0);
    let file = if wide { wide_of(&text(file), how & 8 != 0) } else { file.to_vec() };
    let rules = if exact { TextRules::Exact } else { TextRules::Bridged };
    Edit { file, old, new, everywhere, rules }.check();
}

/// `text` as UTF-16 with a byte order mark.
fn wide_of(text: &str, big: bool) -> Vec<u8> {
    let bytes = |unit: u16| if big { unit.to_be_bytes() } else { unit.to_le_bytes() };
    std::iter::once(0xFEFF).chain(text.encode_utf16()).flat_map(bytes).collect()
}

impl Edit {
    /// Makes the edit, and takes it back.
    ///
    /// # Panics
    /// If a byte changes that was not named, a refusal changes one, or undoing does not give the old bytes.
    pub fn check(&self) {
        let path = WsPath::parse("file").expect("a path");
        let memory = Memory::from_files([(path.clone(), Bytes::from(self.file.clone()))]);
        let before = memory.snapshot();
        let mut registry = Registry::new();
        registry.register(PatchFile).expect("a tool");
        registry.register(UndoChange).expect("a tool");
        let settings = Settings { text: self.rules, ..Settings::served() };
        let dispatcher = Dispatcher::new(registry, memory.clone(), settings)
            .with_ledger(Ledger::in_memory(std::sync::Arc::new(RealWorld)));
        let arguments = json!({
            "path": "file", "old_str": self.old, "new_str": self.new, "replace_all": self.everywhere,
        });
        let done = call(&dispatcher, "patch_file", arguments);
        let after = memory.snapshot();
        if done.outcome.is_err() {
            assert_eq!(before, after, "a refusal changes nothing: {self:?}");
            return;
        }
        self.hold(&after);
        let undone = call(&dispatcher, "undo_change", json!({ "change": done.change.expect("a change").to_string() }));
        assert!(undone.outcome.is_ok(), "{undone:?} of {self:?}");
        assert_eq!(memory.snapshot(), before, "undone: {self:?}");
    }

    /// The file after an edit that was made.
    fn hold(&self, after: &BTreeMap<WsPath, Bytes>) {
        let after: Vec<_> = after.values().collect();
        let [after] = after[..] else { panic!("one file: {self:?}") };
        let mark = mark_of(&self.file, self.rules);
        // A mark that a patch puts at the start of a file without one is text, as it was asked for.
        assert!(after.starts_with(mark), "the encoding stays: {self:?}");
        let (old, new) = (text_of(&self.file, mark), text_of(after, mark));
        assert_ne!(old, new, "a change is one: {self:?}");
        if self.everywhere {
            // What is left of everywhere is what stands in the parts between, and they are all there in order.
            let mut rest = &new[..];
            for part in parts(&old, &self.old, self.rules) {
                let at = rest.find(part).unwrap_or_else(|| panic!("{part:?} is gone: {self:?} gave {new:?}"));
                rest = &rest[at + part.len()..];
            }
            return;
        }
        let spans: Vec<_> = spans(&old, &self.old, self.rules);
        let [(from, to)] = spans[..] else { panic!("{} matches and not one: {self:?}", spans.len()) };
        assert!(new.starts_with(&old[..from]), "before the match: {self:?} gave {new:?}");
        assert!(new.ends_with(&old[to..]), "after the match: {self:?} gave {new:?}");
        assert!(new.len() >= from + old.len() - to, "both at once: {self:?} gave {new:?}");
        let put = &new[from..new.len() - (old.len() - to)];
        match self.rules {
            TextRules::Exact => assert_eq!(put, self.new, "{self:?}"),
            TextRules::Bridged => assert_eq!(plain(put), plain(&self.new), "but for line ends: {self:?}"),
        }
    }
}

/// Text with one sort of line ends.
fn plain(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// Every span of `text` that is `old`, overlapping ones too. A bare `\n` of `old` may be a `\r\n`.
fn spans(text: &str, old: &str, rules: TextRules) -> Vec<(usize, usize)> {
    let (text, old) = (text.as_bytes(), old.as_bytes());
    let mut found = Vec::new();
    for from in 0..text.len() {
        let (mut at, mut fits) = (from, true);
        for (index, &byte) in old.iter().enumerate() {
            let bare = byte == b'\n' && (index == 0 || old[index - 1] != b'\r');
            if rules == TextRules::Bridged && bare && text[at..].starts_with(b"\r\n") {
                at += 2;
            } else if text.get(at) == Some(&byte) {
                at += 1;
            } else {
                fits = false;
                break;
            }
        }
        // No match begins between \r and \n where line ends are bridged, nor ends there unless it says so.
        let inside = |at: usize| at > 0 && text[at - 1] == b'\r' && text.get(at) == Some(&b'\n');
        let bridged = rules == TextRules::Bridged
            && old.iter().enumerate().any(|(index, &byte)| byte == b'\n' && (index == 0 || old[index - 1] != b'\r'));
        if fits && !(bridged && inside(from)) {
            found.push((from, at));
        }
    }
    found
}

/// What lies between the matches of `old`, from left to right.
fn parts<'a>(text: &'a str, old: &str, rules: TextRules) -> Vec<&'a str> {
    let (mut parts, mut end) = (Vec::new(), 0);
    for (from, to) in spans(text, old, rules) {
        if from >= end {
            parts.push(&text[end..from]);
            end = to;
        }
    }
    parts.push(&text[end..]);
    parts
}

/// What a file begins with that tells its encoding.
fn mark_of(bytes: &[u8], rules: TextRules) -> &'static [u8] {
    let marks: [&[u8]; 3] = [b"\xEF\xBB\xBF", b"\xFF\xFE", b"\xFE\xFF"];
    let there = marks.into_iter().find(|mark| rules == TextRules::Bridged && bytes.starts_with(mark));
    there.unwrap_or_default()
}

/// The text behind the mark.
fn text_of(bytes: &[u8], mark: &[u8]) -> String {
    let rest = &bytes[mark.len()..];
    let wide = |unit: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = rest.chunks(2).map(|pair| unit([pair[0], pair[1]])).collect();
        String::from_utf16(&units).expect("a file that was patched is text")
    };
    match mark {
        [0xFF, 0xFE] => wide(u16::from_le_bytes),
        [0xFE, 0xFF] => wide(u16::from_be_bytes),
        _ => String::from_utf8(rest.to_vec()).expect("a file that was patched is text"),
    }
}

/// One call, which must come to an outcome.
pub(crate) fn call(dispatcher: &Dispatcher, tool: &str, arguments: Value) -> Completed {
    let call = Call { tool: tool.to_owned(), arguments: Ok(arguments) };
    let done = dispatcher.dispatch(call, &Caller::Embedder, Control::default()).now_or_never();
    done.expect("nothing to wait for").unwrap_or_else(|error| panic!("{tool}: {error}"))
}
