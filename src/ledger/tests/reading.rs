//! Reading back: all sessions in the order of time, as they are written, whatever a crash left.

use std::io::Write;

use super::*;
use crate::ledger::read::{Follow, lines, session_names, stats};

fn calls(bed: &Bed) -> Vec<u64> {
    lines(&bed.state()).unwrap().map(|line| line.unwrap().call.unwrap().0).collect()
}

#[test]
fn sessions_are_merged_by_time() {
    let bed = Bed::new();
    assert_eq!(calls(&bed), [0; 0]);
    let (one, two) = (bed.ledger(), bed.ledger());
    for (call, ledger) in [&one, &two, &two, &one, &two, &one].into_iter().enumerate() {
        ledger.record(&stamp(call as u64), called("read_file"));
    }
    bed.world.0.fetch_add(5000, Ordering::Relaxed);
    let late = bed.ledger();
    late.record(&stamp(6), called("read_file"));
    [one, two, late].iter().for_each(|ledger| ledger.flush().unwrap());
    assert_eq!(calls(&bed), [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(session_names(&bed.state()).unwrap().len(), 3);
    assert_eq!(stats(lines(&bed.state()).unwrap()).unwrap().calls, 7);
}

#[test]
fn what_cannot_be_understood_is_read_past() {
    let bed = Bed::new();
    let ledger = bed.ledger();
    ledger.record(&stamp(1), called("read_file"));
    ledger.flush().unwrap();
    let mut log = std::fs::OpenOptions::new().append(true).open(bed.log(&ledger)).unwrap();
    log.write_all(b"\xff\n{\"type\":\"from/later\"}\n\n").unwrap();
    ledger.record(&stamp(2), called("read_file"));
    ledger.flush().unwrap();
    log.write_all(b"{\"time\":\"19").unwrap();
    assert_eq!(calls(&bed), [1, 2]);
}

#[test]
fn following_tells_each_line_once_when_it_is_whole() {
    let bed = Bed::new();
    let ledger = bed.ledger();
    ledger.record(&stamp(1), called("read_file"));
    ledger.flush().unwrap();
    let mut follow = Follow::from_now(&bed.state()).unwrap();
    let mut all = Follow::from_the_beginning();
    let look = |follow: &mut Follow| -> Vec<u64> {
        follow.look(&bed.state()).unwrap().iter().map(|line| line.call.unwrap().0).collect()
    };
    assert_eq!((look(&mut follow), look(&mut all)), (vec![], vec![1]));
    let other = bed.ledger();
    other.record(&stamp(2), called("read_file"));
    other.flush().unwrap();
    let line = std::fs::read(bed.log(&other)).unwrap();
    let (head, tail) = line.split_at(20);
    let mut log = std::fs::OpenOptions::new().append(true).open(bed.log(&ledger)).unwrap();
    log.write_all(head).unwrap();
    assert_eq!((look(&mut follow), look(&mut all)), (vec![2], vec![2]));
    log.write_all(tail).unwrap();
    assert_eq!((look(&mut follow), look(&mut all)), (vec![2], vec![2]));
    assert_eq!(look(&mut follow), [0; 0]);
}
