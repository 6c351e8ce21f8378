//! The command `toolgate`.

use std::process::ExitCode;

fn main() -> ExitCode {
    toolgate::code::be_worker_if_asked();
    toolgate::cli::run()
}
