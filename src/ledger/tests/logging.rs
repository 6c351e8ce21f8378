//! The log: what waits, what is written, and what happens when it cannot be.

use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::*;
use crate::ledger::LedgerError;
use crate::ledger::blobs::Blobs;
use crate::ledger::log::{LineRef, Log, Sink};
use crate::ledger::read::lines_of;
use crate::ledger::redact::Redact;
use crate::ledger::store::hold;
use crate::model::event::Line;
use crate::model::id::SessionId;

#[test]
fn nothing_costs_nothing() {
    let ledger = Ledger::none();
    ledger.record_with(&stamp(1), || unreachable!("an event that nobody records is not made"));
    assert!(ledger.is_none() && ledger.session().is_none() && ledger.ready().is_ok());
    assert!(ledger.next_call() < ledger.next_call());
    let change = begin(&ledger, ChangeKind::Write);
    let mut files = Files::default();
    files.commit(&ChangeSet::new(vec![write("a", "1")]), &change).unwrap();
    assert_eq!((change.id(), change.done()), (None, None));
    assert_eq!(ledger.changes(&Default::default()).unwrap(), []);
}

#[test]
fn a_line_is_read_back_as_it_was_recorded() {
    let ledger = Ledger::in_memory(Arc::new(Counted::default()));
    assert_eq!(ledger.next_call(), CallId(1));
    ledger.record(&stamp(1), called("read_file"));
    let lines = ledger.lines();
    let session = ledger.session().unwrap().clone();
    let want = Line {
        time: lines[0].time,
        session,
        call: Some(CallId(1)),
        caller: "mcp:local".into(),
        event: called("read_file"),
    };
    assert_eq!(lines, [want]);
}

