//! The examples as programs to run.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

/// The example of that name as its sources are now: not every way to run these tests builds the examples, and one that is out of
/// date proves nothing.
pub fn example(name: &'static str) -> PathBuf {
    static BUILT: Mutex<Option<HashMap<&str, PathBuf>>> = Mutex::new(None);
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    built.get_or_insert_default().entry(name).or_insert_with(|| build(name)).clone()
}

/// In the same way as these tests were built, beside them.
fn build(name: &str) -> PathBuf {
    let tests = std::env::current_exe().expect("a path");
    let profile = tests.ancestors().nth(2).expect("a target folder");
    let mut command = Command::new(env!("CARGO"));
    command.args(["build", "--locked", "--example", name, "--message-format", "json"]);
    command.args(["--manifest-path", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"), "--target-dir"]);
    command.arg(profile.parent().expect("a target folder"));
    // What cargo tells the programs that it runs would make it build some dependencies again.
    let told = |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(told)) {
        command.env_remove(name);
    }
    if profile.file_name() != Some(OsStr::new("debug")) {
        command.arg("--profile").arg(profile.file_name().expect("a profile"));
    }
    let output = command.output().expect("cargo");
    let said = String::from_utf8_lossy(&output.stdout);
    let messages = said.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut of_it = messages.filter(|message| message["target"]["name"] == name);
    let made = of_it.find_map(|message| message["executable"].as_str().map(PathBuf::from));
    made.unwrap_or_else(|| panic!("{name} does not build: {}", String::from_utf8_lossy(&output.stderr)))
}
