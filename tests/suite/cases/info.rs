//! What `file_info` tells, and what it does not guess.

use serde_json::json;

use super::kit::{Desk, says};
use crate::suite::support::Temp;

/// What is said of a file that holds `bytes`, without mode, time and version.
fn told(bytes: impl AsRef<[u8]>) -> String {
    let mut desk = Desk::with("f", bytes);
    let text = desk.call("file_info", json!({ "path": "f" })).ok();
    let left_out = |row: &&str| ["mode: ", "modified: ", "version: "].iter().any(|key| row.starts_with(key));
    assert_eq!(text.lines().filter(left_out).count(), 3, "{text}");
    text.lines().filter(|row| !left_out(row)).collect::<Vec<_>>().join("|")
}

#[test]
fn what_a_text_is_like() {
    for (bytes, rows) in [
        (&b"a\nb\n"[..], "size: 4 bytes|lines: 2|encoding: UTF-8|line ends: LF"),
        (b"a\r\nb", "size: 4 bytes|lines: 2|encoding: UTF-8|line ends: CRLF, none after the last line"),
        (b"a\r\nb\n", "size: 5 bytes|lines: 2|encoding: UTF-8|line ends: mixed"),
        (b"", "size: 0 bytes|lines: 0|encoding: UTF-8|line ends: none"),
        (b"a", "size: 1 bytes|lines: 1|encoding: UTF-8|line ends: none, none after the last line"),
        (b"a\rb\n", "size: 4 bytes|lines: 1|encoding: UTF-8|line ends: LF, and carriage returns that end no line"),
        (b"\xEF\xBB\xBFa\n", "size: 5 bytes|lines: 1|encoding: UTF-8 with a byte order mark|line ends: LF"),
        (b"\xFE\xFF\0a\0\n", "size: 6 bytes|lines: 1|encoding: UTF-16 BE|line ends: LF"),
    ] {
        assert_eq!(told(bytes), format!("path: f|type: file, text|{rows}"), "{bytes:?}");
    }
}

#[test]
fn what_is_no_text_is_said_to_be_none() {
    assert_eq!(told(b"%PDF-1.7\n\0\xFF"), "path: f|type: file, not text (PDF document)|size: 11 bytes");
    assert_eq!(told(b"\x01\0\x02"), "path: f|type: file, not text|size: 3 bytes");
    says(&told(b"caf\xe9\n"), &["not text (perhaps text in another encoding", "size: 5 bytes"]);
}

#[test]
fn a_large_file_is_not_read_for_it() {
    let folder = Temp::with(&[("start", "line\n")]);
    let large = std::fs::File::create(folder.path().join("large")).expect("a file");
    std::io::Write::write_all(&mut &large, "日本\n".repeat(100_000).as_bytes()).expect("room");
    large.set_len(50_000_000_000).expect("a sparse file");
    let mut desk = Desk::serving(folder);
    let reply = desk.call("file_info", json!({ "path": "large" }));
    says(&reply.ok(), &["type: file, text", "size: 50000000000 bytes", "line ends: LF", "first 262144 bytes"]);
    assert!(!reply.ok().contains("lines: ") && !reply.ok().contains("version: "), "{}", reply.ok());
}

#[cfg(unix)]
#[test]
fn folders_links_and_the_rest() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = Temp::with(&[("d/a", "1"), ("d/b", "2")]);
    let at = |name: &str| folder.path().join(name);
    for (target, link) in [("d", "to_dir"), ("d/a", "to_file"), ("nowhere", "broken"), ("/etc/passwd", "out")] {
        symlink(target, at(link)).expect("a link");
    }
    std::fs::set_permissions(at("d/a"), std::fs::Permissions::from_mode(0o750)).expect("a mode");
    let mut desk = Desk::serving(folder);
    let mut info = |path: &str| desk.call("file_info", json!({ "path": path })).ok();
    says(&info("d"), &["path: d\ntype: dir\nentries: 2\nmode: 0"]);
    says(&info("."), &["type: dir\nentries: 5"]);
    says(&info("d/a"), &["mode: 0750"]);
    says(&info("to_dir"), &["type: dir\nlink to: d\nentries: 2"]);
    says(&info("to_file"), &["type: file, text\nlink to: d/a\nsize: 1 bytes", "mode: 0750"]);
    assert_eq!(info("broken"), "path: broken\ntype: link\nlink to: nowhere (broken, or leads outside)");
    assert_eq!(info("out"), "path: out\ntype: link\nlink to: /etc/passwd (broken, or leads outside)");
    let reply = desk.call("file_info", json!({ "path": "d/c" }));
    says(reply.error("file_not_found"), &["d/c"]);
    desk.call("file_info", json!({ "path": "../x" })).error("outside_workspace");
}
