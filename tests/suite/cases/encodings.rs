//! Byte order marks and encodings: kept, or refused, never lost.

use serde_json::{Value, json};

use super::super::support::{Server, Temp};
use super::kit::{Desk, frame, patch, says};

const BOM: &[u8] = b"\xEF\xBB\xBF";

fn with_bom(text: &str) -> Vec<u8> {
    [BOM, text.as_bytes()].concat()
}

/// UTF-16 with its mark.
fn utf16(text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
    std::iter::once(0xFEFF).chain(text.encode_utf16()).flat_map(unit).collect()
}

#[test]
fn a_byte_order_mark_outlives_being_read_and_written() {
    let mut desk = Desk::with("p.aspx", with_bom("é\n"));
    assert_eq!(desk.read("p.aspx").ok(), "1: é\n", "B008: hidden from the view");
    says(&desk.write("p.aspx", "é!\n").ok(), &["byte order mark"]);
    assert_eq!(desk.folder.read("p.aspx"), with_bom("é!\n"), "B008");

    desk.write("p.aspx", "\u{feff}é?\n").ok();
    assert_eq!(desk.folder.read("p.aspx"), with_bom("é?\n"), "B008: not doubled");

    desk.write("p.aspx", "é?\n").ok();
    assert_eq!(desk.folder.read("p.aspx"), with_bom("é?\n"), "B008: the same text is the same bytes");
}

#[test]
fn a_byte_order_mark_outlives_being_patched() {
    patch("B008: at the very start", &with_bom("a\nb\n"), "a\n", "A\n").mcp_gives(with_bom("A\nb\n"));
    patch("B008: all of the text", &with_bom("a"), "a", "").mcp_gives(BOM);
    patch("B008: old_str may carry it", &with_bom("a\n"), "a", "b").mcp_gives(with_bom("b\n"));
    patch("B008: text in the one-shot protocol", &with_bom("a"), "\u{feff}a", "b").oneshot_gives("b");
}

#[test]
fn a_mark_in_the_middle_is_text() {
    patch("B008: kept", "a\u{feff}b\n", "b", "B").gives("a\u{feff}B\n");
    let mut desk = Desk::with("a", "x");
    desk.write("new", "\u{feff}a").ok();
    assert_eq!(desk.folder.read("new"), with_bom("a"), "B008: a new file gets the mark it is given");
}

#[test]
fn utf16_is_read_and_changed_as_utf16() {
    for unit in [u16::to_le_bytes, u16::to_be_bytes] {
        let mut desk = Desk::with("r.reg", utf16("a=é🎉\r\nb=1\r\n", unit));
        assert_eq!(desk.read("r.reg").ok(), "1: a=é🎉\r\n2: b=1\r\n", "B011");
        desk.patch("r.reg", "b=1\n", "b=2\nc=日\n").ok();
        assert_eq!(desk.folder.read("r.reg"), utf16("a=é🎉\r\nb=2\r\nc=日\r\n", unit), "B011");
        says(&desk.write("r.reg", "x\n").ok(), &["UTF-16"]);
        assert_eq!(desk.folder.read("r.reg"), utf16("x\n", unit), "B012");
    }
}

/// Every encoding that is read, with every shape of text: only the match changes, and undoing gives the same bytes.
#[test]
fn every_shape_of_text_keeps_its_shape() {
    let le = |text: &str| utf16(text, u16::to_le_bytes);
    let be = |text: &str| utf16(text, u16::to_be_bytes);
    let plain = |text: &str| text.as_bytes().to_vec();
    type Encode = fn(&str) -> Vec<u8>;
    let encodings: [(&str, Encode); 4] =
        [("UTF-8", plain), ("with a mark", with_bom), ("UTF-16 LE", le), ("UTF-16 BE", be)];
    for (name, bytes) in encodings {
        for (before, old, new, after) in [
            ("KEY", "KEY", "x", "x"),
            ("KEY\n", "KEY\n", "", ""),
            ("a\nKEY", "KEY", "x", "a\nx"),
            ("a\nKEY\n", "KEY\n", "x\ny\n", "a\nx\ny\n"),
            ("a\r\nKEY\r\n", "a\nKEY", "a\nx\ny", "a\r\nx\r\ny\r\n"),
            ("a\r\nKEY\nb\r\n", "KEY", "x", "a\r\nx\nb\r\n"),
            ("a\rKEY\rb\n", "KEY", "x", "a\rx\rb\n"),
            ("a\rb\n\r\n\r\rKEY\r", "KEY", "x", "a\rb\n\r\n\r\rx\r"),
            ("🎉KEY🎉\n", "🎉KEY", "KEY🎉🎉", "KEY🎉🎉🎉\n"),
            ("a\u{feff}KEY\n", "KEY", "\u{feff}", "a\u{feff}\u{feff}\n"),
            ("a\u{2028}KEY\u{85}\x0c\n", "KEY", "x", "a\u{2028}x\u{85}\x0c\n"),
            ("e\u{301}KEY\n", "KEY", "\u{e9}", "e\u{301}\u{e9}\n"),
        ] {
            let mut desk = Desk::with("f", bytes(before));
            let reply = desk.patch("f", old, new);
            reply.ok();
            assert_eq!(desk.folder.read("f"), bytes(after), "B011: {name}: {before:?}");
            desk.call("undo_change", json!({})).ok();
            assert_eq!(desk.folder.read("f"), bytes(before), "B011: {name}: {before:?}, undone");
            let reply =
                desk.call("patch_files", json!({ "patches": [{ "path": "f", "old_str": old, "new_str": new }] }));
            reply.ok();
            assert_eq!(desk.folder.read("f"), bytes(after), "B011: {name}: {before:?}, as one of many");
        }
    }
}

