//! What somebody has seen: over calls, processes, restarts, touches and patches.

use super::*;
use crate::ledger::seen::{Coverage, Edited, Position, Replaced, Seen, Sight};
use crate::workspace::Identity;

const ANN: &str = "mcp:ann";

fn at(line: u64) -> Position {
    Position { line, offset: 0 }
}

fn v(text: &str) -> Version {
    Version::of(text.as_bytes())
}

/// Lines `from..to` of the file `identity`.
fn sight(identity: u128, from: u64, to: Option<u64>) -> Sight {
    Sight { identity: Some(Identity(identity)), version: None, from: at(from), to: to.map(at) }
}

fn coverage(seen: &Seen, identity: u128, version: Option<&str>) -> Coverage {
    seen.coverage(ANN, &ws("f"), Some(Identity(identity)), version.map(v))
}

fn memory() -> Ledger {
    Ledger::in_memory(Arc::new(Counted::default()))
}

#[test]
fn parts_add_up_for_one_principal_and_not_for_another() {
    let ledger = memory();
    let seen = ledger.seen();
    assert_eq!(coverage(seen, 1, None), Coverage::Never);
    seen.observe(ANN, &ws("f"), sight(1, 1, Some(11)));
    seen.observe(ANN, &ws("f"), sight(1, 21, None));
    assert_eq!(coverage(seen, 1, None), Coverage::Partial { unseen: vec![(11, Some(20))] });
    seen.observe("mcp:bob", &ws("f"), sight(1, 11, Some(21)));
    assert_ne!(coverage(seen, 1, None), Coverage::Whole);
    seen.observe(ANN, &ws("f"), sight(1, 11, Some(21)));
    assert_eq!(coverage(seen, 1, Some("whatever")), Coverage::Whole);
}

#[test]
fn another_file_is_stale_and_a_touched_one_is_not() {
    let ledger = memory();
    let seen = ledger.seen();
    seen.observe(ANN, &ws("f"), Sight { version: Some(v("a")), ..sight(1, 1, None) });
    assert_eq!(coverage(seen, 2, Some("a")), Coverage::Whole, "a touch changes no byte");
    assert_eq!(coverage(seen, 2, None), Coverage::Stale);
    assert_eq!(coverage(seen, 1, Some("b")), Coverage::Stale, "bytes count, not the clock");
    // After a touch the new identity is known.
    seen.observe(ANN, &ws("f"), Sight { version: Some(v("a")), ..sight(2, 1, None) });
    assert_eq!(coverage(seen, 2, None), Coverage::Whole);
    // A part that may be of another file does not add to what was known, nor take it away: the bytes may be the same.
    seen.observe(ANN, &ws("f"), sight(3, 5, None));
    assert_eq!(coverage(seen, 3, None), Coverage::Partial { unseen: vec![(1, Some(4))] });
    assert_eq!(coverage(seen, 3, Some("a")), Coverage::Whole);
    // What is certainly of other bytes does.
    seen.observe(ANN, &ws("f"), Sight { version: Some(v("b")), ..sight(4, 5, None) });
    assert_eq!(coverage(seen, 3, Some("a")), Coverage::Partial { unseen: vec![(1, Some(4))] });
    assert_eq!(coverage(seen, 5, Some("a")), Coverage::Stale);
}

#[test]
fn parts_read_while_the_clock_could_not_tell_add_up_with_later_ones() {
    let ledger = memory();
    let seen = ledger.seen();
    let fresh = |from, to| Sight { identity: None, version: Some(v("a")), ..sight(0, from, to) };
    seen.observe(ANN, &ws("f"), fresh(1, Some(5)));
    seen.observe(ANN, &ws("f"), fresh(5, Some(9)));
    seen.observe(ANN, &ws("f"), sight(1, 9, None));
    assert_eq!(coverage(seen, 1, Some("a")), Coverage::Whole);
    assert_eq!(coverage(seen, 1, Some("b")), Coverage::Partial { unseen: vec![(1, Some(8))] });
    assert_eq!(coverage(seen, 2, Some("a")), Coverage::Partial { unseen: vec![(9, None)] });
}

