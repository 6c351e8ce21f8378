//! What a client can and cannot do with the state it carries.

use std::sync::atomic::Ordering;
use std::sync::{Arc, LazyLock};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;

use super::TestWorld;
use crate::rpc::approval::state::{BadState, Claim, Digest, Expected, Pending, States};

static PENDING: LazyLock<Pending> = LazyLock::new(|| Pending { question: Some(Digest([2; 32])), ..Pending::default() });
const EXPECTED: Expected<'_> = Expected { principal: "local", call: [1; 32] };

fn claim() -> Claim<'static> {
    Claim { principal: "local", call: [1; 32], pending: &PENDING }
}

fn states() -> (Arc<TestWorld>, States) {
    let world = Arc::new(TestWorld::default());
    (Arc::clone(&world), States::new(world))
}

#[test]
fn a_state_speaks_for_what_it_was_made_for() {
    let (_, states) = states();
    let state = states.seal(claim()).0;
    assert_eq!(states.open(&state, &EXPECTED).map(|open| open.pending).ok(), Some(PENDING.clone()));
    for (expected, fault) in [
        (Expected { principal: "other", ..EXPECTED }, BadState::NotOurs),
        (Expected { call: [3; 32], ..EXPECTED }, BadState::OtherCall),
    ] {
        assert_eq!(states.open(&state, &expected).err(), Some(fault));
    }
}

#[test]
fn no_byte_of_a_state_can_be_changed() {
    let (_, states) = states();
    let state = BASE64.decode(states.seal(claim()).0).expect("base64");
    for at in 0..state.len() {
        let mut changed = state.clone();
        changed[at] ^= 1;
        assert_eq!(states.open(&BASE64.encode(changed), &EXPECTED).err(), Some(BadState::NotOurs), "{at}");
    }
    for end in 0..state.len() {
        assert_eq!(states.open(&BASE64.encode(&state[..end]), &EXPECTED).err(), Some(BadState::NotOurs), "{end}");
    }
    let long = "A".repeat(5_000_000);
    assert_eq!(states.open(&long, &EXPECTED).err(), Some(BadState::NotOurs));
}

#[test]
fn another_process_has_another_key() {
    let (world, states) = states();
    let other = States::new(world);
    assert_eq!(other.open(&states.seal(claim()).0, &EXPECTED).err(), Some(BadState::NotOurs));
}

#[test]
fn a_state_is_spent_once_and_a_clock_that_is_set_back_revives_none() {
    let (world, states) = states();
    let (first, second) = (states.seal(claim()).0, states.seal(claim()).0);
    assert_ne!(first, second);
    let open = |state: &str| states.open(state, &EXPECTED);
    let first_open = open(&first).expect("good");
    assert_eq!(states.spend(&first_open), Ok(()));
    assert_eq!(states.spend(&first_open), Err(BadState::Spent));
    assert_eq!(states.spend(&open(&second).expect("good")), Ok(()));

    world.seconds.store(600, Ordering::SeqCst);
    assert_eq!(open(&first).err(), Some(BadState::Expired));
    assert_eq!(states.spend(&first_open), Err(BadState::Expired));
    world.seconds.store(0, Ordering::SeqCst);
    assert_eq!(open(&first).err(), Some(BadState::Expired));
}
