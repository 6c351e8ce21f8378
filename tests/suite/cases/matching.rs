//! Matching is exact, counted honestly, and old_str and new_str are literal.

use serde_json::json;

use super::kit::{Desk, patch, says};

#[test]
fn text_is_stored_as_it_was_sent() {
    for (case, content) in [
        ("B016: curly quotes stay curly", "d\u{2019}abord \u{201c}x\u{201d}\n"),
        ("B017: straight quotes stay straight", "/[\"']/\n"),
        ("B016: dashes, dots, no-break spaces", "a\u{2013}b\u{2014}c\u{2026}\u{a0}d\u{200b}e\n"),
        ("B016: entities and escapes", "&lt;b&gt; \\n \\u0041 %41\n"),
        ("B019: both normal forms", "caf\u{e9} cafe\u{301} \u{212b} \u{fb01}\n"),
        ("B019: right-to-left marks", "\u{202e}abc\u{202c} شكرا\n"),
    ] {
        let mut desk = Desk::with("other", "");
        desk.write("q.md", content).ok();
        assert_eq!(desk.folder.text("q.md"), content, "{case}");
        patch(case, "R\n", "R", content.trim_end()).gives(content);
        patch(case, content, content, "x").gives("x");
    }
}

#[test]
fn look_alikes_are_not_taken_for_each_other_but_told() {
    for (case, before, old, hint) in [
        ("B019: composed for decomposed", "cafe\u{301}\nشكرا\n", "caf\u{e9}", "Unicode form"),
        ("B016: straight for curly", "say \u{201c}x\u{201d}\n", "say \"x\"", "quotes"),
        ("B017: curly for straight", "say \"x\"\n", "say \u{201c}x\u{201d}", "quotes"),
        ("B019: no-break for plain space", "a\u{a0}b\n", "a b", "spaces"),
    ] {
        let reply = patch(case, before, old, "tea").fails("old_str_not_found");
        says(reply.error("old_str_not_found"), &[hint, "line 1"]);
    }
}

#[test]
fn new_str_is_no_template() {
    for (case, before, old, new, after) in [
        ("B024: the rest of the file", "m: A\nn: 1\n", "A", "'^[sv]d[a-z]$'", "m: '^[sv]d[a-z]$'\nn: 1\n"),
        ("B025: a doubled dollar", "a = 1;\n", "a = 1", "a = $$('p')", "a = $$('p');\n"),
        ("B024: every sort of reference", "a\n", "a", "$& $` $' $1 ${x} $<n> $$", "$& $` $' $1 ${x} $<n> $$\n"),
        ("B024: sed and printf", "a\n", "a", r"& \1 \n \\ %s %% {} {0}", "& \\1 \\n \\\\ %s %% {} {0}\n"),
        ("B024: old_str is no pattern", "a.b\naxb\n", "a.b", "X", "X\naxb\n"),
        ("B024: old_str may hold anything", "([{.*+?^$|\\}])\n", "([{.*+?^$|\\}])", "", "\n"),
    ] {
        patch(case, before, old, new).gives(after);
        patch(case, before, old, new).everywhere().gives(after);
    }
}

#[test]
fn no_match_is_no_success() {
    for everywhere in [false, true] {
        let edit = patch("B028", "x\n", "zzz", "y");
        let edit = if everywhere { edit.everywhere() } else { edit };
        says(edit.fails("old_str_not_found").error("old_str_not_found"), &["file.txt", "Nothing was changed"]);
    }
    patch("B028: an empty file has no text", "", "a", "b").fails("old_str_not_found");
    let reply = patch("B028: nor are all matches taken unasked", "x\nx\n", "x", "y").fails("ambiguous_match");
    says(reply.error("ambiguous_match"), &["2 times", "lines 1, 2", "Nothing was changed"]);
}

#[test]
fn overlapping_matches_are_counted() {
    let three = "x = 1\nx = 1\nx = 1\n";
    let reply = patch("B029: the fault as it was met", three, "x = 1\nx = 1", "y").fails("ambiguous_match");
    assert_eq!(reply.details()["lines"], json!([1, 2]), "B029");
    assert_eq!(reply.details()["matches"], 2, "B029");
    patch("B029: letters", "ananas", "ana", "x").fails("ambiguous_match");
    patch("B029: all of them, left to right, none twice", "aaaaa", "aa", "b").everywhere().gives("bba");
    let reply = patch("B029: and told", "aaaaa", "aa", "b").everywhere().mcp_gives("bba");
    says(&reply.ok(), &["2 places were replaced, all on line 1.", "2 more matches are left, overlapping"]);
    let lines = patch("B029: lines", three, "x = 1\nx = 1", "y").everywhere();
    lines.gives("y\nx = 1\n");
    says(&lines.mcp_gives("y\nx = 1\n").ok(), &["1 more match is left, overlapping"]);
    let mut desk = Desk::with("f", "aaa b aaaaa");
    let patches = json!([
        { "path": "f", "old_str": "aa", "new_str": "x", "replace_all": true },
        { "path": "f", "old_str": "b", "new_str": "y" },
    ]);
    says(&desk.call("patch_files", json!({ "patches": patches })).ok(), &["3 more matches are left, overlapping"]);
    assert_eq!(desk.folder.text("f"), "xa y xxa", "B029");
    let reply =
        patch("B029: bridged line ends overlap too", "a\r\na\r\na\r\n", "a\na", "b").mcp_fails("ambiguous_match");
    assert_eq!(reply.details()["lines"], json!([1, 2]), "B029");
}

