//! The command `toolgate`.

use std::process::ExitCode;

fn main() -> ExitCode {
    toolgate::cli::run()
}
