//! The API server presents a client certificate to attache, and attache accepts no other client.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair,
};

use crate::harness::{Attache, Cluster, TestSetup, eventually};

/// The files of the documentation.
const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/client-certificates");
const REFUSED: &str = "failed calling webhook";

/// A certificate for the API server and its configuration files, as in the documentation except for paths and host
/// names.
fn prepare(dir: &Path) {
    let mut ca = CertificateParams::new([]).expect("no names");
    ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let ca = CertifiedIssuer::self_signed(ca, key()).expect("a CA");
    let mut client = CertificateParams::new([]).expect("no names");
    let name = &mut client.distinguished_name;
    name.push(DnType::CommonName, "kube-apiserver");
    client.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    let client_key = key();
    let client = client.signed_by(&client_key, &ca).expect("a certificate");
    let put = |name: &str, text: &str| {
        fs::write(dir.join(name), text).expect("a writable folder");
    };
    let flag = "--admission-control-config-file=";
    put(
        "apiserver.flags",
        &format!("{flag}{}/admission.yaml\n", dir.display()),
    );
    put("client-ca.crt", &ca.pem());
    put("client.crt", &client.pem());
    put("client.key", &client_key.serialize_pem());
    for name in ["admission.yaml", "webhooks.yaml"] {
        let text = fs::read_to_string(Path::new(EXAMPLES).join(name)).expect("an example");
        let directory = format!("{}/", dir.display());
        let text = text.replace("/etc/kubernetes/admission/", &directory);
        // The tests call by IP address; `*` matches every host.
        put(name, &text.replace("attache.attache-system.svc", "\"*\""));
    }
}

fn key() -> KeyPair {
    KeyPair::generate().expect("a key")
}

fn calling<'a>(cluster: &'a Cluster, name: &str, subject: &str) -> TestSetup<'a> {
    let ca: PathBuf = cluster.dir().join("client-ca.crt");
    let ca = ca.to_str().expect("a path in UTF-8");
    let more = ["--client-ca", ca, "--client-subject", subject];
    TestSetup::beside(cluster, name, |_| {
        Attache::with(cluster, name, &cluster.kubeconfig(), &more)
    })
}

fn refused(attache: &Attache, reason: &str) -> Option<u64> {
    let (_, metrics) = attache.get("/metrics").expect("metrics");
    let line = format!("attache_callers_refused_total{{reason=\"{reason}\"}} ");
    let mut lines = metrics.lines();
    lines.find_map(|text| text.strip_prefix(&line)?.parse().ok())
}

#[test]
fn the_api_server_is_let_in_by_its_certificate_and_others_are_not() {
    let Some(cluster) = Cluster::prepared("callers", prepare) else {
        return;
    };
    // Registration succeeds only after a policy was refused, so the API server was accepted.
    let setup = calling(&cluster, "known", "kube-apiserver").registered();
    setup.apply("edge.yaml").ok();
    setup.warns_at_last(
        "cart-route.yaml",
        "affected-by: RetryPolicy.policies.example.com infra/edge-retries sets retries=3",
    );
    assert_eq!(refused(&setup.attache, "name"), Some(0));
    // A client without a certificate, such as any pod, gets an alert.
    let output = nobody(&setup.attache.address);
    assert!(output.contains("alert"), "{output}");
    eventually("it is counted", || {
        match refused(&setup.attache, "missing") {
            Some(1..) => Ok(()),
            other => Err(format!("{other:?}")),
        }
    });
    setup.attache.answers("/readyz", 200).expect("ready");

    // If the list names another subject, the API server is refused too.
    let other = calling(&cluster, "stranger", "somebody-else");
    other.create_namespaces();
    other.attache.wait_until_ready();
    other.configure();
    eventually("its calls are refused", || {
        let output = other.kubectl(["apply", "--dry-run=server", "-f", "bad-strategy.yaml"]);
        if output.err.contains(REFUSED) && output.err.contains("tls: access denied") {
            Ok(())
        } else {
            Err(output.to_string())
        }
    });
    assert!(refused(&other.attache, "name") >= Some(1));
}

/// The output of a client without a certificate, which stays connected until the server closes.
fn nobody(address: &str) -> String {
    let mut client = Command::new("openssl")
        .args(["s_client", "-connect"])
        .arg(address.trim_start_matches("https://"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("openssl runs");
    let stdin = client.stdin.take();
    let output = client.wait_with_output().expect("openssl ends");
    drop(stdin);
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}
