//! Changing several files at once, and one file from several sides.

use std::thread;

use super::{Bench, Case, assert_kind, exactly, make_dir, write};
use crate::model::change::Expect;
use crate::model::version::Version;
use crate::workspace::{Durability, FileErrorKind};

pub(super) const CASES: &[Case] = &[
    ("all steps of a set are done", all),
    ("no step of a set is done where one is stale", none_if_stale),
    ("no step of a set is done where one cannot be", none_if_impossible),
    ("a step sees what an earlier one did", in_order),
    ("of many that count one file up none is lost", counts),
    ("of many that make one file one does", races),
];

fn all(bench: &Bench<'_>) {
    bench.done(vec![
        make_dir("a"),
        make_dir("a/b"),
        write("a/b/c.txt", Expect::Absent, "c"),
        write("top.txt", exactly("top\n"), "TOP\n"),
        write("src/main.rs", Expect::Any, "main"),
    ]);
    bench.holds("a/b/c.txt", "c");
    bench.holds("top.txt", "TOP\n");
    bench.holds("src/main.rs", "main");
}

fn none_if_stale(bench: &Bench<'_>) {
    for wrong in [exactly("old"), Expect::Absent] {
        let error = bench.refused(vec![
            make_dir("a"),
            write("a/new.txt", Expect::Absent, "new"),
            write("top.txt", exactly("top\n"), "TOP\n"),
            write("src/main.rs", wrong, "main"),
            write("src-2", Expect::Any, "3"),
        ]);
        assert_eq!(error.path.as_str(), "src/main.rs", "{}: which step failed", bench.name);
        assert_kind::<()>(bench.name, "src/main.rs", Err(error.kind), "Stale");
        bench.absent("a");
        bench.untouched();
    }
}

fn none_if_impossible(bench: &Bench<'_>) {
    let first = || vec![make_dir("a"), write("new.txt", Expect::Absent, "new"), write("top.txt", Expect::Any, "TOP\n")];
    for last in [write("src", Expect::Any, ""), write("src-2/x", Expect::Any, ""), make_dir("src-2")] {
        let mut set = first();
        set.push(last);
        bench.refused(set);
        bench.absent("new.txt");
        bench.untouched();
    }
}

fn in_order(bench: &Bench<'_>) {
    bench.done(vec![
        write("top.txt", exactly("top\n"), "one"),
        write("top.txt", exactly("one"), "two"),
        write("new.txt", Expect::Absent, "1"),
        write("new.txt", exactly("1"), "2"),
    ]);
    bench.holds("top.txt", "two");
    bench.holds("new.txt", "2");
    let error =
        bench.refused(vec![write("top.txt", exactly("two"), "three"), write("top.txt", exactly("two"), "four")]);
    let now = Some(Version::of(b"three"));
    assert!(matches!(error.kind, FileErrorKind::Stale { now: told } if told == now), "{}: {error:?}", bench.name);
    let error = bench.refused(vec![write("fresh.txt", Expect::Absent, "1"), write("fresh.txt", Expect::Absent, "2")]);
    assert_kind::<()>(bench.name, "fresh.txt", Err(error.kind), "Stale");
    bench.holds("top.txt", "two");
    bench.absent("fresh.txt");
}

fn counts(bench: &Bench<'_>) {
    const THREADS: u32 = 8;
    // A home that waits for the disk is given less to do.
    let each: u32 = if bench.workspace.promise().durable == Durability::Full { 5 } else { 25 };
    bench.done(vec![write("count", Expect::Absent, "0")]);
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| (0..each).for_each(|_| count_up(bench)));
        }
    });
    bench.holds("count", &(THREADS * each).to_string());
    assert_eq!(bench.names("."), ["count", "src", "src-2", "top.txt"], "{}: nothing is left over", bench.name);
}

fn count_up(bench: &Bench<'_>) {
    loop {
        let bytes = match bench.read("count") {
            Ok(bytes) => bytes,
            Err(kind) => panic!("{}: the file is always there: {kind}", bench.name),
        };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Ok(count) = text.parse::<u32>() else { panic!("{}: torn: {text:?}", bench.name) };
        match bench.commit(vec![write("count", exactly(&text), &(count + 1).to_string())]) {
            Ok(()) => return,
            Err(error) => assert_kind::<()>(bench.name, "count", Err(error.kind), "Stale"),
        }
    }
}

fn races(bench: &Bench<'_>) {
    for round in 0..10 {
        let path = format!("race-{round}");
        let make = |who: u32| bench.commit(vec![write(&path, Expect::Absent, &who.to_string())]).is_ok().then_some(who);
        let winners: Vec<u32> = thread::scope(|scope| {
            let racers: Vec<_> = (0..4).map(|who| scope.spawn(move || make(who))).collect();
            racers.into_iter().filter_map(|racer| racer.join().ok().flatten()).collect()
        });
        let [winner] = winners[..] else { panic!("{}: {} made one file", bench.name, winners.len()) };
        bench.holds(&path, &winner.to_string());
    }
}
