//! What a rule keeps from being read is not found or searched either, whatever folder the call names.

use serde_json::{Value, json};

use super::kit::guarded;
use crate::suite::cases::kit::{Desk, says};

const FILES: [(&str, &str); 4] = [
    ("a.txt", "needle\n"),
    ("secrets/k.txt", "needle in secrets\n"),
    ("sub/secrets/k.txt", "needle\n"),
    ("b.env", "needle\n"),
];

/// What a search for `needle` in `path` shows, and what a find of all files does; and how many files each says it holds back.
fn shown(desk: &mut Desk, path: &str) -> (Vec<String>, Vec<String>, Value) {
    let searched = desk.call("search_files", json!({ "pattern": "needle", "output": "files", "path": path }));
    let found = desk.call("find_files", json!({ "pattern": "*", "path": path }));
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    searched.ok();
    found.ok();
    let held = json!([held(&searched.texts().concat()), held(&found.texts().concat())]);
    (lines(searched.texts()[0]), lines(found.texts()[0]), held)
}

fn held(text: &str) -> u64 {
    let line = text.split('[').find(|line| line.contains("a rule keeps from being read"));
    line.and_then(|line| line.split_ascii_whitespace().nth(2)?.parse().ok()).unwrap_or(0)
}

#[test]
fn what_may_not_be_read_is_not_shown() {
    let all = ["a.txt", "b.env", "secrets/k.txt", "sub/secrets/k.txt"];
    for (rules, visible) in [
        ("", &all[..]),
        ("[[rule]]\ndecision = \"deny\"\npaths = [\"secrets/**\"]\n", &["a.txt", "b.env", "sub/secrets/k.txt"]),
        ("[[rule]]\ndecision = \"deny\"\npaths = [\"secrets\", \"*.env\"]\n", &["a.txt"]),
        // A rule about reading holds for whoever shows what would be read.
        (
            "[[rule]]\ndecision = \"deny\"\ntools = [\"read_file\"]\npaths = [\"*.env\"]\n",
            &["a.txt", "secrets/k.txt", "sub/secrets/k.txt"],
        ),
        // A question that was not put is not answered.
        ("[[rule]]\ndecision = \"ask\"\npaths = [\"secrets\"]\n", &["a.txt", "b.env"]),
        // Folders may be named, files in them only where a rule allows them.
        (
            "otherwise = \"deny\"\n[[rule]]\ndecision = \"allow\"\npaths = [\"*.txt\"]\n[[rule]]\ndecision = \"allow\"\ntools = [\"find_files\", \"search_files\"]\npaths = [\"*\", \"!*.env\"]\n",
            &["a.txt", "secrets/k.txt", "sub/secrets/k.txt"],
        ),
        // Rules about changes alone keep nothing from being read.
        ("[[rule]]\ndecision = \"deny\"\ntools = [\"write_file\"]\npaths = [\"**\"]\n", &all),
    ] {
        let (mut desk, _home) = guarded(&FILES, rules);
        let hidden = all.len() - visible.len();
        let right = (visible.to_vec(), visible.to_vec(), json!([hidden, hidden]));
        let (searched, found, held) = shown(&mut desk, ".");
        let told = (searched.iter().map(String::as_str).collect(), found.iter().map(String::as_str).collect(), held);
        assert_eq!(told, right, "{rules}");
    }
}

#[test]
fn no_line_of_a_denied_file_gets_out() {
    let (mut desk, _home) = guarded(&FILES, "[[rule]]\ndecision = \"deny\"\npaths = [\"secrets\"]\n");
    #[cfg(unix)]
    std::os::unix::fs::symlink("secrets", desk.folder.path().join("l")).expect("a link");
    for arguments in [
        json!({ "pattern": "needle", "context_lines": 5 }),
        json!({ "pattern": "needle.in", "literal": true }),
        json!({ "pattern": "needle in" }),
        json!({ "pattern": "in secrets", "include_ignored": true }),
        json!({ "pattern": "needle(in)?", "output": "count" }),
    ] {
        let reply = desk.call("search_files", arguments.clone());
        assert!(!reply.ok().contains("in secrets\n") && !reply.ok().contains("secrets/k"), "{arguments}: {reply:?}");
    }
    for path in ["secrets", "secrets/k.txt", "l", "l/k.txt"] {
        if cfg!(unix) || !path.starts_with('l') {
            let reply = desk.call("search_files", json!({ "pattern": "needle", "path": path }));
            says(reply.error("denied"), &["rule"]);
        }
    }
}