#[test]
fn what_waits_is_written_soon_by_itself_and_at_the_end() {
    let bed = Bed::new();
    let ledger = bed.ledger();
    let log = bed.log(&ledger);
    ledger.record(&stamp(1), called("read_file"));
    assert!(!log.exists(), "recording only buffers");
    let begun = Instant::now();
    while !log.exists() {
        assert!(begun.elapsed() < Duration::from_secs(10), "nobody writes");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(begun.elapsed() >= Duration::from_millis(80));
    ledger.record(&stamp(2), called("read_file"));
    drop(ledger);
    assert_eq!(lines_of(&std::fs::read(&log).unwrap()).len(), 2);
    assert!(!log.with_extension("alive").exists());
}

#[cfg(unix)]
#[test]
fn only_this_user_can_look() {
    use std::os::unix::fs::PermissionsExt;
    let bed = Bed::new();
    let ledger = bed.ledger();
    let mut files = Files(BTreeMap::from([("a".into(), "old".into())]));
    let change = begin(&ledger, ChangeKind::Write);
    files.commit(&ChangeSet::new(vec![write("a", "new")]), &change).unwrap();
    change.done().unwrap();
    ledger.seen().wrote("mcp:local", &ws("a"), None, Version::of(b"new"));
    ledger.flush().unwrap();
    let mut looked_at = 0;
    let mut folders = vec![bed.state().path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let metadata = entry.metadata().unwrap();
            let want = if metadata.is_dir() { 0o700 } else { 0o600 };
            assert_eq!(metadata.permissions().mode() & 0o777, want, "{:?}", entry.path());
            looked_at += 1;
            if metadata.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    assert!(looked_at > 8, "{looked_at}");
}

#[test]
fn secrets_and_long_texts_do_not_stand_in_the_log() {
    let bed = Bed::new();
    let redact = Redact::new(&["*.password"]).unwrap();
    let ledger = bed.ledger_with(Options { redact, ..Options::default() });
    let long = "long ".repeat(1000);
    let arguments = json!({"content": long, "password": "hush"});
    ledger.record(&stamp(1), Event::ToolCall { tool: "t".into(), arguments, variant: None, method: None });
    ledger.flush().unwrap();
    let log = std::fs::read_to_string(bed.log(&ledger)).unwrap();
    assert!(!log.contains("hush") && !log.contains("long long"), "{log}");
    let version = Version::of(long.as_bytes());
    let want = json!({"content": {"$blob": version, "bytes": 5000}, "password": {"$secret": true}});
    let Event::ToolCall { arguments, .. } = &lines_of(log.as_bytes())[0].event else { panic!("{log}") };
    assert_eq!(*arguments, want);
    assert_eq!(ledger.blob(version).unwrap().unwrap(), long);
}

/// A disk that is full, or not, and takes three bytes at a time when it is nearly full.
#[derive(Clone, Default)]
struct FullDisk {
    full: Arc<AtomicBool>,
    unsynced: Arc<AtomicBool>,
    room: Arc<Mutex<Option<usize>>>,
    written: Arc<Mutex<Vec<u8>>>,
}

impl Sink for FullDisk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.full.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let mut room = hold(&self.room);
        let count = room.map_or(bytes.len(), |room| room.min(3).min(bytes.len()));
        if count == 0 && !bytes.is_empty() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        *room = room.map(|room| room - count);
        hold(&self.written).extend(&bytes[..count]);
        Ok(count)
    }

    fn sync(&mut self) -> io::Result<()> {
        if self.unsynced.load(Ordering::Relaxed) { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }
}

fn record(log: &Log, call: u64) {
    let (session, event) = (SessionId::named("s"), called("read_file"));
    let time = jiff::Timestamp::UNIX_EPOCH;
    log.record(
        &LineRef { time, session: &session, call: Some(CallId(call)), caller: "cli", event: &event },
        Vec::new(),
    );
}

#[test]
fn a_full_disk_is_told_and_nothing_is_lost_or_torn_once_there_is_room() {
    let disk = FullDisk::default();
    let log = Log::new(Box::new(disk.clone()), Arc::new(Blobs::in_memory()));
    disk.full.store(true, Ordering::Relaxed);
    record(&log, 1);
    assert_eq!(log.flush(true).unwrap_err().kind(), io::ErrorKind::StorageFull);
    // Some room, but not enough for a line.
    disk.full.store(false, Ordering::Relaxed);
    *hold(&disk.room) = Some(50);
    record(&log, 2);
    assert!(log.flush(false).is_err());
    assert_eq!(hold(&disk.written).len(), 50);
    *hold(&disk.room) = None;
    record(&log, 3);
    assert_eq!(log.flush(false).unwrap(), 0);
    let calls: Vec<_> = lines_of(&hold(&disk.written)).iter().map(|line| line.call).collect();
    assert_eq!(calls, [1, 2, 3].map(|call| Some(CallId(call))));
}

#[test]
fn what_waits_for_too_long_is_counted() {
    let disk = FullDisk::default();
    let log = Log::new(Box::new(disk.clone()), Arc::new(Blobs::in_memory())).holding_at_most(1000);
    disk.full.store(true, Ordering::Relaxed);
    (0..100).for_each(|call| record(&log, call));
    assert!(log.flush(false).is_err());
    disk.full.store(false, Ordering::Relaxed);
    disk.unsynced.store(true, Ordering::Relaxed);
    assert!(log.flush(true).is_err(), "written, and still not safe");
    disk.unsynced.store(false, Ordering::Relaxed);
    let lost = log.flush(true).unwrap();
    let kept = lines_of(&hold(&disk.written)).len() as u64;
    assert!(kept > 1 && kept + lost == 100, "{kept} {lost}");
    assert_eq!(log.flush(false).unwrap(), 0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_log_that_cannot_be_written_stops_a_change_before_it_happens() {
    let bed = Bed::new();
    let ledger = bed.ledger();
    // A real device that is always full.
    std::os::unix::fs::symlink("/dev/full", bed.log(&ledger)).unwrap();
    let mut files = Files::default();
    ledger.record(&stamp(1), called("write_file"));
    let refused = ledger.ready().unwrap_err();
    assert!(matches!(refused, LedgerError::Log(_)) && refused.to_string().contains("make room"), "{refused}");
    let change = begin(&ledger, ChangeKind::Write);
    assert!(files.commit(&ChangeSet::new(vec![write("a", "1")]), &change).is_err());
    drop(change);
    assert_eq!((files, ledger.changes(&Default::default()).unwrap()), (Files::default(), vec![]));
    std::fs::remove_file(bed.log(&ledger)).unwrap();
    ledger.ready().unwrap();
    assert!(!std::fs::read(bed.log(&ledger)).unwrap().is_empty());
}

#[test]
fn a_log_that_somebody_removes_is_made_anew() {
    let bed = Bed::new();
    let ledger = bed.ledger();
    ledger.record(&stamp(1), called("read_file"));
    ledger.flush().unwrap();
    std::fs::remove_file(bed.log(&ledger)).unwrap();
    ledger.record(&stamp(2), called("read_file"));
    ledger.flush().unwrap();
    assert_eq!(lines_of(&std::fs::read(bed.log(&ledger)).unwrap()).len(), 1);
}

#[test]
fn many_threads_record_whole_lines() {
    let bed = Bed::new();
    let ledger = bed.ledger();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let ledger = &ledger;
            scope.spawn(move || {
                for call in 0..200 {
                    ledger.record(&stamp(thread * 1000 + call), called("read_file"));
                    if call % 50 == 0 {
                        ledger.ready().unwrap();
                    }
                }
            });
        }
    });
    ledger.flush().unwrap();
    let lines = lines_of(&std::fs::read(bed.log(&ledger)).unwrap());
    let mut calls: Vec<_> = lines.iter().map(|line| line.call).collect();
    calls.sort_unstable();
    calls.dedup();
    assert_eq!((lines.len(), calls.len()), (1600, 1600));
}
