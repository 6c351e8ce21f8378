//! Groups of processes: a command and whatever it starts, so that nothing of it is left.

use std::process::{Child, Command};

/// Gives a command that is about to be started a group of its own.
#[cfg(unix)]
pub(super) fn alone(command: &mut Command) {
    use std::os::unix::process::CommandExt as _;
    command.process_group(0);
}

/// Ends all processes of a group. Its first process must not have been waited for: until then nobody else gets its id.
#[cfg(unix)]
pub(super) fn end(first: u32) {
    if let Some(pid) = pid(first) {
        // An error says that they have ended.
        let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
    }
}

/// Blocks until a process has ended, and leaves it to be waited for.
#[cfg(unix)]
pub(super) fn await_end(first: u32) {
    use rustix::io::Errno;
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    let Some(pid) = pid(first) else { return };
    while matches!(waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT), Err(Errno::INTR)) {}
}

/// Whether a process has ended; it is left to be waited for.
#[cfg(unix)]
pub(super) fn has_ended(child: &mut Child) -> bool {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    pid(child.id()).is_none_or(|pid| !matches!(waitid(WaitId::Pid(pid), options), Ok(None)))
}

#[cfg(unix)]
fn pid(id: u32) -> Option<rustix::process::Pid> {
    i32::try_from(id).ok().and_then(rustix::process::Pid::from_raw)
}

/// Elsewhere there are no groups; only the process itself is ended.
#[cfg(not(unix))]
pub(super) fn alone(_: &mut Command) {}

#[cfg(not(unix))]
pub(super) fn end(_: u32) {}

#[cfg(not(unix))]
pub(super) fn await_end(_: u32) {}

#[cfg(not(unix))]
pub(super) fn has_ended(child: &mut Child) -> bool {
    !matches!(child.try_wait(), Ok(None))
}
