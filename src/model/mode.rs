//! How the tools reach a model: one by one, from programs, or both.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name of the tool that runs a program in code mode.
pub const RUN_CODE: &str = "run_code";

/// What it is called with, for those who have to know although no programs are run.
pub const RUN_CODE_ARGUMENTS: [&str; 3] = ["code", "description", "timeout_ms"];

/// How the tools reach a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Each tool stands in the list and is called by itself.
    #[default]
    Native,
    /// The list has `run_code` alone; every other tool is called by a program.
    Code,
    /// The list has all tools and `run_code`.
    Both,
}

impl Mode {
    /// Whether programs can be run.
    #[must_use]
    pub const fn runs_code(self) -> bool {
        !matches!(self, Mode::Native)
    }

    /// Whether a client may call the tool of this name itself.
    #[must_use]
    pub fn offers(self, tool: &str) -> bool {
        match self {
            Mode::Native | Mode::Both => true,
            Mode::Code => tool == RUN_CODE,
        }
    }
}

/// The text names no mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a mode is native, code or both")]
pub struct NotAMode;

impl FromStr for Mode {
    type Err = NotAMode;

    fn from_str(text: &str) -> Result<Self, NotAMode> {
        match text {
            "native" => Ok(Mode::Native),
            "code" => Ok(Mode::Code),
            "both" => Ok(Mode::Both),
            _ => Err(NotAMode),
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Mode::Native => "native",
            Mode::Code => "code",
            Mode::Both => "both",
        })
    }
}
