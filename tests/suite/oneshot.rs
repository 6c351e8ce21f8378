//! The one-shot protocol, to the letter: what goes into `toolgate dispatch` and what comes out, byte for byte.

use serde_json::Value;

use super::support::oneshot::{dispatch, document, done, failed};

/// Calls a tool and compares the whole document that comes out.
#[track_caller]
fn check(what: &str, workspace: &str, tool: &str, args: &str, right: &str) {
    let ran = dispatch(document(workspace, tool, args));
    assert_eq!(ran.answer(what), right, "{what}");
}

#[test]
fn the_three_tools_answer_as_the_protocol_shows() {
    for (input, right) in [
        (
            r#"{"op": "dispatch", "workspace": {"app.ts": "console.log('hi');\n"},
                "call": {"tool": "read_file", "args": {"path": "app.ts"}}}"#,
            r#"{"observation":"1: console.log('hi');\n","status":"ok","tool":"read_file","workspace":{"app.ts":"console.log('hi');\n"}}"#,
        ),
        (
            r#"{"op": "dispatch", "workspace": {"app.ts": "console.log('hi');\n"},
                "call": {"tool": "write_file", "args": {"path": "b.ts", "content": "let b;\n"}}}"#,
            r#"{"observation":"File written: b.ts","status":"ok","tool":"write_file","workspace":{"app.ts":"console.log('hi');\n","b.ts":"let b;\n"}}"#,
        ),
        (
            r#"{"op": "dispatch", "workspace": {"app.ts": "console.log('hi');\n"},
                "call": {"tool": "patch_file", "args": {"path": "app.ts", "old_str": "hi", "new_str": "ho"}}}"#,
            r#"{"observation":"File patched: app.ts","status":"ok","tool":"patch_file","workspace":{"app.ts":"console.log('ho');\n"}}"#,
        ),
        (
            r#"{"op": "dispatch", "workspace": {"app.ts": "console.log('hi');\n"},
                "call": {"tool": "read_file", "args": {"path": "notes.txt"}}}"#,
            r#"{"error":"file_not_found","status":"error","tool":"read_file","workspace":{"app.ts":"console.log('hi');\n"}}"#,
        ),
        (
            r#"{"op": "dispatch", "workspace": {"app.ts": "console.log('hi');\n"},
                "call": {"tool": "patch_file", "args": {"path": "notes.txt", "old_str": "hi", "new_str": "ho"}}}"#,
            r#"{"error":"file_not_found","status":"error","tool":"patch_file","workspace":{"app.ts":"console.log('hi');\n"}}"#,
        ),
        (
            r#"{"op": "dispatch", "workspace": {"app.ts": "console.log('hi');\n"},
                "call": {"tool": "patch_file", "args": {"path": "app.ts", "old_str": "ha", "new_str": "ho"}}}"#,
            r#"{"error":"old_str_not_found","status":"error","tool":"patch_file","workspace":{"app.ts":"console.log('hi');\n"}}"#,
        ),
        (
            r#"{"op": "dispatch", "workspace": {"app.ts": "console.log('hi');\n"},
                "call": {"tool": "patch_file", "args": {"path": "app.ts", "old_str": "o", "new_str": "0"}}}"#,
            r#"{"error":"ambiguous_match","status":"error","tool":"patch_file","workspace":{"app.ts":"console.log('hi');\n"}}"#,
        ),
    ] {
        assert_eq!(dispatch(input).answer(input), right, "{input}");
    }
}

