//! Others who change the same files at the same time.
#![cfg(unix)]

use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::*;

#[test]
fn what_another_wrote_in_between_survives() {
    let bed = Bed::with(&[("a", "seen")]);
    fs::write(bed.at("a"), "theirs").expect("a file");
    let error = bed.commit(vec![write("a", exactly("seen"), "mine")]).expect_err("stale");
    assert!(matches!(error.kind, FileErrorKind::Stale { now: Some(now) } if now == Version::of(b"theirs")));
    assert_eq!(bed.text("a"), "theirs");
    bed.clean();
}

/// Another program saves by rename, as editors do, while commits go on. Each of its bytes is either still there,
/// or was seen by the commit that replaced it.
#[test]
fn an_editor_that_saves_meanwhile_loses_nothing() {
    let bed = Bed::with(&[("log", "")]);
    let stop = AtomicBool::new(false);
    let (saved, committed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                // The editor holds no lock: it may itself overwrite, which the count below allows for.
                fs::write(bed.outside().join("../save"), format!("editor {}", saved.load(Ordering::Relaxed)))
                    .expect("a file");
                fs::rename(bed.outside().join("../save"), bed.at("log")).expect("a save");
                saved.fetch_add(1, Ordering::Relaxed);
                thread::sleep(Duration::from_micros(200));
            }
        });
        let started = Instant::now();
        while started.elapsed() < Duration::from_millis(1500) {
            let seen = bed.read("log").expect("a file");
            let last = seen.rsplit('|').next().unwrap_or_default().to_owned();
            match bed.commit(vec![write("log", exactly(&seen), &format!("ours|{last}"))]) {
                Ok(()) => {
                    committed.fetch_add(1, Ordering::Relaxed);
                }
                Err(error) => assert_eq!(kind::<()>(Err(error)), "Stale"),
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    // The editor's last save is what the file is, or what the last commit was made from.
    let last = format!("editor {}", saved.load(Ordering::Relaxed) - 1);
    assert_eq!(bed.read("log").expect("a file").rsplit('|').next(), Some(last.as_str()));
    assert!(committed.load(Ordering::Relaxed) > 0);
    bed.clean();
}

#[test]
fn readers_see_whole_files() {
    let bed = Bed::with(&[("a", "0")]);
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                let text = bed.read("a").expect("a file");
                let first = text.chars().next().expect("never empty");
                assert!(text.chars().all(|c| c == first), "torn");
            }
        });
        for n in 0..400 {
            let text = (n % 10).to_string().repeat(1 + 977 * (n % 37));
            bed.commit(vec![write("a", Expect::Any, &text)]).expect("a commit");
        }
        stop.store(true, Ordering::Relaxed);
    });
    bed.clean();
}

/// A folder turns into a link to the outside and back, as fast as it can, while it is used.
#[test]
fn a_folder_swapped_with_a_link_leads_nowhere() {
    const ROUNDS: usize = 10_000;
    let bed = Bed::with(&[("d/x", "inside")]);
    symlink(bed.outside(), bed.at("link")).expect("a link");
    symlink("../out", bed.at("relative")).expect("a link");
    let stop = AtomicBool::new(false);
    let (inside, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut round = 0;
            while !stop.load(Ordering::Relaxed) {
                let link = if round % 2 == 0 { "link" } else { "relative" };
                swap(&bed, "d", link);
                thread::yield_now();
                swap(&bed, "d", link);
                thread::yield_now();
                round += 1;
            }
        });
        for round in 0..ROUNDS {
            if let Ok(text) = bed.read(if round % 2 == 0 { "d/secret" } else { "d/x" }) {
                assert!(text.starts_with("inside"), "read from outside: {text}");
            }
            let new = format!("d/new{}", round % 7);
            for change in [write("d/x", Expect::Any, "inside"), write(&new, Expect::Any, "inside")] {
                let met = if bed.commit(vec![change]).is_ok() { &inside } else { &refused };
                met.fetch_add(1, Ordering::Relaxed);
            }
            let _ = bed.commit(vec![Change::MakeDir { path: ws("d/made") }, write("d/made/x", Expect::Any, "inside")]);
            let listed = bed.local.list(&ws("d"), 50);
            assert!(listed.is_err() || listed.is_ok_and(|l| l.entries.iter().all(|e| e.name != "secret")));
        }
        stop.store(true, Ordering::Relaxed);
    });
    let (inside, refused) = (inside.into_inner(), refused.into_inner());
    assert!(inside > 0 && refused > 0, "{inside} commits met the folder, {refused} the link");
    bed.clean();
}

#[cfg(target_os = "linux")]
fn swap(bed: &Bed, a: &str, b: &str) {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    renameat_with(CWD, bed.at(a), CWD, bed.at(b), RenameFlags::EXCHANGE).expect("a swap");
}

#[cfg(not(target_os = "linux"))]
fn swap(bed: &Bed, a: &str, b: &str) {
    for (from, to) in [(a, "aside"), (b, a), ("aside", b)] {
        fs::rename(bed.at(from), bed.at(to)).expect("a rename");
    }
}
