//! Client authentication: a client needs a certificate from the client CA and, if names are configured, one of these
//! names.
//!
//! All others are refused in the handshake with the same alert. The reason is only in the metric and the log.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::{ArcSwap, ArcSwapOption};
use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::ring::default_provider;
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{self, CertificateDer, UnixTime};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, RootCertStore,
    SignatureScheme,
};
use tokio::time::Instant;

use super::TlsError;
use crate::certificates::names;
use crate::metrics::Metrics;

/// After this time the certificate of a connection is verified again, since it may have expired.
const AGAIN: Duration = Duration::from_mins(1);

/// The client CA and the allowed names.
pub struct Callers {
    /// If empty, every certificate of the CA is accepted.
    names: Vec<String>,
    trusted: ArcSwapOption<Trusted>,
    /// Incremented with each new CA.
    generations: AtomicU64,
    pub(super) wrong: ArcSwap<Option<String>>,
    algorithms: WebPkiSupportedAlgorithms,
    metrics: Arc<Metrics>,
}

struct Trusted {
    verifier: Arc<dyn ClientCertVerifier>,
    generation: u64,
}

/// The client of a connection, with its certificate chain.
#[derive(Clone)]
pub(in crate::http) struct Peer(Arc<Judged>);

struct Judged {
    chain: Vec<CertificateDer<'static>>,
    last: Mutex<(u64, Instant)>,
}

/// Why a client is refused.
#[derive(Clone, Copy, Debug)]
enum ClientRejection {
    /// It sent no certificate.
    Missing,
    /// The certificate is from another CA, not for clients, or malformed.
    Untrusted,
    /// The certificate has expired, or is not valid yet.
    Expired,
    /// The certificate is from the CA, but has none of the allowed names.
    Name,
    /// No CA is loaded.
    NoCa,
}

// === impl Callers ===

impl Callers {
    /// Creates it without a CA; all clients are refused until one is stored.
    pub fn new(names: Vec<String>, metrics: Arc<Metrics>) -> Arc<Self> {
        Arc::new(Self {
            names,
            trusted: ArcSwapOption::empty(),
            generations: AtomicU64::new(0),
            wrong: ArcSwap::default(),
            algorithms: default_provider().signature_verification_algorithms,
            metrics,
        })
    }

    /// Replaces the CA certificates by these in PEM; open connections are verified again.
    ///
    /// # Errors
    /// Fails if there is none, or an invalid one; the current ones stay in use.
    pub fn store(&self, pem: &[u8]) -> Result<(), TlsError> {
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(pem) {
            let certificate = certificate.map_err(TlsError::ClientCa)?;
            roots.add(certificate).map_err(TlsError::Pair)?;
        }
        if roots.is_empty() {
            return Err(TlsError::ClientCa(pki_types::pem::Error::NoItemsFound));
        }
        let provider = Arc::new(default_provider());
        let builder = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
        let verifier = builder.build().map_err(TlsError::Verifier)?;
        let generation = self.generations.fetch_add(1, Ordering::Relaxed) + 1;
        let trusted = Trusted {
            verifier,
            generation,
        };
        self.trusted.store(Some(Arc::new(trusted)));
        Ok(())
    }

    /// Whether a CA is loaded.
    pub fn loaded(&self) -> bool {
        self.trusted.load().is_some()
    }

    /// The problem with the newest file, if any.
    pub fn problem(&self) -> Option<String> {
        (**self.wrong.load()).clone()
    }

    /// Whether the client of a connection is still allowed: its certificate may have expired, or the CA changed.
    pub(in crate::http) fn still(&self, peer: Option<&Peer>) -> bool {
        self.still_at(peer, UnixTime::now())
    }

    fn still_at(&self, peer: Option<&Peer>, now: UnixTime) -> bool {
        let Some(Peer(judged)) = peer else {
            self.refused(ClientRejection::Missing, &[]);
            return false;
        };
        let generation = self.trusted.load().as_ref().map(|now| now.generation);
        let mut last = judged.last.lock().unwrap_or_else(PoisonError::into_inner);
        if Some(last.0) == generation && last.1.elapsed() < AGAIN {
            return true;
        }
        let Some((leaf, intermediates)) = judged.chain.split_first() else {
            return false;
        };
        match self.judge(leaf, intermediates, now) {
            Ok(generation) => {
                *last = (generation, Instant::now());
                true
            }
            Err(why) => {
                self.refused(why, leaf);
                false
            }
        }
    }

