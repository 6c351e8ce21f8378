//! What holds for any file and any edit: nothing outside of the match changes, undoing gives the old bytes, pages join to
//! the file.

use std::sync::Arc;

use futures_util::FutureExt;
use proptest::prelude::*;
use serde_json::{Value, json};
use toolgate::bytes::Bytes;
use toolgate::model::world::RealWorld;
use toolgate::text::encoding::{Encoding, decode, encode};
use toolgate::{
    Call, Caller, Completed, Control, Dispatcher, Ledger, Memory, Registry, Settings, TextRules, WsPath, tools,
};

use super::fuzz::bodies::Edit;

/// Text of few letters, so that matches are many, with every sort of line end.
fn text(most: usize) -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => Just("a"), 2 => Just("b"), 2 => Just("\n"), 2 => Just("\r\n"), 1 => Just("\r"),
        1 => prop_oneof![Just("\u{e9}"), Just("e\u{301}"), Just("\u{feff}"), Just("\u{1F389}"), Just("\u{2028}")],
        1 => prop_oneof![Just(" "), Just("\t")],
    ];
    proptest::collection::vec(piece, 0..most).prop_map(|pieces| pieces.concat())
}

/// A file: text in some encoding, and now and then any bytes.
fn file() -> impl Strategy<Value = Vec<u8>> {
    let encoding =
        prop_oneof![Just(Encoding::Utf8), Just(Encoding::Utf8Bom), Just(Encoding::Utf16Le), Just(Encoding::Utf16Be)];
    prop_oneof![
        8 => (text(24), encoding).prop_map(|(text, encoding)| encode(&text, encoding)),
        1 => proptest::collection::vec(any::<u8>(), 0..40),
    ]
}

/// Where in a text a part of it is taken from, by thousandths.
fn part_of(text: &str, from: usize, length: usize) -> String {
    let bounds: Vec<usize> = (0..=text.len()).filter(|&at| text.is_char_boundary(at)).collect();
    let from = from * (bounds.len() - 1) / 1000;
    let to = (from + length).min(bounds.len() - 1);
    text[bounds[from]..bounds[to]].to_owned()
}

fn desk(files: &[(&str, &[u8])], settings: Settings) -> (Memory, Dispatcher) {
    let path = |path: &str| WsPath::parse(path).expect("a path");
    let memory = Memory::from_files(files.iter().map(|(name, bytes)| (path(name), Bytes::copy_from_slice(bytes))));
    let mut registry = Registry::new();
    tools::register(&mut registry).expect("tools");
    let dispatcher = Dispatcher::new(registry, memory.clone(), settings);
    (memory, dispatcher.with_ledger(Ledger::in_memory(Arc::new(RealWorld))))
}

fn call(dispatcher: &Dispatcher, tool: &str, arguments: Value) -> Completed {
    let call = Call { tool: tool.to_owned(), arguments: Ok(arguments) };
    let done = dispatcher.dispatch(call, &Caller::Embedder, Control::default()).now_or_never();
    done.expect("nothing to wait for").expect("a tool that is there")
}

