//! Programs, and what is left of them.

use proptest::prelude::*;

use super::*;

/// The lines of the script between what is put before and behind.
fn erased(program: &str) -> String {
    let script = erase(program).unwrap_or_else(|fault| panic!("{fault}\n{program}"));
    let text = script.text().strip_prefix("(async()=>{\"use strict\";").expect("the beginning");
    text.strip_suffix("\n})()").expect("the end").to_owned()
}

fn fault(program: &str) -> (u32, u32, String) {
    let fault = erase(program).expect_err(program);
    (fault.line, fault.column, fault.message)
}

#[test]
fn types_become_blanks_and_everything_else_stays() {
    for (program, left) in [
        ("let a: number = 1;", "let a         = 1;"),
        ("let a!: number;", "let a         ;"),
        (
            "g(); function f<T>(this: X, a?: T, ...b: T[]): T { return a! }",
            "g(); function f   (         a    , ...b     )    { return a; }",
        ),
        ("f<string>(x as unknown as T, y satisfies U)", "f        (x                , y            )"),
        ("new Map<string, Set<number>>()", "new Map                     ()"),
        ("g(); const f = async <T,>(a: T): Promise<T> => a;", "g(); const f = async     (a   )             => a;"),
        ("a!.b![0]!()", "a .b [0] ()"),
        ("(a as T) = (b!)", "(a     ) = (b )"),
        ("for (const x of y as T[]) {}", "for (const x of y       ) {}"),
        ("try {} catch (e: unknown) {}", "try {} catch (e         ) {}"),
        ("type A = { a: string };\nb", ";                      \nb"),
        ("interface A { a: string }\nb", ";                        \nb"),
        ("declare const a: string;", ";                       "),
        ("declare function f(): void", ";                         "),
        ("declare enum A { B }", ";                   "),
        (
            "g();\nfunction f(a: string): void;\nfunction f(a) {}",
            "g();\n;                           \nfunction f(a) {}",
        ),
        ("if (a) interface B {}", "if (a) ;             "),
        ("class A<T> extends B<T> implements C<T>, D {}", "class A    extends B                       {}"),
        ("abstract class A { abstract a(): void; b() {} }", "         class A { ;                   b() {} }"),
        (
            "class A { private readonly a?: string = 'x'; static declare b: C; [k: string]: D }",
            "class A { ;                a          = 'x'; ;                    ;              }",
        ),
        (
            "class A { static readonly a = 1; override async b?(): Promise<void> {} }",
            "class A { static          a = 1; ;        async b ()                {} }",
        ),
        ("class A { private [b]!: number }", "class A { ;       [b];         }"),
        ("f(() => a as T, (b = () => c!) => d)", "f(() => a     , (b = () => c ) => d)"),
        ("f<T>`x`", "f   `x`"),
        ("const g = f<string>;", "const g = f        ;"),
        ("const s = 'a: string' + `${b as string}` // c: d", "const s = 'a: string' + `${b          }` // c: d"),
        ("const ü: Größe = 'ß' as Größe;", "const ü        = 'ß'         ;"),
    ] {
        assert_eq!(erased(program), left, "{program}");
    }
}

/// What is left must not go on behind a line whose types are gone.
#[test]
fn lines_end_where_they_ended() {
    for (program, left) in [
        ("let a = b as T\n(c)", "let a = b ;   \n(c)"),
        ("b satisfies T\n[c]", "b ;          \n[c]"),
        ("let a = b as {\n  c: d }\n`e`", "let a = b ;   \n        \n`e`"),
        ("let a = f<T>\nlet b", "let a = f;  \nlet b"),
        ("let a = 1\ntype B = C\n(d)", "let a = 1\n;         \n(d)"),
        ("a!\n++b", "a;\n++b"),
        ("class A { get: string\n b() {} }", "class A { get;       \n b() {} }"),
        ("class A { a = 1\n public ['b'] = 2 }", "class A { a = 1\n ;      ['b'] = 2 }"),
        ("g(); const f = (a): {\n  b: c } => a", "g(); const f = (a    \n       ) => a"),
        ("g(); const f = async <\n  T\n>(a: T) => a", "g(); const f = async (\n   \n  a   ) => a"),
        ("return <\n  T\n>(a: T) => a", "return (\n   \n  a   ) => a"),
    ] {
        assert_eq!(erased(program), left, "{program}");
    }
}

