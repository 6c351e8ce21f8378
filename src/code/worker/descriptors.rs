//! Closes what the process was given besides its two pipes.

/// Closes every file descriptor but the standard ones. They are closed on exec already, unless whoever started the server
/// had given it some that are not. Says whether the system did.
#[allow(unsafe_code, reason = "no safe wrapper of close_range exists; this is the only unsafe code")]
pub(super) fn close_all_others() -> bool {
    // SAFETY: called first of all in the process, which has one thread and has opened nothing, so no descriptor from 3 on
    // belongs to any value that would use it later. The call touches no memory.
    let closed = unsafe { libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, 0_u32) };
    closed == 0
}
