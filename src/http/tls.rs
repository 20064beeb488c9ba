//! The serving certificate: held where a handshake finds it, replaced while serving.

use std::fmt;
use std::sync::Arc;

use arc_swap::ArcSwapOption;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{ServerConfig, pki_types};

use crate::metrics::Metrics;

mod expiry;
mod files;
mod make;

pub use expiry::not_after;
pub use files::{Files, Reload};
pub use make::{Made, make_ca_and_pair};

/// Why a certificate cannot be used. Texts never hold key material.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file could not be read.
    #[error("failed to read {path}: {source}")]
    Read {
        /// The file.
        path: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The certificate is not PEM, or there is none.
    #[error("failed to parse the certificate chain: {0}")]
    Certificate(#[source] pki_types::pem::Error),
    /// The key is not PEM, or there is none.
    #[error("failed to parse the private key: {0}")]
    Key(#[source] pki_types::pem::Error),
    /// The key is of no known type, or does not belong to the certificate.
    #[error("failed to use the certificate with the key: {0}")]
    Pair(#[source] rustls::Error),
    /// A certificate could not be made.
    #[error("failed to make a certificate: {0}")]
    Make(#[from] rcgen::Error),
}

/// The serving certificate; none until one has been loaded.
#[derive(Default)]
pub struct Certificates {
    current: ArcSwapOption<CertifiedKey>,
}

// === impl Certificates ===

impl Certificates {
    /// None yet; handshakes fail until one is stored.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// One made here and now, for this host alone; clients must be told to trust it.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn self_signed(today: jiff::civil::Date) -> Result<Arc<Self>, TlsError> {
        let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
        let made = make_ca_and_pair(&names, today)?;
        let certificates = Self::new();
        certificates.store(made.cert_pem.as_bytes(), made.key_pem.as_bytes())?;
        Ok(certificates)
    }

    /// Takes a chain (leaf first) and its key; the next handshake uses them.
    ///
    /// # Errors
    /// When they are not a pair that can be used; the current one stays.
    pub fn store(&self, cert_pem: &[u8], key_pem: &[u8]) -> Result<(), TlsError> {
        let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(cert_pem)
            .collect::<Result<_, _>>()
            .map_err(TlsError::Certificate)?;
        if chain.is_empty() {
            return Err(TlsError::Certificate(pki_types::pem::Error::NoItemsFound));
        }
        let key = PrivateKeyDer::from_pem_slice(key_pem).map_err(TlsError::Key)?;
        let pair =
            CertifiedKey::from_der(chain, key, &default_provider()).map_err(TlsError::Pair)?;
        self.current.store(Some(Arc::new(pair)));
        Ok(())
    }

    /// Whether there is one.
    pub fn loaded(&self) -> bool {
        self.current.load().is_some()
    }

    /// Tells the metrics when the current one ends.
    pub fn tell_end(&self, metrics: &Metrics) {
        if let Some(minutes) = self.not_after().and_then(|at| i32::try_from(at / 60).ok()) {
            metrics.cert_not_after.set(f64::from(minutes) * 60.0);
        }
    }

    /// When the current one ends, in seconds since 1970.
    pub fn not_after(&self) -> Option<i64> {
        not_after(self.current.load().as_ref()?.cert.first()?)
    }
}

impl fmt::Debug for Certificates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Certificates")
            .field("loaded", &self.loaded())
            .finish_non_exhaustive()
    }
}

impl ResolvesServerCert for Certificates {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.current.load_full()
    }
}

/// TLS 1.2 and 1.3, HTTP/1.1 and h2, with whatever certificate is current.
///
/// # Errors
/// When the provider lacks the protocol versions.
pub fn server_config(certificates: Arc<Certificates>) -> Result<Arc<ServerConfig>, TlsError> {
    let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(TlsError::Pair)?
        .with_no_client_auth()
        .with_cert_resolver(certificates);
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
