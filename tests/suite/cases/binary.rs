//! Files that are not text are told so, and nothing of them gets into a model's context or is damaged.

use super::kit::{Desk, patch, says};
use crate::suite::support::oneshot::{dispatch, document, done};

const ODS: &[u8] = b"PK\x03\x04\x00\x00\xFF";

#[test]
fn a_binary_file_is_told_by_its_kind_and_size() {
    for (case, bytes, told) in [
        ("B061: the fault as it was met", ODS, &["binary", "NUL at byte 4", "7 bytes", "ZIP"][..]),
        ("B061: an unknown kind", b"a\0b", &["binary", "NUL at byte 1", "3 bytes"]),
        ("B061: a NUL at the end", b"text\n\0", &["binary", "NUL at byte 5", "6 bytes"]),
        ("B061: UTF-16 without a mark", b"a\0b\0", &["binary", "NUL at byte 1"]),
        ("B061: a PDF", b"%PDF-1.7\n\0\xFF", &["PDF"]),
    ] {
        let mut desk = Desk::with("b.ods", bytes);
        for reply in [desk.read("b.ods"), desk.patch("b.ods", "PK", "KP")] {
            says(reply.error("binary_file"), told);
            assert!(!reply.0.to_string().contains("\\u0000"), "{case}: {reply:?}");
        }
        let written = desk.write("b.ods", "text");
        assert_eq!(written.0["isError"], true, "{case}: {written:?}");
        assert_eq!(desk.folder.read("b.ods"), bytes, "{case}");
    }
}

#[test]
fn a_nul_behind_the_first_page_is_found_when_it_would_be_shown_or_changed() {
    let text = [&b"line\n".repeat(60_000)[..], b"a\0b\n"].concat();
    let mut desk = Desk::with("log", &text);
    says(desk.patch("log", "a", "b").error("binary_file"), &["NUL"]);
    let last = desk.call("read_file", serde_json::json!({ "path": "log", "start_line": 60_001 }));
    last.error("binary_file");
    assert!(desk.folder.read("log") == text, "B061: the file changed");
}

#[test]
fn text_in_a_legacy_encoding_is_not_called_binary() {
    let mut desk = Desk::with("l1.txt", b"caf\xe9\n");
    let reply = desk.read("l1.txt");
    assert!(!reply.error("unsupported_encoding").contains("binary"), "B061: {reply:?}");
}

#[test]
fn what_cannot_be_read_cannot_be_written() {
    let mut desk = Desk::with("a", "x");
    says(desk.write("new", "a\0b").error("invalid_arguments"), &["content", "NUL"]);
    says(desk.patch("a", "x", "a\0b").error("invalid_arguments"), &["new_str", "NUL"]);
    assert_eq!(desk.files(), [("a".to_owned(), b"x".to_vec())].into(), "B063");

    // In the one-shot protocol NUL is text, for every tool.
    let workspace = r#"{"a":"x\u0000y"}"#;
    let ran = dispatch(document(workspace, "read_file", r#"{"path":"a"}"#));
    assert_eq!(ran.answer("B063"), done("read_file", "1: x\0y", workspace));
    patch("B063", "x", "x", "a\0b").oneshot_gives("a\0b");
}

#[test]
fn an_image_is_shown_as_one() {
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
    let mut desk = Desk::with("p.png", png);
    let reply = desk.read("p.png");
    says(&reply.ok(), &["p.png", "image/png"]);
    assert_eq!(reply.0["content"][1]["type"], "image", "B061: {reply:?}");
    desk.patch("p.png", "PNG", "GIF").error("binary_file");
    assert_eq!(desk.folder.read("p.png"), png, "B061");
}
