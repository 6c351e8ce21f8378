//! What a program that was told to get out tries, and what comes of it.

use serde_json::{Value, json};

use super::kit::both;
use crate::suite::cases::kit::says;

/// B177: there is nothing of the host to be reached.
#[test]
fn nothing_of_the_host_is_within_reach() {
    let (mut desk, _home) = both(&[("a", "1\n")]);
    let ways = [
        "tools.read_file.constructor.constructor('return typeof process + typeof Deno + typeof require')()",
        "console.log.constructor('return typeof process + typeof std + typeof os')()",
        "Function('return typeof globalThis.process + typeof scriptArgs + typeof print')()",
        "(await tools.read_file({path: 'a'})).constructor.constructor('return typeof process + typeof fetch + typeof WebAssembly')()",
        "await tools.read_file({path: 'x'}).catch(e => e.constructor.constructor('return typeof process + typeof setTimeout + typeof Worker')())",
        "eval('typeof process + typeof SharedArrayBuffer + typeof Atomics')",
        "(0, eval)('this').constructor.constructor('return typeof process + typeof module + typeof exports')()",
        "Object.getPrototypeOf(async function () {}).constructor('return typeof process + typeof performance + typeof loadScript')()",
    ];
    for way in ways {
        assert_eq!(desk.run(&format!("return await {way}")).ok(), "undefinedundefinedundefined", "{way}");
    }
    let names = desk.run("return Object.getOwnPropertyNames(globalThis).sort().join(' ')").ok();
    for name in ["tools", "console", "ToolCallError", "JSON", "Promise"] {
        assert!(names.split(' ').any(|there| there == name), "{name} in {names}");
    }
    for name in ["process", "require", "std", "os", "bjson", "fetch", "setTimeout", "print", "gc"] {
        assert!(!names.split(' ').any(|there| there == name), "{name} in {names}");
    }
}

/// Whatever a program puts in the place of what the language has, its calls still go where they go.
#[test]
fn a_program_that_bends_its_world_bends_only_that() {
    let (mut desk, _home) = both(&[("a", "1\n")]);
    for bend in [
        "Object.prototype.toJSON = () => ({path: 'gone'});",
        "Array.prototype.map = Array.prototype.push = () => { throw 1 };",
        "Promise.prototype.then = () => 'no'; globalThis.Promise = null;",
        "JSON.parse = () => ({}); JSON.stringify = () => '{}';",
        "globalThis.Error = null; String = null; Object.defineProperty = null; Object.freeze = null;",
        "Error.prepareStackTrace = () => { throw 1 }; Error.stackTraceLimit = 0;",
        "Object.defineProperty(Object.prototype, 'path', {get() { return 'gone' }, set() {}});",
        "Reflect.apply = null; Function.prototype.call = Function.prototype.apply = null;",
        "Array.prototype[Symbol.iterator] = null;",
        "try { tools.read_file = null } catch {} try { globalThis.tools = null } catch {} try { delete globalThis.tools } catch {}",
        "try { console.log = null } catch {} try { tools.__proto__ = null } catch {}",
        "try { Object.setPrototypeOf(tools, {read_file: null}) } catch {}",
    ] {
        let reply = desk.run(&format!("{bend}\nreturn (await tools.read_file({{path: 'a'}})).content"));
        assert_eq!(reply.ok(), "1\n", "{bend}");
    }
}

