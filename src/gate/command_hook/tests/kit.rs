//! What the tests of hooks share.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::super::*;

/// A file named `hook` in a folder of its own.
pub(super) struct Script {
    folder: tempfile::TempDir,
    pub(super) path: PathBuf,
}

#[expect(clippy::disallowed_methods, reason = "a test's own files")]
impl Script {
    pub(super) fn new(text: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("hook");
        std::fs::write(&path, text).expect("a file");
        Script { folder, path }
    }

    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn write(&self, text: &str) {
        std::fs::write(&self.path, text).expect("a file");
    }

    pub(super) fn read(&self) -> String {
        std::fs::read_to_string(&self.path).expect("a text")
    }

    pub(super) fn executable(&self, executable: bool) {
        let mode = if executable { 0o755 } else { 0o644 };
        std::fs::set_permissions(&self.path, std::fs::Permissions::from_mode(mode)).expect("a mode");
    }
}

pub(super) fn spec() -> HookSpec {
    HookSpec {
        name: "guard".into(),
        phase: Phase::Pre,
        tools: None,
        command: None,
        shell: Some("exit 0".into()),
        timeout_ms: 20_000,
        on_failure: OnFailure::Deny,
    }
}

pub(super) fn shell(line: &str) -> CommandHook {
    limited(line, 20_000)
}

pub(super) fn limited(line: &str, timeout_ms: u64) -> CommandHook {
    let spec = HookSpec { shell: Some(line.to_owned()), timeout_ms, ..spec() };
    CommandHook::new(&spec, Path::new("/"), Some(Path::new("/")), None).expect("a hook")
}

pub(super) fn call() -> CallFacts {
    CallFacts {
        tool: "write_file".into(),
        arguments: json!({"path": "./secrets//k", "content": "\u{e4}\n\u{0}"}).into(),
        paths: vec!["secrets/k".into()],
        changes: true,
        caller: "mcp:local".into(),
    }
}

/// A call with more arguments than any pipe holds.
pub(super) fn large_call() -> CallFacts {
    CallFacts { arguments: json!({"path": "k", "content": "x".repeat(2 << 20)}).into(), ..call() }
}

/// Waits for what a hook says.
pub(super) fn finished<T>(said: HookFuture<'_, T>) -> Result<T, HookFailure> {
    tokio::runtime::Builder::new_current_thread().build().expect("a runtime").block_on(said)
}

pub(super) fn before(hook: &CommandHook) -> Result<Before, HookFailure> {
    finished(hook.before(&call()))
}

pub(super) fn after(hook: &CommandHook) -> Result<After, HookFailure> {
    let mut hook = hook.clone();
    hook.phase = Phase::Post;
    let outcome = OutcomeFacts { error: None, text: "File written: secrets/k".into(), change: Some("c1".into()) };
    finished(hook.after(&call(), &outcome))
}

/// What a command does that fails.
pub(super) fn failed(command: Vec<String>) -> String {
    let spec = HookSpec { command: Some(command), shell: None, ..spec() };
    let hook = CommandHook::new(&spec, Path::new("/"), Some(Path::new("/")), None).expect("a hook");
    before(&hook).expect_err("a failure").what
}
