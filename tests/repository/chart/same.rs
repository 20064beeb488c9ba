//! `helm template` and `kubectl kustomize` give the same objects, by default and with each component.
//!
//! The differences that are on purpose, and no others:
//! - Helm labels every object with [`LABELS`];
//! - Helm hashes the configuration into an annotation of the pods, kustomize into the name of its `ConfigMap`;
//! - kustomize makes the Namespace, which Helm leaves to `--create-namespace`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::run::{chart, has_helm, has_kustomize, helm, printed, read, root};

const LABELS: [&str; 6] = [
    "app.kubernetes.io/instance",
    "app.kubernetes.io/managed-by",
    "app.kubernetes.io/name",
    "app.kubernetes.io/part-of",
    "app.kubernetes.io/version",
    "helm.sh/chart",
];
const CONFIG: &str = "attache-config";
const CHECKSUM: &str = "checksum/config";

/// Lists of components of `manifests/`, and the values that give the same.
const COMPONENTS: [(&[&str], &[&str]); 17] = [
    (&["own-certificates"], &[]),
    (&["certificate-files"], &["certificates.from=secret"]),
    (
        &["own-certificates", "network-policy"],
        &[
            "networkPolicy.enabled=true",
            "networkPolicy.apiServer={192.0.2.1/32}",
        ],
    ),
    (
        &["own-certificates", "client-certificates"],
        &["clientCertificates.enabled=true"],
    ),
    (
        &["own-certificates", "fail-closed"],
        &["webhooks.failClosed=true"],
    ),
    (
        &["own-certificates", "manage-webhooks/validating"],
        &["manageWebhooks.validating=true"],
    ),
    (
        &["own-certificates", "manage-webhooks/mutating"],
        &["manageWebhooks.mutating=true"],
    ),
    (
        &["own-certificates", "manage-webhooks"],
        &[
            "manageWebhooks.validating=true",
            "manageWebhooks.mutating=true",
        ],
    ),
    (
        &[
            "certificate-files",
            "webhook-rights/validating",
            "manage-webhooks/validating",
        ],
        &["certificates.from=secret", "manageWebhooks.validating=true"],
    ),
    (&["own-certificates", "audit"], &["audit.enabled=true"]),
    (&["own-certificates", "events"], &["config.events=true"]),
    (
        &["own-certificates", "guardrails"],
        &["guardrails.enabled=true"],
    ),
    (&["own-certificates", "ui"], &["ui.enabled=true"]),
    (&["own-certificates", "reports"], &["reports.enabled=true"]),
    (
        &["own-certificates", "status-writer"],
        &["statusWriter.enabled=true"],
    ),
    (
        &["own-certificates", "monitoring"],
        &["monitoring.enabled=true"],
    ),
    // The order counts for arguments, and because manage-webhooks removes the rules that fail-closed changes.
    (
        &[
            "own-certificates",
            "network-policy",
            "client-certificates",
            "fail-closed",
            "manage-webhooks",
            "status-writer",
            "reports",
            "guardrails",
            "audit",
            "events",
            "monitoring",
        ],
        &[
            "networkPolicy.enabled=true",
            "networkPolicy.apiServer={192.0.2.1/32}",
            "clientCertificates.enabled=true",
            "webhooks.failClosed=true",
            "manageWebhooks.validating=true",
            "manageWebhooks.mutating=true",
            "statusWriter.enabled=true",
            "reports.enabled=true",
            "guardrails.enabled=true",
            "audit.enabled=true",
            "config.events=true",
            "monitoring.enabled=true",
        ],
    ),
];

type Objects = BTreeMap<String, Value>;

fn helm_objects(values: &[&str]) -> Objects {
    let chart = chart();
    let mut args = vec![
        "template",
        "attache",
        chart.to_str().unwrap(),
        "--namespace=attache-system",
        "--skip-tests",
    ];
    args.extend(values.iter().flat_map(|value| ["--set", value]));
    objects(&printed(helm(&args)))
}

fn kustomize_objects(directory: &Path) -> Objects {
    let output = Command::new("kubectl")
        .arg("kustomize")
        .arg(directory)
        .output();
    let mut objects = objects(&printed(output.unwrap()));
    objects
        .remove("Namespace /attache-system")
        .expect("a Namespace");
    objects
}

/// The objects of a text by kind, namespace and name, without what differs on purpose.
fn objects(text: &str) -> Objects {
    let documents: Vec<Value> = serde_saphyr::from_multiple(text).unwrap();
    let documents = documents.into_iter().filter(|document| !document.is_null());
    let mut objects = Objects::new();
    for mut object in documents {
        compare_as_yaml(&mut object);
        let volumes = pod(&mut object).and_then(|pod| pod["volumes"].as_array_mut());
        for volume in volumes.into_iter().flatten() {
            if let Some(name) = volume.pointer_mut("/configMap/name") {
                without_hash(name);
            }
        }
        let metadata = object["metadata"].as_object_mut().unwrap();
        if let Some(labels) = metadata.get_mut("labels").and_then(Value::as_object_mut) {
            labels.retain(|label, _| !LABELS.contains(&label.as_str()));
            if labels.is_empty() {
                metadata.remove("labels");
            }
        }
        let name = metadata["name"].as_str().unwrap().to_owned();
        let namespace = metadata
            .get("namespace")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned();
        let key = format!("{} {namespace}/{name}", object["kind"].as_str().unwrap());
        let twice = objects.insert(key, object);
        assert!(twice.is_none(), "{twice:?}");
    }
    objects
}