#[test]
fn what_is_code_and_no_type_is_refused_with_its_place() {
    for (program, line, column, says) in [
        ("const a = 1;\nenum Color { Red }", 2, 1, "as const"),
        ("const enum A { B }", 1, 1, "as const"),
        ("namespace A { export const b = 1 }", 1, 1, "namespace"),
        ("module A {}", 1, 1, "namespace"),
        ("class A {\n  constructor(private b: string) {}\n}", 2, 15, "parameter property"),
        ("@sealed\nclass A {}", 1, 1, "decorators"),
        ("class A { @log b() {} }", 1, 11, "decorators"),
        ("class A { accessor b = 1 }", 1, 11, "accessor"),
        ("import fs from 'fs';", 1, 1, "`tools`"),
        ("import type { A } from 'b';", 1, 1, "`tools`"),
        ("const fs = await import('fs');", 1, 18, "`tools`"),
        ("import fs = require('fs')", 1, 1, "`tools`"),
        ("return import.meta.url", 1, 8, "`tools`"),
        ("export default async () => 1", 1, 1, "return the result"),
        ("const a = 1; export { a }", 1, 14, "return the result"),
        ("export = 1", 1, 1, "return the result"),
        ("const a = <b>c</b>;", 1, 11, "JSX"),
        ("const a = <></>;", 1, 11, "JSX"),
        ("const a = <string>b;", 1, 11, "value as Type"),
        ("a<!--b", 1, 2, "space"),
        ("let a = ;", 1, 9, ""),
        ("  const = 5", 1, 9, ""),
        ("return {\n  a: 1\n  b: 2 };", 3, 3, ""),
        ("f(", 1, 3, ""),
        ("}) + (() => {", 1, 1, ""),
    ] {
        let (at, beside, message) = fault(program);
        assert_eq!((at, beside), (line, column), "{program}: {message}");
        assert!(message.contains(says), "{program}: {message}");
    }
}

#[test]
fn the_first_of_several_is_told() {
    let (line, column, _) = fault("const a = 1;\nclass A { constructor(public b) {} }\nenum C {}");
    assert_eq!((line, column), (2, 23));
}

#[test]
fn fences_are_no_part_of_a_program_and_keep_their_lines() {
    for program in [
        "```ts\nreturn 1;\n```",
        "\n```typescript\nreturn 1;\n```\n\n",
        "~~~\nreturn 1;\n~~~",
        "````js\nreturn 1;\n````",
        "```ts\nreturn 1;\n",
        "return 1;",
    ] {
        let left = erased(program);
        assert_eq!(left.trim(), "return 1;", "{program}");
        assert_eq!(left.lines().count(), program.lines().count(), "{program}");
    }
    assert_eq!(fault("```ts\nenum A {}\n```").0, 2);
    assert_eq!(erased("return `\n~~~\n`").trim(), "return `\n~~~\n`", "a fence inside is the program's own");
}

#[test]
fn a_function_is_called() {
    for (program, left) in [
        ("async () => 1", "return (async () => 1)()"),
        ("async () => {\n  return 1;\n};", "return (async () => {\n  return 1;\n})();"),
        ("(async () => 1)", "return ((async () => 1))()"),
        ("async ({ tools }) => 1", "return (async ({ tools }) => 1)({ tools })"),
        ("async (t: Tools) => 1", "return (async (t       ) => 1)(tools)"),
        ("async function () { return 1 }", "return ((async function () { return 1 }\n))()"),
        ("(async () => { await 1 })();", "return (async () => { await 1 })();"),
        ("await (async () => 1)()", "return await (async () => 1)()"),
        ("async function main() {}", "async function main() {}\nreturn main();"),
        ("async function run(tools) {}", "async function run(tools) {}\nreturn run(tools);"),
        ("const main = async () => 1;", "const main = async () => 1;\nreturn main();"),
        (
            "function a() {}\nasync function main() {}\nconst b = () => 2",
            "function a() {}\nasync function main() {}\nconst b = () => 2\nreturn main();",
        ),
        ("async function main() {}\nmain();", "async function main() {}\nreturn main();"),
        (
            "async function main() {}\nmain().catch(console.error);",
            "async function main() {}\nreturn main().catch(console.error);",
        ),
        ("type A = 1;\nasync () => 1", ";          \nreturn (async () => 1)()"),
        // These say themselves what they come to, or nothing.
        ("function a() {}\nfunction b() {}", "function a() {}\nfunction b() {}"),
        ("const a = f(); const main = () => 1;", "const a = f(); const main = () => 1;"),
        ("function* main() {}", "function* main() {}"),
        ("console.log(1)", "console.log(1)"),
        ("", ""),
    ] {
        assert_eq!(erased(program), left, "{program}");
    }
}

