//! Hooks that misbehave as processes.

use std::time::{Duration, Instant};

use futures_util::FutureExt as _;

use super::kit::{Script, before, call, finished, large_call, limited, shell};
use super::*;

/// Far less than what the scripts here sleep, far more than an answer takes.
const SOON: Duration = Duration::from_secs(15);

fn large(script: &str) -> Result<Before, HookFailure> {
    finished(shell(script).before(&large_call()))
}

/// Whether the process whose id a script has written is gone, or will be in a moment.
fn is_gone(script: &Script) -> bool {
    let id: i32 = script.read().trim().parse().expect("the id of a process");
    let pid = rustix::process::Pid::from_raw(id).expect("an id");
    let since = Instant::now();
    while since.elapsed() < SOON {
        // What is killed may wait for somebody to take note of its end.
        let ended = rustix::process::test_kill_process(pid).is_err() || is_zombie(id);
        if ended {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    false
}

#[expect(clippy::disallowed_methods, reason = "a test's own pipe")]
fn read_all(pipe: &Path) {
    std::fs::read(pipe).expect("a pipe");
}

#[expect(clippy::disallowed_methods, reason = "what the system knows of a process")]
fn is_zombie(id: i32) -> bool {
    std::fs::read_to_string(format!("/proc/{id}/stat")).is_ok_and(|stat| stat.contains(") Z "))
}

#[test]
fn b193_a_hook_need_not_read_what_it_is_told() {
    assert_eq!(large("exit 0"), Ok(Verdict::Allow.into()));
    assert!(matches!(large("exit 2"), Ok(Before { verdict: Verdict::Deny(_), .. })));
    assert_eq!(large("exec 0<&-; sleep 0.1; exit 0"), Ok(Verdict::Allow.into()));
    assert_eq!(large("exit 1").expect_err("a failure").what, "ended with exit code 1");
}

#[test]
fn b193_input_and_outputs_flow_at_once() {
    let chatty = "head -c 300000 /dev/zero >&2; printf ' %0300000d' 0 | tr 0 ' '; cat > /dev/null; echo '{\"decision\":\"allow\"}'";
    assert_eq!(large(chatty), Ok(Verdict::Allow.into()));
    assert_eq!(large("[ $(wc -c) -gt 2000000 ] || exit 1"), Ok(Verdict::Allow.into()));
}

#[test]
fn b194_a_hook_that_closes_its_input_and_lives_on_ends_at_the_limit() {
    let since = Instant::now();
    let hook = limited("exec 0<&-; echo waiting for Godot >&2; sleep 60", 300);
    let failure = finished(hook.before(&large_call())).expect_err("a failure");
    assert_eq!(
        failure.to_string(),
        "the hook guard was still running after 300 ms and was ended; it had closed its input without reading all of it; \
         it said: waiting for Godot. See what /bin/sh waits for, raise its timeout_ms, or set on_failure = \"allow\" for \
         it if it only advises."
    );
    let failure = before(&limited("sleep 60", 100)).expect_err("a failure");
    assert_eq!(failure.what, "was still running after 100 ms and was ended");
    assert!(since.elapsed() < SOON);
}

#[test]
fn a_hook_that_nobody_waits_for_any_more_is_ended() {
    let (id, pipe) = (Script::new(""), tempfile::tempdir().expect("a folder"));
    let began = pipe.path().join("began");
    assert!(Command::new("mkfifo").arg(&began).status().expect("mkfifo").success());
    let waits = shell(&format!("echo $$ > '{}'; echo > '{}'; sleep 1000", id.path.display(), began.display()));
    let facts = call();
    let mut said = waits.before(&facts);
    assert!((&mut said).now_or_never().is_none(), "no thread waits");
    read_all(&began);
    drop(said);
    assert!(is_gone(&id));
}

#[test]
fn b195_what_a_hook_leaves_behind_holds_nothing_up_and_is_ended() {
    let (id, since) = (Script::new(""), Instant::now());
    let path = id.path.display();
    let leaves = shell(&format!("sleep 1000 & echo $! > '{path}'; echo '{{\"decision\":\"ask\"}}'"));
    assert!(matches!(before(&leaves), Ok(Before { verdict: Verdict::Ask(_), .. })));
    assert!(is_gone(&id));
    let silent = shell(&format!("sleep 1000 & echo $! > '{path}'"));
    assert_eq!(before(&silent), Ok(Verdict::Allow.into()));
    assert!(is_gone(&id));
    let waits = limited(&format!("sleep 1000 & echo $! > '{path}'; wait"), 1000);
    assert!(before(&waits).is_err());
    assert!(is_gone(&id));
    assert!(since.elapsed() < SOON);
}

#[test]
#[cfg(target_os = "linux")]
fn a_process_that_escapes_its_group_holds_nothing_up() {
    let (id, since) = (Script::new(""), Instant::now());
    let escape = format!("setsid sh -c 'echo $$ > {}; exec sleep 30' & sleep 0.3; ", id.path.display());
    let answers = shell(&format!("{escape} echo '{{\"decision\":\"allow\"}}'"));
    assert_eq!(before(&answers), Ok(Verdict::Allow.into()));
    // Whether it has said everything cannot be told, so saying nothing is not the same as no objection.
    let failure = before(&shell(&escape)).expect_err("a failure");
    assert_eq!(failure.what, "said nothing, and a process it left behind holds its output open");
    assert!(since.elapsed() < SOON);
}

#[test]
fn a_hook_that_closes_its_outputs_is_waited_for() {
    assert_eq!(
        before(&shell("exec >&- 2>&-; sleep 0.2; exit 2")).expect("an answer").verdict,
        before(&shell("exit 2")).expect("an answer").verdict
    );
}

#[test]
fn many_hooks_at_once_do_not_disturb_each_other() {
    std::thread::scope(|scope| {
        for n in 0..16 {
            scope.spawn(move || {
                let want = format!("{n}");
                let answer = before(&shell(&format!("cat >/dev/null; echo {n} >&2; exit 2"))).expect("an answer");
                let Verdict::Deny(ground) = answer.verdict else { panic!("not denied") };
                assert_eq!(ground.reason, want);
            });
        }
    });
}
