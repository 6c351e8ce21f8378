//! Files and folders that go.

use super::{Bench, Case, assert_kind, delete, exactly, make_dir, remove_dir, write};
use crate::model::change::Expect;
use crate::workspace::Kind;

pub(super) const CASES: &[Case] = &[
    ("a file goes", goes),
    ("a file that is not the expected one does not go", stale),
    ("what is not there cannot go", missing),
    ("a folder is no file that could go", folder),
    ("a file goes and another comes in one set", moves),
    ("a file that goes and comes back is replaced", replaced),
    ("a file that comes and goes leaves nothing", comes_to_nothing),
    ("an empty folder goes, once its files have", folders),
    ("a folder that is not empty stays", not_empty),
    ("a file is no folder that could go", not_a_folder),
];

fn goes(bench: &Bench<'_>) {
    bench.done(vec![delete("top.txt", exactly("top\n")), delete("src/main.rs", Expect::Any)]);
    bench.absent("top.txt");
    bench.absent("src/main.rs");
    assert_eq!(bench.names("."), ["src", "src-2"], "{}: nothing is left over", bench.name);
    bench.done(vec![write("top.txt", Expect::Absent, "anew")]);
    bench.holds("top.txt", "anew");
}

fn stale(bench: &Bench<'_>) {
    for wrong in [exactly("Top\n"), Expect::Absent] {
        let error = bench.refused(vec![delete("src-2", Expect::Any), delete("top.txt", wrong)]);
        assert_kind::<()>(bench.name, "top.txt", Err(error.kind), "Stale");
        bench.untouched();
    }
}

fn missing(bench: &Bench<'_>) {
    for (expect, want) in [(Expect::Any, "NotFound"), (exactly("old"), "Stale")] {
        let error = bench.refused(vec![delete("new.txt", expect)]);
        assert_kind::<()>(bench.name, "new.txt", Err(error.kind), want);
    }
    let error = bench.refused(vec![delete("top.txt", Expect::Any), delete("top.txt", Expect::Any)]);
    assert_kind::<()>(bench.name, "top.txt", Err(error.kind), "NotFound");
    let error = bench.refused(vec![delete("top.txt", Expect::Any), write("top.txt", exactly("top\n"), "x")]);
    assert_kind::<()>(bench.name, "top.txt", Err(error.kind), "Stale");
    bench.untouched();
}

fn folder(bench: &Bench<'_>) {
    for path in ["src", "."] {
        let error = bench.refused(vec![delete(path, Expect::Any)]);
        assert_kind::<()>(bench.name, path, Err(error.kind), "NotAFile");
    }
    bench.untouched();
}

fn moves(bench: &Bench<'_>) {
    bench.done(vec![delete("top.txt", exactly("top\n")), write("src/top.txt", Expect::Absent, "top\n")]);
    bench.absent("top.txt");
    bench.holds("src/top.txt", "top\n");
}

fn replaced(bench: &Bench<'_>) {
    bench.done(vec![delete("top.txt", exactly("top\n")), write("top.txt", Expect::Absent, "anew")]);
    bench.holds("top.txt", "anew");
}

fn comes_to_nothing(bench: &Bench<'_>) {
    bench.done(vec![write("new.txt", Expect::Absent, "new"), delete("new.txt", exactly("new"))]);
    bench.done(vec![make_dir("src"), write("src/new.txt", Expect::Absent, "new"), delete("src/new.txt", Expect::Any)]);
    bench.absent("new.txt");
    bench.untouched();
}

fn folders(bench: &Bench<'_>) {
    bench.done(vec![
        delete("src/deep/er.txt", exactly("")),
        remove_dir("src/deep"),
        delete("src/main.rs", Expect::Any),
    ]);
    bench.absent("src/deep");
    bench.done(vec![remove_dir("src"), remove_dir("src")]);
    bench.absent("src");
    bench.done(vec![remove_dir("src"), remove_dir("no/such")]);
    assert_eq!(bench.names("."), ["src-2", "top.txt"], "{}: nothing is left over", bench.name);
}

fn not_empty(bench: &Bench<'_>) {
    bench.done(vec![remove_dir("src"), remove_dir("src/deep"), remove_dir(".")]);
    assert!(matches!(bench.stat("src"), Ok(stat) if stat.kind == Kind::Dir), "{}", bench.name);
    bench.untouched();
}

fn not_a_folder(bench: &Bench<'_>) {
    for path in ["top.txt", "top.txt/below"] {
        let error = bench.refused(vec![delete("src-2", Expect::Any), remove_dir(path)]);
        assert_kind::<()>(bench.name, path, Err(error.kind), "NotADirectory");
    }
    bench.untouched();
}