#[test]
fn places_in_the_script_lead_back_to_the_program() {
    for (program, word) in [
        ("const a: number = 1; boom()", "boom"),
        ("type A = {\n  b: string;\n};\nconst ü: A = 1; boom()", "boom"),
        ("async () => {\n  boom() }", "boom"),
        ("async () => boom()", "boom"),
        ("```ts\nasync function (): Promise<void> { boom() }\n```", "boom"),
    ] {
        let script = erase(program).expect(program);
        let before = script.text().split_once(word).expect(word).0;
        let line_of = |text: &str| u32::try_from(text.matches('\n').count()).expect("few lines") + 1;
        let column_of =
            |text: &str| u32::try_from(text.rsplit('\n').next().expect("a line").len()).expect("a short line") + 1;
        let at = (line_of(before), column_of(before));
        let want = fault::place(program, program.find(word).expect(word));
        assert_eq!(script.place(at.0, at.1), want, "{program}\n{}", script.text());
    }
    let script = erase("async function main() {}").expect("a program");
    assert_eq!(script.place(2, 8), (1, 25), "what is behind the program is its end");
    assert_eq!(script.place(1, 3), (1, 1), "what is before it is its beginning");
}

#[test]
fn what_is_too_deep_is_refused_where_it_begins_to_be() {
    let (line, column, message) = fault(&"[".repeat(100_000));
    assert_eq!((line, column), (1, 201), "{message}");
    for open in ["(", "{", "[", "`${", "a(", "{a:", "f(/*)*/", "f(')',", "f(/\\)[)]/,"] {
        let (_, _, message) = fault(&open.repeat(5_000));
        assert!(message.contains("200 deep"), "{open}: {message}");
    }
    for shallow in
        ["'((((('", "/[(((((]/", "`(((((`", "// (((((\n", "/* ((((( */", "a / 2; ({}); b / (1);", "return /\\(/;"]
    {
        assert!(erase(&format!("{shallow};\n").repeat(500)).is_ok(), "{shallow}");
    }
}

/// Where the parser has to try whether a type or a function begins, it tries again behind it: a long chain would cost its
/// length squared, or all of the stack.
#[test]
fn a_chain_of_what_may_be_types_is_refused_where_it_is_too_long() {
    for (head, link, each) in [
        ("", "a<", 1),
        ("", "a < ", 1),
        ("", "a<b.c<", 2),
        ("", "a<b|", 1),
        ("", "f<<", 2),
        ("[", "a<b, ", 1),
        ("", "a<[]|", 1),
        ("", "a<'>'|", 1),
        ("x<", "a</*>*/", 1),
        ("", "a<=>", 0),
        ("", "a?(b):c=>", 1),
        ("", "a ? /* ; */ (b):c=>", 1),
        ("", "a?\n//(\n(b):c=>", 1),
        ("", "a?\u{a0}(b):c=>", 1),
        ("", "a?async(b):c=>", 1),
        ("", "a?<T>(b):c=>", 1),
    ] {
        for links in [1_000, 20_000] {
            let said = fault(&format!("return {head}{}d", link.repeat(links))).2;
            assert_eq!(said.contains("could begin"), each > 0, "{link}: {said}");
        }
    }
    let (line, column, _) = fault(&format!("let a = 1;\nreturn {}1", "a<".repeat(1_000)));
    assert_eq!((line, column), (2, 7 + 2 * 201), "at the one that is too many");
}

/// What comes to an end is no chain, however much of it there is.
#[test]
fn comparisons_and_type_arguments_that_end_are_as_many_as_one_likes() {
    for piece in [
        "if (a < b) c(); else d();\n",
        "for (let i = 0; i < n; i++) a(i)\n",
        "ok = a < b;",
        "ok = a ? (b) : (c);",
        "const m: Map<string, Array<number>> = new Map<string, Array<number>>()\n",
        "a.push({ low: b < c })\n",
        "`${a < b}`;",
        "'a<b'; /a<b<c/; // a<b<c\n",
        "ok = a?.(b) ?? (c)\n",
        "interface I { a?(b: C): D; e?: F<G> }\n",
    ] {
        let program = piece.replace("const m", "var m").repeat(300);
        assert!(erase(&program).is_ok(), "{piece}: {:?}", erase(&program));
    }
    let all = "() => a < b, ".repeat(100);
    assert!(erase(&format!("return [{all}]")).is_ok());
}

/// Models put a file's text together line by line.
#[test]
fn a_long_chain_is_no_nesting() {
    for link in ["\"line\\n\" + ", "a ?? ", "f(await x) || "] {
        assert!(erase(&format!("return {}1", link.repeat(2_000))).is_ok(), "{link}");
    }
    for link in [".then(f)", "!", " as T", "[0]"] {
        assert!(erase(&format!("return a{}", link.repeat(2_000))).is_ok(), "{link}");
    }
}