/// What a tool has answered, as programs get it.
fn output(dispatcher: &Dispatcher, tool: &str, arguments: Value) -> Value {
    call(dispatcher, tool, arguments).outcome.expect("a success").structured().expect("JSON")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_outside_of_a_match_changes_and_undo_gives_the_old_bytes(
        file in file(), from in 0usize..1000, length in 1usize..5, new in text(6), other in text(3),
        everywhere: bool, exact: bool, bare: bool,
    ) {
        // Mostly a part of the file, as a model has seen it.
        let old = match decode(&file) {
            Ok(decoded) if !decoded.text.is_empty() => part_of(&decoded.text, from, length),
            _ => other,
        };
        let old = if bare { old.replace("\r\n", "\n") } else { old };
        let rules = if exact { TextRules::Exact } else { TextRules::Bridged };
        Edit { file, old, new, everywhere, rules }.check();
    }

    #[test]
    fn patches_in_one_call_do_what_they_do_one_by_one(
        first in text(20), second in text(20),
        edits in proptest::collection::vec((any::<bool>(), 0usize..1000, 1usize..5, text(4), any::<bool>()), 1..6),
    ) {
        let files = [("first", first.as_bytes()), ("second", second.as_bytes())];
        let (one_by_one, singly) = desk(&files, Settings::served());
        let (at_once, together) = desk(&files, Settings::served());
        let mut patches = Vec::new();
        let mut fails = false;
        for (which, from, length, new, everywhere) in edits {
            let path = if which { "first" } else { "second" };
            let bytes = one_by_one.snapshot()[&WsPath::parse(path).expect("a path")].clone();
            let there = std::str::from_utf8(&bytes).expect("text").trim_start_matches('\u{feff}').to_owned();
            let old = if there.is_empty() { "nothing".to_owned() } else { part_of(&there, from, length) };
            let patch = json!({ "path": path, "old_str": old, "new_str": new, "replace_all": everywhere });
            fails |= call(&singly, "patch_file", patch.clone()).outcome.is_err();
            patches.push(patch);
            if fails {
                break;
            }
        }
        let before = at_once.snapshot();
        let done = call(&together, "patch_files", json!({ "patches": patches }));
        match done.outcome {
            Err(_) => {
                // Patches that come to nothing together are refused as well.
                let come_to_nothing = one_by_one.snapshot().iter().any(|(path, bytes)| {
                    before[path] == bytes && patches.iter().any(|patch| patch["path"] == path.as_str())
                });
                prop_assert!(fails || come_to_nothing, "{patches:?}");
                prop_assert_eq!(at_once.snapshot(), before);
            }
            Ok(_) => {
                prop_assert!(!fails, "{patches:?}");
                prop_assert_eq!(at_once.snapshot(), one_by_one.snapshot());
                let change = done.change.expect("a change").to_string();
                let undone = call(&together, "undo_change", json!({ "change": change }));
                prop_assert!(undone.outcome.is_ok(), "undone");
                prop_assert_eq!(at_once.snapshot(), before);
            }
        }
    }

    #[test]
    fn pages_join_to_the_file(
        text in text(40), sizes in proptest::collection::vec(1u64..4, 1..12), most in 1usize..12,
        encoding in prop_oneof![Just(Encoding::Utf8), Just(Encoding::Utf8Bom), Just(Encoding::Utf16Le)],
    ) {
        let file = encode(&text, encoding);
        // A text that begins with a mark is a file with one.
        let Ok(decoded) = decode(&file) else { return Ok(()) };
        let text = decoded.text.clone().into_owned();
        let mut settings = Settings::served();
        settings.limits.read_bytes = most;
        let (_, dispatcher) = desk(&[("file", &file)], settings);
        // As pages of any size.
        let (mut joined, mut line) = (String::new(), 1);
        let total = u64::try_from(text.split_inclusive('\n').count()).expect("few");
        for size in sizes.iter().cycle() {
            if line > total {
                break;
            }
            let range = json!({ "path": "file", "start_line": line, "end_line": line + size - 1 });
            let mut page = output(&dispatcher, "read_file", range);
            joined += page["content"].as_str().expect("text");
            // What one answer has no room for is in the next.
            while let Some(next) = page.get("next").cloned() {
                let mut rest = next.clone();
                rest["path"] = "file".into();
                if next["start_line"].as_u64() >= Some(line + size) {
                    break;
                }
                rest["end_line"] = (line + size - 1).into();
                page = output(&dispatcher, "read_file", rest);
                joined += page["content"].as_str().expect("text");
            }
            line += size;
        }
        prop_assert_eq!(joined, text);
    }

    #[test]
    fn what_is_written_is_what_is_there(before in file(), content in text(24)) {
        let (memory, dispatcher) = desk(&[("file", &before)], Settings::served());
        let untouched = memory.snapshot();
        let done = call(&dispatcher, "write_file", json!({ "path": "file", "content": content }));
        prop_assert!(done.change.is_none(), "nobody has read it");
        prop_assert_eq!(&memory.snapshot(), &untouched);
        let _ = call(&dispatcher, "read_file", json!({ "path": "file" }));
        let done = call(&dispatcher, "write_file", json!({ "path": "file", "content": content }));
        let after = memory.snapshot();
        let Ok(_) = done.outcome else {
            prop_assert_eq!(after, untouched);
            return Ok(());
        };
        let (old, new) = (decode(&before), decode(after.values().next().expect("a file")));
        let (old, new) = (old.expect("text"), new.expect("text"));
        let hidden = content.strip_prefix('\u{feff}').unwrap_or(&content);
        prop_assert!(*new.text == content || *new.text == *hidden);
        let marked = content.starts_with('\u{feff}');
        prop_assert!(marked || new.encoding == old.encoding);
        if let Some(change) = done.change {
            let undone = call(&dispatcher, "undo_change", json!({ "change": change.to_string() }));
            prop_assert!(undone.outcome.is_ok(), "undone");
            prop_assert_eq!(memory.snapshot(), untouched);
        }
    }
}
