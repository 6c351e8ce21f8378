//! The fuzz targets of `tests/fuzz` as ordinary tests: over the kept corpus, and over what chance makes of it, the same
//! each time. `TOOLGATE_LONG=1` goes on for a hundred times longer.

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use super::proofs::kit::rounds;

#[path = "../fuzz/src/lib.rs"]
pub mod bodies;

/// What files, frames and calls are made of.
const PIECES: &[&[u8]] = &[
    b"\n",
    b"\r\n",
    b"\r",
    b"\xEF\xBB\xBF",
    b"\xFF\xFE",
    b"\0",
    b"\xFF",
    "é".as_bytes(),
    "e\u{301}".as_bytes(),
    "\u{1F389}".as_bytes(),
    b"one",
    b"\n\n",
    b"!",
    b"**/",
    b"*",
    b"[a-z]",
    b"{a,b}",
    b"\\",
    b"../",
    b"./",
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b",",
    b":",
    b"null",
    b"1e999",
    b"\\ud83d",
    b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n",
    b"\"params\"",
    b"\"_meta\"",
    b"\"arguments\"",
];

/// A row of numbers that is the same each time (xorshift).
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit.max(1) as u64).expect("a small number")
    }

    fn bytes(&mut self, corpus: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = if self.below(8) == 0 {
            let length = self.below(200);
            (0..length).map(|_| u8::try_from(self.below(256)).expect("a byte")).collect()
        } else {
            corpus[self.below(corpus.len())].clone()
        };
        for _ in 0..=self.below(6) {
            self.change(&mut bytes, corpus);
        }
        bytes.truncate(4096);
        bytes
    }

    fn change(&mut self, bytes: &mut Vec<u8>, corpus: &[Vec<u8>]) {
        let at = self.below(bytes.len() + 1);
        let to = (at + self.below(16)).min(bytes.len());
        match self.below(5) {
            0 => drop(bytes.drain(at..to)),
            1 => drop(bytes.splice(at..at, PIECES[self.below(PIECES.len())].iter().copied())),
            2 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = u8::try_from(self.below(256)).expect("a byte");
                }
            }
            3 => {
                let twice = bytes[at..to].to_vec();
                drop(bytes.splice(at..at, twice));
            }
            _ => {
                let other = &corpus[self.below(corpus.len())];
                bytes.truncate(at);
                bytes.extend_from_slice(&other[self.below(other.len() + 1)..]);
            }
        }
    }
}

/// Runs a target over its corpus, then over what chance makes of it.
fn run(name: &str, usual: usize, target: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus").join(name);
    let kept: BTreeMap<_, _> = fs::read_dir(folder)
        .expect("a corpus")
        .map(|entry| entry.expect("an entry").path())
        .map(|path| (path.clone(), fs::read(path).expect("a file")))
        .collect();
    assert!(kept.len() > 3, "{name}: a corpus");
    let check = |told: &str, bytes: &[u8]| {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| target(bytes))) {
            let why = panic.downcast_ref::<String>().map_or("", String::as_str);
            panic!("{name} on {told}: {why}\nkeep it in the corpus: {}", bytes.escape_ascii());
        }
    };
    for (path, bytes) in &kept {
        check(&path.display().to_string(), bytes);
    }
    let corpus: Vec<_> = kept.into_values().collect();
    let seed = std::env::var("TOOLGATE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0x9E37_79B9_7F4A_7C15);
    let mut chance = Chance(seed);
    for round in 0..rounds(usual, usual * 100) {
        check(&format!("round {round}"), &chance.bytes(&corpus));
    }
}

#[test]
fn frames() {
    run("frame", 100, bodies::frame);
}

#[test]
fn patches() {
    run("patch", 1_000, bodies::patch);
}

#[test]
fn globs() {
    run("globs", 1_000, bodies::globs);
}

#[test]
fn calls() {
    run("dispatch", 200, bodies::dispatch);
}
