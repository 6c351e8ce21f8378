//! The power goes after any deed, and takes with it any part of what was not waited for.

use super::super::trial::{fail_with, stop_at, watch, watch_no_more};
use super::image::{Image, after_loss};
use std::collections::HashSet;

use super::*;
use crate::workspace::Recovered;

/// A set, and the texts that it displaces.
type Case = (Vec<Change>, &'static [&'static str]);

/// Small enough that everything can be lost in every combination.
fn cases() -> Vec<Case> {
    vec![
        (vec![write("plain", exactly("plain"), "PLAIN"), write("top", exactly("top"), "TOP")], &["plain", "top"]),
        (vec![write("plain", exactly("plain"), "PLAIN"), write("two", Expect::Any, "NAMES")], &["names", "plain"]),
        (vec![write("one", Expect::Any, "NAMES"), write("kept", exactly("of two"), "OF")], &["names", "of two"]),
        (vec![make_dir("made"), write("made/new", Expect::Absent, "new"), write("top", Expect::Any, "TOP")], &["top"]),
        (vec![delete("top", exactly("top")), write("moved", Expect::Absent, "top")], &["top"]),
        (vec![delete("gone/last", Expect::Any), remove("gone"), delete("top", Expect::Any)], &["last", "top"]),
        (vec![write("link", exactly("script"), "SCRIPT"), delete("other", exactly("of two"))], &["of two", "script"]),
        (vec![write("new", Expect::Absent, "new"), write("plain", exactly("plain"), "")], &["plain"]),
    ]
}

fn remove(path: &str) -> Change {
    Change::RemoveDir { path: ws(path) }
}

/// Without waiting for the disk, which is played here.
fn lacks() -> Vec<Vec<Ability>> {
    LACKS.iter().map(|lack| [lack, &[Ability::Sync][..]].concat()).collect()
}

#[test]
fn whatever_a_loss_of_power_takes_a_change_is_finished_or_has_not_happened() {
    let mut tried = 0;
    for lack in lacks() {
        take_away(&lack);
        for case in cases() {
            for takes in [false, true] {
                tried += Run::of(&case, takes, None).check();
            }
        }
    }
    take_away(&[]);
    assert!(tried > 1_000, "{tried} states were tried");
}

#[test]
fn a_loss_of_power_while_a_change_is_taken_back_does_no_harm() {
    for lack in [&lacks()[0], &lacks()[4]] {
        take_away(lack);
        for case in cases() {
            // From each step on from which there is something to take back.
            for step in 0.. {
                let run = Run::of(&case, step % 2 == 0, Some(step));
                let over = run.done && !run.failed;
                run.check();
                if over {
                    break;
                }
            }
        }
    }
    take_away(&[]);
}

#[test]
fn a_loss_of_power_during_a_recovery_does_no_harm() {
    for lack in [&lacks()[0], &lacks()[4]] {
        take_away(lack);
        for case in cases() {
            Run::of(&case, false, None).check_recoveries();
        }
    }
    take_away(&[]);
}

/// The process is ended, what it left is recovered at once, and only then the power goes.
#[test]
fn a_loss_of_power_after_a_crash_and_a_recovery_does_no_harm() {
    for lack in [&lacks()[0], &lacks()[4]] {
        take_away(lack);
        for case in cases() {
            for step in 0.. {
                let run = Run::ended_and_recovered(&case, step);
                run.check();
                if !run.failed {
                    break;
                }
            }
        }
    }
    take_away(&[]);
}

/// A commit, and all that it did to the disk.
struct Run {
    start: Image,
    before: State,
    after: State,
    deeds: Vec<Deed>,
    /// From how many deeds on losing power tells something new.
    from: usize,
    told: Told,
    displaced: &'static [&'static str],
    /// A step was made to fail.
    failed: bool,
    done: bool,
    case: String,
}

impl Run {
    fn of((set, displaced): &Case, takes: bool, fail: Option<usize>) -> Self {
        let bed = bed();
        let local = full(&bed);
        let (start, before) = (Image::of(&bed.at("")), plain(state(&bed.at(""))));
        let keeper = Keeper::new(takes);
        watch();
        fail_with(fail, 5);
        let done = local.commit(&ChangeSet::new(set.clone()), &keeper);
        let failed = fail_with(None, 5) && fail.is_some();
        let deeds = watch_no_more();
        assert!(failed || done.is_ok(), "{done:?}");
        let after = plain(state_after(&super::bed, set));
        let (told, done, from) = (keeper.told().clone(), done.is_ok(), 0);
        Run {
            start,
            before,
            after,
            deeds,
            from,
            told,
            displaced,
            failed,
            done,
            case: format!("{set:?}, takes: {takes}"),
        }
    }

