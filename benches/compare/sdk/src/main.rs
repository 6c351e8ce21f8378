//! The same `read_file` as the floor's, on rmcp: `sdk-server ROOT` over standard input and output, or
//! `sdk-server ROOT sse|json` over HTTP, which says its address on standard error.
//!
//! Set up for speed: the file is read where the call runs, no socket waits to send more (as axum's would), and `json`
//! answers without sessions and streams.

use std::error::Error;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::serve::ListenerExt as _;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{CallToolResult, ContentBlock, ServerCapabilities, ServerConfig};
use rmcp::transport::stdio;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, ServerHandler, ServiceExt as _, schemars, tool, tool_handler, tool_router};

/// How much one answer may hold, as with toolgate.
const MOST_LINES: usize = 2000;
const MOST_BYTES: usize = 256 * 1024;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Read {
    /// The file.
    path: String,
}

#[derive(Clone)]
struct Files {
    root: Arc<PathBuf>,
}

#[tool_router]
impl Files {
    /// Read a text file with line numbers.
    #[tool(name = "read_file")]
    async fn read_file(&self, Parameters(Read { path }): Parameters<Read>) -> Result<CallToolResult, ErrorData> {
        Ok(match numbered(&self.root, &path) {
            Ok(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
            Err(error) => CallToolResult::error(vec![ContentBlock::text(format!("{path}: {error}"))]),
        })
    }
}

#[tool_handler]
impl ServerHandler for Files {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }
}

/// The lines of a file below `root`, each with its number.
fn numbered(root: &Path, path: &str) -> io::Result<String> {
    let place = root.join(path).canonicalize()?;
    if !place.starts_with(root) {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "not in the folder"));
    }
    let text = fs::read_to_string(place)?;
    let mut shown = String::with_capacity(text.len() + text.len() / 8);
    for (number, line) in text.split_inclusive('\n').enumerate() {
        if number == MOST_LINES || shown.len() + line.len() > MOST_BYTES {
            shown.push_str(&format!("[Go on at line {}.]", number + 1));
            break;
        }
        shown.push_str(&format!("{}: {line}", number + 1));
    }
    Ok(shown)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let root = PathBuf::from(arguments.next().ok_or("which folder?")?).canonicalize()?;
    let files = Files { root: Arc::new(root) };
    match arguments.next().as_deref() {
        None => {
            files.serve(stdio()).await?.waiting().await?;
        }
        Some("sse") => over_http(files, StreamableHttpServerConfig::default()).await?,
        Some("json") => {
            let mut config = StreamableHttpServerConfig::default();
            config.legacy_session_mode = false;
            config.json_response = true;
            over_http(files, config).await?;
        }
        Some(other) => return Err(format!("{other} is neither sse nor json").into()),
    }
    Ok(())
}

async fn over_http(files: Files, config: StreamableHttpServerConfig) -> io::Result<()> {
    let service: StreamableHttpService<Files, LocalSessionManager> =
        StreamableHttpService::new(move || Ok(files.clone()), Default::default(), config);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    eprintln!("serves MCP at http://{}/mcp", listener.local_addr()?);
    let listener = listener.tap_io(|socket| {
        let _ = socket.set_nodelay(true);
    });
    axum::serve(listener, axum::Router::new().nest_service("/mcp", service)).await
}