/// What no program can say, however it tries: each is told as a failure of the program, and the server lives.
#[test]
fn bombs_hurt_nobody_else() {
    let (mut desk, _home) = both(&[("a", "1\n")]);
    for (code, kinds) in [
        ("let s = 'x'; for (;;) s = s + s", &["memory", "exception", "timeout"][..]),
        ("return '['.repeat(1e6)", &["output_limit"]),
        ("JSON.parse('['.repeat(2e5))", &["memory", "exception"]),
        ("let d = []; for (let i = 0; i < 2e5; i++) d = [d]; return JSON.stringify(d)", &["memory", "exception"]),
        ("let d = {}; const top = d; for (let i = 0; i < 2e5; i++) d = d.a = {}; return top", &["exception"]),
        ("return 3n ** 50000000n", &["exception", "timeout", "memory"]),
        ("new Array(2 ** 32 - 1).join('x')", &["memory", "exception", "timeout"]),
        ("[].concat(...Array(1e5).fill(Array(1e3).fill(0)))", &["memory", "exception", "timeout"]),
        ("const a = []; a.length = 4e9; await tools.todo_write({todos: a})", &["exception"]),
        ("console.log('x'.repeat(1e8))", &["output_limit", "memory"]),
        ("for (let i = 0; i < 1e8; i++) console.log('0123456789')", &["output_limit"]),
        ("const g = function* () { for (;;) yield 1 }; return [...g()]", &["memory", "timeout"]),
        ("const m = new Map(); for (let i = 0; ; i++) m.set(i, 'x'.repeat(1000) + i)", &["memory", "timeout"]),
        ("class A { constructor() { new A() } } new A()", &["memory"]),
        ("new RegExp('(' .repeat(1e5) + ')'.repeat(1e5))", &["memory", "exception", "syntax"]),
        ("throw new Proxy({}, {get() { throw 1 }})", &["exception"]),
        ("const e = new Error(); Object.defineProperty(e, 'message', {get() { for (;;); }}); throw e", &["timeout"]),
        ("throw Object.defineProperty(new Error(), 'cause', {get() { for (;;); }})", &["timeout"]),
        ("class E extends Error { get name() { for (;;); } }; Promise.reject(new E()); return 1", &["timeout"]),
        ("return new Proxy({}, {ownKeys() { for (;;); }})", &["exception"]),
        ("return {get a() { for (;;); }}", &["timeout"]),
        ("const f = () => tools.read_file({path: 'a'}).then(f); await f()", &["exception", "timeout"]),
    ] {
        let reply = desk.run(code);
        let (kind, _, message) = reply.code_failure();
        assert!(kinds.contains(&kind), "{code}: {kind}: {message}");
    }
    assert_eq!(desk.run("return 1").ok(), "1");
    desk.read("a").ok();
}

/// Whoever looks at a value asks it nothing that it could answer by throwing, and believes no length.
#[test]
fn a_value_that_misleads_is_refused_with_its_reason() {
    let (mut desk, _home) = both(&[]);
    let traps = "new Proxy({}, {getPrototypeOf() { throw 1 }, get() { throw 2 }, ownKeys() { throw 3 }})";
    for (code, said) in [
        ("const a = []; a.length = 2 ** 32 - 1; return a", "a hole; fill the array at [0]"),
        (
            "const a = []; a.length = 2 ** 32 - 1; await tools.todo_write({todos: a})",
            "a hole; fill the array at todos[0]",
        ),
        ("const a = []; a.length = 2 ** 32 - 1; throw a", "more]"),
        ("return [TRAPS]", "a Proxy"),
        ("return [Object.create(TRAPS)]", "an instance of class"),
        ("await tools.todo_write(Object.create(TRAPS))", "an instance of class"),
        ("throw TRAPS", "the program threw {"),
        ("throw Object.create(TRAPS)", "the program threw {"),
        ("throw Object.setPrototypeOf(() => 0, TRAPS)", "the program threw [function]"),
        ("throw Object.setPrototypeOf([], TRAPS)", "the program threw []"),
        ("throw Object.setPrototypeOf(new Error('e'), TRAPS)", "failed (exception)"),
    ] {
        let reply = desk.run(&code.replace("TRAPS", traps));
        let (kind, _, message) = reply.code_failure();
        assert_eq!(kind, "exception", "{code}: {message}");
        says(message, &[said]);
    }
    for (printed, shown) in [
        ("TRAPS", "{ [threw] }"),
        ("[TRAPS, 1]", "[{ [threw] }, 1]"),
        ("Object.create(TRAPS)", "{ }"),
        ("Object.assign([], {length: 2 ** 32 - 1}).length", "4294967295"),
        ("new Proxy({a: 1}, {})", "{ a: 1 }"),
    ] {
        let reply = desk.run(&format!("console.log({}); return 'on'", printed.replace("TRAPS", traps)));
        says(&reply.ok(), &[shown, "on"]);
    }
    for link in ["a => ", "a = ", "a ? b : "] {
        let reply = desk.run(&format!("return {}1", link.repeat(25_000)));
        says(reply.code_failure().2, &["nested so deeply"]);
    }
    let reply = desk.run("try { await tools.describe('gone') } catch (e) { throw new Error(e.code) }");
    says(reply.code_failure().2, &["Error: invalid_arguments", "describe: invalid_arguments"]);
}

