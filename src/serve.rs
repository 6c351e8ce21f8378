//! Transports: how frames arrive and leave.

mod backlog;
mod lines;
mod outbox;
mod process;
pub mod server;
pub mod stdio;
mod watch;
