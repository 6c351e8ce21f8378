//! Fetches a small document: over TLS, or from this machine. No redirect is followed.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http_body_util::{BodyExt, Empty, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::{ACCEPT, HOST, USER_AGENT};
use hyper::{Request, Uri};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto};

use crate::serve::auth::oauth::secure;

/// The largest document.
const MOST: usize = 1 << 20;

/// How long it may take in all.
const LIMIT: Duration = Duration::from_secs(10);

/// A document could not be fetched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{url} cannot be fetched: {why}")]
pub struct FetchError {
    url: String,
    why: String,
}

/// Fetches what is at `url`.
pub(super) async fn fetch(url: &str) -> Result<Bytes, FetchError> {
    let failed = |why: String| FetchError { url: url.to_owned(), why };
    let uri = secure(url).ok_or_else(|| failed("it is not https".to_owned()))?;
    match timeout(LIMIT, get(&uri)).await {
        Ok(fetched) => fetched.map_err(|error| failed(error.to_string())),
        Err(_) => Err(failed(format!("there was no answer within {} s", LIMIT.as_secs()))),
    }
}

type BoxError = Box<dyn std::error::Error + Send + Sync>;

async fn get(uri: &Uri) -> Result<Bytes, BoxError> {
    let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
    let is_tls = uri.scheme_str() == Some("https");
    let port = uri.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
    let socket = TcpStream::connect((host, port)).await?;
    if !is_tls {
        return exchange(socket, uri).await;
    }
    let name = ServerName::try_from(host.to_owned())?;
    exchange(TlsConnector::from(tls()?).connect(name, socket).await?, uri).await
}

async fn exchange(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, uri: &Uri) -> Result<Bytes, BoxError> {
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let connection = tokio::spawn(connection);
    let request = Request::get(uri.path_and_query().map_or("/", |path| path.as_str()))
        .header(HOST, uri.authority().map_or("", |name| name.as_str()))
        .header(ACCEPT, "application/json")
        .header(USER_AGENT, concat!("toolgate/", env!("CARGO_PKG_VERSION")))
        .body(Empty::<Bytes>::new())?;
    let answer = sender.send_request(request).await?;
    let status = answer.status();
    let body = if status.is_success() { Some(Limited::new(answer.into_body(), MOST).collect().await?) } else { None };
    connection.abort();
    match body {
        Some(body) => Ok(body.to_bytes()),
        None => Err(format!("the answer is {status}").into()),
    }
}

/// What the system trusts.
fn tls() -> Result<Arc<ClientConfig>, BoxError> {
    static TLS: OnceLock<Arc<ClientConfig>> = OnceLock::new();
    if let Some(config) = TLS.get() {
        return Ok(Arc::clone(config));
    }
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = Arc::new(crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::clone(TLS.get_or_init(|| Arc::new(config))))
}
