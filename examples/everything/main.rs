//! A server that offers a bit of everything that MCP knows, built on the library's public API alone. The official
//! conformance suite is run against it; the names and words are the suite's.
//!
//! `cargo run --example everything` serves standard input and output, with an address as its argument it serves HTTP:
//! `cargo run --example everything 127.0.0.1:8765`.

mod asking;
mod fixture;
mod prompts;
mod resources;
mod samples;
mod showing;
mod telling;

use std::error::Error;
use std::net::SocketAddr;

use toolgate::{HttpOptions, Memory, Server};

fn main() -> Result<(), Box<dyn Error>> {
    let server = Server::new(Memory::new());
    let news = server.news();
    let server = showing::register(server)?;
    let server = telling::register(server, &news)?;
    let server = asking::register(server)?;
    let server = resources::register(server)?;
    let server = prompts::register(server)?;
    match std::env::args().nth(1) {
        Some(address) => {
            let mut options = HttpOptions::from(address.parse::<SocketAddr>()?);
            options.on_ready = Some(Box::new(|address| eprintln!("everything is at http://{address}/mcp")));
            server.serve_http(options)?;
        }
        None => server.serve_stdio()?,
    }
    Ok(())
}
