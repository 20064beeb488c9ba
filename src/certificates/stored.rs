//! The contents of the Secret with attache's own certificates.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use jiff::Timestamp;
use rustls::RootCertStore;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier as _;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::sign::CertifiedKey;

use super::Validity;

/// A serving certificate and its key. Not `Debug`, because it has the key.
#[derive(Clone, PartialEq, Eq)]
pub struct Pair {
    /// The certificate, in PEM.
    pub cert: String,
    /// The private key, in PEM.
    pub key: String,
}

/// The pair that will be served next. Its CA is among those of [`Stored::ca`] already.
#[derive(Clone, PartialEq, Eq)]
pub struct Next {
    /// The pair.
    pub pair: Pair,
    /// The earliest time: by then, every API server has read the `caBundle` with its CA.
    pub from: Timestamp,
}

/// The CAs of certificates that attache did not make, which other replicas may still serve during an upgrade.
#[derive(Clone, PartialEq, Eq)]
pub struct Previous {
    /// The CAs, in PEM.
    pub ca: String,
    /// The time until which they stay trusted.
    pub until: Timestamp,
}

/// The contents of the Secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Stored {
    /// The CAs of attache's own certificates, in PEM: that of the pair, that of the next, and older ones that have not
    /// expired.
    pub ca: String,
    /// The pair to serve.
    pub pair: Pair,
    /// The pair to serve next, while a renewal is under way.
    pub next: Option<Next>,
    /// CAs from before, while an upgrade is under way.
    pub previous: Option<Previous>,
}

type Data = BTreeMap<String, Vec<u8>>;

// === impl Stored ===

impl Stored {
    /// Reads the data of a Secret; `None` if a part is missing or not text.
    pub fn read(data: &Data) -> Option<Self> {
        let text = |key: &str| String::from_utf8(data.get(key)?.clone()).ok();
        let time = |key: &str| text(key)?.parse().ok();
        let next = || {
            Some(Next {
                pair: Pair {
                    cert: text("next.crt")?,
                    key: text("next.key")?,
                },
                from: time("next-from")?,
            })
        };
        let previous = || {
            Some(Previous {
                ca: text("previous-ca.crt")?,
                until: time("previous-until")?,
            })
        };
        Some(Self {
            ca: text("ca.crt")?,
            pair: Pair {
                cert: text("tls.crt")?,
                key: text("tls.key")?,
            },
            next: next(),
            previous: previous(),
        })
    }

    /// The data of the Secret.
    pub fn data(&self) -> Data {
        let mut texts = vec![
            ("ca.crt", self.ca.clone()),
            ("tls.crt", self.pair.cert.clone()),
            ("tls.key", self.pair.key.clone()),
        ];
        if let Some(next) = &self.next {
            texts.push(("next.crt", next.pair.cert.clone()));
            texts.push(("next.key", next.pair.key.clone()));
            texts.push(("next-from", next.from.to_string()));
        }
        if let Some(previous) = &self.previous {
            texts.push(("previous-ca.crt", previous.ca.clone()));
            texts.push(("previous-until", previous.until.to_string()));
        }
        let each = texts.into_iter();
        each.map(|(key, text)| (key.to_owned(), text.into_bytes()))
            .collect()
    }

    /// All CAs that API servers must trust, in PEM: the content of `caBundle`.
    pub fn bundle(&self) -> String {
        let previous = self.previous.as_ref().map_or("", |previous| &previous.ca);
        merged(&[&self.ca, previous], |_| true)
    }
}

// === impl Pair ===

impl Pair {
    /// Whether API servers that trust these CAs accept the pair for a name at a time. Also fails if key and certificate
    /// do not belong together.
    pub fn is_accepted(&self, ca: &str, name: &str, now: Timestamp) -> bool {
        self.accepted(ca, name, now).is_some()
    }

    fn accepted(&self, ca: &str, name: &str, now: Timestamp) -> Option<()> {
        let provider = Arc::new(default_provider());
        let chain = certificates(&self.cert)?;
        let key = PrivateKeyDer::from_pem_slice(self.key.as_bytes()).ok()?;
        CertifiedKey::from_der(chain.clone(), key, &provider).ok()?;
        let mut roots = RootCertStore::empty();
        for ca in certificates(ca)? {
            roots.add(ca).ok()?;
        }
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider);
        let verifier = verifier.build().ok()?;
        let name = ServerName::try_from(name.to_owned()).ok()?;
        let now = u64::try_from(now.as_second()).ok()?;
        let now = UnixTime::since_unix_epoch(std::time::Duration::from_secs(now));
        let (leaf, intermediates) = chain.split_first()?;
        let judged = verifier.verify_server_cert(leaf, intermediates, &name, &[], now);
        judged.ok().map(|_| ())
    }

    /// When the certificate expires.
    pub fn until(&self) -> Option<Timestamp> {
        let chain = certificates(&self.cert)?;
        Some(Validity::from_der(chain.first()?)?.until)
    }
}

fn certificates(pem: &str) -> Option<Vec<CertificateDer<'static>>> {
    CertificateDer::pem_slice_iter(pem.as_bytes())
        .collect::<Result<_, _>>()
        .ok()
}

/// The certificates of several PEM texts that `keep` wants, each once, in one PEM text. Texts that are not PEM are left
/// out.
pub(super) fn merged(texts: &[&str], keep: impl Fn(&CertificateDer<'static>) -> bool) -> String {
    let mut all: Vec<CertificateDer<'static>> = Vec::new();
    for certificate in texts.iter().filter_map(|text| certificates(text)).flatten() {
        if keep(&certificate) && !all.contains(&certificate) {
            all.push(certificate);
        }
    }
    let mut text = String::new();
    for certificate in all {
        let _ = write!(text, "{}", pem(&certificate));
    }
    text
}

/// Whether the certificates of one PEM text are all in another.
pub fn contains(all: &str, some: &str) -> bool {
    let (Some(all), Some(some)) = (certificates(all), certificates(some)) else {
        return false;
    };
    some.iter().all(|certificate| all.contains(certificate))
}

fn pem(certificate: &CertificateDer<'_>) -> String {
    use base64::Engine as _;
    let text = base64::engine::general_purpose::STANDARD.encode(certificate);
    let lines = text.as_bytes().chunks(64).map(String::from_utf8_lossy);
    let lines: String = lines
        .flat_map(|line| [line.into_owned(), "\n".to_owned()])
        .collect();
    format!("-----BEGIN CERTIFICATE-----\n{lines}-----END CERTIFICATE-----\n")
}