    /// A commit that was stopped after `step` deeds, and its recovery.
    fn ended_and_recovered((set, displaced): &Case, step: usize) -> Self {
        let bed = bed();
        let local = full(&bed);
        let (start, before) = (Image::of(&bed.at("")), plain(state(&bed.at(""))));
        let keeper = Keeper::new(step.is_multiple_of(2));
        watch();
        stop_at(Some(step));
        let _ = local.commit(&ChangeSet::new(set.clone()), &keeper);
        let failed = stop_at(None);
        let from = trial::watched().len();
        let steps = keeper.told().steps.clone();
        if let Some(steps) = steps {
            local.recover(&steps, &keeper).expect("a recovery");
        }
        let (deeds, told) = (watch_no_more(), keeper.told().clone());
        let after = plain(state_after(&super::bed, set));
        let case = format!("{set:?}, ended at {step}");
        Run { start, before, after, deeds, from, told, displaced, failed, done: false, case }
    }

    /// Loses power everywhere. Tells how many states that left.
    fn check(&self) -> usize {
        let mut known = HashSet::new();
        for len in self.from..=self.deeds.len() {
            for image in after_loss(&self.start, &self.deeds[..len]) {
                let kept = self.told.kept.iter().filter(|kept| kept.1 <= len).count();
                let stage = (self.told.intended < len, len == self.deeds.len());
                if known.insert((image.told(), kept, stage)) {
                    self.recovers(&image, len);
                }
            }
        }
        known.len()
    }

    /// After `len` deeds the disk held `image`.
    fn recovers(&self, image: &Image, len: usize) {
        let case = || format!("{}, after {:?}, and not {:?}", self.case, &self.deeds[..len], &self.deeds[len..]);
        let bed = Bed::quick();
        image.materialise(&bed.at(""));
        let Some(steps) = self.told.steps.as_ref().filter(|_| self.told.intended < len) else {
            assert_eq!(plain(state(&bed.at(""))), self.before, "nothing was intended, {}", case());
            return;
        };
        if len == self.deeds.len() && !self.failed {
            assert_eq!(plain(state(&bed.at(""))), self.after, "it was told as done, {}", case());
            return;
        }
        let left = state(&bed.at(""));
        let keeper = Keeper::new(false);
        let verdict = full(&bed).recover(steps, &keeper).unwrap_or_else(|error| panic!("{error}, {}", case()));
        self.is_right(&bed, verdict, &keeper, len, &|| format!("{left:?}, {}", case()));
    }

    fn is_right(&self, bed: &Bed, verdict: Recovered, keeper: &Keeper, len: usize, case: &dyn Fn() -> String) {
        let want = if verdict == Recovered::Done { &self.after } else { &self.before };
        assert_eq!(plain(state(&bed.at(""))), *want, "{verdict:?}, {}", case());
        if verdict == Recovered::Done {
            let kept = self.told.kept.iter().filter(|kept| kept.1 <= len).map(|kept| text(&kept.0));
            let mut kept: Vec<String> = kept.chain(keeper.kept()).collect();
            kept.sort();
            kept.dedup();
            assert!(self.displaced.iter().all(|text| kept.iter().any(|kept| kept == text)), "{kept:?}, {}", case());
        }
    }

    /// Loses power after every deed of each recovery, after a loss of power at every deed of the commit.
    fn check_recoveries(&self) -> usize {
        let Some(steps) = &self.told.steps else { return 0 };
        let (mut known, mut outer) = (HashSet::new(), HashSet::new());
        for len in self.told.intended + 1..self.deeds.len() {
            let before: Vec<_> = self.told.kept.iter().filter(|kept| kept.1 <= len).cloned().collect();
            for image in after_loss(&self.start, &self.deeds[..len]) {
                if !outer.insert((image.told(), before.len())) {
                    continue;
                }
                let bed = Bed::quick();
                image.materialise(&bed.at(""));
                let (start, keeper) = (Image::of(&bed.at("")), Keeper::new(false));
                watch();
                full(&bed).recover(steps, &keeper).expect("a recovery");
                let deeds = watch_no_more();
                let kept = keeper.told().kept.clone();
                for again in 0..=deeds.len() {
                    for image in after_loss(&start, &deeds[..again]) {
                        let keeper = Keeper::new(false);
                        keeper.told().kept = kept.iter().filter(|kept| kept.1 <= again).cloned().collect();
                        if !known.insert((image.told(), before.len(), keeper.kept())) {
                            continue;
                        }
                        let bed = Bed::quick();
                        image.materialise(&bed.at(""));
                        let verdict = full(&bed).recover(steps, &keeper).expect("a recovery");
                        let case = || format!("{}, {:?}, then {:?}", self.case, &self.deeds[..len], &deeds[..again]);
                        self.is_right(&bed, verdict, &keeper, len, &case);
                    }
                }
            }
        }
        known.len()
    }
}

fn full(bed: &Bed) -> Local {
    Local::open(bed.at("")).expect("a workspace").with_durability(Durability::Full)
}

/// Without modes, which the played disk does not hold.
fn plain(state: State) -> State {
    state.into_iter().map(|(path, (mode, names, bytes))| (path, (mode & 0o170_000, names, bytes))).collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
