//! What is read of a certificate beside its key: when it counts, and whom it names.

use std::net::IpAddr;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

const BOOLEAN: u8 = 0x01;
const OCTETS: u8 = 0x04;
const OID: u8 = 0x06;
const UTF8: u8 = 0x0c;
const PRINTABLE: u8 = 0x13;
const IA5: u8 = 0x16;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const SEQUENCE: u8 = 0x30;
const VERSION: u8 = 0xa0;
const EXTENSIONS: u8 = 0xa3;

const COMMON_NAME: &[u8] = &[0x55, 4, 3];
const ALTERNATIVE_NAMES: &[u8] = &[0x55, 0x1d, 17];

/// Alternative names that are text: e-mail, DNS, URI.
const TEXTS: [u8; 3] = [0x81, 0x82, 0x86];
const ADDRESS: u8 = 0x87;

/// From when to when a certificate counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity {
    /// Not before.
    pub from: Timestamp,
    /// Not after.
    pub until: Timestamp,
}

/// The parts of a certificate that are looked at.
struct Parts<'a> {
    validity: &'a [u8],
    subject: &'a [u8],
    /// What follows the subject: the key, then extensions.
    rest: &'a [u8],
}

// === impl Validity ===

impl Validity {
    /// That of a certificate; none when it is not one.
    pub fn of(der: &[u8]) -> Option<Self> {
        let validity = parts(der)?.validity;
        let (from, rest) = time(validity)?;
        let (until, _) = time(rest)?;
        Some(Self { from, until })
    }

    /// Why it does not count at that time, if so.
    pub fn trouble(&self, now: Timestamp) -> Option<String> {
        if now < self.from {
            Some(format!("it begins to count at {}", self.from))
        } else if now > self.until {
            Some(format!("it ended at {}", self.until))
        } else {
            None
        }
    }
}

/// The names in a certificate: the common name of its subject and the alternative names.
pub(super) fn names(der: &[u8]) -> Vec<String> {
    let Some(parts) = parts(der) else {
        return Vec::new();
    };
    let mut names = common_names(parts.subject);
    names.extend(alternative_names(parts.rest).unwrap_or_default());
    names
}

fn parts(der: &[u8]) -> Option<Parts<'_>> {
    let (certificate, _) = element(der, SEQUENCE)?;
    let (mut tbs, _) = element(certificate, SEQUENCE)?;
    if let Some((_, rest)) = element(tbs, VERSION) {
        tbs = rest;
    }
    // Serial number, signature algorithm and issuer stand before the validity.
    for _ in 0..3 {
        tbs = any(tbs)?.2;
    }
    let (validity, rest) = element(tbs, SEQUENCE)?;
    let (subject, rest) = element(rest, SEQUENCE)?;
    Some(Parts {
        validity,
        subject,
        rest,
    })
}

fn time(der: &[u8]) -> Option<(Timestamp, &[u8])> {
    let (tag, text, rest) = any(der)?;
    let text = std::str::from_utf8(text).ok()?.strip_suffix('Z')?;
    let text = match tag {
        // Two digits of the year: 50 to 99 are of the last century (RFC 5280).
        UTC_TIME if text < "50" => format!("20{text}"),
        UTC_TIME => format!("19{text}"),
        GENERALIZED_TIME => text.to_owned(),
        _ => return None,
    };
    let at = DateTime::strptime("%Y%m%d%H%M%S", text).ok()?;
    Some((at.to_zoned(TimeZone::UTC).ok()?.timestamp(), rest))
}

fn common_names(subject: &[u8]) -> Vec<String> {
    let attributes = elements(subject).flat_map(|(_, set)| elements(set));
    let named = attributes.filter_map(|(_, attribute)| {
        let (oid, rest) = element(attribute, OID)?;
        let (tag, value, _) = any(rest)?;
        let is_text = [UTF8, PRINTABLE, IA5].contains(&tag);
        (oid == COMMON_NAME && is_text).then_some(value)
    });
    named.filter_map(text).collect()
}

fn alternative_names(rest: &[u8]) -> Option<Vec<String>> {
    let (_, list) = elements(rest).find(|(tag, _)| *tag == EXTENSIONS)?;
    let (list, _) = element(list, SEQUENCE)?;
    let names = elements(list).find_map(|(_, extension)| {
        let (oid, rest) = element(extension, OID)?;
        // `critical` may stand between.
        let rest = element(rest, BOOLEAN).map_or(rest, |(_, rest)| rest);
        let (value, _) = element(rest, OCTETS)?;
        (oid == ALTERNATIVE_NAMES).then_some(value)
    })?;
    let (names, _) = element(names, SEQUENCE)?;
    let read = elements(names).filter_map(|(tag, value)| match tag {
        tag if TEXTS.contains(&tag) => text(value),
        ADDRESS => address(value).map(|address| address.to_string()),
        _ => None,
    });
    Some(read.collect())
}

fn text(bytes: &[u8]) -> Option<String> {
    String::from_utf8(bytes.to_vec()).ok()
}

fn address(bytes: &[u8]) -> Option<IpAddr> {
    let v4 = <[u8; 4]>::try_from(bytes).map(IpAddr::from);
    v4.or_else(|_| <[u8; 16]>::try_from(bytes).map(IpAddr::from))
        .ok()
}

/// Tag and content of each element in a row, up to what cannot be read.
fn elements(mut der: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    std::iter::from_fn(move || {
        let (tag, content, rest) = any(der)?;
        der = rest;
        Some((tag, content))
    })
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

    fn leaf(sans: &[&str], today: jiff::civil::Date) -> CertificateDer<'static> {
        let sans: Vec<String> = sans.iter().map(ToString::to_string).collect();
        let made = super::super::make_ca_and_pair(&sans, today).unwrap();
        CertificateDer::from_pem_slice(made.cert_pem.as_bytes()).unwrap()
    }

    #[test]
    fn the_time_is_read_and_cut_certificates_are_not() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let day = leaf(&["localhost"], jiff::civil::date(2031, 3, 14));
        let validity = Validity::of(&day).unwrap();
        assert_eq!(validity.from, at("2031-03-13T00:00:00Z"));
        assert_eq!(validity.until, at("2032-03-14T00:00:00Z"));
        assert_eq!(validity.trouble(at("2031-06-01T00:00:00Z")), None);
        let late = validity.trouble(at("2033-01-01T00:00:00Z")).unwrap();
        assert_eq!(late, "it ended at 2032-03-14T00:00:00Z");
        let early = validity.trouble(at("2031-01-01T00:00:00Z")).unwrap();
        assert_eq!(early, "it begins to count at 2031-03-13T00:00:00Z");
        // Past 2049 the other form of time is used.
        let later = leaf(&["localhost"], jiff::civil::date(2060, 3, 14));
        let until = Validity::of(&later).unwrap().until;
        assert_eq!(until, at("2061-03-14T00:00:00Z"));
        for cut in 0..day.len() {
            Validity::of(&day[..cut]);
        }
    }

    #[test]
    fn names_are_the_common_name_and_the_alternative_ones() {
        let today = jiff::civil::date(2031, 3, 14);
        let sans = ["kube-apiserver", "api.example.com", "10.0.0.1", "fd00::1"];
        let der = leaf(&sans, today);
        assert_eq!(names(&der), [&["kube-apiserver"][..], &sans].concat());
        for cut in 0..der.len() {
            names(&der[..cut]);
        }
        // Whatever byte is another, reading ends.
        for at in 0..der.len() {
            let mut other = der.to_vec();
            other[at] ^= 0xff;
            names(&other);
            Validity::of(&other);
        }
    }
}
