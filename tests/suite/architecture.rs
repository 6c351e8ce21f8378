//! The shape of `src/`: imports point down, files are small and say what they are, and no code that ships panics.

mod scan;

use std::fs;
use std::path::{Path, PathBuf};

use scan::{Import, imports, shipped, test_modules, tokens};

/// Which module stands on which floor. An import may point to the same floor or to a lower one.
const FLOORS: &[(u8, &[&str])] = &[
    (1, &["model", "text"]),
    (2, &["workspace"]),
    (3, &["tool", "offer", "ledger"]),
    (4, &["gate", "tools", "offers"]),
    (5, &["dispatch", "config"]),
    (6, &["rpc", "oneshot", "code"]),
    (7, &["serve"]),
    (8, &["cli"]),
    (9, &["main"]),
];

/// The ways in. They stand side by side and do not know each other.
const DOORS: &[&str] = &["rpc", "oneshot", "code"];

/// From this floor on, code is a user of the library and may name what `lib.rs` exports.
const OUTSIDE_THE_LIBRARY: u8 = 8;

const MOST_LINES: usize = 450;

/// A source file, and its path below `src/`.
struct Source {
    path: PathBuf,
    text: String,
    /// Built for tests only, since a module above is.
    for_tests: bool,
}

impl Source {
    fn new(path: &str, text: &str) -> Self {
        Source { path: path.into(), text: text.to_owned(), for_tests: false }
    }

    /// `rpc/tools/call.rs` is `["rpc", "tools", "call"]`; the crate's own root has no name.
    fn module(&self) -> Vec<String> {
        let path = self.path.with_extension("");
        path.iter().map(|part| part.to_string_lossy().into_owned()).filter(|part| part != "lib").collect()
    }

    fn fault(&self, what: impl std::fmt::Display) -> String {
        format!("src/{}: {what}", self.path.display())
    }
}

/// Every Rust file below `src/`.
fn sources() -> Vec<Source> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut paths = Vec::new();
    walk(&root, &mut paths);
    paths.sort();
    let source = |path: &PathBuf| Source {
        path: path.strip_prefix(&root).unwrap().to_owned(),
        text: fs::read_to_string(path).unwrap(),
        for_tests: false,
    };
    let mut found: Vec<Source> = paths.iter().map(source).collect();
    mark_test_modules(&mut found);
    found
}

/// Marks the files of the modules that are declared as `#[cfg(test)] mod name;`, and of those below them.
fn mark_test_modules(sources: &mut [Source]) {
    let declared = |source: &Source| {
        let tokens = tokens(&source.text);
        let names: Vec<String> = test_modules(&tokens).into_iter().map(str::to_owned).collect();
        names.into_iter().map(|name| [source.module(), vec![name]].concat()).collect::<Vec<_>>()
    };
    let modules: Vec<Vec<String>> = sources.iter().flat_map(declared).collect();
    for source in sources {
        source.for_tests = modules.iter().any(|module| source.module().starts_with(module));
    }
}

fn floor(module: &str) -> Option<u8> {
    FLOORS.iter().find(|(_, modules)| modules.contains(&module)).map(|(floor, _)| *floor)
}

/// The imports of a file that point up, or sideways between the doors.
fn bad_imports(source: &Source) -> Vec<String> {
    let module = source.module();
    let Some(own) = module.first() else {
        return Vec::new(); // lib.rs names everything
    };
    let Some(height) = floor(own) else {
        return vec![source.fault(format!("`{own}` is on no floor; give it one in tests/suite/architecture.rs"))];
    };
    let tokens = tokens(&source.text);
    let judge = |import: Import| {
        let target = import.module;
        match floor(target) {
            Some(there) if there > height => {
                Some(format!("`{own}` (floor {height}) imports `{target}` (floor {there})"))
            }
            Some(_) if target != own && DOORS.contains(&target) && DOORS.contains(&own.as_str()) => {
                Some(format!("the doors `{own}` and `{target}` must not know each other"))
            }
            None if height < OUTSIDE_THE_LIBRARY => {
                Some(format!("`{target}` is no module of the crate; import it from the module it is defined in"))
            }
            _ => None,
        }
    };
    imports(&tokens, module.len()).into_iter().filter_map(judge).map(|what| source.fault(what)).collect()
}

