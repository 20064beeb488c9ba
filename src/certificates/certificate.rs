//! Reads a certificate's validity period and names.

use std::net::IpAddr;

use jiff::Timestamp;
use x509_parser::asn1_rs::Tag;
use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::FromDer;
use x509_parser::time::ASN1Time;
use x509_parser::x509::AttributeTypeAndValue;

/// Encodings of a common name that are Unicode or ASCII; the bytes of others are ambiguous.
const TEXTS: [Tag; 3] = [Tag::Utf8String, Tag::PrintableString, Tag::Ia5String];

/// The validity period of a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity {
    /// Not before.
    pub from: Timestamp,
    /// Not after.
    pub until: Timestamp,
}

// === impl Validity ===

impl Validity {
    /// The validity of a certificate; `None` if it cannot be parsed.
    pub fn from_der(der: &[u8]) -> Option<Self> {
        let certificate = read(der)?;
        let at = |time: ASN1Time| Timestamp::from_second(time.timestamp()).ok();
        Some(Self {
            from: at(certificate.validity().not_before)?,
            until: at(certificate.validity().not_after)?,
        })
    }

    /// Why it is not valid at a time, if so.
    pub fn problem(&self, now: Timestamp) -> Option<String> {
        if now < self.from {
            Some(format!("it begins to count at {}", self.from))
        } else if now > self.until {
            Some(format!("it ended at {}", self.until))
        } else {
            None
        }
    }
}

/// The names in a certificate: the common name of its subject and the subject alternative names (DNS, URI, e-mail, IP
/// address). Empty if the certificate cannot be parsed, or has two lists of alternative names.
pub fn names(der: &[u8]) -> Vec<String> {
    let Some(certificate) = read(der) else {
        return Vec::new();
    };
    let Ok(alternative) = certificate.subject_alternative_name() else {
        return Vec::new();
    };
    let common = certificate.subject().iter_common_name().filter_map(text);
    let alternative = alternative.iter().flat_map(|it| &it.value.general_names);
    common
        .map(str::to_owned)
        .chain(alternative.filter_map(name))
        .collect()
}

fn read(der: &[u8]) -> Option<X509Certificate<'_>> {
    let (_, certificate) = X509Certificate::from_der(der).ok()?;
    Some(certificate)
}

fn text<'a>(attribute: &'a AttributeTypeAndValue<'_>) -> Option<&'a str> {
    let is_text = TEXTS.contains(&attribute.attr_value().tag());
    attribute.as_str().ok().filter(|_| is_text)
}

fn name(name: &GeneralName<'_>) -> Option<String> {
    match name {
        GeneralName::RFC822Name(text) | GeneralName::DNSName(text) | GeneralName::URI(text) => {
            Some((*text).to_owned())
        }
        GeneralName::IPAddress(bytes) => address(bytes).map(|address| address.to_string()),
        _ => None,
    }
}

fn address(bytes: &[u8]) -> Option<IpAddr> {
    let v4 = <[u8; 4]>::try_from(bytes).map(IpAddr::from);
    v4.or_else(|_| <[u8; 16]>::try_from(bytes).map(IpAddr::from))
        .ok()
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
        let validity = Validity::from_der(&day).unwrap();
        assert_eq!(validity.from, at("2031-03-13T00:00:00Z"));
        assert_eq!(validity.until, at("2032-03-13T00:00:00Z"));
        assert_eq!(validity.problem(at("2031-06-01T00:00:00Z")), None);
        let late = validity.problem(at("2033-01-01T00:00:00Z")).unwrap();
        assert_eq!(late, "it ended at 2032-03-13T00:00:00Z");
        let early = validity.problem(at("2031-01-01T00:00:00Z")).unwrap();
        assert_eq!(early, "it begins to count at 2031-03-13T00:00:00Z");
        // After 2049 the other time encoding is used.
        let later = leaf(&["localhost"], jiff::civil::date(2060, 3, 14));
        let until = Validity::from_der(&later).unwrap().until;
        assert_eq!(until, at("2061-03-14T00:00:00Z"));
        for cut in 0..day.len() {
            Validity::from_der(&day[..cut]);
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
        // Parsing terminates whichever byte is changed.
        for at in 0..der.len() {
            let mut other = der.to_vec();
            other[at] ^= 0xff;
            names(&other);
            Validity::from_der(&other);
        }
    }
}
