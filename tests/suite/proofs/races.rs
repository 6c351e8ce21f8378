//! Many changes of one file at once, from two servers and from a program that knows of neither. A few rounds by
//! default, 100 with `TOOLGATE_LONG=1`.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::json;

use super::kit::{End, Site, answers, post, rounds};
use crate::suite::cases::kit::Reply;
use crate::suite::support::Server;

/// Two servers, 20 calls at once on each.
const LINES: usize = 40;

/// A file whose every line is patched by a call of its own.
fn page(title: &str) -> String {
    let lines: String = (0..LINES).map(|line| format!("line {line} is old\n")).collect();
    format!("{title}\n{lines}")
}

/// Sends one patch for each line, in turn to each server under one of `paths`, and returns whether each was done.
fn patch_every_line(servers: &mut [Server; 2], paths: [&str; 2]) -> Vec<bool> {
    for line in 0..LINES {
        let (old, new) = (format!("line {line} is old"), format!("line {line} is new"));
        let arguments = json!({ "path": paths[line % 2], "old_str": old, "new_str": new });
        post(&mut servers[line % 2], line, "patch_file", arguments);
    }
    let mut told = answers(&mut servers[0], LINES / 2);
    told.extend(answers(&mut servers[1], LINES / 2));
    told.values().for_each(|reply| assert!(reply.is_done() || is_fair(reply), "{}", reply.0));
    told.values().map(Reply::is_done).collect()
}

/// Whether a refusal says that the file was changed meanwhile, or is not what the call takes it for.
fn is_fair(reply: &Reply) -> bool {
    matches!(reply.code(), "stale_version" | "old_str_not_found") || reply.texts().concat().contains("keeps changing")
}

fn is_new(text: &str, line: usize) -> bool {
    text.lines().any(|found| found == format!("line {line} is new"))
}

/// Asserts that exactly the lines that were told as done are there, each other one as it was.
#[track_caller]
fn all_told_are_there(text: &str, done: &[bool], context: &str) {
    let lines: String = done
        .iter()
        .enumerate()
        .map(|(line, done)| format!("line {line} is {}\n", if *done { "new" } else { "old" }))
        .collect();
    assert_eq!(text, format!("title\n{lines}"), "{context}");
}

#[test]
fn no_patch_that_was_told_as_done_is_lost_to_another_server() {
    let site = Site::new();
    let mut servers = [site.serve(), site.serve()];
    for round in 0..rounds(6, 100) {
        let path = format!("page {round}");
        site.folder.write(&path, page("title"));
        let done = patch_every_line(&mut servers, [&path, &path]);
        all_told_are_there(&site.folder.text(&path), &done, &path);
        assert_eq!(site.history().ends(&path), 1, "each change rests on the one before");
        assert!(done.iter().all(|done| *done), "each of them still matches, so all land: {done:?}");
    }
    site.is_clean();
}

/// Writing in place looks at the file first, so two processes must not do it at once.
#[test]
fn no_patch_of_a_file_with_two_names_is_lost_to_another_server() {
    let site = Site::new();
    let mut servers = [site.serve(), site.serve()];
    site.folder.write("here/there", "");
    for round in 0..rounds(6, 100) {
        let (one, other) = (format!("page {round}"), format!("here/page {round}"));
        site.folder.write(&one, page("title"));
        fs::hard_link(site.folder.path().join(&one), site.folder.path().join(&other)).expect("a second name");
        let done = patch_every_line(&mut servers, [&one, &other]);
        let text = site.folder.text(&one);
        assert_eq!(text, site.folder.text(&other), "still one file");
        all_told_are_there(&text, &done, &one);
        assert!(done.iter().any(|done| *done));
    }
    site.is_clean();
}

#[test]
fn another_program_that_rewrites_the_file_keeps_its_bytes() {
    let site = Site::new();
    let mut servers = [site.serve(), site.serve()];
    for round in 0..rounds(6, 100) {
        let path = format!("page {round}");
        let whole = site.folder.path().join(&path);
        fs::write(&whole, page("title")).expect("a file");
        let ended = AtomicBool::new(false);
        let (done, writes) = thread::scope(|scope| {
            let writer = scope.spawn(|| {
                let mut writes = 0;
                while !ended.load(Ordering::Relaxed) {
                    writes += 1;
                    fs::write(&whole, page(&format!("title {writes}"))).expect("a write");
                    // Long enough for some patches, short enough to come between others.
                    (0..2000).for_each(|_| thread::yield_now());
                }
                writes
            });
            let end = End(&ended);
            let done = patch_every_line(&mut servers, [&path, &path]);
            drop(end);
            (done, writer.join().expect("the other program"))
        });
        let text = site.folder.text(&path);
        assert_eq!(text.lines().next(), Some(&*format!("title {writes}")), "its last bytes are there, patched or not");
        assert_eq!(text.lines().count(), LINES + 1, "{text}");
        for (line, done) in done.iter().enumerate() {
            assert!(*done || !is_new(&text, line), "{path}: line {line} was refused and is there");
        }
        let ends = site.history().ends(&path);
        assert!(ends <= writes + 1, "{path}: {ends} changes had nothing after them, {writes} writes came between");
    }
    site.is_clean();
}
