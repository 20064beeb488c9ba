//! Certificates on disk as kubelet mounts them: `tls.crt -> ..data/tls.crt`, `..data -> ..<time>`.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use attache::certificates::CaAndPair;
use attache::http::tls::{Certificates, Files, Reload};
use attache::metrics::Metrics;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::pki_types::pem::PemObject;

use super::server::{Setup, allows, pair, start_with, until};
use testing::client::{Client, tls};

/// Switches to a directory with this content in one step, as kubelet does.
fn mount(root: &Path, version: &str, cert: &str, key: &str) {
    let directory = root.join(format!("..{version}"));
    fs::create_dir(&directory).unwrap();
    fs::write(directory.join("tls.crt"), cert).unwrap();
    fs::write(directory.join("tls.key"), key).unwrap();
    symlink(format!("..{version}"), root.join("..data_tmp")).unwrap();
    fs::rename(root.join("..data_tmp"), root.join("..data")).unwrap();
    for name in ["tls.crt", "tls.key"] {
        let link = root.join(name);
        if !link.is_symlink() {
            symlink(format!("..data/{name}"), link).unwrap();
        }
    }
}

fn counted(metrics: &Metrics, result: &str) -> u64 {
    metrics.cert_reload.with_label_values(&[result]).get()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_pair_is_served_after_each_swap_and_a_broken_one_never() {
    let root = tempfile::tempdir().unwrap();
    let certificates = Certificates::new();
    let metrics = Arc::new(Metrics::new().unwrap());
    let files = Files {
        cert: root.path().join("tls.crt"),
        key: root.path().join("tls.key"),
    };
    let reload = Reload::new(files, certificates.clone(), metrics.clone());
    let server = start_with(Setup {
        certificates: Some(certificates.clone()),
        ..Setup::default()
    })
    .await;
    let polling = tokio::spawn(reload.run(Duration::from_millis(5)));

    // The missing files are awaited and reported once, and no handshake succeeds.
    until("the missing files are counted", || {
        counted(&metrics, "failed") == 1
    })
    .await;
    assert!(!certificates.loaded());
    assert!(tls(server.addr, &server.made.ca_pem, &[]).await.is_err());

    let mut current: Option<CaAndPair> = None;
    let mut open = None;
    for version in 1..=3 {
        let made = pair();
        mount(
            root.path(),
            &version.to_string(),
            &made.cert_pem,
            &made.key_pem,
        );
        until("the new pair is loaded", || {
            counted(&metrics, "loaded") == version
        })
        .await;
        let stream = tls(server.addr, &made.ca_pem, &["http/1.1"])
            .await
            .expect("the new certificate");
        let mut client = Client::new(stream);
        allows(&mut client).await;
        if let Some(old) = current.replace(made) {
            assert!(
                tls(server.addr, &old.ca_pem, &[]).await.is_err(),
                "the old certificate is still served"
            );
        }
        // A connection from before the swap stays usable.
        let earlier = open.get_or_insert(client);
        allows(earlier).await;
    }
    assert!(metrics.cert_not_after.get() > 1.7e9);

    let current = current.unwrap();
    let other = pair();
    let broken = [
        (
            "mismatch",
            other.cert_pem.as_str(),
            current.key_pem.as_str(),
        ),
        ("empty", "", ""),
        ("half", &current.cert_pem[..200], current.key_pem.as_str()),
        ("words", "certificate", "key"),
    ];
    for (tried, (name, cert, key)) in broken.into_iter().enumerate() {
        mount(root.path(), name, cert, key);
        until(name, || counted(&metrics, "failed") == 2 + tried as u64).await;
        tls(server.addr, &current.ca_pem, &[])
            .await
            .expect("the last good certificate");
    }
    // And from there back to a good pair.
    mount(root.path(), "good", &other.cert_pem, &other.key_pem);
    until("the good pair is loaded", || {
        counted(&metrics, "loaded") == 4
    })
    .await;
    tls(server.addr, &other.ca_pem, &[])
        .await
        .expect("the new certificate");
    assert_eq!(
        counted(&metrics, "failed"),
        5,
        "each broken content is said once"
    );
    polling.abort();
}

#[test]
fn chains_and_both_forms_of_key_are_taken_and_errors_hold_no_key() {
    let certificates = Certificates::new();
    let made = pair();
    let chain = format!("{}{}", made.cert_pem, made.ca_pem);
    certificates
        .store(chain.as_bytes(), made.key_pem.as_bytes())
        .unwrap();

    // SEC1 is embedded in PKCS#8, as its last octet string.
    let pkcs8 = PrivatePkcs8KeyDer::from_pem_slice(made.key_pem.as_bytes()).unwrap();
    let pkcs8 = pkcs8.secret_pkcs8_der();
    let start = pkcs8
        .windows(4)
        .position(|four| four == [0x02, 0x01, 0x01, 0x04])
        .unwrap()
        - 2;
    let inner = BASE64_STANDARD.encode(&pkcs8[start..]);
    let sec1 = format!("-----BEGIN EC PRIVATE KEY-----\n{inner}\n-----END EC PRIVATE KEY-----\n");
    Certificates::new()
        .store(made.cert_pem.as_bytes(), sec1.as_bytes())
        .unwrap();

    let error = certificates
        .store(made.cert_pem.as_bytes(), pair().key_pem.as_bytes())
        .unwrap_err();
    assert!(!error.to_string().contains("BEGIN"), "{error}");
}