#[test]
fn an_ambiguous_match_names_the_lines_that_were_not_shown() {
    let text: String =
        (1..=3000).map(|n| if n == 10 || n == 2900 { "K\n".to_owned() } else { format!("{n}\n") }).collect();
    let mut desk = Desk::with("long.txt", &text);
    desk.call("read_file", json!({ "path": "long.txt", "start_line": 1, "end_line": 2000 })).ok();
    let reply = desk.patch("long.txt", "K\n", "X\n");
    says(reply.error("ambiguous_match"), &["10, 2900"]);
    assert_eq!(reply.details()["lines"], json!([10, 2900]), "B031");
    assert_eq!(desk.folder.text("long.txt"), text, "B031");
}

#[test]
fn lines_that_were_not_counted_are_not_numbered() {
    let text = "K\n".repeat(5000);
    let reply = patch("B031: many", &text, "K", "X").fails("ambiguous_match");
    says(reply.error("ambiguous_match"), &["5000 times", "on lines 1, 2, 3,", "19, 20 and more. Nothing"]);
    assert_eq!(reply.details()["lines"].as_array().map(Vec::len), Some(1000), "B031");
    let reply = patch("B031: some", "K\n".repeat(25).as_str(), "K", "X").fails("ambiguous_match");
    says(reply.error("ambiguous_match"), &["25 times", "19, 20 and 5 more. Nothing"]);
    let reply = patch("B031: one line", "a\nK K\n", "K", "X").fails("ambiguous_match");
    says(reply.error("ambiguous_match"), &["2 times", "on line 2. Nothing"]);
}

#[test]
fn an_edit_that_changes_nothing_is_no_success() {
    for (case, before, old) in [("B034", "x", "x"), ("B034: nor where old_str is not there", "x", "y")] {
        let reply = patch(case, before, old, old).fails("invalid_arguments");
        says(reply.error("invalid_arguments"), &["new_str", "same"]);
    }
}

#[cfg(unix)]
#[test]
fn an_edit_that_changes_nothing_leaves_the_time_stamp_and_the_file() {
    use std::os::unix::fs::MetadataExt;
    let mut desk = Desk::with("a", "x\r\n");
    let stamp = |desk: &Desk| {
        let metadata = std::fs::metadata(desk.folder.path().join("a")).expect("the file");
        (metadata.ino(), metadata.mtime(), metadata.mtime_nsec(), metadata.ctime(), metadata.ctime_nsec())
    };
    let before = stamp(&desk);
    desk.patch("a", "x", "x").error("invalid_arguments");
    desk.patch("a", "z", "y").error("old_str_not_found");
    desk.patch("a", "x\n", "x\r\n").error("invalid_arguments");
    desk.call("patch_file", json!({ "path": "a", "old_str": "x", "new_str": "y", "dry_run": true })).ok();
    desk.read("a").ok();
    desk.write("a", "x\r\n").ok();
    assert_eq!(stamp(&desk), before, "B034");
}

#[test]
fn anchors_are_not_enough() {
    for (case, before, old) in [
        ("B036: the middle differs", "f() {\n  a();\n  b();\n}\n", "f() {\n  z();\n}"),
        ("B036: a line is left out", "f() {\n  a();\n  b();\n}\n", "f() {\n  a();\n}"),
        ("B036: indentation", "  a\n    b\n", "a\n  b"),
        ("B036: tabs for spaces", "\tx\n", "    x"),
        ("B036: case", "Alpha\n", "alpha"),
        ("B036: a trailing blank", "a \nb\n", "a\nb"),
        ("B036: the shown line numbers", "alpha\nbeta\n", "1: alpha\n2: beta"),
        ("B036: an extra line end", "alpha\nbeta", "beta\n"),
    ] {
        let reply = patch(case, before, old, "f() {}").fails("old_str_not_found");
        says(reply.error("old_str_not_found"), &["nearest place"]);
        assert!(reply.details()["nearest"]["first_line"].is_u64(), "{case}: {reply:?}");
    }
}

#[test]
fn an_ellipsis_stands_for_nothing() {
    for old in ["f() {\n  ...\n}", "f() {\n  // ... existing code ...\n}", "f() {\n  \u{2026}\n}"] {
        patch("B036", "f() {\n  a();\n  b();\n}\n", old, "f() {}").fails("old_str_not_found");
    }
}

#[test]
fn stale_text_is_not_bent_onto_a_nearby_place() {
    let mut desk = Desk::with("a", "h1\nx\nh2\ny\n");
    desk.patch("a", "h1\nx", "H1").ok();
    desk.patch("a", "h1\nx\nh2", "Z").error("old_str_not_found");
    assert_eq!(desk.folder.text("a"), "H1\nh2\ny\n", "B037");
}

#[test]
fn an_empty_old_str_means_nothing() {
    for (case, before) in [("B045, B046", "abc"), ("B046: an empty file", ""), ("B046: one line end", "\n")] {
        let reply = patch(case, before, "", "X").fails("invalid_arguments");
        says(reply.error("invalid_arguments"), &["old_str"]);
        patch(case, before, "", "X").everywhere().fails("invalid_arguments");
    }
    let mut desk = Desk::with("a", "abc");
    desk.patch("missing", "", "X").error("invalid_arguments");
    assert_eq!(desk.files().into_keys().collect::<Vec<_>>(), ["a"], "B046: no file is made");
}