/// A program cannot end its own wrapping and go on outside of it.
#[test]
fn a_program_stays_the_body_of_its_function() {
    let (mut desk, _home) = both(&[]);
    for code in ["})(); (async () => {", "}); ({", "return 1 }, 2) //", "*/ return 1"] {
        let reply = desk.run(code);
        assert_eq!(reply.0["isError"], true, "{code}: {}", reply.0);
    }
}

/// Its process is killed from outside: what it had printed and done is told.
#[cfg(target_os = "linux")]
#[test]
fn a_process_that_is_killed_is_told_as_a_crash() {
    let (mut desk, _home) = both(&[("a", "1\n")]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let code = "console.log('before'); await tools.write_file({path: 'begun', content: ''}); 'a'.repeat(2e6).lastIndexOf('a'.repeat(1e6) + 'b')";
    let params = json!({ "name": "run_code", "arguments": { "code": code, "description": "x" }, "_meta": meta });
    desk.server.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }));
    while !desk.folder.path().join("begun").exists() {
        std::thread::yield_now();
    }
    for worker in children(desk.server.id()) {
        let killed = std::process::Command::new("kill").args(["-9", &worker.to_string()]).status();
        assert!(killed.expect("kill").success());
    }
    let answer = desk.server.recv();
    let details = &answer["result"]["structuredContent"]["details"];
    assert!(details["kind"] == "crash" || details["kind"] == "timeout", "{answer}");
    assert_eq!(details["logs"], "before\n");
    assert_eq!(details["calls"][0]["tool"], "write_file");
    assert_eq!(desk.run("return 1").ok(), "1");
}

/// The processes that this one has started.
#[cfg(target_os = "linux")]
fn children(parent: u32) -> Vec<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{parent}/task")).expect("tasks");
    tasks
        .filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("children")).ok())
        .flat_map(|children| children.split_whitespace().map(|id| id.parse().expect("an id")).collect::<Vec<_>>())
        .collect()
}

/// What the system takes from the process: all of it, on a system that can; and how much that is, is told.
#[cfg(target_os = "linux")]
#[test]
fn the_process_is_confined_and_that_is_told() {
    let (mut desk, _home) = both(&[]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let code = "await tools.write_file({path: 'begun', content: ''}); for (;;);";
    let params = json!({ "name": "run_code", "arguments": { "code": code, "description": "x" }, "_meta": meta });
    desk.server.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }));
    while !desk.folder.path().join("begun").exists() {
        std::thread::yield_now();
    }
    let workers = children(desk.server.id());
    let [worker] = workers[..] else { panic!("{workers:?}") };
    let of = |file: &str| std::fs::read(format!("/proc/{worker}/{file}")).unwrap_or_default();
    let status = String::from_utf8(of("status")).expect("text");
    assert!(of("environ").is_empty(), "no environment");
    let open = std::fs::read_dir(format!("/proc/{worker}/fd")).expect("files");
    let open: Vec<String> = open
        .map(|file| std::fs::read_link(file.expect("a file").path()).expect("a link").display().to_string())
        .collect();
    assert!(
        open.len() == 3 && open.iter().all(|file| file.starts_with("pipe:") || file.starts_with("socket:")),
        "{open:?}"
    );
    says(&status, &["Seccomp:\t2", "NoNewPrivs:\t1", "Threads:\t1"]);
    assert_eq!(std::fs::read_link(format!("/proc/{worker}/cwd")).expect("a folder").to_str(), Some("/"));
    desk.server.recv();
    let sandbox = desk.run("return 1").fact("sandbox").clone();
    assert!(sandbox.as_str().expect("a text").contains("seccomp on, resource limits on"), "{sandbox}");
}

/// Thousands of programs later nothing is left over: no process, no open file.
#[cfg(target_os = "linux")]
#[test]
fn nothing_is_left_over_of_a_run() {
    let (mut desk, _home) = both(&[]);
    let files = |desk: &crate::suite::cases::kit::Desk| {
        std::fs::read_dir(format!("/proc/{}/fd", desk.server.id())).expect("files").count()
    };
    for _ in 0..3 {
        desk.run("return 1").ok();
    }
    let before = files(&desk);
    for n in 0..20 {
        let code = ["return 1", "throw 1", "console.log(1)", "await new Promise(() => {})"][n % 4];
        let _: &Value = &desk.run(code).0;
    }
    assert_eq!(children(desk.server.id()), Vec::<u32>::new());
    assert!(files(&desk) <= before + 1, "{} files after {before}", files(&desk));
}
