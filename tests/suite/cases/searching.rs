//! Finding and searching: what is found, what is left out, and that the answer says so.

use serde_json::{Value, json};

use super::kit::{Desk, Reply, cancelled, frame, meta, says};
use crate::suite::support::Temp;
use crate::suite::support::oneshot::{dispatch, document, done};

fn serving(files: &[(&str, &str)]) -> Desk {
    Desk::serving(Temp::with(files))
}

fn search(desk: &mut Desk, pattern: &str) -> Reply {
    desk.call("search_files", json!({ "pattern": pattern }))
}

/// What is found; where nothing is, there are only notes.
fn observation(reply: &Reply) -> String {
    Some(reply.texts()[0]).filter(|text| !text.starts_with('[')).unwrap_or_default().to_owned()
}

/// The first text of an answer to this search, which must succeed.
fn found(desk: &mut Desk, arguments: Value) -> String {
    let reply = desk.call("search_files", arguments);
    reply.ok();
    observation(&reply)
}

fn files(desk: &mut Desk, arguments: Value) -> String {
    let reply = desk.call("find_files", arguments);
    reply.ok();
    observation(&reply)
}

#[test]
fn a_line_has_the_same_number_wherever_it_is_told() {
    for (case, text, line, shown) in [
        ("B048: a form feed", "a\n\u{c}\nb\nT\n", 4, "T"),
        ("B050: a lone CR", "a\nb\rc\nT\n", 3, "T"),
        ("B048: a vertical tab", "a\u{b}b\nT\n", 2, "T"),
        ("B048: a Unicode line separator", "a\u{2028}b\u{85}c\nT", 2, "T"),
        ("B048: CRLF", "a\r\n\r\nT\r\nb", 3, "T"),
        ("B050: a lone CR on the line", "x\nb\rT\n", 2, "b\rT"),
    ] {
        let mut desk = Desk::with("f", text);
        assert_eq!(found(&mut desk, json!({ "pattern": "T" })), format!("f\n{line}: {shown}\n"), "{case}");
        let read = desk.call("read_file", json!({ "path": "f", "start_line": line, "end_line": line }));
        assert!(read.ok().starts_with(&format!("{line}: {shown}")), "{case}");
    }
}

#[test]
fn anchors_know_line_ends_and_byte_order_marks() {
    for (what, bytes) in [
        ("LF", &b"one two\nthree\n"[..]),
        ("CRLF", b"one two\r\nthree\r\n"),
        ("no last line end", b"one two\nthree"),
        ("UTF-8 with a mark", b"\xef\xbb\xbfone two\r\nthree"),
        ("UTF-16 LE", &utf16("one two\r\nthree", u16::to_le_bytes)),
        ("UTF-16 BE", &utf16("one two\nthree", u16::to_be_bytes)),
    ] {
        let mut desk = Desk::with("f", bytes);
        for (pattern, line) in [("^one", 1), ("two$", 1), ("^one two$", 1), ("^three$", 2), (r"one\stwo", 1)] {
            let text = if line == 1 { "one two" } else { "three" };
            let right = format!("f\n{line}: {text}\n");
            assert_eq!(found(&mut desk, json!({ "pattern": pattern })), right, "{what}: {pattern}");
        }
    }
}

/// With a byte order mark.
fn utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(bytes).collect()
}

#[test]
fn other_peoples_code_does_not_push_out_what_the_user_wrote() {
    let folder = Temp::with(&[("src/a.js", "mongo\n"), ("z.js", "mongo\n")]);
    folder.write("node_modules/m/big.js", "mongo\n".repeat(5000));
    for n in 0..600 {
        folder.write(&format!("node_modules/x/{n}.js"), "mongo\n");
    }
    let mut desk = Desk::serving(folder);
    let reply = search(&mut desk, "mongo");
    assert!(reply.texts()[0].starts_with("src/a.js\n1: mongo\n\nz.js\n1: mongo\n\nnode_modules/m/big.js\n"), "B057");
    assert!(reply.texts()[0].len() < 64 * 1024, "B057");
    says(&reply.ok(), &["5602 lines in 603 files", "only the first 200 lines are shown"]);
    let files = desk.call("find_files", json!({ "pattern": "*.js" }));
    assert!(files.texts()[0].starts_with("src/a.js\nz.js\nnode_modules/m/big.js\n"), "B057");
    says(&files.ok(), &["first 500 of 603 paths"]);
    // What is ignored is not even looked at.
    desk.folder.write(".gitignore", "node_modules\n");
    assert_eq!(search(&mut desk, "mongo").texts()[0], "src/a.js\n1: mongo\n\nz.js\n1: mongo\n", "B057");
}