/// A file that does not say what it is, is too long, or is a `mod.rs`.
fn bad_form(source: &Source) -> Vec<String> {
    let mut faults = Vec::new();
    let root_with_a_page = source.module().is_empty() && source.text.contains("#![doc");
    if !source.text.starts_with("//!") && !root_with_a_page {
        faults.push(source.fault("begins without a `//!` line that says what it is"));
    }
    let lines = source.text.lines().count();
    if lines > MOST_LINES {
        faults.push(source.fault(format!("{lines} lines are more than {MOST_LINES}")));
    }
    if source.path.ends_with("mod.rs") {
        faults.push(source.fault("`foo.rs` beside `foo/` instead of `foo/mod.rs`, please"));
    }
    faults
}

/// Places that would panic instead of failing, in code that ships.
fn bad_panics(source: &Source) -> Vec<String> {
    if source.for_tests {
        return Vec::new();
    }
    let tokens = tokens(&source.text);
    let shipped = shipped(&tokens);
    let panics = shipped.windows(3).filter(|three| matches!(three, [".", "unwrap" | "expect", "("]));
    panics.map(|three| source.fault(format!("`.{}(` outside of tests", three[1]))).collect()
}

/// Ways past the gate: a plan made or a change committed anywhere but in the dispatcher. Below it are the trait, its homes and
/// their suite, and the tools' own registry.
fn bad_reach(source: &Source) -> Vec<String> {
    let module = source.module();
    let may = matches!(module.first().map(String::as_str), Some("dispatch" | "workspace" | "tool"));
    if may || source.for_tests {
        return Vec::new();
    }
    let tokens = tokens(&source.text);
    let shipped = shipped(&tokens);
    let reaches = shipped.windows(3).filter(|three| matches!(three, [".", "commit" | "plan", "("]));
    reaches
        .map(|three| source.fault(format!("`.{}(` goes past the gate; call Dispatcher::dispatch", three[1])))
        .collect()
}

fn faults(rule: fn(&Source) -> Vec<String>) -> String {
    sources().iter().flat_map(rule).collect::<Vec<_>>().join("\n")
}

#[test]
fn imports_point_down() {
    assert_eq!(faults(bad_imports), "");
}

#[test]
fn files_are_small_and_say_what_they_are() {
    assert_eq!(faults(bad_form), "");
}

#[test]
fn no_shipped_code_unwraps() {
    assert_eq!(faults(bad_panics), "");
}

#[test]
fn only_the_dispatcher_plans_and_commits() {
    assert_eq!(faults(bad_reach), "");
}

/// The rules themselves can fail.
mod rules {
    use super::*;

    fn imports_of(path: &str, text: &str) -> usize {
        bad_imports(&Source::new(path, text)).len()
    }

    #[test]
    fn an_import_that_points_up_is_found_however_it_is_written() {
        for text in [
            "use crate::dispatch::Dispatcher;",
            "pub use crate::dispatch;",
            "use crate::{\n    model::path::WsPath,\n    // comment\n    dispatch::{Dispatcher, Plan},\n};",
            "use {crate::dispatch::Dispatcher, std::fs};",
            "fn f() { crate::dispatch::run(\"crate::model\") }",
            "fn f<'a>(c: char) -> bool { c == '\"' || crate::dispatch::is(c, '{', b'\\'') }",
            "const A: &str = r#\"\"#; type B = crate :: dispatch :: C;",
            "use super::super::dispatch;",
            "#[cfg(test)]\nmod tests { use crate::dispatch; }",
        ] {
            assert_eq!(imports_of("tools/read_file.rs", text), 1, "{text}");
        }
    }

