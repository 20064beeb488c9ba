//! A certificate authority for tests, with every kind of certificate.

use std::time::Duration;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose, date_time_ymd,
};

/// Signs certificates.
pub(crate) struct Authority(CertifiedIssuer<'static, KeyPair>);

/// A certificate and its key, in PEM.
#[derive(Clone)]
pub(crate) struct Pair {
    pub(crate) cert: String,
    pub(crate) key: String,
}

/// The validity period of a certificate.
#[derive(Clone, Copy, Debug)]
pub(crate) enum When {
    Now,
    Past,
    Future,
    /// Until this Unix time in seconds.
    Until(u64),
}

impl Authority {
    pub(crate) fn new() -> Self {
        let mut params = params(&["an authority"], When::Now);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    pub(crate) fn pem(&self) -> String {
        self.0.pem()
    }

    /// For `localhost` and 127.0.0.1.
    pub(crate) fn server(&self, when: When) -> Pair {
        self.sign(
            &["localhost", "localhost", "127.0.0.1"],
            when,
            ExtendedKeyUsagePurpose::ServerAuth,
        )
    }

    /// The first name is the common name, the others are alternative names.
    pub(crate) fn client(&self, names: &[&str], when: When) -> Pair {
        self.sign(names, when, ExtendedKeyUsagePurpose::ClientAuth)
    }

    fn sign(&self, names: &[&str], when: When, purpose: ExtendedKeyUsagePurpose) -> Pair {
        let mut params = params(names, when);
        params.extended_key_usages = vec![purpose];
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        let key = KeyPair::generate().unwrap();
        let cert = params.signed_by(&key, &self.0).unwrap();
        Pair {
            cert: cert.pem(),
            key: key.serialize_pem(),
        }
    }
}

fn params(names: &[&str], when: When) -> CertificateParams {
    let others: Vec<String> = names[1..].iter().map(ToString::to_string).collect();
    let mut params = CertificateParams::new(others).unwrap();
    params.distinguished_name.push(DnType::CommonName, names[0]);
    let (from, until) = match when {
        When::Now | When::Until(_) => (2020, 2090),
        When::Past => (2001, 2002),
        When::Future => (2080, 2090),
    };
    (params.not_before, params.not_after) = (date_time_ymd(from, 1, 1), date_time_ymd(until, 1, 1));
    if let When::Until(end) = when {
        params.not_after = date_time_ymd(1970, 1, 1) + Duration::from_secs(end);
    }
    params
}
