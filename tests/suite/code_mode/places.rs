//! Where in a program something went wrong, told in the program as it was written.

use serde_json::{Value, json};

use crate::suite::support::{Server, Temp};

fn place(server: &mut Server, code: &str) -> (Value, Value) {
    let result = server.call("run_code", json!({"code": code, "description": "a test"}));
    let details = &result["structuredContent"]["details"];
    assert_eq!(details["kind"], "exception", "{code}: {result}");
    (details["line"].clone(), details["column"].clone())
}

/// Each program goes wrong where its plain twin does.
#[test]
fn types_letters_and_fences_move_nothing() {
    let folder = Temp::new();
    let mut server = Server::start_with(folder.path(), &["--mode", "code"]);
    for (program, plain) in [
        ("const a: number = 1; boom()", "const a         = 1; boom()"),
        ("const u: string = 'ü日'; boom()", "const u         = 'u-'; boom()"),
        ("const u = '👋'; boom()", "const u = '-'; boom()"),
        ("type A = {\n  b: string;\n};\nconst a: A = 1 as any; boom()", "\n\n\nconst a    = 1       ; boom()"),
        (
            "\n  return f();\n  function f(): never { throw new Error('x') }",
            "\n  return f();\n  function f()        { throw new Error('x') }",
        ),
        ("```ts\n  boom() as void\n```", "\n  boom()        \n"),
    ] {
        assert_eq!(place(&mut server, program), place(&mut server, plain), "{program}");
    }
    // Where a function is called whose call the program does not write, what stands before and behind it does not count.
    let (called, alone) = ("async () => { boom() }", "              boom()  ");
    assert_eq!(place(&mut server, called), place(&mut server, alone));
    let (called, alone) = ("await (async () => { boom() })()", "                     boom()     ");
    assert_eq!(place(&mut server, called), place(&mut server, alone));
}