#[test]
fn a_long_line_is_cut_around_the_match_between_characters() {
    let line = format!("{}T\u{1f389}{}\n", "\u{65e5}".repeat(200_000), "\u{672c}".repeat(200_000));
    let mut desk = Desk::with("f", &line);
    let reply = search(&mut desk, "T\u{1f389}");
    let shown = reply.texts()[0].strip_prefix("f\n1: \u{2026}").expect("B059: cut in front").trim_end();
    let shown = shown.strip_suffix('\u{2026}').expect("B059: cut behind");
    assert!(shown.len() < 500 && shown.contains("\u{65e5}T\u{1f389}\u{672c}"), "B059: {shown}");
    assert!(shown.chars().all(|c| "\u{65e5}\u{672c}T\u{1f389}".contains(c)), "B132: {shown}");
    says(&reply.ok(), &["are cut around the match"]);
    // The case itself: the cap falls inside a character.
    for n in 130..140 {
        desk.folder.write("f", "\u{65e5}".repeat(n));
        search(&mut desk, "\u{65e5}").ok();
    }
}

#[cfg(unix)]
#[test]
fn links_are_not_followed_in_circles_or_outside() {
    use std::os::unix::fs::symlink;
    let outside = Temp::with(&[("h", "needle\n")]);
    let folder = Temp::with(&[("a/f", "needle\n")]);
    symlink("..", folder.path().join("a/loop")).expect("a link");
    symlink(outside.path(), folder.path().join("l")).expect("a link");
    symlink("a", folder.path().join("in")).expect("a link");
    let mut desk = Desk::serving(folder);
    for include_ignored in [false, true] {
        let all = json!({ "pattern": "**", "include_ignored": include_ignored });
        assert_eq!(files(&mut desk, all), "a/f\na/loop\nin\nl\n", "B076");
        let all = json!({ "pattern": "needle", "include_ignored": include_ignored });
        assert_eq!(found(&mut desk, all), "a/f\n1: needle\n", "B076");
    }
    for path in ["l", "l/h"] {
        let reply = desk.call("search_files", json!({ "pattern": "needle", "path": path }));
        assert!(!reply.error("outside_workspace").contains("needle"), "B085: {path}: {reply:?}");
        desk.call("find_files", json!({ "pattern": "*", "path": path })).error("outside_workspace");
    }
    // A link that is named is followed where it stays inside.
    assert_eq!(found(&mut desk, json!({ "pattern": "needle", "path": "in" })), "in/f\n1: needle\n", "B085");
    assert_eq!(files(&mut desk, json!({ "pattern": "f", "path": "in" })), "in/f\n", "B085");
}

#[test]
fn ignore_files_say_what_git_says() {
    let mut desk = serving(&[(".gitignore", "*\n!*.*\n!*/\n"), ("src/m.c", "needle"), ("src/plain", "needle")]);
    assert_eq!(found(&mut desk, json!({ "pattern": "needle" })), "src/m.c\n1: needle\n", "B078");
    let mut desk = serving(&[
        (".gitignore", "*.log\n"),
        ("sub/.gitignore", "!keep.log\n"),
        ("sub/keep.log", "needle"),
        ("sub/other.log", "needle"),
    ]);
    assert_eq!(found(&mut desk, json!({ "pattern": "needle" })), "sub/keep.log\n1: needle\n", "B078");
    let mut desk = serving(&[(".gitignore", ".wireit/\n"), (".wireit/big", "needle"), ("a/.wireit/big", "needle")]);
    assert_eq!(files(&mut desk, json!({ "pattern": "**/big" })), "", "B083");
    let reply = search(&mut desk, "needle");
    says(&reply.ok(), &["No line matches in 0 files", "3 ignored or hidden entries", "include_ignored"]);
    let all = json!({ "pattern": "needle", "include_ignored": true, "output": "files" });
    assert_eq!(found(&mut desk, all), ".wireit/big\na/.wireit/big\n", "B083");
}

#[test]
fn the_flavour_of_a_pattern_is_never_silent() {
    let mut desk = serving(&[("a.txt", "html(json.data)\nbar\n")]);
    let reply = search(&mut desk, "html(json.data)");
    says(&reply.ok(), &["No line matches", "1 line holds it as plain text", "literal"]);
    let literal = json!({ "pattern": "html(json.data)", "literal": true });
    assert_eq!(found(&mut desk, literal), "a.txt\n1: html(json.data)\n", "B080");
    assert_eq!(found(&mut desk, json!({ "pattern": "html|bar", "output": "count" })), "2 a.txt\n", "B080");
    for (pattern, place) in
        [("(", "character 1"), ("a[b", "character 2"), ("(?=x)", "look-around"), ("a\\1", "backref")]
    {
        says(search(&mut desk, pattern).error("invalid_arguments"), &["pattern", place, "literal"]);
    }
    says(search(&mut desk, "bar\nhtml").error("invalid_arguments"), &["line break", "context_lines"]);
    says(search(&mut desk, "").error("invalid_arguments"), &["pattern"]);
}

