//! What a crash leaves open is ended at the next start, and nothing of a process that lives is touched.

use super::*;
use crate::ledger::{LedgerError, Status};
use crate::model::id::ChangeId;
use crate::workspace::{FileErrorKind, Recovered};

/// Begins a change and crashes before its end.
fn crash(bed: &Bed) -> ChangeId {
    let ledger = bed.ledger();
    let change = begin(&ledger, ChangeKind::Write);
    let id = change.id().unwrap();
    change.intend(&[Files::default().step(&write("a", "1"))]).unwrap();
    change.leave();
    id
}

fn recover(ledger: &Ledger, answer: Recovered) -> Vec<(ChangeId, Recovered)> {
    ledger.recover(&mut |_, _| Ok(answer)).unwrap()
}

#[test]
fn what_a_crash_left_is_given_to_whoever_can_look_once() {
    let bed = Bed::new();
    let id = crash(&bed);
    let ledger = bed.ledger();
    let mut asked = Vec::new();
    let told = ledger.recover(&mut |steps, journal| {
        asked.extend(steps.to_vec());
        let displaced = bytes::Bytes::from_static(b"0");
        let source = DisplacedSource::Bytes(&displaced);
        let path = ws("a");
        journal.keep(&Displaced { path: &path, version: Version::of(b"0"), mode: Some(0o755), source }).unwrap();
        Ok(Recovered::Done)
    });
    assert_eq!(told.unwrap(), [(id, Recovered::Done)]);
    assert_eq!(asked, [Files::default().step(&write("a", "1"))]);
    assert_eq!(recover(&ledger, Recovered::Void), []);
    // What was displaced came to light only now.
    let want = Change::Write { path: ws("a"), expect: Expect::Exactly(Version::of(b"1")), content: "0".into() };
    assert_eq!(ledger.inverse(id).unwrap().set, ChangeSet::new(vec![want]));
}

#[test]
fn what_has_not_happened_is_void() {
    let bed = Bed::new();
    let id = crash(&bed);
    assert_eq!(recover(&bed.ledger(), Recovered::Void), [(id, Recovered::Void)]);
    assert_eq!(bed.ledger().change(id).unwrap().status, Status::Void);
}

#[test]
fn what_cannot_be_found_out_is_tried_again() {
    let bed = Bed::new();
    let id = crash(&bed);
    let failed = bed.ledger().recover(&mut |_, _| Err(FileErrorKind::PermissionDenied.at(&ws("a"))));
    assert_eq!(failed.unwrap(), []);
    assert_eq!(recover(&bed.ledger(), Recovered::Done), [(id, Recovered::Done)]);
}

#[test]
fn a_process_that_lives_is_left_alone() {
    let bed = Bed::new();
    let alive = bed.ledger();
    let change = begin(&alive, ChangeKind::Write);
    change.intend(&[Files::default().step(&write("a", "1"))]).unwrap();
    let other = bed.ledger();
    assert_eq!(recover(&other, Recovered::Void), []);
    assert_eq!(recover(&alive, Recovered::Void), []);
    let id = change.done().unwrap();
    assert_eq!(other.change(id).unwrap().status, Status::Done);
}

#[test]
fn a_panic_leaves_the_change_to_the_next_start() {
    let bed = Bed::new();
    let ledger = bed.ledger();
    let change = begin(&ledger, ChangeKind::Write);
    let id = change.id().unwrap();
    let panicked = std::thread::spawn(move || {
        change.intend(&[Files::default().step(&write("a", "1"))]).unwrap();
        panic!("in the middle of a commit");
    });
    assert!(panicked.join().is_err());
    assert_eq!(ledger.change(id).unwrap().status, Status::Intent);
    drop(ledger);
    assert_eq!(recover(&bed.ledger(), Recovered::Done), [(id, Recovered::Done)]);
}

#[cfg(unix)]
#[test]
fn an_end_that_cannot_be_written_is_written_later() {
    let bed = Bed::new();
    let ledger = bed.ledger();
    let change = begin(&ledger, ChangeKind::Write);
    let id = change.id().unwrap();
    change.intend(&[Files::default().step(&write("a", "1"))]).unwrap();
    let (list, aside) = (bed.path("changes.jsonl"), bed.path("aside"));
    std::fs::rename(&list, &aside).unwrap();
    std::fs::create_dir(&list).unwrap();
    assert_eq!(change.done(), Some(id));
    assert!(matches!(ledger.ready(), Err(LedgerError::Changes(_))));
    std::fs::remove_dir(&list).unwrap();
    std::fs::rename(&aside, &list).unwrap();
    ledger.ready().unwrap();
    assert_eq!(bed.ledger().change(id).unwrap().status, Status::Done);
}
