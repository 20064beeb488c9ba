//! From cert-manager to attache's own certificates, and back. cert-manager's own code writes `caBundle`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::json;

use super::{CONFIGURATIONS, Installed, base64};
use crate::harness::{Attache, Cluster, eventually};

const CERTIFICATES: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/manifests/cert-manager/certificates.yaml"
);
const ANNOTATION: &str = "cert-manager.io/inject-ca-from";

/// A running cainjector.
struct Cainjector {
    child: Child,
    log: PathBuf,
}

impl Cainjector {
    fn start(program: &Path, on: &Installed) -> Self {
        let log = on.cluster.dir().join("cainjector.log");
        let child = Command::new(program)
            .env("KUBECONFIG", on.cluster.kubeconfig())
            .stdin(Stdio::null())
            .stderr(fs::File::create(&log).expect("a writable folder"))
            .spawn();
        let child = child.expect("cainjector runs");
        Self { child, log }
    }
}

impl Drop for Cainjector {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if thread::panicking() {
            let log = fs::read_to_string(&self.log).unwrap_or_default();
            eprintln!("--- cainjector:\n{log}");
        }
    }
}

impl Installed {
    /// Creates what cert-manager would: the Certificate of the manifests, and its Secret with these files.
    fn certificate(&self, files: &Path) {
        let text = fs::read_to_string(CERTIFICATES).expect("manifests");
        let documents = text.split("\n---\n");
        let certificate = documents.last().expect("the Certificate of the webhooks");
        self.kubectl
            .run_with(["apply", "-f", "-"], certificate)
            .ok();
        let read = |name: &str| base64(&fs::read_to_string(files.join(name)).expect("a file"));
        let secret = json!({
            "apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls",
            "metadata": {
                "name": "attache-tls", "namespace": "attache-system",
                "annotations": {"cert-manager.io/certificate-name": "attache"},
            },
            "data": {
                "ca.crt": read("ca.crt"), "tls.crt": read("tls.crt"), "tls.key": read("tls.key"),
            },
        });
        self.kubectl
            .run_with(["apply", "-f", "-"], &secret.to_string())
            .ok();
    }

    fn annotate(&self, annotation: &str) {
        for (configuration, _) in CONFIGURATIONS {
            self.kubectl
                .run(["annotate", configuration, annotation])
                .ok();
        }
    }

    /// Whether both configurations trust this CA.
    fn trust(&self, ca: &str) -> Result<(), String> {
        for (configuration, _) in CONFIGURATIONS {
            let webhooks = self.kubectl.json(&["get", configuration])["webhooks"].clone();
            let bundle = webhooks[0]["clientConfig"]["caBundle"].as_str();
            let bundle = bundle.map(|bundle| BASE64_STANDARD.decode(bundle).expect("base64"));
            let bundle = String::from_utf8(bundle.unwrap_or_default()).expect("PEM");
            if !bundle.contains(ca.trim()) {
                return Err(bundle);
            }
        }
        Ok(())
    }
}

#[test]
fn from_cert_manager_to_own_certificates_and_back() {
    let (Some(program), Some(mut on)) = (
        Cluster::program("cainjector"),
        Installed::start("from-cert-manager"),
    ) else {
        return;
    };
    if on.cluster.install_certificates().is_none() {
        return;
    }
    // Nothing is renewed while the test runs.
    on.life = "24h";
    // As installed with manifests/cert-manager: attache serves the files of the Secret.
    let files = Attache::files(&on.cluster);
    let ca = fs::read_to_string(files.join("ca.crt")).expect("a file");
    on.certificate(files);
    let from = format!("{ANNOTATION}=attache-system/attache");
    on.annotate(&from);
    let _cainjector = Cainjector::start(&program, &on);
    let old = Attache::with(
        &on.cluster,
        "old",
        &on.cluster.kubeconfig_of("attache"),
        &[],
    );
    old.wait_until_ready();
    eventually("cert-manager writes caBundle", || on.trust(&ca));
    on.call([&old, &old]);
    eventually("the API server trusts it", || on.calls());

    // To attache's own, as `kubectl apply -k manifests` does: without the annotation. No call fails.
    on.annotate(&format!("{ANNOTATION}-"));
    let new = on.replica("new");
    on.upgrade(&old, &new);

    // Back. cert-manager adds its CA, and the replica before leaves it there. No call fails.
    on.annotate(&from);
    eventually("cert-manager has added its CA", || {
        on.calls()?;
        on.trust(&ca)
    });
    on.call([&old, &new]);
    on.calls().expect("the one before is still trusted");
    on.call([&old, &old]);
    eventually("cert-manager's certificate alone", || on.calls());

    // A replica that would need another CA there leaves it to cert-manager, and says so.
    let why = format!(
        "cert-manager writes caBundle of ValidatingWebhookConfiguration attache, by the annotation {ANNOTATION}"
    );
    drop(new);
    on.kubectl
        .run(["delete", "secret/attache-certs", "-n", "attache-system"])
        .ok();
    let late = on.replica("late");
    eventually("it says who writes caBundle", || {
        on.calls()?;
        let (code, text) = late.get("/readyz?verbose")?;
        (code == 503 && text.contains(&why))
            .then_some(())
            .ok_or(text)
    });
}
