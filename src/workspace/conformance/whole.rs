//! What moves, goes and comes back whole: files, and folders with all that is in them.

use super::{Bench, Case, assert_kind, delete, exactly, make_dir, write};
use crate::model::change::{Change, ChangeSet, Expect};
use crate::model::path::WsPath;
use crate::workspace::{Depth, Kind, Survey};

pub(super) const CASES: &[Case] = &[
    ("a file moves", file_moves),
    ("a folder moves with all that is in it", folder_moves),
    ("a move leads into a folder that the set makes", into_made),
    ("a folder moves only with the names that were expected in it", expected_names),
    ("a file that is not the expected one does not move", stale),
    ("nothing moves onto what is there", occupied),
    ("what is not there does not move", missing),
    ("a folder does not move into itself", into_itself),
    ("what makes room for a move goes", makes_room),
    ("a move is taken back with the rest of its set", taken_back),
    ("a survey tells all that is below", surveys),
    ("a mark changes with what it is of", marks),
    ("a file goes whole", file_goes),
    ("a folder goes with all that is in it", folder_goes),
    ("what has changed since its survey does not go", changed),
    ("the root stays", root),
    ("what was removed comes and goes with its set", removal_taken_back),
];

fn at(path: &str) -> WsPath {
    super::at(path)
}

fn move_path(from: &str, to: &str, expect: Expect) -> Change {
    Change::Move { from: at(from), to: at(to), expect }
}

fn remove(path: &str, expect: Expect) -> Change {
    Change::Remove { path: at(path), expect, kept: None }
}

fn survey(bench: &Bench<'_>, path: &str) -> Survey {
    match bench.workspace.survey(&at(path), Depth::Marks) {
        Ok(survey) => survey,
        Err(error) => panic!("{}: {error}", bench.name),
    }
}

fn fails(bench: &Bench<'_>, set: Vec<Change>, path: &str, want: &str) {
    let error = bench.refused(set);
    assert_eq!(error.path.as_str(), path, "{}: which path is told", bench.name);
    assert_kind::<()>(bench.name, path, Err(error.kind), want);
}

fn file_moves(bench: &Bench<'_>) {
    bench.done(vec![move_path("top.txt", "src/moved.txt", exactly("top\n"))]);
    bench.absent("top.txt");
    bench.holds("src/moved.txt", "top\n");
    bench.done(vec![move_path("src/moved.txt", "top.txt", Expect::Any)]);
    bench.untouched();
}

fn expected_names(bench: &Bench<'_>) {
    let names = |bench: &Bench<'_>| match bench.workspace.survey(&at("src"), Depth::Names) {
        Ok(survey) => survey.mark,
        Err(error) => panic!("{}: {error}", bench.name),
    };
    let before = names(bench);
    bench.done(vec![write("src/late.txt", Expect::Absent, "late\n")]);
    let late = move_path("src", "moved", Expect::Exactly(before));
    fails(bench, vec![late.clone()], "moved", "Stale");
    bench.holds("src/late.txt", "late\n");
    bench.absent("moved");
    bench.done(vec![delete("src/late.txt", exactly("late\n"))]);
    bench.done(vec![late]);
    bench.absent("src");
    bench.done(vec![move_path("moved", "src", Expect::Any)]);
    bench.untouched();
}

fn folder_moves(bench: &Bench<'_>) {
    bench.done(vec![move_path("src", "lib", Expect::Any)]);
    bench.absent("src");
    bench.holds("lib/main.rs", "fn main() {}\n");
    bench.holds("lib/deep/er.txt", "");
    bench.holds("src-2", "2");
    bench.done(vec![move_path("lib/deep", "deep", Expect::Any)]);
    assert_eq!(bench.names("."), ["deep", "lib", "src-2", "top.txt"], "{}: nothing is left over", bench.name);
    bench.done(vec![move_path("deep", "lib/deep", Expect::Any)]);
    bench.done(vec![move_path("lib", "src", Expect::Any)]);
    bench.untouched();
}

fn into_made(bench: &Bench<'_>) {
    bench.done(vec![make_dir("a"), make_dir("a/b"), move_path("src", "a/b/src", Expect::Any)]);
    bench.holds("a/b/src/deep/er.txt", "");
    bench.done(vec![move_path("a/b/src", "src", Expect::Any), super::remove_dir("a/b"), super::remove_dir("a")]);
    bench.untouched();
}

fn stale(bench: &Bench<'_>) {
    fails(bench, vec![move_path("top.txt", "new.txt", exactly("Top\n"))], "top.txt", "Stale");
    bench.untouched();
}

fn occupied(bench: &Bench<'_>) {
    for (from, to) in [("top.txt", "src-2"), ("top.txt", "src"), ("src", "src-2"), ("src/deep", "src"), ("src-2", ".")]
    {
        let shown = if to == "." { "" } else { to };
        fails(bench, vec![move_path(from, to, Expect::Any)], shown, "Stale");
        bench.untouched();
    }
    fails(bench, vec![move_path("src", "top.txt/x", Expect::Any)], "top.txt/x", "NotADirectory");
    bench.untouched();
}

fn missing(bench: &Bench<'_>) {
    for from in ["no", "src/no", "no/no"] {
        fails(bench, vec![move_path(from, "new.txt", Expect::Any)], from, "Stale");
    }
    bench.untouched();
}