#[test]
fn no_pattern_explodes() {
    let mut desk = serving(&[("a.txt", &format!("{}!", "a".repeat(100_000)))]);
    says(&search(&mut desk, "(a+)+$").ok(), &["No line matches in 1 file"]);
    says(&search(&mut desk, "(a|aa)+!").ok(), &["1 line in 1 file"]);
    for pattern in ["a".repeat(1 << 20), "((a{1000}){1000}){1000}".to_owned(), format!("{}a", "(".repeat(10_000))] {
        assert!(search(&mut desk, &pattern).error("invalid_arguments").len() < 1000, "B082: {}", pattern.len());
    }
}

#[test]
fn a_limit_is_taken_or_refused_and_what_is_missing_is_told() {
    let mut desk = Desk::with("f", "x\n".repeat(300));
    for limit in [json!(0), json!(-1), json!(1_000_000_000), json!(2.5)] {
        for tool in ["search_files", "find_files"] {
            let reply = desk.call(tool, json!({ "pattern": "x", "limit": limit }));
            says(reply.error("invalid_arguments"), &["limit"]);
        }
    }
    for (limit, shown) in [(1, 1), (250, 250), (300, 300), (10_000, 300)] {
        let reply = desk.call("search_files", json!({ "pattern": "x", "limit": limit }));
        assert_eq!(reply.texts()[0].lines().count(), shown + 1, "B128: {limit}");
        let note = if shown < 300 { format!("only the first {shown} line") } else { "300 lines in 1 file".to_owned() };
        says(&reply.ok(), &[&note]);
    }
}

#[test]
fn globs_choose_and_output_says_how_much() {
    let mut desk = serving(&[
        ("a.ts", "x\nx\n"),
        ("a.tsx", "x\n"),
        ("b.js", "x\n"),
        ("lib/a.ts", "x\n"),
        ("lib/t/b.ts", "X\n"),
        ("no.ts", "y\n"),
    ]);
    for (arguments, right) in [
        (json!({ "pattern": "x", "glob": "*.ts", "output": "files" }), "a.ts\nlib/a.ts\n"),
        (json!({ "pattern": "x", "glob": "*.{ts,tsx}", "output": "count" }), "2 a.ts\n1 a.tsx\n1 lib/a.ts\n"),
        (json!({ "pattern": "x", "glob": "!lib/", "output": "files" }), "a.ts\na.tsx\nb.js\n"),
        (json!({ "pattern": "x", "glob": "!*.ts", "output": "files" }), "a.tsx\nb.js\n"),
        (json!({ "pattern": "x", "glob": "t/*", "path": "lib", "ignore_case": true }), "lib/t/b.ts\n1: X\n"),
        (json!({ "pattern": "x", "path": "b.js" }), "b.js\n1: x\n"),
        (json!({ "pattern": "x", "path": "b.js", "glob": "*.ts" }), ""),
    ] {
        assert_eq!(found(&mut desk, arguments.clone()), right, "{arguments}");
    }
    for (pattern, right) in [
        ("*.ts", "a.ts\nlib/a.ts\nlib/t/b.ts\nno.ts\n"),
        ("/*.ts", "a.ts\nno.ts\n"),
        ("lib/", "lib/\n"),
        ("lib/**", "lib/a.ts\nlib/t/b.ts\n"),
        ("!*.ts", "a.tsx\nb.js\n"),
        ("none*", ""),
    ] {
        assert_eq!(files(&mut desk, json!({ "pattern": pattern })), right, "{pattern}");
    }
    for pattern in ["", "../*", "[a", "{a"] {
        desk.call("find_files", json!({ "pattern": pattern })).error("invalid_arguments");
    }
    desk.call("find_files", json!({ "pattern": "*", "path": "none" })).error("file_not_found");
    says(
        desk.call("search_files", json!({ "pattern": "x", "path": "a.tss" })).error("file_not_found"),
        &["Did you mean a.ts"],
    );
}

