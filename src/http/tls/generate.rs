//! Generates certificates, for when nobody else provides them.

use jiff::civil::Date;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose, date_time_ymd,
};

use super::TlsError;

/// Validity of the CA in years; its bundle is in the webhook configuration.
const CA_YEARS: i16 = 10;
/// Validity of the serving certificate in years.
const LEAF_YEARS: i16 = 1;

/// A CA and a serving pair signed by it. Not `Debug`, because it has a key. The CA's own key is dropped, so a new pair
/// needs a new CA.
pub struct Made {
    /// The CA certificate, for `caBundle`.
    pub ca_pem: String,
    /// The serving certificate.
    pub cert_pem: String,
    /// Its private key.
    pub key_pem: String,
}

/// Generates a CA and a serving pair for these DNS names and IP addresses.
///
/// # Errors
/// Fails if a name cannot be used in a certificate.
pub fn make_ca_and_pair(sans: &[String], today: Date) -> Result<Made, TlsError> {
    let mut ca = params(&[], "attache webhook CA", today, CA_YEARS)?;
    ca.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    ca.key_usages = vec![
        KeyUsagePurpose::KeyCertSign,
        KeyUsagePurpose::DigitalSignature,
    ];
    let ca = CertifiedIssuer::self_signed(ca, KeyPair::generate()?)?;

    let name = sans.first().map_or("attache", String::as_str);
    // A common name has at most 64 characters; clients use the alternative names.
    let name: String = name.chars().take(64).collect();
    let mut leaf = params(sans, &name, today, LEAF_YEARS)?;
    leaf.use_authority_key_identifier_extension = true;
    leaf.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    leaf.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let key = KeyPair::generate()?;
    let cert = leaf.signed_by(&key, &ca)?;
    Ok(Made {
        ca_pem: ca.pem(),
        cert_pem: cert.pem(),
        key_pem: key.serialize_pem(),
    })
}

fn params(
    sans: &[String],
    name: &str,
    today: Date,
    years: i16,
) -> Result<CertificateParams, TlsError> {
    let mut params = CertificateParams::new(sans.to_vec())?;
    params.distinguished_name.push(DnType::CommonName, name);
    // Clocks differ: for the API server, a certificate made today must not be valid only from tomorrow.
    let from = today.yesterday().unwrap_or(today);
    let (year, month, day) = ymd(from, 0);
    params.not_before = date_time_ymd(year, month, day);
    let (year, month, day) = ymd(today, years);
    params.not_after = date_time_ymd(year, month, day);
    Ok(params)
}

/// Year, month and day, `years` later. Days from the 29th on become the 28th, so that the date exists in every year.
fn ymd(day: Date, years: i16) -> (i32, u8, u8) {
    let month = u8::try_from(day.month()).unwrap_or(1);
    let number = u8::try_from(day.day()).unwrap_or(1);
    let number = if years == 0 { number } else { number.min(28) };
    (i32::from(day.year() + years), month, number)
}
