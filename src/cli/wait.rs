//! Waits for a call by hand.

use std::future::Future;
use std::io;
use std::pin::pin;

use futures_util::FutureExt;
use tokio::runtime::Builder;

/// What comes of `call`. Only what a program is asked about has to be waited for, so only then there is a runtime.
///
/// # Errors
/// It cannot be waited for.
pub(super) fn wait_for<T>(call: impl Future<Output = T>) -> io::Result<T> {
    let mut call = pin!(call);
    match call.as_mut().now_or_never() {
        Some(done) => Ok(done),
        None => Ok(Builder::new_current_thread().build()?.block_on(call)),
    }
}