/// The parser tries a parenthesis as the beginning of an arrow function first; that must not double with every level.
#[test]
fn nested_parentheses_cost_no_more_than_they_are_long() {
    for (open, close) in
        [("(", ")"), ("(a = (b: c) => ", ")"), ("a ? (b) : (", ")"), ("f<T>(", ")"), ("async (a = ", ")")]
    {
        let program = format!("return {}1{}", open.repeat(60), close.repeat(60));
        let _ = erase(&program);
    }
}

/// Pieces that a program can be made of, types among them.
/// The engine throws null where its memory has run out, so it matters whether the program could.
#[test]
fn what_may_throw_null_is_found() {
    for (program, may) in [
        ("throw null", true),
        ("try { f() } catch (e) { throw e }", true),
        ("if (x) throw (x as any)", true),
        ("const f = () => { throw make() }", true),
        ("await Promise.reject(null)", true),
        ("const { promise, reject: no } = Promise.withResolvers(); no(null)", true),
        ("await new Promise((yes, no) => no(null))", true),
        ("await new Promise(function (...both) { both[1](null) })", true),
        ("await new Promise(begin)", true),
        ("Promise['reject'](null)", true),
        ("generator.throw(null)", true),
        ("eval('throw null')", true),
        ("new Function('throw null')()", true),
        ("throw new Error('why')", false),
        ("throw { code: 1 } as const", false),
        ("throw `text`", false),
        ("throw 'reject this'", false),
        ("const m = []; for (;;) m.push({})", false),
        ("await new Promise((yes) => yes(1))", false),
        ("const refuse: null = null; return refuse", false),
    ] {
        assert_eq!(erase(program).expect(program).may_throw_null(), may, "{program}");
    }
}

fn piece() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "let a: number = 1",
        "b as T",
        "type A = { b: string }",
        "interface B { c(): void }",
        "(c)",
        "[d]",
        "`e`",
        "/f/g.test(h)",
        "++i",
        "class C { private j: string; get: T\n k() {} }",
        "const f = <T,>(x: T): T => x",
        "await m!",
        "n satisfies O",
        "function p(this: Q, r?: S): T { return r! }",
        "for (const u of v as W[]) { x }",
        "if (y as Z) { } else b!",
        "const s = \"ü: ß\"",
        "// comment: type",
        "/* a: b\n c */",
        "try {} catch (e: any) {}",
        "f<string>",
        "return z as any",
        "async <\nT>(a: T): Promise<\nT> => a",
        "enum E { F }",
        "declare let q: R",
        "x ? y as T : z!",
        "{ a: b as C }",
    ])
}

proptest! {
    /// Erasing changes no line and no width, leaves nothing that it would erase again, and keeps every other character.
    #[test]
    fn erasing_keeps_every_place(pieces in prop::collection::vec((piece(), prop::sample::select(vec!["\n", ";\n", "\r\n", "; "])), 1..8)) {
        let program: String = pieces.iter().flat_map(|(piece, end)| [*piece, *end]).collect();
        if erase(&program).is_ok() {
            let left = erased(&program);
            let longer = program.split('\n').zip(left.split('\n')).filter(|(was, is)| was.chars().count() != is.chars().count());
            prop_assert!(longer.count() <= 2, "at most two lines get something:\n{}\n{}", program, left);
            let more = left.matches('\n').count() - program.matches('\n').count();
            prop_assert!(more <= 1, "at most one line comes behind:\n{}\n{}", program, left);
            if left.chars().count() == program.chars().count() {
                for (before, after) in program.chars().zip(left.chars()) {
                    prop_assert!(before == after || matches!(after, ' ' | ';' | '(' | ')'), "{:?} became {:?} in\n{}\n{}", before, after, program, left);
                    prop_assert_eq!(matches!(before, '\n' | '\r'), matches!(after, '\n' | '\r'));
                }
            }
        }
    }

    /// Whatever is written, there is an answer, and its place is in the program.
    #[test]
    fn any_text_gets_an_answer(program in "\\PC{0,80}|[a-z(){}\\[\\]<>=;:`'\"/*!?.,\\n ]{0,60}") {
        if let Err(fault) = erase(&program) {
            let lines = u32::try_from(program.lines().count()).unwrap_or(u32::MAX);
            prop_assert!(fault.line >= 1 && fault.line <= lines + 1, "{}", fault);
            prop_assert!(fault.column >= 1);
        }
    }
}