/// Gives the configuration its name without hash, and its content as YAML; takes the checksum from the pods.
fn compare_as_yaml(object: &mut Value) {
    let is_config = |name: &Value| name.as_str().is_some_and(|name| name.starts_with(CONFIG));
    if object["kind"] == "ConfigMap" && is_config(&object["metadata"]["name"]) {
        without_hash(&mut object["metadata"]["name"]);
        let file = object["data"]["attache.yaml"].as_str().unwrap();
        object["data"] = serde_saphyr::from_str(file).unwrap();
    }
    if object["kind"] == "Deployment" {
        let metadata = object["spec"]["template"]["metadata"]
            .as_object_mut()
            .unwrap();
        if let Some(annotations) = metadata
            .get_mut("annotations")
            .and_then(Value::as_object_mut)
        {
            annotations.remove(CHECKSUM).expect("a checksum");
            if annotations.is_empty() {
                metadata.remove("annotations");
            }
        }
    }
}

fn pod(object: &mut Value) -> Option<&mut Value> {
    match object["kind"].as_str()? {
        "Deployment" => Some(&mut object["spec"]["template"]["spec"]),
        "CronJob" => Some(&mut object["spec"]["jobTemplate"]["spec"]["template"]["spec"]),
        _ => None,
    }
}

/// `attache-config-<hash>` as `attache-config`.
fn without_hash(name: &mut Value) {
    if name.as_str().is_some_and(|name| name.starts_with(CONFIG)) {
        *name = CONFIG.into();
    }
}

#[track_caller]
fn assert_same(helm: &Objects, kustomize: &Objects) {
    let keys = |objects: &Objects| objects.keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(helm), keys(kustomize));
    for (key, object) in helm {
        let text = |object: &Value| serde_json::to_string_pretty(object).unwrap();
        assert_eq!(text(object), text(&kustomize[key]), "{key}");
    }
}

/// A copy of `manifests/` with these components in the place of the default, as its comments describe.
fn with_components(to: &Path, components: &[&str]) {
    const DEFAULT: &str = "components:\n- own-certificates\n";
    let from = root().join("manifests");
    let copied = Command::new("cp")
        .arg("-R")
        .arg(from.join("."))
        .arg(to)
        .status();
    assert!(copied.unwrap().success());
    let change = |file: &str, from: &str, to_text: &str| {
        let file = to.join(file);
        let text = read(&file);
        assert!(text.contains(from), "{}: {from}", file.display());
        fs::write(&file, text.replace(from, to_text)).unwrap();
    };
    let placeholder = "state-the-addresses-of-the-api-server";
    change(
        "network-policy/network-policy.yaml",
        placeholder,
        "192.0.2.1/32",
    );
    if components.contains(&"events") {
        change(
            "base/attache.yaml",
            "profiles: []\n",
            "profiles: []\nevents: true\n",
        );
    }
    change(
        "kustomization.yaml",
        DEFAULT,
        &format!("components: {components:?}\n"),
    );
}

#[test]
fn each_component_gives_the_objects_of_its_values() {
    if !has_helm() || !has_kustomize() {
        return;
    }
    for (components, values) in COMPONENTS {
        let dir = tempfile::tempdir().unwrap();
        with_components(dir.path(), components);
        println!("{components:?}");
        assert_same(&helm_objects(values), &kustomize_objects(dir.path()));
    }
}

#[test]
fn every_component_of_the_manifests_is_compared() {
    let entries = fs::read_dir(root().join("manifests"))
        .unwrap()
        .map(Result::unwrap);
    let folders = entries.filter(|entry| entry.file_type().unwrap().is_dir());
    let mut folders: Vec<String> = folders
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    folders.retain(|folder| !["base", "cert-manager"].contains(&folder.as_str()));
    folders.sort();
    let names = COMPONENTS.iter().flat_map(|(components, _)| *components);
    let mut known: Vec<&str> = names.map(|name| name.split('/').next().unwrap()).collect();
    known.sort_unstable();
    known.dedup();
    assert_eq!(folders, known);
}

#[test]
fn the_manifests_as_they_are_give_the_objects_of_the_defaults() {
    if !has_helm() || !has_kustomize() {
        return;
    }
    assert_same(
        &helm_objects(&[]),
        &kustomize_objects(&root().join("manifests")),
    );
}

#[test]
fn cert_manager_gives_the_same_objects() {
    if !has_helm() || !has_kustomize() {
        return;
    }
    let kustomize = kustomize_objects(&root().join("manifests/cert-manager"));
    assert_same(
        &helm_objects(&["certificates.from=cert-manager"]),
        &kustomize,
    );
}

/// Every object and every name that depends on the namespace follows it.
#[test]
fn no_object_of_a_release_elsewhere_names_attache_system() {
    if !has_helm() {
        return;
    }
    let chart = chart();
    let mut args = vec![
        "template",
        "gateway-webhook",
        chart.to_str().unwrap(),
        "--namespace=policy-checks",
    ];
    let values = COMPONENTS.iter().flat_map(|(_, values)| *values);
    args.extend(values.flat_map(|value| ["--set", value]));
    let text = printed(helm(&args));
    let left: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("attache-system"))
        .collect();
    // Descriptions of panels and alerts may name the usual namespace.
    assert!(left.is_empty(), "{left:#?}");
}
