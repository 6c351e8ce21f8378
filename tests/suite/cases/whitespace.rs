//! Blanks, final line ends and empty files are content.

use serde_json::json;

use super::kit::{Desk, patch};

#[test]
fn the_line_number_can_be_told_from_the_line() {
    for (case, text, shown) in [
        ("B040: tabs", "\t\tx\n", "1: \t\tx\n"),
        ("B040: spaces", "  x\n", "1:   x\n"),
        ("B040: a line that looks numbered", "7: x\n", "1: 7: x\n"),
        ("B040: a blank line", " \n\n", "1:  \n2: \n"),
    ] {
        let mut desk = Desk::with("t", text);
        assert_eq!(desk.read("t").ok(), shown, "{case}");
        let stripped: String =
            shown.split_inclusive('\n').filter_map(|line| line.split_once(": ")).map(|(_, line)| line).collect();
        assert_eq!(stripped, text, "{case}: what stands behind the first `: ` is the line");
    }
}

#[test]
fn every_number_has_its_line_also_where_numbers_grow() {
    let text: String = (1..=1200).map(|n| format!("\tline {n}\n")).collect();
    let mut desk = Desk::with("t", &text);
    let shown = desk.read("t").ok();
    for (at, line) in shown.lines().enumerate() {
        assert_eq!(line, format!("{n}: \tline {n}", n = at + 1), "B040");
    }
}

#[test]
fn blanks_are_content() {
    let mut desk = Desk::with("other", "");
    desk.write("t.md", "a  \nb\t\n").ok();
    desk.patch("t.md", "b\t", "B\t").ok();
    assert_eq!(desk.folder.text("t.md"), "a  \nB\t\n", "B041");
    patch("B041: hard breaks elsewhere", "a  \nb\nc \t\n", "b", "B  ").gives("a  \nB  \nc \t\n");
    patch("B041: blanks around old_str", "x  y\n", "  ", " ").gives("x y\n");
    patch("B041: blanks at the ends of new_str", "x\n", "x", " \tx \t").gives(" \tx \t\n");
}

#[test]
fn an_edit_leaves_the_end_of_the_file() {
    for (case, before, old, new, after) in [
        ("B043: the fault as it was met", "alpha\nbeta\n\n", "beta", "B", "alpha\nB\n\n"),
        ("B043: many blank lines", "a\n\n\n\n", "a", "b", "b\n\n\n\n"),
        ("B043: CRLF", "a\r\n\r\n", "a", "b", "b\r\n\r\n"),
        ("B043: none stays none", "a\nb", "b", "c", "a\nc"),
        ("B043: taken away where that is asked", "a\n", "a\n", "a", "a"),
        ("B043: added where that is asked", "a", "a", "a\n", "a\n"),
        ("B043: only blank lines", "\n\n", "\n\n", "\n", "\n"),
    ] {
        patch(case, before, old, new).gives(after);
    }
}

#[test]
fn an_edit_can_be_made_again_and_again() {
    let mut desk = Desk::with("f", "a\r\n\r\n");
    for _ in 0..3 {
        desk.patch("f", "a", "b").ok();
        desk.patch("f", "b", "a").ok();
    }
    assert_eq!(desk.folder.text("f"), "a\r\n\r\n", "B043: nothing is eaten");
}

#[test]
fn a_file_ends_as_it_was_written() {
    for content in ["a\n\n\n", "b", "", "\n", " ", "a\n ", "a\r\n\r\n"] {
        let mut desk = Desk::with("other", "");
        desk.write("f", content).ok();
        assert_eq!(desk.folder.text("f"), content, "B044");
        desk.write("f", &format!("x{content}")).ok();
        assert_eq!(desk.folder.text("f"), format!("x{content}"), "B044: replaced");
    }
}

#[test]
fn blanks_in_paths_are_part_of_the_name() {
    let mut desk = Desk::with("a", "1");
    desk.call("write_file", json!({ "path": " a b ", "content": "2" })).ok();
    assert_eq!((desk.folder.text("a"), desk.folder.text(" a b ")), ("1".into(), "2".into()), "B041");
}
