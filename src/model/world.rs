//! What comes in from outside: the time, and randomness. Tests pin both.

use jiff::Timestamp;

/// The time and randomness that a program runs by.
pub trait World: Send + Sync + 'static {
    /// What time it is.
    fn now(&self) -> Timestamp;

    /// Bits that nobody can guess.
    fn random(&self) -> u128;
}

/// The real one.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealWorld;

impl World for RealWorld {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn random(&self) -> u128 {
        let mut bytes = [0; 16];
        // Where the system has no randomness the hash of the time and of this call's place in memory has to do: ids stay
        // distinct, and a key made from it is refused by whoever needs a secret one.
        match getrandom::fill(&mut bytes) {
            Ok(()) => u128::from_le_bytes(bytes),
            Err(_) => u128::from_le_bytes(
                *blake3::hash(Timestamp::now().to_string().as_bytes()).as_bytes().first_chunk().unwrap_or(&bytes),
            ),
        }
    }
}