#[test]
fn a_deep_range_of_a_large_utf16_file_is_the_same_text() {
    // Characters of two units, so that some lie across every border at which a file is read in pieces.
    let text: String = (1..=40_000).map(|n| format!("{n} 🎉{}\r\n", "é".repeat(n % 7))).collect();
    for unit in [u16::to_le_bytes, u16::to_be_bytes] {
        let mut desk = Desk::with("f", utf16(&text, unit));
        for line in [1, 9_999, 23_456, 40_000] {
            let reply = desk.call("read_file", json!({ "path": "f", "start_line": line, "end_line": line }));
            let want = format!("{line}: {line} 🎉{}\r\n", "é".repeat(line % 7));
            assert_eq!(reply.texts()[0], want, "B011");
        }
        desk.patch("f", "23456 🎉", "here ").ok();
        let patched = text.replace("23456 🎉", "here ");
        assert_eq!(desk.folder.read("f"), utf16(&patched, unit), "B011");
        desk.patch("f", "nowhere at all", "x").error("old_str_not_found");
    }
}

#[test]
fn no_tool_damages_a_file_in_a_legacy_encoding() {
    for (case, bytes) in [
        ("B011: Windows-1252", &b"// a\xe7\xe3o\nx := 1;\n"[..]),
        ("B012: GBK", b"\xC4\xE3\xBA\xC3\nx := 1\n"),
        ("B011: Shift JIS", b"\x93\xfa\x96{\nx := 1\n"),
        ("B011: the end of a character is missing", b"x := 1\n\xE6\x97"),
        ("B011: a surrogate as UTF-8", b"x := 1\n\xED\xA0\xBD\n"),
        ("B011: UTF-16 of odd length", b"\xFF\xFEx\0 "),
        ("B011: a legacy byte far behind the first page", &[&b"x := 1\n".repeat(80_000)[..], b"\xe7\n"].concat()),
    ] {
        let mut desk = Desk::with("T.pas", bytes);
        let patched = desk.patch("T.pas", "x := 1", "x := 2");
        says(patched.error("unsupported_encoding"), &["T.pas", "UTF-8"]);
        let written = desk.write("T.pas", "new\n");
        // Whoever has not read it may be told so first; either way it stays.
        assert_eq!(written.0["isError"], true, "{case}: {written:?}");
        assert!(desk.folder.read("T.pas") == bytes, "{case}: the file changed");
    }
    let mut desk = Desk::with("g.txt", b"\xC4\xE3\xBA\xC3\n");
    assert!(!desk.read("g.txt").error("unsupported_encoding").contains('\u{fffd}'), "B011");
}

#[test]
fn utf32_is_called_what_it_is_and_stays() {
    for unit in [u32::to_le_bytes, u32::to_be_bytes] {
        let bytes: Vec<u8> = "\u{feff}x := 1;\né🎉\n".chars().flat_map(|c| unit(c.into())).collect();
        let mut desk = Desk::with("f.txt", &bytes);
        for reply in [
            desk.read("f.txt"),
            desk.patch("f.txt", "x := 1", "x := 2"),
            desk.call("patch_files", json!({ "patches": [{ "path": "f.txt", "old_str": "1", "new_str": "2" }] })),
            desk.write("f.txt", "new\n"),
        ] {
            says(reply.error("unsupported_encoding"), &["f.txt", "UTF-32", "convert it to UTF-8"]);
        }
        says(&desk.call("file_info", json!({ "path": "f.txt" })).ok(), &["UTF-32"]);
        assert_eq!(desk.folder.read("f.txt"), bytes);
    }
}

#[test]
fn characters_arrive_whole_however_the_stream_is_cut() {
    let mut desk = Desk::with("other", "");
    let content = "# 张 é 🎉\n";
    let frame = frame(json!("cut"), "write_file", json!({ "path": "p.py", "content": content }));
    // A byte at a time, so that every border lies somewhere inside a character.
    for byte in format!("{frame}\n").bytes() {
        desk.server.send_bytes(&[byte]);
    }
    assert_eq!(desk.server.recv()["id"], "cut");
    assert_eq!(desk.folder.read("p.py"), content.as_bytes(), "B014");
}

/// A second mark is a character of the text, and stays where a patch leaves it.
#[test]
fn a_mark_behind_a_patch_stays() {
    let folder = Temp::new();
    let mut server = Server::start(folder.path());
    for (before, after) in [
        (&b"\xef\xbb\xbfX\xef\xbb\xbfY\n"[..], &b"\xef\xbb\xbf\xef\xbb\xbfY\n"[..]),
        (b"\xff\xfeX\0\xff\xfeY\0", b"\xff\xfe\xff\xfeY\0"),
        (b"\xfe\xff\0X\xfe\xff\0Y", b"\xfe\xff\xfe\xff\0Y"),
    ] {
        folder.write("a.txt", before);
        let result = server.call("patch_file", json!({"path": "a.txt", "old_str": "X", "new_str": ""}));
        assert_eq!(result["isError"], Value::Null, "{result}");
        assert_eq!(folder.read("a.txt"), after);
    }
}
