//! Long files and long lines: an answer has an end, says that it has, and can be gone on with.

use serde_json::{Value, json};

use super::kit::{Desk, Reply, says};

/// Reads all of a file by following what each answer says, and returns the text.
fn follow(desk: &mut Desk, path: &str) -> (String, Vec<Reply>) {
    let (mut text, mut replies) = (String::new(), Vec::new());
    let mut next = json!({ "start_line": 1, "line_offset": 0 });
    while next.is_object() {
        next["path"] = path.into();
        let reply = desk.call("read_file", next.clone());
        assert_ne!(reply.0["isError"], true, "{reply:?}");
        let shown = reply.texts()[0];
        let prefix = format!("{}: ", next["start_line"]);
        assert!(shown.starts_with(&prefix), "{:?} does not start with {prefix:?}", &shown[..20]);
        let first = next["start_line"].as_u64().expect("a number");
        for (number, line) in (first..).zip(shown.split_inclusive('\n')) {
            text += line.strip_prefix(&format!("{number}: ")).unwrap_or_else(|| panic!("no {number} at {line:?}"));
        }
        next = reply.fact("next").clone();
        replies.push(reply);
        assert!(replies.len() < 1000, "it never ends");
    }
    (text, replies)
}

#[test]
fn one_huge_line_is_cut_and_can_be_gone_on_with() {
    let text = "x".repeat(300_000);
    let mut desk = Desk::with("min.js", &text);
    let first = desk.read("min.js");
    assert!(first.texts()[0].len() < 270_000, "B055: {} bytes", first.texts()[0].len());
    says(first.texts()[1], &["Line 1", "cut", "line_offset"]);
    let (whole, replies) = follow(&mut desk, "min.js");
    assert!(whole == text, "B055: not the same text");
    assert!(replies.len() > 1, "B055");
    desk.call("read_file", json!({ "path": "min.js", "line_offset": 299_999 })).ok();
}

#[test]
fn a_long_file_is_read_page_by_page() {
    let text: String = (1..=5000).map(|n| format!("line {n}\r\n")).collect();
    let mut desk = Desk::with("long.txt", &text);
    let first = desk.read("long.txt");
    assert_eq!(first.fact("total_lines"), 5000, "B056: {first:?}");
    says(first.texts()[1], &["1-2000", "of 5000", "start_line 2001"]);
    let (whole, replies) = follow(&mut desk, "long.txt");
    assert!(whole == text, "B056: not the same text");
    assert_eq!(replies.len(), 3, "B056");
}

#[test]
fn a_page_is_bounded_by_bytes_too() {
    let text: String = (1..=1000).map(|n| format!("{n} {}\n", "x".repeat(1000))).collect();
    let mut desk = Desk::with("wide.txt", &text);
    let (whole, replies) = follow(&mut desk, "wide.txt");
    assert!(whole == text, "B056: not the same text");
    assert!(replies.iter().all(|reply| reply.texts()[0].len() < 270_000), "B055");
}

#[test]
fn a_cut_never_falls_into_a_character() {
    // Every offset of the cap inside a character of two, three and four bytes, and of a pair of them.
    for (case, unit) in [("B059", "é"), ("B059", "日"), ("B132", "🎉"), ("B059", "e\u{301}")] {
        for shift in 0..unit.len() {
            let text = "a".repeat(shift) + &unit.repeat(270_000 / unit.len());
            let mut desk = Desk::with("j.txt", &text);
            let (whole, _) = follow(&mut desk, "j.txt");
            assert!(whole == text, "{case}: {unit:?} shifted by {shift}");
        }
    }
}

#[test]
fn an_offset_inside_a_character_shows_no_half_of_it() {
    let mut desk = Desk::with("j.txt", "日本");
    for offset in 1..6 {
        let reply = desk.call("read_file", json!({ "path": "j.txt", "line_offset": offset }));
        assert!(!reply.texts().concat().contains('\u{fffd}'), "B059: {offset}: {reply:?}");
    }
}

#[test]
fn the_text_of_errors_is_cut_between_characters() {
    let before = format!("{}\n", "🎉日é".repeat(2000));
    let mut desk = Desk::with("f", &before);
    let reply = desk.patch("f", &format!("x{}", "🎉日é".repeat(1999)), "y");
    let message = reply.error("old_str_not_found");
    assert!(message.len() < 20_000 && !message.contains('\u{fffd}'), "B132: {} bytes", message.len());
    for length in 55..65 {
        let path: Value = format!("{}{}", "x".repeat(length), "🎉".repeat(100)).into();
        let reply = desk.call("read_file", json!({ "path": "f", "start_line": path }));
        assert!(!reply.error("invalid_arguments").contains('\u{fffd}'), "B132: {reply:?}");
    }
}

#[test]
fn a_number_of_lines_out_of_range_is_told_and_not_bent() {
    let mut desk = Desk::with("f", "a\nb\n");
    for (case, arguments) in [
        ("B128", json!({ "path": "f", "start_line": 0 })),
        ("B128", json!({ "path": "f", "start_line": -1 })),
        ("B128", json!({ "path": "f", "end_line": 0 })),
        ("B128", json!({ "path": "f", "start_line": 2, "end_line": 1 })),
        ("B128", json!({ "path": "f", "start_line": 1e30 })),
        ("B128", json!({ "path": "f", "line_offset": -1 })),
    ] {
        let reply = desk.call("read_file", arguments.clone());
        assert!(
            reply.error("invalid_arguments").contains("_line") || arguments.get("line_offset").is_some(),
            "{case}: {reply:?}"
        );
    }
    for depth in [json!(0), json!(-1), json!(65), json!(1_000_000_000)] {
        says(desk.call("list_dir", json!({ "depth": depth })).error("invalid_arguments"), &["depth"]);
    }
    assert_eq!(desk.call("read_file", json!({ "path": "f", "end_line": 1_000_000_000 })).ok(), "1: a\n2: b\n", "B128");
    says(&desk.call("read_file", json!({ "path": "f", "start_line": 1_000_000_000 })).ok(), &["past the end"]);
}

#[test]
fn an_offset_behind_the_end_of_its_line_is_no_blank_line() {
    for text in ["a日\nb\n", "a日\r\nb\r\n", "a日"] {
        let mut desk = Desk::with("f", text);
        for offset in [6, 7, 1_000_000_000] {
            let reply = desk.call("read_file", json!({ "path": "f", "line_offset": offset }));
            says(reply.error("invalid_arguments"), &["line_offset", "line 1"]);
        }
        let reply = desk.call("read_file", json!({ "path": "f", "line_offset": 1 }));
        assert!(reply.ok().starts_with("1: 日"), "B128: {reply:?}");
    }
}
