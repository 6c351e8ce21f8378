//! Runs a command beside whoever waits for it: no thread that others need waits for a program.

use std::io;
use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit, oneshot};

use super::process::{self, Ended, Flow, Trouble};

/// So many commands run at once. Whoever comes later waits for one to end, as each does when its time is up; that wait is
/// no part of anybody's time.
const MOST: usize = 64;

static PLACES: Semaphore = Semaphore::const_new(MOST);

/// Runs `command` with `input` as its standard input, for `limit` at most. Dropped, it ends the command.
pub(super) async fn run(command: Command, input: Vec<u8>, limit: Duration) -> Result<Ended, Trouble> {
    // It is never closed.
    let place = PLACES.acquire().await.map_err(|closed| Trouble::Lost(io::Error::other(closed)))?;
    let flow = Arc::new(Flow::default());
    let _wanted = Wanted(Arc::clone(&flow));
    let ended = start(command, input, limit, flow, place).map_err(Trouble::Lost)?;
    let lost = || Trouble::Lost(io::Error::other("the thread that looked after it is gone"));
    ended.await.unwrap_or_else(|_| Err(lost()))
}

fn start(
    mut command: Command,
    input: Vec<u8>,
    limit: Duration,
    flow: Arc<Flow>,
    place: SemaphorePermit<'static>,
) -> io::Result<oneshot::Receiver<Result<Ended, Trouble>>> {
    let (tell, ended) = oneshot::channel();
    thread::Builder::new().name("hook".to_owned()).spawn(move || {
        let how = process::run(&mut command, input, limit, &flow);
        drop(place);
        // Whoever does not wait for it any more does not want to know.
        let _ = tell.send(how);
    })?;
    Ok(ended)
}

/// Somebody waits for a command as long as this lives.
struct Wanted(Arc<Flow>);

impl Drop for Wanted {
    fn drop(&mut self) {
        self.0.abandon();
    }
}
