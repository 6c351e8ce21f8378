//! The process ends after any deed, and once more while what it left is recovered.

use super::super::trial::stop_at;
use super::*;
use crate::workspace::Recovered;

#[test]
fn after_a_crash_anywhere_a_change_is_finished_or_has_not_happened() {
    let after = state_after(&bed, &set());
    for lack in LACKS {
        take_away(lack);
        for takes in [false, true] {
            let mut verdicts = Vec::new();
            for step in 0.. {
                let crash = Crash::at(step, takes);
                let over = !crash.happened;
                verdicts.extend(crash.recovered(&after, &format!("{lack:?}, takes: {takes}, step {step}")));
                if over {
                    break;
                }
            }
            assert!(verdicts.len() > 40, "{lack:?}: {} steps were tried", verdicts.len());
            // From one point on it is done.
            assert!(verdicts.is_sorted_by_key(|verdict| *verdict == Recovered::Done), "{verdicts:?}");
        }
    }
    take_away(&[]);
}

#[test]
fn a_recovery_that_is_cut_short_is_taken_up_again() {
    let after = state_after(&bed, &set());
    for lack in [LACKS[0], LACKS[4]] {
        take_away(lack);
        for step in 0.. {
            let mut over = false;
            for again in 0.. {
                let crash = Crash::at(step, again % 2 == 0);
                over = !crash.happened;
                if !crash.cut_short(again) {
                    break;
                }
                crash.recovered(&after, &format!("{lack:?}, step {step}, then {again}"));
            }
            if over {
                break;
            }
        }
    }
    take_away(&[]);
}

/// What a process that was ended leaves.
struct Crash {
    bed: Bed,
    before: State,
    keeper: Keeper,
    happened: bool,
}

impl Crash {
    fn at(step: usize, takes: bool) -> Self {
        let bed = bed();
        let before = state(&bed.at(""));
        let keeper = Keeper::new(takes);
        stop_at(Some(step));
        let done = bed.local.commit(&ChangeSet::new(set()), &keeper);
        let happened = stop_at(None);
        assert!(happened || done.is_ok(), "{done:?}");
        // What is told as not done is not there, unless it is told that nobody knows.
        if let Err(FileError { kind, .. }) = &done
            && !matches!(kind, FileErrorKind::Unsettled(_))
        {
            assert_eq!(contents(&state(&bed.at(""))), contents(&before), "step {step}: {kind}");
        }
        Crash { bed, before, keeper, happened }
    }

    fn steps(&self) -> Option<Vec<FsStep>> {
        self.keeper.told().steps.clone()
    }

    /// Recovers, but for what comes after `step`. False if that was all of it.
    fn cut_short(&self, step: usize) -> bool {
        let Some(steps) = self.steps() else { return false };
        stop_at(Some(step));
        let done = self.bed.local.recover(&steps, &self.keeper);
        let happened = stop_at(None);
        assert!(happened || done.is_ok(), "{done:?}");
        happened
    }

    fn recovered(&self, after: &State, case: &str) -> Option<Recovered> {
        let Some(steps) = self.steps() else {
            assert_eq!(state(&self.bed.at("")), self.before, "{case}: nothing was intended");
            return None;
        };
        let verdict = self.bed.local.recover(&steps, &self.keeper).expect("a recovery");
        let want = if verdict == Recovered::Done { after } else { &self.before };
        assert_eq!(state(&self.bed.at("")), *want, "{case}: {verdict:?}");
        if verdict == Recovered::Done {
            assert_eq!(self.keeper.kept(), DISPLACED, "{case}");
        } else {
            assert!(self.keeper.kept().iter().all(|kept| DISPLACED.contains(&kept.as_str()) || torn(kept)), "{case}");
        }
        assert_eq!(self.bed.local.recover(&steps, &self.keeper).expect("a recovery"), verdict, "{case}: again");
        assert_eq!(state(&self.bed.at("")), *want, "{case}: again");
        Some(verdict)
    }
}

/// The files that are somebody's.
fn contents(state: &State) -> Vec<(&String, &Vec<u8>)> {
    let own = state.iter().filter(|(path, (_, names, _))| *names > 0 && !path.contains(".toolgate-"));
    own.map(|(path, (_, _, bytes))| (path, bytes)).collect()
}

/// Bytes that are only half there, which nobody can tell from somebody's.
fn torn(kept: &str) -> bool {
    kept.is_empty() || kept == "names, and longer" || "NAMES, and longer".starts_with(kept)
}
