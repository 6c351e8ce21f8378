//! Code mode: programs instead of calls, through a real session.

mod approvals;
mod attacks;
mod calls;
#[cfg(unix)]
mod hostile;
pub mod kit;
mod limits;
mod modes;
mod parked;
mod programs;
pub mod undoing;
