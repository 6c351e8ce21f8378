//! Proofs of what is promised when things go wrong: crashes, races, full disks, folders that change under a call.
//!
//! Each proof takes a few seconds; with `TOOLGATE_LONG=1` in the environment it goes on for many more rounds.
#![cfg(unix)]

mod crash;
pub mod kit;
mod large;
mod limits;
mod pairs;
mod races;
mod series;
#[cfg(target_os = "linux")]
mod swapped;
