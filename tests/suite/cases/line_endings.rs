//! Line endings are the user's: an edit changes the bytes it names and no others.

use serde_json::json;

use super::kit::{Desk, patch, says};

#[test]
fn one_edit_leaves_every_other_line_ending() {
    patch("B001: the fault as it was met", "a\r\nb\r\nc\r\n", "b", "B").gives("a\r\nB\r\nc\r\n");
    patch("B001: mixed", "a\r\nb\nc\rd\r\n", "b", "B").gives("a\r\nB\nc\rd\r\n");
    patch("B001: doubled CR", "a\r\r\nb\r\r\n", "b", "B").gives("a\r\r\nB\r\r\n");
    patch("B001: LF in front of CR", "a\n\rb\n\r", "b", "B").gives("a\n\rB\n\r");
    patch("B001: only CR", "a\rb\rc\r", "b", "B").gives("a\rB\rc\r");
    patch("B001: CRLF, no last end", "a\r\nb", "b", "B").gives("a\r\nB");
    patch("B001: a whole CRLF line goes", "a\r\nb\r\nc\r\n", "b\r\n", "").gives("a\r\nc\r\n");
}

#[test]
fn old_str_as_it_was_shown_finds_a_crlf_file() {
    let crlf = "one\r\ntwo\r\nthree\r\n";
    let lf_in_old_str = patch("B003: the fault as it was met", crlf, "one\ntwo", "one\nTWO");
    lf_in_old_str.mcp_gives("one\r\nTWO\r\nthree\r\n");
    lf_in_old_str.oneshot_fails("old_str_not_found");

    patch("B003: CRLF as such", crlf, "one\r\ntwo", "one\r\nTWO").gives("one\r\nTWO\r\nthree\r\n");
    patch("B003: the line end alone", "one\r\n", "\n", "").mcp_gives("one");
    patch("B003: mixed in one span", "a\r\nb\nc\r\n", "a\nb\nc\n", "x\n").mcp_gives("x\r\n");
    patch("B003: CRLF does not find LF", "one\ntwo\n", "one\r\ntwo", "x").fails("old_str_not_found");
}

#[test]
fn what_was_read_can_be_patched_as_it_was_read() {
    let mut desk = Desk::with("w.txt", "one\r\ntwo\r\nthree\r\n");
    let shown = desk.read("w.txt").ok();
    let copied: Vec<_> = shown.lines().take(2).filter_map(|line| line.split_once(": ")).map(|(_, text)| text).collect();
    desk.patch("w.txt", &copied.join("\n"), "one\nTWO").ok();
    assert_eq!(desk.folder.text("w.txt"), "one\r\nTWO\r\nthree\r\n", "B003");
}

#[test]
fn new_lines_end_as_the_lines_they_replace() {
    for (case, before, old, new, after) in [
        ("B004: the fault as it was met", "a\r\nb\r\n", "a\n", "a\na2\n", "a\r\na2\r\nb\r\n"),
        ("B004: within a line", "a\r\nb\r\n", "a", "a\na2", "a\r\na2\r\nb\r\n"),
        ("B004: in a last line", "a\r\nb", "b", "b\nc", "a\r\nb\r\nc"),
        ("B004: many lines", "a\r\nb\r\n", "b\n", "1\n2\n3\n", "a\r\n1\r\n2\r\n3\r\n"),
        ("B004: an LF file stays one", "a\nb\n", "a\n", "a\na2\n", "a\na2\nb\n"),
        ("B004: no blank line comes in", "a\r\nb\r\n", "a\nb\n", "c\n", "c\r\n"),
        ("B004: CRLF in new_str is not doubled", "a\r\nb\r\n", "a\r\n", "a\r\na2\r\n", "a\r\na2\r\nb\r\n"),
        ("B004: the region counts, not the file", "a\r\nb\r\nc\nd\n", "c\n", "c\nc2\n", "a\r\nb\r\nc\nc2\nd\n"),
    ] {
        patch(case, before, old, new).mcp_gives(after);
    }
    // The one-shot protocol takes both texts as they are.
    patch("B004: exact", "a\r\nb\r\n", "a\r\n", "a\na2\r\n").oneshot_gives("a\na2\r\nb\r\n");
}

#[test]
fn each_of_many_matches_keeps_its_own_line_ending() {
    let mixed = "k\r\nv\r\nk\nv\n";
    let everywhere = patch("B006: the fault as it was met", mixed, "k\nv", "K\nV").everywhere();
    let reply = everywhere.mcp_gives("K\r\nV\r\nK\nV\n");
    assert_eq!(reply.fact("replaced"), 2, "B006: {reply:?}");
    everywhere.oneshot_gives("k\r\nv\r\nK\nV\n");

    let reply = patch("B006: both count as matches", mixed, "k\nv", "K").mcp_fails("ambiguous_match");
    assert_eq!(reply.details()["lines"], json!([1, 3]), "B006");
    patch("B006: CRLF means CRLF", mixed, "k\r\nv", "K").gives("K\r\nk\nv\n");
}

#[test]
fn a_file_is_written_with_the_line_endings_it_is_given() {
    let mut desk = Desk::with("w.txt", "a\r\nb\r\n");
    desk.read("w.txt").ok();
    desk.write("w.txt", "a\nb\r\nc\r").ok();
    assert_eq!(desk.folder.text("w.txt"), "a\nb\r\nc\r", "B001");
}

#[test]
fn a_miss_in_a_crlf_file_does_not_blame_the_line_endings() {
    let crlf = "the first line\r\nthe second line\r\nthe third line\r\n";
    let reply = patch("B003: other words", crlf, "the first line\nthe 2nd line", "x").mcp_fails("old_str_not_found");
    let message = reply.error("old_str_not_found");
    says(message, &["lines 1-2", "the words"]);
    assert!(!message.contains("CRLF"), "B003: {message}");
    let reply = patch("B003: in one-shot terms", "a\nb\n", "a\r\nb", "x").mcp_fails("old_str_not_found");
    says(reply.error("old_str_not_found"), &["CRLF"]);
}
