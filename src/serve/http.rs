//! MCP over HTTP: `/mcp` for MCP clients of both eras, `/rpc` for plain JSON-RPC ones (MCP, basic/transports).
//!
//! The listener is ours, on hyper: TLS, time limits for headers, and a count of connections that counts connections are
//! not to be had from jsonrpsee's. jsonrpsee's own service carries `/rpc`, and its method table and middleware answer
//! on both.

mod answer;
mod body;
mod calls;
mod connections;
mod endpoint;
mod io;
mod listener;
mod metrics;
mod options;
mod plain;
mod rates;
mod route;
mod sessions;
mod stream;

use std::io as std_io;
use std::net::SocketAddr;

use tokio::net::TcpListener;
use tokio::runtime::Builder;

use crate::rpc::Mcp;
use crate::serve::http::calls::Calls;
use crate::serve::process;
pub use options::{HttpLimits, HttpOptions, Refusal, Reload, Renewed};

/// So many calls may block their threads at once; the others wait.
const PATIENT: usize = 32;

/// Serves clients over HTTP until it is asked to end. Calls that are under way then are finished, within a
/// limit.
///
/// # Errors
/// The options do not go together, the address cannot be had, or the runtime cannot be started.
pub fn serve(mcp: Mcp, options: HttpOptions) -> std_io::Result<()> {
    options.check().map_err(|refusal| std_io::Error::new(std_io::ErrorKind::InvalidInput, refusal))?;
    process::raise_open_files();
    // One thread more than can be in a call.
    let here = std::thread::available_parallelism().map_or(1, usize::from);
    let runtime = Builder::new_multi_thread().worker_threads(here + 1).thread_name("http").enable_all().build()?;
    // What blocks a thread, such as a slow disk, must not block the threads that serve connections.
    let patient = Builder::new_multi_thread().worker_threads(PATIENT).thread_name("calls").enable_all().build()?;
    let served = runtime.block_on(async {
        let listener =
            TcpListener::bind(options.address).await.map_err(|error| cannot_bind(options.address, &error))?;
        let calls = Calls::new(here, patient.handle().clone());
        listener::run(listener, mcp.clone(), options, calls).await
    });
    mcp.close();
    // A call that blocks its thread is not waited for any longer.
    patient.shutdown_background();
    runtime.shutdown_background();
    served
}

fn cannot_bind(address: SocketAddr, error: &std_io::Error) -> std_io::Error {
    std_io::Error::new(error.kind(), format!("the address {address} cannot be listened on: {error}"))
}
