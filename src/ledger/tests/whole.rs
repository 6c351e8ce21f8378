//! What is kept whole: taken without a copy, given back as it was, counted and swept like bytes.

use std::path::Path;
use std::time::Duration;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use super::*;
use crate::ledger::{Limits, Total};
use crate::model::id::KeptId;
use crate::workspace::Node;

fn open(path: &Path) -> Dir {
    Dir::open_ambient_dir(path, ambient_authority()).unwrap()
}

/// A folder `name` with a file and an empty folder in it.
fn fill(folder: &Path, name: &str) {
    std::fs::create_dir_all(folder.join(name).join("empty")).unwrap();
    std::fs::write(folder.join(name).join("file"), name).unwrap();
}

/// A change that takes `name` out of `folder`.
fn take(ledger: &Ledger, folder: &Path, name: &str, kept: KeptId) -> OpenChange {
    let change = begin(ledger, ChangeKind::Write);
    let removed = Files::default().step(&write(name, ""));
    let kept_name = Some(kept.to_string());
    let step = FsStep { action: FsAction::Remove, kept: kept_name, after: None, ..removed };
    change.intend(&[step]).unwrap();
    change.take(&Node { kept, bytes: 10, folder: &open(folder), name }).unwrap();
    change
}

const ONE: KeptId = KeptId::new(1);
const TWO: KeptId = KeptId::new(2);

#[test]
fn what_is_taken_is_gone_until_it_is_given_back() {
    let bed = Bed::new();
    let root = bed.root.path();
    for ledger in [Ledger::in_memory(bed.world.clone()), bed.ledger()] {
        fill(root, "d");
        let change = take(&ledger, root, "d", ONE);
        assert!(change.has(ONE).unwrap() && !change.has(TWO).unwrap());
        assert!(!root.join("d").exists());
        assert_eq!(ledger.kept().unwrap(), Total { count: 1, bytes: 10 });
        assert_eq!(change.give_back(TWO, &open(root), "e").unwrap_err().kind(), std::io::ErrorKind::NotFound);
        change.give_back(ONE, &open(root), "e").unwrap();
        assert!(!change.has(ONE).unwrap());
        assert_eq!(std::fs::read_to_string(root.join("e/file")).unwrap(), "d");
        assert!(root.join("e/empty").is_dir());
        std::fs::remove_dir_all(root.join("e")).unwrap();
        change.forget(ONE).unwrap();
        assert_eq!(ledger.kept().unwrap(), Total::default());
    }
}

#[cfg(unix)]
#[test]
fn on_one_file_system_nothing_is_copied() {
    use std::os::unix::fs::MetadataExt;
    let bed = Bed::new();
    let (root, ledger) = (bed.root.path(), bed.ledger());
    fill(root, "d");
    let inode = std::fs::metadata(root.join("d/file")).unwrap().ino();
    let change = take(&ledger, root, "d", ONE);
    change.give_back(ONE, &open(root), "d").unwrap();
    assert_eq!(std::fs::metadata(root.join("d/file")).unwrap().ino(), inode);
}

#[test]
fn what_was_kept_under_a_name_goes_when_another_comes() {
    let bed = Bed::new();
    let (root, ledger) = (bed.root.path(), bed.ledger());
    for name in ["d", "e"] {
        fill(root, name);
        take(&ledger, root, name, ONE).leave();
    }
    let change = begin(&ledger, ChangeKind::Write);
    change.give_back(ONE, &open(root), "back").unwrap();
    assert_eq!(std::fs::read_to_string(root.join("back/file")).unwrap(), "e");
}

#[test]
fn what_is_kept_whole_goes_when_it_is_too_much_or_too_old_but_not_before_its_change_has_ended() {
    let bed = Bed::new();
    let root = bed.root.path();
    let limits = |max_bytes| Limits { max_bytes, older_than: Duration::from_secs(1_000) };
    let with = |limits| bed.ledger_with(Options { retention: limits, ..Options::default() });
    let ledger = with(limits(15));
    for (name, kept) in [("d", ONE), ("e", TWO)] {
        fill(root, name);
        let change = take(&ledger, root, name, kept);
        if kept == ONE {
            change.leave()
        } else {
            let _ = change.done();
        }
    }
    let swept = ledger.sweep().unwrap();
    assert_eq!(swept.gone, Total { count: 1, bytes: 10 }, "the change that has ended, though the other is older");
    let change = begin(&ledger, ChangeKind::Write);
    assert!(change.has(ONE).unwrap() && !change.has(TWO).unwrap());
}
