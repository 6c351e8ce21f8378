//! What a program comes to: values, logs, failures with their place.

use serde_json::json;

use super::kit::both;
use crate::suite::cases::kit::says;
use crate::suite::support::Server;

#[test]
fn a_program_is_the_body_of_an_async_function() {
    let (mut desk, _home) = both(&[("a.txt", "one\ntwo\n")]);
    for (code, text) in [
        ("return 1", "1"),
        ("const n: number = 1; return n as unknown", "1"),
        ("interface A { b: string }\nconst a: A = {b: 'x'}; return a!.b", "x"),
        ("```ts\nreturn 1\n```", "1"),
        ("async () => { return (await tools.read_file({path: 'a.txt'})).total_lines }", "2"),
        ("async function main(): Promise<number> { return 1 }", "1"),
        ("return 'as it is\\n'", "as it is\n"),
        ("return {b: [1, null, true], a: 'x'}", "{\n  \"b\": [\n    1,\n    null,\n    true\n  ],\n  \"a\": \"x\"\n}"),
        ("return await Promise.resolve(2 ** 53)", "9007199254740992"),
        ("return [0.1, -1.5, 1e21, -0]", "[\n  0.1,\n  -1.5,\n  1e+21,\n  0\n]"),
        ("console.log('a', 1, {x: ['y']}); console.warn('careful')", "a 1 { x: [\"y\"] }\n[warn] careful"),
        ("console.log('first'); return 'then'", "first\nthen"),
        (
            "console.log(new Map([['a', {b: 1}], [2, null]]), new Set(), new Set(['x']))",
            "Map(2) { \"a\" => { b: 1 }, 2 => null } Set(0) { } Set(1) { \"x\" }",
        ),
        ("console.log([new Date(0)], /x/g, new Date(NaN))", "[Date 1970-01-01T00:00:00.000Z] /x/g Date { }"),
        ("console.log(new Error('e', {cause: 'c'}))", "Error: e (because of \"c\")"),
        ("const a = await tools.read_file({path: 'a.txt'});\nreturn a.content", "one\ntwo\n"),
        ("", ""),
        ("return", "The program has ended. It printed nothing and returned nothing."),
    ] {
        if code.is_empty() {
            let reply = desk.run(code);
            let (kind, _, message) = reply.code_failure();
            assert_eq!(kind, "syntax");
            says(message, &["code is empty"]);
        } else {
            assert_eq!(desk.run(code).ok(), text, "{code}");
        }
    }
}

#[test]
fn everything_that_console_has_prints() {
    let (mut desk, _home) = both(&[]);
    for (code, printed) in [
        ("console.log(); console.info(1); console.debug('a b'); console.trace(null)", "\n1\na b\nnull"),
        ("console.warn('w'); console.error(new TypeError('e'))", "[warn] w\n[error] TypeError: e"),
        (
            "console.dir({a: [1]}); console.table([{a: 1}]); console.dirxml(undefined)",
            "{ a: [1] }\n[{ a: 1 }]\nundefined",
        ),
        ("console.assert(1 < 2, 'no'); console.assert(1 > 2, 'one', {n: 1})", "[assertion failed] one { n: 1 }"),
        (
            "console.count(); console.count(); console.countReset(); console.count(); console.count('x')",
            "default: 1\ndefault: 2\ndefault: 1\nx: 1",
        ),
        (
            "console.group('part', 1); console.log('in'); console.groupEnd(); console.clear(); console.groupCollapsed('more')",
            "part 1\nin\nmore",
        ),
        (
            "console.log('%s', 'kept', -0, 1n, Symbol('s'), () => 1, Promise.resolve())",
            "%s kept -0 1n Symbol(s) [function] [promise: not awaited]",
        ),
        (
            "console.log(new (class Point { x = 1 })(), new Uint8Array(2), Object.create(null))",
            "Point { x: 1 } Uint8Array { 0: 0, 1: 0 } { }",
        ),
    ] {
        assert_eq!(desk.run(code).ok(), printed, "{code}");
    }
    let timed = desk.run("console.time('t'); console.timeLog('t'); console.timeEnd('t'); console.timeEnd()").ok();
    let lines: Vec<_> = timed.lines().collect();
    assert!(lines.len() == 3 && lines.iter().all(|line| line.ends_with(" ms")), "{timed}");
}