#[test]
fn a_patch_of_ones_own_keeps_what_was_known() {
    let ledger = memory();
    let seen = ledger.seen();
    let edited = |from: u128, before: &str, after: &str| Edited {
        identity_before: Some(Identity(from)),
        before: v(before),
        identity: Some(Identity(from + 1)),
        after: v(after),
    };
    let line_4_became_two = || Some(Replaced { first: 4, removed: 1, added: 2 });
    // Whole, known only by its identity.
    seen.observe(ANN, &ws("f"), sight(1, 1, None));
    seen.edited(ANN, &ws("f"), &edited(1, "a", "b"), || panic!("all of it was known"));
    assert_eq!(coverage(seen, 2, Some("b")), Coverage::Whole);
    // A part.
    seen.observe(ANN, &ws("f"), sight(7, 2, Some(9)));
    seen.edited(ANN, &ws("f"), &edited(7, "c", "d"), line_4_became_two);
    assert_eq!(coverage(seen, 8, Some("d")), Coverage::Partial { unseen: vec![(1, Some(1)), (10, None)] });
    // Something else was patched than what was seen.
    seen.edited(ANN, &ws("f"), &edited(20, "x", "y"), || panic!("nothing of it was known"));
    assert_eq!(coverage(seen, 21, Some("y")), Coverage::Stale);
}

#[test]
fn what_moves_is_known_where_it_is() {
    let ledger = memory();
    let seen = ledger.seen();
    seen.wrote(ANN, &ws("dir/f"), None, v("a"));
    seen.wrote(ANN, &ws("dirs"), None, v("b"));
    seen.moved(ANN, &ws("dir"), &ws("f"), None, None);
    let known = |path: &str, text: &str| seen.coverage(ANN, &ws(path), None, Some(v(text)));
    assert_eq!(
        (known("f/f", "a"), known("dir/f", "a"), known("dirs", "b")),
        (Coverage::Whole, Coverage::Never, Coverage::Whole)
    );
    seen.removed(ANN, &ws("dirs"));
    assert_eq!(known("dirs", "b"), Coverage::Never);
}

#[test]
fn it_survives_a_restart_and_a_torn_line() {
    let bed = Bed::new();
    let ledger = bed.ledger();
    ledger.seen().observe(ANN, &ws("f"), sight(u128::MAX, 1, Some(5)));
    drop(ledger);
    let notes = std::fs::read_dir(bed.path("seen")).unwrap().next().unwrap().unwrap().path();
    let torn = [std::fs::read(&notes).unwrap(), b"{\"p\":\"f\",".to_vec()].concat();
    std::fs::write(&notes, torn).unwrap();
    let ledger = bed.ledger();
    ledger.seen().observe(ANN, &ws("f"), sight(u128::MAX, 5, None));
    assert_eq!(coverage(ledger.seen(), u128::MAX, None), Coverage::Whole);
    drop(ledger);
    assert_eq!(coverage(bed.ledger().seen(), u128::MAX, None), Coverage::Whole);
}

#[test]
fn two_processes_see_for_the_same_principal() {
    let bed = Bed::new();
    let (one, two) = (bed.ledger(), bed.ledger());
    one.seen().observe(ANN, &ws("f"), sight(1, 1, Some(5)));
    two.seen().observe(ANN, &ws("f"), sight(1, 5, Some(9)));
    one.flush().unwrap();
    two.flush().unwrap();
    let rest = Coverage::Partial { unseen: vec![(9, None)] };
    assert_eq!((coverage(one.seen(), 1, None), coverage(two.seen(), 1, None)), (rest.clone(), rest));
    two.seen().wrote(ANN, &ws("f"), Some(Identity(2)), v("new"));
    two.flush().unwrap();
    assert_eq!(coverage(one.seen(), 2, Some("new")), Coverage::Whole);
}

#[test]
fn notes_are_written_anew_when_they_have_grown() {
    let bed = Bed::new();
    let (one, two) = (bed.ledger(), bed.ledger());
    two.seen().observe(ANN, &ws("g"), sight(9, 1, None));
    assert_eq!(coverage(one.seen(), 1, None), Coverage::Never);
    for count in 0..5000 {
        one.seen().observe(ANN, &ws("f"), sight(count, 1, None));
        if count % 100 == 0 {
            one.flush().unwrap();
            two.flush().unwrap();
        }
    }
    one.flush().unwrap();
    let notes = std::fs::read_dir(bed.path("seen")).unwrap().next().unwrap().unwrap();
    assert!(notes.metadata().unwrap().len() < 70_000, "{}", notes.metadata().unwrap().len());
    for ledger in [one, two, bed.ledger()] {
        assert_eq!(coverage(ledger.seen(), 4999, None), Coverage::Whole);
        assert_eq!(ledger.seen().coverage(ANN, &ws("g"), Some(Identity(9)), None), Coverage::Whole);
    }
}
