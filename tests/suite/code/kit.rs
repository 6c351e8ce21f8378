//! A served folder whose client runs programs.

use serde_json::{Value, json};

use crate::suite::cases::kit::{Desk, Reply};
use crate::suite::gate::kit::{Home, guarded};

/// What a program of these tests may use: little, so that a test that uses it up is quick.
pub const SMALL: &str = "mode = \"both\"\n[code]\ncomputing_ms = 400\nwall_ms = 20000\n";

/// A folder with these files, whose client can run programs and call tools.
pub fn both(files: &[(&str, &str)]) -> (Desk, Home) {
    guarded(files, SMALL)
}

impl Desk {
    /// Runs a program.
    pub fn run(&mut self, code: &str) -> Reply {
        self.call("run_code", json!({ "code": code, "description": "a test" }))
    }
}

impl Reply {
    /// What failed, in which line, and what the model is told.
    #[track_caller]
    pub fn code_failure(&self) -> (&str, Option<u64>, &str) {
        let message = self.error("code_run_failed");
        let details = self.details();
        (details["kind"].as_str().expect("a kind"), details["line"].as_u64(), message)
    }

    /// The JSON that the program has returned and nothing besides.
    #[track_caller]
    pub fn returned(&self) -> Value {
        let text = self.ok();
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error} in {text}"))
    }
}

/// The path of every event of this type in the log.
pub fn events(home: &Home, kind: &str) -> Vec<Value> {
    home.log().into_iter().filter(|line| line["type"] == kind).collect()
}