/// B182, B183: the place is one in the program as it was given, and what is wrong is said in words.
#[test]
fn a_failure_names_its_kind_its_place_and_what_was_wrong() {
    let (mut desk, _home) = both(&[("a", "1\n")]);
    for (code, kind, line, said) in [
        ("let x = 1;\n\n  null.x", "exception", Some(3), "TypeError: cannot read property 'x' of null"),
        ("null.x", "exception", Some(1), "TypeError"),
        ("const = 1", "syntax", Some(1), "Nothing of it was run"),
        ("let a;\nlet a;", "syntax", Some(2), "Nothing of it was run"),
        ("const a: number = 1;\nconst b = a as any;\n  b.c.d", "exception", Some(3), "TypeError"),
        ("const n = 1;\nenum E { A }", "syntax", Some(2), "enum"),
        ("namespace N {}", "syntax", Some(1), "namespace"),
        ("\nclass C { constructor(public a: number) {} }", "syntax", Some(2), ""),
        ("throw {a: 1}", "exception", None, "the program threw { a: 1 }"),
        ("throw undefined", "exception", None, "the program threw undefined"),
        ("throw null", "exception", None, "the program threw null"),
        ("throw 0", "exception", None, "the program threw 0"),
        ("throw ''", "exception", None, "the program threw \"\""),
        ("throw {}", "exception", None, "the program threw { }"),
        ("throw {toString() { throw 1 }}", "exception", None, "the program threw { toString: [function] }"),
        ("throw {get message() { throw 1 }}", "exception", None, "the program threw { message: [threw] }"),
        (
            "throw new Map([['a', new Set([1])]])",
            "exception",
            None,
            "the program threw Map(1) { \"a\" => Set(1) { 1 } }",
        ),
        ("await Promise.reject()", "exception", None, "the program threw undefined"),
        ("await Promise.reject(null)", "exception", None, "the program threw null"),
        ("await new Promise((_, no) => no(null))", "exception", None, "the program threw null"),
        ("await new Promise(() => { throw null })", "exception", None, "the program threw null"),
        ("const nothing = JSON.parse('null'); throw nothing", "exception", None, "the program threw null"),
        ("Promise.reject(); return 1", "exception", None, "nothing handled it: undefined"),
        ("Promise.reject(null); return 1", "exception", None, "nothing handled it: null"),
        (
            "const e = new Error(); Object.defineProperty(e, 'message', {get() { throw 1 }}); throw e",
            "exception",
            Some(1),
            ": Error: [threw]",
        ),
        (
            "const e = new Error('m'); Object.defineProperty(e, 'name', {get() { throw 1 }}); throw e",
            "exception",
            Some(1),
            ": Error: m",
        ),
        ("const e = new Error(); e.message = {a: 1}; throw e", "exception", Some(1), ": Error: { a: 1 }"),
        (
            "class Mine extends Error {}\nclass More extends Mine {\n  constructor(m) {\n    super(m)\n  }\n}\nthrow new More('m')",
            "exception",
            Some(7),
            "Error: m",
        ),
        (
            "const why = new TypeError('deep');\nthrow new Error('outer', {cause: why})",
            "exception",
            Some(2),
            "Error: outer (because of TypeError: deep)",
        ),
        (
            "await Promise.any([tools.read_file({path: 'gone'}), Promise.reject(1)])",
            "exception",
            Some(1),
            "(errors [ToolCallError: ",
        ),
        (
            "const e = new Error('round'); e.cause = e; throw e",
            "exception",
            Some(1),
            "Error: round (because of Error: round",
        ),
        ("throw 'words'", "exception", None, "\"words\""),
        ("\nconst e = new Error('why')\ne.name = 'Mine'\nthrow e", "exception", Some(2), "Mine: why"),
        (
            "function f() { return g() }\nfunction g() { throw new RangeError('deep') }\nf()",
            "exception",
            Some(2),
            "deep",
        ),
        ("JSON.parse('{')", "exception", Some(1), "SyntaxError"),
        ("import x from 'fs'", "syntax", Some(1), ""),
        ("return require('fs')", "exception", Some(1), "require"),
        ("\n\nawait tools.read_file({path: 'gone'})", "exception", Some(3), "file_not_found"),
        (
            "try { await tools.read_file({path: 'gone'}) }\ncatch (e) { throw e }",
            "exception",
            Some(1),
            "file_not_found",
        ),
        ("tools.raed_file({path: 'a'})", "exception", Some(1), "did you mean tools.read_file"),
        ("tools.run_code({code: 'return 1'})", "exception", Some(1), "cannot start another"),
        ("read_file({path: 'a'})", "exception", Some(1), "read_file is not defined; it is tools.read_file here"),
        (
            "\nsetTimeout(() => 1, 10)",
            "exception",
            Some(2),
            "setTimeout is not defined; a program here has the language itself",
        ),
        ("tools.zzz()", "exception", Some(1), "there is no tools.zzz. The tools are delete_path, "),
        ("await tools.read_file('a', 'b')", "exception", Some(1), "takes one object"),
        ("await tools.read_file({})", "exception", Some(1), "path"),
    ] {
        let reply = desk.run(code);
        let (is, at, message) = reply.code_failure();
        assert_eq!((is, at), (kind, line), "{code}: {message}");
        says(message, &[said]);
        assert!(!message.contains("[object"), "{message}");
    }
}

