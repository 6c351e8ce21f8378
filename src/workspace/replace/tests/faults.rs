//! Any deed fails, once: then everything is as it was.

use super::super::trial::fail_with;
use super::*;
use crate::workspace::Recovered;

const EINTR: i32 = 4;
const EIO: i32 = 5;
const ENOSPC: i32 = 28;

#[test]
fn after_a_failure_at_any_step_everything_is_as_it_was() {
    let after = state_after(&bed, &set());
    for (lack, durability) in beds() {
        take_away(lack);
        for errno in [EIO, ENOSPC, EINTR] {
            for takes in [false, true] {
                let steps = (0..).take_while(|step| fails_at(*step, errno, takes, durability, &after)).count();
                assert!(steps > 40, "{lack:?}: {steps} steps were tried");
            }
        }
    }
    take_away(&[]);
}

/// Waiting for the disk at every step takes long, so it is played where what lacks does not matter.
fn beds() -> impl Iterator<Item = (&'static [Ability], Durability)> {
    let full: [(&'static [Ability], _); 1] = [(&[Ability::Sync], Durability::Full)];
    LACKS.into_iter().map(|lack| (lack, Durability::Process)).chain(full)
}

/// False once the commit has fewer steps.
fn fails_at(step: usize, errno: i32, takes: bool, durability: Durability, after: &State) -> bool {
    let bed = bed();
    let local = Local::open(bed.at("")).expect("a workspace").with_durability(durability);
    let before = state(&bed.at(""));
    let keeper = Keeper::new(takes);
    fail_with(Some(step), errno);
    let done = local.commit(&ChangeSet::new(set()), &keeper);
    if !fail_with(None, errno) {
        done.expect("a commit without a failure");
        return false;
    }
    let case = format!("{errno} at step {step}, takes: {takes}, {durability:?}, {done:?}");
    let steps = keeper.told().steps.clone();
    if done.is_ok() {
        // Only the clearing away failed, or it was tried again at once.
        assert_eq!(keeper.kept(), DISPLACED, "{case}");
        let recovered = local.recover(&steps.expect("an intent"), &Keeper::new(false)).expect("a recovery");
        assert_eq!(recovered, Recovered::Done, "{case}");
        assert_eq!(state(&bed.at("")), *after, "{case}");
        return true;
    }
    let told = kind(done);
    assert_eq!(told, if errno == ENOSPC { "NoSpace" } else { "Io" }, "{case}");
    assert_eq!(state(&bed.at("")), before, "{case}");
    assert!(keeper.kept().iter().all(|kept| DISPLACED.contains(&kept.as_str())), "{case}");
    if let Some(steps) = steps {
        assert_eq!(local.recover(&steps, &Keeper::new(takes)).expect("a recovery"), Recovered::Void, "{case}");
        assert_eq!(state(&bed.at("")), before, "{case}");
    }
    true
}