#[test]
fn read_file_numbers_lines_and_leaves_their_ends_alone() {
    for (what, text, shown) in [
        ("an empty file", "", ""),
        ("a last line without an end", "a\nb", "1: a\n2: b"),
        ("a last line with one", "a\nb\n", "1: a\n2: b\n"),
        ("blank lines", "\n\na\n\n", "1: \n2: \n3: a\n4: \n"),
        ("only a line end", "\n", "1: \n"),
        ("CRLF stays", "a\r\nb\r\n", "1: a\r\n2: b\r\n"),
        ("a lone CR is no line end", "a\rb\nc", "1: a\rb\n2: c"),
        ("nor is a form feed, a line separator or NEL", "a\u{c}b\u{2028}c\u{85}d\n", "1: a\u{c}b\u{2028}c\u{85}d\n"),
        ("a byte order mark is text", "\u{feff}a\n", "1: \u{feff}a\n"),
        ("NUL is text", "a\0b\n", "1: a\0b\n"),
        ("blanks stay", "\t a \t\n", "1: \t a \t\n"),
    ] {
        let workspace = serde_json::json!({ "f": text }).to_string();
        check(what, &workspace, "read_file", r#"{"path":"f"}"#, &done("read_file", shown, &workspace));
    }
}

#[test]
fn read_file_shows_a_range() {
    let workspace = r#"{"f":"a\nb\nc\n"}"#;
    for (args, shown) in [
        (r#"{"path":"f","start_line":2}"#, "2: b\n3: c\n"),
        (r#"{"path":"f","end_line":2}"#, "1: a\n2: b\n"),
        (r#"{"path":"f","start_line":2,"end_line":2}"#, "2: b\n"),
        (r#"{"path":"f","end_line":99}"#, "1: a\n2: b\n3: c\n"),
        (r#"{"path":"f","start_line":4}"#, ""),
    ] {
        check(args, workspace, "read_file", args, &done("read_file", shown, workspace));
    }
}

#[test]
fn there_are_no_caps() {
    let lines = 30_000;
    let text = "x".repeat(400_000) + "\n" + &"line\n".repeat(lines - 1);
    let shown: String = text.lines().enumerate().map(|(at, line)| format!("{}: {line}\n", at + 1)).collect();
    let workspace = serde_json::json!({ "long.txt": text }).to_string();
    check(
        "all of a long file",
        &workspace,
        "read_file",
        r#"{"path":"long.txt"}"#,
        &done("read_file", &shown, &workspace),
    );
}

#[test]
fn write_file_writes_what_it_is_given() {
    let workspace = r#"{"a":"old\r\n"}"#;
    for (args, after) in [
        (r#"{"path":"a","content":"new"}"#, r#"{"a":"new"}"#),
        (r#"{"path":"a","content":""}"#, r#"{"a":""}"#),
        (r#"{"path":"a","content":"old\r\n"}"#, r#"{"a":"old\r\n"}"#),
        (r#"{"path":"b","content":"x\n\n\n"}"#, r#"{"a":"old\r\n","b":"x\n\n\n"}"#),
        (r#"{"path":"b","content":"\ufeffx\u0000y\r"}"#, "{\"a\":\"old\\r\\n\",\"b\":\"\u{feff}x\\u0000y\\r\"}"),
        (r#"{"path":"new/dir/b","content":"x"}"#, r#"{"a":"old\r\n","new/dir/b":"x"}"#),
    ] {
        let args_value: Value = serde_json::from_str(args).expect("JSON");
        let said = format!("File written: {}", args_value["path"].as_str().expect("a path"));
        check(args, workspace, "write_file", args, &done("write_file", &said, after));
    }
}

#[test]
fn patch_file_replaces_one_literal_match() {
    for (what, before, old, new, right) in [
        ("the one match", "let x = 1;\n", "1", "2", Ok("let x = 2;\n")),
        ("the whole file", "a", "a", "", Ok("")),
        ("a line goes", "a\nb\n", "b\n", "", Ok("a\n")),
        ("old_str is no regex", "a.c\nabc\n", "a.c", "X", Ok("X\nabc\n")),
        ("new_str is no template", "a\n", "a", "$& $1 $$ \\1 \\n {0}", Ok("$& $1 $$ \\1 \\n {0}\n")),
        ("new_str may hold old_str", "a", "a", "aa", Ok("aa")),
        ("NUL is text", "a\0b", "\0", "-", Ok("a-b")),
        ("a byte order mark is text", "\u{feff}a", "\u{feff}a", "b", Ok("b")),
        ("CRLF matches itself", "a\r\nb\r\n", "a\r\nb", "c", Ok("c\r\n")),
        ("LF does not match CRLF", "a\r\nb\r\n", "a\nb", "c", Err("old_str_not_found")),
        ("LF goes in as LF", "a\r\nb\r\n", "a", "x\ny", Ok("x\ny\r\nb\r\n")),
        ("case counts", "a", "A", "b", Err("old_str_not_found")),
        ("Unicode forms count", "caf\u{e9}", "cafe\u{301}", "tea", Err("old_str_not_found")),
        ("blanks count", "a  b", "a b", "c", Err("old_str_not_found")),
        ("two matches", "a a", "a", "b", Err("ambiguous_match")),
        ("matches that overlap", "aaa", "aa", "b", Err("ambiguous_match")),
        ("matches that share one letter", "ananas", "ana", "b", Err("ambiguous_match")),
        ("lines that overlap", "x\nx\nx\n", "x\nx\n", "y", Err("ambiguous_match")),
        ("letters of several bytes that overlap", "日日日", "日日", "x", Err("ambiguous_match")),
    ] {
        let workspace = serde_json::json!({ "f": before, "other": "a\r\n" }).to_string();
        let args = serde_json::json!({ "path": "f", "old_str": old, "new_str": new }).to_string();
        let right = match right {
            Ok(after) => {
                let after = serde_json::json!({ "f": after, "other": "a\r\n" }).to_string();
                done("patch_file", "File patched: f", &after)
            }
            Err(code) => failed("patch_file", code, &workspace),
        };
        check(what, &workspace, "patch_file", &args, &right);
    }
}

#[test]
fn paths_are_the_same_file_however_they_are_spelled() {
    for path in ["a", "./a", ".//a", "b/../a", "./b/./../a", "a/."] {
        let args = serde_json::json!({ "path": path }).to_string();
        let workspace = r#"{"./a":"x","z":""}"#;
        check(path, workspace, "read_file", &args, &done("read_file", "1: x", workspace));
    }
    check(
        "a written file keeps the spelling of its key",
        r#"{"./a":"x"}"#,
        "write_file",
        r#"{"path":"a","content":"y"}"#,
        &done("write_file", "File written: a", r#"{"./a":"y"}"#),
    );
    check(
        "names are letters, not patterns",
        r#"{"*":"star","a b":"","ä":"1"}"#,
        "read_file",
        r#"{"path":"ä"}"#,
        &done("read_file", "1: 1", r#"{"*":"star","a b":"","ä":"1"}"#),
    );
}

#[test]
fn what_a_path_cannot_name() {
    let workspace = r#"{"../k":"unreachable","d/a":"x"}"#;
    for (path, code) in [
        ("../k", "outside_workspace"),
        ("d/../../k", "outside_workspace"),
        ("..", "outside_workspace"),
        ("/etc/passwd", "outside_workspace"),
        ("D/a", "file_not_found"),
        ("d/a.txt", "file_not_found"),
        (" d/a", "file_not_found"),
        ("d", "not_a_file"),
        (".", "not_a_file"),
    ] {
        for (tool, more) in
            [("read_file", ""), ("write_file", r#","content":"x""#), ("patch_file", r#","old_str":"x","new_str":"y""#)]
        {
            if tool == "write_file" && code == "file_not_found" {
                continue; // it makes the file
            }
            let args = format!(r#"{{"path":"{path}"{more}}}"#);
            check(&format!("{tool} {path}"), workspace, tool, &args, &failed(tool, code, workspace));
        }
    }
}

#[test]
fn arguments_that_do_not_fit_are_told_to_the_model_and_change_nothing() {
    let workspace = r#"{"a":"x\r\n"}"#;
    for (tool, args, said) in [
        ("read_file", "{}", "path"),
        ("read_file", "null", "null"),
        ("read_file", "[]", "array"),
        ("read_file", "7", "7"),
        ("read_file", "\"a\"", "args"),
        ("read_file", r#""{\"path\":\"a\"}""#, "args"),
        ("read_file", r#"{"path":7}"#, "path"),
        ("read_file", r#"{"path":null}"#, "path"),
        ("read_file", r#"{"path":["a"]}"#, "path"),
        ("read_file", r#"{"path":""}"#, "path"),
        ("read_file", r#"{"path":"a\u0000"}"#, "NUL"),
        ("read_file", r#"{"path":"a","pth":"a"}"#, "pth"),
        ("read_file", r#"{"path":"a","start_line":0}"#, "start_line"),
        ("read_file", r#"{"path":"a","start_line":"1"}"#, "start_line"),
        ("read_file", r#"{"path":"a","start_line":1.5}"#, "start_line"),
        ("read_file", r#"{"path":"a","start_line":2,"end_line":1}"#, "end_line"),
        ("read_file", r#"{"path":"a","path":"b"}"#, "path"),
        ("read_file", r#"{"path":"\ud83d"}"#, "surrogate"),
        ("write_file", r#"{"path":"a"}"#, "content"),
        ("write_file", r#"{"content":"a"}"#, "path"),
        ("write_file", r#"{"path":"a","content":null}"#, "content"),
        ("write_file", r#"{"path":"a","content":{"a":1}}"#, "content"),
        ("write_file", r#"{"path":"a","content":"x","mode":"w"}"#, "mode"),
        ("patch_file", r#"{"path":"a","old_str":"x"}"#, "new_str"),
        ("patch_file", r#"{"path":"a","new_str":"x"}"#, "old_str"),
        ("patch_file", r#"{"path":"a","old_str":"","new_str":"x"}"#, "old_str"),
        ("patch_file", r#"{"path":"none","old_str":"","new_str":"x"}"#, "old_str"),
        ("patch_file", r#"{"path":"a","old_str":"x","new_str":"x"}"#, "new_str"),
        ("patch_file", r#"{"path":"a","old_str":1,"new_str":2}"#, "new_str"),
        ("patch_file", r#"{"path":"a","old_str":"x","new_str":"y","replace_all":"maybe"}"#, "replace_all"),
        ("patch_file", r#"{"path":"a","old_str":"x","new_str":"y","replace_all":"true"}"#, "replace_all"),
        ("patch_file", r#"{"path":"a","old_str":"x","new_str":"y","replace_all":1}"#, "replace_all"),
    ] {
        let ran = dispatch(document(workspace, tool, args));
        let answer: Value = serde_json::from_str(ran.answer(args)).expect("JSON");
        let members: Vec<_> = answer.as_object().expect("an object").keys().map(String::as_str).collect();
        assert_eq!(members, ["error", "message", "status", "tool", "workspace"], "{tool} {args}: {answer}");
        assert_eq!(answer["error"], "invalid_arguments", "{tool} {args}: {answer}");
        assert_eq!(answer["workspace"].to_string(), workspace, "{tool} {args}: {answer}");
        let message = answer["message"].as_str().expect("text");
        assert!(message.contains(said), "{tool} {args}: {message:?} does not name {said:?}");
    }
}

#[test]
fn a_call_without_arguments_is_the_models_fault() {
    let ran = dispatch(r#"{"op":"dispatch","workspace":{},"call":{"tool":"read_file"}}"#);
    assert!(ran.answer("no args").starts_with(r#"{"error":"invalid_arguments","message":"#), "{ran:?}");
}

#[test]
fn every_fault_of_the_arguments_is_told_at_once() {
    let ran = dispatch(document("{}", "patch_file", r#"{"old_str":"","extra":1}"#));
    for field in ["path", "old_str", "new_str", "extra"] {
        assert!(ran.answer("four faults").contains(field), "{field} is not in {ran:?}");
    }
}

#[test]
fn a_document_that_breaks_the_contract_ends_the_process() {
    let call = r#""call":{"tool":"read_file","args":{"path":"a"}}"#;
    let refused: Vec<(&str, Vec<u8>)> = vec![
        ("nothing", b"".to_vec()),
        ("blanks", b" \n\t\r\n".to_vec()),
        ("no JSON", b"drop table".to_vec()),
        ("cut off", br#"{"op":"dispatch","workspace":{"#.to_vec()),
        ("a comma too many", br#"{"op":"dispatch","workspace":{},"call":{"tool":"read_file",}}"#.to_vec()),
        ("not UTF-8", b"{\"op\":\"dispatch\",\"workspace\":{\"a\":\"\xff\"}}".to_vec()),
        ("UTF-16", b"\xff\xfe{\0}\0".to_vec()),
        ("an array", b"[]".to_vec()),
        ("a string", b"\"dispatch\"".to_vec()),
        ("null", b"null".to_vec()),
        ("two documents", format!(r#"{{"op":"dispatch","workspace":{{}},{call}}}{{}}"#).into()),
        ("a document and a word", format!(r#"{{"op":"dispatch","workspace":{{}},{call}}} done"#).into()),
        ("nested without end", "[".repeat(100_000).into()),
        ("nested in args", document("{}", "read_file", &format!("{}{}", "[".repeat(500), "]".repeat(500))).into()),
        (
            "nested in the workspace",
            document(&format!("{{\"a\":{}{}}}", "[".repeat(500), "]".repeat(500)), "read_file", "{}").into(),
        ),
        ("no op", format!(r#"{{"workspace":{{}},{call}}}"#).into()),
        ("another op", format!(r#"{{"op":"run","workspace":{{}},{call}}}"#).into()),
        ("op in capitals", format!(r#"{{"op":"Dispatch","workspace":{{}},{call}}}"#).into()),
        ("op is no text", format!(r#"{{"op":null,"workspace":{{}},{call}}}"#).into()),
        ("no workspace", format!(r#"{{"op":"dispatch",{call}}}"#).into()),
        ("workspace is null", format!(r#"{{"op":"dispatch","workspace":null,{call}}}"#).into()),
        ("workspace is an array", format!(r#"{{"op":"dispatch","workspace":[],{call}}}"#).into()),
        ("a file is a number", format!(r#"{{"op":"dispatch","workspace":{{"a":1}},{call}}}"#).into()),
        ("a file is null", format!(r#"{{"op":"dispatch","workspace":{{"a":null}},{call}}}"#).into()),
        ("a file is an object", format!(r#"{{"op":"dispatch","workspace":{{"a":{{}}}},{call}}}"#).into()),
        ("a file comes twice", format!(r#"{{"op":"dispatch","workspace":{{"a":"1","a":"2"}},{call}}}"#).into()),
        (
            "a file under two spellings",
            format!(r#"{{"op":"dispatch","workspace":{{"a":"1","./a":"2"}},{call}}}"#).into(),
        ),
        ("no call", br#"{"op":"dispatch","workspace":{}}"#.to_vec()),
        ("call is null", br#"{"op":"dispatch","workspace":{},"call":null}"#.to_vec()),
        ("call is a string", br#"{"op":"dispatch","workspace":{},"call":"read_file"}"#.to_vec()),
        ("no tool", br#"{"op":"dispatch","workspace":{},"call":{"args":{"path":"a"}}}"#.to_vec()),
        ("tool is a number", br#"{"op":"dispatch","workspace":{},"call":{"tool":1,"args":{}}}"#.to_vec()),
        ("tool is null", br#"{"op":"dispatch","workspace":{},"call":{"tool":null,"args":{}}}"#.to_vec()),
        ("a tool that is not there", document("{}", "drop_database", "{}").into()),
        ("a tool in capitals", document(r#"{"a":""}"#, "Read_File", r#"{"path":"a"}"#).into()),
        ("a tool with a blank", document(r#"{"a":""}"#, "read_file ", r#"{"path":"a"}"#).into()),
        ("no name of a tool", document("{}", "", "{}").into()),
        ("a name of two lines", document("{}", "a\\nb", "{}").into()),
        ("a name without end", document("{}", &"x".repeat(100_000), "{}").into()),
        ("an op without end", format!(r#"{{"op":"{}","workspace":{{}},{call}}}"#, "x".repeat(100_000)).into()),
        (
            "a call without end",
            format!(r#"{{"op":"dispatch","workspace":{{}},"call":"{}"}}"#, "x".repeat(100_000)).into(),
        ),
        ("two calls", format!(r#"{{"op":"dispatch","workspace":{{}},{call},{call}}}"#).into()),
    ];
    for (what, input) in refused {
        let ran = dispatch(&input);
        let why = ran.refusal(what);
        assert!(!why.is_empty() && why.len() < 1000 && !why.contains("panicked"), "{what}: {why}");
    }
}

#[test]
fn a_refusal_names_what_is_wrong() {
    for (input, said) in [
        ("", "empty"),
        (r#"{"op":"run","workspace":{},"call":{"tool":"read_file"}}"#, "run"),
        (r#"{"op":"dispatch","call":{"tool":"read_file"}}"#, "workspace"),
        (r#"{"op":"dispatch","workspace":{}}"#, "call"),
        (r#"{"op":"dispatch","workspace":{},"call":{}}"#, "tool"),
        (r#"{"op":"dispatch","workspace":{},"call":{"tool":"drop_database"}}"#, "drop_database"),
        (r#"{"op":"dispatch","workspace":{},"call":{"tool":"read_fil"}}"#, "read_file"),
        (r#"{"op":"dispatch","workspace":{"a":"","./a":""},"call":{"tool":"read_file"}}"#, "./a"),
    ] {
        let ran = dispatch(input);
        assert!(ran.refusal(input).contains(said), "{input}: {ran:?} does not name {said:?}");
    }
}

#[test]
fn what_else_is_in_the_document_does_not_matter() {
    for input in [
        "\u{feff}{\"op\":\"dispatch\",\"workspace\":{},\"call\":{\"tool\":\"list_dir\",\"args\":{}}}",
        "\n {\"op\":\"dispatch\",\"workspace\":{},\"call\":{\"tool\":\"list_dir\",\"args\":{}}} \r\n",
        r#"{"call":{"args":{},"id":"call_1","tool":"list_dir"},"workspace":{},"note":[1,{"a":null}],"op":"dispatch"}"#,
    ] {
        assert_eq!(dispatch(input).answer(input), done("list_dir", "", "{}"), "{input}");
    }
}

#[test]
fn files_come_back_in_alphabetical_order_and_else_as_they_were() {
    let ran = dispatch(document(
        r#"{"z":"\u00e9\ud83c\udf89\u0001\u007f","b/c":"\/","B":"\u2028","a":"\r"}"#,
        "read_file",
        r#"{"path":"none"}"#,
    ));
    assert_eq!(
        ran.answer("order"),
        failed(
            "read_file",
            "file_not_found",
            "{\"B\":\"\u{2028}\",\"a\":\"\\r\",\"b/c\":\"/\",\"z\":\"é🎉\\u0001\u{7f}\"}"
        )
    );
}

#[test]
fn files_move_and_go_in_the_document_alone() {
    let files = r#"{"a":"1","d/b":"2","d/e/c":"3"}"#;
    for (tool, args, observation, after) in [
        ("move_path", r#"{"from":"a","to":"x/y"}"#, "File moved: a to x/y", r#"{"d/b":"2","d/e/c":"3","x/y":"1"}"#),
        ("move_path", r#"{"from":"d","to":"m"}"#, "Folder moved: d to m", r#"{"a":"1","m/b":"2","m/e/c":"3"}"#),
        (
            "move_path",
            r#"{"from":"a","to":"d/b","overwrite":true}"#,
            "File moved: a to d/b",
            r#"{"d/b":"1","d/e/c":"3"}"#,
        ),
        ("delete_path", r#"{"path":"a"}"#, "File deleted: a", r#"{"d/b":"2","d/e/c":"3"}"#),
        ("delete_path", r#"{"path":"d","recursive":true}"#, "Folder deleted: d (3 entries)", r#"{"a":"1"}"#),
    ] {
        assert_eq!(dispatch(document(files, tool, args)).answer(tool), done(tool, observation, after), "{args}");
    }
    for (tool, args, code) in [
        ("move_path", r#"{"from":"a","to":"d/b"}"#, "already_exists"),
        ("move_path", r#"{"from":"a","to":"d"}"#, "already_exists"),
        ("move_path", r#"{"from":"a","to":"d","overwrite":true}"#, "directory_not_empty"),
        ("move_path", r#"{"from":"x","to":"y"}"#, "file_not_found"),
        ("move_path", r#"{"from":"d","to":"a/d"}"#, "not_a_directory"),
        ("delete_path", r#"{"path":"d"}"#, "directory_not_empty"),
        ("delete_path", r#"{"path":"x"}"#, "file_not_found"),
    ] {
        assert_eq!(dispatch(document(files, tool, args)).answer(tool), failed(tool, code, files), "{args}");
    }
    let refused = dispatch(document(files, "make_dir", r#"{"path":"x"}"#));
    assert!(refused.refusal("folders exist by the files in them").contains("make_dir"));
}
