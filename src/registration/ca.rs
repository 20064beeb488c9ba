//! The CA that the API server uses to verify attache.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

/// Encodes a PEM file as `caBundle`.
///
/// # Errors
/// Fails if it has no certificate, or a private key, which everybody could then read.
pub fn ca_bundle(pem: &[u8]) -> Result<String, String> {
    // These words are in the first line of every PEM private key.
    if pem.windows(11).any(|words| words == b"PRIVATE KEY") {
        return Err("it holds a private key, which does not belong there".to_owned());
    }
    let certificates: Result<Vec<CertificateDer<'_>>, _> =
        CertificateDer::pem_slice_iter(pem).collect();
    match certificates {
        Ok(found) if found.is_empty() => Err("it holds no certificate".to_owned()),
        Ok(_) => Ok(STANDARD.encode(pem)),
        Err(error) => Err(format!("it is not PEM: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::ca_bundle;
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    const CERT: &str = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";

    #[test]
    fn certificates_go_in_as_they_are() {
        let two = format!("{CERT}{CERT}");
        assert_eq!(ca_bundle(two.as_bytes()), Ok(STANDARD.encode(&two)));
    }

    #[test]
    fn keys_and_rubbish_stay_out() {
        let key = format!("{CERT}-----BEGIN EC PRIVATE KEY-----\nAAAA\n");
        assert!(
            ca_bundle(key.as_bytes())
                .unwrap_err()
                .contains("private key")
        );
        assert!(ca_bundle(b"").unwrap_err().contains("no certificate"));
        let cut = CERT.strip_suffix("-----END CERTIFICATE-----\n").unwrap();
        assert!(ca_bundle(cut.as_bytes()).unwrap_err().contains("PEM"));
    }
}
