//! Transports: how frames arrive and leave.

mod lines;
mod outbox;
pub mod server;
pub mod stdio;
mod watch;
