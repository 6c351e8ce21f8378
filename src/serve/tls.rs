//! A certificate and its key, from files.

use std::path::Path;
use std::sync::Arc;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{self, ServerConfig, crypto};

/// What a server shows to prove who it is.
#[derive(Clone)]
pub struct Tls {
    config: Arc<ServerConfig>,
}

/// A certificate or its key is not taken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// A file cannot be read, or is not PEM.
    #[error("{path}: {why}")]
    File {
        /// The file.
        path: String,
        /// What is wrong with it.
        why: String,
    },
    /// The two do not belong together, or are of a kind that is not known.
    #[error("the certificate and the key cannot be used: {0}")]
    Unusable(#[from] rustls::Error),
}

impl Tls {
    /// Reads a certificate, with those that lead to its root, and its private key.
    ///
    /// # Errors
    /// See [`TlsError`].
    #[expect(clippy::disallowed_methods, reason = "certificates lie outside of workspaces")]
    pub fn read(certificate: &Path, key: &Path) -> Result<Self, TlsError> {
        let fault = |path: &Path, why: String| TlsError::File { path: path.display().to_string(), why };
        let read = |path: &Path| std::fs::read(path).map_err(|error| fault(path, error.to_string()));
        let pem = read(certificate)?;
        let chain: Vec<_> = CertificateDer::pem_slice_iter(&pem)
            .collect::<Result<_, _>>()
            .map_err(|error| fault(certificate, error.to_string()))?;
        if chain.is_empty() {
            return Err(fault(certificate, "there is no certificate in it".to_owned()));
        }
        let private = PrivateKeyDer::from_pem_slice(&read(key)?).map_err(|error| fault(key, error.to_string()))?;
        let provider = Arc::new(crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(chain, private)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Tls { config: Arc::new(config) })
    }

    pub(super) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(Arc::clone(&self.config))
    }
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}
