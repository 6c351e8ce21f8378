//! Kept bytes: taken from files without a copy, checked when given back, swept when old.

use std::time::Duration;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use super::*;
use crate::ledger::{Limits, Total};

/// A change that has displaced the file `old` of `folder`.
fn displace(ledger: &Ledger, folder: &Dir, version: Version) -> std::io::Result<OpenChange> {
    let change = begin(ledger, ChangeKind::Write);
    let step = FsStep { before: Some(version.to_string()), ..Files::default().step(&write("a", "new")) };
    change.intend(&[step])?;
    let path = ws("a");
    let source = DisplacedSource::File { folder, name: "old" };
    change.keep(&Displaced { path: &path, version, mode: Some(0o755), source })?;
    Ok(change)
}

fn open(path: &std::path::Path) -> Dir {
    Dir::open_ambient_dir(path, ambient_authority()).unwrap()
}

fn blob(bed: &Bed, version: Version) -> PathBuf {
    let name = version.to_string();
    bed.path(&format!("blobs/{}/{name}", &name[..2]))
}

#[cfg(unix)]
#[test]
fn a_displaced_file_is_kept_without_a_copy_and_is_the_ledgers_alone_once_done() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let bed = Bed::new();
    let old = bed.root.path().join("old");
    std::fs::write(&old, "old").unwrap();
    std::fs::set_permissions(&old, PermissionsExt::from_mode(0o755)).unwrap();
    let ledger = bed.ledger();
    let version = Version::of(b"old");
    let change = displace(&ledger, &open(bed.root.path()), version).unwrap();
    let (there, kept) = (std::fs::metadata(&old).unwrap(), std::fs::metadata(blob(&bed, version)).unwrap());
    assert_eq!(there.ino(), kept.ino(), "no copy");
    assert_eq!(there.mode() & 0o777, 0o755, "it may still be put back");
    std::fs::remove_file(&old).unwrap();
    let id = change.done().unwrap();
    assert_eq!(std::fs::metadata(blob(&bed, version)).unwrap().mode() & 0o777, 0o600);
    assert_eq!(ledger.blob(version).unwrap().unwrap(), "old");
    assert_eq!(ledger.change(id).unwrap().steps[0].mode, Some(0o755));
}

#[test]
fn a_file_that_was_put_back_is_not_one_with_what_is_kept() {
    let bed = Bed::new();
    std::fs::write(bed.root.path().join("old"), "old").unwrap();
    let ledger = bed.ledger();
    let version = Version::of(b"old");
    drop(displace(&ledger, &open(bed.root.path()), version).unwrap());
    std::fs::write(bed.root.path().join("old"), "in place").unwrap();
    assert_eq!(ledger.blob(version).unwrap().unwrap(), "old");
    // Nor after a crash.
    std::fs::write(bed.root.path().join("old"), "other").unwrap();
    let version = Version::of(b"other");
    displace(&ledger, &open(bed.root.path()), version).unwrap().leave();
    drop(ledger);
    let ledger = bed.ledger();
    assert_eq!(ledger.recover(&mut |_, _| Ok(crate::workspace::Recovered::Void)).unwrap().len(), 1);
    std::fs::write(bed.root.path().join("old"), "in place").unwrap();
    assert_eq!(ledger.blob(version).unwrap().unwrap(), "other");
}

#[test]
fn on_another_file_system_a_copy_is_kept_and_checked() {
    let Ok(elsewhere) = tempfile::tempdir_in("/dev/shm") else { return };
    let bed = Bed::new();
    std::fs::write(elsewhere.path().join("old"), "old").unwrap();
    let ledger = bed.ledger();
    let _ = displace(&ledger, &open(elsewhere.path()), Version::of(b"old")).unwrap().done();
    assert_eq!(ledger.blob(Version::of(b"old")).unwrap().unwrap(), "old");
    let wrong = displace(&ledger, &open(elsewhere.path()), Version::of(b"other")).map(|_| ());
    assert_eq!(wrong.unwrap_err().kind(), std::io::ErrorKind::InvalidData);
}

#[test]
fn bytes_that_changed_since_are_not_given_out() {
    let bed = Bed::new();
    std::fs::write(bed.root.path().join("old"), "old").unwrap();
    let ledger = bed.ledger();
    let version = Version::of(b"old");
    let id = displace(&ledger, &open(bed.root.path()), version).unwrap().done().unwrap();
    std::fs::write(blob(&bed, version), "changed").unwrap();
    assert!(ledger.blob(version).unwrap_err().to_string().contains("not those bytes any more"));
    assert!(ledger.inverse(id).is_err());
    // Displaced once more, they are whole again.
    std::fs::remove_file(bed.root.path().join("old")).unwrap();
    std::fs::write(bed.root.path().join("old"), "old").unwrap();
    let _ = displace(&ledger, &open(bed.root.path()), version).unwrap().done();
    assert_eq!(ledger.blob(version).unwrap().unwrap(), "old");
}