    /// Verifies a chain and returns the generation of the CA.
    fn judge(
        &self,
        leaf: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<u64, ClientRejection> {
        let trusted = self.trusted.load();
        let trusted = trusted.as_ref().ok_or(ClientRejection::NoCa)?;
        let verified = trusted
            .verifier
            .verify_client_cert(leaf, intermediates, now);
        verified.map_err(|error| match error {
            Error::InvalidCertificate(
                CertificateError::Expired
                | CertificateError::ExpiredContext { .. }
                | CertificateError::NotValidYet
                | CertificateError::NotValidYetContext { .. },
            ) => ClientRejection::Expired,
            _ => ClientRejection::Untrusted,
        })?;
        let is_listed = self.names.is_empty() || names(leaf).iter().any(|n| self.names.contains(n));
        if is_listed {
            Ok(trusted.generation)
        } else {
            Err(ClientRejection::Name)
        }
    }

    /// Records that a client sent no certificate.
    pub(in crate::http) fn no_certificate(metrics: &Metrics) {
        let refused = &metrics.callers_refused;
        refused
            .with_label_values(&[ClientRejection::Missing.label()])
            .inc();
    }

    fn refused(&self, why: ClientRejection, leaf: &[u8]) {
        let refused = &self.metrics.callers_refused;
        refused.with_label_values(&[why.label()]).inc();
        tracing::debug!(?why, names = ?names(leaf), "a caller was refused");
    }
}

impl fmt::Debug for Callers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Callers")
            .field("names", &self.names)
            .field("loaded", &self.loaded())
            .finish_non_exhaustive()
    }
}

impl ClientCertVerifier for Callers {
    /// Empty, so as not to disclose the CA. A client that has a certificate for attache sends it anyway.
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        let judged = self.judge(end_entity, intermediates, now);
        judged.map_err(|why| {
            self.refused(why, end_entity);
            // The same alert for all: `access_denied`.
            Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure)
        })?;
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, dss, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, dss, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

// === impl Peer ===

impl Peer {
    /// Creates it after the handshake. The first request verifies it again, because the CA may have changed in between.
    pub(in crate::http) fn new(chain: &[CertificateDer<'_>]) -> Self {
        Self(Arc::new(Judged {
            chain: chain.iter().map(|c| c.clone().into_owned()).collect(),
            last: Mutex::new((0, Instant::now())),
        }))
    }
}

// === impl ClientRejection ===

impl ClientRejection {
    fn label(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Untrusted => "untrusted",
            Self::Expired => "expired",
            Self::Name => "name",
            Self::NoCa => "no-ca",
        }
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{
        BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd,
    };

    use super::*;

    /// January 1 of a year after 2000, in seconds since 1970.
    fn year(year: u64) -> UnixTime {
        let since_2000 = (year - 2000) * 365 + (year - 1997) / 4;
        UnixTime::since_unix_epoch(Duration::from_secs((10_957 + since_2000) * 86_400))
    }

    #[tokio::test(start_paused = true)]
    async fn a_certificate_that_ends_while_its_connection_is_open_ends_it() {
        let mut ca = CertificateParams::new([]).unwrap();
        ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let ca = CertifiedIssuer::self_signed(ca, KeyPair::generate().unwrap()).unwrap();
        let mut client = CertificateParams::new(["api".to_owned()]).unwrap();
        client.not_before = date_time_ymd(2020, 1, 1);
        client.not_after = date_time_ymd(2030, 1, 1);
        let client = client
            .signed_by(&KeyPair::generate().unwrap(), &ca)
            .unwrap();

        let metrics = Arc::new(Metrics::new().unwrap());
        let callers = Callers::new(vec!["api".to_owned()], metrics.clone());
        callers.store(ca.pem().as_bytes()).unwrap();
        let peer = Peer::new(&[client.der().clone()]);
        assert!(callers.still_at(Some(&peer), year(2029)));
        // The verification is trusted for a while.
        assert!(callers.still_at(Some(&peer), year(2031)));
        tokio::time::advance(AGAIN).await;
        assert!(!callers.still_at(Some(&peer), year(2031)));
        let refused = metrics.callers_refused.with_label_values(&["expired"]);
        assert_eq!(refused.get(), 1);
        assert!(!callers.still_at(None, year(2029)));
    }
}
