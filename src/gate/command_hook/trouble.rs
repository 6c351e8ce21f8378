//! What went wrong with a command, and how to mend it.

use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use super::process::{Ended, Trouble};
use crate::gate::hook::HookFailure;
use crate::model::error::glimpse;

/// What each cure ends with: the way out for those who were locked out.
const OR_ADVISORY: &str = "or set on_failure = \"allow\" for it if it only advises";

fn failure(hook: &str, what: String, cure: &str) -> HookFailure {
    HookFailure { hook: hook.to_owned(), what, cure: format!("{cure}, {OR_ADVISORY}.") }
}

/// A command that did not end by itself.
pub(super) fn of_process(
    hook: &str,
    program: &Path,
    folder: Option<&Path>,
    limit: Duration,
    trouble: Trouble,
) -> HookFailure {
    let shown = program.display();
    match trouble {
        Trouble::Start(error) => not_started(hook, program, folder, &error),
        Trouble::Lost(error) => {
            failure(hook, format!("could not be looked after: {error}"), "Free some memory or threads")
        }
        Trouble::TooMuch => {
            let cure = "Let it print one JSON object and nothing else";
            failure(hook, "printed more than 1 MiB".to_owned(), cure)
        }
        Trouble::TimedOut { deaf, stderr } => {
            let deaf = if deaf { "; it had closed its input without reading all of it" } else { "" };
            let what = format!("was still running after {} ms and was ended{deaf}{}", limit.as_millis(), said(&stderr));
            failure(hook, what, &format!("See what {shown} waits for, raise its timeout_ms"))
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "only to say what is missing; nothing rests on it")]
fn not_started(hook: &str, program: &Path, folder: Option<&Path>, error: &std::io::Error) -> HookFailure {
    let shown = program.display();
    let is_there = program.symlink_metadata().is_ok();
    match error.kind() {
        ErrorKind::NotFound if folder.is_some_and(|folder| !folder.is_dir()) => {
            failure(hook, "could not be started: the workspace's folder is gone".to_owned(), "Put the folder back")
        }
        ErrorKind::NotFound if is_there => failure(
            hook,
            format!("could not be started: the interpreter in the first line of {shown} is missing"),
            "Install it or correct that line",
        ),
        ErrorKind::NotFound => failure(
            hook,
            format!("could not be started: there is no {shown}"),
            "Put the program there or correct command in the configuration",
        ),
        ErrorKind::PermissionDenied => failure(
            hook,
            format!("could not be started: {shown} is not executable"),
            &format!("Make it so (chmod +x {shown})"),
        ),
        // ENOEXEC has no kind of its own.
        _ if error.raw_os_error() == Some(8) && cfg!(unix) => failure(
            hook,
            format!("could not be started: {shown} is no program"),
            "Let its first line name an interpreter, such as #!/bin/sh",
        ),
        _ => failure(hook, format!("could not be started: {shown}: {error}"), "Mend that"),
    }
}

/// A command that ended in a way that is no answer.
pub(super) fn of_status(hook: &str, ended: &Ended) -> HookFailure {
    let how = match ended.status.code() {
        Some(127) => "ended with exit code 127, as a shell does that does not find a command".to_owned(),
        Some(126) => "ended with exit code 126, as a shell does that may not run a command".to_owned(),
        Some(code) => format!("ended with exit code {code}"),
        None => killed(ended.status),
    };
    let cure = "Let it end with 0 once it has answered, with 2 to say no";
    failure(hook, format!("{how}{}", said(&ended.stderr)), cure)
}

/// Whether the exit code 2 is an interpreter's, which found no script or cannot read it, rather than a no. Taken wrongly,
/// it is a denial all the same unless the hook only advises.
pub(super) fn is_accident(stderr: &[u8]) -> bool {
    const COMPLAINTS: [&str; 5] =
        ["No such file or directory", "can't open file", "cannot open", "yntax error", "SyntaxError"];
    let text = String::from_utf8_lossy(stderr);
    COMPLAINTS.iter().any(|complaint| text.contains(complaint))
}

#[cfg(unix)]
fn killed(status: std::process::ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt as _;
    match status.signal() {
        Some(signal) => format!("was killed by signal {signal}"),
        None => "ended in an unknown way".to_owned(),
    }
}

#[cfg(not(unix))]
fn killed(_: std::process::ExitStatus) -> String {
    "ended in an unknown way".to_owned()
}

/// A command whose output is no answer.
pub(super) fn of_answer(hook: &str, what: &str) -> HookFailure {
    failure(hook, what.to_owned(), "Let it print one JSON object as schemas/ describes it and log to standard error")
}

/// The last line of standard error, as a part of a sentence.
fn said(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let last = text.lines().map(str::trim).rfind(|line| !line.is_empty());
    last.map(|line| format!("; it said: {}", glimpse(line))).unwrap_or_default()
}

/// All of standard error as a reason, if there is any.
pub(super) fn reason_in(stderr: &[u8]) -> Option<String> {
    const LONGEST: usize = 4_000;
    let text = String::from_utf8_lossy(stderr);
    let text = text.trim();
    let end = text.char_indices().nth(LONGEST).map_or(text.len(), |(at, _)| at);
    (!text.is_empty()).then(|| format!("{}{}", &text[..end], if end < text.len() { "..." } else { "" }))
}