/// B165, B171: what is no JSON is refused with its place, for arguments as for results.
#[test]
fn values_cross_without_loss_or_not_at_all() {
    let (mut desk, _home) = both(&[("a", "1\n")]);
    for (value, place) in [
        ("{n: 10n}", "a BigInt; use a number or String(...) at n"),
        ("{m: new Map([[1, 2]])}", "an instance of Map; use Object.fromEntries(...) at m"),
        ("(() => { const c = {d: {}}; c.d.c = c; return c })()", "a circle; it holds itself at d.c"),
        ("[undefined]", "undefined; leave it out or use null at [0]"),
        ("[1, , 2]", "a hole; fill the array at [1]"),
        ("{a: NaN}", "NaN at a"),
        ("[[1 / 0]]", "Infinity at [0][0]"),
        ("{'a b': () => 1}", "a function at [\"a b\"]"),
        ("{s: Symbol('x')}", "a symbol at s"),
        ("'\\ud800'", "half of a surrogate pair"),
        ("{e: new Error('x')}", "an instance of Error; use its message at e"),
        ("new Date(0)", "an instance of Date"),
        ("new Proxy({}, {})", "a Proxy"),
        ("{get a() { throw 1 }}", "threw while it was read"),
        ("(() => { let d = []; for (let i = 0; i < 200; i++) d = [d]; return d })()", "more than 100 levels"),
        (
            "{f: ['a'].map(p => tools.read_file({path: p}))}",
            "a promise; await it first, many of them with await Promise.all(...) at f[0]",
        ),
    ] {
        let reply = desk.run(&format!("return {value}"));
        let (kind, _, message) = reply.code_failure();
        assert!(kind == "exception" || kind == "unsettled", "{value}: {message}");
        if kind == "exception" {
            says(message, &["what the program returned", place]);
        }
        let reply = desk.run(&format!(
            "let said; try {{ await tools.todo_write({value}) }} catch (e) {{ said = e.name + ': ' + e.message }}\n\
             return said + (await tools.read_file({{path: 'a'}})).content"
        ));
        if value.contains("tools.") {
            // Refused, it is a call that nothing awaits.
            says(reply.code_failure().2, &["nothing awaited tools.read_file"]);
        } else {
            says(&reply.ok(), &["TypeError: the arguments of tools.todo_write", place, "1\n"]);
        }
    }
}

#[test]
fn what_was_printed_and_done_before_a_failure_is_told() {
    let (mut desk, home) = both(&[]);
    let reply =
        desk.run("console.log('before');\nawait tools.write_file({path: 'a', content: '1'});\nthrow new Error('then')");
    let (kind, line, message) = reply.code_failure();
    assert_eq!((kind, line), ("exception", Some(3)));
    says(message, &["It had printed:\nbefore", "Calls that it had made (1)", "write_file a: change ", "undo_change"]);
    let details = reply.details();
    assert_eq!(details["logs"], "before\n");
    assert_eq!(details["calls"][0]["tool"], "write_file");
    assert_eq!(details["calls"][0]["paths"], json!(["a"]));
    assert_eq!(desk.folder.text("a"), "1");
    let run = details["run"].as_str().expect("a run").to_owned();
    desk.call("undo_change", json!({ "change": run })).ok();
    assert!(!desk.folder.path().join("a").exists());
    drop(home);
}

/// B168: the promises of the language itself.
#[test]
fn promises_combine_as_the_language_says() {
    let (mut desk, _home) = both(&[("a", "1\n"), ("b", "2\n")]);
    let reply = desk.run(
        "const read = (path) => tools.read_file({path});\n\
         const all = (await Promise.all([read('a'), read('b')])).map(f => f.content.trim());\n\
         const settled = (await Promise.allSettled([read('gone'), read('b')])).map(s => s.status);\n\
         const any = (await Promise.any([read('gone'), read('b')])).content.trim();\n\
         const race = await Promise.race([read('a').then(() => 'a'), Promise.resolve('now')]);\n\
         const mapped = []; for (const p of ['a', 'b']) mapped.push((await read(p)).total_lines);\n\
         await read('a');\n\
         return {all, settled, any, race, mapped}",
    );
    let right = json!({
        "all": ["1", "2"], "settled": ["rejected", "fulfilled"], "any": "2", "race": "now", "mapped": [1, 1],
    });
    assert_eq!(reply.returned(), right);
}

