//! When a certificate ends: the one field of X.509 that the metrics need.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;

const SEQUENCE: u8 = 0x30;
const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// The end of a certificate's validity, in seconds since 1970; none when it is not a certificate.
pub fn not_after(der: &[u8]) -> Option<i64> {
    let (certificate, _) = element(der, SEQUENCE)?;
    let (mut tbs, _) = element(certificate, SEQUENCE)?;
    if let Some((_, rest)) = element(tbs, VERSION) {
        tbs = rest;
    }
    // Serial number, signature algorithm and issuer stand before the validity.
    for _ in 0..3 {
        tbs = any(tbs)?.2;
    }
    let (validity, _) = element(tbs, SEQUENCE)?;
    let (_, _, rest) = any(validity)?;
    let (tag, text, _) = any(rest)?;
    let text = std::str::from_utf8(text).ok()?.strip_suffix('Z')?;
    let text = match tag {
        // Two digits of the year: 50 to 99 are of the last century (RFC 5280).
        UTC_TIME if text < "50" => format!("20{text}"),
        UTC_TIME => format!("19{text}"),
        GENERALIZED_TIME => text.to_owned(),
        _ => return None,
    };
    let at = DateTime::strptime("%Y%m%d%H%M%S", text).ok()?;
    Some(at.to_zoned(TimeZone::UTC).ok()?.timestamp().as_second())
}

fn element(der: &[u8], wanted: u8) -> Option<(&[u8], &[u8])> {
    let (tag, content, rest) = any(der)?;
    (tag == wanted).then_some((content, rest))
}

/// The first element: tag, content, and what follows.
fn any(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = der.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = if first < 0x80 {
        (usize::from(first), rest)
    } else {
        // The length has so many bytes; a certificate needs three at most.
        let bytes = usize::from(first & 0x7f);
        let (length, rest) = rest.split_at_checked(bytes).filter(|_| bytes <= 3)?;
        let length = length
            .iter()
            .fold(0, |sum, byte| sum << 8 | usize::from(*byte));
        (length, rest)
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((tag, content, rest))
}

#[cfg(test)]
mod tests {
    use rustls::pki_types::CertificateDer;
    use rustls::pki_types::pem::PemObject;

    use super::*;

    #[test]
    fn the_end_is_read_and_cut_certificates_are_not() {
        let today = jiff::civil::date(2031, 3, 14);
        let made = super::super::make_ca_and_pair(&["localhost".to_owned()], today).unwrap();
        let leaf = CertificateDer::from_pem_slice(made.cert_pem.as_bytes()).unwrap();
        let end = "2032-03-14T00:00:00Z".parse::<jiff::Timestamp>().unwrap();
        assert_eq!(not_after(&leaf), Some(end.as_second()));
        // Past 2049 the other form of time is used.
        let later = jiff::civil::date(2060, 3, 14);
        let made = super::super::make_ca_and_pair(&["localhost".to_owned()], later).unwrap();
        let ca = CertificateDer::from_pem_slice(made.ca_pem.as_bytes()).unwrap();
        let end = "2070-03-14T00:00:00Z".parse::<jiff::Timestamp>().unwrap();
        assert_eq!(not_after(&ca), Some(end.as_second()));
        for cut in 0..leaf.len() {
            not_after(&leaf[..cut]);
        }
    }
}
