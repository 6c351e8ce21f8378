//! Transports: how frames arrive and leave.

pub mod auth;
mod backlog;
mod guard;
pub mod http;
mod lines;
pub mod offering;
mod outbox;
mod process;
pub mod server;
pub mod stdio;
pub mod tls;
mod watch;
