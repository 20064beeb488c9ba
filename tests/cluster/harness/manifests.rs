//! Applies `manifests/` to a cluster, and does what controllers would do in a complete cluster.

use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as BASE64;
use serde_json::{Value, json};

use super::{Cluster, Kubectl};

const MANIFESTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/manifests");

/// An aggregated API whose server is gone: discovery of its group fails while it is registered.
pub(crate) const DEAD_API: &str = "
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.dead.example.com}
spec:
  group: dead.example.com
  version: v1
  groupPriorityMinimum: 1000
  versionPriority: 10
  insecureSkipTLSVerify: true
  service: {name: gone, namespace: default}
";

/// A copy of `manifests/` with these components enabled as its comments describe.
pub(crate) fn switched_on(to: &Path, components: &[&str]) {
    switched_on_of(Path::new(MANIFESTS), to, components);
}

/// The same of the manifests of another version.
pub(crate) fn switched_on_of(from: &Path, to: &Path, components: &[&str]) {
    copy(from, to);
    // Users who enable it must set the addresses of the API server.
    let network = to.join("network-policy/network-policy.yaml");
    let text = fs::read_to_string(&network).expect("a network policy");
    let stated = text.replace("state-the-addresses-of-the-api-server", "192.0.2.1/32");
    assert_ne!(stated, text);
    fs::write(&network, stated).expect("a writable file");
    let file = to.join("kustomization.yaml");
    let mut text = fs::read_to_string(&file).expect("kustomization.yaml");
    for line in components.iter().map(|name| format!("- {name}")) {
        let on = text.replace(&format!("# {line}\n"), &format!("{line}\n"));
        assert_ne!(on, text, "{line}");
        text = on;
    }
    fs::write(&file, text).expect("a writable file");
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a writable folder");
    for entry in fs::read_dir(from).expect("manifests") {
        let entry = entry.expect("a file").path();
        let to = to.join(entry.file_name().expect("a name"));
        if entry.is_dir() {
            copy(&entry, &to);
        } else {
            fs::copy(&entry, &to).expect("a writable folder");
        }
    }
}

/// Makes the API server call this address for all webhooks in a copy of `manifests/`, in place of the Service.
pub(crate) fn call_all_at(manifests: &Path, address: &str, ca: &str) {
    let patch = |kind: &str, path: &str, webhooks: &[usize]| {
        let client = json!({"url": format!("{address}/{path}"), "caBundle": BASE64.encode(ca)});
        let changes = webhooks.iter().map(|webhook| {
            let path = format!("/webhooks/{webhook}/clientConfig");
            json!({"op": "replace", "path": path, "value": client})
        });
        let changes: Vec<Value> = changes.collect();
        json!({
            "target": {"kind": format!("{kind}WebhookConfiguration")},
            "patch": json!(changes).to_string(),
        })
    };
    let patches = [
        patch("Validating", "validate", &[0, 1]),
        patch("Mutating", "mutate", &[0]),
    ];
    add_patches(manifests, &patches);
}

/// Makes the Service in a copy of `manifests/` with the component `fail-closed` lead to a port of this machine. The API
/// server still asks for the name of the Service, and trusts what is in `caBundle`.
pub(crate) fn lead_service_to(manifests: &Path, port: u16) {
    let endpoint = json!([
        {"op": "add", "path": "/spec/type", "value": "ExternalName"},
        {"op": "add", "path": "/spec/externalName", "value": "localhost"},
    ]);
    let service = json!({"target": {"kind": "Service"}, "patch": endpoint.to_string()});
    let patch = |kind: &str, webhooks: &[usize]| {
        let changes = webhooks.iter().map(|webhook| {
            let path = format!("/webhooks/{webhook}/clientConfig/service/port");
            json!({"op": "replace", "path": path, "value": port})
        });
        let changes: Vec<Value> = changes.collect();
        json!({
            "target": {"kind": format!("{kind}WebhookConfiguration")},
            "patch": json!(changes).to_string(),
        })
    };
    let patches = [
        service,
        patch("Validating", &[0, 1]),
        patch("Mutating", &[0]),
    ];
    add_patches(manifests, &patches);
}

fn add_patches(manifests: &Path, patches: &[Value]) {
    let file = manifests.join("kustomization.yaml");
    let text = fs::read_to_string(&file).expect("kustomization.yaml");
    let lines = text.lines().filter(|line| !line.starts_with("patches: "));
    let kept: Vec<&str> = lines.collect();
    let text = format!("{}\npatches: {}\n", kept.join("\n"), json!(patches));
    fs::write(&file, text).expect("a writable file");
}

/// Sets the used amount of a quota, as a controller does in a complete cluster.
pub(crate) fn count_quota(kubectl: &Kubectl) {
    let status = json!({"status": {"hard": {"pods": "10"}, "used": {"pods": "0"}}}).to_string();
    let quota = ["patch", "resourcequota/attache", "-n", "attache-system"];
    let with = ["--subresource=status", "--type=merge", "-p", &status];
    kubectl.run(quota.into_iter().chain(with)).ok();
}

/// Aggregates the rules of the labelled roles, as a controller does in a complete cluster.
pub(crate) fn collect_policies(kubectl: &Kubectl) {
    let label = "attache.dev/aggregate-to-attache=true";
    let roles = kubectl.json(&["get", "clusterroles", "-l", label]);
    let roles = roles["items"].as_array().expect("a list").iter();
    let all = roles.flat_map(|role| role["rules"].as_array().expect("a list").clone());
    let patch = json!({"rules": all.collect::<Vec<Value>>()}).to_string();
    kubectl
        .run([
            "patch",
            "clusterrole/attache-policies",
            "--type=merge",
            "-p",
            &patch,
        ])
        .ok();
}

/// A kubeconfig with a token for a service account in `attache-system`.
pub(crate) fn service_account(cluster: &Cluster, kubectl: &Kubectl, name: &str) -> PathBuf {
    let made = kubectl
        .run(["create", "token", name, "-n", "attache-system"])
        .ok();
    let text = fs::read_to_string(cluster.kubeconfig()).expect("kubeconfig");
    let (before, rest) = text.split_once("token: ").expect("a token");
    let (_, after) = rest.split_once('}').expect("a user");
    let file = cluster.kubeconfig_of(name);
    fs::write(
        &file,
        format!("{before}token: {}}}{after}", made.out.trim()),
    )
    .expect("a writable folder");
    file
}
