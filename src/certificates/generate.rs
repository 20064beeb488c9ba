//! Generates certificates, for when nobody else provides them.

use std::time::Duration;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose, date_time_ymd,
};

const DAY: Duration = Duration::from_hours(24);

/// A CA and a serving pair signed by it. Not `Debug`, because it has a key. The CA's own key is dropped, so a new pair
/// needs a new CA.
pub struct CaAndPair {
    /// The CA certificate, for `caBundle`.
    pub ca_pem: String,
    /// The serving certificate.
    pub cert_pem: String,
    /// Its private key.
    pub key_pem: String,
}

/// The times for which certificates are valid.
#[derive(Clone, Copy, Debug)]
pub struct Lifetimes {
    /// The CA, from now on.
    pub ca: Duration,
    /// The serving certificate, from now on.
    pub leaf: Duration,
}

/// Generates a CA that is valid for ten years, and a serving pair that is valid for one, for these DNS names and IP
/// addresses.
///
/// # Errors
/// Fails if a name cannot be used in a certificate.
pub fn make_ca_and_pair(sans: &[String], today: Date) -> Result<CaAndPair, rcgen::Error> {
    let start = today.to_zoned(TimeZone::UTC);
    let start = start.map(|zoned| zoned.timestamp()).unwrap_or_default();
    let lifetimes = Lifetimes {
        ca: 3650 * DAY,
        leaf: 365 * DAY,
    };
    make(sans, start, lifetimes)
}

/// Generates a CA and a serving pair for these DNS names and IP addresses. Both are valid from the day before: clocks
/// differ, and for the API server a new certificate must not be one of the future.
///
/// # Errors
/// Fails if a name cannot be used in a certificate.
pub fn make(
    sans: &[String],
    now: Timestamp,
    lifetimes: Lifetimes,
) -> Result<CaAndPair, rcgen::Error> {
    let mut ca = params(&[], "attache webhook CA", now, lifetimes.ca)?;
    ca.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    ca.key_usages = vec![
        KeyUsagePurpose::KeyCertSign,
        KeyUsagePurpose::DigitalSignature,
    ];
    let ca = CertifiedIssuer::self_signed(ca, KeyPair::generate()?)?;

    let name = sans.first().map_or("attache", String::as_str);
    // A common name has at most 64 characters; clients use the alternative names.
    let name: String = name.chars().take(64).collect();
    let mut leaf = params(sans, &name, now, lifetimes.leaf)?;
    leaf.use_authority_key_identifier_extension = true;
    leaf.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    leaf.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let key = KeyPair::generate()?;
    let cert = leaf.signed_by(&key, &ca)?;
    Ok(CaAndPair {
        ca_pem: ca.pem(),
        cert_pem: cert.pem(),
        key_pem: key.serialize_pem(),
    })
}

fn params(
    sans: &[String],
    name: &str,
    now: Timestamp,
    life: Duration,
) -> Result<CertificateParams, rcgen::Error> {
    let mut params = CertificateParams::new(sans.to_vec())?;
    params.distinguished_name.push(DnType::CommonName, name);
    let now = date_time_ymd(1970, 1, 1) + since_epoch(now);
    params.not_before = now - DAY;
    params.not_after = now + life;
    Ok(params)
}

/// Times before 1970 become its beginning.
fn since_epoch(time: Timestamp) -> Duration {
    Duration::from_secs(u64::try_from(time.as_second()).unwrap_or_default())
}
