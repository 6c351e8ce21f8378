//! The binary behind a socket: MCP over HTTP in both eras, and everything that stands around it.

#[cfg(unix)]
mod blocking;
#[cfg(unix)]
mod ending;
mod guard;
pub mod kit;
mod legacy;
mod limits;
mod load;
mod metrics;
mod modern;
mod oauth;
mod plain;
#[cfg(unix)]
mod renewing;
mod tls;
mod tokens;
mod tracing;