    #[test]
    fn an_import_that_points_down_or_only_looks_like_one_is_fine() {
        for text in [
            "use crate::{model::path::WsPath, tool::{Tool, dispatch}};",
            "use super::{dispatch, other}; pub(crate) fn f() {}",
            "mod tests { use super::super::dispatch; }",
            "/// See [`crate::dispatch`].\n/* crate::dispatch /* nested */ */ const A: &str = \"crate::dispatch\";",
            "const A: &str = r#\"\" crate::dispatch\"#;",
            "use std::dispatch::crate_::dispatch; crate::my_macro!(x);",
        ] {
            assert_eq!(imports_of("tools/read_file.rs", text), 0, "{text}");
        }
    }

    #[test]
    fn the_doors_do_not_know_each_other() {
        assert_eq!(imports_of("rpc/frame.rs", "use crate::code::run;"), 1);
        assert_eq!(imports_of("rpc/frame.rs", "use crate::rpc::era; use super::era; use crate::tools::read_file;"), 0);
        assert_eq!(imports_of("serve/stdio.rs", "use crate::{rpc, code, oneshot};"), 0);
    }

    #[test]
    fn every_module_has_a_floor_and_is_imported_by_its_own_name() {
        assert_eq!(imports_of("attic.rs", ""), 1);
        assert_eq!(imports_of("lib.rs", "pub use crate::model::WsPath;"), 0);
        assert_eq!(imports_of("model/path.rs", "use crate::ToolError;"), 1);
        assert_eq!(imports_of("cli/serve.rs", "use toolgate::{ToolError, serve};"), 0);
        assert_eq!(imports_of("serve/stdio.rs", "use crate::*;"), 1);
    }

    #[test]
    fn a_file_must_say_what_it_is_and_stay_small() {
        let form = |path: &str, text: &str| bad_form(&Source::new(path, text)).len();
        assert_eq!(form("model.rs", "//! Words.\n"), 0);
        assert_eq!(form("model.rs", "use std::fs;\n"), 1);
        assert_eq!(form("lib.rs", "#![doc = include_str!(\"PAGE.md\")]\n"), 0);
        assert_eq!(form("model/mod.rs", "//! Words.\n"), 1);
        assert_eq!(form("model.rs", &"//! Words.\n".repeat(MOST_LINES + 1)), 1);
    }

    #[test]
    fn a_panic_is_found_outside_of_tests_only() {
        let panics = |text: &str| bad_panics(&Source::new("model.rs", text)).len();
        assert_eq!(panics("fn f() { a().unwrap(); b()\n    .expect(\"b\"); }"), 2);
        assert_eq!(panics("/// `x.unwrap()`\nfn f() { a.unwrap_or(1); log(\".unwrap()\"); }"), 0);
        assert_eq!(panics("#[cfg(test)]\nmod tests { fn f() { { a.unwrap() } } }\nfn g() { b.unwrap() }"), 1);
        assert_eq!(panics("#[cfg(all(test, unix))]\n#[allow(dead_code)]\nfn f() { a.unwrap() }"), 0);
        assert_eq!(panics("#[cfg(not(test))]\nfn f() { a.unwrap() }"), 1);
        assert_eq!(panics("#[cfg(test)]\nuse a::b;\nfn g() { b.unwrap() }"), 1);
    }
    #[test]
    fn a_way_past_the_gate_is_found() {
        let text = "fn f() { workspace.commit(&set); tool . plan(&view); plan.committed(); }";
        for (path, faults) in
            [("rpc/tools.rs", 2), ("cli.rs", 2), ("oneshot.rs", 2), ("tools/x.rs", 2), ("dispatch/run.rs", 0)]
        {
            assert_eq!(bad_reach(&Source::new(path, text)).len(), faults, "{path}");
        }
    }

    #[test]
    fn a_file_of_a_test_module_may_panic() {
        let mut sources = [
            Source::new("model.rs", "#[cfg(test)]\nmod tests;\nmod path;"),
            Source::new("model/tests.rs", "mod limits;"),
            Source::new("model/tests/limits.rs", "a.unwrap();"),
            Source::new("model/path.rs", "a.unwrap();"),
            Source::new("tests.rs", "a.unwrap();"),
        ];
        mark_test_modules(&mut sources);
        assert_eq!(sources.map(|source| bad_panics(&source).len()), [0, 0, 0, 1, 1]);
    }
}
