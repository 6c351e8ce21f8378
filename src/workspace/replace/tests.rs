//! Commits on which something fails, at every step there is, on file systems that can do less.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use super::beside::Names;
use super::place::Place;
use super::stage::{Staged, Terms, stage};
use super::temp::Naming;
use super::trial::{Ability, fail_at, take_away};
use crate::model::change::{Change, ChangeSet, Expect};
use crate::workspace::local::Local;
use crate::workspace::local::tests::{Bed, exactly, kind, write, ws};
use crate::workspace::{Durability, NoJournal, Workspace};

/// What may be missing, in the combinations that file systems have.
const LACKS: [&[Ability]; 5] = [
    &[],
    &[Ability::Unnamed],
    &[Ability::Exchange],
    &[Ability::Unnamed, Ability::Exchange],
    &[Ability::Unnamed, Ability::Exchange, Ability::Link],
];

/// A workspace in which one set meets every way of writing: made, replaced, through a link, of several names.
fn bed() -> Bed {
    let bed = Bed::with(&[("plain", "plain"), ("sub/script", "script"), ("one", "names")]);
    fs::set_permissions(bed.at("sub/script"), fs::Permissions::from_mode(0o750)).expect("a mode");
    fs::hard_link(bed.at("one"), bed.at("two")).expect("a name");
    symlink("sub/script", bed.at("link")).expect("a link");
    bed
}

fn set() -> Vec<Change> {
    vec![
        Change::MakeDir { path: ws("made") },
        Change::MakeDir { path: ws("made/deep") },
        write("made/deep/new", Expect::Absent, "new"),
        write("plain", exactly("plain"), "PLAIN"),
        write("two", exactly("names"), "NAMES, and longer"),
        write("link", Expect::Any, "SCRIPT"),
        write("any", Expect::Any, "any"),
    ]
}

/// Each path with its kind and mode, its inode where it has several names, and its bytes or target.
fn state(bed: &Bed) -> BTreeMap<String, (u32, Option<u64>, Vec<u8>)> {
    let mut state = BTreeMap::new();
    let mut folders = vec![bed.at("")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let metadata = fs::symlink_metadata(&path).expect("a file");
            let bytes = if metadata.is_dir() {
                folders.push(path.clone());
                Vec::new()
            } else if metadata.is_symlink() {
                fs::read_link(&path).expect("a link").into_os_string().into_encoded_bytes()
            } else {
                fs::read(&path).expect("a file")
            };
            let inode = (metadata.is_file() && metadata.nlink() > 1).then(|| metadata.ino());
            state.insert(path.display().to_string(), (metadata.mode(), inode, bytes));
        }
    }
    state
}

#[test]
fn after_a_failure_at_any_step_everything_is_as_it_was() {
    for lack in LACKS {
        take_away(lack);
        // Waiting for the disk at every step takes long, so not with every lack.
        let durabilities =
            if lack.len() == 1 { vec![Durability::Process] } else { vec![Durability::Process, Durability::Full] };
        for durability in durabilities {
            let bed = bed();
            let local = Local::open(bed.at("")).expect("a workspace").with_durability(durability);
            let before = state(&bed);
            let mut step = 0;
            loop {
                fail_at(Some(step));
                let done = local.commit(&ChangeSet::new(set()), &NoJournal);
                if !fail_at(None) {
                    done.expect("a commit without a failure");
                    break;
                }
                assert_eq!(kind(done), "Io", "{lack:?}, step {step}");
                assert_eq!(state(&bed), before, "{lack:?}, step {step}");
                bed.clean();
                step += 1;
            }
            assert!(step > 20, "{step} steps were tried");
            assert_eq!((bed.text("plain").as_str(), bed.text("one").as_str()), ("PLAIN", "NAMES, and longer"));
            assert_eq!((bed.text("link").as_str(), bed.text("made/deep/new").as_str()), ("SCRIPT", "new"));
            let script = fs::metadata(bed.at("sub/script")).expect("a file");
            assert_eq!(script.mode() & 0o7777, 0o750);
            bed.clean();
        }
    }
    take_away(&[]);
}

#[test]
fn homes_that_can_do_less_do_the_same() {
    for lack in LACKS {
        take_away(lack);
        let bed = bed();
        for (expect, text) in [(exactly("plain"), "1"), (exactly("1"), "2"), (Expect::Any, "3")] {
            bed.commit(vec![write("plain", expect, text)]).expect("a commit");
            assert_eq!(bed.text("plain"), text);
        }
        assert_eq!(kind(bed.commit(vec![write("plain", exactly("2"), "4")])), "Stale");
        assert_eq!(kind(bed.commit(vec![write("plain", Expect::Absent, "4")])), "Stale");
        assert_eq!(bed.text("plain"), "3");
        bed.commit(vec![write("new", Expect::Absent, "new")]).expect("a commit");
        assert_eq!(bed.text("new"), "new");
        bed.clean();
    }
    take_away(&[]);
}

/// A file made ready for `place`, where nothing stands in the way.
fn staged(place: &Place, text: &'static str) -> Staged {
    let names = Names::draw();
    let terms = Terms { names: &names, naming: Naming::Now, durable: false, in_place: false };
    let staged = stage(place, Expect::Any, Some(&text.into()), &terms).expect("a file that is ready");
    staged.1.expect("names may appear")
}

/// Nothing can be checked beforehand of bytes that another program writes between the check and the swap.
#[test]
#[cfg(target_os = "linux")]
fn what_was_written_after_the_check_comes_back() {
    let bed = Bed::with(&[("a", "seen")]);
    let root = cap_std::fs::Dir::open_ambient_dir(bed.at(""), cap_std::ambient_authority()).expect("a folder");
    let place = Place::of_file(&root, &ws("a")).expect("a place");
    for expect in [exactly("seen"), exactly("theirs")] {
        fs::write(bed.at("a"), "seen").expect("a file");
        let mut staged = staged(&place, "mine");
        fs::write(bed.at("save"), "theirs").expect("a file");
        fs::rename(bed.at("save"), bed.at("a")).expect("a save");
        // Without the glance, so that only the displaced file can tell.
        let done = staged.perform(&place, expect, false);
        let stale = expect == exactly("seen");
        assert_eq!(done.is_err(), stale, "{done:?}");
        assert_eq!(bed.text("a"), if stale { "theirs" } else { "mine" });
        drop(staged);
        bed.clean();
    }
}

/// What is written to the new bytes before they are taken back is the newest there is.
#[test]
#[cfg(target_os = "linux")]
fn what_was_written_before_a_way_back_stays() {
    let bed = Bed::with(&[("a", "old")]);
    let root = cap_std::fs::Dir::open_ambient_dir(bed.at(""), cap_std::ambient_authority()).expect("a folder");
    let place = Place::of_file(&root, &ws("a")).expect("a place");
    for in_place in [true, false] {
        fs::write(bed.at("a"), "old").expect("a file");
        let mut staged = staged(&place, "mine");
        staged.perform(&place, exactly("old"), true).expect("a swap");
        if in_place {
            fs::write(bed.at("a"), "theirs").expect("a file");
        } else {
            fs::write(bed.at("save"), "theirs").expect("a file");
            fs::rename(bed.at("save"), bed.at("a")).expect("a save");
        }
        staged.undo(&place).expect("a way back");
        drop(staged);
        assert_eq!(bed.text("a"), "theirs", "{in_place}");
        bed.clean();
    }
}
