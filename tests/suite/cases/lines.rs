//! A line ends at `\n`, in every tool and every message.

use serde_json::json;

use super::kit::{Desk, patch, says};

#[test]
fn one_rule_says_what_a_line_is() {
    for (case, text, number) in [
        ("B048: a form feed", "a\n\u{c}\nb\nT\n", 4),
        ("B048: a vertical tab", "a\u{b}b\nT\n", 2),
        ("B048: NEL and the Unicode separators", "a\u{85}b\u{2028}c\u{2029}d\nT\n", 2),
        ("B048: the information separators", "a\u{1c}b\u{1d}c\u{1e}d\nT\n", 2),
        ("B050: a lone CR", "a\nb\rc\nT\n", 3),
        ("B050: a lone CR before CRLF", "a\r\r\nT\r\n", 2),
        ("B048: CRLF", "a\r\nb\r\nT\r\n", 3),
    ] {
        let mut desk = Desk::with("f", text);
        let shown = desk.call("read_file", json!({ "path": "f", "start_line": number, "end_line": number })).ok();
        assert!(shown.starts_with(&format!("{number}: T")), "{case}: {shown:?}");
        // Another tool counts alike.
        let reply = desk.call("patch_file", json!({ "path": "f", "old_str": "T", "new_str": "t" }));
        assert_eq!(reply.fact("lines"), &json!([number]), "{case}: {reply:?}");
    }
    let reply = patch("B048: errors too", "a\u{c}T\rT\nT\n", "T", "t").fails("ambiguous_match");
    assert_eq!(reply.details()["lines"], json!([1, 2]), "B048, B050");
}

#[test]
fn there_is_no_line_behind_the_last_line_end() {
    for (case, text, lines) in [
        ("B051: two lines", "a\nb\n", 2),
        ("B051: no last end", "a\nb", 2),
        ("B051: a blank last line", "a\n\n", 2),
        ("B051: one blank line", "\n", 1),
    ] {
        let mut desk = Desk::with("n", text);
        assert_eq!(desk.read("n").fact("total_lines"), lines, "{case}");
        let behind = desk.call("read_file", json!({ "path": "n", "start_line": lines + 1 }));
        says(&behind.ok(), &["past the end", &format!("{lines} line")]);
    }
    let mut desk = Desk::with("e", "");
    let reply = desk.read("e");
    says(&reply.ok(), &["empty", "0 lines"]);
    assert_eq!(reply.fact("total_lines"), 0, "B051");
}

#[test]
fn a_file_of_only_a_byte_order_mark_is_empty() {
    let mut desk = Desk::with("e", "\u{feff}");
    says(&desk.read("e").ok(), &["empty", "0 lines"]);
}

#[test]
fn the_numbers_are_for_the_model_and_the_content_is_for_programs() {
    let text = "1: a\n\tb\r\n\nc";
    let folder = crate::suite::support::Temp::with(&[("t.md", text)]);
    let server = crate::suite::support::Server::start_with(folder.path(), &["--structured"]);
    let mut desk = Desk { folder, server };
    let reply = desk.read("t.md");
    let content = reply.0["structuredContent"]["content"].as_str().expect("the content").to_owned();
    desk.write("t2.md", &content).ok();
    assert_eq!(desk.folder.text("t2.md"), text, "B052");
}

#[test]
fn a_note_on_what_is_missing_is_no_part_of_the_text() {
    let text: String = (1..=60).map(|n| format!("line {n}\n")).collect();
    let mut desk = Desk::with("f", &text);
    let reply = desk.call("read_file", json!({ "path": "f", "end_line": 20 }));
    let texts = reply.texts();
    assert!(texts[0].ends_with("20: line 20\n"), "B054: {texts:?}");
    assert_eq!(reply.fact("total_lines"), 60, "B054: {reply:?}");
}
