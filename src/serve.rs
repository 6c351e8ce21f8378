//! Transports: how frames arrive and leave.

mod lines;
mod outbox;
mod process;
pub mod server;
pub mod stdio;
mod watch;
