//! The one-shot door: a document into the real binary, and what came out of it.

use std::io::Write;
use std::process::{Command, Stdio};

/// What became of one run of `toolgate dispatch`.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// Runs `toolgate dispatch` on these bytes.
pub fn dispatch(input: impl AsRef<[u8]>) -> Ran {
    let mut child = Command::new(env!("CARGO_BIN_EXE_toolgate"))
        .arg("dispatch")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the toolgate binary");
    child.stdin.take().expect("a pipe").write_all(input.as_ref()).expect("a process that reads to the end");
    let output = child.wait_with_output().expect("an exit status");
    Ran {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("UTF-8 on stdout"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8 on stderr"),
    }
}

/// The document that has `tool` called with `args` on `workspace`; both are JSON text.
pub fn document(workspace: &str, tool: &str, args: &str) -> String {
    format!(r#"{{"op":"dispatch","workspace":{workspace},"call":{{"tool":"{tool}","args":{args}}}}}"#)
}

/// The answer to a call that was done. `observation` is plain text, `workspace` is JSON text.
pub fn done(tool: &str, observation: &str, workspace: &str) -> String {
    let observation = serde_json::Value::from(observation);
    format!(r#"{{"observation":{observation},"status":"ok","tool":"{tool}","workspace":{workspace}}}"#)
}

/// The answer to a call that could not be done, but for [`invalid_arguments`].
pub fn failed(tool: &str, code: &str, workspace: &str) -> String {
    format!(r#"{{"error":"{code}","status":"error","tool":"{tool}","workspace":{workspace}}}"#)
}

impl Ran {
    /// The document on stdout, which must be all there is: exit code 0, one line, a silent stderr.
    #[track_caller]
    pub fn answer(&self, what: &str) -> &str {
        assert_eq!((self.code, self.stderr.as_str()), (Some(0), ""), "{what}: {self:?}");
        self.stdout.strip_suffix('\n').unwrap_or_else(|| panic!("{what}: no line end in {self:?}"))
    }

    /// The reason on stderr, which must be one clear line: exit code 1, nothing on stdout.
    #[track_caller]
    pub fn refusal(&self, what: &str) -> &str {
        assert_eq!((self.code, self.stdout.as_str()), (Some(1), ""), "{what}: {self:?}");
        let line = self.stderr.strip_suffix('\n').unwrap_or_else(|| panic!("{what}: no line end in {self:?}"));
        assert!(!line.contains(['\n', '\r']), "{what}: more than one line in {self:?}");
        line.strip_prefix("toolgate: ").unwrap_or_else(|| panic!("{what}: who says so? {self:?}"))
    }
}