fn into_itself(bench: &Bench<'_>) {
    for to in ["src/in", "src/deep/in", "src/deep/er/in"] {
        let error =
            bench.refused(vec![make_dir("src/deep"), make_dir("src/deep/er"), move_path("src", to, Expect::Any)]);
        assert_kind::<()>(bench.name, to, Err(error.kind), "IntoItself");
        bench.untouched();
    }
}

fn makes_room(bench: &Bench<'_>) {
    let mark = Expect::Exactly(survey(bench, "src-2").mark);
    bench.done(vec![remove("src-2", mark), move_path("top.txt", "src-2", exactly("top\n"))]);
    bench.absent("top.txt");
    bench.holds("src-2", "top\n");
    assert_eq!(bench.names("."), ["src", "src-2"], "{}: nothing is left over", bench.name);
}

fn taken_back(bench: &Bench<'_>) {
    for wrong in
        [write("src-2", exactly("other"), "x"), move_path("no", "other", Expect::Any), delete("no", Expect::Any)]
    {
        bench.refused(vec![make_dir("a"), move_path("src", "a/src", Expect::Any), wrong]);
        bench.untouched();
    }
}

fn surveys(bench: &Bench<'_>) {
    let told = survey(bench, "src");
    let below: Vec<_> = told.below.iter().map(|entry| (entry.path.as_str(), entry.kind)).collect();
    let want = [("deep", Kind::Dir), ("deep/er.txt", Kind::File), ("main.rs", Kind::File)];
    assert_eq!((told.kind, below.as_slice(), told.bytes), (Kind::Dir, &want[..], 13), "{}", bench.name);
    let told = survey(bench, "top.txt");
    assert_eq!((told.kind, told.below.len(), told.bytes), (Kind::File, 0, 4), "{}", bench.name);
    assert_eq!(survey(bench, ".").below.len(), 6, "{}", bench.name);
    for path in ["no", "src/no"] {
        let told = bench.workspace.survey(&at(path), Depth::Names).map_err(|error| error.kind);
        assert_kind(bench.name, path, told, "NotFound");
        assert_kind(bench.name, path, bench.workspace.look(&at(path)).map_err(|error| error.kind), "NotFound");
    }
    for (path, kind) in [("src", Kind::Dir), ("src/main.rs", Kind::File), (".", Kind::Dir)] {
        assert!(bench.workspace.look(&at(path)).is_ok_and(|told| told == kind), "{}: {path}", bench.name);
    }
}

fn marks(bench: &Bench<'_>) {
    let before = survey(bench, "src").mark;
    assert_eq!(survey(bench, "src").mark, before, "{}: a look changes nothing", bench.name);
    bench.done(vec![move_path("src", "lib", Expect::Any)]);
    assert_eq!(survey(bench, "lib").mark, before, "{}: what it is called does not count", bench.name);
    bench.done(vec![write("lib/deep/er.txt", Expect::Any, "longer")]);
    let longer = survey(bench, "lib").mark;
    assert_ne!(longer, before, "{}: other bytes", bench.name);
    bench.done(vec![write("lib/new", Expect::Absent, "")]);
    assert_ne!(survey(bench, "lib").mark, longer, "{}: another file", bench.name);
}

fn file_goes(bench: &Bench<'_>) {
    let mark = survey(bench, "top.txt").mark;
    bench.done(vec![remove("top.txt", Expect::Exactly(mark))]);
    bench.absent("top.txt");
    assert_eq!(bench.names("."), ["src", "src-2"], "{}: nothing is left over", bench.name);
    fails(bench, vec![remove("top.txt", Expect::Exactly(mark))], "top.txt", "Stale");
    fails(bench, vec![remove("top.txt", Expect::Any)], "top.txt", "NotFound");
}

fn folder_goes(bench: &Bench<'_>) {
    bench.done(vec![remove("src", Expect::Exactly(survey(bench, "src").mark))]);
    bench.absent("src");
    bench.absent("src/deep/er.txt");
    assert_eq!(bench.names("."), ["src-2", "top.txt"], "{}: nothing is left over", bench.name);
}

fn changed(bench: &Bench<'_>) {
    let mark = survey(bench, "src").mark;
    bench.done(vec![write("src/deep/new", Expect::Absent, "")]);
    for expect in [Expect::Exactly(mark), Expect::Absent] {
        fails(bench, vec![remove("src", expect)], "src", "Stale");
    }
    bench.holds("src/deep/new", "");
    bench.holds("src/main.rs", "fn main() {}\n");
}

fn root(bench: &Bench<'_>) {
    bench.refused(vec![remove(".", Expect::Any)]);
    fails(bench, vec![move_path(".", "a", Expect::Any)], "a", "IntoItself");
    bench.untouched();
}

fn removal_taken_back(bench: &Bench<'_>) {
    let mark = Expect::Exactly(survey(bench, "src").mark);
    for wrong in [write("src-2", exactly("other"), "x"), move_path("no", "other", Expect::Any)] {
        bench.refused(vec![remove("src", mark), wrong]);
        bench.untouched();
    }
    let set = ChangeSet::new(vec![remove("src", mark), move_path("top.txt", "src", Expect::Any)]);
    assert!(bench.workspace.commit(&set, &crate::workspace::NoJournal).is_ok(), "{}", bench.name);
    bench.holds("src", "top\n");
}