#[test]
fn old_bytes_go_then_those_that_are_too_many_but_none_that_are_needed() {
    let bed = Bed::new();
    let retention = Limits { max_bytes: 5, older_than: Duration::from_secs(60) };
    let ledger = bed.ledger_with(Options { retention, ..Options::default() });
    let mut files = Files::default();
    for text in ["111", "2222", "3"] {
        let change = begin(&ledger, ChangeKind::Write);
        files.commit(&ChangeSet::new(vec![write("a", text)]), &change).unwrap();
        let _ = change.done();
        bed.world.0.fetch_add(1000, Ordering::Relaxed);
    }
    let open = begin(&ledger, ChangeKind::Write);
    files.commit(&ChangeSet::new(vec![write("a", "44")]), &open).unwrap();
    assert_eq!(ledger.kept().unwrap(), Total { count: 3, bytes: 8 });
    let swept = ledger.sweep().unwrap();
    assert_eq!((swept.gone, swept.left), (Total { count: 1, bytes: 3 }, Total { count: 2, bytes: 5 }));
    bed.world.0.fetch_add(120_000, Ordering::Relaxed);
    assert_eq!(ledger.sweep().unwrap().left, Total { count: 1, bytes: 1 });
    assert_eq!(ledger.blob(Version::of(b"3")).unwrap().unwrap(), "3");
}

#[test]
fn a_sweeper_lets_go_by_itself_until_it_is_dropped() {
    let bed = Bed::new();
    let retention = Limits { max_bytes: 5, older_than: Duration::from_secs(60) };
    let ledger = bed.ledger_with(Options { retention, ..Options::default() });
    let mut files = Files::default();
    let mut make = |text: &str| {
        let change = begin(&ledger, ChangeKind::Write);
        files.commit(&ChangeSet::new(vec![write("a", text)]), &change).unwrap();
        change.done().unwrap();
    };
    let sweeper = ledger.sweep_every(Duration::from_millis(1)).unwrap();
    ["1111", "2222", "3333"].into_iter().for_each(&mut make);
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    while ledger.kept().unwrap().bytes > 5 {
        assert!(std::time::Instant::now() < deadline, "nothing goes");
        std::thread::yield_now();
    }
    drop(sweeper);
    ["4444", "5555"].into_iter().for_each(make);
    assert!(ledger.kept().unwrap().bytes > 5);
}

#[test]
fn old_changes_and_logs_go_with_them_while_others_look_on() {
    let bed = Bed::new();
    let retention = Limits { max_bytes: 1000, older_than: Duration::from_secs(60) };
    let options = || Options { retention, ..Options::default() };
    let (ledger, other, dead) = (bed.ledger_with(options()), bed.ledger(), bed.ledger());
    let mut files = Files::default();
    let mut make = |ledger: &Ledger, text: &str| {
        let change = begin(ledger, ChangeKind::Write);
        files.commit(&ChangeSet::new(vec![write("a", text)]), &change).unwrap();
        change.done().unwrap()
    };
    let old = [make(&ledger, "1"), make(&dead, "2")];
    let logs = [&ledger, &other, &dead].map(|ledger| bed.log(ledger));
    other.flush().unwrap();
    drop(dead);
    bed.world.0.fetch_add(120_000, Ordering::Relaxed);
    let young = [make(&ledger, "3"), make(&other, "4")];
    let undone = other.inverse(young[1]).unwrap();
    assert_eq!(other.changes(&Default::default()).unwrap().len(), 4);
    for log in logs.iter().filter(|log| log.exists()) {
        let file = std::fs::File::options().append(true).open(log).unwrap();
        file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    }
    ledger.sweep().unwrap();
    for ledger in [&ledger, &other, &bed.ledger()] {
        let left: Vec<_> = ledger.changes(&Default::default()).unwrap().iter().map(|record| record.change).collect();
        assert_eq!(left, [young[1], young[0]]);
        assert!(ledger.change(old[0]).is_err());
        assert_eq!(ledger.inverse(young[1]).unwrap().set, undone.set);
    }
    assert_eq!(logs.map(|log| log.exists()), [true, true, false]);
}
