//! Large writes: however long the way of the bytes, what is there, what is told and what is kept are the same bytes.

use std::fs;

use serde_json::json;
use toolgate::Version;

use super::kit::Site;
use crate::suite::cases::kit::{Reply, files_of};

/// Lines full of what JSON escapes, of exactly so many bytes.
fn text(bytes: usize, mark: &str) -> String {
    let lines = "let s = \"a\\tb\"; // \u{e9}\u{1f389}\r\n\tdone\n";
    let mut text = format!("{mark}\n{}", lines.repeat(bytes / lines.len() + 1));
    let end = (0..=bytes).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
    text.truncate(end);
    text + &"x".repeat(bytes - end)
}

#[test]
fn what_is_written_told_and_kept_are_the_same_bytes() {
    // Around every size from which on bytes take another way: beside the log, past the parser, on a thread of their own.
    let sizes = [1, 1024, 1025, 16 * 1024 - 200, 16 * 1024, 1 << 20, (1 << 20) + 1, 5 << 20];
    for escaped in [false, true] {
        let site = Site::new();
        let mut server = site.serve();
        let mut kept = Vec::new();
        for size in sizes {
            let path = format!("{size}");
            for mark in ["made", "replaced"] {
                let content = text(size, mark);
                let arguments = if escaped {
                    // The whole of the arguments as a text, as some clients send them.
                    json!(json!({ "path": path, "content": content }).to_string())
                } else {
                    json!({ "path": path, "content": content })
                };
                let answer = server.call("write_file", arguments);
                let version = answer["_meta"]["toolgate/version"].clone();
                Reply(answer).ok();
                let there = site.folder.read(&path);
                assert!(there == content.as_bytes(), "{size} bytes, {mark}");
                assert_eq!(version, json!(Version::of(&there)), "{size} bytes, {mark}");
                kept.push(content);
            }
        }
        // What an undo brings back went the other way: from the file into what is kept.
        for size in sizes.into_iter().rev() {
            Reply(server.call("undo_change", json!({}))).ok();
            assert!(site.folder.read(&format!("{size}")) == text(size, "made").as_bytes(), "{size} bytes, undone");
            Reply(server.call("undo_change", json!({}))).ok();
            assert!(!site.folder.path().join(format!("{size}")).exists(), "{size} bytes, undone twice");
        }
        assert!(server.close().success());
        let records: Vec<_> = files_of(&site.records()).into_values().collect();
        for content in kept.iter().filter(|content| content.len() > 1024) {
            let times = records.iter().filter(|bytes| bytes.as_slice() == content.as_bytes()).count();
            assert_eq!(times, 1, "{} bytes are kept once", content.len());
        }
        site.is_clean();
    }
}

#[test]
fn what_cannot_be_recorded_is_not_written_however_large_it_is() {
    for size in [2000, 3 << 20] {
        let site = Site::new();
        let mut server = site.serve();
        Reply(server.call("write_file", json!({ "path": "file", "content": "old\n" }))).ok();
        let blobs = site.records().join("blobs");
        if blobs.exists() {
            fs::remove_dir_all(&blobs).expect("no blobs");
        }
        fs::write(&blobs, "in the way").expect("a file in the place of the folder");
        let content = text(size, "new");
        for path in ["file", "other"] {
            let reply = Reply(server.call("write_file", json!({ "path": path, "content": content })));
            assert!(!reply.is_done(), "{size} bytes to {path}: {}", reply.0);
        }
        assert_eq!(site.folder.text("file"), "old\n");
        assert!(!site.folder.path().join("other").exists());
        fs::remove_file(&blobs).expect("out of the way");
        Reply(server.call("write_file", json!({ "path": "file", "content": content }))).ok();
        assert!(site.folder.text("file") == content);
        assert!(server.close().success());
        assert_eq!(site.history().open(), [""; 0]);
        site.is_clean();
    }
}