/// B166: what is left unfinished is a failure that says so; what is handled late is handled.
#[test]
fn nothing_is_left_unfinished_in_silence() {
    let (mut desk, _home) = both(&[("a", "1\n")]);
    for (code, kind, said) in [
        ("tools.read_file({path: 'gone'}); return 'ok'", "unsettled", "ended before tools.read_file had"),
        ("tools.read_file({path: 'a'}); tools.list_dir({}); return 'ok'", "unsettled", "and 1 other call"),
        ("Promise.reject(new Error('lost')); return 'ok'", "exception", "nothing handled it: Error: lost"),
        (
            "tools.read_file({path: 'gone'}); await tools.read_file({path: 'a'}); return 1",
            "exception",
            "nothing handled it",
        ),
        // Done or not is not what counts: nobody wanted to know.
        ("tools.read_file({path: 'a'}); await tools.list_dir({}); return 1", "unsettled", "tools.read_file"),
        (
            "void tools.write_file({path: 'b', content: ''}); await tools.list_dir({}); return 1",
            "unsettled",
            "tools.write_file",
        ),
        (
            "const p = tools.read_file({path: 'a'}); await tools.list_dir({}); return typeof p",
            "unsettled",
            "tools.read_file",
        ),
        ("if (tools.read_file({path: 'a'})) await tools.list_dir({})", "unsettled", "tools.read_file"),
        ("tools.describe('read_file'); await tools.list_dir({})", "unsettled", "tools.describe"),
        (
            "const all = [1, 2, 3].map(() => tools.list_dir({})); await all[1]; await all[2]",
            "unsettled",
            "tools.list_dir",
        ),
        ("await new Promise(() => {})", "unsettled", "nothing can settle"),
        ("await {then() {}}", "unsettled", "nothing can settle"),
    ] {
        let reply = desk.run(code);
        let (is, _, message) = reply.code_failure();
        assert_eq!(is, kind, "{code}: {message}");
        says(message, &[said]);
    }
    for code in [
        "const late = tools.read_file({path: 'gone'}); await tools.read_file({path: 'a'}); await late.catch(() => 0); return 1",
        "const p = Promise.reject(1); await null; await null; await p.catch(() => 0); return 1",
        "return (await Promise.allSettled([Promise.reject(1)])).length",
        "return tools.list_dir({}).then(() => 1)",
        "let n = 0; await tools.list_dir({}).finally(() => n++); return n",
        "const p = tools.list_dir({}); await tools.list_dir({}); await p; return 1",
        "const f = async () => tools.list_dir({}); await f(); return 1",
        "const f = () => tools.list_dir({}); for await (const x of [f(), f()]) x.path; return 1",
        "return (await Promise.race([tools.list_dir({}).then(() => 1), new Promise(() => {})]))",
        "return await new Promise(done => done(tools.list_dir({}))) && 1",
        "const p = tools.list_dir({}); await p; return Number(p instanceof Promise && !(p.then(null) instanceof p.constructor))",
    ] {
        assert_eq!(desk.run(code).ok(), "1", "{code}");
    }
}

#[test]
fn a_tool_error_is_an_object_that_a_program_can_tell_apart() {
    let (mut desk, _home) = both(&[("a", "1 1\n")]);
    let reply = desk.run(
        "try { await tools.patch_file({path: 'a', old_str: '1', new_str: '2'}) } catch (e) {\n\
           return [e instanceof ToolCallError, e instanceof Error, e.name, e.code, e.tool, typeof e.message, e.details.matches !== undefined || Object.keys(e.details).length > 0]\n\
         }",
    );
    let right = json!([true, true, "ToolCallError", "ambiguous_match", "patch_file", "string", true]);
    assert_eq!(reply.returned(), right);
}

/// The same facts for programs: beside the text, and whole where results are structured.
#[test]
fn facts_stand_beside_the_text_and_in_structured_content() {
    let (desk, home) = both(&[]);
    let (folder, _) = (desk.folder, desk.server.finish());
    let mut server: Server = home.serve(&folder, &["--structured"]);
    let code = "console.log('said'); await tools.write_file({path: 'a', content: ''}); return {n: 1}";
    let reply = server.call("run_code", json!({ "code": code, "description": "a test" }));
    let change = &reply["_meta"]["toolgate/changes"][0];
    assert_eq!(change["tool"], "write_file");
    assert_eq!(change["paths"], json!(["a"]));
    let structured = &reply["structuredContent"];
    assert_eq!(structured["value"], json!({"n": 1}));
    assert_eq!(structured["logs"], "said\n");
    assert_eq!(&structured["changes"][0], change);
    assert_eq!(structured["run"], reply["_meta"]["toolgate/run"]);
    assert!(structured["sandbox"].as_str().expect("a text").contains("seccomp"), "{structured}");
    let texts: Vec<_> = reply["content"].as_array().expect("texts").iter().map(|block| block["text"].clone()).collect();
    assert_eq!(texts[0], "said\n{\n  \"n\": 1\n}");
    assert!(texts[1].as_str().expect("a text").starts_with("[write_file a: change "), "{texts:?}");
}
