//! Takes from this process whatever it does not need to run a program. What is taken holds also where the engine itself is
//! broken by the program.

use crate::code::frames::Sandbox;
use crate::code::limits::Limits;

#[cfg(target_os = "linux")]
pub(super) use linux::{depend_on_parent, enforce};
#[cfg(not(target_os = "linux"))]
pub(super) use other::{depend_on_parent, enforce};

/// Memory beside the heap of values: the program file, the engine itself, frames that go in and out.
#[cfg(unix)]
const ROOM: u64 = 448 * 1024 * 1024;

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeMap;

    use landlock::{
        ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _, RulesetStatus,
        Scope,
    };
    use rustix::process::{Resource, Rlimit, Signal, setrlimit};
    use seccompiler::{
        BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    };

    use super::{Limits, ROOM, Sandbox};
    use crate::code::frames::Landlock;
    use crate::code::worker::descriptors;

    /// Ends with the process that has started it, whatever it is doing then; keeps nothing but its pipes.
    pub(in crate::code::worker) fn depend_on_parent() {
        descriptors::close_all_others();
        let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
        let _ = rustix::process::setsid();
        // Whoever started it may have gone before the line above, and the read of what to do ends then. What is said on
        // standard error goes nowhere: the pipe that is read from cannot be written to.
        let _ = rustix::stdio::dup2_stderr(rustix::stdio::stdin());
    }

    pub(in crate::code::worker) fn enforce(limits: &Limits) -> Sandbox {
        let resources = resources(limits);
        let landlock = landlock();
        // Last, since Landlock itself is told what to do by a file.
        let resources = resources.and_then(|()| set(Resource::Nofile, 3)).is_ok();
        let seccomp = filter().is_some_and(|filter| seccompiler::apply_filter(&filter).is_ok());
        Sandbox { landlock, seccomp, limits: resources }
    }

    fn set(resource: Resource, most: u64) -> rustix::io::Result<()> {
        let now = rustix::process::getrlimit(resource);
        let most = now.maximum.map_or(most, |now| now.min(most));
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })
    }

    fn resources(limits: &Limits) -> rustix::io::Result<()> {
        let heap = limits.heap_bytes as u64;
        // What is left of a second is for the engine to say itself what has happened.
        let computing = limits.computing.as_secs() + 1;
        set(Resource::Core, 0)?;
        // First a signal that says why, then the end.
        set(Resource::Cpu, computing + 1)?;
        let cpu = rustix::process::getrlimit(Resource::Cpu);
        setrlimit(Resource::Cpu, Rlimit { current: Some(computing), ..cpu })
            .or_else(|_| set(Resource::Cpu, computing))?;
        set(Resource::Stack, (limits.stack_bytes as u64).saturating_add(2 * 1024 * 1024))?;
        set(Resource::Fsize, 0)?;
        set(Resource::As, heap.saturating_add(ROOM))
    }

    fn landlock() -> Landlock {
        // Without any rule everything that is handled is refused.
        let abi = ABI::V6;
        let restricted = Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(abi))
            .and_then(|rules| rules.handle_access(AccessNet::from_all(abi)))
            .and_then(|rules| rules.scope(Scope::from_all(abi)))
            .and_then(Ruleset::create)
            .and_then(landlock::RulesetCreated::restrict_self);
        match restricted.map(|status| status.ruleset) {
            Ok(RulesetStatus::FullyEnforced) => Landlock::Full,
            Ok(RulesetStatus::PartiallyEnforced) => Landlock::Partial,
            Ok(RulesetStatus::NotEnforced) | Err(_) => Landlock::None,
        }
    }

    /// The system calls that an engine needs which reads a pipe and writes a pipe. Everything else is refused with an error.
    fn filter() -> Option<BpfProgram> {
        let plain = [
            libc::SYS_read,
            libc::SYS_write,
            libc::SYS_readv,
            libc::SYS_writev,
            libc::SYS_close,
            libc::SYS_brk,
            libc::SYS_munmap,
            libc::SYS_mremap,
            libc::SYS_madvise,
            libc::SYS_futex,
            libc::SYS_rt_sigaction,
            libc::SYS_rt_sigprocmask,
            libc::SYS_rt_sigreturn,
            libc::SYS_sigaltstack,
            libc::SYS_exit,
            libc::SYS_exit_group,
            libc::SYS_clock_gettime,
            libc::SYS_getrandom,
            libc::SYS_sched_yield,
            libc::SYS_getpid,
            libc::SYS_gettid,
        ];
        let mut rules: BTreeMap<i64, Vec<SeccompRule>> = plain.into_iter().map(|call| (call, Vec::new())).collect();
        // Memory, but none that can be executed.
        for call in [libc::SYS_mmap, libc::SYS_mprotect] {
            rules.insert(call, vec![argument(2, SeccompCmpOp::MaskedEq(libc::PROT_EXEC as u64), 0)?]);
        }
        // A signal to this process only: that is how it aborts.
        let own = u64::from(std::process::id());
        rules.insert(libc::SYS_tgkill, vec![argument(0, SeccompCmpOp::Eq, own)?]);
        let denied = SeccompAction::Errno(libc::EPERM as u32);
        let arch = std::env::consts::ARCH.try_into().ok()?;
        SeccompFilter::new(rules, denied, SeccompAction::Allow, arch).ok()?.try_into().ok()
    }

    fn argument(index: u8, operator: SeccompCmpOp, value: u64) -> Option<SeccompRule> {
        let condition = SeccompCondition::new(index, SeccompCmpArgLen::Dword, operator, value).ok()?;
        SeccompRule::new(vec![condition]).ok()
    }
}

/// Elsewhere only what the engine itself bounds holds; it has no way to a file or to the network of its own.
#[cfg(not(target_os = "linux"))]
mod other {
    use super::{Limits, Sandbox};
    use crate::code::frames::Landlock;

    pub(in crate::code::worker) fn depend_on_parent() {}

    pub(in crate::code::worker) fn enforce(limits: &Limits) -> Sandbox {
        Sandbox { landlock: Landlock::None, seccomp: false, limits: resources(limits) }
    }

    #[cfg(unix)]
    fn resources(limits: &Limits) -> bool {
        use rustix::process::{Resource, Rlimit, setrlimit};
        let set = |resource, most| setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) });
        let heap = limits.heap_bytes as u64;
        set(Resource::Cpu, limits.computing.as_secs() + 2)
            .and_then(|()| set(Resource::Fsize, 0))
            .and_then(|()| set(Resource::As, heap.saturating_add(super::ROOM)))
            .is_ok()
    }

    #[cfg(not(unix))]
    fn resources(_: &Limits) -> bool {
        false
    }
}
