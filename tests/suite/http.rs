//! The binary behind a socket: MCP over HTTP in both eras, and everything that stands around it.

#[cfg(unix)]
mod ending;
mod guard;
mod kit;
mod legacy;
mod limits;
mod modern;
mod plain;
mod tokens;