#[test]
fn context_stands_beside_its_match_and_gaps_show() {
    let text: String = (1..=12).map(|n| format!("line {n}\n")).collect();
    let mut desk = Desk::with("f", &text);
    let near = json!({ "pattern": "line (2|4|9)$", "context_lines": 1 });
    let right = "f\n1- line 1\n2: line 2\n3- line 3\n4: line 4\n5- line 5\n--\n8- line 8\n9: line 9\n10- line 10\n";
    assert_eq!(found(&mut desk, near), right);
    let first = json!({ "pattern": "line (2|4|9)$", "context_lines": 1, "limit": 1 });
    assert_eq!(found(&mut desk, first), "f\n1- line 1\n2: line 2\n3- line 3\n");
}

#[test]
fn binary_files_are_counted_and_odd_bytes_show() {
    let folder = Temp::new();
    folder.write("early", b"needle\0\nneedle\n");
    folder.write("late", [b"needle\n".repeat(100_000), b"\0".to_vec()].concat());
    folder.write("latin1", b"na\xefve needle\n");
    folder.write("good", "needle\n");
    let mut desk = Desk::serving(folder);
    let reply = search(&mut desk, "needle");
    assert_eq!(reply.texts()[0], "good\n1: needle\n\nlatin1\n1: na\\xefve needle\n");
    says(&reply.ok(), &["2 binary files", "2 lines in 2 files"]);
}

#[test]
fn a_line_too_long_to_hold_is_told() {
    let folder = Temp::with(&[("small", "needle\n")]);
    folder.write("long", [b"needle\n".to_vec(), b"x".repeat(40 << 20), b"needle".to_vec()].concat());
    let mut desk = Desk::serving(folder);
    let reply = search(&mut desk, "needle");
    assert_eq!(reply.texts()[0], "long\n1: needle\n\nsmall\n1: needle\n");
    says(&reply.ok(), &["1 file was searched only up to a line of more than 16 MiB"]);
}

#[test]
fn what_a_search_shows_does_not_count_as_seen() {
    let mut desk = Desk::with("f", "all of it\n");
    assert_eq!(search(&mut desk, "all").texts()[0], "f\n1: all of it\n");
    desk.write("f", "new\n").error("read_required");
    desk.patch("f", "all of it", "new").ok();
}

#[test]
fn a_long_search_tells_how_far_it_is_and_ends_when_taken_back() {
    let folder = Temp::with(&[("small", "line\n")]);
    folder.write("long", "line\n".repeat(26 << 20));
    let mut desk = Desk::serving(folder);
    // A search may always be done before it is taken back, so this is tried a few times.
    let taken_back = (0..10).any(|n| {
        let id = format!("search {n}");
        let mut call = frame(json!(id), "search_files", json!({ "pattern": "[a-w]z+q", "path": "long" }));
        call["params"]["_meta"] = meta();
        call["params"]["_meta"]["progressToken"] = json!(id);
        desk.server.send(&call);
        let news = desk.server.recv();
        assert_eq!(news["params"]["progressToken"], *id, "B149: {news}");
        desk.server.send(&cancelled(json!({ "requestId": id })));
        desk.server.send(&frame(json!("next"), "search_files", json!({ "pattern": "line", "path": "small" })));
        let mut answered = false;
        loop {
            let message = desk.server.recv();
            answered |= message["id"] == *id;
            if message["id"] == "next" {
                assert_eq!(message["result"]["content"][0]["text"], "small\n1: line\n", "B149: the next call");
                return !answered;
            }
        }
    });
    assert!(taken_back, "B149: never taken back");
}

#[test]
fn the_one_shot_door_finds_and_searches_every_byte() {
    let workspace = r#"{".gitignore":"*.log\n","a.log":"x","b/c.txt":"x\u0000y\nz\r\n","z.txt":"\ufeffx"}"#;
    for (tool, arguments, right) in [
        ("find_files", r#"{"pattern":"*"}"#, "b/c.txt\nz.txt\n"),
        ("find_files", r#"{"pattern":"*","include_ignored":true}"#, ".gitignore\na.log\nb/c.txt\nz.txt\n"),
        ("find_files", r#"{"pattern":"b/"}"#, "b/\n"),
        ("search_files", r#"{"pattern":"x"}"#, "b/c.txt\n1: x\0y\n\nz.txt\n1: \u{feff}x\n"),
        ("search_files", r#"{"pattern":"z\\r"}"#, "b/c.txt\n2: z\r\n"),
        ("search_files", r#"{"pattern":"x","output":"count","path":"b"}"#, "1 b/c.txt\n"),
        ("search_files", r#"{"pattern":"none"}"#, ""),
    ] {
        let ran = dispatch(document(workspace, tool, arguments));
        let answer: Value = serde_json::from_str(ran.answer(arguments)).expect("JSON");
        let whole: Value = serde_json::from_str(&done(tool, right, workspace)).expect("JSON");
        assert_eq!(answer, whole, "{tool} {arguments}");
    }
}
