//! What decides about calls and remembers them, through the real binary: rules, hooks, people, reads before writes,
//! undoing, the log.
//!
//! | theme | ids | files |
//! | --- | --- | --- |
//! | byte order marks of hooks | B010 | `hooks` |
//! | ambiguous matches that were never read | B031 | `reading` |
//! | what was only partly read is not overwritten | B054 B111 | `reading` |
//! | what git runs, other spellings, rules that hit nothing | B091 B092 B093 | `rules` |
//! | several at once | B099 B101 B102 | `concurrency` |
//! | staleness and the read gate | B108 B109 B110 | `reading` |
//! | undo | B114 B115 B116 | `undo` |
//! | decisions of hooks | B186 B187 B188 B189 B190 | `hooks`, `approvals` |
//! | processes of hooks | B193 B194 B195 | `hooks` |

mod approvals;
mod concurrency;
#[cfg(unix)]
mod hooks;
pub mod kit;
mod log;
mod paths;
mod reading;
mod rules;
mod searching;
mod undo;
