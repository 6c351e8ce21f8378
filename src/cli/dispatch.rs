//! `toolgate dispatch`: one document in, one out; exit code 1 if it breaks the contract.

use std::io::{self, BufWriter, ErrorKind, Read};
use std::process::ExitCode;

use super::fail;
use crate::oneshot;

/// Large enough that a large workspace is written in few pieces.
const BUFFER: usize = 256 * 1024;

pub(super) fn run() -> ExitCode {
    let mut input = Vec::new();
    if let Err(error) = io::stdin().lock().read_to_end(&mut input) {
        return fail(1, format_args!("standard input cannot be read: {error}"));
    }
    let answer = match oneshot::answer(&input) {
        Ok(answer) => answer,
        Err(refusal) => return fail(1, refusal),
    };
    match answer.write_to(BufWriter::with_capacity(BUFFER, io::stdout().lock())) {
        // Whoever has stopped reading wants no more (B143).
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            fail(1, format_args!("standard output cannot be written: {error}"))
        }
        _ => ExitCode::SUCCESS,
    }
}
