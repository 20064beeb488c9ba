//! The serving certificate, which can be replaced while serving, and client authentication.

use std::fmt;
use std::sync::Arc;

use arc_swap::{ArcSwap, ArcSwapOption};
use jiff::Timestamp;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{
    ClientHello, NoServerSessionStorage, ResolvesServerCert, VerifierBuilderError,
};
use rustls::sign::CertifiedKey;
use rustls::{ServerConfig, pki_types};

use crate::certificates::{Validity, make_ca_and_pair};
use crate::metrics::Metrics;

mod clients;
mod files;

pub use clients::Callers;
pub(super) use clients::Peer;
pub use files::{Files, Reload};

/// Why a certificate cannot be used. The messages never contain key material.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file could not be read.
    #[error("failed to read {path}: {source}")]
    Read {
        /// The file.
        path: String,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// The file of the certificate is not PEM, or has none.
    #[error("failed to parse the certificate chain: {}", pem_fault(.0))]
    Certificate(#[source] pki_types::pem::Error),
    /// The file of the key is not PEM, or has none.
    #[error("failed to parse the private key: {}", pem_fault(.0))]
    Key(#[source] pki_types::pem::Error),
    /// The key has an unknown type, or does not match the certificate.
    #[error("failed to use the certificate with the key: {0}")]
    Pair(#[source] rustls::Error),
    /// The certificate is not valid now, while the one in use is.
    #[error("the certificate is not valid now: {0}; renew it, or set the clock")]
    Time(String),
    /// The file of the client CA is not PEM, or has no certificate.
    #[error("failed to parse the client CA: {}", pem_fault(.0))]
    ClientCa(#[source] pki_types::pem::Error),
    /// The client CA cannot be used to verify clients.
    #[error("failed to use the client CA: {0}")]
    Verifier(#[source] VerifierBuilderError),
    /// A certificate could not be generated.
    #[error("failed to make a certificate: {0}")]
    Make(#[from] rcgen::Error),
}

/// Describes an error in a PEM text, without quoting it.
fn pem_fault(error: &pki_types::pem::Error) -> &'static str {
    use pki_types::pem::Error;
    match error {
        Error::NoItemsFound => "the file has none",
        Error::MissingSectionEnd { .. } => "the file ends in the middle of it",
        Error::IllegalSectionStart { .. } => "a line that begins a section cannot be read",
        Error::Base64Decode(_) => "it is not base64",
        _ => "the file is not PEM",
    }
}

/// The serving certificate; empty until one is loaded.
#[derive(Default)]
pub struct Certificates {
    current: ArcSwapOption<CertifiedKey>,
    /// Why the newest files are not used.
    wrong: ArcSwap<Option<String>>,
}

// === impl Certificates ===

impl Certificates {
    /// Creates it empty; handshakes fail until a certificate is stored.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Generates a self-signed certificate for localhost, which clients have to trust explicitly.
    ///
    /// # Errors
    /// Fails if it cannot be generated.
    pub fn self_signed(today: jiff::civil::Date) -> Result<Arc<Self>, TlsError> {
        let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
        let made = make_ca_and_pair(&names, today)?;
        let certificates = Self::new();
        certificates.store(made.cert_pem.as_bytes(), made.key_pem.as_bytes())?;
        Ok(certificates)
    }

    /// Stores a chain (leaf first) and its key, for use from the next handshake on.
    ///
    /// # Errors
    /// Fails if they are not a valid pair; the current one stays in use.
    pub fn store(&self, cert_pem: &[u8], key_pem: &[u8]) -> Result<(), TlsError> {
        self.current.store(Some(pair(cert_pem, key_pem)?));
        Ok(())
    }

    /// Like [`Certificates::store`], for a renewed certificate: if the current one is valid now, the new one must be
    /// too. If the current one is not, the new one is used in any case, because the local clock may be wrong and the
    /// API server checks validity by its own.
    ///
    /// # Errors
    /// As [`Certificates::store`].
    pub fn replace(&self, cert_pem: &[u8], key_pem: &[u8], now: Timestamp) -> Result<(), TlsError> {
        let pair = pair(cert_pem, key_pem)?;
        let validity = pair.cert.first().and_then(|leaf| Validity::from_der(leaf));
        let is_well = self.loaded() && self.time_trouble(now).is_none();
        if let Some(why) = validity.and_then(|v| v.problem(now)).filter(|_| is_well) {
            return Err(TlsError::Time(why));
        }
        self.current.store(Some(pair));
        Ok(())
    }

    /// Whether a certificate is loaded.
    pub fn loaded(&self) -> bool {
        self.current.load().is_some()
    }

    /// Sets the metric of when the current certificate expires.
    pub fn tell_end(&self, metrics: &Metrics) {
        let until = self.validity().map(|validity| validity.until.as_second());
        if let Some(minutes) = until.and_then(|at| i32::try_from(at / 60).ok()) {
            metrics.cert_not_after.set(f64::from(minutes) * 60.0);
        }
    }

    /// The validity period of the current certificate.
    pub fn validity(&self) -> Option<Validity> {
        Validity::from_der(self.current.load().as_ref()?.cert.first()?)
    }

    /// The problem, if any: the newest files cannot be used, or the certificate in use is not valid now.
    pub fn problem(&self, now: Timestamp) -> Option<String> {
        let wrong = (**self.wrong.load()).clone();
        wrong.or_else(|| self.time_trouble(now))
    }

    fn time_trouble(&self, now: Timestamp) -> Option<String> {
        self.validity()?.problem(now)
    }
}

fn pair(cert_pem: &[u8], key_pem: &[u8]) -> Result<Arc<CertifiedKey>, TlsError> {
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(cert_pem)
        .collect::<Result<_, _>>()
        .map_err(TlsError::Certificate)?;
    if chain.is_empty() {
        return Err(TlsError::Certificate(pki_types::pem::Error::NoItemsFound));
    }
    let key = PrivateKeyDer::from_pem_slice(key_pem).map_err(TlsError::Key)?;
    let pair = CertifiedKey::from_der(chain, key, &default_provider()).map_err(TlsError::Pair)?;
    Ok(Arc::new(pair))
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

/// TLS 1.2 and 1.3, HTTP/1.1 and h2, with the current certificate.
///
/// # Errors
/// Fails if the crypto provider lacks these versions.
pub fn server_config(certificates: Arc<Certificates>) -> Result<Arc<ServerConfig>, TlsError> {
    config(certificates, None)
}

/// Like [`server_config`], with client authentication.
///
/// # Errors
/// As [`server_config`].
pub fn server_config_for(
    certificates: Arc<Certificates>,
    callers: Arc<Callers>,
) -> Result<Arc<ServerConfig>, TlsError> {
    config(certificates, Some(callers))
}

fn config(
    certificates: Arc<Certificates>,
    callers: Option<Arc<Callers>>,
) -> Result<Arc<ServerConfig>, TlsError> {
    let builder = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(TlsError::Pair)?;
    let judges = callers.is_some();
    let mut config = match callers {
        Some(callers) => builder.with_client_cert_verifier(callers),
        None => builder.with_no_client_auth(),
    }
    .with_cert_resolver(certificates);
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    if judges {
        // A resumed session would not be verified again.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
    }
    Ok(Arc::new(config))
}
